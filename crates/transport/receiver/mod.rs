//! The end that answers: it puts data in order and acknowledges them.

mod ack;
mod reassembly;
mod window;

use airfair_schemes::places::Ecn;
use airfair_units::{Span, Time};

use crate::{Flags, SackBlocks, Segment, SharedConfig, Timestamps, earliest};
use ack::AckPolicy;
use reassembly::Reassembly;
use window::ReceiveWindow;

/// Counters of a receiver since it was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReceiverStats {
    /// Segments with payload that arrived.
    pub segments: u64,
    /// Of these, those that brought nothing new.
    pub duplicates: u64,
    /// Of these, those that arrived ahead of a gap.
    pub out_of_order: u64,
    /// Of these, marked ones.
    pub marked: u64,
    /// Acknowledgements that left, the answers to SYNs included.
    pub acks: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Listen,
    SynReceived,
    Established,
}

/// The passive end of a connection and the receiver of its data.
pub struct Receiver {
    config: SharedConfig,
    state: State,
    stats: ReceiverStats,
    acks: AckPolicy,
    reassembly: Reassembly,
    window: ReceiveWindow,
    /// Selective acknowledgements were agreed on.
    sack: bool,
    /// Timestamps were agreed on.
    timestamps: bool,
    /// ECN was agreed on.
    ecn: bool,
    /// RFC 7323's TS.Recent.
    ts_recent: u32,
    /// RFC 7323's Last.ACK.sent.
    last_ack_sent: u64,
    /// Marks are echoed until the sender has reduced its window (RFC 3168 section 6.1.3).
    echo: bool,
    /// When the answer to the SYN leaves again, and how often it has left.
    syn_ack_at: Option<Time>,
    syn_acks: u32,
    /// Data received twice, to be reported once (RFC 2883).
    twice: Option<(u64, u64)>,
}

impl Receiver {
    /// A receiver that waits for a SYN, or for data if there is no handshake. Values outside their range are brought into it.
    #[must_use]
    pub fn new(config: impl Into<SharedConfig>) -> Self {
        let config = config.into();
        let stands = !config.handshake;
        Self {
            state: if stands { State::Established } else { State::Listen },
            stats: ReceiverStats::default(),
            acks: AckPolicy::default(),
            reassembly: Reassembly::default(),
            window: ReceiveWindow::new(&config, stands),
            sack: stands && config.sack,
            timestamps: stands && config.timestamps,
            ecn: stands && config.ecn,
            config,
            ts_recent: 0,
            last_ack_sent: 1,
            echo: false,
            syn_ack_at: None,
            syn_acks: 0,
            twice: None,
        }
    }

    /// A segment of the sender arrived, its IP header's ECN bits in `segment.ecn`. What cannot be is answered by an
    /// acknowledgement and otherwise ignored (RFC 9293 section 3.10.7.4).
    pub fn on_segment(&mut self, segment: &Segment, now: Time) {
        match self.state {
            _ if segment.flags.syn => self.on_syn(segment),
            State::Listen => {}
            // Nothing beyond our SYN was ever sent; nothing else of such a segment is believed.
            _ if !segment.flags.ack || segment.ack > 1 => self.acks.send_now(),
            State::SynReceived if segment.ack < 1 => {}
            State::SynReceived | State::Established => {
                self.state = State::Established;
                self.syn_ack_at = None;
                self.on_data(segment, now);
            }
        }
    }

    /// RFC 9293 section 3.10.7.2, and what each option needs from both ends.
    fn on_syn(&mut self, segment: &Segment) {
        if self.state == State::Established || segment.seq != 0 {
            // Our last acknowledgement says where we are (RFC 9293 section 3.10.7.4).
            self.acks.send_now();
            return;
        }
        let config = &self.config;
        self.sack = config.sack && segment.sack_permitted;
        self.timestamps = config.timestamps && segment.timestamps.is_some();
        self.ts_recent = segment.timestamps.map_or(0, |stamps| stamps.value);
        self.ecn = config.ecn && segment.flags.ece && segment.flags.cwr;
        self.window = ReceiveWindow::new(config, segment.window_scale.is_some());
        self.state = State::SynReceived;
        self.acks.send_now();
    }

