//! FQ-CoDel against RFC 8290: scheduling, the flow that loses at overflow, and CoDel in each queue.

use airfair_schemes::Params;
use airfair_schemes::places::{
    DropReason, Ecn, Enqueued, MarkReason, NodeId, Packet, PacketId, Queue, Verdict,
};
use airfair_units::Time;
use proptest::prelude::*;

use crate::{Host, aqm, bytes, flag, integer, millis, packet, queue, refusal, set};
use airfair_schemes::places::{AqmEffects, Context, QueueEffects};

const FULL: DropReason = DropReason::QUEUE_FULL;
const CODEL: DropReason = DropReason("codel");
const MS: u64 = 1_000_000;

/// An interface: packets are enqueued by flow and size, and dequeued as ids.
struct Line {
    queue: Box<dyn Queue>,
    host: Host<QueueEffects>,
    next_id: u32,
    ecn: Ecn,
}

impl Line {
    fn new(params: &Params, limit: u32) -> Self {
        Self { queue: queue("fq-codel", params, limit), host: Host::new(1), next_id: 0, ecn: Ecn::NotEct }
    }

    /// Offers a packet; ids count from 1.
    fn offer(&mut self, flow: u32, bytes: u32) -> Enqueued {
        self.next_id += 1;
        let packet = Packet { ecn: self.ecn, ..packet(self.next_id, flow, bytes, self.host.now) };
        self.queue.enqueue(packet, &mut self.host.context())
    }

    fn stored(&mut self, flow: u32, sizes: &[u32]) {
        for &bytes in sizes {
            assert_eq!(self.offer(flow, bytes), Enqueued::Stored);
        }
    }

    fn dequeue(&mut self) -> Option<Packet> {
        let head = self.queue.peek(&mut self.host.context());
        let packet = self.queue.commit();
        assert_eq!(head.map(|h| h.packet), packet);
        packet
    }

    /// The ids of the next `count` packets.
    fn ids(&mut self, count: usize) -> Vec<u32> {
        (0..count).map_while(|_| self.dequeue()).map(|p| p.id.0).collect()
    }

    /// The flows of all packets left.
    fn flows(&mut self) -> Vec<u32> {
        std::iter::from_fn(|| self.dequeue()).take(100_000).map(|p| p.flow.0).collect()
    }

    fn dropped(&mut self) -> Vec<(u32, DropReason)> {
        self.host.out.dropped.drain(..).map(|(id, reason)| (id.0, reason)).collect()
    }

    fn counts(&self) -> (u32, u64) {
        (self.queue.view().packets, self.queue.view().bytes)
    }
}

fn line(limit: u32) -> Line {
    Line::new(&Params::default(), limit)
}

/// A quantum of 1500 and packets of 1500 B: flows take turns packet by packet.
#[test]
fn equal_packets_take_turns() {
    let mut line = Line::new(&set(&[("quantum", bytes(1500))]), 100);
    line.stored(1, &[1500; 4]);
    line.stored(2, &[1500; 3]);
    line.stored(3, &[1500; 2]);
    assert_eq!(line.flows(), [1, 2, 3, 1, 2, 3, 1, 2, 1]);
}

/// The default quantum 1514 by hand: after one packet of 1500 B the deficit is 14, so a second packet is sent, which leaves -1486; a
/// quantum later 28 permit one packet, which leaves -1472, then 42 and -1458, and so on: two packets at first, one in each later round.
#[test]
fn the_default_quantum_sends_two_packets_first() {
    let mut line = line(100);
    line.stored(1, &[1500; 5]);
    line.stored(2, &[1500; 5]);
    assert_eq!(line.flows(), [1, 1, 2, 2, 1, 2, 1, 2, 1, 2]);
}

/// By bytes, not by packets: 500 B against 1500 B at a quantum of 1500 is three to one.
#[test]
fn service_is_by_bytes() {
    let mut line = Line::new(&set(&[("quantum", bytes(1500))]), 100);
    line.stored(1, &[500; 6]);
    line.stored(2, &[1500; 2]);
    assert_eq!(line.flows(), [1, 1, 1, 2, 1, 1, 1, 2]);
}

