# What DSDV sends on a quiet grid of 8 x 8 nodes, ns-2.35.
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   ns peers/ns2/dsdv.tcl -spacing 200 -from 60 -to 180 -seed 1
#
# Routing packets and their bytes per node and second between two times, as IP packets (20 bytes of header, none of UDP) and as
# frames (34 bytes more).
source [file join [file dirname [info script]] common.tcl]

array set opt [options {
    side 8  spacing 200  from 60  to 180  seed 1  perup 15  min_update_periods 3  wst0 6
    receive 250  sense 550  data_rate 11e6  basic_rate 1e6  capture 10  rts 0  queue 50
}]

Agent/DSDV set perup_ $opt(perup)
Agent/DSDV set min_update_periods_ $opt(min_update_periods)
Agent/DSDV set wst0_ $opt(wst0)

ns-random $opt(seed)
radio $opt(receive) $opt(sense) $opt(data_rate) $opt(basic_rate) $opt(capture) $opt(rts)
set positions {}
for {set i 0} {$i < $opt(side) * $opt(side)} {incr i} {
    lappend positions [list [expr {$opt(spacing) * ($i % $opt(side))}] [expr {$opt(spacing) * ($i / $opt(side))}]]
}
set counts [file join [expr {[info exists env(TMPDIR)] ? $env(TMPDIR) : "/tmp"}] "dsdv-[pid].txt"]
build $positions $opt(queue) dsdv $counts [format {$1 == "s" && $4 == "MAC" && $7 == "message" && $2 >= %s && $2 < %s \
    { n++; bytes += $8 } END { print n + 0, bytes + 0 }} $opt(from) $opt(to)]

proc finish {} {
    global opt ns counts
    $ns flush-trace
    close_traces
    set file [open $counts]
    gets $file line
    close $file
    file delete $counts
    # A size in the trace has 34 bytes of the MAC and 24 of preamble and PLCP header.
    foreach {packets bytes} $line {}
    set node_seconds [expr {$opt(side) * $opt(side) * double($opt(to) - $opt(from))}]
    puts [format {{"peer": "ns-2.35", "scenario": "dsdv", "spacing_m": %s, "seed": %d, "from_s": %s, "to_s": %s,\
        "packets_per_node_s": %.4f, "ip_bytes_per_node_s": %.2f, "mac_bytes_per_node_s": %.2f}} \
        $opt(spacing) $opt(seed) $opt(from) $opt(to) [expr {$packets / $node_seconds}] \
        [expr {($bytes - 58.0 * $packets) / $node_seconds}] [expr {($bytes - 24.0 * $packets) / $node_seconds}]]
    flush stdout
    exit 0
}
$ns at $opt(to) finish
$ns run
