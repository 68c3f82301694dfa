# Draws pictures of all blocks from blocks.csv (README.md).
set datafile separator ","
set terminal pngcairo size 1100,1200 font "Sans,11" linewidth 1.4
set output "blocks.png"
set key autotitle columnhead
unset key
set grid lc rgb "#dddddd" lt 1
set border lc rgb "#666666"
set xrange [0:10]
set lmargin 5
set offsets 0, 0, graph 0.08, graph 0.08
fed = "#999999"
put_out = "#0072b2"

# Name, what feeds it, grey, and what it puts out, blue.
blocks = "saturation,sine.y,saturation.y, dead_zone,sine.y,dead_zone.y, quantiser,sine.y,quantiser.y, \
rate_limit,pulse.y,rate_limit.y, hysteresis,sine.y,hysteresis.y, sample_and_hold,sine.y,sample_and_hold.y, \
first_order_lag,step.y,first_order_lag.y, second_order_lag,step.y,second_order_lag.y, transfer_function,step.y,transfer_function.y, \
state_space,step.y,state_space.y[1], limited_integrator,sine.y,limited_integrator.y, pid,plant.y,pid.y, \
sliding_mass,sine.y,sliding_mass.v, lugre,shaker.v,lugre.force, clutch,clutch.w2,clutch.w1, \
spring_damper,mass.x,spring_damper.force, spring_with_play,shaker.x,spring_with_play.force, backlash,shaker.x,backlash.y, \
mass,spring_damper.force,mass.v, step,step.y,step.y, ramp,ramp.y,ramp.y, sine,sine.y,sine.y, pulse,pulse.y,pulse.y, noise,noise.y,noise.y"
part(i, k) = system(sprintf("printf '%%s' '%s' | tr -d ' ' | cut -d, -f%d", blocks, 3*(i - 1) + k))

set multiplot layout 6,4
do for [i = 1:24] {
  set title part(i, 1) font ",13" noenhanced
  into = part(i, 2)
  out = part(i, 3)
  plot "blocks.csv" using 1:(column(into)) with lines lc rgb fed lw 1, \
       "" using 1:(column(out)) with lines lc rgb put_out lw 2
}
unset multiplot
