//! The receiver: it reassembles data in order and acknowledges them.

mod ack;
mod reassembly;
mod sizes;
mod tuning;
mod window;

use airfair_schemes::places::Ecn;
use airfair_units::{Span, Time};

use crate::{Flags, SackBlocks, Segment, SharedConfig, Timestamps, earliest};
use ack::AckPolicy;
use reassembly::Reassembly;
use sizes::SegmentSizes;
use window::ReceiveWindow;

/// Counters of a receiver since its creation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReceiverStats {
    /// Segments with payload that arrived.
    pub segments: u64,
    /// Those of `segments` without new data.
    pub duplicates: u64,
    /// Those of `segments` that arrived beyond a gap.
    pub out_of_order: u64,
    /// Those of `segments` with a congestion mark.
    pub marked: u64,
    /// Acknowledgements sent, SYN-ACKs included.
    pub acks: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Listen,
    SynReceived,
    Established,
}

/// The passive end of a connection, which receives its data.
pub struct Receiver {
    config: SharedConfig,
    /// True if a part of Linux's rule of acknowledgements beyond RFC 5681 is on.
    as_linux: bool,
    state: State,
    stats: ReceiverStats,
    acks: AckPolicy,
    reassembly: Reassembly,
    window: ReceiveWindow,
    sizes: SegmentSizes,
    /// True if selective acknowledgements were negotiated.
    sack: bool,
    /// True if timestamps were negotiated.
    timestamps: bool,
    /// True if ECN was negotiated.
    ecn: bool,
    /// TS.Recent of RFC 7323.
    ts_recent: u32,
    /// Last.ACK.sent of RFC 7323.
    last_ack_sent: u64,
    /// Marks are echoed until the sender has reduced its window (RFC 3168 section 6.1.3).
    echo: bool,
    /// Time of the next retransmission of the SYN-ACK, and the number of transmissions.
    syn_ack_at: Option<Time>,
    syn_acks: u32,
    /// Duplicate data to be reported once (RFC 2883).
    duplicate: Option<(u64, u64)>,
    /// Time of the last SYN-ACK, and the round-trip time from the only one.
    syn_ack_sent: Option<Time>,
    round_trip: Option<Span>,
    /// Time of the last data in order.
    in_order_at: Option<Time>,
}

impl Receiver {
    /// A receiver that waits for a SYN, or for data without handshake. Values out of range are clamped.
    #[must_use]
    pub fn new(config: impl Into<SharedConfig>) -> Self {
        let config = config.into();
        let stands = !config.handshake;
        let beyond = config.delayed_ack.is_some_and(|delayed| delayed.requick || delayed.pushed);
        Self {
            as_linux: beyond || config.window_tuning,
            state: if stands { State::Established } else { State::Listen },
            stats: ReceiverStats::default(),
            acks: AckPolicy::default(),
            reassembly: Reassembly::default(),
            window: ReceiveWindow::new(&config, stands, stands && config.timestamps),
            sizes: SegmentSizes::default(),
            sack: stands && config.sack,
            timestamps: stands && config.timestamps,
            ecn: stands && config.ecn,
            config,
            ts_recent: 0,
            last_ack_sent: 1,
            echo: false,
            syn_ack_at: None,
            syn_acks: 0,
            duplicate: None,
            syn_ack_sent: None,
            round_trip: None,
            in_order_at: None,
        }
    }

    /// Handles a segment of the sender, with the IP header's ECN bits in `segment.ecn`. An unacceptable segment is answered by an
    /// acknowledgement and otherwise ignored (RFC 9293 section 3.10.7.4).
    pub fn on_segment(&mut self, segment: &Segment, now: Time) {
        match self.state {
            _ if segment.flags.syn => self.on_syn(segment),
            State::Listen => {}
            // Nothing beyond our SYN was ever sent; other fields of such a segment are ignored.
            _ if !segment.flags.ack || segment.ack > 1 => self.acks.send_now(),
            State::SynReceived if segment.ack < 1 => {}
            State::SynReceived | State::Established => {
                if self.state == State::SynReceived {
                    self.window.begin(now);
                }
                self.state = State::Established;
                self.syn_ack_at = None;
                if let Some(sent) = self.syn_ack_sent.take().filter(|_| self.syn_acks == 1) {
                    self.round_trip = Some(now.since(sent));
                }
                self.on_data(segment, now);
            }
        }
    }

