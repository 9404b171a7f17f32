//! Proportional rate reduction (RFC 6937): while losses are repaired, as much leaves as fits to the window at the end.

/// The counters of one recovery, bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prr {
    /// RFC 6937's RecoverFS: FlightSize when the loss was noticed.
    flight: u64,
    /// Delivered since then.
    delivered: u64,
    /// Sent since then.
    sent: u64,
}

impl Prr {
    /// A recovery begins with `flight` bytes outstanding.
    pub(crate) fn new(flight: u64) -> Self {
        Self { flight: flight.max(1), delivered: 0, sent: 0 }
    }

    /// `bytes` left.
    pub(crate) fn on_sent(&mut self, bytes: u64) {
        self.sent = self.sent.saturating_add(bytes);
    }

    /// The window until the next acknowledgement, `pipe` and what may leave now (RFC 6937 section 3, slow-start
    /// reduction bound), after an acknowledgement that delivered `delivered` bytes.
    pub(crate) fn window(&mut self, delivered: u64, pipe: u64, ssthresh: u64, mss: u64) -> u64 {
        self.delivered = self.delivered.saturating_add(delivered);
        let allowed = if pipe > ssthresh {
            let share = u128::from(self.delivered) * u128::from(ssthresh);
            let share = share.div_ceil(u128::from(self.flight));
            u64::try_from(share).unwrap_or(u64::MAX).saturating_sub(self.sent)
        } else {
            let limit = self.delivered.saturating_sub(self.sent).max(delivered).saturating_add(mss);
            limit.min(ssthresh - pipe)
        };
        pipe.saturating_add(allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_what_is_delivered_leaves_while_the_pipe_is_full() {
        // 20 segments of 1000 bytes, the window shall be 10: one for two.
        let mut prr = Prr::new(20_000);
        assert_eq!(prr.window(1_000, 18_000, 10_000, 1_000), 18_500, "1000 * 10 / 20");
        assert_eq!(prr.window(1_000, 17_000, 10_000, 1_000), 18_000);
        prr.on_sent(1_000);
        assert_eq!(prr.window(1_000, 17_000, 10_000, 1_000), 17_500);
        // 3001 delivered: 3001 * 10000 / 20000 = 1500.5, rounded up, less 1000.
        assert_eq!(prr.window(1, 17_000, 10_000, 1_000), 17_501);
    }

    #[test]
    fn below_its_aim_the_pipe_grows_as_in_slow_start() {
        let mut prr = Prr::new(20_000);
        // Delivered 1000, sent 0: 1000 and one segment more.
        assert_eq!(prr.window(1_000, 5_000, 10_000, 1_000), 7_000);
        prr.on_sent(2_000);
        // Delivered in all 2000, sent 2000: what this one delivered and one segment.
        assert_eq!(prr.window(1_000, 6_000, 10_000, 1_000), 8_000);
        // But never beyond the aim, and nothing when it is there.
        assert_eq!(Prr::new(20_000).window(9_000, 10_000, 10_000, 1_000), 10_000);
        assert_eq!(prr.window(9_000, 9_500, 10_000, 1_000), 10_000);
    }
}
