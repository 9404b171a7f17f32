//! A queue discipline written in Python. Its packets are counted here too, so that no answer can lose or duplicate a packet.

use std::collections::BTreeMap;

use airfair_schemes::places::{
    DropReason, Ecn, Enqueued, Head, Packet, PacketId, Priority, Queue, QueueContext, QueueView,
};
use pyo3::prelude::*;

use super::context::Place;
use super::hooks::{Decision, Hooks, class, packet};
use crate::hosted::Raised;

pub(super) struct PythonQueue {
    hooks: Hooks,
    limit_packets: u32,
    stored: BTreeMap<PacketId, Packet>,
    bytes: u64,
    /// The packet that the last `peek` has returned.
    peeked: Option<PacketId>,
}

impl PythonQueue {
    pub fn new(
        object: &Bound<'_, PyAny>,
        limit_packets: u32,
        raised: &Raised,
        scheme: &'static str,
    ) -> PyResult<Self> {
        let base = class!(object.py(), "Queue")?;
        let hooks = Hooks::new(object, base, Place::Queue, raised, scheme)?;
        Ok(Self { hooks, limit_packets, stored: BTreeMap::new(), bytes: 0, peeked: None })
    }

    fn store(&mut self, packet: Packet) {
        self.bytes += u64::from(packet.bytes);
        self.stored.insert(packet.id, packet);
    }

    fn remove(&mut self, id: PacketId) -> Option<Packet> {
        let packet = self.stored.remove(&id)?;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    /// Counts the packets that the discipline has dropped and marked. Reports about packets that it does not store are not passed on.
    fn own_verdicts(&mut self, context: &mut QueueContext<'_>) {
        let before = context.out.dropped.len() + context.out.marked.len();
        if before == 0 {
            return;
        }
        context.out.dropped.retain(|&(id, _)| self.remove(id).is_some());
        context.out.marked.retain(|&(id, _)| match self.stored.get_mut(&id) {
            Some(packet) if packet.ecn != Ecn::NotEct => {
                packet.ecn = Ecn::Ce;
                true
            }
            _ => false,
        });
        if context.out.dropped.len() + context.out.marked.len() < before {
            self.hooks.refuse(
                "the queue dropped a packet that it does not store, or marked one that cannot be marked",
            );
        }
    }
}

impl Queue for PythonQueue {
    fn enqueue(&mut self, offered: Packet, context: &mut QueueContext<'_>) -> Enqueued {
        let answer = self.hooks.call(context, None, |object, context| {
            let answer = object.call_method1("enqueue", (packet(object.py(), &offered)?, context))?;
            match self.hooks.decision("Queue.enqueue", &answer)? {
                Some(Decision::Mark(_)) | None => {
                    let expected =
                        "None when the packet is stored, Drop(reason) or Displaced(packet, reason)";
                    Err(self.hooks.wrong("Queue.enqueue", &answer, expected))
                }
                decision => Ok(decision),
            }
        });
        self.own_verdicts(context);
        match answer {
            Some(Decision::Accept) if self.stored.len() < self.limit_packets as usize => {
                self.store(offered);
                Enqueued::Stored
            }
            Some(Decision::Drop(reason)) => Enqueued::Refused(reason),
            Some(Decision::Displaced(other, reason)) if self.remove(PacketId(other)).is_some() => {
                self.store(offered);
                Enqueued::Displaced(PacketId(other), reason)
            }
            Some(_) => {
                self.hooks.refuse(
                    "Queue.enqueue stored a packet beyond the limit, or displaced one that was not stored",
                );
                Enqueued::Refused(DropReason::QUEUE_FULL)
            }
            None => Enqueued::Refused(DropReason::QUEUE_FULL),
        }
    }

    fn peek(&mut self, context: &mut QueueContext<'_>) -> Option<Head> {
        let named: Option<u32> = self.hooks.call(context, None, |object, context| {
            let answer = object.call_method1("peek", (context,))?;
            if answer.is_none() {
                return Ok(None);
            }
            let id = answer.getattr("id").and_then(|id| id.extract());
            id.map(Some)
                .map_err(|_| self.hooks.wrong("Queue.peek", &answer, "a packet that is stored, or None"))
        });
        self.own_verdicts(context);
        let head = named.and_then(|id| self.stored.get(&PacketId(id)).copied());
        if head.is_none() && !self.hooks.ended() && (named.is_some() || !self.stored.is_empty()) {
            let stored = self.stored.len();
            self.hooks.refuse(&match named {
                Some(_) => "Queue.peek returned a packet that is not stored".to_string(),
                None => format!("Queue.peek returned None; expected one of {stored} packets that are stored"),
            });
        }
        self.peeked = head.map(|packet| packet.id);
        head.filter(|_| !self.hooks.ended()).map(|packet| Head { packet, priority: Priority(0) })
    }

    fn commit(&mut self) -> Option<Packet> {
        let peeked = self.peeked.take()?;
        let taken: Option<u32> = self.hooks.attached(None, |object| {
            let answer = object.call_method0("commit")?;
            let id = answer.getattr("id").and_then(|id| id.extract());
            id.map(Some)
                .map_err(|_| self.hooks.wrong("Queue.commit", &answer, "the packet that peek has named"))
        });
        match taken {
            Some(id) if PacketId(id) == peeked => self.remove(peeked),
            Some(_) => {
                self.hooks.refuse("Queue.commit returned another packet than peek has named");
                None
            }
            None => None,
        }
    }

    fn show(&self, see: &mut dyn FnMut(&Packet)) {
        self.stored.values().for_each(see);
    }

    fn view(&self) -> QueueView {
        // A queue whose code has failed is full: sources that wait for room keep waiting.
        let packets = if self.hooks.ended() { self.limit_packets } else { self.stored.len() as u32 };
        QueueView { packets, bytes: self.bytes, limit_packets: self.limit_packets }
    }
}
