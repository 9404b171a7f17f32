//! Proportional rate reduction (RFC 6937): the sending rate in a recovery is such that the data in flight equal the
//! reduced window at its end.

/// Counters of one recovery, bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prr {
    /// RecoverFS of RFC 6937: FlightSize at the detection of the loss.
    flight: u64,
    /// prr_delivered: bytes delivered since then.
    delivered: u64,
    /// prr_out: bytes sent since then.
    sent: u64,
}

impl Prr {
    /// Starts a recovery with `flight` bytes outstanding.
    pub(crate) fn new(flight: u64) -> Self {
        Self { flight: flight.max(1), delivered: 0, sent: 0 }
    }

    /// Records that `bytes` were sent.
    pub(crate) fn on_sent(&mut self, bytes: u64) {
        self.sent = self.sent.saturating_add(bytes);
    }

    /// The window until the next acknowledgement: `pipe` plus the bytes that may be sent (RFC 6937 section 3, slow-start reduction bound),
    /// after an acknowledgement that delivered `delivered` bytes.
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
    fn half_of_the_delivered_bytes_are_sent_while_the_pipe_is_full() {
        // 20 segments of 1000 bytes, the target window is 10: one segment is sent for every two delivered.
        let mut prr = Prr::new(20_000);
        assert_eq!(prr.window(1_000, 18_000, 10_000, 1_000), 18_500, "1000 * 10 / 20");
        assert_eq!(prr.window(1_000, 17_000, 10_000, 1_000), 18_000);
        prr.on_sent(1_000);
        assert_eq!(prr.window(1_000, 17_000, 10_000, 1_000), 17_500);
        // 3001 delivered: 3001 * 10000 / 20000 = 1500.5, rounded up, less 1000.
        assert_eq!(prr.window(1, 17_000, 10_000, 1_000), 17_501);
    }

    #[test]
    fn below_its_target_the_pipe_grows_as_in_slow_start() {
        let mut prr = Prr::new(20_000);
        // Delivered 1000, sent 0: 1000 and one segment more may be sent.
        assert_eq!(prr.window(1_000, 5_000, 10_000, 1_000), 7_000);
        prr.on_sent(2_000);
        // Delivered 2000 and sent 2000 in total: the bytes delivered by this acknowledgement and one segment.
        assert_eq!(prr.window(1_000, 6_000, 10_000, 1_000), 8_000);
        // Never beyond the target; no byte when the target is reached.
        assert_eq!(Prr::new(20_000).window(9_000, 10_000, 10_000, 1_000), 10_000);
        assert_eq!(prr.window(9_000, 9_500, 10_000, 1_000), 10_000);
    }
}
