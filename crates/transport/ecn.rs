//! The sender's reaction to echoed congestion marks (RFC 3168 section 6.1.2).

use airfair_units::Time;

/// Reductions of the window so far. Sequence numbers are ends, exclusive.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reductions {
    /// End of the data sent at the last reduction for any cause.
    reduced_to: u64,
    /// End of the data sent at the last reduction for a mark.
    marked_to: u64,
    /// End of the data sent at the last reduction for a packet that the own link has given up.
    link_dropped_to: u64,
    /// The next segment of new data carries CWR.
    pub(crate) announce: bool,
    /// At a window of one segment a mark delays new data until this time.
    pub(crate) hold: Option<Time>,
}

impl Reductions {
    /// Records a reduction with data sent up to `next`.
    pub(crate) fn on_reduced(&mut self, next: u64) {
        self.reduced_to = next;
        self.announce = true;
    }

    /// Handles an acknowledgement up to `acked` that echoes a mark. Returns true if the window must be reduced: once per window of data,
    /// and not for data for which a loss has reduced it already.
    pub(crate) fn on_echo(&mut self, acked: u64, next: u64) -> bool {
        let react = acked > self.reduced_to;
        if react {
            self.on_reduced(next);
            self.marked_to = next;
        }
        react
    }

    /// Takes back a reduction for a loss that was none; `before`: the state before it.
    pub(crate) fn withdraw(&mut self, before: &Self) {
        self.reduced_to = before.reduced_to;
        self.announce &= before.announce;
    }

    /// True if the segment at `seq` belongs to a window that was reduced for a mark.
    pub(crate) fn marked_since(&self, seq: u64) -> bool {
        seq < self.marked_to
    }

    /// Handles a segment at `seq` that the own link has given up. Returns true if it is the first in its window.
    pub(crate) fn on_link_drop(&mut self, seq: u64, next: u64) -> bool {
        let first = seq >= self.link_dropped_to;
        if first {
            self.link_dropped_to = next;
        }
        first
    }
}
