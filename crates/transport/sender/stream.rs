//! The application's data and their sequence numbers (RFC 9293 section 3.3.1): the SYN is number 0, the first byte 1.

/// Largest payload that an application may write, bytes: no sequence number overflows.
const ENDLESS: u64 = 1 << 62;

/// Data that the application has provided, the part of it that was sent, and the part that is acknowledged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stream {
    /// SND.UNA: the first unacknowledged sequence number.
    pub(super) una: u64,
    /// SND.NXT: the next new sequence number. It never decreases: retransmissions are marked in the scoreboard.
    pub(super) next: u64,
    /// Sequence number after the highest one in a window probe.
    pub(super) probed_to: u64,
    /// Payload provided by the application, bytes.
    written: u64,
    /// The sequence number up to which the send buffer has room; the largest number if it is unlimited.
    filled: u64,
    /// True if the application provides no more data.
    closed: bool,
}

impl Stream {
    /// No data; `limited`: there is a send buffer.
    pub(super) fn new(limited: bool) -> Self {
        let filled = if limited { 0 } else { u64::MAX };
        Self { una: 0, next: 0, probed_to: 0, written: 0, filled, closed: false }
    }

    /// Adds `bytes` of the application's data; `buffer`: size of the send buffer in bytes, if it is limited.
    pub(super) fn write(&mut self, bytes: u64, buffer: Option<u64>) {
        if !self.closed {
            if let Some(size) = buffer
                && self.end() <= self.filled
            {
                // No data waits for room: these may use all that there is.
                self.filled = self.una.saturating_add(size);
            }
            self.written = self.written.saturating_add(bytes).min(ENDLESS);
        }
    }

    /// Ends the application's data.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// Withdraws the data that were not sent yet, and ends the application's data.
    pub(super) fn stop(&mut self) {
        // A byte that has probed a closed window was sent too.
        let left_to = self.next.max(self.probed_to);
        self.written = self.written.min(left_to.saturating_sub(1));
        self.closed = true;
    }

    /// True if the application provides no more data.
    #[inline(always)]
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// The sequence number after the last byte written.
    #[inline(always)]
    pub(super) fn end(&self) -> u64 {
        1 + self.written
    }

    /// The sequence number after the last byte that the send buffer has room for.
    #[inline(always)]
    pub(super) fn buffered(&self) -> u64 {
        self.end().min(self.filled)
    }

    /// Data in the send buffer that were not sent, bytes.
    #[inline(always)]
    pub(super) fn left(&self) -> u64 {
        self.buffered().saturating_sub(self.next)
    }

    /// True if all written data are acknowledged, with `fin` also the FIN, and the application has ended its data.
    #[inline(always)]
    pub(super) fn is_done(&self, fin: bool) -> bool {
        self.closed && self.una >= self.end() + u64::from(fin)
    }

    /// Everything below `una` is acknowledged.
    #[inline(always)]
    pub(super) fn acknowledge(&mut self, una: u64) {
        self.una = una;
        self.next = self.next.max(una);
    }

    /// The application fills a send buffer of `size` bytes, if at least half as much is free as is used (Linux: `sk_stream_is_writeable`).
    pub(super) fn fill(&mut self, size: u64) {
        let used = self.buffered().saturating_sub(self.una);
        if size.saturating_sub(used) >= used / 2 {
            self.filled = self.una.saturating_add(size);
        }
    }
}
