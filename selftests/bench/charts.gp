# SPDX-License-Identifier: GPL-2.0-only
# gnuplot -e "costs='FILE'; growth='FILE'; out='PREFIX'" charts.gp
set terminal svg noenhanced size 900,820 font "sans-serif,12" background "white"
set style fill solid 0.8 noborder
set grid

set output out."-cost.svg"
set title "A sample, in instructions beyond a plain tick"
set logscale x
set xrange [10:40000]
set datafile separator "\t"
stats costs using 2 nooutput
set yrange [STATS_records - 0.4:-0.6]
set bmargin 4
set lmargin 58
set rmargin 8
unset key
plot costs using (0):0:(0):2:($0-0.35):($0+0.35):ytic(1) with boxxyerror lc rgb "#3060a0", \
	costs using ($2*1.1):0:2 with labels left

set terminal svg noenhanced size 760,420 font "sans-serif,12" background "white"
set datafile separator whitespace
set margins -1,-1,-1,-1
set output out."-growth.svg"
set title "As the work grows, in instructions"
set logscale x 2
set xrange [0.8:6000]
set yrange [0:*]
set xlabel "how many"
set key center right
plot for [row in "regions processes threads.one threads.own"] \
	"<grep '^".row." ' ".growth using 2:3 with linespoints lw 2 \
	title row eq "regions" ? row : row eq "processes" ? "profiled processes, for one that is not" : \
	row eq "threads.one" ? "threads with one counter" : "threads with many counters"
