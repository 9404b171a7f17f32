//! Two senders that neither sense each other nor use RTS, and that destroy each other's data: what they carry, and the factors that follow.
//!
//! A frame arrives only if the other sender transmits nothing from one data frame before its start to its end, the vulnerable period of
//! F. A. Tobagi, L. Kleinrock, "Packet switching in radio channels: part II", IEEE Trans. Commun. 23(12), 1975. Every failure doubles the
//! sender's window, and the limit of retries ends in the loss of a packet and the smallest window. Both senders fail together, so that
//! their windows depend on each other; a model of independent senders is a third too low for short frames. The two therefore contend here
//! packet by packet, always with a packet to send, over a fixed number of attempts with draws that are always the same.
//!
//! Left out: what senders carry that offer less than they could send (in a search up to 37 % more where a frame is longer than most
//! windows, up to 15 % less where it is shorter), and frames that are lost on a silent air.

use std::collections::BTreeMap;

use airfair_units::random::{Purpose, Stream};

use super::contention::{Access, Tries};
use super::links::RadioLink;
use crate::air::Air;
use crate::modes::Mode;

/// Attempts of both senders that are counted.
const ATTEMPTS: u32 = 200_000;

/// Largest factor: that of senders of which hardly any frame arrives.
const MOST: f64 = 100.0;

/// One of two senders that do not hear each other. Times in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HiddenSender {
    /// Smallest contention window, slots.
    pub cw_min: u32,
    /// Largest contention window, slots.
    pub cw_max: u32,
    /// Length of a slot.
    pub slot: u64,
    /// Idle time before slots are counted.
    pub difs: u64,
    /// Data frame.
    pub data: u64,
    /// From the end of a data frame that arrives to the start of its ACK.
    pub sifs: u64,
    /// ACK.
    pub ack: u64,
    /// From the end of a data frame to the moment at which it counts as failed.
    pub timeout: u64,
    /// Attempts after which a packet is given up.
    pub attempts: u32,
}

/// A sender while it contends.
struct Contender {
    of: HiddenSender,
    /// When it starts to send, or ends.
    next: u64,
    sending: bool,
    /// The other one has sent during this frame.
    spoilt: bool,
    failures: u32,
    delivered: u32,
}

impl Contender {
    /// Back-off after `from`.
    fn wait(&mut self, from: u64, draws: &mut Stream) {
        let HiddenSender { cw_min, cw_max, slot, difs, .. } = self.of;
        let window = (u64::from(cw_min) + 1).checked_shl(self.failures.min(32)).unwrap_or(u64::MAX) - 1;
        let window = window.min(u64::from(cw_max)) as u32;
        self.next = from + difs + u64::from(draws.below(window.saturating_add(1))) * slot;
    }
}

/// Packets per second that arrive from each of two saturated senders.
#[must_use]
pub fn saturated(senders: [HiddenSender; 2]) -> [f64; 2] {
    let mut draws = Stream::new(0, "hidden senders", Purpose::Backoff);
    let mut both =
        senders.map(|of| Contender { of, next: 0, sending: false, spoilt: false, failures: 0, delivered: 0 });
    both.iter_mut().for_each(|one| one.wait(0, &mut draws));
    let (mut attempts, mut now) = (0, 0);
    while attempts < ATTEMPTS {
        let [first, second] = &mut both;
        let (one, other) = if first.next <= second.next { (first, second) } else { (second, first) };
        now = one.next;
        if !one.sending {
            attempts += 1;
            one.sending = true;
            one.spoilt = other.sending;
            other.spoilt |= other.sending;
            one.next = now + one.of.data;
            continue;
        }
        one.sending = false;
        if one.spoilt {
            one.failures += 1;
            if one.failures >= one.of.attempts {
                one.failures = 0;
            }
            one.wait(now + one.of.timeout, &mut draws);
        } else {
            one.delivered += 1;
            one.failures = 0;
            let HiddenSender { sifs, ack, .. } = one.of;
            one.wait(now + sifs + ack, &mut draws);
            // The other one hears the ACK.
            if !other.sending && other.next >= now + sifs {
                other.next += ack + other.of.difs;
            }
        }
    }
    both.map(|one| f64::from(one.delivered) / (now as f64 * 1e-9))
}

/// Factors by pair of senders, computed once: by kind of station, mode and largest packet.
type Known = BTreeMap<[(usize, Mode, u32); 2], Option<[f64; 2]>>;

/// Factors of pairs of hidden senders.
pub(super) struct HiddenFactors<'a> {
    air: &'a Air,
    known: Known,
}

impl<'a> HiddenFactors<'a> {
    pub(super) fn new(air: &'a Air) -> Self {
        Self { air, known: Known::new() }
    }

    /// For each of two links the factor of the other one, with which both links get what their senders carry; none if two senders only
    /// collide even when they hear each other.
    pub(super) fn of(&mut self, pair: [&RadioLink; 2]) -> Option<[f64; 2]> {
        let key = pair.map(|link| (self.air.kind_of(link.from), link.mode, link.largest));
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let found = self.compute(pair);
        self.known.insert(key, found);
        found
    }

    fn compute(&self, pair: [&RadioLink; 2]) -> Option<[f64; 2]> {
        let rates = saturated(pair.map(|link| self.sender(link)));
        let mut used = [0.0; 2];
        for side in [0, 1] {
            used[side] = rates[side] * self.packet_s(pair[side])?;
        }
        // The link's own share of the time and the other's, which counts by the factor, are all of the time.
        Some([0, 1].map(|side| ((1.0 - used[side]) / used[1 - side]).clamp(1.0, MOST)))
    }

    fn sender(&self, link: &RadioLink) -> HiddenSender {
        let mac = self.air.mac(link.from);
        let (category, mode) = (mac.category(0), &mac.modes[link.mode]);
        HiddenSender {
            cw_min: category.cw_min,
            cw_max: category.cw_max,
            slot: mac.timing.slot,
            difs: mac.timing.difs,
            data: mac.airtime(link.mode, link.largest).0,
            sifs: mac.timing.sifs,
            ack: mode.answer_ns,
            timeout: mode.answer_wait,
            attempts: mac.short_retry_limit,
        }
    }

    /// Time of a packet of the link, as the constraint of a clique of two senders counts it, s.
    fn packet_s(&self, link: &RadioLink) -> Option<f64> {
        let mac = self.air.mac(link.from);
        let access = Access::of(mac);
        let collision = mac.airtime(link.mode, link.largest).0 + mac.modes[link.mode].answer_wait;
        let cost = access.cost_s(
            access.contention(2, 0.0, Tries { first: mac.short_retry_limit, data: None })?,
            collision as f64 * 1e-9,
        );
        Some(mac.exchange_time(link.mode, link.largest).as_secs_f64() + cost)
    }
}
