//! Output: the next segment and its time.

use airfair_schemes::places::{Allowance, Ecn, Idle, Sent, SourceContext};
use airfair_units::{Bytes, Time};

use super::{Sender, State};
use crate::Segment;

impl Sender {
    /// The next segment that may be sent now. To be called until it returns none, or until the host has no room.
    pub fn poll(&mut self, context: &mut SourceContext<'_>) -> Option<Segment> {
        match self.state {
            State::Closed | State::Failed => None,
            State::SynSent => self.syn_due.then(|| self.syn(context.now)),
            State::Open | State::Recovery | State::Loss => {
                self.paced_until = None;
                // A data segment carries an acknowledgement too.
                let due = core::mem::take(&mut self.ack_due);
                if let Some(data) = self.next_data(context) {
                    return Some(data);
                }
                if self.probe_due || due { self.probe_or_ack(due, context.now) } else { None }
            }
        }
    }

    /// True if the last segment has used up the window or the pacing burst, so that polling again would return none.
    #[inline(always)]
    pub fn is_spent(&self) -> bool {
        self.spent
    }

    fn next_data(&mut self, context: &mut SourceContext<'_>) -> Option<Segment> {
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
            && self.sack
            && let Some(segment) = self.last_resort(context)
        {
            return Some(segment);
        }
        // Delivery rates from here on are limited by the application, not by the path.
        if self.buffered() < self.next + u64::from(self.mss)
            && self.fits(self.mss, &self.law.allowance(context.now))
        {
            self.delivery.on_app_limited(self.pipe());
        }
        None
    }

    /// Retransmits the segment at an index of the scoreboard, if window and pacing allow it.
    #[inline(never)]
    fn retransmit(&mut self, index: usize, context: &mut SourceContext<'_>) -> Option<Segment> {
        let segment = *self.board.get(index)?;
        let allowance = self.law.allowance(context.now);
        if !self.retransmit_head_now && !self.fits(segment.payload, &allowance) {
            self.full_to = self.next;
            return None;
        }
        self.pace(segment.payload, &allowance, context.now)?;
        self.retransmit_head_now = false;
        let snapshot = self.delivery.on_sent(context.now, false);
        self.board.resend(index, snapshot);
        self.note_resent(segment.payload, context.now);
        // RFC 6298 section 3 (Karn): an acknowledgement of it, or of anything after it, does not identify the acknowledged copy.
        self.timing = self.timing.filter(|&(end, _)| end <= segment.seq);
        self.stats.retransmissions += 1;
        self.stats.bytes_retransmitted += u64::from(segment.payload);
        Some(self.send(segment.seq, segment.payload, segment.fin, true, &allowance, context))
    }

    /// RFC 6675 section 4, NextSeg rules 3 and 4: if nothing else can be sent, possibly lost data are retransmitted, and once in a recovery
    /// the last segment.
    fn last_resort(&mut self, context: &mut SourceContext<'_>) -> Option<Segment> {
        if let Some(index) = self.board.next_possibly_lost() {
            return self.retransmit(index, context);
        }
        if self.una <= self.rescue {
            return None;
        }
        let index = self.board.last_missing()?;
        let segment = self.retransmit(index, context)?;
        self.rescue = self.recover;
        Some(segment)
    }

    /// New data allowed by the receiver's window and the rules against small segments: payload and FIN.
    fn new_data(&mut self, now: Time) -> Option<(u32, bool)> {
        let left = self.buffered().saturating_sub(self.next);
        let usable = self.una.saturating_add(self.peer_window).saturating_sub(self.next);
        let full = u64::from(self.mss);
        let payload = left.min(full).min(usable);
        let last = payload == self.end().saturating_sub(self.next);
        let fin = self.closed && self.config.fin && last && self.next <= self.end();
        if left == 0 {
            return fin.then_some((0, true));
        }
        if payload == left.min(full) {
            // RFC 9293 section 3.7.4 (Nagle): a segment that is not full waits for acknowledgements, unless it is the last.
            let waits = self.config.nagle && payload < full && self.una < self.next && !self.closed;
            return (!waits).then_some((payload as u32, fin));
        }
        // RFC 9293 section 3.8.6.2.1: a part of the available data is sent only if it is at least half of the largest window.
        if payload > 0 && payload >= self.largest_window.div_ceil(2) {
            return Some((payload as u32, fin));
        }
        if self.board.is_empty() {
            if self.probe_due && payload > 0 {
                // The override timer of that section.
                self.probe_due = false;
                return Some((payload as u32, fin));
            }
            if self.persist_at.is_none() {
                self.persist_at = Some(self.rtt.expiry(now, &self.config));
            }
        }
        None
    }

    fn send_new(&mut self, payload: u32, fin: bool, context: &mut SourceContext<'_>) -> Option<Segment> {
        let now = context.now;
        if self.reductions.hold.is_some() {
            return None;
        }
        if payload > 0 {
            self.restart_if_idle(context);
        }
        let allowance = self.law.allowance(now);
        if !self.fits(payload, &allowance) {
            self.full_to = self.next;
            return None;
        }
        self.pace(payload, &allowance, now)?;
        let seq = self.next;
        let snapshot = self.delivery.on_sent(now, self.board.is_empty());
        self.board.push(seq, payload, fin, snapshot);
        self.next = seq + u64::from(payload) + u64::from(fin);
        self.persist_at = None;
        self.persists = 0;
        if self.timing.is_none() {
            self.timing = Some((self.next, now));
        }
        if self.state == State::Open
            && self.dupacks > 0
            && self.board.payload() > self.within_limit(&allowance)
        {
            self.limited += u64::from(payload);
        }
        let mut segment = self.send(seq, payload, fin, false, &allowance, context);
        if self.ecn && payload > 0 {
            // RFC 3168 section 6.1.2: new data are ECN-capable, and the first after a reduction carry CWR.
            segment.ecn = Ecn::Ect;
            segment.flags.cwr = core::mem::take(&mut self.reductions.announce);
        }
        Some(segment)
    }

