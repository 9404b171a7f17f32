# TFRC and TCP with SACK over a wired bottleneck of 10 Mbit/s and 50 ms, ns-2.35.
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   ns peers/ns2/tfrc.tcl -tfrc 4 -sack 4 -queue droptail -seed 1      # also red; goodputs from 20 to 120 s
#   ns peers/ns2/tfrc.tcl -tfrc 1 -loss 0.01 -seed 1                   # each packet lost with this probability before the queue
#   ... -set "Agent/TFRC ca_ 0"                                        # another default of ns-2; ";" between several
#
# TFRC's packets have 1032 B on the wire: ns-2 adds headersize_ (32 B) to packetSize_. TCP's have 1000 B.
array set opt {tfrc 1 sack 0 queue droptail loss 0 seed 1 end 120 warmup 20 limit 100 set ""}
foreach {flag value} $argv { set opt([string trimleft $flag -]) $value }
Queue/RED set thresh_ 15
Queue/RED set maxthresh_ 45
Queue/RED set q_weight_ 0.002
Queue/RED set linterm_ 50
Queue/RED set gentle_ true
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set adaptive_ 0
foreach change [split $opt(set) ";"] {
    lassign $change class name value
    $class set $name $value
}
ns-random $opt(seed)
set ns [new Simulator]
set left [$ns node]
set right [$ns node]
set kind [expr {$opt(queue) eq "red" ? "RED" : "DropTail"}]
$ns duplex-link $left $right 10Mb 20ms $kind
$ns queue-limit $left $right $opt(limit)
$ns queue-limit $right $left 10000
set random [new RNG]
$random seed $opt(seed)
if {$opt(loss) > 0} {
    set model [new ErrorModel]
    $model unit pkt
    $model set rate_ $opt(loss)
    set draws [new RandomVariable/Uniform]
    set stream [new RNG]
    $stream seed [expr {$opt(seed) + 1000}]
    $draws use-rng $stream
    $model ranvar $draws
    $model drop-target [new Agent/Null]
    $ns lossmodel $model $left $right
}
set monitor [$ns monitor-queue $left $right ""]
set integrator [$monitor get-pkts-integrator]
# Counts what reaches a sink of TFRC or TCP: a filter in front of each would change its times.
set flows [expr {$opt(tfrc) + $opt(sack)}]
for {set i 0} {$i < $flows} {incr i} {
    set from [$ns node]
    set to [$ns node]
    foreach {a b} [list $from $left $right $to] {
        $ns duplex-link $a $b 100Mb 2.5ms DropTail
        $ns queue-limit $a $b 10000
        $ns queue-limit $b $a 10000
    }
    if {$i < $opt(tfrc)} {
        set sender [new Agent/TFRC]
        $sender set packetSize_ 1000
        set receiver [new Agent/TFRCSink]
    } else {
        set sender [new Agent/TCP/Sack1]
        $sender set packetSize_ 960
        $sender set window_ 10000
        $sender set minrto_ 0.2
        set receiver [new Agent/TCPSink/Sack1]
    }
    $sender set fid_ $i
    $ns attach-agent $from $sender
    $ns attach-agent $to $receiver
    $ns connect $sender $receiver
    set source [new Application/FTP]
    $source attach-agent $sender
    set arrivals($i) [$ns monitor-queue $right $to ""]
    $ns at [$random uniform 0 2] "$source start"
    set sinks($i) $receiver
}
set rates {}
proc sample {} {
    global ns monitor arrivals flows before opt integrator
    for {set i 0} {$i < $flows} {incr i} { set before($i) [$arrivals($i) set bdepartures_] }
    set before(sum) [$integrator set sum_]
    set before(time) [$ns now]
}
proc finish {} {
    global ns monitor arrivals flows before opt integrator
    $integrator newpoint [$ns now] [$integrator set lasty_]
    set seconds [expr {[$ns now] - $opt(warmup)}]
    set kbps {}
    set total 0
    for {set i 0} {$i < $flows} {incr i} {
        set rate [expr {([$arrivals($i) set bdepartures_] - $before($i)) * 8 / $seconds / 1e3}]
        lappend kbps [format %.1f $rate]
        set total [expr {$total + $rate}]
    }
    set queue [expr {([$integrator set sum_] - $before(sum)) / $seconds}]
    puts "{\"peer\": \"ns-2\", \"scenario\": \"tfrc\", \"queue\": \"$opt(queue)\", \"tfrc_flows\": $opt(tfrc),\
        \"sack1_flows\": $opt(sack), \"random_loss\": $opt(loss), \"seed\": $opt(seed), \"total_kbps\": [format %.1f $total],\
        \"mean_queue_pkts\": [format %.2f $queue], \"queue_arrivals\": [$monitor set parrivals_],\
        \"queue_drops\": [$monitor set pdrops_], \"per_flow_kbps\": \[[join $kbps {, }]\]}"
    exit 0
}
$ns at $opt(warmup) "$integrator newpoint $opt(warmup) \[$integrator set lasty_\]; sample"
$ns at $opt(end) finish
$ns run
