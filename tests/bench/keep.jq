# SPDX-License-Identifier: GPL-2.0
# The two reports of `make bench` as one JSON text, with one line per row, to make changes of
# results visible in a diff.
def lines: map(tojson) | join(",\n");
def without_end: tojson[:-1]; # in an object: more follows
(.[0] | "{\"program\": " + (del(.rows, .groups) | without_end) + ",\n\"groups\": [\n" + (.groups | lines)
	+ "\n], \"rows\": [\n" + (.rows | lines) + "\n]},"),
(.[1] | "\"live\": " + (del(.runs) | without_end) + ",\n\"runs\": [\n"
	+ (.runs | map((del(.variants) | without_end) + ", \"variants\": [\n" + (.variants | lines) + "\n]}") | join(",\n"))
	+ "\n]}}")