    /// Counts a departure, notifies the law, starts the timer (RFC 6298 section 5.1), and builds the segment.
    #[inline(always)]
    fn send(
        &mut self,
        seq: u64,
        payload: u32,
        fin: bool,
        retransmission: bool,
        allowance: &Allowance,
        context: &mut SourceContext<'_>,
    ) -> Segment {
        let now = context.now;
        let bytes = u64::from(payload);
        self.stats.segments += 1;
        self.stats.bytes += bytes;
        self.last_sent = now;
        let full = !self.fits(self.mss, allowance);
        if full {
            self.full_to = self.next;
        }
        // A full segment is available, and the receiver has room for it.
        let after = self.next + u64::from(self.mss);
        let whole = self.state == State::Open
            && self.buffered() >= after
            && self.una.saturating_add(self.peer_window) >= after;
        self.spent = full && whole;
        if let Some(rate) = allowance.rate {
            self.pacer.on_sent(now, bytes, rate, allowance.quantum);
            if whole && !full {
                self.spent = self.pace(self.mss, allowance, now).is_none();
            }
        }
        if let Some((prr, _)) = &mut self.prr {
            prr.on_sent(bytes);
        }
        self.rto_at.get_or_insert_with(|| self.rtt.expiry(now, &self.config));
        let sent = Sent { bytes: Bytes(bytes), in_flight: Bytes(self.pipe()), retransmission };
        if payload > 0 {
            self.law.on_sent(&sent, context);
        }
        let mut segment = Segment { seq, payload, ..self.bare(now) };
        segment.flags.fin = fin;
        segment
    }

    /// True if `payload` more bytes fit into the congestion window. A window below one segment still allows one when nothing is in flight;
    /// a window of zero allows none.
    pub(super) fn fits(&self, payload: u32, allowance: &Allowance) -> bool {
        let window = self.usable_window(allowance);
        let pipe = self.counted_pipe();
        payload == 0 || pipe + u64::from(payload) <= window || (pipe == 0 && window > 0)
    }

    /// The congestion window with the additions of recovery, bytes.
    fn usable_window(&self, allowance: &Allowance) -> u64 {
        let window = self.within_limit(allowance);
        let mss = u64::from(self.mss);
        match (self.state, &self.prr) {
            // Where the law has no window, none is reduced.
            (State::Recovery, Some((_, window))) if allowance.window.is_some() => *window,
            (State::Recovery, _) => window.saturating_add_signed(self.inflation),
            // RFC 3042: up to two segments beyond the window; with SACK the scoreboard releases as much.
            (State::Open, _) if self.config.limited_transmit && !self.sack => {
                window.saturating_add(u64::from(self.dupacks.min(2)) * mss)
            }
            _ => window,
        }
    }

    /// Bytes that count against the window. Without limited transmit, selectively acknowledged data release nothing until recovery starts.
    fn counted_pipe(&self) -> u64 {
        let held = self.state == State::Open && !self.config.limited_transmit;
        self.board.pipe() + if held { self.board.sacked() } else { 0 }
    }

    /// Returns `None` if pacing delays `payload` bytes.
    fn pace(&mut self, payload: u32, allowance: &Allowance, now: Time) -> Option<()> {
        let Some(rate) = allowance.rate else { return Some(()) };
        match self.pacer.check(now, u64::from(payload), rate) {
            Ok(()) => Some(()),
            Err(until) => {
                self.paced_until = Some(until).filter(|&until| until < Time::NEVER);
                None
            }
        }
    }

    /// RFC 5681 section 4.1: restarts after a time without transmissions that exceeds the retransmission time-out.
    fn restart_if_idle(&mut self, context: &mut SourceContext<'_>) {
        let (span, rto) = (context.now.since(self.last_sent), self.rtt.rto(&self.config));
        if self.config.idle_restart && self.board.is_empty() && span > rto {
            self.last_sent = context.now;
            self.stats.idle_restarts += 1;
            self.law.on_idle(&Idle { span, rto }, context);
        }
    }

    #[inline(never)]
    fn probe_or_ack(&mut self, due: bool, now: Time) -> Option<Segment> {
        self.probe(now).or_else(|| due.then(|| self.bare(now)))
    }

    /// A probe of the closed window: one new byte beyond it, which is neither counted nor timed (RFC 9293 section 3.8.6.1).
    fn probe(&mut self, now: Time) -> Option<Segment> {
        if !core::mem::take(&mut self.probe_due) || self.next >= self.end() || !self.board.is_empty() {
            return None;
        }
        self.stats.probes += 1;
        self.probed_to = self.next + 1;
        // RFC 3168 section 6.1.6: never marked.
        Some(Segment { payload: 1, ..self.bare(now) })
    }
}
