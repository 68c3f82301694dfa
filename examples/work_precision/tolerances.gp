# Draws tolerances.png from tolerances.dat; `methods` ("a|b|c") and `count` come from tolerances.py.
set terminal pngcairo size 1500,620 font "Sans,13" linewidth 1.5
set output "tolerances.png"

name(i) = system(sprintf("printf '%%s' '%s' | cut -d'|' -f%d", methods, i))
array colour[8] = ["#0072b2", "#56b4e9", "#009e73", "#000000", "#999999", "#d55e00", "#e69f00", \
                   "#cc3377"]
array title_of[3] = ["Two masses", "Lotka-Volterra", "Oscillator of preCICE's tutorials"]

set logscale xy
set format x "10^{%T}"
set format y "10^{%T}"
set grid xtics ytics lc rgb "#dddddd" lt 1
set border lc rgb "#666666"
set tics textcolor rgb "#333333"
set xrange [300:1e6]
set yrange [1e-11:2]
set xlabel "right-hand sides of all subsystems"
unset key

set multiplot
do for [problem = 0:2] {
  set title title_of[problem + 1] font ",15"
  set ylabel problem == 0 ? "largest error of any output / its range" : ""
  set size 0.333, 0.8
  set origin 0.333 * problem, 0.2
  plot for [i = 1:count] "tolerances.dat" index (problem * count + i - 1) \
    using 3:2 with linespoints lc rgb colour[i] lw 2 pt 4 + i ps 1.3 notitle
}
set size 1, 0.2
set origin 0, 0
set key center center horizontal Left reverse maxcols 4 width 2 samplen 3 spacing 1.4 \
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
plot for [i = 1:count] NaN with linespoints lc rgb colour[i] lw 2 pt 4 + i ps 1.5 title name(i)
unset multiplot
