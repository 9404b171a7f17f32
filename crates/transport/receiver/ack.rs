//! Times of acknowledgements (RFC 5681 section 4.2, RFC 9293 section 3.8.6.3).

use airfair_units::Time;

use crate::DelayedAck;

/// State of due and delayed acknowledgements.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AckPolicy {
    due: bool,
    /// Segments in order since the last acknowledgement.
    held: u32,
    /// Segments in order that are still acknowledged at once; none before the first of all.
    quick: Option<u32>,
    held_until: Option<Time>,
}

impl AckPolicy {
    /// Makes an acknowledgement due immediately.
    pub(crate) fn send_now(&mut self) {
        self.due = true;
    }

    /// Acknowledges at least the next `segments` in order at once.
    pub(crate) fn quick_again(&mut self, segments: u32) {
        self.quick = Some(self.quick.map_or(segments, |quick| quick.max(segments)));
    }

    /// Counts a segment that is acknowledged at once for another reason.
    pub(crate) fn count_quick(&mut self) {
        self.quick = self.quick.map(|quick| quick.saturating_sub(1));
    }

    /// Handles a segment that arrived in order; `grows`: it lets the window grow; `pushed`: it is acknowledged at once.
    pub(crate) fn on_in_order(
        &mut self,
        delayed: Option<DelayedAck>,
        (grows, pushed): (bool, bool),
        now: Time,
    ) {
        self.held = self.held.saturating_add(1);
        let Some(delayed) = delayed else {
            self.due = true;
            return;
        };
        // An even number becomes odd in Linux: while the window grows the number hardly falls.
        let quick = self.quick.unwrap_or(delayed.quick) | u32::from(grows);
        self.quick = Some(quick.saturating_sub(1));
        if self.held < delayed.segments && quick == 0 && !pushed {
            self.held_until.get_or_insert(now.saturating_add(delayed.timeout));
        } else {
            self.due = true;
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