/// A packet of 4000 B uses three quanta of 1500: its flow waits two rounds more.
#[test]
fn a_large_packet_is_paid_for_in_later_rounds() {
    let mut line = Line::new(&set(&[("quantum", bytes(1500))]), 100);
    line.stored(1, &[4000, 100]);
    line.stored(2, &[1500; 4]);
    assert_eq!(line.flows(), [1, 2, 2, 1, 2, 2]);
}

/// A sparse flow is served before flows that wait; its next packet waits for its turn, so that the flow cannot starve others
/// (section 4.2).
#[test]
fn a_sparse_flow_is_served_first() {
    let mut line = Line::new(&set(&[("quantum", bytes(1500))]), 100);
    line.stored(1, &[1500; 4]);
    line.stored(2, &[1500; 4]);
    assert_eq!(line.ids(2), [1, 5]);
    line.stored(3, &[100]);
    assert_eq!(line.dequeue().map(|p| p.flow.0), Some(3));
    // Flow 3 is empty: it has become the last of the old queues.
    assert_eq!(line.ids(1), [2]);
    line.stored(3, &[100]);
    assert_eq!(line.flows(), [2, 3, 1, 2, 1, 2]);
    // All queues are empty and inactive: the next flow is new again.
    line.stored(1, &[1500; 2]);
    line.ids(1);
    line.stored(3, &[100]);
    assert_eq!(line.flows(), [3, 1]);
}

/// A queue that is new again starts with one quantum, whatever its deficit was.
#[test]
fn a_new_queue_has_one_quantum() {
    let mut line = Line::new(&set(&[("quantum", bytes(1500))]), 100);
    line.stored(1, &[100]);
    assert_eq!(line.flows(), [1]);
    line.stored(1, &[1500; 2]);
    line.stored(2, &[1500]);
    assert_eq!(line.flows(), [1, 2, 1], "1400 of the old deficit are gone");
}

/// A flow to another destination is another flow.
#[test]
fn directions_are_distinguished() {
    let mut line = Line::new(&set(&[("quantum", bytes(1500))]), 100);
    line.stored(1, &[1500; 2]);
    let back = Packet { destination: NodeId(4), ..packet(77, 1, 1500, Time::ZERO) };
    assert_eq!(line.queue.enqueue(back, &mut line.host.context()), Enqueued::Stored);
    assert_eq!(line.ids(3), [1, 77, 2]);
}

/// Over the limit the longest flow loses from its head, at most a batch, and at most half of its bytes.
#[test]
fn the_longest_flow_loses() {
    let batch = |size| set(&[("drop_batch", integer(size))]);
    // Flow 1 has 6 x 1000 B, flow 2 one packet. Dropping stops when at least 3000 of 6000 B are gone.
    let mut line = Line::new(&batch(64), 7);
    line.stored(1, &[1000; 6]);
    line.stored(2, &[1500]);
    line.stored(2, &[50]);
    assert_eq!(line.dropped(), [(1, FULL), (2, FULL), (3, FULL)]);
    assert_eq!(line.counts(), (5, 4550));
    assert_eq!(line.flows(), [1, 1, 2, 2, 1]);
    // 2500 B: 1500 B are at least half, 1000 would not be.
    let mut line = Line::new(&batch(64), 2);
    line.stored(1, &[1000, 500]);
    line.stored(1, &[1000]);
    assert_eq!(line.dropped(), [(1, FULL), (2, FULL)]);
    // Batches of two packets and of one.
    for size in [1, 2] {
        let mut line = Line::new(&batch(size), 7);
        line.stored(1, &[1000; 7]);
        line.stored(2, &[100]);
        assert_eq!(line.dropped().len(), size as usize);
        assert_eq!(line.counts().0, 8 - size as u32);
    }
}

