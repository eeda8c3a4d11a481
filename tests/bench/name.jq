# SPDX-License-Identifier: GPL-2.0
# A file name for the machine of a report: amd-epyc-2-cpus-linux-6.18.
.machine
| "\(.cpu) \(.cpus) cpus linux \(.kernel | capture("(?<x>[0-9]+[.][0-9]+)").x)"
| ascii_downcase | gsub("\\((r|tm)\\)"; "") | gsub("[^a-z0-9.]+"; "-") | sub("-+$"; "")
