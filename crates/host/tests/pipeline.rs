//! The pipeline of an interface: the parts called for a packet, their order, their arguments, and the results.

use std::sync::{Arc, Mutex};

use airfair_host::{Dequeued, Firing, HeaderId, HeaderKinds, Pipeline};
use airfair_schemes::Scheme;
use airfair_schemes::places::{
    Aqm, AqmContext, Backlog, Capability, DropReason, Ecn, Enqueued, FlowId, Header, HeaderKind, Hop,
    HopContext, HopEffects, Interface, MarkReason, NodeId, Packet, PacketClass, PacketId, Passage,
    QueueEffects, QueueView, Timer, Verdict, Wants,
};
use airfair_units::Time;
use airfair_units::random::{Purpose, Stream};

/// Calls in their order.
type CallLog = Arc<Mutex<Vec<String>>>;

/// Parts that record their calls. The AQM drops packets of flow 1 on arrival, of flow 2 at the head, of flow 3 on reception; it marks those
/// of flow 4 on arrival.
#[derive(Clone)]
struct Told {
    log: CallLog,
    with_aqm: bool,
    wants: Wants,
}

impl Told {
    fn write(&self, line: String) {
        self.log.lock().unwrap().push(line);
    }
}

const EARLY: DropReason = DropReason("early");

impl Aqm for Told {
    fn on_enqueue(&mut self, packet: &Packet, queue: &QueueView, context: &mut AqmContext<'_>) -> Verdict {
        self.write(format!(
            "aqm enqueue {} beside {} draws {}",
            packet.id.0,
            queue.packets,
            context.random.below(10)
        ));
        match packet.flow.0 {
            1 => Verdict::Drop(EARLY),
            4 => Verdict::Mark(MarkReason("early")),
            _ => Verdict::Pass,
        }
    }

    fn on_dequeue(&mut self, packet: &Packet, queue: &QueueView, _: &mut AqmContext<'_>) -> Verdict {
        self.write(format!("aqm dequeue {} of {}", packet.id.0, queue.packets));
        if packet.flow == FlowId(2) { Verdict::Drop(EARLY) } else { Verdict::Pass }
    }

    fn on_receive(&mut self, packet: &Packet, _: &mut AqmContext<'_>) -> Verdict {
        self.write(format!("aqm receive {}", packet.id.0));
        if packet.flow == FlowId(3) { Verdict::Drop(EARLY) } else { Verdict::Pass }
    }
}

static KIND: HeaderKind = HeaderKind {
    name: "told",
    wire_len: 4,
    trailer: false,
    queue: None,
    encode: |_, _| None,
    decode: |_| None,
    keep: |_, _| (),
    answer: |header| *header,
};
static OTHER: HeaderKind = HeaderKind { name: "other", ..KIND };

impl Told {
    fn record_call(&self, what: &str, passage: &Passage, header: Option<&mut Header>) {
        let supported = header.map(|header| header.supported);
        let Backlog { packets, bytes } = passage.backlog;
        self.write(format!(
            "hop {what} {} B, {packets} packets of {bytes} B wait, supported {supported:?}",
            passage.bytes
        ));
    }
}

impl Hop for Told {
    fn header(&self) -> &'static HeaderKind {
        &KIND
    }

    fn on_start(&mut self, context: &mut HopContext<'_>) {
        context.out.timers.push((Timer(1), Time(100)));
    }

    fn on_arrival(&mut self, passage: &Passage, header: Option<&mut Header>, _: Time) {
        self.record_call("arrival", passage, header);
    }

    fn on_departure(&mut self, passage: &Passage, header: Option<&mut Header>, _: Time) {
        self.record_call("departure", passage, header);
    }

    fn on_receive(&mut self, passage: &Passage, header: Option<&mut Header>, _: Time) {
        self.record_call("receive", passage, header);
    }

    fn on_drop(&mut self, bytes: u32) {
        self.write(format!("hop drop {bytes} B"));
    }

    fn on_timer(&mut self, timer: Timer, backlog: Backlog, context: &mut HopContext<'_>) {
        self.write(format!("hop timer {} with {} B", timer.0, backlog.bytes));
        context.out.timers.push((timer, context.now));
    }
}

impl Scheme for Told {
    fn aqm(&self, _: &Interface) -> Option<Box<dyn Aqm>> {
        self.with_aqm.then(|| Box::new(self.clone()) as Box<dyn Aqm>)
    }

    fn wants(&self, _: &Interface) -> Wants {
        self.wants
    }
}

/// A link that adds 18 bytes, and room for two packets.
struct Rig {
    pipeline: Pipeline,
    kinds: HeaderKinds,
    told: Told,
    effects: QueueEffects,
}

