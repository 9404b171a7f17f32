//! Requests for classes of HTB and replies about them, from the numbers in `linux/pkt_sched.h` and `linux/rtnetlink.h`, written out here.

use airfair_schemes::places::LinkRate;
use airfair_units::Rate;
use netlink_packet_core::NetlinkBuffer;

use super::super::classes::{ClassState, class_request, decode, root_request};
use super::encoder::{attribute, nested};

/// `struct tcmsg` of device 3.
fn header(handle: u32, parent: u32) -> Vec<u8> {
    [0, 3, handle, parent, 0].into_iter().flat_map(u32::to_ne_bytes).collect()
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

#[test]
fn the_request_for_a_root_makes_a_discipline_without_a_class_for_the_rest() {
    let bytes = root_request(3).finish(1);
    let message = NetlinkBuffer::new_checked(&bytes).unwrap();
    // RTM_NEWQDISC; NLM_F_REQUEST, ACK, EXCL, CREATE.
    assert_eq!((message.message_type(), message.flags()), (36, 0x605));
    // TCA_HTB_INIT (2): version 3, rate2quantum 10, no default class; TCA_HTB_DIRECT_QLEN (5).
    let options = [attribute(2, &words(&[3, 10, 0, 0, 0])), attribute(5, &words(&[1000]))].concat();
    let expected = [header(0x6169_0000, u32::MAX), attribute(1, b"htb\0"), attribute(2, &options)].concat();
    assert_eq!(message.payload(), expected);
}

/// 2 Mbit/s are 250,000 bytes a second, for which 3000 bytes take 12 ms, or 187,500 units of 64 ns; of the overhead the kernel counts 14
/// bytes.
#[test]
fn the_request_for_a_class_has_rate_overhead_and_burst() {
    let rate = LinkRate { rate: Rate::from_mbps(2), overhead: 500, burst: 3000 };
    let bytes = class_request(3, 7, &rate).finish(1);
    let message = NetlinkBuffer::new_checked(&bytes).unwrap();
    // RTM_NEWTCLASS; NLM_F_REQUEST, ACK, CREATE.
    assert_eq!((message.message_type(), message.flags()), (40, 0x405));
    // `struct tc_ratespec`: cell_log, link layer of Ethernet, overhead, cell_align, mpu, rate.
    let spec = [&[0, 1][..], &486_u16.to_ne_bytes(), &[0; 4], &250_000_u32.to_ne_bytes()].concat();
    // Buffers of rate and ceiling, quantum, level, priority.
    let parameters = [spec.clone(), spec, words(&[187_500, 187_500, 3028, 0, 0])].concat();
    let long = 250_000_u64.to_ne_bytes();
    let options = [attribute(1, &parameters), attribute(6, &long), attribute(7, &long)].concat();
    let expected =
        [header(0x6169_0007, 0x6169_0000), attribute(1, b"htb\0"), attribute(2, &options)].concat();
    assert_eq!(message.payload(), expected);
}

/// `TCA_STATS2` (7) with `TCA_STATS_BASIC` (1) and `TCA_STATS_QUEUE` (3).
#[test]
fn the_queue_of_a_class_is_read() {
    let queue = attribute(3, &words(&[12, 18_000, 5, 1, 99]));
    let stats = nested(7, &[attribute(1, &[0; 16]), queue]);
    let payload = |handle| [header(handle, 0x6169_0000), attribute(1, b"htb\0"), stats.clone()].concat();
    let expected = ClassState { waiting: 12, dropped: 5 };
    assert_eq!(decode(&payload(0x6169_0007)), Ok(Some((7, expected))));
    assert_eq!(decode(&payload(0x0001_0007)), Ok(None), "a class of another discipline");
    assert_eq!(decode(&header(0x6169_0007, 0)), Ok(Some((7, ClassState::default()))));
    let short = [header(0x6169_0007, 0), nested(7, &[attribute(3, &[0; 8])])].concat();
    assert_eq!(decode(&short).unwrap_err().0, "a queue has no counters");
    assert_eq!(decode(&[0; 19]).unwrap_err().0, "a class has no header");
}
