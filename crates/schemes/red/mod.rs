//! RED: drops or marks at random before the queue is full, more often the longer its average length.
//!
//! S. Floyd and V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM Transactions on
//! Networking 1(4), 1993, figure 2. It fills one place, the AQM, and stands beside drop-tail, whose limit still holds.
//!
//! | symbol | here | unit | default |
//! |---|---|---|---|
//! | avg | the average queue length | packets | starts at 0 |
//! | q | the queue at an arrival, without the packet | packets | |
//! | w | `weight` | | 0.002 |
//! | min_th, max_th | `min_th`, `max_th` | packets | 5, 15 |
//! | max_p | `max_p` | | 0.1 |
//! | s | `mean_packet_time` | time | 4 ms |
//! | count | arrivals since the last drop or mark, -1 below min_th | packets | -1 |
//!
//! At each arrival:
//! - the average: `avg <- (1-w) avg + w q`; at an empty queue instead `avg <- (1-w)^m avg`, `m` the packets of time `s`
//!   that could have been sent since it became empty;
//! - `avg < min_th`: the packet passes, `count <- -1`;
//! - `min_th <= avg < max_th`: `count <- count + 1`, `p_b = max_p (avg - min_th)/(max_th - min_th)`,
//!   `p_a = p_b/(1 - count p_b)`; with probability `p_a` it is dropped or marked and `count <- 0`;
//! - `max_th <= avg`: it is dropped, `count <- 0`.
//!
//! As the figure has it, `count` is 1 at the first arrival after a drop, so that the next gap is uniform on
//! 1..1/p_b - 1 and the long-run rate at a constant average is 2 p_b.
//!
//! Where the paper leaves a choice, or later practice differs:
//! - `p_a` is 1 as soon as `count p_b >= 1`, where the formula has its pole.
//! - `m` is rounded down, and each departure that empties the queue starts it anew: an idle time below `s` leaves the
//!   average as it is. Figure 2 has a linear function of the time since the queue became empty, which needs no whole
//!   number; ns-2 (`queue/red.cc`) rounds down as well, from the end of the last packet's transmission on, and counts
//!   the arriving packet too: `avg <- (1-w)^(m+1) avg`.
//! - Idle time is counted once: a packet that is dropped at an empty queue does not make the next one count the same
//!   time again. The queue is idle from the departure of its last packet on.
//! - `gentle` (Floyd, "Recommendation on using the gentle variant of RED", 2000; off: the law of 1993): between max_th
//!   and 2 max_th `p_b` rises from max_p to 1, and only from 2 max_th on everything is dropped.
//! - `wait` (ns-2, off): `p_a` is 0 until `count p_b >= 1`, then `p_b/(2 - count p_b)`: gaps from 1/p_b to 2/p_b.
//! - `ecn` (RFC 3168 section 7, off): below max_th a mark takes the place of the drop; a packet that cannot be marked is
//!   dropped. From max_th on, `gentle` or not, it is a drop.
//! - Packets are counted, not bytes.
//!
//! All of it is fixed point with 32 binary places.

use airfair_units::{Span, Time};

use crate::params;
use crate::params::{ParamError, Params};
use crate::places::{Aqm, AqmContext, DropReason, MarkReason, Packet, QueueView, Verdict};

/// A packet dropped, or marked, by the random draw.
pub const EARLY: &str = "red-early";
/// A packet dropped because the average was too long.
pub const FORCED: &str = "red-forced";

/// 1 with 32 binary places.
const ONE: u64 = 1 << 32;

params! {
    /// The parameters of RED.
    pub(crate) struct RedParameters {
        /// average queue (packets) below which every packet passes; section VI: at least what a burst should be allowed
        paper min_th: f64 = 5.0, in 0.0..=1e6;
        /// average queue (packets) from which every packet is dropped; section VI: at least twice min_th; here 3 times, as in ns-2
        paper max_th: f64 = 15.0, in 0.0..=1e6;
        /// w of the moving average, for each arrival; section VI: at least 0.001
        paper weight: f64 = 0.002, in 1e-6..=1.0;
        /// probability p_b at max_th; 0.1 is Floyd's advice of 1997 and ns-2's default, the paper has 0.02
        paper max_p: f64 = 0.1, in 0.0..=1.0;
        /// how long a typical packet takes to send, for ageing the average while the queue is empty; the default is 552 B with RTS and
        /// CTS at 2 Mbit/s
        operator mean_packet_time: Span = Span::from_millis(4), in Span::from_micros(1)..=Span::from_secs(10);
        /// between max_th and twice max_th the probability rises from max_p to 1
        reading gentle: bool = false;
        /// spaces early drops between 1/p_b and 2/p_b arrivals, as ns-2 can
        reading wait: bool = false;
        /// marks below max_th where the packet can be marked (RFC 3168 section 7)
        operator ecn: bool = false;
    }
}

/// RED's parameters and state at one queue. Lengths and probabilities have 32 binary places.
#[derive(Debug, Clone)]
pub struct Red {
    min_th: u64,
    max_th: u64,
    weight: u64,
    max_p: u64,
    mean_packet_time: Span,
    gentle: bool,
    wait: bool,
    ecn: bool,
    /// The average avg, packets.
    average: u64,
    /// Arrivals since the last drop or mark; `None` is the paper's -1.
    count: Option<u32>,
    /// The time since which the queue is empty, as far as the average does not include it.
    idle_since: Option<Time>,
}

