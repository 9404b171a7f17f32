//! Whether notifications help: a node whose notifications change nothing rests, and its neighbours send at their full rate meanwhile. Ours.

use airfair_units::{Span, Time};

/// Largest factor of the rest after trials in vain.
const LONGEST: u64 = 16;

/// The trials of a node.
#[derive(Debug, Clone)]
pub struct Trial {
    length: Span,
    /// The share of the channel from which a trial has helped.
    enough: f64,
    /// The first rest; zero: the node never rests.
    rest: Span,
    began: Option<Time>,
    helped: bool,
    rests_until: Time,
    /// Trials in vain, one after the other, as a factor of the rest.
    factor: u64,
}

impl Trial {
    /// No trial yet.
    #[must_use]
    pub const fn new(length: Span, enough: f64, rest: Span) -> Self {
        Self { length, enough, rest, began: None, helped: false, rests_until: Time::ZERO, factor: 1 }
    }

    /// The node's part of the use of its channel now.
    pub fn observe(&mut self, share: f64) {
        self.helped |= share >= self.enough;
    }

    /// True if the node may notify now: it is not at rest. A trial that has lasted its time ends here: in vain, a rest follows, twice as
    /// long each time.
    pub fn may_notify(&mut self, now: Time) -> bool {
        if self.rest == Span::ZERO {
            return true;
        }
        if self.began.is_some_and(|began| now >= began.saturating_add(self.length)) {
            self.began = None;
            if self.helped {
                self.factor = 1;
            } else {
                self.rests_until = now.saturating_add(Span(self.rest.0.saturating_mul(self.factor)));
                self.factor = (2 * self.factor).min(LONGEST);
            }
        }
        now >= self.rests_until
    }

    /// The node has notified: a trial begins, if none is under way.
    pub fn notified(&mut self, now: Time) {
        if self.began.is_none() {
            (self.began, self.helped) = (Some(now), false);
        }
    }
}
