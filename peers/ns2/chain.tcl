# UDP along a chain of nodes, ns-2.35.
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   ns peers/ns2/chain.tcl -hops 5 -load 1000e3 -seed 1
#
# One saturating (or lighter, -load) source at the first node, the sink at the last, RTS/CTS before every data frame.
source [file join [file dirname [info script]] common.tcl]

array set opt [options {
    hops 5  load 2e6  seed 1  payload 1500  random 1  duration 100  warmup 10
    spacing 200  receive 250  sense 550  data_rate 2e6  basic_rate 1e6  capture 10  rts 0  queue 50  routes static  counts ""
}]

ns-random $opt(seed)
radio $opt(receive) $opt(sense) $opt(data_rate) $opt(basic_rate) $opt(capture) $opt(rts)
set positions {}
for {set i 0} {$i <= $opt(hops)} {incr i} { lappend positions [list [expr {$i * $opt(spacing)}] 0] }
build $positions $opt(queue) $opt(routes) $opt(counts)

set start [establish_routes $opt(routes) $opt(receive)]
set from [expr {$start + $opt(warmup)}]
set end [expr {$from + $opt(duration)}]
if {$opt(routes) eq "dsdv"} {
    for {set i 0} {$i < $opt(hops)} {incr i} {
        fill_arp $i [expr {$i + 1}] [expr {$start - 4 + 0.1 * $i}]
        fill_arp [expr {$i + 1}] $i [expr {$start - 2 + 0.1 * $i}]
    }
}
set sink [udp_flow 0 $opt(hops) $opt(payload) $opt(load) $opt(random) $start $end]

proc mark {} {
    global sink before
    set before [$sink set npkts_]
}
proc finish {} {
    global opt sink before
    set packets [expr {[$sink set npkts_] - $before}]
    set goodput [expr {8.0 * $packets * $opt(payload) / $opt(duration)}]
    report "chain-$opt(hops)-hops" $opt(seed) [list [list 0 $opt(hops) $packets $goodput]] $opt(counts)
    exit 0
}
$ns at $from mark
$ns at $end finish
$ns run
