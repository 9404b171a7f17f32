//! Frames on the air.

use airfair_units::Time;

use crate::ids::{CopyRef, FrameIx, PacketRef, StationIx, Table};
use crate::modes::Mode;
use crate::record::{FrameKind, FrameView, Loss};

/// Index of no frame.
pub(crate) const NONE: FrameIx = FrameIx(u32::MAX);
/// Number of no frame.
pub(crate) const NO_NUMBER: u32 = u32::MAX;
/// Receiver of a broadcast frame.
pub const BROADCAST: StationIx = StationIx(u32::MAX);

/// A packet inside a data frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mpdu {
    /// The packet, or [`PacketRef::NONE`] in a control frame.
    pub packet: PacketRef,
    /// The sender's copy of the packet.
    pub copy: CopyRef,
    pub sequence: u16,
    pub retry: bool,
    /// Access category, or [`NO_CATEGORY`].
    pub category: u8,
}

/// Category of a frame of the DCF, and of control frames.
pub(crate) const NO_CATEGORY: u8 = u8::MAX;

impl Mpdu {
    /// Placeholder in a control frame.
    pub(crate) const NONE: Self = Self {
        packet: PacketRef::NONE,
        copy: CopyRef::NONE,
        sequence: 0,
        retry: false,
        category: NO_CATEGORY,
    };
}

/// Largest number of packets in a frame. With aggregation this list would move out of the frame, which would hold a range of an array
/// beside [`Frames`], 64 entries at most: one bit of [`Verdicts`] each.
pub(crate) const MPDUS: usize = 1;

/// The packets of a frame that a hearer has received without errors: one bit each, by their index in the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verdicts(u64);

impl Verdicts {
    /// All packets received.
    pub(crate) const ALL: Self = Self(u64::MAX);

    /// Iterates over the packets of a list that were received.
    #[inline(always)]
    pub(crate) fn of(self, mpdus: &[Mpdu; MPDUS]) -> impl Iterator<Item = &Mpdu> {
        (0..).zip(mpdus).filter(move |&(at, _)| self.0 >> at & 1 == 1).map(|(_, mpdu)| mpdu)
    }
}

/// A PPDU on the air.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub start: u64,
    pub end: u64,
    /// The packets that it carries.
    pub mpdus: [Mpdu; MPDUS],
    /// Running number of the frame, for traces.
    pub number: u32,
    pub sender: StationIx,
    pub receiver: StationIx,
    /// PSDU length, bytes.
    pub bytes: u32,
    /// Duration field, us.
    pub nav_us: u32,
    /// Union of the [`flag`](super::radio::flag)s by which a station processes a frame that is addressed to another station.
    pub watchers: u8,
    pub kind: FrameKind,
    pub mode: Mode,
    /// Mode by which [`crate::spec::ErrorModel::Threshold`] judges the frame: that of the data of its exchange, which also decides how far
    /// RTS, CTS and ACK reach. None: the nominal mode of its sender.
    pub judged: Option<Mode>,
    /// Power above the radio's own, hundredths of a dB.
    pub power_offset: i16,
    /// Passes left to make at its end: one at the sender and its near hearers, one over each band of distant hearers.
    pub passes_left: u16,
    /// The receiver was among the decodable hearers.
    pub receiver_found: bool,
    /// Reason why the receiver has not received the frame, so far.
    pub loss: Loss,
}

impl Frame {
    /// Duration on the air, ns.
    pub(crate) fn duration(&self) -> u64 {
        self.end - self.start
    }

    /// The frame as records show it.
    pub(crate) fn view(&self) -> FrameView {
        let Mpdu { packet, sequence, retry, category, .. } = self.mpdus[0];
        FrameView {
            number: self.number,
            kind: self.kind,
            mode: self.mode,
            power_offset: self.power_offset,
            sender: self.sender,
            receiver: (self.receiver != BROADCAST).then_some(self.receiver),
            packet,
            bytes: self.bytes,
            start: Time(self.start),
            end: Time(self.end),
            nav_us: self.nav_us,
            sequence,
            retry,
            category: (category != NO_CATEGORY).then_some(category),
            messages: None,
            forwarded: None,
            announced: None,
        }
    }

    /// True if the frame is a response to the receiver's last frame (or, as a CTS to itself, protects the sender).
    pub(crate) fn is_response(&self) -> bool {
        matches!(self.kind, FrameKind::Cts | FrameKind::Ack)
    }

    /// True if a station is addressed by the frame, alone or by a broadcast.
    pub(crate) fn is_for(&self, station: StationIx) -> bool {
        self.receiver == station || self.receiver == BROADCAST
    }
}

/// Frames by index, with a free list.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    slots: Table<FrameIx, Frame>,
    free: Vec<FrameIx>,
    /// Frames sent so far.
    pub count: u32,
}

impl Frames {
    /// Adds a frame, numbered [`Frames::count`].
    #[inline(always)]
    pub(crate) fn add(&mut self, frame: &Frame) -> FrameIx {
        self.count = self.count.wrapping_add(1);
        let at = self.free.pop().unwrap_or(FrameIx(self.slots.len() as u32));
        match self.slots.get_mut(at) {
            Some(slot) => *slot = *frame,
            None => self.grow(*frame),
        }
        at
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, frame: Frame) {
        self.slots.push(frame);
    }

    #[inline]
    pub(crate) fn get(&self, at: FrameIx) -> &Frame {
        &self.slots[at]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, at: FrameIx) -> &mut Frame {
        &mut self.slots[at]
    }

    /// Frees a frame's index after its last pass.
    #[inline]
    pub(crate) fn free(&mut self, at: FrameIx) {
        self.free.push(at);
    }

    /// The earliest end of a frame on the air that carries a packet, ns.
    pub(crate) fn next_end(&self) -> Option<u64> {
        let carries = |frame: &&Frame| frame.passes_left > 0 && frame.mpdus[0].packet != PacketRef::NONE;
        self.slots.iter().filter(carries).map(|frame| frame.end).min()
    }

    /// Frames on the air.
    pub(crate) fn in_flight(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames are copied at their start and at each of their ends.
    #[test]
    fn a_frame_has_80_bytes() {
        assert_eq!(size_of::<Frame>(), 80);
    }
}