    /// Handles a SYN by RFC 9293 section 3.10.7.2, with the conditions of each option.
    #[cold]
    #[inline(never)]
    fn on_syn(&mut self, segment: &Segment) {
        if self.state == State::Established || segment.seq != 0 {
            // Our last acknowledgement gives the present state (RFC 9293 section 3.10.7.4).
            self.acks.send_now();
            return;
        }
        let config = &self.config;
        self.sack = config.sack && segment.sack_permitted;
        self.timestamps = config.timestamps && segment.timestamps.is_some();
        self.ts_recent = segment.timestamps.map_or(0, |stamps| stamps.value);
        self.ecn = config.ecn && segment.flags.ece && segment.flags.cwr;
        self.window = ReceiveWindow::new(config, segment.window_scale.is_some(), self.timestamps);
        self.state = State::SynReceived;
        self.acks.send_now();
    }

    fn on_data(&mut self, segment: &Segment, now: Time) {
        if segment.sequence_len() == 0 {
            return;
        }
        let expected = self.reassembly.next();
        self.note_marks(segment);
        // RFC 7323 section 4.3, rule 2: the oldest timestamp among the segments that the next acknowledgement covers.
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
        let inserted = self.reassembly.insert(from, end.min(edge), segment.flags.fin && end <= edge);
        let in_order = self.reassembly.next() > expected;
        let finished = in_order && self.reassembly.is_finished();
        if let Some((left, right)) = inserted.duplicate.filter(|_| self.config.duplicate_sack && self.sack) {
            self.duplicate.get_or_insert((left, right));
        }
        if segment.payload > 0 {
            // A segment refused by a closed window is no duplicate.
            self.stats.duplicates += u64::from(!inserted.any && from < edge);
            self.stats.out_of_order += u64::from(inserted.any && !in_order);
        }
        // RFC 5681 section 4.2: at once for a segment beyond a gap, one that fills a gap, and one without new data; at once also for a FIN.
        let at_once = !in_order || had_gap || finished || inserted.duplicate.is_some();
        let mut early = (false, false);
        if self.as_linux {
            early = self.as_linux(segment, (in_order, !inserted.any && from < expected, at_once), now);
        } else {
            self.window.on_delivered(self.delivered());
        }
        if at_once {
            self.acks.send_now();
        } else {
            self.acks.on_in_order(self.config.delayed_ack, early, now);
        }
    }

    /// The part of Linux's rule of acknowledgements beyond RFC 5681: true if the segment lets the window grow, and if it ends what the
    /// sender writes. `old`: it has no new data; `at_once`: it is acknowledged anyway.
    #[inline(never)]
    fn as_linux(
        &mut self,
        segment: &Segment,
        (in_order, old, at_once): (bool, bool, bool),
        now: Time,
    ) -> (bool, bool) {
        let next = in_order.then(|| self.reassembly.next());
        let grows = self.window.on_data(segment, next, self.sizes.full(), now);
        self.window.on_delivered(self.delivered());
        self.window.after_data(self.reassembly.beyond(), now);
        let ends = in_order && segment.payload > 0 && self.sizes.ends(segment);
        self.quicken(in_order, old, at_once, now);
        let pushed = self.config.delayed_ack.is_some_and(|delayed| delayed.pushed);
        (grows, ends && pushed && self.window.is_read())
    }

