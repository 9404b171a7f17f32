# 20 flows over an 8 x 8 grid, ns-2.35: the benchmark's scenario. UDP at a constant rate, or TCP without end.
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   ns peers/ns2/grid64.tcl -seed 1                 # the run to time
#   ns peers/ns2/grid64.tcl -seed 1 -traffic 0      # its fixed cost: nodes, routes, no flows
#   ns peers/ns2/grid64.tcl -seed 1 -transport tcp  # long TCP flows
#   ns peers/ns2/grid64.tcl -seed 1 -counts FILE    # the same run, slower, with the frames on the air counted by way of FILE
#
# 200 m spacing, 250 m reception, 550 m sense, data at 11 Mbit/s, RTS/CTS, 50-packet queues, 60 s of traffic.
source [file join [file dirname [info script]] common.tcl]

array set opt [options [list \
    seed 1  traffic 1  transport udp  load 92e3  payload 1460  random 1  duration 60 \
    side 8  spacing 200  receive 250  sense 550  data_rate 11e6  basic_rate 1e6  capture 10  rts 0  queue 50  routes static  counts "" \
    flows [file join [file dirname [info script]] .. grid-64-flows.csv] \
]]

proc read_flows {path} {
    if {[catch {open $path} file]} { fail "cannot read the flows: $file" }
    set flows {}
    while {[gets $file line] >= 0} {
        if {[scan $line "%d,%d,%d" id from to] == 3} { lappend flows [list $from $to] }
    }
    close $file
    return $flows
}

ns-random $opt(seed)
radio $opt(receive) $opt(sense) $opt(data_rate) $opt(basic_rate) $opt(capture) $opt(rts)
set positions {}
for {set i 0} {$i < $opt(side) * $opt(side)} {incr i} {
    lappend positions [list [expr {$opt(spacing) * ($i % $opt(side))}] [expr {$opt(spacing) * ($i / $opt(side))}]]
}
build $positions $opt(queue) $opt(routes) $opt(counts)

set start [establish_routes $opt(routes) $opt(receive)]
set end [expr {$start + $opt(duration)}]

set flows {}
foreach pair [read_flows $opt(flows)] {
    if {!$opt(traffic)} { break }
    foreach {from to} $pair {}
    set first [expr {$start + 0.05 * [llength $flows]}]
    if {$opt(transport) eq "tcp"} {
        set sink [tcp_flow $from $to $opt(payload) $first $end]
    } else {
        set sink [udp_flow $from $to $opt(payload) $opt(load) $opt(random) $first $end]
    }
    lappend flows [list $from $to $sink]
}

proc finish {} {
    global opt flows
    set rows {}
    foreach flow $flows {
        foreach {from to sink} $flow {}
        set packets [delivered $sink $opt(payload)]
        lappend rows [list $from $to $packets [expr {8.0 * $packets * $opt(payload) / $opt(duration)}]]
    }
    report grid-64 $opt(seed) $rows $opt(counts)
    exit 0
}
$ns at $end finish
$ns run
