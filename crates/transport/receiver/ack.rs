//! Times of acknowledgements (RFC 5681 section 4.2, RFC 9293 section 3.8.6.3).

use airfair_units::Time;

use crate::DelayedAck;

/// State of due and delayed acknowledgements.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AckPolicy {
    due: bool,
    /// Segments in order since the last acknowledgement.
    held: u32,
    /// Segments in order since the start; the first `quick` of them are acknowledged at once.
    seen: u32,
    held_until: Option<Time>,
}

impl AckPolicy {
    /// Makes an acknowledgement due immediately.
    pub(crate) fn send_now(&mut self) {
        self.due = true;
    }

    /// Handles a segment that arrived in order.
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

    /// Takes the acknowledgement that is due now, if any, and cancels the delayed one.
    pub(crate) fn take_due(&mut self) -> bool {
        if self.due {
            (self.due, self.held, self.held_until) = (false, 0, None);
            return true;
        }
        false
    }

    /// Due time of the delayed acknowledgement.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.held_until
    }

    /// Handles the timer of the delayed acknowledgement.
    pub(crate) fn on_timer(&mut self, now: Time) {
        if self.held_until.take_if(|at| *at <= now).is_some() {
            self.due = true;
        }
    }
}
