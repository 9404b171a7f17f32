//! When an acknowledgement leaves (RFC 5681 section 4.2, RFC 9293 section 3.8.6.3).

use airfair_units::Time;

use crate::DelayedAck;

/// Acknowledgements due and held back.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AckPolicy {
    due: bool,
    /// Segments in order since the last acknowledgement left.
    held: u32,
    /// Segments in order so far, as long as that matters.
    seen: u32,
    held_until: Option<Time>,
}

impl AckPolicy {
    /// An acknowledgement is due at once.
    pub(crate) fn send_now(&mut self) {
        self.due = true;
    }

    /// A segment came in order.
    pub(crate) fn on_in_order(&mut self, delayed: Option<DelayedAck>, now: Time) {
        self.held = self.held.saturating_add(1);
        self.seen = self.seen.saturating_add(1);
        match delayed {
            Some(delayed) if self.held < delayed.segments && self.seen > delayed.quick => {
                self.held_until.get_or_insert(now.saturating_add(delayed.timeout));
            }
            _ => self.due = true,
        }
    }

    /// Whether one leaves now; what was held back goes with it.
    pub(crate) fn take(&mut self) -> bool {
        if self.due {
            (self.due, self.held, self.held_until) = (false, 0, None);
            return true;
        }
        false
    }

    /// When what is held back leaves.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.held_until
    }

    /// The time may have come.
    pub(crate) fn on_timer(&mut self, now: Time) {
        if self.held_until.take_if(|at| *at <= now).is_some() {
            self.due = true;
        }
    }
}
