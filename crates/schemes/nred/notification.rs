//! What a node has heard from its neighbours: the largest normalizedP_b, until it expires [NRED §5.2].

use airfair_units::Time;

use crate::places::NodeId;

/// The notification that holds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stored {
    from: NodeId,
    normalized: f64,
    until: Time,
}

/// What was heard.
#[derive(Debug, Clone, Default)]
pub struct Heard {
    stored: Option<Stored>,
    /// The largest since the last check of this node's own.
    loudest: f64,
}

impl Heard {
    /// Takes a notification: the largest is kept; its own sender may change it in both directions.
    pub fn take(&mut self, from: NodeId, normalized: f64, until: Time, now: Time) {
        self.loudest = self.loudest.max(normalized);
        self.take_own(from, normalized, until, now);
    }

    /// Takes the node's own notification, which it has not received: it does not count among those that silence it.
    pub fn take_own(&mut self, from: NodeId, normalized: f64, until: Time, now: Time) {
        self.expire(now);
        if self.stored.is_none_or(|s| s.from == from || normalized > s.normalized) {
            self.stored = Some(Stored { from, normalized, until });
        }
    }

    /// normalizedP_b as it holds now; 0 after the lifetime.
    pub fn normalized(&mut self, now: Time) -> f64 {
        self.expire(now);
        self.stored.map_or(0.0, |s| s.normalized)
    }

    /// normalizedP_b as it was when it was last asked for or taken.
    #[must_use]
    pub fn held(&self) -> f64 {
        self.stored.map_or(0.0, |s| s.normalized)
    }

    /// Until when it holds.
    #[must_use]
    pub fn until(&self) -> Option<Time> {
        self.stored.map(|s| s.until)
    }

    /// The largest heard since the last call.
    pub fn take_loudest(&mut self) -> f64 {
        core::mem::take(&mut self.loudest)
    }

    fn expire(&mut self, now: Time) {
        self.stored = self.stored.filter(|s| now < s.until);
    }
}
