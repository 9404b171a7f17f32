//! Effects of selective acknowledgements before recovery starts (RFC 6675 sections 2 and 4, RFC 3042).

use airfair_transport::TcpConfig;

use crate::support::laws::Law;
use crate::support::sender::{check, with_sack};

#[test]
fn duplicates_need_new_information() {
    // RFC 6675 section 2: an acknowledgement without new SACK information is no duplicate, whatever its number.
    check(
        &with_sack(),
        Law::Fixed(4000),
        "
        0 open
        0 write 4000
        > 1:4001/1000
        100 < 1
        100 < 1
        100 < 1
        = state=open duplicates=0
        100 < 1 sack=1001:2001
        100 < 1 sack=1001:2001
        100 < 1 sack=1001:2001
        = state=open duplicates=1
        # With another window an acknowledgement with new SACK information still is a duplicate.
        100 < 1 sack=1001:3001 win=5000
        = duplicates=2
        ",
    );
}

#[test]
fn impossible_blocks_are_ignored() {
    check(
        &with_sack(),
        Law::Fixed(4000),
        "
        0 open
        0 write 4000
        > 1:4001/1000
        100 < 1 sack=3001:4002
        100 < 1 sack=3001:3001
        100 < 1 sack=4001:3001
        # A part of a segment does not count as the segment.
        100 < 1 sack=1001:2000
        100 < 1 sack=1002:2001
        = duplicates=0 pipe=4000
        200 < 2001
        # A block of acknowledged data (RFC 2883) is no new information.
        201 < 2001 sack=1:1001
        = duplicates=0 pipe=2000
        # But the part beyond the acknowledgement number is.
        201 < 2001 sack=1:3001
        = duplicates=1 pipe=1000
        ",
    );
}

#[test]
fn more_than_two_segments_above_are_enough_at_once() {
    // IsLost by octets: (DupThresh - 1) * SMSS octets above do not suffice, one octet more does.
    check(
        &with_sack(),
        Law::Fixed(5000),
        "
        0 open
        0 write 4001
        > 1:4001/1000 4001:4002
        100 < 1 sack=1001:3001
        = state=open duplicates=1
        100 < 1 sack=1001:3001,4001:4002
        ! fast-loss 4001 pipe 1000
        > 1:1001 3001:4001
        = state=recovery duplicates=2
        ",
    );
}

#[test]
fn three_runs_above_are_enough_at_once() {
    // IsLost by discontiguous sequences: the segments are too small for the rule by octets. Rule 3 then retransmits segments that are not
    // known to be lost.
    check(
        &with_sack(),
        Law::Fixed(10000),
        "
        0 open
        0 write 100
        > 1:101
        0 write 100
        > 101:201
        0 write 100
        > 201:301
        0 write 100
        > 301:401
        0 write 100
        > 401:501
        0 write 100
        > 501:601
        0 write 100
        > 601:701
        100 < 1 sack=101:201,301:401
        = state=open
        101 < 1 sack=101:201,301:401,501:601
        ! fast-loss 700 pipe 300
        > 1:101 201:301 401:501
        = pipe=600
        ",
    );
}

#[test]
fn adjacent_segments_are_one_run() {
    check(
        &with_sack(),
        Law::Fixed(10000),
        "
        0 open
        0 write 100
        > 1:101
        0 write 100
        > 101:201
        0 write 100
        > 201:301
        0 write 100
        > 301:401
        0 write 100
        > 401:501
        100 < 1 sack=101:501
        = state=open duplicates=1
        ",
    );
}

#[test]
fn without_limited_transmit_nothing_new_leaves_before_recovery() {
    check(
        &TcpConfig { limited_transmit: false, ..with_sack() },
        Law::Fixed(4000),
        "
        0 open
        0 endless
        > 1:4001/1000
        100 < 1 sack=1001:2001
        101 < 1 sack=1001:3001
        = pipe=2000 next=4001
        102 < 1 sack=1001:4001
        ! fast-loss 4000 pipe 0
        > 1:1001 4001:7001/1000
        ",
    );
    // Also after reordering: the window limits FlightSize, not pipe.
    check(
        &TcpConfig { limited_transmit: false, ..with_sack() },
        Law::Fixed(4000),
        "
        0 open
        0 endless
        > 1:4001/1000
        100 < 1 sack=2001:3001
        110 < 1001 sack=2001:3001
        > 4001:5001
        = pipe=3000 flight=4000
        ",
    );
}
