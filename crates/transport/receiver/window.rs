//! The window that a receiver announces (RFC 9293 section 3.8.6.2.2, RFC 7323 section 2).

use crate::TcpConfig;

/// The buffer behind the window.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReceiveWindow {
    buffer: u64,
    mss: u64,
    /// Shift of the window field; the option was not agreed on where it is `None`.
    scale: Option<u8>,
    /// The sequence number after the last that the sender was ever allowed: it is never taken back.
    edge: u64,
    /// Payload in order, bytes.
    delivered: u64,
    /// Of that, read.
    read: u64,
    reading: bool,
}

impl ReceiveWindow {
    /// An empty buffer; `scaled`: the sender can read scaled windows.
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
        // Without handshake no SYN has bounded the first window.
        window.edge = 1 + if config.handshake { config.of_syn(window.buffer) } else { window.buffer };
        window
    }

    /// The option for the answer to the SYN.
    pub(crate) fn scale_option(&self) -> Option<u8> {
        self.scale
    }

    /// A window as the field can say it: rounded down to its shift, and at most what fits.
    fn field(&self, window: u64) -> u64 {
        let shift = self.scale.unwrap_or(0);
        (window >> shift).min(65_535) << shift
    }

    /// Where the free buffer ends with `next` expected.
    fn free_edge(&self, next: u64) -> u64 {
        let free = self.buffer.saturating_sub(self.delivered - self.read);
        next.saturating_add(free)
    }

    /// The first sequence number that is refused with `next` expected.
    pub(crate) fn edge(&self, next: u64) -> u64 {
        self.edge.max(next)
    }

    /// Whether the window can grow by enough to be worth telling: a full segment or half of the buffer.
    pub(crate) fn can_advance(&self, next: u64) -> bool {
        let gain = self.free_edge(next).saturating_sub(self.edge);
        gain > 0 && gain >= self.mss.min(self.buffer / 2)
    }

    /// The window for an acknowledgement of all below `next`.
    pub(crate) fn announce(&mut self, next: u64) -> u64 {
        if self.can_advance(next) {
            self.edge = self.edge.max(next + self.field(self.free_edge(next) - next));
        }
        self.field(self.edge.saturating_sub(next))
    }

    /// In all, `bytes` are in order.
    pub(crate) fn on_delivered(&mut self, bytes: u64) {
        self.delivered = bytes;
        if self.reading {
            self.read = bytes;
        }
    }

    /// Whether all that comes is read at once.
    pub(crate) fn set_reading(&mut self, reading: bool) {
        self.reading = reading;
        self.on_delivered(self.delivered);
    }

    /// Up to `bytes` are read.
    pub(crate) fn read(&mut self, bytes: u64) {
        self.read = self.read.saturating_add(bytes).min(self.delivered);
    }
}