/// The longest flow by bytes, not by packets, among new and old queues alike; of equal ones the flow whose turn is next.
#[test]
fn length_is_counted_in_bytes() {
    let one = set(&[("drop_batch", integer(1)), ("quantum", bytes(1500))]);
    let mut line = Line::new(&one, 5);
    line.stored(1, &[100; 4]);
    line.stored(2, &[1500]);
    line.stored(3, &[100]);
    assert_eq!(line.dropped(), [(5, FULL)]);
    // Flow 1 old with 1500 B, flow 2 new with 1400 B.
    let mut line = Line::new(&one, 2);
    line.stored(1, &[1500; 2]);
    assert_eq!(line.ids(1), [1]);
    line.stored(2, &[700]);
    line.stored(2, &[700]);
    assert_eq!(line.dropped(), [(2, FULL)]);
    let mut line = Line::new(&one, 2);
    line.stored(1, &[1000]);
    line.stored(2, &[1000]);
    line.stored(3, &[1000]);
    assert_eq!(line.dropped(), [(1, FULL)]);
}

/// An arrival that is itself the packet to drop is refused, and reported once.
#[test]
fn an_arrival_may_be_refused() {
    let mut line = Line::new(&Params::default(), 0);
    assert_eq!(line.offer(1, 1500), Enqueued::Refused(FULL));
    assert_eq!((line.dropped(), line.counts()), (vec![], (0, 0)));
    // Held packets cannot be dropped: only the arrival can.
    let mut line = Line::new(&Params::default(), 1);
    line.stored(1, &[1000]);
    assert!(line.queue.peek(&mut line.host.context()).is_some());
    assert_eq!(line.offer(2, 100), Enqueued::Refused(FULL));
    assert_eq!((line.dropped(), line.counts()), (vec![], (1, 1000)));
    // The longest flow loses all, the arrival included: 1 + 2000 B, half is 1000.
    let mut line = Line::new(&Params::default(), 1);
    line.stored(1, &[1]);
    assert_eq!(line.offer(1, 2000), Enqueued::Refused(FULL));
    assert_eq!((line.dropped(), line.counts()), (vec![(1, FULL)], (0, 0)));
    // A limit of one packet: of the other flow's small packet and a large arrival the arrival is dropped.
    line.stored(2, &[100]);
    assert_eq!(line.offer(1, 2000), Enqueued::Refused(FULL));
    assert_eq!((line.dropped(), line.counts()), (vec![], (1, 100)));
}

/// The packet returned by `peek` remains the head until it is dequeued, whatever arrives and however long that takes.
#[test]
fn the_head_remains_until_it_is_dequeued() {
    let mut line = line(100);
    line.stored(1, &[1500; 3]);
    let head = line.queue.peek(&mut line.host.context()).unwrap();
    assert_eq!((head.packet.id, head.priority.0), (PacketId(1), 0));
    line.stored(2, &[50]);
    line.host.now = Time(500 * MS);
    assert_eq!(line.queue.peek(&mut line.host.context()), Some(head));
    assert_eq!(line.counts(), (4, 4550));
    assert_eq!(line.queue.commit(), Some(head.packet));
    assert_eq!(line.queue.commit(), None, "nothing was named");
    assert_eq!(line.ids(3), [2, 4, 3]);
}

/// Packets of 1000 B of one flow, dequeued at these times (ms): CoDel drops one packet an interval after the start of the standing queue,
/// and another 100 ms later; only the flow's own queue counts.
#[test]
fn codel_drops_at_the_head() {
    let mut line = line(1000);
    line.stored(1, &[1000; 20]);
    let mut ids = vec![];
    for ms in [10, 60, 109, 110, 150, 209, 210, 280, 281] {
        line.host.now = Time(ms * MS);
        ids.extend(line.ids(1));
    }
    assert_eq!(ids, [1, 2, 3, 5, 6, 7, 9, 10, 12]);
    assert_eq!(line.dropped(), [(4, CODEL), (8, CODEL), (11, CODEL)]);
    assert_eq!(line.counts(), (8, 8000));
    // A second flow with packets that wait as long, but with no more than 1500 B behind its head, loses nothing.
    let mut line = Line::new(&Params::default(), 1000);
    line.stored(1, &[1000; 20]);
    line.stored(2, &[500; 4]);
    for ms in [10, 60, 109, 110, 150, 209, 210, 280, 281] {
        line.host.now = Time(ms * MS);
        line.ids(2);
    }
    let lost = line.dropped();
    assert!(!lost.is_empty() && lost.iter().all(|&(id, _)| id <= 20), "{lost:?}");
}