impl Red {
    /// RED with these parameters, its average 0.
    ///
    /// # Errors
    /// A parameter out of its range, or thresholds in the wrong order.
    pub fn from_params(params: &Params) -> Result<Self, ParamError> {
        let set = RedParameters::read(params)?;
        let red = Self {
            min_th: fixed(set.min_th),
            max_th: fixed(set.max_th),
            weight: fixed(set.weight),
            max_p: fixed(set.max_p),
            mean_packet_time: set.mean_packet_time,
            gentle: set.gentle,
            wait: set.wait,
            ecn: set.ecn,
            average: 0,
            count: None,
            idle_since: None,
        };
        if red.max_th <= red.min_th {
            return Err(ParamError::not_below("min_th", "max_th"));
        }
        Ok(red)
    }

    /// The average queue, packets; for traces and tests.
    #[must_use]
    pub fn average_packets(&self) -> f64 {
        self.average as f64 / ONE as f64
    }

    /// Updates the average with the queue at an arrival.
    fn observe(&mut self, packets: u32, now: Time) {
        if packets > 0 {
            let old = u128::from(ONE - self.weight) * u128::from(self.average);
            let new = u128::from(self.weight) * (u128::from(packets) << 32);
            self.average = ((old + new) >> 32) as u64;
        } else if let Some(since) = self.idle_since {
            let m = now.since(since).as_nanos() / self.mean_packet_time.as_nanos();
            self.average = scale(self.average, power(ONE - self.weight, m));
            self.idle_since = Some(since + Span(m * self.mean_packet_time.as_nanos()));
        }
    }

    /// p_b of the present average; `None` where every packet is dropped without a draw.
    fn base_probability(&self) -> Option<u64> {
        let rise = |over: u64, width: u64, height: u64| {
            ((u128::from(over) * u128::from(height)) / u128::from(width)) as u64
        };
        if self.average < self.max_th {
            Some(rise(self.average.saturating_sub(self.min_th), self.max_th - self.min_th, self.max_p))
        } else if self.gentle && self.average < 2 * self.max_th {
            Some(self.max_p + rise(self.average - self.max_th, self.max_th, ONE - self.max_p))
        } else {
            None
        }
    }

    /// p_a: p_b spread so that the gaps between early drops are uniform, not geometric.
    fn spread(&self, p_b: u64, count: u32) -> u64 {
        let done = u64::from(count) * p_b;
        if self.wait && done < ONE {
            return 0;
        }
        let whole = if self.wait { 2 * ONE } else { ONE };
        match whole.saturating_sub(done) {
            0 => ONE,
            left => ((u128::from(p_b) << 32) / u128::from(left)).min(u128::from(ONE)) as u64,
        }
    }
}

impl Aqm for Red {
    #[inline]
    fn on_enqueue(&mut self, _packet: &Packet, queue: &QueueView, context: &mut AqmContext<'_>) -> Verdict {
        self.observe(queue.packets, context.now);
        if self.average < self.min_th {
            self.count = None;
            return Verdict::Pass;
        }
        let Some(p_b) = self.base_probability() else {
            self.count = Some(0);
            return Verdict::Drop(DropReason(FORCED));
        };
        let count = self.count.map_or(0, |c| c.saturating_add(1));
        let p_a = self.spread(p_b, count);
        if u64::from(context.random.next_u32()) >= p_a {
            self.count = Some(count);
            return Verdict::Pass;
        }
        self.count = Some(0);
        if self.ecn && self.average < self.max_th {
            Verdict::Mark(MarkReason(EARLY))
        } else {
            Verdict::Drop(DropReason(EARLY))
        }
    }

    #[inline]
    fn on_dequeue(&mut self, _packet: &Packet, queue: &QueueView, context: &mut AqmContext<'_>) -> Verdict {
        if queue.packets <= 1 {
            self.idle_since = Some(context.now);
        }
        Verdict::Pass
    }
}

/// The nearest number with 32 binary places; `value` is at most 10^6.
fn fixed(value: f64) -> u64 {
    (value * ONE as f64 + 0.5) as u64
}

/// The product of two numbers with 32 binary places, one of them at most 1.
fn scale(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 32) as u64
}

/// `base` to the power of `exponent` by repeated squaring; both `base` and the result are at most 1, with 32 binary places.
fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut result = ONE;
    while exponent > 0 {
        if exponent % 2 == 1 {
            result = scale(result, base);
        }
        base = scale(base, base);
        exponent /= 2;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Both probabilities are in 0..=1 for any average and count.
        #[test]
        fn probabilities_are_probabilities(
            average in 0..40 * ONE,
            count in any::<u32>(),
            gentle in any::<bool>(),
            wait in any::<bool>(),
        ) {
            let red = Red { average, gentle, wait, ..Red::from_params(&Params::default()).unwrap() };
            if let Some(p_b) = red.base_probability() {
                prop_assert!(p_b <= ONE);
                prop_assert!(red.spread(p_b, count) <= ONE);
            }
        }

        /// Repeated squaring approximates the power: 0.998^m within 10^-6.
        #[test]
        fn powers_are_right(m in 0u32..10_000) {
            let expected = airfair_units::math::pow(0.998, f64::from(m));
            let found = power(fixed(0.998), u64::from(m)) as f64 / ONE as f64;
            prop_assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
    }
}
