//! The retransmission time-out from measured round-trip times (RFC 6298 section 2, weights of RFC 7323 section 4.2).
//!
//! The slow timer of 4.4BSD is one of the clocks: `tcp_slowtimo` (`netinet/tcp_timer.c`) runs twice a second, decrements every running
//! timer and increments every segment's time; `tcp_xmit_timer` (`netinet/tcp_input.c`) smooths these counts from origin 0, but the first
//! one from origin 1; the time-out is at least two ticks (`t_rttmin`). The averages here are kept in nanoseconds; only their sum is
//! truncated to ticks. Those of 4.4BSD lose fractions, which keeps the time-out of a short path at three ticks; its successors do not.

use airfair_units::{Span, Time};

use crate::{TcpConfig, TickMode};

/// The averages before a time-out: SRTT_prev and RTTVAR_prev of RFC 4015.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Before {
    smoothed: Option<Span>,
    variation: Span,
}

/// Smoothed round-trip time, its variation, and the resulting time-out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RttEstimator {
    smoothed: Option<Span>,
    variation: Span,
    rto: Span,
    backoffs: u32,
    smallest: Option<Span>,
    /// Time from the last tick before the run to the start of the run, for [`TickMode::Bsd`].
    phase: Span,
    /// The segment whose round-trip time is measured: its end and its departure.
    timing: Option<(u64, Time)>,
}

impl RttEstimator {
    /// The state before the first measurement (RFC 6298 section 2.1).
    pub(crate) fn new(config: &TcpConfig) -> Self {
        Self {
            smoothed: None,
            variation: Span::ZERO,
            rto: config.ticks(config.initial_rto),
            backoffs: 0,
            smallest: None,
            phase: Span::ZERO,
            timing: None,
        }
    }

    /// A segment that ends at `end` has departed: it is measured, unless another one is.
    #[inline(always)]
    pub(crate) fn start_timing(&mut self, end: u64, now: Time) {
        self.timing.get_or_insert((end, now));
    }

    /// Departure of the measured segment, if everything below `una` includes it; then the next one may be measured.
    #[inline(always)]
    pub(crate) fn timed(&mut self, una: u64) -> Option<Time> {
        self.timing.take_if(|&mut (end, _)| una >= end).map(|(_, sent_at)| sent_at)
    }

    /// No segment is measured any more.
    pub(crate) fn end_timing(&mut self) {
        self.timing = None;
    }

    /// No segment that ends after `seq` is measured any more.
    pub(crate) fn end_timing_after(&mut self, seq: u64) {
        self.timing = self.timing.filter(|&(end, _)| end <= seq);
    }

    /// Sets the clock's phase: its first tick comes a tick less `phase` after the start of the run.
    pub(crate) fn set_phase(&mut self, phase: Span) {
        self.phase = phase;
    }

    /// Ticks of the clock up to a moment.
    fn ticks_to(&self, at: Time, config: &TcpConfig) -> u128 {
        (u128::from(at.0) + u128::from(self.phase.0)) / u128::from(config.tick.0)
    }

    /// A round-trip time that ends now, as the clock measures it.
    pub(crate) fn measured(&self, now: Time, rtt: Span, config: &TcpConfig) -> Span {
        match config.tick_mode {
            TickMode::RoundUp => config.ticks(rtt),
            TickMode::Bsd => {
                let begin = Time(now.0.saturating_sub(rtt.0));
                let ticks = self.ticks_to(now, config) - self.ticks_to(begin, config);
                Span(u64::try_from(ticks * u128::from(config.tick.0)).unwrap_or(u64::MAX))
            }
        }
    }

    /// A round-trip time as laws receive it: under 4.4BSD, laws that need one (Vegas) read a finer clock than the timers.
    pub(crate) fn law_rtt(&self, rtt: Span, config: &TcpConfig) -> Span {
        match config.tick_mode {
            TickMode::RoundUp => config.ticks(rtt),
            TickMode::Bsd => rtt,
        }
    }

    /// Expiry of the time-out, back-off included, if it starts now.
    pub(crate) fn expiry(&self, now: Time, config: &TcpConfig) -> Time {
        self.expiry_after(self.backoffs, now, config)
    }