    /// The next segments are acknowledged at once as the first ones were, where data in order come after more than a time-out without any
    /// (`tcp_event_data_recv` of Linux), or old data come again (`tcp_enter_quickack_mode`). `acknowledged`: this segment is acknowledged
    /// anyway, and counts as one of them. The time-out is that after the SYN: the receiver sends no data that measure another.
    fn quicken(&mut self, in_order: bool, old: bool, acknowledged: bool, now: Time) {
        let Some(delayed) = self.config.delayed_ack.filter(|delayed| delayed.requick) else { return };
        let mut again = old;
        if in_order {
            let last = self.in_order_at.replace(now);
            let time_out = self.round_trip.map_or(self.config.initial_rto, |rtt| {
                Span(rtt.0.saturating_add(rtt.0.saturating_mul(2).max(self.config.min_rto.0)))
            });
            again |= last.is_some_and(|last| now.since(last) > time_out);
        }
        if again {
            self.acks.quick_again(delayed.quick);
        }
        if acknowledged && (in_order || again) {
            self.acks.count_quick();
        }
    }

    /// Notes congestion marks and CWR by RFC 3168 section 6.1.3.
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

    /// The acknowledgement that is due now, if any. To be called after every segment: several due ones are sent as one.
    #[inline(always)]
    pub fn poll(&mut self, now: Time) -> Option<Segment> {
        if !self.acks.take_due() {
            return None;
        }
        self.stats.acks += 1;
        if self.state == State::SynReceived {
            return Some(self.syn_ack(now));
        }
        Some(self.ack(now))
    }

    #[inline(always)]
    fn ack(&mut self, now: Time) -> Segment {
        let next = self.reassembly.next();
        self.last_ack_sent = next;
        let mut segment = Segment::bare(1, next, self.window.announce(next));
        segment.flags.ece = self.echo;
        segment.timestamps = self.stamps(now);
        if self.sack {
            segment.sack = self.blocks();
        }
        segment
    }

    /// SACK blocks by RFC 2018 section 4; a duplicate comes first (RFC 2883 section 4).
    fn blocks(&mut self) -> SackBlocks {
        let most = if self.timestamps { 3 } else { 4 };
        let mut blocks = SackBlocks::default();
        if let Some((left, right)) = self.duplicate.take() {
            blocks.push(left, right);
        }
        self.reassembly.report(most, &mut blocks);
        blocks
    }

    #[cold]
    #[inline(never)]
    fn syn_ack(&mut self, now: Time) -> Segment {
        let config = &self.config;
        let doublings = self.syn_acks.min(32);
        self.syn_acks = self.syn_acks.saturating_add(1);
        let wait = Span(config.initial_rto.0.saturating_mul(1 << doublings)).min(config.max_rto);
        let again = config.syn_retries.is_none_or(|most| self.syn_acks <= most);
        self.syn_ack_at = again.then(|| now.saturating_add(wait));
        self.syn_ack_sent = Some(now);
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

    /// The next time at which [`Receiver::on_timer`] must be called.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        earliest([self.acks.deadline(), self.syn_ack_at])
    }

    /// True if an acknowledgement is delayed, until its timer or the next segment.
    #[must_use]
    pub fn holds_acknowledgement(&self) -> bool {
        self.acks.deadline().is_some()
    }

    /// Handles a deadline; before it the call has no effect.
    pub fn on_timer(&mut self, now: Time) {
        self.acks.on_timer(now);
        if self.syn_ack_at.take_if(|at| *at <= now).is_some() {
            self.acks.send_now();
        }
    }

    /// Payload delivered to the application in order, bytes, read or not.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.reassembly.delivered()
    }

    /// True if the sender's FIN and everything before it has arrived.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.reassembly.is_finished()
    }

    /// Sets whether the application reads all data at once (the default) or leaves them in the buffer.
    pub fn set_reading(&mut self, reading: bool) {
        self.window.set_reading(reading);
        self.update_window();
    }

    /// The application, if it does not read all, reads up to `bytes` from the buffer.
    pub fn read(&mut self, bytes: u64) {
        self.window.read(bytes);
        self.update_window();
    }

    /// Sends a window update when the window has grown enough (RFC 9293 section 3.8.6.2.2).
    fn update_window(&mut self) {
        if self.state == State::Established && self.window.can_advance(self.reassembly.next()) {
            self.acks.send_now();
        }
    }

    /// Counters since the creation.
    #[must_use]
    pub fn stats(&self) -> &ReceiverStats {
        &self.stats
    }
}
