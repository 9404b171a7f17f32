//! The throughput equation of TCP [RFC 5348 §3.1]: the rate of a TCP flow with the same loss event rate and round-trip time.

use airfair_units::math;

/// The quantities of the equation beside the loss event rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Path {
    /// s, segment size, bytes.
    pub segment: f64,
    /// R, round-trip time, s.
    pub rtt: f64,
    /// The least t_RTO, s.
    pub least_rto: f64,
    /// b, packets that TCP acknowledges with one acknowledgement.
    pub per_ack: f64,
}

impl Path {
    /// t_RTO = 4 R, at least `least_rto`, s.
    #[must_use]
    pub fn rto(&self) -> f64 {
        (4.0 * self.rtt).max(self.least_rto)
    }

    /// X_Bps at a loss event rate, bytes/s; infinite for a rate of 0.
    #[must_use]
    pub fn rate(&self, loss: f64) -> f64 {
        let b = self.per_ack;
        let loss = loss.clamp(0.0, 1.0);
        let first = self.rtt * math::sqrt(2.0 * b * loss / 3.0);
        let timeouts =
            self.rto() * (3.0 * math::sqrt(3.0 * b * loss / 8.0)) * loss * (1.0 + 32.0 * loss * loss);
        self.segment / (first + timeouts)
    }

    /// The loss event rate at which the equation gives this rate, bytes/s; 1 if even that gives more.
    #[must_use]
    pub fn loss(&self, rate: f64) -> f64 {
        // The rate falls as the loss event rate rises: halving the interval of its logarithm 60 times is exact to 1e-16.
        let (mut low, mut high) = (-40.0, 0.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if self.rate(math::exp(middle)) > rate { low = middle } else { high = middle }
        }
        math::exp(high)
    }
}
