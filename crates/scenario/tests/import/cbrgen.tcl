$node_(0) set X_ 10.0
$node_(0) set Y_ 20.0
$node_(1) set X_ 110.0
$node_(1) set X_ 150.0
$node_(1) set Y_ 20.0
#
# nodes: 2, max conn: 2, send rate: 0.25, seed: 1
#
# 0 connecting to 1 at time 2.5568388786897245
#
set udp_(0) [new Agent/UDP]
$ns_ attach-agent $node_(0) $udp_(0)
set null_(0) [new Agent/Null]
$ns_ attach-agent $node_(1) $null_(0)
set cbr_(0) [new Application/Traffic/CBR]
$cbr_(0) set packetSize_ 512
$cbr_(0) set interval_ 0.25
$cbr_(0) set random_ 1
$cbr_(0) set maxpkts_ 100
$cbr_(0) attach-agent $udp_(0)
$ns_ connect $udp_(0) $null_(0)
$ns_ at 2.5568388786897245 "$cbr_(0) start"
#
# 1 connecting to 0 at time 3
#
set tcp_(0) [$ns_ create-connection  TCP $node_(1) TCPSink $node_(0) 0]
$tcp_(0) set window_ 32
$tcp_(0) set packetSize_ 512
set ftp_(0) [$tcp_(0) attach-source FTP]
$ns_ at 3.0 "$ftp_(0) start"
set tcp_(1) [$ns_ create-connection TCP $node_(1) TCPSink $node_(7) 0]
set ftp_(1) [$tcp_(1) attach-source FTP]
$ns_ at 3.0 "$ftp_(1) start"
