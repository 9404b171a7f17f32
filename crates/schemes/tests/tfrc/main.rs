//! TFRC by the sections of RFC 5348: the equation (3.1), headers (3.2), the sender (4, 8.2.1), the loss history (5), the receiver (6), and
//! the marks of `tfrc-ecn`.

mod equation;
mod history;
mod hostile;
#[path = "../shared/hostile.rs"]
mod hostile_driver;
mod properties;
mod receiver;
mod sender;

use airfair_schemes::places::{
    AqmContext, AqmEffects, Ecn, FlowId, Interface, NodeId, Packet, PacketClass, PacketId, QueueView,
    UdpEnds, Verdict,
};
use airfair_schemes::{ParamValue, Params, Scheme, find};
use airfair_units::Time;
use airfair_units::random::{Purpose, Stream};

/// The scheme of this name with these parameters.
fn build(name: &str, set: &[(&str, ParamValue)]) -> Box<dyn Scheme> {
    let params = Params(set.iter().map(|&(name, value)| (name.to_string(), value)).collect());
    (find(name).unwrap().build)(&params).unwrap()
}

fn ends(name: &str, set: &[(&str, ParamValue)]) -> UdpEnds {
    build(name, set).udp().unwrap()
}

/// A quarter of the queue's limit is free, or not: only then a packet that can be marked is marked. All others pass.
#[test]
fn packets_above_three_quarters_of_the_queue_are_marked() {
    let verdict = |scheme: &dyn Scheme, limit: u32, packets: u32, ecn: Ecn| {
        let mut aqm = scheme.aqm(&Interface::radio(limit)).unwrap();
        let packet = Packet {
            id: PacketId(1),
            flow: FlowId(1),
            destination: NodeId(2),
            next_hop: NodeId(2),
            bytes: 1000,
            class: PacketClass::Data,
            ecn,
            labelled: false,
            own: false,
            enqueued: Time::ZERO,
        };
        let view = QueueView { packets, bytes: 0, limit_packets: limit };
        let mut random = Stream::new(1, "queue", Purpose::Queue);
        let mut context = AqmContext { now: Time::ZERO, random: &mut random, out: &mut AqmEffects };
        aqm.on_enqueue(&packet, &view, &mut context)
    };
    let scheme = build("tfrc-ecn", &[]);
    let marked = |limit, packets, ecn| matches!(verdict(&*scheme, limit, packets, ecn), Verdict::Mark(_));
    assert!(!marked(100, 75, Ecn::Ect) && marked(100, 76, Ecn::Ect));
    assert!(!marked(50, 37, Ecn::Ect) && marked(50, 38, Ecn::Ect), "37.5 packets");
    assert_eq!(verdict(&*scheme, 50, 50, Ecn::NotEct), Verdict::Pass, "a packet that cannot be marked");
    assert_eq!(verdict(&*scheme, 50, 50, Ecn::Ce), Verdict::Pass, "marked already");
    let half = build("tfrc-ecn", &[("mark_above", ParamValue::Number(0.5))]);
    assert!(matches!(verdict(&*half, 100, 51, Ecn::Ect), Verdict::Mark(_)));
    assert!(build("tfrc", &[]).aqm(&Interface::radio(100)).is_none());
}

#[test]
fn only_schemes_with_marks_are_ecn_capable() {
    assert!(!ends("tfrc", &[]).source.ecn_capable());
    assert!(ends("tfrc", &[("ecn", ParamValue::Flag(true))]).source.ecn_capable());
    assert!(ends("tfrc-ecn", &[]).source.ecn_capable());
}
