//! The effect of notifications: a node whose notifications change nothing rests, while its neighbours send at their full rate. Ours.

use airfair_units::{Span, Time};

/// Largest factor of the rest after trials in vain.
const LONGEST: u64 = 16;

/// The trials of a node.
#[derive(Debug, Clone)]
pub struct Trial {
    length: Span,
    /// The mean share of the use of the channel from which a trial has helped.
    enough: f64,
    /// The first rest; zero: the node never rests.
    rest: Span,
    began: Option<Time>,
    /// Sums over the samples of the trial: the use of the channel that is to be enough, and the use of which that is a share.
    own: f64,
    total: f64,
    rests_until: Time,
    /// Trials in vain, one after the other, as a factor of the rest.
    factor: u64,
}

impl Trial {
    /// No trial yet.
    #[must_use]
    pub const fn new(length: Span, enough: f64, rest: Span) -> Self {
        Self { length, enough, rest, began: None, own: 0.0, total: 0.0, rests_until: Time::ZERO, factor: 1 }
    }

    /// The use of the channel now: that which is to be enough, and the use of which that is a share.
    pub fn observe(&mut self, own: f64, total: f64) {
        self.own += own;
        self.total += total;
    }

    /// True if the node may act now: it is not at rest. A trial that has lasted its time ends here: in vain, or without a use of the
    /// channel by anybody, a rest follows, twice as
    /// long each time.
    pub fn may_act(&mut self, now: Time) -> bool {
        if self.rest == Span::ZERO {
            return true;
        }
        if self.began.is_some_and(|began| now >= began.saturating_add(self.length)) {
            self.began = None;
            if self.total > 0.0 && self.own >= self.enough * self.total {
                self.factor = 1;
            } else {
                self.rests_until = now.saturating_add(Span(self.rest.0.saturating_mul(self.factor)));
                self.factor = (2 * self.factor).min(LONGEST);
            }
        }
        now >= self.rests_until
    }

    /// The node has acted: a trial begins, if none is under way.
    pub fn acted(&mut self, now: Time) {
        if self.began.is_none() {
            (self.began, self.own, self.total) = (Some(now), 0.0, 0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Time {
        Time(seconds * 1_000_000_000)
    }

    /// Trials of 10 s, help from a share of 0.2, rests of 60 s, 120 s, ...
    fn trial() -> Trial {
        Trial::new(Span::from_secs(10), 0.2, Span::from_secs(60))
    }

    /// A trial from 1 s to 11 s without help: a rest until 71 s; the next one from 75 s to 85 s: until 205 s.
    #[test]
    fn trials_in_vain_are_followed_by_longer_and_longer_rests() {
        let mut trial = trial();
        assert!(trial.may_act(at(1)));
        trial.acted(at(1));
        trial.observe(0.19, 1.0);
        assert!(trial.may_act(at(10)));
        for (now, expected) in [(11, false), (70, false), (71, true)] {
            assert_eq!(trial.may_act(at(now)), expected, "{now} s");
        }
        trial.acted(at(75));
        for (now, expected) in [(84, true), (85, false), (204, false), (205, true)] {
            assert_eq!(trial.may_act(at(now)), expected, "{now} s");
        }
    }

    /// A mean share of 0.2 is enough, of 0.4 and 0.1 in intervals with twice as much use by all, and the next rest is 60 s long again. The
    /// help of one trial does not count in the next. A share of 1 of next to no use is none of 0.2 in the mean.
    #[test]
    fn help_lets_a_node_go_on() {
        let mut trial = trial();
        trial.acted(at(0));
        assert!(!trial.may_act(at(10)));
        trial.acted(at(70));
        trial.observe(40.0, 100.0);
        trial.observe(20.0, 200.0);
        assert!(trial.may_act(at(80)));
        trial.acted(at(80));
        trial.observe(1.0, 1.0);
        trial.observe(0.0, 200.0);
        assert!(!trial.may_act(at(90)) && !trial.may_act(at(149)) && trial.may_act(at(150)));
    }

    #[test]
    fn without_a_rest_nothing_ends() {
        let mut trial = Trial::new(Span::from_secs(10), 0.2, Span::ZERO);
        trial.acted(at(0));
        assert!((0..1000).all(|now| trial.may_act(at(now))));
    }
}
