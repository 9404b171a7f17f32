//! The retransmission time-out from measured round-trip times (RFC 6298 section 2, weights of RFC 7323 section 4.2).

use airfair_units::Span;

use crate::TcpConfig;

/// Smoothed round-trip time, its variation, and the time-out made of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RttEstimator {
    smoothed: Option<Span>,
    variation: Span,
    rto: Span,
    backoffs: u32,
    smallest: Option<Span>,
}

impl RttEstimator {
    /// Nothing was measured yet (RFC 6298 section 2.1).
    pub(crate) fn new(config: &TcpConfig) -> Self {
        Self {
            smoothed: None,
            variation: Span::ZERO,
            rto: config.ticks(config.initial_rto),
            backoffs: 0,
            smallest: None,
        }
    }

    /// Counts a measurement, one of `per_round` in a round trip (RFC 6298 sections 2.2 and 2.3). It ends the back-off, since
    /// only data that were not sent again are measured (Karn; RFC 6298 section 5, last note).
    pub(crate) fn sample(&mut self, rtt: Span, per_round: u64, config: &TcpConfig) {
        let rtt = config.ticks(rtt);
        match self.smoothed {
            None => {
                self.smoothed = Some(rtt);
                self.variation = Span(rtt.0 / 2);
            }
            Some(smoothed) => {
                // beta is 1/4 and alpha 1/8, each shared by the measurements of a round trip (RFC 7323 appendix G).
                let per_round = per_round.max(1);
                let deviation = Span(smoothed.0.abs_diff(rtt.0));
                self.variation = toward(self.variation, deviation, 4 * per_round);
                self.smoothed = Some(toward(smoothed, rtt, 8 * per_round));
            }
        }
        let smoothed = self.smoothed.unwrap_or(rtt).0;
        let margin = config.tick.0.max(self.variation.0.saturating_mul(4));
        self.rto = config.ticks(Span(smoothed.saturating_add(margin)).max(config.min_rto));
        self.backoffs = 0;
    }

    /// Remembers the shortest round trip: of every segment that may be measured.
    pub(crate) fn observe(&mut self, rtt: Span) {
        self.smallest = Some(self.smallest.map_or(rtt, |smallest| smallest.min(rtt)));
    }

    /// The timer expired (RFC 6298 section 5.5).
    pub(crate) fn back_off(&mut self) {
        self.backoffs = self.backoffs.saturating_add(1);
    }

    /// Data begin after the SYN was lost (RFC 6298 section 5.7); a measurement by timestamps counts more.
    pub(crate) fn begin_after_syn_loss(&mut self, config: &TcpConfig) {
        self.backoffs = 0;
        if self.smoothed.is_none() {
            self.rto = self.rto.max(config.ticks(config.rto_after_syn_loss));
        }
    }

    /// The time-out, backed off as often as the timer has expired (RFC 6298 sections 2.5 and 5.5).
    pub(crate) fn rto(&self, config: &TcpConfig) -> Span {
        self.rto_after(self.backoffs, config)
    }

    /// The time-out doubled `times` times, within its upper bound.
    pub(crate) fn rto_after(&self, times: u32, config: &TcpConfig) -> Span {
        let factor = 1u64.checked_shl(times).unwrap_or(u64::MAX);
        Span(self.rto.0.saturating_mul(factor)).min(config.max_rto)
    }

    /// RFC 6298's SRTT.
    pub(crate) fn smoothed(&self) -> Option<Span> {
        self.smoothed
    }

    /// RFC 6298's RTTVAR.
    pub(crate) fn variation(&self) -> Span {
        self.variation
    }

    /// The shortest measured.
    pub(crate) fn smallest(&self) -> Option<Span> {
        self.smallest
    }
}

