//! Packets from outside the world: they enter at a node, and their ends are told.

use std::collections::BTreeMap;

use airfair_units::Time;

use crate::ids::NodeIx;

/// A packet to inject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Injected {
    /// Source node.
    pub from: NodeIx,
    /// Destination node.
    pub to: NodeIx,
    /// Size as an IP packet.
    pub bytes: u32,
    /// The caller's number for it.
    pub tag: u32,
}

/// A packet that was injected and has reached an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Output {
    /// When.
    pub at: Time,
    /// The number that `inject` was given.
    pub tag: u32,
    /// Why it was dropped; `None`: delivered.
    pub dropped: Option<&'static str>,
}

/// The packets from outside.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    /// Those that are still to come, by number.
    coming: BTreeMap<u32, Injected>,
    next: u32,
    entered: u64,
    delivered: u64,
    outputs: Vec<Output>,
}

impl Outside {
    /// A packet is to come. Returns its number.
    pub fn add(&mut self, packet: Injected) -> u32 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        self.coming.insert(number, packet);
        number
    }

    /// A packet enters, by its number.
    pub fn enter(&mut self, number: u32) -> Option<Injected> {
        let packet = self.coming.remove(&number)?;
        self.entered += 1;
        Some(packet)
    }

    /// A packet has reached an end.
    pub fn end(&mut self, at: Time, tag: u32, dropped: Option<&'static str>) {
        self.delivered += u64::from(dropped.is_none());
        self.outputs.push(Output { at, tag, dropped });
    }

    /// Packets that have entered, and those of them that were delivered.
    pub fn counts(&self) -> (u64, u64) {
        (self.entered, self.delivered)
    }

    /// Packets that have ended since the last call.
    pub fn take_outputs(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.outputs)
    }
}
