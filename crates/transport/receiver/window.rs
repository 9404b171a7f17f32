//! The window that a receiver announces (RFC 9293 section 3.8.6.2.2, RFC 7323 section 2).

use airfair_units::Time;

use super::tuning::Tuning;
use crate::{Segment, TcpConfig};

/// Bytes of the timestamps option.
const TIMESTAMPS: u64 = 12;

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
    /// The growing window, if it grows.
    tuning: Option<Tuning>,
}

impl ReceiveWindow {
    /// An empty buffer; the sender supports window scaling if `scaled`, timestamps if `stamped`.
    pub(crate) fn new(config: &TcpConfig, scaled: bool, stamped: bool) -> Self {
        let scale = Some(config.window_scale).filter(|&scale| scaled && scale > 0);
        let mut window = Self {
            buffer: config.receive_window,
            mss: u64::from(config.mss),
            scale,
            edge: 1,
            delivered: 0,
            read: 0,
            reading: true,
            tuning: None,
        };
        window.buffer = window.field(window.buffer);
        let full = window.mss.saturating_sub(if stamped { TIMESTAMPS } else { 0 }).max(1);
        window.tuning = config.window_tuning.then(|| Tuning::new(full, window.buffer));
        // Without handshake no SYN has limited the first window.
        window.edge =
            1 + if config.handshake { config.syn_announced_window(window.open()) } else { window.open() };
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

    /// The window of an empty buffer, bytes.
    fn open(&self) -> u64 {
        self.tuning.map_or(self.buffer, |tuning| tuning.window())
    }

    /// Bytes of the buffer that are free.
    fn free(&self) -> u64 {
        self.buffer.saturating_sub(self.delivered - self.read)
    }

    /// End of the window that may be announced if `next` is expected.
    fn free_edge(&self, next: u64) -> u64 {
        next.saturating_add(self.free().min(self.open()))
    }

    /// True if the application has read all that was delivered.
    pub(crate) fn is_read(&self) -> bool {
        self.read == self.delivered
    }

    /// The connection is established.
    pub(crate) fn begin(&mut self, now: Time) {
        if let Some(tuning) = &mut self.tuning {
            tuning.begin(now);
        }
    }

    /// Handles data before they are delivered, in order up to `next` or out of order; `full`: payload of a full segment. True if the window
    /// grows.
    pub(crate) fn on_data(&mut self, segment: &Segment, next: Option<u64>, full: u32, now: Time) -> bool {
        let (free, window) = (self.free(), self.open());
        let Some(tuning) = &mut self.tuning else { return false };
        tuning.on_data(segment, full, now);
        let Some(next) = next else { return false };
        tuning.on_in_order(next, window, now);
        tuning.grow(segment.payload, full, free)
    }

    /// Handles data that were delivered and may have been read; `beyond`: bytes up to the last that has arrived.
    pub(crate) fn after_data(&mut self, beyond: u64, now: Time) {
        let read = self.read;
        if let Some(tuning) = &mut self.tuning {
            tuning.on_read(read, beyond, now);
        }
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
