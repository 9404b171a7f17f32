//! Frames of schemes' messages and of flows' reports, kind by kind, at radios that count them.

use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use airfair_schemes::places::MessageKinds;

/// Frames of one kind of a scheme's messages, or of flows' reports, at all radios from the end of the warm-up on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlTraffic {
    /// Name of the kind.
    pub kind: String,
    /// Packets that MACs have finished: a message that is relayed counts at each hop.
    pub packets: u64,
    /// Frames that carried them, the MAC's retries included.
    pub frames: u64,
    /// Bytes of these frames as IP packets, and as frames.
    pub ip_bytes: u64,
    /// Bytes of these frames with LLC, MAC header and FCS.
    pub mac_bytes: u64,
}

/// Name of the reports of flows' receivers.
const FEEDBACK: &str = "feedback";

/// The counts of a network: they stay empty unless its scheme names kinds.
#[derive(Debug, Default)]
pub struct MessageFrames {
    kinds: Option<MessageKinds>,
    /// By kind; the last one: reports of flows.
    counts: Vec<Counts>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    packets: u64,
    frames: u64,
    ip_bytes: u64,
    mac_bytes: u64,
}

/// A packet that a MAC has finished.
#[derive(Debug, Clone, Copy)]
pub enum SentPacket {
    /// A message, with its first bytes.
    Message([u8; 4]),
    /// A report of a flow's receiver.
    Report,
}

impl MessageFrames {
    /// No frames of these kinds.
    #[must_use]
    pub fn new(kinds: MessageKinds) -> Self {
        Self { kinds: Some(kinds), counts: vec![Counts::default(); kinds.names.len() + 1] }
    }

    /// True if anything is counted.
    #[must_use]
    #[inline(always)]
    pub fn any(&self) -> bool {
        self.kinds.is_some()
    }

    /// Name of the kind of a message, by its first bytes.
    #[must_use]
    pub fn kind(&self, start: &[u8; 4]) -> Option<&'static str> {
        let kinds = self.kinds?;
        kinds.names.get((kinds.of)(start)?).copied()
    }

    /// Counts a packet that the MAC has sent in this number of frames; `bytes`: of the IP packet, and of a frame.
    pub fn count(&mut self, packet: SentPacket, frames: u64, bytes: [u32; 2]) {
        let Some(kinds) = &self.kinds else { return };
        let at = match packet {
            SentPacket::Message(start) => (kinds.of)(&start),
            SentPacket::Report => Some(kinds.names.len()),
        };
        if let Some(counts) = at.and_then(|at| self.counts.get_mut(at)) {
            counts.packets += 1;
            counts.frames += frames;
            counts.ip_bytes += frames * u64::from(bytes[0]);
            counts.mac_bytes += frames * u64::from(bytes[1]);
        }
    }

    /// Starts the measurement at the end of the warm-up.
    pub fn warmed_up(&mut self) {
        self.counts.fill(Counts::default());
    }

    /// The counts by kind.
    #[must_use]
    pub fn results(&self) -> Option<Vec<ControlTraffic>> {
        let names = self.kinds?.names.iter().copied().chain([FEEDBACK]);
        let result = |(kind, &Counts { packets, frames, ip_bytes, mac_bytes }): (&str, &Counts)| {
            ControlTraffic { kind: kind.to_string(), packets, frames, ip_bytes, mac_bytes }
        };
        Some(names.zip(&self.counts).map(result).collect())
    }
}
