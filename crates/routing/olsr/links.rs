//! The links of a node, as HELLOs reveal them [RFC 3626 sections 4.2 and 7], their hysteresis (section 14), and their quality.

use airfair_units::{Span, Time};
use airfair_wire::olsr::LinkType;

use super::config::{Hysteresis, Metric, OlsrConfig};

/// The cost of a link without losses.
pub(super) const PERFECT: u64 = 256;
/// Largest value of a quality, which stands for 1.
const BEST: u64 = u8::MAX as u64;

/// The cost of a cable without losses: olsrd's etx_ffeth counts a tenth of a transmission.
const CABLE: u64 = PERFECT / 10;

/// How the cost of a link follows from its qualities.
#[derive(Debug, Clone, Copy)]
pub(super) struct Costs {
    metric: Metric,
    /// Number of the node's first interface that is a wire, where the network has wires.
    wires_from: Option<u32>,
}

impl Costs {
    pub(super) const fn new(metric: Metric, wires_from: Option<u32>) -> Self {
        Self { metric, wires_from }
    }

    /// The best quality of a link by an interface. Where the network has cables, the best value of all is theirs, and a radio's is one
    /// less, as with olsrd's etx_ffeth: so every node can infer from two qualities that a link is a cable.
    pub(super) fn best(self, interface: u32) -> u8 {
        if self.wires_from.is_some_and(|first| interface < first) { u8::MAX - 1 } else { u8::MAX }
    }

    /// Cost of a link with these qualities, both ways, in 255ths; `None` if one of them is 0.
    pub(super) fn of(self, quality: u8, neighbour_quality: u8) -> Option<u64> {
        let both = u64::from(quality) * u64::from(neighbour_quality);
        match self.metric {
            Metric::Hops => Some(PERFECT),
            Metric::Etx if self.wires_from.is_some() && both == BEST * BEST => Some(CABLE),
            Metric::Etx => (PERFECT * BEST * BEST).checked_div(both),
        }
    }
}

/// A link from an interface of the node to a neighbour (link tuple).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LinkTuple {
    /// End of the time in which it counts as symmetric (L_SYM_time).
    symmetric_until: Time,
    /// End of the time in which the neighbour counts as heard (L_ASYM_time).
    heard_until: Time,
    /// End of the time for which it is remembered (L_time).
    pub until: Time,
    /// End of the time in which it counts as lost, whatever is heard (L_LOST_LINK_time).
    lost_until: Time,
    /// True if hysteresis does not accept it yet (L_link_pending).
    pending: bool,
    /// Quality for hysteresis (L_link_quality).
    stability: f64,
    /// Last HELLOs, the latest in the lowest bit: 1 if received.
    received: u128,
    /// Time at which the next HELLO counts as missed.
    expected: Time,
    /// Time between HELLOs, as the neighbour states it.
    interval: Span,
    /// Time of the last HELLO that was counted.
    last: Time,
    /// Share of this node's HELLOs that the neighbour receives, in 255ths, as it reports.
    pub neighbour_quality: u8,
    /// Largest quality that is stated.
    best: u8,
}

impl LinkTuple {
    /// A link to a neighbour that was not heard before [RFC 3626 sections 7.1.1 and 14.3]; `best`: its largest quality.
    pub(super) fn new(now: Time, hysteresis: Option<Hysteresis>, best: u8) -> Self {
        Self {
            symmetric_until: now,
            heard_until: now,
            until: now,
            lost_until: Time::ZERO,
            pending: hysteresis.is_some(),
            stability: 0.0,
            received: 0,
            expected: Time::NEVER,
            interval: Span::ZERO,
            last: Time::ZERO,
            neighbour_quality: 0,
            best,
        }
    }

