//! The sender's answer to echoed congestion marks (RFC 3168 section 6.1.2).

use airfair_units::Time;

/// What the sender remembers of its reductions. Sequence numbers are ends, exclusive.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reductions {
    /// The window was reduced, for any cause, when data up to here had been sent.
    reduced_to: u64,
    /// The same, for a mark.
    marked_to: u64,
    /// The same, for a packet that the own link gave up.
    link_dropped_to: u64,
    /// The next segment of new data carries CWR.
    pub(crate) announce: bool,
    /// A mark at a window of one segment: new data wait until then.
    pub(crate) hold: Option<Time>,
}

impl Reductions {
    /// The window is reduced with data sent up to `next`.
    pub(crate) fn on_reduced(&mut self, next: u64) {
        self.reduced_to = next;
        self.announce = true;
    }

    /// An acknowledgement of all below `acked` echoes a mark: whether the window shall be reduced. Once a window of data, and
    /// not for data of which a loss has reduced it already.
    pub(crate) fn on_echo(&mut self, acked: u64, next: u64) -> bool {
        let react = acked > self.reduced_to;
        if react {
            self.on_reduced(next);
            self.marked_to = next;
        }
        react
    }

    /// Whether the loss of the segment at `seq` belongs to a window that a mark has reduced.
    pub(crate) fn marked_since(&self, seq: u64) -> bool {
        seq < self.marked_to
    }

    /// The own link gave up the segment at `seq`: whether it is the first of its window.
    pub(crate) fn on_link_drop(&mut self, seq: u64, next: u64) -> bool {
        let first = seq >= self.link_dropped_to;
        if first {
            self.link_dropped_to = next;
        }
        first
    }
}
