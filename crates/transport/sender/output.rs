//! Output: the next segment and its time, and what limits it.

use airfair_schemes::places::{Allowance, Ecn, Idle, Sent, SourceContext};
use airfair_units::{Bytes, Time};

use super::handshake::Handshake;
use super::offload::Offload;
use super::{Sender, State};
use crate::Segment;

/// The limit of a sender that has been polled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// The connection is not open yet, or has failed.
    Handshake,
    /// The application has provided no more data, or has not refilled the send buffer yet, or Nagle's algorithm holds a segment that is
    /// not full.
    Application,
    /// The law's congestion window is full, or new data wait after a mark.
    Window,
    /// The window is full at its configured maximum: the law would allow more.
    WindowLimit,
    /// The receiver's window is full.
    PeerWindow,
    /// The time of the next paced segment has not come.
    Pacing,
    /// No limit: there is data that may be sent.
    Nothing,
}

/// A segment that is to be sent now; [`Sender::segment`] builds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departure {
    seq: u64,
    payload: u32,
    syn: bool,
    fin: bool,
    /// New data of a connection with ECN, which are ECN-capable.
    ecn: bool,
    /// The first of them after a reduction.
    cwr: bool,
    /// The last of a packet of several segments, or of the application's data.
    push: bool,
}

impl Departure {
    /// Payload or nothing from `seq` on.
    #[inline(always)]
    fn plain(seq: u64, payload: u32, fin: bool) -> Self {
        Self { seq, payload, syn: false, fin, ecn: false, cwr: false, push: false }
    }
}

impl Sender {
    /// The next segment that may be sent now, to be built at once. To be called until it returns none, or until the host has no room.
    #[inline(always)]
    pub fn poll(&mut self, context: &mut SourceContext<'_>) -> Option<Departure> {
        match self.state {
            State::Closed | State::Failed => None,
            State::SynSent => self.handshake.due.then(|| self.depart_syn(context.now)),
            State::Open | State::Recovery | State::Loss => {
                self.timers.paced_until = None;
                // A data segment carries an acknowledgement too.
                let due = core::mem::take(&mut self.ack_due);
                if let Some(data) = self.next_data(context) {
                    return Some(data);
                }
                if self.probe_due || due { self.probe_or_ack(due) } else { None }
            }
        }
    }

    /// Builds a segment that departs now.
    #[inline(always)]
    #[must_use]
    pub fn segment(&self, departure: &Departure, now: Time) -> Segment {
        let &Departure { seq, payload, syn, fin, ecn, cwr, push } = departure;
        if syn {
            return Handshake::syn(&self.config, now);
        }
        let mut segment = self.peer.bare(seq, now);
        segment.payload = payload;
        segment.flags.fin = fin;
        segment.flags.cwr = cwr;
        segment.flags.psh = push;
        if ecn {
            segment.ecn = Ecn::Ect;
        }
        segment
    }

    /// True if the last segment has used up the window or the pacing burst, so that polling again would return none.
    #[inline(always)]
    pub fn is_spent(&self) -> bool {
        self.spent
    }

    #[cold]
    #[inline(never)]
    fn depart_syn(&mut self, now: Time) -> Departure {
        self.stream.next = 1;
        self.stats.syns += 1;
        self.handshake.on_sent(self.stats.syns, now);
        self.timers.rto_at = Some(self.rtt.expiry(now, &self.config));
        Departure { syn: true, ..Departure::plain(0, 0, false) }
    }

    #[inline(always)]
    fn next_data(&mut self, context: &mut SourceContext<'_>) -> Option<Departure> {
        if self.state != State::Open
            && let Some(index) = self.board.next_lost()
        {
            // Lost data are retransmitted before new data are sent (RFC 6675 section 4, NextSeg rule 1).
            return self.retransmit(index, context);
        }
        if let Some((payload, fin)) = self.new_data(context.now) {
            return self.send_new(payload, fin, context);
        }
        if self.state == State::Recovery
            && self.peer.sack
            && let Some(segment) = self.last_resort(context)
        {
            return Some(segment);
        }
        // Delivery rates from here on are limited by the application, not by the path.
        if self.stream.buffered() < self.stream.next + u64::from(self.peer.mss)
            && self.fits(self.peer.mss, &self.law.allowance(context.now))
        {
            self.delivery.on_app_limited(self.pipe());
        }
        None
    }

    /// Retransmits the segment at an index of the scoreboard, if window and pacing allow it.
    #[inline(never)]
    fn retransmit(&mut self, index: usize, context: &mut SourceContext<'_>) -> Option<Departure> {
        let segment = *self.board.get(index)?;
        let allowance = self.law.allowance(context.now);
        if !self.recovery.head_due && !self.fits(segment.payload, &allowance) {
            self.full_to = self.stream.next;
            return None;
        }
        self.timers.pace(&self.pacer, segment.payload, allowance.rate, context.now)?;
        self.recovery.head_due = false;
        self.offload.on_retransmission();
        let snapshot = self.delivery.on_sent(context.now, false);
        self.board.resend(index, snapshot);
        self.undoing.note_resent(segment.payload, context.now);
        // RFC 6298 section 3 (Karn): an acknowledgement of it, or of anything after it, does not identify the acknowledged copy.
        self.rtt.end_timing_after(segment.seq);
        self.stats.retransmissions += 1;
        self.stats.bytes_retransmitted += u64::from(segment.payload);
        self.on_departure(segment.payload, true, &allowance, context);
        Some(Departure::plain(segment.seq, segment.payload, segment.fin))
    }

