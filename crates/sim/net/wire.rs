//! Wired links: each direction sends one packet after the other and delivers it a delay later.

use std::collections::VecDeque;

use airfair_units::random::Stream;

/// One direction of a wired link. It has at most two events pending: the end of the packet being sent, and the arrival of
/// the oldest packet in flight.
#[derive(Debug)]
pub(crate) struct Direction {
    /// Port of the sending node.
    pub port: u32,
    /// Node at the far end.
    pub to: u32,
    pub rate_bps: u64,
    pub delay: u64,
    pub loss: f64,
    pub random: Stream,
    pub rank: u32,
    /// The packet being sent.
    pub sending: Option<u64>,
    /// Packets in flight with their times of arrival.
    pub in_flight: VecDeque<(u64, u64)>,
    /// What the last packet's end was early by, in units of 1 ns / rate: nothing is lost by rounding.
    remainder: u64,
}

impl Direction {
    pub(crate) fn new(
        port: u32,
        to: u32,
        rate_bps: u64,
        delay: u64,
        loss: f64,
        random: Stream,
        rank: u32,
    ) -> Self {
        Self {
            port,
            to,
            rate_bps,
            delay,
            loss,
            random,
            rank,
            sending: None,
            in_flight: VecDeque::new(),
            remainder: 0,
        }
    }

    /// How long `bytes` take, in whole ns; the rest is carried over while the link stays busy.
    pub(crate) fn serialise(&mut self, bytes: u64, back_to_back: bool) -> u64 {
        if !back_to_back {
            self.remainder = 0;
        }
        let total = u128::from(bytes) * 8 * 1_000_000_000 + u128::from(self.remainder);
        let rate = u128::from(self.rate_bps);
        self.remainder = (total % rate) as u64;
        u64::try_from(total / rate).unwrap_or(u64::MAX >> 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airfair_units::random::Purpose;

    #[test]
    fn nothing_is_lost_by_rounding() {
        let random = Stream::new(1, "x", Purpose::LinkLoss);
        let mut link = Direction::new(0, 1, 3_000_000_000, 0, 0.0, random, 0);
        // 1 byte at 3 Gbit/s takes 8/3 ns: three of them take 8 ns.
        let times: Vec<u64> = (0..3).map(|i| link.serialise(1, i > 0)).collect();
        assert_eq!(times.iter().sum::<u64>(), 8, "{times:?}");
        assert_eq!(times, [2, 3, 3]);
        // After an idle time counting starts anew.
        assert_eq!(link.serialise(1, false), 2);
    }
}
