//! The contract of `places::Queue`, driven by random operations, for every scheme in the registry.

use std::collections::BTreeSet;

use airfair_schemes::places::{
    Context, Ecn, Enqueued, FlowId, NodeId, Outbox, Packet, PacketClass, PacketId, Queue,
};
use airfair_schemes::{Params, registry};
use airfair_units::Time;
use airfair_units::random::{Purpose, Stream};
use proptest::prelude::*;

#[derive(Debug, Clone, Copy)]
enum Operation {
    Enqueue { bytes: u32, flow: u32, destination: u32 },
    Peek,
    Commit,
    CommitAndRequeue,
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        4 => (1u32..2000, 0u32..4, 0u32..4)
            .prop_map(|(bytes, flow, destination)| Operation::Enqueue { bytes, flow, destination }),
        1 => Just(Operation::Peek),
        2 => Just(Operation::Commit),
        1 => Just(Operation::CommitAndRequeue),
    ]
}

fn check(queue: &mut dyn Queue, limit: u32, operations: &[Operation]) -> Result<(), TestCaseError> {
    let mut random = Stream::new(1, "contract", Purpose::Queue);
    let mut out = Outbox::default();
    let mut context = Context { now: Time::ZERO, random: &mut random, out: &mut out };
    let mut stored = BTreeSet::new();
    let mut bytes = 0u64;
    for (i, &op) in operations.iter().enumerate() {
        context.now = Time(i as u64 * 1000);
        match op {
            Operation::Enqueue { bytes: size, flow, destination } => {
                let packet = Packet {
                    id: PacketId(i as u32),
                    flow: FlowId(flow),
                    destination: NodeId(destination),
                    next_hop: NodeId(destination),
                    bytes: size,
                    class: PacketClass::Data,
                    ecn: Ecn::NotEct,
                    enqueued: context.now,
                };
                match queue.enqueue(packet, &mut context) {
                    Enqueued::Stored => {
                        stored.insert((packet.id, size));
                        bytes += u64::from(size);
                    }
                    Enqueued::Refused(reason) => prop_assert!(!reason.0.is_empty()),
                    Enqueued::Displaced(gone, _) => {
                        stored.insert((packet.id, size));
                        let old = stored.iter().find(|s| s.0 == gone).copied();
                        prop_assert!(old.is_some(), "displaced a packet that was not stored");
                        stored.remove(&old.unwrap());
                        bytes = bytes + u64::from(size) - u64::from(old.unwrap().1);
                    }
                }
            }
            Operation::Peek => {
                let first = queue.peek(&mut context);
                prop_assert_eq!(first, queue.peek(&mut context));
                prop_assert_eq!(first.is_none(), stored.is_empty());
            }
            Operation::Commit | Operation::CommitAndRequeue => {
                let head = queue.peek(&mut context);
                let taken = queue.commit();
                prop_assert_eq!(head.map(|h| h.packet), taken);
                if let Some(packet) = taken {
                    prop_assert!(stored.remove(&(packet.id, packet.bytes)), "a packet came out twice");
                    bytes -= u64::from(packet.bytes);
                    if matches!(op, Operation::CommitAndRequeue) {
                        queue.requeue(packet);
                        stored.insert((packet.id, packet.bytes));
                        bytes += u64::from(packet.bytes);
                        prop_assert_eq!(queue.peek(&mut context).map(|h| h.packet.id), Some(packet.id));
                    }
                }
            }
        }
        let view = queue.view();
        prop_assert_eq!(view.packets as usize, stored.len());
        prop_assert_eq!(view.bytes, bytes);
        prop_assert!(view.packets <= limit);
    }
    Ok(())
}

proptest! {
    #[test]
    fn every_queue_keeps_the_contract(
        limit in 1u32..20,
        operations in proptest::collection::vec(operation(), 0..200),
    ) {
        for entry in registry() {
            let scheme = (entry.build)(&Params::default()).expect("defaults are valid");
            check(scheme.queue(limit).as_mut(), limit, &operations)?;
        }
    }
}

#[test]
fn drop_tail_is_first_in_first_out_and_refuses_at_its_limit() {
    let scheme = (airfair_schemes::find("droptail").unwrap().build)(&Params::default()).unwrap();
    let mut queue = scheme.queue(2);
    let mut random = Stream::new(1, "x", Purpose::Queue);
    let mut out = Outbox::default();
    let mut context = Context { now: Time::ZERO, random: &mut random, out: &mut out };
    let packet = |id| Packet {
        id: PacketId(id),
        flow: FlowId(0),
        destination: NodeId(1),
        next_hop: NodeId(1),
        bytes: 100,
        class: PacketClass::Data,
        ecn: Ecn::NotEct,
        enqueued: Time::ZERO,
    };
    assert_eq!(queue.enqueue(packet(1), &mut context), Enqueued::Stored);
    assert_eq!(queue.enqueue(packet(2), &mut context), Enqueued::Stored);
    let refused = queue.enqueue(packet(3), &mut context);
    assert_eq!(refused, Enqueued::Refused(airfair_schemes::places::DropReason::QUEUE_FULL));
    assert_eq!(queue.commit().map(|p| p.id), Some(PacketId(1)));
    assert_eq!(queue.commit().map(|p| p.id), Some(PacketId(2)));
    assert_eq!(queue.commit(), None);
}
