# SPDX-License-Identifier: GPL-2.0
# Calls and includes of user/ only go to lower floors, without cycles. Reads the table of floors,
# then with `from=includes` the #include lines found by grep -H, then with `from=objects` the output
# of nm -A -P for the objects: the symbols that each defines and uses.

function complain(text) {
	print text | "cat >&2"
	failed = 1
}

# user/attach/load.c belongs to attach, include/ringfence/abi.h to ringfence, a library to itself.
function folder_of(file, part) {
	split(file, part, "/")
	return part[1] == "user" || part[1] == "include" ? part[2] : part[1]
}

function use(file, target, how, mine, theirs) {
	mine = folder_of(file)
	theirs = folder_of(target)
	if (mine != "tests" && mine != theirs && !((mine, theirs) in allowed))
		complain(file ": " how " " target ", which is not below " mine)
	if (target ~ /\/private\.h$/ && mine != theirs)
		complain(file ": " how " " target ", which is private to " theirs)
	if (target ~ /^user\// && file != target && !((from, file, target) in known)) {
		known[from, file, target]
		uses[from, file] = uses[from, file] " " target
	}
}

# The target of an include, as a file of the tree or as a library; "" if it is neither.
function included(name) {
	if (name ~ /^<bpf\// || name ~ /^"build\/.*\.skel\.h"/)
		return "libbpf"
	if (name ~ /^<(xdp|libmnl)\//)
		return name ~ /^<xdp/ ? "libxdp" : "libmnl"
	if (name ~ /^<nettle\//)
		return "nettle"
	if (name == "<sqlite3.h>")
		return "sqlite"
	if (name == "<curses.h>")
		return "ncurses"
	if (name ~ /^<hiredis\//)
		return "hiredis"
	if (name == "<jansson.h>")
		return "jansson"
	gsub(/"/, "", name)
	if (name ~ /^ringfence\//)
		return "include/" name
	if (name ~ /^bpf\//)
		return name
	return split(name, part, "/") == 2 && part[1] in floor ? "user/" name : ""
}

# Depth first; `path` is the path to this node.
function walk(at, path, next_ones, count, i) {
	if (state[from, at] == "left")
		return
	if (state[from, at] == "entered") {
		complain("a circle of " from ": " substr(path, index(path, at " ")))
		return
	}
	state[from, at] = "entered"
	count = split(uses[from, at], next_ones, " ")
	for (i = 1; i <= count; i++)
		walk(next_ones[i], path " -> " next_ones[i])
	state[from, at] = "left"
}

from == "" && NF && $1 !~ /^#/ {
	floor[$1]
	for (i = 2; i <= NF; i++)
		allowed[$1, $i]
}

from == "includes" {
	file = $1
	sub(/:#include.*/, "", file)
	if (folder_of(file) != "tests" && !(folder_of(file) in floor))
		complain(file ": it has no floor; give it one in tests/lint/floors")
	target = included($2)
	if (target != "")
		use(file, target, "includes")
}

from == "objects" {
	file = $1
	sub(/^build\//, "", file)
	sub(/\.o:$/, ".c", file)
	if ($3 == "U")
		used[++count_used] = file " " $2
	else if ($3 ~ /^[TDBR]$/)
		definer[$2] = file
}

END {
	for (i = 1; i <= count_used; i++) {
		split(used[i], one, " ")
		if (one[2] in definer)
			use(one[1], definer[one[2]], "calls " one[2] " of")
	}
	for (key in uses) {
		split(key, one, SUBSEP)
		from = one[1]
		walk(one[2], one[2])
	}
	close("cat >&2")
	exit failed
}
