//! The window that a receiver announces (RFC 9293 section 3.8.6.2.2, RFC 7323 section 2).

use crate::TcpConfig;

/// State of the receive buffer and the announced window.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReceiveWindow {
    buffer: u64,
    mss: u64,
    /// Shift of the window field; `None` if the option was not negotiated.
    scale: Option<u8>,
    /// Sequence number after the last one ever allowed to the sender: the edge never moves back.
    edge: u64,
    /// Payload in order, bytes.
    delivered: u64,
    /// Payload read by the application, bytes.
    read: u64,
    reading: bool,
}

impl ReceiveWindow {
    /// An empty buffer; `scaled`: the sender supports window scaling.
    pub(crate) fn new(config: &TcpConfig, scaled: bool) -> Self {
        let scale = Some(config.window_scale).filter(|&scale| scaled && scale > 0);
        let mut window = Self {
            buffer: config.receive_window,
            mss: u64::from(config.mss),
            scale,
            edge: 1,
            delivered: 0,
            read: 0,
            reading: true,
        };
        window.buffer = window.field(window.buffer);
        // Without handshake no SYN has limited the first window.
        window.edge =
            1 + if config.handshake { config.syn_announced_window(window.buffer) } else { window.buffer };
        window
    }

    /// Window scale option of the SYN-ACK.
    pub(crate) fn scale_option(&self) -> Option<u8> {
        self.scale
    }

    /// The window rounded down to what its field can express.
    fn field(&self, window: u64) -> u64 {
        let shift = self.scale.unwrap_or(0);
        (window >> shift).min(65_535) << shift
    }

    /// End of the free buffer if `next` is expected.
    fn free_edge(&self, next: u64) -> u64 {
        let free = self.buffer.saturating_sub(self.delivered - self.read);
        next.saturating_add(free)
    }

    /// The first sequence number that is refused if `next` is expected.
    pub(crate) fn edge(&self, next: u64) -> u64 {
        self.edge.max(next)
    }

    /// True if the window can grow enough to be announced: by a full segment or half of the buffer.
    pub(crate) fn can_advance(&self, next: u64) -> bool {
        let gain = self.free_edge(next).saturating_sub(self.edge);
        gain > 0 && gain >= self.mss.min(self.buffer / 2)
    }

    /// The window for an acknowledgement up to `next`.
    pub(crate) fn announce(&mut self, next: u64) -> u64 {
        if self.can_advance(next) {
            self.edge = self.edge.max(next + self.field(self.free_edge(next) - next));
        }
        self.field(self.edge.saturating_sub(next))
    }

    /// Sets the payload in order to `bytes`.
    pub(crate) fn on_delivered(&mut self, bytes: u64) {
        self.delivered = bytes;
        if self.reading {
            self.read = bytes;
        }
    }

    /// Sets whether data are read at once.
    pub(crate) fn set_reading(&mut self, reading: bool) {
        self.reading = reading;
        self.on_delivered(self.delivered);
    }

    /// Reads up to `bytes`.
    pub(crate) fn read(&mut self, bytes: u64) {
        self.read = self.read.saturating_add(bytes).min(self.delivered);
    }
}
