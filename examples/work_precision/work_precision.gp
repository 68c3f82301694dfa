# Draws work_precision.png from work_precision.dat; `methods` ("a|b|c") and `count` come from
# work_precision.py.
set terminal pngcairo size 1500,1150 font "Sans,13" linewidth 1.5
set output "work_precision.png"

name(i) = system(sprintf("printf '%%s' '%s' | cut -d'|' -f%d", methods, i))
array colour[12] = ["#d55e00", "#e69f00", "#999999", "#0072b2", "#56b4e9", "#b07aa1", "#9c755f", \
                    "#009e73", "#cc3377", "#000000", "#f0c040", "#882255"]
shade(i) = colour[1 + (i - 1) % 12]

set logscale xy
set format x "10^{%T}"
set format y "10^{%T}"
set grid xtics ytics lc rgb "#dddddd" lt 1
set border lc rgb "#666666"
set tics textcolor rgb "#333333"
set yrange [1e-10:200]
set xrange [70:2e5]
set tmargin 2.5
set lmargin 11
set rmargin 3
set bmargin 4
unset key

set multiplot
do for [problem = 0:1] {
  title_of = problem == 0 ? "Two masses (linear)" : "Lotka-Volterra (nonlinear)"
  do for [against = 0:1] {
    set title title_of font ",15"
    set xlabel against == 0 ? "coupling evaluations" : "wall time in s"
    set ylabel "error in %"
    column_of = against == 0 ? 3 : 4
    if (against == 0) { set xrange [70:2e5] } else { set xrange [5e-4:2] }
    set size 0.5, 0.44
    set origin 0.5 * against, 0.56 - 0.44 * problem
    plot for [i = 1:count] "work_precision.dat" index (problem * count + i - 1) \
      using column_of:2 with linespoints lc rgb shade(i) lw 2 pt 4 + i ps 1.3 notitle
  }
}
# The legend, in a strip of its own.
set size 1, 0.12
set origin 0, 0
set key center center horizontal Left reverse maxcols 5 width 2 samplen 3 spacing 1.4 \
  font ",14" noenhanced
unset border
unset tics
unset grid
unset xlabel
unset ylabel
unset title
unset logscale
set tmargin 0
set bmargin 0
set xrange [0:1]
set yrange [0:1]
plot for [i = 1:count] NaN with linespoints lc rgb shade(i) lw 2 pt 4 + i ps 1.5 title name(i)
unset multiplot