impl Rig {
    fn new(with_aqm: bool, with_hop: bool, wants: Wants) -> Self {
        let told = Told { log: CallLog::default(), with_aqm, wants };
        let mut kinds = HeaderKinds::default();
        let random = |purpose| Stream::new(7, "pipeline", purpose);
        let mut pipeline = Pipeline::new(&told, &Interface::radio(2), 18, random(Purpose::Queue));
        if with_hop {
            pipeline.add_hop(Box::new(told.clone()), &mut kinds, random(Purpose::Hop), 5);
        }
        Self { pipeline, kinds, told, effects: QueueEffects::default() }
    }

    fn log(&self) -> Vec<String> {
        std::mem::take(&mut *self.told.log.lock().unwrap())
    }

    /// A packet without a header arrives.
    fn arrives(&mut self, id: u32, flow: u32) -> (Verdict, Option<Enqueued>, Packet) {
        let mut packet = packet(id, flow);
        let verdict = match self.pipeline.judges() {
            true => self.pipeline.judge(&mut packet, (HeaderId::NONE, None), &self.kinds, Time(1)),
            false => Verdict::Pass,
        };
        let lives = !matches!(verdict, Verdict::Drop(_));
        let stored = lives.then(|| self.pipeline.store(packet, Time(1), &mut self.effects));
        assert!(self.effects.is_empty(), "drop-tail throws nothing away");
        (verdict, stored, packet)
    }

    fn leaves(&mut self) -> Option<(u32, Verdict)> {
        if !self.pipeline.judges() {
            let popped = self.pipeline.pop(Time(2), &mut self.effects);
            return popped.map(|packet| (packet.id.0, Verdict::Pass));
        }
        let dequeued = self.pipeline.dequeue(Time(2), &mut self.effects);
        dequeued.map(|Dequeued { packet, verdict }| (packet.id.0, verdict))
    }
}

fn packet(id: u32, flow: u32) -> Packet {
    Packet {
        id: PacketId(id),
        flow: FlowId(flow),
        destination: NodeId(1),
        next_hop: NodeId(1),
        bytes: 100 * id,
        class: PacketClass::Data,
        ecn: if flow == 4 { Ecn::Ect } else { Ecn::NotEct },
        labelled: false,
        own: false,
        enqueued: Time(1),
    }
}

const PASS: (Verdict, Option<Enqueued>) = (Verdict::Pass, Some(Enqueued::Stored));
const FULL: (Verdict, Option<Enqueued>) = (Verdict::Pass, Some(Enqueued::Refused(DropReason::QUEUE_FULL)));

#[test]
fn a_queue_alone_enqueues_and_dequeues() {
    let mut rig = Rig::new(false, false, Wants::of(&[Capability::Received, Capability::Departures]));
    let p = &rig.pipeline;
    assert!(!p.judges() && !p.has_hop() && !p.wants_received() && !p.wants_departures());
    assert_eq!((p.tail_drop(), p.view().packets), (Some(2), 0));
    let answers = [1, 2, 3].map(|id| rig.arrives(id, 9)).map(|(verdict, stored, _)| (verdict, stored));
    assert_eq!(answers, [PASS, PASS, FULL]);
    assert_eq!(rig.pipeline.backlog(), Backlog { packets: 2, bytes: 300 + 2 * 18 });
    let pass = |id| Some((id, Verdict::Pass));
    assert_eq!([rig.leaves(), rig.leaves(), rig.leaves()], [pass(1), pass(2), None]);
    assert_eq!(rig.log(), [""; 0]);
}

/// On arrival the hop handles a packet before the AQM, and the queue stores it last; the AQM draws from the queue's stream.
#[test]
fn the_hop_comes_before_the_aqm_and_the_queue_is_last() {
    let mut rig = Rig::new(true, true, Wants::NONE);
    assert!(rig.pipeline.judges() && rig.pipeline.tail_drop().is_none());
    let mut stream = Stream::new(7, "pipeline", Purpose::Queue);
    let mut draw = || stream.below(10);
    let (verdict, stored, _) = rig.arrives(1, 9);
    assert_eq!((verdict, stored), PASS);
    let expected = [
        "hop arrival 118 B, 0 packets of 0 B wait, supported None",
        &format!("aqm enqueue 1 beside 0 draws {}", draw()),
    ];
    assert_eq!(rig.log(), expected);
    // An early drop: the hop is notified, no packet is stored.
    let (verdict, stored, _) = rig.arrives(2, 1);
    assert_eq!((verdict, stored), (Verdict::Drop(EARLY), None));
    let lines = rig.log();
    assert_eq!(lines[0], "hop arrival 218 B, 1 packets of 118 B wait, supported None");
    assert_eq!(
        lines[1..],
        [format!("aqm enqueue 2 beside 1 draws {}", draw()), "hop drop 218 B".to_string()]
    );
    // A mark is in the packet that is stored.
    let (verdict, _, marked) = rig.arrives(3, 4);
    assert_eq!((verdict, marked.ecn), (Verdict::Mark(MarkReason("early")), Ecn::Ce));
    rig.log();
    // A full queue refuses, and the hop is notified.
    let (verdict, stored, _) = rig.arrives(4, 9);
    assert_eq!((verdict, stored), FULL);
    assert_eq!(rig.log().last().map(String::as_str), Some("hop drop 418 B"));
    // The drop of another packet by the caller.
    rig.pipeline.on_dropped(500);
    assert_eq!(rig.log(), ["hop drop 518 B"]);
}

