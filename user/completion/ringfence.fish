# fish completion for ringfence, printed by 'ringfence completion fish'
#
# ringfence itself prints the words that can come next. The script runs the installed ringfence,
# never the command as typed: a file called ringfence can belong to any user.

function __ringfence_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -lx PATH $PATH /usr/local/sbin /usr/sbin /sbin

    for line in (command ringfence completion words -- $before[2..-1] $current 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path $current
        else
            echo $line
        end
    end
end

complete -c ringfence -f -k -a '(__ringfence_complete)'
