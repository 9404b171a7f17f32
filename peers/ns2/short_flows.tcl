# 60,000 transfers of given sizes, over TCP Reno or XCP, over a wired bottleneck of 150 Mbit/s and 100 ms, ns-2.35.
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   ns peers/ns2/short_flows.tcl -flows FILE              # FILE: lines "start_s,bytes" after one header line
#   ns peers/ns2/short_flows.tcl -flows FILE -times OUT   # completion times: lines "start_s,packets,took_s" after one header line
#   ... -protocol xcp                                     # XCP's senders, sinks and queues, each queue with one for other traffic
#   ... -series 1                                         # bytes that the bottleneck has sent, each second, beside the rest
#   ... -end 0                                            # goes on until every transfer is done
#   ... -seed 2                                           # another phase of the senders' clocks, the only chance there is
#   ... -leftover 1                                       # a sender that lost a SYN begins with one segment ever after
#
# A sender that is done is used again for a later transfer: making a pair of agents costs time. `-reuse 0` makes a pair for each.
array set opt {flows "" times "" protocol tcp series 0 tick 0.01 count 0 end 95.468 payload 960 seed 1 leftover 0 reuse 1}
foreach {flag value} $argv { set opt([string trimleft $flag -]) $value }
ns-random $opt(seed)
set ns [new Simulator]
foreach n {source left right sink} { set node($n) [$ns node] }
array set agents {tcp {DropTail Agent/TCP/Reno Agent/TCPSink} xcp {XCP Agent/TCP/Reno/XCP Agent/TCPSink/XCPSink}}
lassign $agents($opt(protocol)) queue sender receiver
# An XCP queue shares its link between XCP and the rest unless it is told otherwise.
Queue/XCP set tcp_xcp_on_ 0
$ns duplex-link $node(source) $node(left) 1.5Gb 0ms $queue
$ns duplex-link $node(left) $node(right) 150Mb 50ms $queue
$ns duplex-link $node(right) $node(sink) 1.5Gb 0ms $queue
if {$opt(protocol) eq "xcp"} {
    foreach {from to} {source left left right right sink sink right right left left source} {
        set link [$ns link $node($from) $node($to)]
        [$link queue] set-link-capacity [[$link set link_] set bandwidth_]
    }
}
$ns queue-limit $node(source) $node(left) 100000
$ns queue-limit $node(left) $node(right) 1875
$ns queue-limit $node(right) $node(left) 100000
$ns queue-limit $node(right) $node(sink) 100000
$ns queue-limit $node(sink) $node(right) 100000
Agent/TCP set packetSize_ $opt(payload)
Agent/TCP set window_ 100000
Agent/TCP set windowInit_ 2
Agent/TCP set minrto_ 0.2
Agent/TCP set tcpTick_ $opt(tick)
Agent/TCP set singledup_ 1
set file [open $opt(flows)]
gets $file
set free {}
set finished 0
set packets 0
set open 0
proc next {} {
    global file ns opt started
    if {($opt(count) && $started == $opt(count)) || [gets $file line] < 0} { return }
    incr started
    scan $line "%f,%d" start bytes
    $ns at $start "begin $bytes"
}
set started 0
proc begin {bytes} {
    global ns node free opt open sender receiver
    if {$opt(reuse) && [llength $free]} {
        set tcp [lindex $free end]
        set free [lreplace $free end end]
        $tcp reset
        # A lost SYN makes it 1, and `reset` leaves it so.
        if {!$opt(leftover)} { $tcp set windowInit_ 2 }
        [$tcp set peer] reset
    } else {
        set tcp [new $sender]
        set sink [new $receiver]
        $ns attach-agent $node(source) $tcp
        $ns attach-agent $node(sink) $sink
        $ns connect $tcp $sink
        $tcp set peer $sink
        incr open
    }
    $tcp proc done {} "ended $tcp"
    $tcp set size $bytes
    $tcp set begun [$ns now]
    $tcp advanceby [expr {($bytes + $opt(payload) - 1) / $opt(payload)}]
    next
}
proc ended {tcp} {
    global ns free finished started packets opt times
    set size [expr {([$tcp set size] + $opt(payload) - 1) / $opt(payload)}]
    incr finished
    incr packets $size
    lappend free $tcp
    if {$opt(times) ne ""} {
        puts $times [format {%.9f,%d,%.9f} [$tcp set begun] $size [expr {[$ns now] - [$tcp set begun]}]]
    }
    if {!$opt(end) && $finished == $started} { finish }
}
proc finish {} {
    global finished packets open opt times series monitor
    if {$opt(times) ne ""} { close $times }
    set more ""
    if {$opt(series)} {
        set more ", \"dropped\": [$monitor set pdrops_], \"sent_bytes\": \[[join $series ,]\]"
    }
    puts "{\"peer\": \"ns-2.35\", \"finished\": $finished, \"delivered_packets\": $packets, \"senders\": $open$more}"
    exit 0
}
if {$opt(times) ne ""} {
    set times [open $opt(times) w]
    puts $times "start_s,packets,took_s"
}
proc sent {} {
    global ns monitor opt series
    lappend series [$monitor set bdepartures_]
    $ns after $opt(series) sent
}
set series {}
if {$opt(series)} {
    set monitor [$ns monitor-queue $node(left) $node(right) ""]
    $ns at $opt(series) sent
}
next
if {$opt(end)} { $ns at $opt(end) finish }
$ns run
