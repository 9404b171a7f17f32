# What the ns-2 scripts of this folder share: options, radio, routes, sources and the one line of JSON.
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# ns-2.35, Mac/802_11 over Phy/WirelessPhy with two-ray ground. Distances are in metres, rates in bit/s, times in seconds.

# Reads "-key value" pairs from the command line over the defaults of the calling script.
proc options {defaults} {
    global argv
    array set opt $defaults
    if {[llength $argv] % 2} { fail "options come in pairs: -key value" }
    foreach {flag value} $argv {
        set key [string trimleft $flag -]
        if {![info exists opt($key)]} { fail "no option -$key; there are: [lsort [array names opt]]" }
        set opt($key) $value
    }
    return [array get opt]
}

proc fail {message} { puts stderr $message; exit 2 }

# Received power at a distance under two-ray ground, beyond the crossover distance of 86 m that ns-2's defaults imply.
proc power_at {metres} {
    set height 1.5
    expr {[Phy/WirelessPhy set Pt_] * pow($height, 4) / pow($metres, 4)}
}

# 802.11b DSSS with long preambles; control and broadcast frames at the basic rate.
proc radio {receive sense data_rate basic_rate capture rts_threshold} {
    Phy/WirelessPhy set RXThresh_ [power_at $receive]
    Phy/WirelessPhy set CSThresh_ [power_at $sense]
    Phy/WirelessPhy set CPThresh_ $capture
    Mac/802_11 set dataRate_ $data_rate
    Mac/802_11 set basicRate_ $basic_rate
    Mac/802_11 set RTSThreshold_ $rts_threshold
}

# Builds the nodes at {x y} positions. Without a count file nothing is traced, which is the run to time; with one, every frame
# that a MAC hands to the air is counted by its kind on the way out (or by `awk`), so no trace reaches the disk.
proc build {positions queue routing counts {awk {$1 == "s" && $4 == "MAC" { n[$7]++ } END { for (k in n) print k, n[k] }}}} {
    global ns node routes
    set routes $routing
    set ns [new Simulator]
    if {$counts ne ""} {
        $ns trace-all [open "| awk {$awk} > $counts" w]
    } else {
        $ns trace-all [open /dev/null w]
    }
    set topology [new Topography]
    $topology load_flatgrid 20000 20000
    create-god [llength $positions]
    $ns node-config -adhocRouting [routing_agent $routing] -llType LL -macType Mac/802_11 \
        -ifqType Queue/DropTail/PriQueue -ifqLen $queue \
        -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
        -channel [new Channel/WirelessChannel] -topoInstance $topology \
        -agentTrace OFF -routerTrace OFF -movementTrace OFF -macTrace [expr {$counts ne "" ? "ON" : "OFF"}]
    set i 0
    foreach position $positions {
        set node($i) [$ns node]
        $node($i) random-motion 0
        $node($i) set X_ [expr {1000 + [lindex $position 0]}]
        $node($i) set Y_ [expr {1000 + [lindex $position 1]}]
        $node($i) set Z_ 0
        incr i
    }
}

# --- Routes -------------------------------------------------------------------------------------------------------------
#
# `static`: shortest paths, ties to the lowest node number, as in the other simulators, so that all carry the flows over the
# same nodes and pay nothing for finding the way. ns-2.35 has no such routing for nodes on the air, but it has the parts: a
# link layer object without an ARP table sends to one fixed neighbour (one such object per neighbour), a node's address
# classifier picks the object by destination, and Phy/Repeater turns a packet that came up the stack round to go down again.
#
# `dsdv`: the routing protocol finds the way, no entry ever expires, and from `frozen` on no agent plans another update; the
# last one already planned is on the air less than 15 s later. Which of the equal paths it keeps is chance.

Agent/DSDV set min_update_periods_ 1000000

proc routing_agent {routes} {
    switch -- $routes {
        static { return DumbAgent }
        dsdv { return DSDV }
        default { fail "-routes is static or dsdv, not $routes" }
    }
}

# Establishes the routes and returns the time from which flows may start.
proc establish_routes {routes range} {
    if {$routes eq "static"} {
        static_routes $range
        return 1.0
    }
    global ns node
    set frozen 100.0
    for {set i 0} {[info exists node($i)]} {incr i} {
        $ns at $frozen "[$node($i) set ragent_] set perup_ 1000000000"
    }
    return [expr {$frozen + 20.0}]
}

proc static_routes {range} {
    global node
    set neighbours [neighbours_within $range]
    set n [llength $neighbours]
    for {set i 0} {$i < $n} {incr i} {
        set turn [new Phy/Repeater]
        $turn up-target [$node($i) entry]
        [$node($i) set ll_(0)] up-target $turn
        foreach j [lindex $neighbours $i] {
            set ll [new LL]
            $ll mac [$node($i) set mac_(0)]
            $ll ifq [$node($i) set ifq_(0)]
            $ll down-target [$node($i) set ifq_(0)]
            $ll up-target $turn
            $ll set macDA_ [[$node($j) set mac_(0)] id]
            set link($i,$j) $ll
        }
    }
    for {set to 0} {$to < $n} {incr to} {
        foreach {at next} [next_hops $to $neighbours] {
            [$node($at) set classifier_] install [$node($to) node-addr] $link($at,$next)
        }
    }
}

