//! C3L's agent and DiffQ's queue: messages and headers in both directions, as bytes. Against arithmetic by hand.

use airfair_host::{Addressee, Capabilities, Outgoing};
use airfair_schemes::ParamValue;
use airfair_schemes::c3l::header::{self, STAMP};
use airfair_schemes::places::{Capability, Destination, Ecn, Header, Heard, NodeId};
use airfair_units::Span;
use airfair_wire::c3l::{Alive, Allocation, AllocationHead, Hello, Message, Share};
use airfair_wire::diffq::{Trailer, Type};

use super::driver::{ME, PEER};
use super::support::{FLOW, ms, near, packet, scheme};
use super::{Daemon, Me};

impl Daemon {
    /// A trailer of the neighbour is overheard, as bytes: so many packets wait there for a destination.
    fn overhear(&mut self, trailer: &Trailer, destination: NodeId, queue: u16) {
        let said = Trailer { queue, ..*trailer };
        let mut bytes = vec![0; said.wire_len()];
        said.encode(&mut bytes).unwrap();
        let kind = self.pipeline.queue_header();
        let header = (self.kinds.of(kind).unwrap().decode)(&bytes).unwrap();
        self.pipeline.heard(kind, &Heard { from: PEER, destination, header: &header }, self.now);
    }
}

/// Section III: the agent counts a cycle of its links and flows, reports them to the controller of which a neighbour's HELLO speaks, and
/// stamps its flows with the share that the controller has assigned to the link.
#[test]
fn c3l_reports_and_obeys_by_messages() {
    let cycle = ("cycle", ParamValue::Span(Span::from_secs(2)));
    let mut daemon = Daemon::start(&*scheme("c3l", &[cycle]), &Capabilities::DRIVER).unwrap();
    let controller = NodeId(3);
    let encoded = |message: Message| {
        let mut bytes = vec![0; message.wire_len()];
        message.encode(&mut bytes).unwrap();
        bytes
    };
    let alive = Alive { controller: controller.0, freshness: 70, hops: 0 };
    let hello = Hello::new(false, 1, PEER.0, [alive].into_iter());
    daemon.message((PEER, 1), &encoded(Message::Hello(hello)), Addressee::Everyone);
    let way = (PEER, controller);
    for row in 1..=100 {
        // As many as the driver sends; 30 that wait for longer are more than a fifth of the queue.
        let packets = if row <= 30 { 1 } else { 20 };
        (0..packets).for_each(|id| _ = daemon.arrive(packet(id, way, Ecn::NotEct), Default::default()));
        daemon.run(ms(100 * row));
    }
    let to_controller = |sent: &&Outgoing<Me, Me>| sent.message.to == Destination::Node(controller);
    let reports: Vec<_> = daemon.sent.iter().filter(to_controller).collect();
    assert_eq!(reports.len(), 5);
    // The last three cycles are busy from end to end. In them the driver begins again and stands still, but what the host counts is whole.
    for sent in &reports[2..] {
        let (message, _) = Message::decode(&sent.message.bytes).unwrap();
        let Message::Report(report) = message else { panic!("a report: {message:?}") };
        let [link] = report.links() else { panic!("one link: {report:?}") };
        // 1500 B at 11 Mbit/s and 892 us make 6.05 Mbit/s; 24 transmissions of 20 packets, in 256ths; 20 packets of 1500 B in 100 ms.
        near(f64::from(link.capacity), 1500.0 / (892e-6 + 12_000.0 / 11e6), 1e-5);
        assert_eq!((link.next_hop, link.transmissions, link.overloaded), (PEER.0, 307, true));
        assert_eq!(link.used, 300_000);
        let flows = report.flows().iter().map(|flow| (flow.flow, flow.next_hop, flow.rate));
        assert!(flows.eq([(FLOW.0, PEER.0, 300_000)]));
    }
    let head = AllocationHead { controller: controller.0, node: ME.0, round: 1, version: 0, valid_ms: 9_000 };
    let share = Share { next_hop: PEER.0, share: 120_000 };
    let part = Allocation::parts(head, &[share]).remove(0);
    daemon.message((controller, 1), &encoded(Message::Allocation(part)), Addressee::Me);
    let mut stamp = Header { fields: [0, u32::MAX, 0, 0], ..Header::default() };
    let kind = daemon.kinds.id(Some(&STAMP));
    daemon.arrive(packet(1, way, Ecn::NotEct), (kind, Some(&mut stamp)));
    assert_eq!(header::allocation(&stamp), Some(120_000));
    let meters = &daemon.meters.links;
    assert_eq!((meters.bad_readings(Me(0)), daemon.bad_samples()), (1, 5));
}

/// Section 4.1: first goes the packet whose destination has the largest differential, with the level of that.
#[test]
fn diffq_serves_the_largest_differential() {
    // Eight levels are more than four queues of the hardware.
    let refused = Daemon::start(&*scheme("diffq", &[]), &Capabilities::DRIVER).err().unwrap();
    assert_eq!(refused, [Capability::Priorities]);
    let levels = ("levels", ParamValue::Integer(4));
    let mut daemon = Daemon::start(&*scheme("diffq", &[levels]), &Capabilities::DRIVER).unwrap();
    daemon.run(ms(1_000));
    let [near_by, far] = [NodeId(7), NodeId(8)];
    for id in 0..60 {
        let to = if id < 40 { far } else { near_by };
        daemon.arrive(packet(id, (PEER, to), Ecn::NotEct), Default::default());
    }
    // 100 packets are four levels. Ranked are 40 and 20, of which the former is 1.6 levels, rounded up.
    let (head, trailer) = daemon.transmit().unwrap();
    assert_eq!((head.packet.destination, head.priority.0), (far, 2));
    let (trailer, _) = Trailer::decode(&trailer).unwrap();
    assert_eq!((trailer.kind, trailer.queue, trailer.flow), (Type::Data, 39, FLOW.0));
    daemon.pipeline.finished(head.packet.id);
    // The neighbour says that 35 packets wait there for the far destination: ranked are 39 - 35 and 20, which is 0.8.
    daemon.overhear(&trailer, far, 35);
    let (head, _) = daemon.transmit().unwrap();
    assert_eq!((head.packet.destination, head.priority.0), (near_by, 1));
    daemon.pipeline.finished(head.packet.id);
    // And 18 for the near one: ranked are 39 - 35, which is 0.16, and 19 - 18.
    daemon.overhear(&trailer, near_by, 18);
    let (head, _) = daemon.transmit().unwrap();
    assert_eq!((head.packet.destination, head.priority.0), (far, 1));
    daemon.pipeline.finished(head.packet.id);
    // Sizes that were not heard again for a second count as none: ranked are 38, which is 1.52, and 19.
    daemon.run(ms(2_000));
    let (head, _) = daemon.transmit().unwrap();
    assert_eq!((head.packet.destination, head.priority.0), (far, 2));
}