/// `old` moved by one part in `parts` of its distance to `new`, rounded down.
fn toward(old: Span, new: Span, parts: u64) -> Span {
    let sum = u128::from(old.0) * u128::from(parts - 1) + u128::from(new.0);
    Span((sum / u128::from(parts)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> TcpConfig {
        TcpConfig { min_rto: Span(1), ..TcpConfig::default() }
    }

    fn millis(rtt: &RttEstimator) -> (u64, u64, u64) {
        let ms = |span: Span| span.0 / 1_000_000;
        (ms(rtt.smoothed().unwrap_or_default()), ms(rtt.variation()), ms(rtt.rto(&config())))
    }

    #[test]
    fn two_measurements_by_hand() {
        let mut rtt = RttEstimator::new(&config());
        assert_eq!(rtt.rto(&config()), Span::from_secs(1));
        // SRTT = 100, RTTVAR = 50, RTO = 100 + 4 * 50.
        rtt.sample(Span::from_millis(100), 1, &config());
        assert_eq!(millis(&rtt), (100, 50, 300));
        // RTTVAR = 3/4 * 50 + 1/4 * |100 - 180| = 57.5, SRTT = 7/8 * 100 + 1/8 * 180 = 110, RTO = 110 + 230.
        rtt.sample(Span::from_millis(180), 1, &config());
        assert_eq!(millis(&rtt), (110, 57, 340));
    }

    #[test]
    fn many_measurements_in_a_round_weigh_less() {
        let mut rtt = RttEstimator::new(&config());
        rtt.sample(Span::from_millis(100), 1, &config());
        // With four a round: RTTVAR = (15 * 50 + 80) / 16 = 51.875, SRTT = (31 * 100 + 180) / 32 = 102.5.
        rtt.sample(Span::from_millis(180), 4, &config());
        assert_eq!(rtt.smoothed(), Some(Span::from_micros(102_500)));
        assert_eq!(rtt.variation(), Span::from_micros(51_875));
    }

    #[test]
    fn the_tick_is_the_least_margin_and_rounds_up() {
        let coarse = TcpConfig { tick: Span::from_millis(10), ..config() };
        let mut rtt = RttEstimator::new(&coarse);
        for _ in 0..200 {
            rtt.sample(Span::from_millis(91), 1, &coarse);
        }
        // Each is measured as 100 ms, the variation fades, and G remains.
        assert_eq!(rtt.smoothed(), Some(Span::from_millis(100)));
        assert_eq!(rtt.rto(&coarse), Span::from_millis(110));
    }

    #[test]
    fn bounds_hold_and_back_off_doubles() {
        let config = TcpConfig { max_rto: Span::from_secs(5), ..TcpConfig::default() };
        let mut rtt = RttEstimator::new(&config);
        rtt.sample(Span::from_millis(10), 1, &config);
        assert_eq!(rtt.rto(&config), Span::from_secs(1), "the lower bound");
        let mut seen = Vec::new();
        for _ in 0..4 {
            rtt.back_off();
            seen.push(rtt.rto(&config).0 / 1_000_000_000);
        }
        assert_eq!(seen, [2, 4, 5, 5]);
        for _ in 0..100 {
            rtt.back_off();
        }
        assert_eq!(rtt.rto(&config), Span::from_secs(5));
        rtt.sample(Span::from_millis(10), 1, &config);
        assert_eq!(rtt.rto(&config), Span::from_secs(1), "a measurement ends the back-off");
    }

    #[test]
    fn after_a_lost_syn_data_begin_with_three_seconds() {
        let mut rtt = RttEstimator::new(&config());
        rtt.back_off();
        rtt.begin_after_syn_loss(&config());
        assert_eq!(rtt.rto(&config()), Span::from_secs(3));
        let long = TcpConfig { initial_rto: Span::from_secs(4), ..config() };
        let mut rtt = RttEstimator::new(&long);
        rtt.begin_after_syn_loss(&long);
        assert_eq!(rtt.rto(&long), Span::from_secs(4), "a longer one stays");
        let mut rtt = RttEstimator::new(&config());
        rtt.sample(Span::from_millis(100), 1, &config());
        rtt.begin_after_syn_loss(&config());
        assert_eq!(rtt.rto(&config()), Span::from_millis(300), "what was measured counts");
    }

    #[test]
    fn the_shortest_is_kept() {
        let mut rtt = RttEstimator::new(&config());
        for ms in [30, 20, 40] {
            rtt.observe(Span::from_millis(ms));
        }
        assert_eq!(rtt.smallest(), Some(Span::from_millis(20)));
    }
}
