# SPDX-License-Identifier: GPL-2.0
# The ratios of live.sh as bars, one group per number of sources. Set by the caller: `bars`, a file
# of blocks, `blocks`, their number, `tics`, the names of the groups, `machine`, `picture`.
set terminal svg size 900,440 font "sans-serif,13" background "white"
set output picture
set title sprintf("CPU time for a dropped packet, as a ratio to a bare XDP_DROP\n(%s, veth)", machine) noenhanced
set xlabel "sources"
set bmargin 8
set ylabel "ratio, logarithmic"
set logscale y 2
set yrange [0.5:*]
set grid ytics lt 1 lc rgb "#dddddd"
set border 3
set tics nomirror
eval "set xtics (" . tics . ") scale 0"
set key outside bottom center horizontal maxrows 3 samplen 1 autotitle columnhead noenhanced
set boxwidth 0.9
set style fill solid noborder
array color[9] = ["#9a9a9a", "#c8c8c8", "#d7191c", "#2c7bb6", "#74add1", "#fdae61", "#80b37a", "#b08cc2", "#666666"]
plot for [i = 1:blocks] bars index i - 1 using 1:2 with boxes lc rgb color[i], \
	for [i = 1:blocks] bars index i - 1 using 1:2:3 with labels font ",10" offset 0,0.5 notitle
