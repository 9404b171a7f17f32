//! Packets from outside the world: they are injected at a node, and their ends are reported.

use std::collections::BTreeMap;

use airfair_units::Time;

use crate::ids::NodeIx;

/// A packet to inject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Injection {
    /// Source node.
    pub from: NodeIx,
    /// Destination node.
    pub to: NodeIx,
    /// Size as an IP packet.
    pub bytes: u32,
    /// Number given by the caller.
    pub tag: u32,
}

/// An injected packet that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InjectionOutcome {
    /// Time of the end.
    pub at: Time,
    /// Number given to `inject`.
    pub tag: u32,
    /// Reason of the drop; `None`: delivered.
    pub dropped: Option<&'static str>,
}

/// State of the packets from outside.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    /// Packets to be injected, by number.
    coming: BTreeMap<u32, Injection>,
    next: u32,
    entered: u64,
    delivered: u64,
    outputs: Vec<InjectionOutcome>,
}

impl Outside {
    /// Registers a packet to be injected. Returns its number.
    pub fn add(&mut self, packet: Injection) -> u32 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        self.coming.insert(number, packet);
        number
    }

    /// Removes a packet that is injected now, by its number.
    pub fn take_injection(&mut self, number: u32) -> Option<Injection> {
        let packet = self.coming.remove(&number)?;
        self.entered += 1;
        Some(packet)
    }

    /// Records the end of a packet.
    pub fn end(&mut self, at: Time, tag: u32, dropped: Option<&'static str>) {
        self.delivered += u64::from(dropped.is_none());
        self.outputs.push(InjectionOutcome { at, tag, dropped });
    }

    /// Numbers of packets injected and delivered.
    pub fn counts(&self) -> (u64, u64) {
        (self.entered, self.delivered)
    }

    /// Packets that have ended since the last call.
    pub fn take_outputs(&mut self) -> Vec<InjectionOutcome> {
        std::mem::take(&mut self.outputs)
    }
}
