//! DiffQ's queue allocates nothing for a packet once its lists have their lengths. A program of its own: the counting allocator is the
//! whole program's.

use std::collections::VecDeque;

use airfair_schemes::places::{
    Context, Ecn, Enqueued, FlowId, Header, Heard, Interface, LabelledQueue, NodeId, OutputQueue, Packet,
    PacketClass, PacketId, QueueEffects,
};
use airfair_schemes::{ParamValue, Params, find};
use airfair_units::Time;
use airfair_units::random::{Purpose, Stream};

/// Destinations whose queues become empty and fill again in turn.
const DESTINATIONS: u32 = 6;

/// A relay between neighbours that announce sizes, some of which are forgotten: packets arrive in bursts and leave one at a time.
struct Relay {
    queue: Box<dyn LabelledQueue>,
    random: Stream,
    out: QueueEffects,
    now: Time,
    offered: u32,
    in_radio: VecDeque<PacketId>,
    left: u32,
    emptied: u32,
}

impl Relay {
    fn new() -> Self {
        let set = [("in_radio", 4), ("sizes", 16), ("depth", 20)];
        let params = set.map(|(name, value)| (name.to_string(), ParamValue::Integer(value)));
        let scheme = (find("diffq").unwrap().build)(&Params(params.into())).unwrap();
        Self {
            queue: match scheme.queue(&Interface::radio(10)) {
                OutputQueue::Labelled(queue) => queue,
                OutputQueue::Plain(_) | OutputQueue::Waiting(_) => panic!("a queue that labels packets"),
            },
            random: Stream::new(1, "relay", Purpose::Queue),
            out: QueueEffects::default(),
            now: Time::ZERO,
            offered: 0,
            in_radio: VecDeque::with_capacity(8),
            left: 0,
            emptied: 0,
        }
    }

    fn offer(&mut self, destination: u32, next_hop: u32, labelled: bool) {
        self.offered += 1;
        let packet = Packet {
            id: PacketId(self.offered),
            flow: FlowId(destination),
            destination: NodeId(destination),
            next_hop: NodeId(next_hop),
            bytes: 1000,
            class: if self.offered.is_multiple_of(3) { PacketClass::Ack } else { PacketClass::Data },
            ecn: Ecn::NotEct,
            labelled,
            own: false,
            enqueued: self.now,
        };
        let Self { queue, now, random, out, .. } = self;
        let answer = queue.enqueue(packet, &mut Context { now: *now, random, out });
        assert!(matches!(answer, Enqueued::Stored | Enqueued::Refused(_)));
    }

    /// A packet that leaves, if one may, with its trailer; the radio finishes the one before.
    fn leave(&mut self) {
        let Self { queue, now, random, out, .. } = self;
        if let Some(packet) = queue.pop(&mut Context { now: *now, random, out }) {
            self.left += 1;
            if packet.labelled {
                let mut header = Header::default();
                queue.stamp(&packet, &mut header, *now);
                self.emptied += u32::from(header.fields[0] & 0xffff == 0);
                self.in_radio.push_back(packet.id);
            }
        }
        if self.in_radio.len() > 2
            && let Some(done) = self.in_radio.pop_front()
        {
            queue.on_finished(done);
        }
    }

    /// A burst of up to ten packets and their departures, among frames of neighbours and changes of routes.
    fn round(&mut self) {
        self.now.0 += 10_000_000;
        let burst = 1 + self.random.below(10);
        for _ in 0..burst {
            let destination = self.random.below(DESTINATIONS);
            let next_hop = 100 + self.random.below(4);
            let labelled = self.random.below(5) > 0;
            self.offer(destination, next_hop, labelled);
            // 48 pairs for 16 places.
            let (from, size) = (100 + self.random.below(8), self.random.below(20));
            let header = Header { supported: 1, unsupported: 0, fields: [size, 0, 0, 0] };
            let destination = NodeId(destination);
            self.queue.on_heard(&Heard { from: NodeId(from), destination, header: &header }, self.now);
        }
        if self.random.below(10) == 0 {
            let changed = self.random.below(4);
            self.queue.on_routes(&mut |_| Some(NodeId(100 + changed)));
        }
        for _ in 0..burst + 1 {
            self.leave();
        }
        let view = self.queue.view();
        let of_all: u32 = (0..DESTINATIONS).map(|to| self.queue.backlog_to(NodeId(to), true).packets).sum();
        assert_eq!(view.packets, of_all + self.queue.backlog_to(NodeId(0), false).packets);
    }
}

#[test]
fn no_allocation_for_a_packet() {
    let mut relay = Relay::new();
    // Each queue is filled once to its limit, and the table of sizes.
    for destination in 0..DESTINATIONS {
        (0..21).for_each(|_| relay.offer(destination, 100, true));
    }
    (0..11).for_each(|_| relay.offer(0, 0, false));
    (0..1000).for_each(|_| relay.leave());
    (0..20).for_each(|_| relay.round());
    let (offered, left, emptied) = (relay.offered, relay.left, relay.emptied);
    let allocations = allocation_counter::measure(|| {
        while relay.offered < offered + 10_000 {
            relay.round();
        }
    });
    assert_eq!(allocations.count_total, 0, "{allocations:?}");
    assert!(relay.left > left + 9_000 && relay.emptied > emptied + 500, "{} {}", relay.left, relay.emptied);
    // The counter counts.
    let one = allocation_counter::measure(|| drop(std::hint::black_box(Box::new(relay.left))));
    assert_eq!(one.count_total, 1);
}
