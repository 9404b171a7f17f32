//! DiffQ by the sections of its paper, with numbers computed by hand from its formulas: the scheduler (4.1), sizes of neighbours' queues
//! (4), the queue at an interface (4, 4.1), the source (4.1), the trailer (5.3), the contract of queues with labelled packets; and what is
//! ours: sizes by broadcast, marks.

mod announcement;
mod backlogs;
mod calls;
mod contract;
mod hostile;
#[path = "../shared/hostile.rs"]
mod hostile_driver;
mod queue;
mod scheduler;
mod sender;
mod trailer;
mod window;

use airfair_schemes::places::{
    Context, Ecn, Enqueued, FlowId, Head, Header, Heard, Interface, LabelledQueue, NodeId, OutputQueue,
    Packet, PacketClass, PacketId, QueueEffects,
};
use airfair_schemes::{ParamValue, Params, Scheme, find};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Span, Time};

/// The scheme of this name with these parameters.
fn build(name: &str, set: &[(&str, ParamValue)]) -> Box<dyn Scheme> {
    let params = Params(set.iter().map(|&(name, value)| (name.to_string(), value)).collect());
    (find(name).unwrap().build)(&params).unwrap()
}

/// A packet of DiffQ for a destination by a next hop.
fn labelled(id: u32, destination: u32, next_hop: u32) -> Packet {
    Packet {
        id: PacketId(id),
        flow: FlowId(7),
        destination: NodeId(destination),
        next_hop: NodeId(next_hop),
        bytes: 1000,
        class: PacketClass::Data,
        ecn: Ecn::NotEct,
        labelled: true,
        own: false,
        enqueued: Time::ZERO,
    }
}

fn plain(id: u32) -> Packet {
    Packet { labelled: false, bytes: 500, ..labelled(id, 1, 1) }
}

/// The trailer of a neighbour that announces a size.
fn announces(size: u16) -> Header {
    Header { supported: 1, unsupported: 0, fields: [u32::from(size), 0, 0, 0] }
}

/// The queue of a scheme at a radio.
fn queue_of(name: &str, set: &[(&str, ParamValue)], limit: u32) -> Box<dyn LabelledQueue> {
    match build(name, set).queue(&Interface::radio(limit)) {
        OutputQueue::Labelled(queue) => queue,
        OutputQueue::Plain(_) | OutputQueue::Waiting(_) => panic!("{name}: a queue that labels packets"),
    }
}

/// A queue at a radio, and the host's part.
struct Node {
    queue: Box<dyn LabelledQueue>,
    now: Time,
    random: Stream,
    out: QueueEffects,
    next_id: u32,
}

impl Node {
    /// A radio whose queue has room for `limit` packets that are not DiffQ's.
    fn with_limit(name: &str, set: &[(&str, ParamValue)], limit: u32) -> Self {
        Self {
            queue: queue_of(name, set, limit),
            now: Time(5_000_000_000),
            random: Stream::new(1, "queue", Purpose::Queue),
            out: QueueEffects::default(),
            next_id: 0,
        }
    }

    fn new(name: &str, set: &[(&str, ParamValue)]) -> Self {
        Self::with_limit(name, set, 50)
    }

    /// DiffQ whose radio takes any number of packets at once.
    fn unheld(set: &[(&str, ParamValue)]) -> Self {
        let mut all = vec![("in_radio", ParamValue::Integer(64))];
        all.extend(set);
        Self::new("diffq", &all)
    }

    fn enqueue(&mut self, packet: Packet) -> Enqueued {
        let Self { queue, now, random, out, .. } = self;
        queue.enqueue(packet, &mut Context { now: *now, random, out })
    }

    /// Stores packets for a destination. Ids count from 1.
    fn store(&mut self, destination: u32, next_hop: u32, packets: u32) {
        for _ in 0..packets {
            self.next_id += 1;
            let packet = labelled(self.next_id, destination, next_hop);
            assert_eq!(self.enqueue(packet), Enqueued::Stored);
        }
    }

    fn store_plain(&mut self, packets: u32) {
        for _ in 0..packets {
            self.next_id += 1;
            assert_eq!(self.enqueue(plain(self.next_id)), Enqueued::Stored);
        }
    }

    fn peek(&mut self) -> Option<Head> {
        let Self { queue, now, random, out, .. } = self;
        queue.peek(&mut Context { now: *now, random, out })
    }

    fn pass_over(&mut self) -> Option<Head> {
        let Self { queue, now, random, out, .. } = self;
        queue.pass_over(&mut Context { now: *now, random, out })
    }

    /// The packet that leaves and its level.
    fn leaves(&mut self) -> Option<(Packet, u8)> {
        let head = self.peek();
        let packet = self.queue.commit();
        assert_eq!(head.map(|head| head.packet), packet);
        packet.zip(head.map(|head| head.priority.0))
    }

    /// The destination of the packet that leaves, 0 for packets that are not DiffQ's, and its level.
    fn serves(&mut self) -> Option<(u32, u8)> {
        self.leaves().map(|(packet, level)| (if packet.labelled { packet.destination.0 } else { 0 }, level))
    }

    fn destinations(&mut self, count: usize) -> Vec<u32> {
        (0..count).map_while(|_| self.serves()).map(|served| served.0).collect()
    }

    fn hears(&mut self, from: u32, destination: u32, size: u16) {
        let header = announces(size);
        let heard = Heard { from: NodeId(from), destination: NodeId(destination), header: &header };
        self.queue.on_heard(&heard, self.now);
    }

    fn after(&mut self, span: Span) {
        self.now += span;
    }

    fn gauge(&self, name: &str) -> f64 {
        self.queue.gauges().iter().find(|gauge| gauge.0 == name).unwrap().1
    }
}
