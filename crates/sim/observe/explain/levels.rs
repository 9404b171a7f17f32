//! Packets of the flow that left a queue which compares itself with that of the next hop: with what difference, and at which level of the
//! MAC.

use std::collections::BTreeMap;

use super::LevelCounts;
use crate::ids::PacketRef;
use crate::record::FrameView;

/// Counters of one hop. They stay empty without such a queue.
#[derive(Debug, Default)]
pub(super) struct Levels {
    pub packets: u64,
    /// Sum of the differences, packets.
    pub sum: i64,
    /// By the number of the access category; none at a station without several.
    pub by_level: BTreeMap<Option<u8>, LevelCounts>,
    /// Packet that has left the queue and was not sent so far.
    fresh: Option<PacketRef>,
}

impl Levels {
    /// A packet of the flow has left the queue.
    pub fn on_compared(&mut self, packet: PacketRef, differential: i64, counts: bool) {
        if counts {
            self.packets += 1;
            self.sum += differential;
            self.fresh = Some(packet);
        }
    }

    /// Handles the first frame for a packet.
    pub fn on_start(&mut self, frame: &FrameView, level: Option<u8>) {
        if self.fresh.take_if(|fresh| *fresh == frame.packet).is_some() {
            self.by_level.entry(level).or_default().packets += 1;
        }
    }

    /// The medium was busy for `ns` while a packet of the flow waited at `level`.
    pub fn on_busy(&mut self, level: Option<u8>, ns: u64, outranked: bool) {
        if self.packets > 0 {
            let counts = self.by_level.entry(level).or_default();
            *(if outranked { &mut counts.higher } else { &mut counts.others }) += ns;
        }
    }
}
