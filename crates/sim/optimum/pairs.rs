//! Which links cannot be used at the same time, pair by pair, on an otherwise silent air.
//!
//! A link is an exchange: its sender transmits (RTS,) data, its receiver (CTS,) ACK. Two links conflict if they share a station, if one of
//! the senders defers to the other link, or if frames of one make the other's exchange fail:
//!
//! - A sender *defers* if it senses the other sender, or decodes the CTS of the other receiver, which sets its NAV.
//! - A link's *data* are lost if its receiver is locked on a frame of the other sender, or its medium busy where that is enough
//!   (`lock_on = "energy"`), if a frame of the other link's sender or receiver lowers the SINR too far, or if the receiver withholds its
//!   CTS (NAV, or carrier with `cts_needs_idle_carrier`).
//! - A link's *answers* are lost if a frame of the other sender lowers the SINR at the link's sender too far.

use std::cmp::Reverse;

use super::links::RadioLink;
use crate::air::Air;
use crate::ids::StationIx;
use crate::modes::Mode;

/// Why two links conflict. In each array the first entry is about the first link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Causes {
    /// The links share a station.
    pub shared: bool,
    /// The link's sender defers to the other link.
    pub defers: [bool; 2],
    /// The link's data are lost while the other one is used.
    pub data_lost: [bool; 2],
    /// The link's answers are lost while the other one is used.
    pub answers_lost: [bool; 2],
    /// The link's sender decodes the CTS of the other link's receiver.
    pub cts_heard: [bool; 2],
}

impl Causes {
    /// True if the links conflict.
    #[must_use]
    pub fn any(self) -> bool {
        let Self { shared, defers, data_lost, answers_lost, cts_heard: _ } = self;
        shared || [defers, data_lost, answers_lost].concat().contains(&true)
    }

    /// True if the link of this side (0 or 1) is inhibited by the other one: its data are lost while the other link is used, and its sender
    /// does not defer to the other link, so that it attempts in vain.
    #[must_use]
    pub fn inhibits(self, side: usize) -> bool {
        self.data_lost[side] && !self.defers[side]
    }
}

/// Reception on an otherwise silent air, as the medium decides it.
pub(super) struct Reception<'a>(pub &'a Air);

/// A frame.
#[derive(Clone, Copy)]
struct Sent {
    from: StationIx,
    to: StationIx,
    mode: Mode,
    /// Mode of the data of its exchange.
    judged: Mode,
    /// PSDU, bytes.
    bytes: u32,
}

/// Share of the frames that arrive on a silent air of which at least so many have to arrive under a signal that does not conflict.
const ARRIVING: f64 = 0.5;

/// Bytes of the answers, by which the loss of answers is judged: those of an ACK and a CTS.
const ANSWER_BYTES: u32 = 14;

