//! The detection of congestion in the neighbourhood, and the decision whether this node sends a notification [NRED §5.2].

use super::Nred;
use super::accounting::Shares;

/// The congestion of the neighbourhood.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Congestion {
    /// The drop probability p_b of the neighbourhood's queue.
    pub p_b: f64,
    /// normalizedP_b: p_b divided by the average index; 1 from max_th on.
    pub normalized: f64,
}

/// Algorithm 5.1 and the four conditions.
#[derive(Debug, Clone)]
pub struct Detector {
    min_th: f64,
    max_th: f64,
    max_p: f64,
    theta: f64,
}

impl Detector {
    /// A detector with a run's parameters.
    #[must_use]
    pub fn new(nred: &Nred) -> Self {
        Self { min_th: nred.min_th, max_th: nred.max_th, max_p: nred.max_p, theta: nred.theta }
    }

    /// p_b and normalizedP_b of an average index (Algorithm 5.1).
    #[must_use]
    pub fn congestion(&self, avg: f64) -> Congestion {
        if avg < self.min_th {
            Congestion::default()
        } else if avg < self.max_th {
            let p_b = self.max_p * (avg - self.min_th) / (self.max_th - self.min_th);
            Congestion { p_b, normalized: if avg > 0.0 { p_b / avg } else { 0.0 } }
        } else {
            Congestion { p_b: 1.0, normalized: 1.0 }
        }
    }

    /// True if the node sends a notification: congestion (i), a flow on whose path the node is (ii), a share of the channel that is too
    /// small (iii), and no node that is worse off, `largest_heard` being the largest normalizedP_b received in the past interval (iv).
    #[must_use]
    pub fn should_notify(
        &self,
        congestion: Congestion,
        shares: Shares,
        on_path: bool,
        largest_heard: f64,
    ) -> bool {
        congestion.p_b > 0.0
            && on_path
            && shares.own() < self.theta * shares.total
            && largest_heard <= congestion.normalized
    }
}
