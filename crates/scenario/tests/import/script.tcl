# a script such as NSG2 writes; $node_(3) has a position that is computed
set val(nn) 5; set val(stop) 20.0
set ns [new Simulator]
for {set i 0} {$i < 2} {incr i} {
  $node_($i) random-motion 0
}
set n0 [$ns node]
$n0 set X_ 100 ;# left
$n0 set Y_ 200; $n0 set Z_ 0.0
$ns initial_node_pos $n0 20
set n1 [$ns node]
$n1 set X_ 300
$n1 set Y_ 200
set n2 [$ns node]
$n2 set X_ 500
$n2 set Y_ 200
set node_(3) [$ns node]
$node_(3) set X_ [expr 100 * $val(nn)]
$ns at 2 "$n1 setdest 300 250 5"
$ns at 9 "$n1 setdest 300 300 0"
$ns at 3 "$n0 setdest $val(x) 1 1"
set tcp0 [new Agent/TCP]
$ns attach-agent $n0 $tcp0
set sink0 [new Agent/TCPSink]
$ns attach-agent $n2 $sink0
$ns connect $tcp0 $sink0
$tcp0 set packetSize_ 1460
$tcp0 set window_ 32
set ftp0 [new Application/FTP]
$ftp0 attach-agent $tcp0
$ns at 1.0 "$ftp0 start"
$ns at 12.5 "$ftp0 stop"
set udp1 [new Agent/UDP]
$ns attach-agent $n1 $udp1
set null1 [new Agent/Null]
$ns attach-agent $n2 $null1
$ns connect $null1 $udp1
$udp1 set packetSize_ 1500
set cbr1 [new Application/Traffic/CBR]
$cbr1 attach-agent $udp1
$cbr1 set packetSize_ 1400
$cbr1 set rate_ 1.0Mb
$cbr1 set random_ null
$ns at 1.5 "$cbr1 start"
set tcp2 [new Agent/TCP/Newreno]
$ns attach-agent $n2 $tcp2
set sink2 [new Agent/TCPSink/DelAck]
$ns attach-agent $n1 $sink2
$ns connect $tcp2 $sink2
set udp3 [new Agent/UDP]
$ns attach-agent $n0 $udp3
set exp3 [new Application/Traffic/Exponential]
$exp3 attach-agent $udp3
$ns connect $udp3 $null1
$ns at 2 "$exp3 start"
$ns at 2 "$cbr1 start"
set cbr4 [new Application/Traffic/CBR]
$cbr4 attach-agent $udp3
set ftp5 [new Application/FTP]
$ns duplex-link $n0 $n1 2Mb 10ms DropTail
proc finish {} { global ns; $ns flush-trace; exit 0 }
$ns at $val(stop) "finish"
$ns run