    /// Expiry of the time-out, doubled `times` times, if it starts now.
    pub(crate) fn expiry_after(&self, times: u32, now: Time, config: &TcpConfig) -> Time {
        let span = self.rto_after(times, config);
        match config.tick_mode {
            TickMode::RoundUp => now.saturating_add(span),
            TickMode::Bsd => {
                let tick = u128::from(config.tick.0);
                let at = (self.ticks_to(now, config) + (u128::from(span.0) / tick).max(1)) * tick;
                Time(u64::try_from(at - u128::from(self.phase.0)).unwrap_or(u64::MAX))
            }
        }
    }

    /// Adds a measurement as [`Self::measured`], one of `per_round` in a round trip (RFC 6298 sections 2.2 and 2.3). It ends the back-off,
    /// since each measurement belongs to one transmission (Karn, or timestamps; RFC 6298 section 5, last note).
    pub(crate) fn sample(&mut self, rtt: Span, per_round: u64, config: &TcpConfig) {
        match self.smoothed {
            None => {
                let origin = if config.tick_mode == TickMode::Bsd { config.tick } else { Span::ZERO };
                let rtt = Span(rtt.0.saturating_add(origin.0));
                self.smoothed = Some(rtt);
                self.variation = Span(rtt.0 / 2);
            }
            Some(smoothed) => {
                // beta is 1/4 and alpha 1/8, each shared by the measurements of a round trip (RFC 7323 appendix G).
                let per_round = per_round.max(1);
                let deviation = Span(smoothed.0.abs_diff(rtt.0));
                self.variation = move_towards(self.variation, deviation, 4 * per_round);
                self.smoothed = Some(move_towards(smoothed, rtt, 8 * per_round));
            }
        }
        self.set_rto(config);
        self.backoffs = 0;
    }

    /// Sets the time-out from the averages (RFC 6298 section 2.3).
    #[inline(always)]
    fn set_rto(&mut self, config: &TcpConfig) {
        let (smoothed, spread) = (self.smoothed.unwrap_or_default().0, self.variation.0.saturating_mul(4));
        let sum = match config.tick_mode {
            TickMode::RoundUp => {
                let least = if config.min_rto_beyond_rtt { config.min_rto.0 } else { 0 };
                smoothed.saturating_add(spread.max(config.tick.0).max(least))
            }
            // Fractions of a tick are truncated.
            TickMode::Bsd => smoothed.saturating_add(spread) / config.tick.0 * config.tick.0,
        };
        self.rto = config.ticks(Span(sum).max(config.min_rto));
    }

    /// The averages now, as a spurious time-out needs them later (RFC 4015: two ticks are added to the smoothed round-trip time).
    pub(crate) fn before(&self, config: &TcpConfig) -> Before {
        let margin = config.tick.0.saturating_mul(2);
        let smoothed = self.smoothed.map(|smoothed| Span(smoothed.0.saturating_add(margin)));
        Before { smoothed, variation: self.variation }
    }

    /// Adds the first measurement of data that were sent after a spurious time-out was detected: the time-out becomes conservative, so that
    /// the next delay of that kind causes none (RFC 4015).
    pub(crate) fn settle(&mut self, before: &Before, rtt: Span, config: &TcpConfig) {
        self.smoothed = Some(before.smoothed.map_or(rtt, |smoothed| smoothed.max(rtt)));
        self.variation = before.variation.max(Span(rtt.0 / 2));
        self.set_rto(config);
        self.backoffs = 0;
    }

    /// Number of doublings of the time-out.
    pub(crate) fn backoffs(&self) -> u32 {
        self.backoffs
    }

    /// Takes back the doublings of a spurious time-out.
    pub(crate) fn restore_backoffs(&mut self, before: u32) {
        self.backoffs = self.backoffs.min(before);
    }

    /// Updates the shortest round-trip time; called for the newest acknowledged segment if it was sent once, and for the SYN.
    pub(crate) fn observe(&mut self, rtt: Span) {
        self.smallest = Some(self.smallest.map_or(rtt, |smallest| smallest.min(rtt)));
    }

    /// Doubles the time-out after an expiry of the timer (RFC 6298 section 5.5).
    pub(crate) fn back_off(&mut self) {
        self.backoffs = self.backoffs.saturating_add(1);
    }

    /// Start of data after a lost SYN: ends the back-off and raises the time-out to `rto_after_syn_loss`, unless a round-trip time was
    /// measured (RFC 6298 section 5.7).
    pub(crate) fn raise_after_syn_loss(&mut self, config: &TcpConfig) {
        self.backoffs = 0;
        if self.smoothed.is_none() {
            self.rto = self.rto.max(config.ticks(config.rto_after_syn_loss));
        }
    }