    /// Handles a HELLO of the neighbour. `own`: how it lists this node; `validity` of the HELLO; `hold`: the node's own hold time
    /// [RFC 3626 section 7.1.1].
    pub(super) fn on_hello(&mut self, own: Option<LinkType>, validity: Span, hold: Span, now: Time) {
        self.heard_until = now.saturating_add(validity);
        match own {
            Some(LinkType::Lost) => self.symmetric_until = now,
            Some(LinkType::Symmetric | LinkType::Asymmetric) => {
                self.symmetric_until = now.saturating_add(validity);
                self.until = self.symmetric_until.saturating_add(hold);
            }
            Some(LinkType::Unspecified) | None => {}
        }
        self.until = self.until.max(self.heard_until);
    }

    /// Counts a received HELLO as probe; `interval`: the time to the next one. Parts of one HELLO count once.
    pub(super) fn count_received(&mut self, interval: Span, config: &OlsrConfig, now: Time) {
        if self.last > Time::ZERO && now.since(self.last) < Span(interval.0 / 4) {
            return;
        }
        self.last = now;
        self.interval = interval;
        // The next HELLO may be late by the jitter of both, and by its way through queue and MAC.
        self.expected = now.saturating_add(Span(interval.0 + interval.0 / 2));
        self.count(true, config, now);
    }

    /// Counts HELLOs that have not arrived in time; after a long time only the last ones, which leave nothing of those before.
    pub(super) fn count_missed(&mut self, config: &OlsrConfig, now: Time) {
        let most = u64::from(u128::BITS) * self.interval.0;
        if self.expected < now && now.since(self.expected).0 > most {
            let skipped = (now.since(self.expected).0 - most) / self.interval.0.max(1);
            self.expected = self.expected.saturating_add(Span(skipped * self.interval.0));
        }
        while self.expected <= now {
            self.expected = self.expected.saturating_add(self.interval);
            self.count(false, config, now);
        }
    }

    fn count(&mut self, received: bool, config: &OlsrConfig, now: Time) {
        self.received = self.received << 1 | u128::from(received);
        let Some(hysteresis) = &config.hysteresis else { return };
        self.stability *= 1.0 - hysteresis.scaling;
        if received {
            self.stability += hysteresis.scaling;
        }
        if self.pending && self.stability > hysteresis.high {
            self.pending = false;
            self.lost_until = now;
        } else if self.stability < hysteresis.low && !self.pending {
            self.pending = true;
            self.break_off(config, now);
        }
    }

    /// Counts the link as lost for a while [RFC 3626 sections 13 and 14.3].
    pub(super) fn break_off(&mut self, config: &OlsrConfig, now: Time) {
        self.lost_until = now.saturating_add(config.neighbour_hold).min(self.until);
    }

    pub(super) fn is_symmetric(&self, now: Time) -> bool {
        self.symmetric_until > now && !self.pending && self.lost_until <= now
    }

    /// How HELLOs list the link; `None` if they do not [RFC 3626 sections 6.2 and 14.2].
    pub(super) fn kind(&self, now: Time) -> Option<LinkType> {
        if self.lost_until > now {
            Some(LinkType::Lost)
        } else if self.pending {
            None
        } else if self.symmetric_until > now {
            Some(LinkType::Symmetric)
        } else if self.heard_until > now {
            Some(LinkType::Asymmetric)
        } else {
            Some(LinkType::Lost)
        }
    }

    /// Share of the neighbour's last HELLOs that were received, in 255ths; HELLOs before the first one count as missed.
    pub(super) fn quality(&self, window: u32) -> u8 {
        let window = window.clamp(1, u128::BITS);
        let last = self.received & (u128::MAX >> (u128::BITS - window));
        let share = (last.count_ones() * u32::from(u8::MAX) + window / 2) / window;
        (share as u8).min(self.best)
    }

    /// Cost of the link.
    pub(super) fn cost(&self, config: &OlsrConfig, costs: Costs) -> Option<u64> {
        costs.of(self.quality(config.etx_window), self.neighbour_quality)
    }

    /// Next time at which it changes without a message.
    pub(super) fn deadline(&self, now: Time) -> Time {
        let changes = [self.symmetric_until, self.heard_until, self.lost_until, self.until, self.expected];
        changes.into_iter().filter(|&at| at > now).min().unwrap_or(Time::NEVER)
    }
}