/// A dropped packet does not reduce the deficit of its flow: the next packet is sent in its place.
#[test]
fn drops_cost_no_deficit() {
    let mut line = Line::new(&set(&[("quantum", bytes(1500))]), 1000);
    line.stored(1, &[1500; 10]);
    line.stored(2, &[1500; 10]);
    line.host.now = Time(10 * MS);
    assert_eq!(line.ids(2), [1, 11]);
    line.host.now = Time(110 * MS);
    assert_eq!(line.ids(4), [3, 13, 4, 14]);
    assert_eq!(line.dropped(), [(2, CODEL), (12, CODEL)]);
}

/// With ECN the head is marked and delivered with the mark; a packet that cannot be marked is dropped.
#[test]
fn marks_at_the_head() {
    let mut line = Line::new(&set(&[("ecn", flag(true))]), 1000);
    line.ecn = Ecn::Ect;
    line.stored(1, &[1000; 4]);
    line.ecn = Ecn::NotEct;
    line.stored(1, &[1000; 4]);
    line.host.now = Time(10 * MS);
    assert_eq!(line.dequeue().map(|p| p.ecn), Some(Ecn::Ect));
    line.host.now = Time(110 * MS);
    assert_eq!(line.dequeue().map(|p| (p.id.0, p.ecn)), Some((2, Ecn::Ce)));
    assert_eq!(line.host.out.marked, [(PacketId(2), MarkReason("codel"))]);
    assert_eq!(line.ids(2), [3, 4]);
    line.host.now = Time(210 * MS);
    assert_eq!(line.ids(1), [6]);
    assert_eq!((line.dropped(), line.host.out.marked.len()), (vec![(5, CODEL)], 1));
    assert_eq!(line.counts(), (2, 2000));
}

/// Each flow has its own CoDel state: drops of one flow do not cause earlier drops of another.
#[test]
fn codel_is_per_flow() {
    let mut line = Line::new(&set(&[("quantum", bytes(1500)), ("target", millis(20))]), 1000);
    line.stored(1, &[1500; 10]);
    line.host.now = Time(20 * MS);
    assert_eq!(line.ids(1), [1]);
    line.host.now = Time(100 * MS);
    line.stored(2, &[1500; 10]);
    line.host.now = Time(120 * MS);
    assert_eq!(line.ids(2), [11, 3]);
    assert_eq!(line.dropped(), [(2, CODEL)]);
    line.host.now = Time(219 * MS);
    assert_eq!(line.ids(2), [12, 4], "flow 2 stands since 120 ms, flow 1 is due at 220 ms");
    line.host.now = Time(220 * MS);
    assert_eq!(line.ids(2), [14, 6]);
    assert_eq!(line.dropped(), [(13, CODEL), (5, CODEL)]);
}

/// The hash spreads flows evenly: 64,000 flows on 64 queues are 1000 each within 5 standard deviations, and another run has
/// other collisions.
#[test]
fn the_hash_spreads_flows() {
    // With one packet per flow, flows that share a queue are dequeued one after the other, queue by queue.
    let order = |seed| {
        let mut line = Line::new(&set(&[("flows", integer(64)), ("quantum", bytes(1 << 20))]), 64_000);
        line.host = Host::new(seed);
        (0..64_000).for_each(|flow| line.stored(flow, &[1]));
        // The first packet of each of the 64 queues: flows whose queue no earlier flow had.
        line.flows()
    };
    let first = order(1);
    assert_ne!(first, order(2));
    assert_eq!(first, order(1));
    let mut sizes = vec![0];
    for pair in first.windows(2) {
        if pair[1] < pair[0] {
            sizes.push(0);
        }
        *sizes.last_mut().unwrap() += 1;
    }
    assert_eq!(sizes.len(), 64);
    assert!(sizes.iter().all(|&s| (840..=1160).contains(&s)), "{sizes:?}");
}