    /// The time-out, doubled for each expiry of the timer (RFC 6298 sections 2.5 and 5.5).
    pub(crate) fn rto(&self, config: &TcpConfig) -> Span {
        self.rto_after(self.backoffs, config)
    }

    /// The time-out doubled `times` times, up to its upper bound.
    pub(crate) fn rto_after(&self, times: u32, config: &TcpConfig) -> Span {
        let factor = 1u64.checked_shl(times).unwrap_or(u64::MAX);
        Span(self.rto.0.saturating_mul(factor)).min(config.max_rto)
    }

    /// SRTT of RFC 6298.
    pub(crate) fn smoothed(&self) -> Option<Span> {
        self.smoothed
    }

    /// RTTVAR of RFC 6298.
    pub(crate) fn variation(&self) -> Span {
        self.variation
    }

    /// The shortest measured round-trip time.
    pub(crate) fn smallest(&self) -> Option<Span> {
        self.smallest
    }
}

/// `old` plus one part in `parts` of its difference to `new`, rounded down.
fn move_towards(old: Span, new: Span, parts: u64) -> Span {
    let sum = u128::from(old.0) * u128::from(parts - 1) + u128::from(new.0);
    Span((sum / u128::from(parts)) as u64)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

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

    /// `tcpi_rtt` and `tcpi_rto` of eight connections of Linux 5.4, microseconds (Flent's file
    /// `batch-sce-s9-bidir-asym-1mbit-ns-cubic-sce-lfq_cobalt-1Mbit-10Mbit-20ms` of 2020): the time-out is 200 ms beyond, rounded up to the
    /// kernel's clock of 1 ms.
    #[test]
    fn under_linux_the_least_time_out_is_a_distance_from_the_round_trip_time() {
        let linux = TcpConfig {
            min_rto: Span::from_millis(200),
            min_rto_beyond_rtt: true,
            tick: Span::from_micros(1),
            ..TcpConfig::default()
        };
        for (srtt, rto) in [
            (25_285, 226_000),
            (24_290, 225_000),
            (32_254, 233_000),
            (22_374, 223_000),
            (90_276, 291_000),
            (100_498, 301_000),
            (105_514, 306_000),
            (104_992, 305_000),
        ] {
            let time_out = |config: &TcpConfig| {
                let mut rtt = RttEstimator::new(config);
                (0..3).for_each(|_| rtt.sample(Span::from_micros(srtt), 1, config));
                assert_eq!(rtt.smoothed(), Some(Span::from_micros(srtt)));
                rtt.rto(config).0 / 1000
            };
            assert_eq!(time_out(&linux).next_multiple_of(1000), rto, "{srtt}");
            let floor = TcpConfig { min_rto_beyond_rtt: false, ..linux };
            assert!(time_out(&floor) <= 225_000, "RFC 6298 section 2.4: {srtt}");
        }
        // A larger variation counts as ever: 500 + 4 * 250.
        let mut rtt = RttEstimator::new(&linux);
        rtt.sample(Span::from_millis(500), 1, &linux);
        assert_eq!(rtt.rto(&linux), Span::from_millis(1500));
    }

    #[test]
    fn many_measurements_in_a_round_weigh_less() {
        let mut rtt = RttEstimator::new(&config());
        rtt.sample(Span::from_millis(100), 1, &config());
        // With four measurements per round trip: RTTVAR = (15 * 50 + 80) / 16 = 51.875, SRTT = (31 * 100 + 180) / 32 = 102.5.
        rtt.sample(Span::from_millis(180), 4, &config());
        assert_eq!(rtt.smoothed(), Some(Span::from_micros(102_500)));
        assert_eq!(rtt.variation(), Span::from_micros(51_875));
    }

    #[test]
    fn the_tick_is_the_least_margin_and_rounds_up() {
        let coarse = TcpConfig { tick: Span::from_millis(10), ..config() };
        let mut rtt = RttEstimator::new(&coarse);
        for _ in 0..200 {
            let counted = rtt.measured(Time(1_000_000_000), Span::from_millis(91), &coarse);
            rtt.sample(counted, 1, &coarse);
        }
        // Each round-trip time is measured as 100 ms: the variation decays, and G remains.
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
    fn after_a_lost_syn_data_start_with_three_seconds() {
        let mut rtt = RttEstimator::new(&config());
        rtt.back_off();
        rtt.raise_after_syn_loss(&config());
        assert_eq!(rtt.rto(&config()), Span::from_secs(3));
        let long = TcpConfig { initial_rto: Span::from_secs(4), ..config() };
        let mut rtt = RttEstimator::new(&long);
        rtt.raise_after_syn_loss(&long);
        assert_eq!(rtt.rto(&long), Span::from_secs(4), "a longer one stays");
        let mut rtt = RttEstimator::new(&config());
        rtt.sample(Span::from_millis(100), 1, &config());
        rtt.raise_after_syn_loss(&config());
        assert_eq!(rtt.rto(&config()), Span::from_millis(300), "what was measured counts");
    }

    /// A tick of half a second, as in 4.4BSD; ticks at 0.2 s, 0.7 s, 1.2 s, ...
    fn slow(min_rto_ms: u64) -> (TcpConfig, RttEstimator) {
        let tick = Span::from_millis(500);
        let config = TcpConfig {
            tick,
            tick_mode: TickMode::Bsd,
            min_rto: Span::from_millis(min_rto_ms),
            initial_rto: Span::from_secs(6),
            ..TcpConfig::default()
        };
        let mut rtt = RttEstimator::new(&config);
        rtt.set_phase(Span::from_millis(300));
        (config, rtt)
    }

    const fn at(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    #[test]
    fn the_slow_timer_counts_its_ticks() {
        let (config, rtt) = slow(1000);
        let counted = |from, to| rtt.measured(at(to), Span::from_millis(to - from), &config).0 / 500_000_000;
        assert_eq!((counted(0, 199), counted(0, 200), counted(199, 201)), (0, 1, 1));
        assert_eq!((counted(200, 699), counted(200, 700), counted(0, 1700)), (0, 1, 4));
        assert_eq!(rtt.law_rtt(Span::from_millis(3), &config), Span::from_millis(3));
    }

    /// A timer of n ticks expires at the n-th tick: two ticks take more than 0.5 s and at most 1 s.
    #[test]
    fn the_slow_timer_fires_at_ticks() {
        let (config, mut rtt) = slow(1000);
        // 12 ticks before the first measurement: the twelfth after 0.3 s is at 6.2 s (the first at 0.7 s).
        assert_eq!(rtt.expiry(at(300), &config), at(6200));
        // One tick from origin 1, variation half of it: 1 + 4 / 2 = 3 ticks.
        rtt.sample(Span::ZERO, 1, &config);
        assert_eq!((rtt.rto(&config), rtt.expiry(at(300), &config)), (Span::from_millis(1500), at(1700)));
        // Then from origin 0: 7/8 of a tick, and a variation of 3/8 + 1/4 = 5/8 of a tick, make 3.375, truncated to 3.
        rtt.sample(Span::ZERO, 1, &config);
        assert_eq!(rtt.rto(&config), Span::from_millis(1500));
        for _ in 0..40 {
            rtt.sample(Span::ZERO, 1, &config);
        }
        assert_eq!(rtt.rto(&config), Span::from_secs(1), "two ticks are the least");
        for (now, fires) in [(200, 1200), (201, 1200), (450, 1200), (699, 1200), (700, 1700)] {
            assert_eq!(rtt.expiry(at(now), &config), at(fires), "{now}");
        }
        assert_eq!(rtt.expiry_after(1, at(450), &config), at(2200), "four ticks");
    }

    #[test]
    fn a_slow_timer_never_expires_at_its_start() {
        let (config, mut rtt) = slow(0);
        for _ in 0..100 {
            rtt.sample(Span::ZERO, 1, &config);
        }
        assert_eq!((rtt.expiry(at(200), &config), rtt.expiry(at(699), &config)), (at(700), at(700)));
        assert_eq!(rtt.expiry(Time(u64::MAX - 1), &config), Time(u64::MAX));
    }

    #[test]
    fn the_shortest_round_trip_time_is_kept() {
        let mut rtt = RttEstimator::new(&config());
        for ms in [30, 20, 40] {
            rtt.observe(Span::from_millis(ms));
        }
        assert_eq!(rtt.smallest(), Some(Span::from_millis(20)));
    }
}
