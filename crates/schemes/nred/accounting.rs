//! The use of the channel and this node's own part of it, as lengths of queues [NRED §5.1].

use crate::places::NodeSample;

/// `avg`, `avg_tx` and `avg_rx`, in the paper's packets.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Shares {
    /// The neighbourhood's queue.
    pub total: f64,
    /// The part of it that this node sends.
    pub tx: f64,
    /// The part of it that this node receives.
    pub rx: f64,
}

impl Shares {
    /// This node's part, `avg_tx + avg_rx`.
    #[must_use]
    pub fn own(self) -> f64 {
        self.tx + self.rx
    }

    /// The shares of a node that keeps `spare` of the neighbourhood's queue for itself: its own part above `spare avg`, divided between
    /// `tx` and `rx` as the whole is. With 0 they are the shares.
    #[must_use]
    pub fn above(self, spare: f64) -> Self {
        let own = self.own();
        if spare == 0.0 || own <= 0.0 {
            return self;
        }
        let part = (1.0 - spare * self.total / own).max(0.0);
        Self { total: self.total, tx: part * self.tx, rx: part * self.rx }
    }
}

/// The moving averages; they start at 0.
#[derive(Debug, Clone)]
pub struct Accounting {
    weight: f64,
    /// W/C, packets per second of a full channel.
    scale: f64,
    rx_all: bool,
    shares: Shares,
}

impl Accounting {
    /// Averages of 0; `weight` is w_q, `scale` is W/C.
    #[must_use]
    pub fn new(weight: f64, scale: f64, rx_all: bool) -> Self {
        Self { weight, scale, rx_all, shares: Shares::default() }
    }

    /// Adds an interval to the averages: `avg <- (1 - w_q) avg + w_q U W/C` for U_busy (equation 1), U_tx (2) and U_rx (3).
    /// The host counts a received frame for this node when it ends, so in one interval U_rx may be off by a frame; in the
    /// long run it is not.
    pub fn update(&mut self, sample: &NodeSample<'_>) {
        let length = sample.interval.0 as f64;
        if length == 0.0 {
            return;
        }
        let received = if self.rx_all { sample.airtime.receive } else { sample.receive_own };
        let busy = sample.interval.0.saturating_sub(sample.airtime.idle.0);
        let step =
            |avg: f64, ns: u64| (1.0 - self.weight) * avg + self.weight * (ns as f64 / length) * self.scale;
        self.shares = Shares {
            total: step(self.shares.total, busy),
            tx: step(self.shares.tx, sample.airtime.transmit.0),
            rx: step(self.shares.rx, received.0),
        };
    }

    /// The averages.
    #[must_use]
    pub fn shares(&self) -> Shares {
        self.shares
    }
}