impl Reception<'_> {
    /// Received power, aW; 0 if none is received.
    fn power(&self, from: StationIx, at: StationIx) -> u64 {
        self.0.reach().mean_signal_at(from, at).map_or(0, |signal| signal.power)
    }

    fn senses(&self, from: StationIx, at: StationIx) -> bool {
        self.0.reach().mean_signal_at(from, at).is_some_and(|signal| signal.sensed)
    }

    /// Probability that a frame arrives over noise and this interference, aW.
    fn arrives(&self, sent: Sent, interference: u64) -> f64 {
        let powers = (self.power(sent.from, sent.to), interference);
        self.0.phy(sent.to).arrival(powers, sent.judged, (sent.mode, sent.bytes))
    }

    fn is_lost(&self, sent: Sent, interference: u64) -> bool {
        self.arrives(sent, interference) < ARRIVING * self.arrives(sent, 0)
    }

    /// True if a receiver would receive the frames of a station, their preambles at least.
    fn decodes(&self, from: StationIx, at: StationIx) -> bool {
        self.0.phy(at).locks_on(self.power(from, at))
    }

    fn data(&self, link: &RadioLink) -> Sent {
        let mac = self.0.mac(link.from);
        let RadioLink { from, to, mode, largest, .. } = *link;
        Sent { from, to, mode, judged: mode, bytes: largest + mac.overhead }
    }

    fn answer(&self, link: &RadioLink) -> Sent {
        let [sender, receiver] = [link.from, link.to].map(|station| self.0.mac(station));
        let judged = sender.judged(link.mode).unwrap_or(receiver.nominal_mode);
        let mode = receiver.modes[judged].ack_mode;
        Sent { from: link.to, to: link.from, mode, judged, bytes: ANSWER_BYTES }
    }

    /// True if data of a link are lost while another is used.
    fn data_lost(&self, link: &RadioLink, other: &RadioLink) -> bool {
        let (kind, mac) = (self.0.phy(link.to), self.0.mac(link.to));
        let from_other = self.power(other.from, link.to);
        if kind.is_occupied_by(from_other, self.power(link.from, link.to)) {
            return true;
        }
        let nav = self.decodes(other.from, link.to) || other.rts && self.decodes(other.to, link.to);
        let withheld =
            mac.cts_needs_idle_nav && nav || mac.cts_needs_idle_carrier && self.senses(other.from, link.to);
        let data = self.data(link);
        link.rts && withheld
            || self.is_lost(data, from_other)
            || self.is_lost(data, self.power(other.to, link.to))
    }

    /// True if data of a link are lost under data of another sender, whichever of the frames begins first.
    pub(super) fn spoils(&self, link: &RadioLink, other: &RadioLink) -> bool {
        self.is_lost(self.data(link), self.power(other.from, link.to))
    }

    /// The causes of a conflict of two links.
    pub(super) fn causes(&self, first: &RadioLink, second: &RadioLink) -> Causes {
        if first.to == second.to && first.from != second.from {
            return self.causes_at_receiver(first, second);
        }
        if [first.from, first.to].iter().any(|&station| station == second.from || station == second.to) {
            return Causes { shared: true, ..Causes::default() };
        }
        let ordered = [(first, second), (second, first)];
        let (cts_heard, defers) = self.deference(ordered);
        let data_lost = ordered.map(|(link, other)| self.data_lost(link, other));
        let answers_lost =
            ordered.map(|(link, other)| self.is_lost(self.answer(link), self.power(other.from, link.from)));
        Causes { shared: false, defers, data_lost, answers_lost, cts_heard }
    }

    /// Two links with one receiver: the data of each are lost while the other is used, unless they are so strong that they take over.
    fn causes_at_receiver(&self, first: &RadioLink, second: &RadioLink) -> Causes {
        let ordered = [(first, second), (second, first)];
        let (cts_heard, defers) = self.deference(ordered);
        let data_lost = ordered.map(|(link, other)| self.data_lost(link, other));
        Causes { shared: true, defers, data_lost, answers_lost: [false; 2], cts_heard }
    }

    /// For each of two links: its sender decodes the CTS of the other link; it defers to the other link.
    fn deference(&self, ordered: [(&RadioLink, &RadioLink); 2]) -> ([bool; 2], [bool; 2]) {
        let cts_heard = ordered.map(|(link, other)| other.rts && self.decodes(other.to, link.from));
        let defers =
            [0, 1].map(|side| cts_heard[side] || self.senses(ordered[side].1.from, ordered[side].0.from));
        (cts_heard, defers)
    }

    /// Links that do not conflict with this one and whose senders together make its data fail: the strongest first, without those that
    /// conflict with a stronger one. None if all of them together do not.
    pub(super) fn additive(
        &self,
        place: usize,
        links: &[RadioLink],
        conflict: impl Fn(usize, usize) -> bool,
    ) -> Option<Vec<usize>> {
        let link = &links[place];
        if self.0.phy(link.to).strongest {
            return None;
        }
        let mut others: Vec<(u64, usize)> = (0..links.len())
            .filter(|&other| other != place && !conflict(place, other))
            .map(|other| (self.power(links[other].from, link.to), other))
            .filter(|&(power, _)| power > 0)
            .collect();
        others.sort_by_key(|&(power, other)| (Reverse(power), other));
        let (mut chosen, mut sum): (Vec<usize>, u64) = (Vec::new(), 0);
        for (power, other) in others {
            if chosen.iter().any(|&before| conflict(before, other)) {
                continue;
            }
            chosen.push(other);
            sum = sum.saturating_add(power);
            if self.is_lost(self.data(link), sum) {
                return Some(chosen);
            }
        }
        None
    }
}
