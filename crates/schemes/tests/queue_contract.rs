//! The contract of `places::Queue`, driven by random operations, for every scheme in the registry.

use std::collections::BTreeMap;

use airfair_schemes::places::{
    Context, DropReason, Ecn, Enqueued, FlowId, Interface, NodeId, Packet, PacketClass, PacketId, Queue,
    QueueEffects,
};
use airfair_schemes::{ParamValue, Params, registry};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Time};
use proptest::prelude::*;

#[derive(Debug, Clone, Copy)]
enum Operation {
    Enqueue { bytes: u32, flow: u32, destination: u32, ecn: bool },
    Peek,
    Commit,
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        4 => (1u32..2000, 0u32..4, 0u32..4, any::<bool>())
            .prop_map(|(bytes, flow, destination, ecn)| Operation::Enqueue { bytes, flow, destination, ecn }),
        1 => Just(Operation::Peek),
        3 => Just(Operation::Commit),
    ]
}

/// The content of a queue, by its results and its effects.
#[derive(Default)]
struct Stored {
    packets: BTreeMap<PacketId, Packet>,
    bytes: u64,
}

impl Stored {
    fn add(&mut self, packet: Packet) -> Result<(), TestCaseError> {
        self.bytes += u64::from(packet.bytes);
        prop_assert!(self.packets.insert(packet.id, packet).is_none(), "a packet is stored twice");
        Ok(())
    }

    fn remove(&mut self, id: PacketId) -> Result<Packet, TestCaseError> {
        let packet = self.packets.remove(&id);
        prop_assert!(packet.is_some(), "{id:?} is gone, but was not stored");
        let packet = packet.unwrap();
        self.bytes -= u64::from(packet.bytes);
        Ok(packet)
    }

    /// Packets that the queue itself has dropped and marked.
    fn drain(&mut self, out: &mut QueueEffects) -> Result<(), TestCaseError> {
        for (id, reason) in out.dropped.drain(..) {
            self.remove(id)?;
            prop_assert!(!reason.0.is_empty());
        }
        for (id, reason) in out.marked.drain(..) {
            let packet = self.packets.get_mut(&id);
            prop_assert!(packet.is_some(), "{id:?} is marked, but was not stored");
            let packet = packet.unwrap();
            prop_assert!(packet.ecn != Ecn::NotEct, "a packet is marked that cannot be");
            packet.ecn = Ecn::Ce;
            prop_assert!(!reason.0.is_empty());
        }
        Ok(())
    }
}

fn check(queue: &mut dyn Queue, limit: u32, steps: &[(u64, Operation)]) -> Result<(), TestCaseError> {
    let mut random = Stream::new(1, "contract", Purpose::Queue);
    let mut out = QueueEffects::default();
    let mut context = Context { now: Time::ZERO, random: &mut random, out: &mut out };
    let mut stored = Stored::default();
    for (i, &(later, op)) in steps.iter().enumerate() {
        context.now = Time(context.now.0 + later);
        match op {
            Operation::Enqueue { bytes, flow, destination, ecn } => {
                let packet = Packet {
                    id: PacketId(i as u32),
                    flow: FlowId(flow),
                    destination: NodeId(destination),
                    next_hop: NodeId(destination),
                    bytes,
                    class: PacketClass::Data,
                    ecn: if ecn { Ecn::Ect } else { Ecn::NotEct },
                    labelled: false,
                    own: false,
                    enqueued: context.now,
                };
                let answer = queue.enqueue(packet, &mut context);
                if queue.tail_drop().is_some() {
                    let full = stored.packets.len() == limit as usize;
                    let expected =
                        if full { Enqueued::Refused(DropReason::QUEUE_FULL) } else { Enqueued::Stored };
                    prop_assert_eq!(&answer, &expected);
                }
                match answer {
                    Enqueued::Stored => stored.add(packet)?,
                    Enqueued::Refused(reason) => prop_assert!(!reason.0.is_empty()),
                    Enqueued::Displaced(gone, reason) => {
                        prop_assert!(!reason.0.is_empty());
                        stored.add(packet)?;
                        stored.remove(gone)?;
                    }
                }
            }
            Operation::Peek => {
                let first = queue.peek(&mut context);
                stored.drain(context.out)?;
                prop_assert_eq!(first, queue.peek(&mut context));
                prop_assert!(context.out.is_empty(), "the second look changes nothing");
                prop_assert_eq!(first.is_none(), stored.packets.is_empty());
            }
            Operation::Commit => {
                let head = queue.peek(&mut context);
                stored.drain(context.out)?;
                let taken = queue.commit();
                prop_assert_eq!(head.map(|h| h.packet), taken);
                if let Some(packet) = taken {
                    if let Some(told) = queue.tail_drop() {
                        prop_assert_eq!(told, limit);
                        prop_assert_eq!(
                            stored.packets.keys().next(),
                            Some(&packet.id),
                            "first in, first out"
                        );
                    }
                    prop_assert_eq!(stored.remove(packet.id)?, packet);
                }
            }
        }
        stored.drain(context.out)?;
        let view = queue.view();
        prop_assert_eq!(view.packets as usize, stored.packets.len());
        prop_assert_eq!(view.bytes, stored.bytes);
        prop_assert_eq!(view.limit_packets, limit);
        prop_assert!(view.packets <= limit);
    }
    // The remaining packets are dequeued, each once.
    context.now = Time(context.now.0 + 1_000_000_000);
    while let Some(head) = queue.peek(&mut context) {
        stored.drain(context.out)?;
        prop_assert_eq!(queue.commit(), Some(head.packet));
        prop_assert_eq!(stored.remove(head.packet.id)?, head.packet);
    }
    stored.drain(context.out)?;
    prop_assert!(stored.packets.is_empty(), "lost: {:?}", stored.packets);
    Ok(())
}

