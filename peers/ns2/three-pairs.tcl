# Three sender-receiver pairs side by side, UDP, ns-2.35: the outer two do not sense each other, the middle one senses both.
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   ns peers/ns2/three-pairs.tcl -seed 1
#
# Pairs of 200 m length 350 m apart, 367 m reception, 670 m sense (the geometry of the NRED paper), saturating sources.
source [file join [file dirname [info script]] common.tcl]

array set opt [options {
    load 2e6  seed 1  payload 512  random 1  duration 120  warmup 10
    length 200  apart 350  receive 367  sense 670  data_rate 2e6  basic_rate 1e6  capture 10  rts 0  queue 66
    routes static  counts ""
}]

ns-random $opt(seed)
radio $opt(receive) $opt(sense) $opt(data_rate) $opt(basic_rate) $opt(capture) $opt(rts)
set positions {}
for {set pair 0} {$pair < 3} {incr pair} {
    lappend positions [list 0 [expr {$pair * $opt(apart)}]] [list $opt(length) [expr {$pair * $opt(apart)}]]
}
build $positions $opt(queue) $opt(routes) $opt(counts)

set start [establish_routes $opt(routes) $opt(receive)]
set from [expr {$start + $opt(warmup)}]
set end [expr {$from + $opt(duration)}]
set jitter [new RNG]
for {set pair 0} {$pair < 3} {incr pair} {
    set sink($pair) [udp_flow [expr {2 * $pair}] [expr {2 * $pair + 1}] $opt(payload) $opt(load) $opt(random) \
        [expr {$start + [$jitter uniform 0 0.1]}] $end]
}

proc mark {} {
    global sink before
    foreach pair {0 1 2} { set before($pair) [$sink($pair) set npkts_] }
}
proc finish {} {
    global opt sink before
    set rows {}
    foreach pair {0 1 2} {
        set packets [expr {[$sink($pair) set npkts_] - $before($pair)}]
        lappend rows [list [expr {2 * $pair}] [expr {2 * $pair + 1}] $packets \
            [expr {8.0 * $packets * $opt(payload) / $opt(duration)}]]
    }
    report three-pairs $opt(seed) $rows $opt(counts)
    exit 0
}
$ns at $from mark
$ns at $end finish
$ns run