    /// RFC 6675 section 4, NextSeg rules 3 and 4: if nothing else can be sent, possibly lost data are retransmitted, and once in a recovery
    /// the last segment.
    fn last_resort(&mut self, context: &mut SourceContext<'_>) -> Option<Departure> {
        if let Some(index) = self.board.next_possibly_lost() {
            return self.retransmit(index, context);
        }
        if self.stream.una <= self.recovery.rescue {
            return None;
        }
        let index = self.board.last_missing()?;
        let segment = self.retransmit(index, context)?;
        self.recovery.rescue = self.recovery.point;
        Some(segment)
    }

    /// New data allowed by the receiver's window and the rules against small segments: payload and FIN.
    #[inline(always)]
    fn new_data(&mut self, now: Time) -> Option<(u32, bool)> {
        let stream = &self.stream;
        let left = stream.left();
        let usable = stream.una.saturating_add(self.peer.window).saturating_sub(stream.next);
        let full = u64::from(self.peer.mss);
        let payload = left.min(full).min(usable);
        let last = payload == stream.end().saturating_sub(stream.next);
        let fin = last && stream.is_closed() && self.config.fin && stream.next <= stream.end();
        if left == 0 {
            return fin.then_some((0, true));
        }
        if payload == left.min(full) {
            // RFC 9293 section 3.7.4 (Nagle): a segment that is not full waits for acknowledgements, unless it is the last.
            let waits =
                payload < full && self.config.nagle && stream.una < stream.next && !stream.is_closed();
            return (!waits).then_some((payload as u32, fin));
        }
        // RFC 9293 section 3.8.6.2.1: a part of the available data is sent only if it is at least half of the largest window.
        if payload > 0 && payload >= self.peer.largest_window.div_ceil(2) {
            return Some((payload as u32, fin));
        }
        if self.board.is_empty() {
            if self.probe_due && payload > 0 {
                // The override timer of that section.
                self.probe_due = false;
                return Some((payload as u32, fin));
            }
            self.timers.start_probing(&self.rtt, now, &self.config);
        }
        None
    }

    #[inline(always)]
    fn send_new(&mut self, payload: u32, fin: bool, context: &mut SourceContext<'_>) -> Option<Departure> {
        let now = context.now;
        if self.reductions.hold.is_some() {
            return None;
        }
        let idle = self.board.is_empty();
        if idle && payload > 0 && self.config.idle_restart {
            self.restart_if_idle(context);
        }
        let allowance = self.law.allowance(now);
        if !self.fits(payload, &allowance) {
            self.full_to = self.stream.next;
            return None;
        }
        self.timers.pace(&self.pacer, payload, allowance.rate, now)?;
        let seq = self.stream.next;
        let push = self.config.push && ends_packet(self, payload, &allowance, now);
        let snapshot = self.delivery.on_sent(now, idle);
        self.board.push(seq, payload, fin, snapshot);
        self.stream.next = seq + u64::from(payload) + u64::from(fin);
        self.timers.end_probing();
        self.rtt.start_timing(self.stream.next, now);
        if self.recovery.dupacks > 0
            && self.state == State::Open
            && self.board.payload() > self.config.within_limit(&allowance)
        {
            self.recovery.limited += u64::from(payload);
        }
        self.on_departure(payload, false, &allowance, context);
        let mut departure = Departure { push, ..Departure::plain(seq, payload, fin) };
        if self.peer.ecn && payload > 0 {
            // RFC 3168 section 6.1.2: new data are ECN-capable, and the first after a reduction carry CWR.
            departure.ecn = true;
            departure.cwr = core::mem::take(&mut self.reductions.announce);
        }
        Some(departure)
    }

    /// Counts a departure, notifies the law, and starts the timer (RFC 6298 section 5.1).
    #[inline(always)]
    fn on_departure(
        &mut self,
        payload: u32,
        retransmission: bool,
        allowance: &Allowance,
        context: &mut SourceContext<'_>,
    ) {
        let now = context.now;
        let bytes = u64::from(payload);
        self.stats.segments += 1;
        self.stats.bytes += bytes;
        self.last_sent = now;
        let full = !self.fits(self.peer.mss, allowance);
        if full {
            self.full_to = self.stream.next;
        }
        // A full segment is available, and the receiver has room for it.
        let after = self.stream.next + u64::from(self.peer.mss);
        let whole = self.state == State::Open
            && self.stream.buffered() >= after
            && self.stream.una.saturating_add(self.peer.window) >= after;
        self.spent = full && whole;
        if let Some(rate) = allowance.rate {
            self.pacer.on_sent(now, bytes, rate, allowance.quantum);
            if whole && !full {
                self.spent = self.timers.pace(&self.pacer, self.peer.mss, allowance.rate, now).is_none();
            }
        }
        self.recovery.on_sent(bytes);
        self.timers.start_retransmission(&self.rtt, now, &self.config);
        if payload > 0 {
            let sent = Sent { bytes: Bytes(bytes), in_flight: Bytes(self.pipe()), retransmission };
            self.law.on_sent(&sent, context);
        }
    }

