//! The hooks of a queue that reads and writes headers, through the pipeline of an interface: DiffQ's.

use airfair_host::{HeaderId, HeaderKinds, Pipeline};
use airfair_schemes::diffq::trailer;
use airfair_schemes::places::{
    Capability, Ecn, Enqueued, FlowId, Header, HeaderKind, Heard, Interface, NodeId, Packet, PacketClass,
    PacketId, QueueEffects, QueueView, Setting,
};
use airfair_schemes::{Params, find};
use airfair_units::Time;
use airfair_units::random::{Purpose, Stream};

static OTHER: HeaderKind = HeaderKind { name: "other", ..trailer::KIND };

struct Rig {
    pipeline: Pipeline,
    kinds: HeaderKinds,
    own: HeaderId,
    other: HeaderId,
    effects: QueueEffects,
}

impl Rig {
    fn new(scheme: &str) -> Self {
        let scheme = (find(scheme).unwrap().build)(&Params::default()).unwrap();
        let stream = Stream::new(7, "pipeline", Purpose::Queue);
        let mut kinds = HeaderKinds::default();
        // Not the first kind of its network.
        let other = kinds.id(Some(&OTHER));
        let mut pipeline = Pipeline::new(&*scheme, &Interface::radio(50), 18, stream);
        pipeline.register_header(&mut kinds);
        let own = kinds.id(Some(&trailer::KIND));
        Self { pipeline, kinds, own, other, effects: QueueEffects::default() }
    }

    fn store(&mut self, packets: u32) {
        for id in 1..=packets {
            assert_eq!(self.pipeline.store(packet(id), Time(1), &mut self.effects), Enqueued::Stored);
        }
    }

    fn level(&mut self) -> Option<u8> {
        self.pipeline.head(Time(2), &mut self.effects).map(|head| head.priority.0)
    }

    fn hears(&mut self, id: HeaderId, size: u32) {
        let header = Header { fields: [size, 0, 0, 0], ..Header::default() };
        self.pipeline.heard(id, &Heard { from: NodeId(2), destination: NodeId(9), header: &header }, Time(1));
    }
}

fn packet(id: u32) -> Packet {
    Packet {
        id: PacketId(id),
        flow: FlowId(3),
        destination: NodeId(9),
        next_hop: NodeId(2),
        bytes: 1000,
        class: PacketClass::Data,
        ecn: Ecn::NotEct,
        labelled: true,
        own: false,
        enqueued: Time(1),
    }
}

#[test]
fn what_its_host_must_call() {
    let of = |scheme| {
        let p = Rig::new(scheme).pipeline;
        let wants =
            [Capability::HeardHeaders, Capability::Finished, Capability::Routes].map(|it| p.wants(it));
        (wants, p.tail_drop(), p.judges())
    };
    assert_eq!(of("diffq"), ([true; 3], None, false));
    assert_eq!(of("diffq-rc"), ([false, true, true], None, false));
    assert_eq!(of("droptail"), ([false; 3], Some(50), false));
    let rig = Rig::new("diffq");
    assert_eq!(rig.pipeline.queue_header(), rig.own);
    assert!(Rig::new("droptail").pipeline.queue_header().is_none());
}

/// 26 packets: level 3. A size of 26 in a header of its kind makes that 0; one of another kind says nothing.
#[test]
fn a_queue_hears_headers_of_its_kind() {
    let mut rig = Rig::new("diffq");
    rig.store(26);
    assert_eq!(rig.level(), Some(3));
    for id in [rig.other, HeaderId::NONE] {
        rig.hears(id, 26);
        assert_eq!(rig.level(), Some(3));
    }
    rig.hears(rig.own, 26);
    assert_eq!(rig.level(), Some(0));
    let (neighbour, destination) = (NodeId(2), NodeId(9));
    rig.pipeline.apply(Setting::Backlog { neighbour, destination, packets: 1 }, Time(1));
    assert_eq!(rig.level(), Some(2));
}

/// Beside others that do.
#[test]
fn a_queue_that_wants_no_headers_hears_none() {
    for (scheme, expected) in [("diffq", 1.0), ("diffq-rc", 0.0), ("diffq-occupancy", 0.0)] {
        let mut rig = Rig::new(scheme);
        rig.store(1);
        rig.hears(rig.own, 26);
        let gauges = rig.pipeline.queue_gauges();
        assert_eq!(gauges.iter().find(|gauge| gauge.0 == "known_sizes").unwrap().1, expected, "{scheme}");
    }
}

#[test]
fn a_queue_stamps_headers_of_its_kind() {
    let mut rig = Rig::new("diffq");
    rig.store(5);
    let left = rig.pipeline.pop(Time(2_000_000), &mut rig.effects).unwrap();
    for check in [false, true] {
        if check {
            rig.kinds.enable_check();
        }
        for (id, expected) in
            [(rig.own, [4, 3, 2000, 4 << 16]), (rig.other, [0; 4]), (HeaderId::NONE, [0; 4])]
        {
            let mut header = Header::default();
            rig.pipeline.stamp(&left, (id, Some(&mut header)), &rig.kinds, Time(2_000_000));
            assert_eq!((header.fields, header.supported), (expected, u8::from(id == rig.own)));
        }
        rig.pipeline.stamp(&left, (rig.own, None), &rig.kinds, Time(2_000_000));
    }
}

#[test]
fn a_queue_follows_the_radio_and_the_routes() {
    let mut rig = Rig::new("diffq");
    rig.store(3);
    let view = QueueView { packets: 3, bytes: 3000, limit_packets: 100 };
    assert_eq!(rig.pipeline.backlog_to(NodeId(9), true), view);
    assert_eq!(rig.pipeline.backlog_to(NodeId(9), false).packets, 0);
    let mut sizes = vec![];
    rig.pipeline.backlogs(&mut |destination, packets| sizes.push((destination, packets)));
    assert_eq!(sizes, [(NodeId(9), 3)]);
    let first = rig.pipeline.pop(Time(2), &mut rig.effects).unwrap();
    assert_eq!(rig.level(), None, "one packet at a time");
    rig.pipeline.finished(first.id);
    assert_eq!(rig.level(), Some(1));
    rig.pipeline.routes_changed(&mut |_| None);
    assert_eq!(rig.level(), None);
    rig.pipeline.routes_changed(&mut |destination| (destination == NodeId(9)).then_some(NodeId(4)));
    let second = rig.pipeline.pop(Time(2), &mut rig.effects).unwrap();
    assert_eq!((second.id, second.next_hop), (PacketId(2), NodeId(4)));
}