/// The AQM judges the head while the queue counts it; the hop is notified of a drop, and the next packet may be dequeued at once.
#[test]
fn the_aqm_judges_the_head() {
    let mut rig = Rig::new(true, true, Wants::of(&[Capability::Departures]));
    assert!(rig.pipeline.wants_departures());
    rig.arrives(1, 2);
    rig.arrives(2, 9);
    rig.log();
    assert_eq!(rig.leaves(), Some((1, Verdict::Drop(EARLY))));
    assert_eq!(rig.log(), ["aqm dequeue 1 of 2", "hop drop 118 B"]);
    assert_eq!(rig.leaves(), Some((2, Verdict::Pass)));
    rig.pipeline.depart(&packet(2, 9), (HeaderId::NONE, None), Time(2));
    assert_eq!(
        rig.log(),
        ["aqm dequeue 2 of 1", "hop departure 218 B, 0 packets of 0 B wait, supported None"]
    );
    assert_eq!((rig.leaves(), rig.log().len()), (None, 0));
}

#[test]
fn a_received_packet_passes_the_hop_and_then_the_aqm() {
    let mut rig = Rig::new(true, true, Wants::of(&[Capability::Received]));
    assert!(rig.pipeline.wants_received() && !rig.pipeline.wants_departures());
    let verdict = rig.pipeline.receive(&packet(5, 3), (HeaderId::NONE, None), Time(3));
    assert_eq!(verdict, Verdict::Drop(EARLY));
    assert_eq!(rig.log(), ["hop receive 518 B, 0 packets of 0 B wait, supported None", "aqm receive 5"]);
}

/// A hop receives only headers of its own kind, and counts as an interface with support.
#[test]
fn headers_of_other_kinds_pass_unseen() {
    let mut rig = Rig::new(false, true, Wants::NONE);
    let (own, other) = (rig.kinds.id(Some(&KIND)), rig.kinds.id(Some(&OTHER)));
    for (id, seen, supported) in [(own, "Some(3)", 4), (other, "None", 3), (HeaderId::NONE, "None", 3)] {
        let mut header = Header { supported: 3, ..Header::default() };
        rig.pipeline.judge(&mut packet(1, 9), (id, Some(&mut header)), &rig.kinds, Time(1));
        let line = format!("hop arrival 118 B, 0 packets of 0 B wait, supported {seen}");
        assert_eq!((rig.log(), header.supported), (vec![line], supported));
    }
}

#[test]
fn a_hops_timers_follow_the_one_rule() {
    let mut rig = Rig::new(false, true, Wants::NONE);
    let (mut effects, mut firings) = (HopEffects::default(), vec![]);
    rig.pipeline.start(Time(0), &mut effects, &mut firings);
    let Firing { at, timer, generation } = firings.pop().unwrap();
    assert_eq!((at, rig.pipeline.hop_rank()), (Time(100), 5));
    rig.arrives(1, 9);
    rig.log();
    rig.pipeline.timer((timer, generation), None, at, &mut effects, &mut firings);
    assert_eq!(rig.log(), ["hop timer 1 with 118 B"]);
    // Set to the present time: fires a nanosecond later. The old firing does not count.
    let next = firings.pop().unwrap();
    assert_eq!((next.at, firings.len()), (Time(101), 0));
    rig.pipeline.timer((timer, generation), None, next.at, &mut effects, &mut firings);
    assert_eq!(rig.log(), [""; 0]);
    let backlog = Backlog { packets: 9, bytes: 999 };
    rig.pipeline.timer((timer, next.generation), Some(backlog), next.at, &mut effects, &mut firings);
    assert_eq!(rig.log(), ["hop timer 1 with 999 B"]);
}
