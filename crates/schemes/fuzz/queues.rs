//! A queue under attack.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use airfair_units::Time;
use airfair_units::fuzz::Input;
use airfair_units::random::{Purpose, Stream};

use super::{NODES, Target, check, node, wait};
use crate::Scheme;
use crate::places::{
    Context, Ecn, Enqueued, FlowId, Header, Heard, Interface, LabelledQueue, NodeId, OutputQueue, Packet,
    PacketClass, PacketId, QueueEffects,
};

/// Most entries that a call may make a queue look at beside a comparison of all destinations: a look into each one's bucket of known sizes,
/// twice (to choose, and for the time when it wakes), and a table of sizes that is made larger.
const MOST_WORK: u64 = 4096;

/// A queue at a radio, labelled packets, and frames of neighbours with any headers.
pub struct Queues {
    queue: Box<dyn LabelledQueue>,
    random: Stream,
    now: Time,
    next: u32,
    stored: BTreeSet<PacketId>,
    /// Packets that the radio holds.
    left: Vec<PacketId>,
}

impl Queues {
    /// The queue of a scheme.
    ///
    /// # Panics
    /// If that queue does not label packets.
    #[must_use]
    pub fn new(scheme: &dyn Scheme) -> Self {
        let OutputQueue::Labelled(queue) = scheme.queue(&Interface::radio(50)) else {
            panic!("a queue that labels packets")
        };
        Self {
            queue,
            random: Stream::new(1, "queue", Purpose::Queue),
            now: Time(1),
            next: 0,
            stored: BTreeSet::new(),
            left: Vec::new(),
        }
    }

    fn call<R>(
        &mut self,
        hook: impl FnOnce(&mut dyn LabelledQueue, &mut crate::places::QueueContext<'_>) -> R,
    ) -> R {
        let mut out = QueueEffects::default();
        let mut context = Context { now: self.now, random: &mut self.random, out: &mut out };
        let before = self.queue.work();
        let result = hook(&mut *self.queue, &mut context);
        self.check_work(before);
        for (packet, _) in out.dropped {
            assert!(self.stored.remove(&packet), "{packet:?} was dropped twice, or never stored");
        }
        result
    }
}

impl Queues {
    fn check_work(&self, before: u64) {
        let (work, stored) = (self.queue.work() - before, self.stored.len() as u64);
        assert!(work <= MOST_WORK + 40 * stored, "a call looks at {work} entries, {stored} packets wait");
    }
}

impl Target for Queues {
    fn step(&mut self, input: &mut Input<'_>) {
        self.now = self.now.saturating_add(wait(input));
        match input.byte() % 12 {
            0..=2 => {
                self.next += 1;
                let packet = Packet {
                    id: PacketId(self.next),
                    flow: FlowId(input.byte().into()),
                    destination: NodeId(node(input)),
                    next_hop: NodeId(1 + u32::from(input.byte()) % NODES),
                    bytes: 40 + u32::from(input.byte()) * 5,
                    class: if input.flag() { PacketClass::Data } else { PacketClass::Ack },
                    ecn: Ecn::Ect,
                    labelled: input.byte() < 200,
                    own: false,
                    enqueued: self.now,
                };
                self.stored.insert(packet.id);
                match self.call(|queue, context| queue.enqueue(packet, context)) {
                    Enqueued::Stored => {}
                    Enqueued::Refused(_) => assert!(self.stored.remove(&packet.id)),
                    Enqueued::Displaced(other, _) => assert!(self.stored.remove(&other), "{other:?}"),
                }
            }
            3 | 4 => {
                let head = self.call(|queue, context| queue.peek(context));
                // What is passed over is not named any more, whether or not there is another one.
                let passes = head.is_some() && input.flag();
                let named = if passes { self.call(|queue, context| queue.pass_over(context)) } else { head };
                let packet = self.queue.commit();
                if let (Some(packet), Some(named)) = (packet, named) {
                    assert_eq!(packet, named.packet);
                }
                assert!(packet.is_some() || named.is_none(), "{named:?} does not leave");
                if let Some(packet) = packet {
                    assert!(self.stored.remove(&packet.id), "{packet:?} left twice");
                    let mut header = Header::default();
                    self.queue.stamp(&packet, &mut header, self.now);
                    self.left.push(packet.id);
                }
            }
            5 => {
                let at = input.below(self.left.len());
                if at < self.left.len() {
                    let packet = self.left.swap_remove(at);
                    self.queue.on_finished(packet);
                }
            }
            6 => {
                let hops: Vec<u32> = (0..16).map(|_| u32::from(input.byte()) % NODES).collect();
                let mut hop = |to: NodeId| Some(hops[to.0 as usize % 16]).filter(|&hop| hop > 0).map(NodeId);
                self.queue.on_routes(&mut hop);
            }
            7 => {
                let to = NodeId(node(input));
                if let Some(packet) = self.queue.withdraw(to) {
                    assert!(self.stored.remove(&packet.id));
                }
            }
            _ => {
                let bytes: Vec<u8> = (0..16).map(|_| input.byte()).collect();
                let decoded = (self.queue.header().decode)(&bytes);
                let any =
                    Header { supported: 1, unsupported: 0, fields: [(); 4].map(|()| input.number() as u32) };
                let header = decoded.unwrap_or(any);
                let heard =
                    Heard { from: NodeId(node(input)), destination: NodeId(node(input)), header: &header };
                let before = self.queue.work();
                self.queue.on_heard(&heard, self.now);
                self.check_work(before);
                assert!(self.queue.wakes_at(self.now).is_none_or(|at| at > self.now));
            }
        }
        assert_eq!(self.queue.view().packets as usize, self.stored.len());
        check(&self.queue.gauges());
    }

    fn work(&self) -> u64 {
        self.queue.work()
    }
}
