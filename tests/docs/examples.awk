# SPDX-License-Identifier: GPL-2.0
# Extracts the examples of a document: README.md or a guide with fenced blocks, or a manual in mdoc
# with blocks between .Bd -literal and .Ed. Prints a line for each item, separated by tabs:
#
#	block	LINE	KIND	FIRST LINE OF THE BLOCK
#	command	LINE	TEXT
#	output	LINE	TEXT		of the command before
#	rule	LINE	TEXT		a line of a file of rules
#	fresh	LINE			the following begins with a fence without rules
#
# KIND is console (commands after '# ' or '$ ', and their output), sh (commands), rules, or other.
# It is the language of a fenced block, or otherwise derived from the lines.

function is_rule(text) {
	return text ~ /^(limit|allow|deny|newcomers) / || text ~ /^[ \t]*(#.*)?$/
}

function is_command(text) {
	return text ~ /^(sudo )?(ringfence|ip|nft|make|systemctl|apt|apt-get|dpkg|nsenter|cat|cp|printf|tc|ethtool|xdp-loader)( |$)/
}

function kind_of(    i, rules, commands, prompts) {
	if (language ~ /^(console|sh|rules)$/)
		return language
	if (language != "")
		return "other"
	for (i = 0; i < count; i++) {
		rules += is_rule(line[i])
		commands += is_command(line[i]) || line[i] ~ /^[ \t]*$/
		prompts += line[i] ~ /^[#$] / && is_command(substr(line[i], 3))
	}
	return prompts ? "console" : rules == count ? "rules" : commands == count ? "sh" : "other"
}

function print_line(what, at, text) {
	printf "%s\t%d\t%s\n", what, at, text
}

function print_block(    i, kind, text, first) {
	kind = kind_of()
	print_line("block", start, kind "\t" line[0])
	for (i = 0; i < count; i++) {
		first = start + i
		text = line[i]
		if (kind == "rules")
			print_line("rule", first, text)
		else if (kind == "sh" && text !~ /^[ \t]*$/ || kind == "console" && text ~ /^[#$] /) {
			if (kind == "console")
				text = substr(text, 3)
			while (text ~ /\\$/ && i + 1 < count)
				text = substr(text, 1, length(text) - 1) line[++i]
			print_line("command", first, text)
		} else if (kind == "console")
			print_line("output", first, text)
	}
}

function begin(kind) {
	language = kind
	start = FNR + 1
	count = 0
	inside = 1
}

function end() {
	inside = 0
	if (count)
		print_block()
}

/^(<!--|\.\\") example: fresh/ { print_line("fresh", FNR, ""); next }

FILENAME ~ /\.md$/ && /^```/ {
	if (inside)
		end()
	else
		begin(substr($0, 4))
	next
}

FILENAME ~ /\.[1-8]$/ && /^\.Bd -literal/ { begin(""); next }
FILENAME ~ /\.[1-8]$/ && /^\.Ed/ { end(); next }

inside {
	if (FILENAME !~ /\.md$/) {
		gsub(/\\&/, "")
		gsub(/\\e/, "\\")
	}
	line[count++] = $0
}
