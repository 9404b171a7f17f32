//! The notifications received from neighbours: the largest normalizedP_b, until it expires [NRED §5.2].

use airfair_units::Time;

use crate::places::NodeId;

/// The notification that holds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stored {
    from: NodeId,
    normalized: f64,
    until: Time,
}

/// The notifications received.
#[derive(Debug, Clone, Default)]
pub struct Heard {
    stored: Option<Stored>,
    /// The largest normalizedP_b since this node's last check.
    largest_heard: f64,
}

impl Heard {
    /// Adds a notification: the largest holds; the sender of the one that holds may raise or lower it.
    pub fn take(&mut self, from: NodeId, normalized: f64, until: Time, now: Time) {
        self.largest_heard = self.largest_heard.max(normalized);
        self.take_own(from, normalized, until, now);
    }

    /// Adds the node's own notification, which does not count among those that keep the node from sending one.
    pub fn take_own(&mut self, from: NodeId, normalized: f64, until: Time, now: Time) {
        self.expire(now);
        if self.stored.is_none_or(|s| s.from == from || normalized > s.normalized) {
            self.stored = Some(Stored { from, normalized, until });
        }
    }

    /// The normalizedP_b that holds now; 0 after the lifetime.
    pub fn normalized(&mut self, now: Time) -> f64 {
        self.expire(now);
        self.stored.map_or(0.0, |s| s.normalized)
    }

    /// normalizedP_b of the notification that is stored, whether or not its lifetime is over.
    #[must_use]
    pub fn held(&self) -> f64 {
        self.stored.map_or(0.0, |s| s.normalized)
    }

    /// The end of the lifetime of the notification that is stored.
    #[must_use]
    pub fn until(&self) -> Option<Time> {
        self.stored.map(|s| s.until)
    }

    /// The largest normalizedP_b received since the last call.
    pub fn take_largest(&mut self) -> f64 {
        core::mem::take(&mut self.largest_heard)
    }

    fn expire(&mut self, now: Time) {
        self.stored = self.stored.filter(|s| now < s.until);
    }
}