    fn on_data(&mut self, segment: &Segment, now: Time) {
        if segment.sequence_len() == 0 {
            return;
        }
        let expected = self.reassembly.next();
        self.note_marks(segment);
        // RFC 7323 section 4.3, rule 2: of the segment that the next acknowledgement will be about, the oldest.
        if let Some(stamps) = segment.timestamps.filter(|_| self.timestamps)
            && segment.seq <= self.last_ack_sent
            && (stamps.value.wrapping_sub(self.ts_recent) as i32) >= 0
        {
            self.ts_recent = stamps.value;
        }
        if segment.payload > 0 {
            self.stats.segments += 1;
        }
        let from = segment.seq.max(1);
        let end = segment.seq.saturating_add(u64::from(segment.payload));
        let edge = self.window.edge(expected);
        let had_gap = self.reassembly.has_gap();
        let news = self.reassembly.insert(from, end.min(edge), segment.flags.fin && end <= edge);
        let in_order = self.reassembly.next() > expected;
        let finished = in_order && self.reassembly.is_finished();
        if let Some((left, right)) = news.twice.filter(|_| self.config.duplicate_sack && self.sack) {
            self.twice.get_or_insert((left, right));
        }
        if segment.payload > 0 {
            // What a closed window refuses was not received before.
            self.stats.duplicates += u64::from(!news.any && from < edge);
            self.stats.out_of_order += u64::from(news.any && !in_order);
        }
        self.window.on_delivered(self.delivered());
        // RFC 5681 section 4.2: at once for a segment ahead of a gap, one that fills a gap, and what is not new. A FIN is news
        // that nobody should wait for.
        if !in_order || had_gap || finished || news.twice.is_some() {
            self.acks.send_now();
        } else {
            self.acks.on_in_order(self.config.delayed_ack, now);
        }
    }

    /// RFC 3168 section 6.1.3.
    fn note_marks(&mut self, segment: &Segment) {
        if !self.ecn {
            return;
        }
        if segment.flags.cwr {
            self.echo = false;
        }
        if segment.ecn == Ecn::Ce {
            self.echo = true;
            self.stats.marked += 1;
        }
    }

    /// The acknowledgement that leaves now, if one is due. To be called after every segment: several that are due leave as one.
    pub fn poll(&mut self, now: Time) -> Option<Segment> {
        if !self.acks.take() {
            return None;
        }
        self.stats.acks += 1;
        if self.state == State::SynReceived { Some(self.syn_ack(now)) } else { Some(self.ack(now)) }
    }

    fn ack(&mut self, now: Time) -> Segment {
        let next = self.reassembly.next();
        self.last_ack_sent = next;
        let window = self.window.announce(next);
        let flags = Flags { ack: true, ece: self.echo, ..Flags::default() };
        let mut segment = Segment { flags, timestamps: self.stamps(now), ..Segment::bare(1, next, window) };
        if self.sack {
            segment.sack = self.blocks();
        }
        segment
    }

    /// RFC 2018 section 4; a duplicate comes first (RFC 2883 section 4).
    fn blocks(&mut self) -> SackBlocks {
        let most = if self.timestamps { 3 } else { 4 };
        let mut blocks = SackBlocks::default();
        if let Some((left, right)) = self.twice.take() {
            blocks.push(left, right);
        }
        self.reassembly.report(most, &mut blocks);
        blocks
    }

    fn syn_ack(&mut self, now: Time) -> Segment {
        let config = &self.config;
        let doublings = self.syn_acks.min(32);
        self.syn_acks = self.syn_acks.saturating_add(1);
        let wait = Span(config.initial_rto.0.saturating_mul(1 << doublings)).min(config.max_rto);
        let again = config.syn_retries.is_none_or(|most| self.syn_acks <= most);
        self.syn_ack_at = again.then(|| now.saturating_add(wait));
        Segment {
            flags: Flags { syn: true, ack: true, ece: self.ecn, ..Flags::default() },
            timestamps: self.stamps(now),
            mss: Some(config.mss as u16),
            window_scale: self.window.scale_option(),
            sack_permitted: self.sack,
            ..Segment::bare(0, 1, self.window.edge(1) - 1)
        }
    }

    fn stamps(&self, now: Time) -> Option<Timestamps> {
        self.timestamps.then(|| Timestamps { value: Timestamps::clock(now), echo: self.ts_recent })
    }

    /// When [`Receiver::on_timer`] is to be called next.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        earliest([self.acks.deadline(), self.syn_ack_at])
    }

    /// Whether an acknowledgement is held back, for its timer or for the next segment.
    #[must_use]
    pub fn holds_acknowledgement(&self) -> bool {
        self.acks.deadline().is_some()
    }

    /// A deadline has come; too early it does nothing.
    pub fn on_timer(&mut self, now: Time) {
        self.acks.on_timer(now);
        if self.syn_ack_at.take_if(|at| *at <= now).is_some() {
            self.acks.send_now();
        }
    }

    /// Payload handed to the application in order, bytes, whether it was read or not.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.reassembly.delivered()
    }

    /// Whether the sender's FIN and everything before it has arrived.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.reassembly.is_finished()
    }

    /// Whether the application reads all that comes (it does from the beginning) or leaves it in the buffer.
    pub fn set_reading(&mut self, reading: bool) {
        self.window.set_reading(reading);
        self.update_window();
    }

    /// The application, not reading all, takes up to `bytes` out of the buffer.
    pub fn read(&mut self, bytes: u64) {
        self.window.read(bytes);
        self.update_window();
    }

    /// Tells the sender of a window that has become worth it (RFC 9293 section 3.8.6.2.2).
    fn update_window(&mut self) {
        if self.state == State::Established && self.window.can_advance(self.reassembly.next()) {
            self.acks.send_now();
        }
    }

    /// Counters.
    #[must_use]
    pub fn stats(&self) -> &ReceiverStats {
        &self.stats
    }
}