/// Parameters with which a scheme's queue does more than by default.
fn variants(name: &str) -> Vec<Params> {
    let set = |values: &[(&str, ParamValue)]| {
        Params(values.iter().map(|&(name, value)| (name.to_string(), value)).collect())
    };
    let mut all = vec![Params::default()];
    if name == "fq-codel" {
        let ecn = ("ecn", ParamValue::Flag(true));
        let small = ("mtu", ParamValue::Bytes(Bytes(0)));
        all.push(set(&[ecn, small, ("flows", ParamValue::Integer(2))]));
        all.push(set(&[small, ("drop_batch", ParamValue::Integer(1))]));
        all.push(set(&[("quantum", ParamValue::Bytes(Bytes(64)))]));
    }
    all
}

proptest! {
    #[test]
    fn every_queue_keeps_the_contract(
        limit in 1u32..20,
        // Times from nothing to 60 ms, so that a queue may stand for longer than CoDel's interval.
        steps in proptest::collection::vec((0u64..60_000_000, operation()), 0..200),
    ) {
        for entry in registry() {
            for params in variants(entry.name) {
                let scheme = (entry.build)(&params).expect("these are valid");
                check(scheme.queue(&Interface::radio(limit)).discipline_mut(), limit, &steps)?;
            }
        }
    }
}

#[test]
fn drop_tail_is_first_in_first_out_and_refuses_at_its_limit() {
    let scheme = (airfair_schemes::find("droptail").unwrap().build)(&Params::default()).unwrap();
    let mut queue = scheme.queue(&Interface::radio(2)).into_discipline();
    let mut random = Stream::new(1, "x", Purpose::Queue);
    let mut out = QueueEffects::default();
    let mut context = Context { now: Time::ZERO, random: &mut random, out: &mut out };
    let packet = |id| Packet {
        id: PacketId(id),
        flow: FlowId(0),
        destination: NodeId(1),
        next_hop: NodeId(1),
        bytes: 100,
        class: PacketClass::Data,
        ecn: Ecn::NotEct,
        labelled: false,
        own: false,
        enqueued: Time::ZERO,
    };
    assert_eq!(queue.enqueue(packet(1), &mut context), Enqueued::Stored);
    assert_eq!(queue.enqueue(packet(2), &mut context), Enqueued::Stored);
    let refused = queue.enqueue(packet(3), &mut context);
    assert_eq!(refused, Enqueued::Refused(DropReason::QUEUE_FULL));
    assert_eq!(queue.commit().map(|p| p.id), Some(PacketId(1)));
    assert_eq!(queue.commit().map(|p| p.id), Some(PacketId(2)));
    assert_eq!(queue.commit(), None);
}