#[test]
fn impossible_parameters_are_refused() {
    for value in [
        ("flows", integer(0)),
        ("flows", integer(65_537)),
        ("quantum", bytes(63)),
        ("drop_batch", integer(0)),
        ("target", millis(0)),
    ] {
        assert_eq!(refusal("fq-codel", &[value]).map(|r| r.0), Some(value.0));
    }
    let problem = "is above interval".to_string();
    assert_eq!(refusal("fq-codel", &[("interval", millis(4))]), Some(("target", problem)));
}

/// CoDel with drop-tail, called as by a host: the oracle for FQ-CoDel with one queue.
struct Plain {
    queue: Box<dyn Queue>,
    aqm: Box<dyn airfair_schemes::places::Aqm>,
    host: Host<QueueEffects>,
    dropped: Vec<u32>,
}

impl Plain {
    fn dequeue(&mut self) -> Option<u32> {
        loop {
            let mut packet = self.queue.peek(&mut self.host.context())?.packet;
            let view = self.queue.view();
            let Host { now, random, .. } = &mut self.host;
            let mut context = Context { now: *now, random, out: &mut AqmEffects };
            let verdict = self.aqm.on_dequeue(&packet, &view, &mut context);
            packet = self.queue.commit()?;
            match verdict.for_ecn(packet.ecn) {
                Verdict::Drop(_) => self.dropped.push(packet.id.0),
                _ => return Some(packet.id.0),
            }
        }
    }
}

proptest! {
    /// With one queue and a sufficient limit FQ-CoDel equals CoDel with drop-tail: the same packets are sent and the same are dropped.
    #[test]
    fn one_queue_is_codel(
        steps in proptest::collection::vec((0u64..30, 1u32..2000, any::<bool>()), 1..400),
        ecn in any::<bool>(),
    ) {
        let mut fair = Line::new(&set(&[("flows", integer(1)), ("ecn", flag(ecn))]), 1000);
        let mut plain = Plain {
            queue: queue("droptail", &Params::default(), 1000),
            aqm: aqm("codel", &set(&[("ecn", flag(ecn))])),
            host: Host::new(1),
            dropped: vec![],
        };
        for (later, size, arrival) in steps {
            fair.host.now = Time(fair.host.now.0 + later * MS);
            plain.host.now = fair.host.now;
            if arrival {
                fair.ecn = if size % 2 == 0 { Ecn::Ect } else { Ecn::NotEct };
                let id = fair.next_id + 1;
                let packet = Packet { ecn: fair.ecn, ..packet(id, size, size, plain.host.now) };
                fair.offer(size, size);
                plain.queue.enqueue(packet, &mut plain.host.context());
            } else {
                prop_assert_eq!(fair.dequeue().map(|p| p.id.0), plain.dequeue());
            }
            prop_assert_eq!(fair.counts(), (plain.queue.view().packets, plain.queue.view().bytes));
        }
        let dropped: Vec<u32> = fair.dropped().into_iter().map(|d| d.0).collect();
        prop_assert_eq!(dropped, plain.dropped);
    }

    /// The shares of flows that always have packets differ by less than a quantum and a packet, bytes.
    #[test]
    fn shares_are_fair(
        sizes in proptest::collection::vec(1u32..1500, 2..6),
        quantum in 64u64..3000,
        served in 1usize..400,
    ) {
        let mut line = Line::new(&set(&[("quantum", bytes(quantum))]), 100_000);
        for (flow, &size) in sizes.iter().enumerate() {
            line.stored(flow as u32, &vec![size; 3000]);
        }
        let mut sent = vec![0u64; sizes.len()];
        for _ in 0..served {
            let packet = line.dequeue().unwrap();
            sent[packet.flow.0 as usize] += u64::from(packet.bytes);
        }
        if (0..sizes.len()).all(|flow| sent[flow] + 1500 < 3000 * u64::from(sizes[flow])) {
            let spread = sent.iter().max().unwrap() - sent.iter().min().unwrap();
            prop_assert!(spread <= quantum + 2 * 1500, "{sent:?}");
        }
    }
}