# For each node the nodes within `range`, in rising order.
proc neighbours_within {range} {
    global node
    set positions {}
    for {set i 0} {[info exists node($i)]} {incr i} {
        lappend positions [list [$node($i) set X_] [$node($i) set Y_]]
    }
    set neighbours {}
    foreach here $positions {
        set near {}
        set j 0
        foreach there $positions {
            set distance [expr {hypot([lindex $here 0] - [lindex $there 0], [lindex $here 1] - [lindex $there 1])}]
            if {$distance > 0 && $distance <= $range} { lappend near $j }
            incr j
        }
        lappend neighbours $near
    }
    return $neighbours
}

# Pairs of node and next hop towards `to`, by breadth-first search from it.
proc next_hops {to neighbours} {
    set hops($to) 0
    set open [list $to]
    for {set k 0} {$k < [llength $open]} {incr k} {
        set at [lindex $open $k]
        foreach other [lindex $neighbours $at] {
            if {![info exists hops($other)]} {
                set hops($other) [expr {$hops($at) + 1}]
                lappend open $other
            }
        }
    }
    set pairs {}
    foreach at [lrange $open 1 end] {
        foreach other [lindex $neighbours $at] {
            if {$hops($other) < $hops($at)} { lappend pairs $at $other; break }
        }
    }
    return $pairs
}

# --- Flows and results ----------------------------------------------------------------------------------------------------

# Constant rate over UDP with 20 bytes of IP header and none of UDP, as is ns-2's habit: with DSDV the routing agent adds them,
# with static routes the source does. Returns the sink.
proc udp_flow {from to payload rate random start stop} {
    global ns node routes
    set bytes [expr {$routes eq "static" ? $payload + 20 : $payload}]
    set agent [new Agent/UDP]
    $agent set packetSize_ $bytes
    set sink [new Agent/LossMonitor]
    $ns attach-agent $node($from) $agent
    $ns attach-agent $node($to) $sink
    $ns connect $agent $sink
    set source [new Application/Traffic/CBR]
    $source set packetSize_ $bytes
    $source set rate_ [expr {double($rate) * $bytes / $payload}]
    $source set random_ $random
    $source attach-agent $agent
    $ns at $start "$source start"
    $ns at $stop "$source stop"
    return $sink
}

# NewReno without end: two segments at first, time-outs from 0.2 s, every segment acknowledged, a window of 1000 segments at most.
# 40 bytes of headers and 20 of IP on top, as is ns-2's habit: with DSDV the routing agent adds them. Returns the sink.
proc tcp_flow {from to payload start stop} {
    global ns node routes
    if {$routes eq "static"} {
        Agent/TCP set tcpip_base_hdr_size_ 60
        Agent/TCPSink set packetSize_ 60
    }
    set agent [new Agent/TCP/Newreno]
    $agent set packetSize_ $payload
    $agent set window_ 1000
    $agent set windowInit_ 2
    $agent set minrto_ 0.2
    set sink [new Agent/TCPSink]
    $ns attach-agent $node($from) $agent
    $ns attach-agent $node($to) $sink
    $ns connect $agent $sink
    set source [new Application/FTP]
    $source attach-agent $agent
    $ns at $start "$source start"
    $ns at $stop "$source stop"
    return $sink
}

# Packets that a sink has got; for TCP in order. It counts their bytes with all headers.
proc delivered {sink payload} {
    if {[$sink info class] eq "Agent/LossMonitor"} { return [$sink set npkts_] }
    return [expr {[$sink set bytes_] / ($payload + 60)}]
}

# One packet from `from` to `to` ahead of time, so that the neighbours know each other's addresses (ARP) before it matters.
# With static routes there is no ARP.
proc fill_arp {from to when} {
    udp_flow $from $to 64 8000 0 $when [expr {$when + 0.01}]
}

# Frames on the air by kind as JSON, null where they were not counted.
proc frames_json {counts} {
    if {$counts eq ""} { return null }
    array set kind {rts 0 cts 0 data 0 ack 0 other 0}
    set file [open $counts]
    while {[gets $file line] >= 0} {
        foreach {name n} $line {}
        switch -- $name {
            RTS - CTS - ACK { incr kind([string tolower $name]) $n }
            cbr - udp - tcp { incr kind(data) $n }
            default { incr kind(other) $n }
        }
    }
    close $file
    set all 0
    set parts {}
    foreach name {rts cts data ack other} {
        incr all $kind($name)
        lappend parts "\"$name\": $kind($name)"
    }
    return "{[join $parts {, }], \"total\": $all}"
}

# The closing line: {"peer": ..., "scenario": ..., "seed": ..., "delivered_packets": ..., "flows": [...], "frames": {...}}
proc report {scenario seed flows counts} {
    global ns
    $ns flush-trace
    if {$counts ne ""} { close_traces }
    set packets 0
    set rows {}
    foreach flow $flows {
        foreach {from to delivered goodput} $flow {}
        incr packets $delivered
        lappend rows [format {{"src": "%s", "dst": "%s", "delivered_packets": %d, "goodput_bps": %.1f}} \
            $from $to $delivered $goodput]
    }
    puts [format {{"peer": "ns-2.35", "scenario": "%s", "seed": %d, "delivered_packets": %d, "flows": [%s], "frames": %s}} \
        $scenario $seed $packets [join $rows {, }] [frames_json $counts]]
    flush stdout
}

# Ends the counting pipe and waits for it, so that its numbers are complete.
proc close_traces {} {
    global ns
    close [$ns set traceAllFile_]
}