    /// True if `payload` more bytes fit into the congestion window. A window below one segment still allows one when nothing is in flight;
    /// a window of zero allows none.
    #[inline(always)]
    fn fits(&self, payload: u32, allowance: &Allowance) -> bool {
        let window = self.recovery.window(self.state, allowance, &self.peer, &self.config);
        // Without limited transmit, selectively acknowledged data release nothing until recovery starts.
        let held = self.state == State::Open && !self.config.limited_transmit;
        let pipe = self.board.pipe() + if held { self.board.sacked() } else { 0 };
        payload == 0 || pipe + u64::from(payload) <= window || (pipe == 0 && window > 0)
    }

    /// RFC 5681 section 4.1: restarts after a time without transmissions that exceeds the retransmission time-out.
    fn restart_if_idle(&mut self, context: &mut SourceContext<'_>) {
        let (span, rto) = (context.now.since(self.last_sent), self.rtt.rto(&self.config));
        if span > rto {
            self.last_sent = context.now;
            self.stats.idle_restarts += 1;
            self.law.on_idle(&Idle { span, rto }, context);
        }
    }

    /// A probe of the closed window: one new byte beyond it, which is neither counted nor timed (RFC 9293 section 3.8.6.1), and never
    /// marked (RFC 3168 section 6.1.6); or an acknowledgement, if that is due.
    #[inline(never)]
    fn probe_or_ack(&mut self, due: bool) -> Option<Departure> {
        let next = self.stream.next;
        if core::mem::take(&mut self.probe_due) && next < self.stream.end() && self.board.is_empty() {
            self.stats.probes += 1;
            self.stream.probed_to = next + 1;
            return Some(Departure::plain(next, 1, false));
        }
        due.then(|| Departure::plain(next, 0, false))
    }

    /// Reason for which the sender sends nothing more now, as of the last poll, for `explain`; computing it changes nothing.
    #[must_use]
    pub fn limit(&self, now: Time) -> Limit {
        if matches!(self.state, State::Closed | State::SynSent | State::Failed) {
            return Limit::Handshake;
        }
        if self.timers.paced_until.is_some() {
            return Limit::Pacing;
        }
        if self.reductions.hold.is_some() {
            return Limit::Window;
        }
        let allowance = self.law.allowance(now);
        let window = || {
            let law = allowance.window.map_or(u64::MAX, Bytes::get);
            if law > self.config.window_limit { Limit::WindowLimit } else { Limit::Window }
        };
        let (stream, full) = (&self.stream, u64::from(self.peer.mss));
        if self.state != State::Open && self.board.has_lost() {
            return if self.recovery.head_due || self.fits(self.peer.mss, &allowance) {
                Limit::Nothing
            } else {
                window()
            };
        }
        let left = stream.left();
        let wanted = left.min(full);
        let usable = stream.una.saturating_add(self.peer.window).saturating_sub(stream.next);
        if left == 0 || self.config.nagle && wanted < full && stream.una < stream.next {
            Limit::Application
        } else if usable < wanted {
            Limit::PeerWindow
        } else if !self.fits(wanted as u32, &allowance) {
            window()
        } else {
            Limit::Nothing
        }
    }
}

/// True if PSH ends the new segment that departs: it is the last of a packet of several (`__tcp_transmit_skb` of Linux), or of the data
/// that the application has written (`tcp_push`). A packet has at most half of the window (`tcp_cwnd_test`), and what windows and data
/// allow when it begins.
#[inline(never)]
fn ends_packet(sender: &mut Sender, payload: u32, allowance: &Allowance, now: Time) -> bool {
    let (stream, mss) = (&sender.stream, u64::from(sender.peer.mss).max(1));
    let written = stream.left();
    let mut offload = sender.offload;
    let ends = offload.on_new(|| {
        let window = sender.recovery.window(sender.state, allowance, &sender.peer, &sender.config);
        let room = window.saturating_sub(sender.board.pipe()).min(window / 2);
        let edge = stream.una.saturating_add(sender.peer.window);
        let most = room.min(edge.saturating_sub(stream.next)).min(written) / mss;
        most.min(Offload::goal(sender.pacing_rate(now), sender.rtt.smallest(), sender.peer.mss))
    });
    sender.offload = offload;
    ends || payload > 0 && u64::from(payload) == written
}
