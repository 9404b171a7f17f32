# 60,000 TCP Reno transfers of given sizes over a wired bottleneck of 150 Mbit/s and 100 ms, ns-2.35.
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   ns peers/ns2/short_flows.tcl -flows FILE              # FILE: lines "start_s,bytes" after one header line
#
# A sender that is done is used again for a later transfer: making a pair of agents costs time. `-reuse 0` makes a pair for each.
array set opt {flows "" count 0 end 95.468 payload 960 reuse 1}
foreach {flag value} $argv { set opt([string trimleft $flag -]) $value }
set ns [new Simulator]
foreach n {source left right sink} { set node($n) [$ns node] }
$ns duplex-link $node(source) $node(left) 1.5Gb 0ms DropTail
$ns duplex-link $node(left) $node(right) 150Mb 50ms DropTail
$ns duplex-link $node(right) $node(sink) 1.5Gb 0ms DropTail
$ns queue-limit $node(source) $node(left) 100000
$ns queue-limit $node(left) $node(right) 1875
$ns queue-limit $node(right) $node(left) 100000
$ns queue-limit $node(right) $node(sink) 100000
$ns queue-limit $node(sink) $node(right) 100000
Agent/TCP set packetSize_ $opt(payload)
Agent/TCP set window_ 100000
Agent/TCP set windowInit_ 2
Agent/TCP set minrto_ 0.2
Agent/TCP set tcpTick_ 0.01
Agent/TCP set singledup_ 1
set file [open $opt(flows)]
gets $file
set free {}
set finished 0
set packets 0
set open 0
proc next {} {
    global file ns opt started
    if {[gets $file line] < 0} { return }
    incr started
    if {$opt(count) && $started > $opt(count)} { return }
    scan $line "%f,%d" start bytes
    $ns at $start "begin $bytes"
}
set started 0
proc begin {bytes} {
    global ns node free opt open
    if {$opt(reuse) && [llength $free]} {
        set tcp [lindex $free end]
        set free [lreplace $free end end]
        $tcp reset
        [$tcp set peer] reset
    } else {
        set tcp [new Agent/TCP/Reno]
        set sink [new Agent/TCPSink]
        $ns attach-agent $node(source) $tcp
        $ns attach-agent $node(sink) $sink
        $ns connect $tcp $sink
        $tcp set peer $sink
        incr open
    }
    $tcp proc done {} "ended $tcp"
    $tcp set size $bytes
    $tcp advanceby [expr {($bytes + $opt(payload) - 1) / $opt(payload)}]
    next
}
proc ended {tcp} {
    global free finished packets opt
    incr finished
    incr packets [expr {([$tcp set size] + $opt(payload) - 1) / $opt(payload)}]
    lappend free $tcp
}
proc finish {} {
    global finished packets open
    puts "{\"peer\": \"ns-2.35\", \"finished\": $finished, \"delivered_packets\": $packets, \"senders\": $open}"
    exit 0
}
next
$ns at $opt(end) finish
$ns run
