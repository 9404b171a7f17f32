//! One direction of a connection: its law at the sender's edge, and its echo at the receiver's.

use std::collections::VecDeque;

use airfair_host::{Echo, Firing, Slot};
use airfair_schemes::places::{
    Acked, Allowance, Congestion, CongestionCause, FlowSetup, Header, Idle, Sent, Source, SourceContext,
    SourceEffects, Timer,
};
use airfair_transport::Pacer;
use airfair_units::{Bytes, Rate, Span, Time};
use airfair_wire::tcp::Tcp;

use super::Held;
use super::flight::{Flight, Leaving};
use crate::flows::is_after;

/// Linux's time-out is the round-trip time and four times its variation, at least this (`tcp_rto_min`).
const LEAST_VARIATION: Span = Span::from_millis(200);
const FIRST_RTO: Span = Span::from_secs(1);

/// Segments that a sender's kernel may have ready beyond the window of the law, so that the edge never waits for it.
const READY: u64 = 2;

/// Most frames that wait at the edge of a connection.
pub(super) const MOST_HELD: usize = 1000;

/// The window that the law may grow to: the largest that TCP can announce.
const LARGEST_WINDOW: u64 = 1 << 30;

/// One direction of a connection.
pub(super) struct Half {
    slot: Slot<Box<dyn Source>>,
    /// The receiver's edge.
    pub echo: Echo,
    flight: Flight,
    /// Frames that wait at the sender's edge: first `repeated` that repeat what has left, then new ones, both in their order.
    held: VecDeque<Held>,
    repeated: usize,
    pace: Pacer,
    /// A time at which the edge is looked at again, and is waiting for.
    pub look_at: Option<Time>,
    /// The receiver's windows are shifted by so much, if the sender's SYN allows for it (RFC 7323 section 2.2); its largest segment.
    scale: u8,
    scales: bool,
    mss: u64,
    /// Length of IP's header.
    ip: u64,
    /// The SYN has left, once or more.
    syn: Option<Time>,
    syn_lost: bool,
    started: bool,
    link: Option<Rate>,
    rtt: Option<[Span; 2]>,
    /// The number after what was sent as a loss was noticed; losses before it are of the same event.
    recovery: Option<(u32, CongestionCause)>,
    round_end: u32,
    /// The law's window was full since the last acknowledgement.
    limited: bool,
    /// The segment that leaves next has waited.
    waited: bool,
    /// The time to live with which the last packet has left.
    pub lives: Option<u8>,
    /// The right edge of the window that the kernel was told.
    edge: Option<u32>,
    last_left: Time,
    /// Number of the FIN; it is acknowledged.
    fin: Option<u32>,
    over: bool,
    pub last_used: Time,
    /// The edge is about to look at its first frame.
    pub is_looked_at: bool,
    /// The receiver's edge has kept a header since its last answer; the sender's has stamped a segment since its last answer to the other
    /// direction.
    pub has_kept: bool,
    pub has_stamped: bool,
    /// Number of the direction among all, by which timers know theirs.
    pub number: u64,
    /// The law follows TCP's since routers do not support its scheme.
    fell_back: bool,
}

/// Effects of hooks, and timers that they have set.
#[derive(Default)]
pub(super) struct Effects {
    pub source: SourceEffects,
    pub firings: Vec<Firing>,
}

impl Half {
    /// The `number`-th direction of all; `ip`: length of IP's header.
    pub fn new(slot: Slot<Box<dyn Source>>, (number, ip): (u64, u64), now: Time) -> Self {
        Self {
            slot,
            echo: Echo::default(),
            flight: Flight::default(),
            held: VecDeque::new(),
            repeated: 0,
            pace: Pacer::default(),
            look_at: None,
            scale: 0,
            scales: false,
            mss: 536,
            ip,
            syn: None,
            syn_lost: false,
            started: false,
            link: None,
            rtt: None,
            recovery: None,
            round_end: 0,
            limited: false,
            waited: false,
            lives: None,
            edge: None,
            last_left: now,
            fin: None,
            over: false,
            last_used: now,
            is_looked_at: false,
            has_kept: false,
            has_stamped: false,
            number,
            fell_back: false,
        }
    }

    /// The law.
    pub fn law(&mut self) -> &mut Box<dyn Source> {
        &mut self.slot.machine
    }

    /// Calls a hook of the law; timers that it sets are left in `effects`.
    fn call(
        &mut self,
        effects: &mut Effects,
        now: Time,
        hook: impl FnOnce(&mut Box<dyn Source>, &mut SourceContext<'_>),
    ) {
        self.slot.call(now, &mut effects.source, &mut effects.firings, hook);
    }

    /// The sender's SYN leaves.
    pub fn syn_leaves(&mut self, header: &Tcp, link: Option<Rate>, now: Time) {
        if self.started {
            return;
        }
        self.link = link;
        self.scales = header.options.window_scale().is_some();
        self.syn_lost |= self.syn.is_some();
        self.syn.get_or_insert(now);
        self.flight.begin(header.sequence.wrapping_add(1), now);
        self.round_end = header.sequence.wrapping_add(1);
        self.last_left = now;
    }

    /// True of a SYN that is sent again.
    pub fn repeats_syn(&self, header: &Tcp) -> bool {
        self.syn.is_some() && !self.started && self.flight.una() == Some(header.sequence.wrapping_add(1))
    }

    /// The receiver's SYN says how it will announce windows, and what it takes at once.
    pub fn receiver_says(&mut self, header: &Tcp) {
        self.scale = header.options.window_scale().map_or(0, |scale| scale.get());
        self.mss = u64::from(header.options.mss().unwrap_or(536)).max(1);
    }

    fn rto(&self) -> Span {
        self.rtt.map_or(FIRST_RTO, |[rtt, variance]| Span(rtt.0 + (4 * variance.0).max(LEAST_VARIATION.0)))
    }

    fn observe(&mut self, sample: Span) {
        self.rtt = Some(match self.rtt {
            None => [sample, Span(sample.0 / 2)],
            Some([rtt, variance]) => {
                let apart = Span(rtt.0.abs_diff(sample.0));
                [Span((7 * rtt.0 + sample.0) / 8), Span((3 * variance.0 + apart.0) / 4)]
            }
        });
    }

    /// The connection is established: the law begins.
    fn start(&mut self, timestamps: bool, option: u64, effects: &mut Effects, now: Time) {
        if self.started {
            return;
        }
        self.started = true;
        let rtt = self.syn.filter(|_| !self.syn_lost).map(|at| now.since(at));
        rtt.into_iter().for_each(|rtt| self.observe(rtt));
        // Of the largest segment Linux takes the options that each has; the header of the scheme the SYN has taken already.
        let stamps = if timestamps { 12 } else { 0 };
        self.mss = self.mss.saturating_sub(stamps).max(1);
        let setup = FlowSetup {
            mss: Bytes(self.mss),
            headers: Bytes(self.ip + 20 + stamps + option),
            // RFC 5681 section 3.1.
            initial_window: Bytes(if self.syn_lost { self.mss } else { 10 * self.mss }),
            window_limit: Bytes(LARGEST_WINDOW),
            rtt,
            syn_lost: self.syn_lost,
            link: self.link,
        };
        self.call(effects, now, |law, context| law.on_start(&setup, context));
    }

    fn allowance(&self, now: Time) -> Allowance {
        self.slot.machine.allowance(now)
    }

    /// True if `bytes` may leave now.
    fn may_leave(&mut self, bytes: u64, repeats: bool, now: Time) -> bool {
        let allowance = self.allowance(now);
        if allowance.rate.is_some_and(|rate| self.pace.check(now, bytes, rate).is_err()) {
            return false;
        }
        let window = allowance.window.map_or(u64::MAX, Bytes::get);
        let fits = repeats || self.flight.in_flight() == 0 || self.flight.in_flight() + bytes <= window;
        self.limited |= !fits;
        fits
    }

    /// True if a segment repeats what has left.
    fn repeats(&self, sequence: u32, payload: u32) -> bool {
        payload > 0 && matches!(self.flight.compare(sequence, payload), Some(Leaving::Repeated { .. }))
    }

    /// True if this segment has to wait at the edge: others of its kind wait, or the law does not let it leave.
    pub fn must_wait(&mut self, header: &Tcp, payload: u32, now: Time) -> bool {
        let repeats = self.repeats(header.sequence, payload);
        let others = if repeats { self.repeated > 0 } else { !self.held.is_empty() };
        // An acknowledgement waits for nothing; a FIN does not overtake data.
        let counts = payload > 0 || header.flags.fin;
        self.started && counts && (others || payload > 0 && !self.may_leave(payload.into(), repeats, now))
    }

    /// True if the same segment waits here already: the kernel has lost patience.
    pub fn holds(&self, header: &Tcp, payload: u32) -> bool {
        payload > 0
            && self.held.iter().any(|held| (held.sequence, held.payload) == (header.sequence, payload))
    }

    /// Lets a frame wait, repetitions before new data; false if too many do.
    pub fn hold(&mut self, held: Held) -> bool {
        if self.held.len() >= MOST_HELD {
            return false;
        }
        if self.repeats(held.sequence, held.payload) {
            self.held.insert(self.repeated, held);
            self.repeated += 1;
        } else {
            self.held.push_back(held);
        }
        true
    }

    /// True if frames wait.
    pub fn waits(&self) -> bool {
        !self.held.is_empty()
    }

    /// The first frame that waits, if it may leave now.
    pub fn release(&mut self, now: Time) -> Option<Held> {
        let &Held { sequence, payload, .. } = self.held.front()?;
        if payload > 0 && !self.may_leave(payload.into(), self.repeats(sequence, payload), now) {
            return None;
        }
        self.repeated = self.repeated.saturating_sub(1);
        self.waited = true;
        self.held.pop_front()
    }

    /// The time at which the first frame that waits may leave; `None` if it waits for an acknowledgement, or none waits.
    pub fn due(&self, now: Time) -> Option<Time> {
        let bytes = self.held.front()?.payload.into();
        let at = self.pace.check(now, bytes, self.allowance(now).rate?).err()?;
        (at < Time::NEVER).then_some(at)
    }

    /// All frames that wait, as the connection ends.
    pub fn take_held(&mut self) -> VecDeque<Held> {
        self.repeated = 0;
        std::mem::take(&mut self.held)
    }

    /// A segment leaves the edge: the law is told of silence and loss before, and of the segment after it.
    pub fn leaves(&mut self, header: &Tcp, payload: u32, effects: &mut Effects, now: Time) {
        self.last_used = now;
        let waited = std::mem::take(&mut self.waited);
        // Data in a SYN (RFC 7413) begin after the number of the SYN.
        let sequence = header.sequence.wrapping_add(u32::from(header.flags.syn));
        if header.flags.fin {
            self.fin = Some(sequence.wrapping_add(payload));
        }
        let Some(compared) = self.flight.compare(sequence, payload).filter(|_| payload > 0) else { return };
        if !self.started {
            self.flight.leave(sequence, payload, false, now);
            return;
        }
        let rto = self.rto();
        let silence = now.since(self.last_left);
        let mut retransmission = false;
        match compared {
            Leaving::New if self.flight.outstanding() == 0 && silence > rto => {
                let idle = Idle { span: silence, rto };
                self.call(effects, now, |law, context| law.on_idle(&idle, context));
            }
            Leaving::New => {}
            Leaving::Repeated { first, last, again } => {
                retransmission = true;
                self.loss((first, last, again), effects, now);
            }
        }
        let allowance = self.allowance(now);
        let window = allowance.window.map_or(u64::MAX, Bytes::get);
        let is_full = self.flight.in_flight() + u64::from(payload) + self.mss > window;
        self.limited |= is_full;
        self.flight.leave(sequence, payload, !is_full && !waited && self.held.is_empty(), now);
        if let Some(rate) = allowance.rate {
            self.pace.on_sent(now, payload.into(), rate, allowance.quantum);
        }
        self.last_left = now;
        let sent =
            Sent { bytes: Bytes(payload.into()), in_flight: Bytes(self.flight.in_flight()), retransmission };
        self.call(effects, now, |law, context| law.on_sent(&sent, context));
    }

    /// The kernel repeats a segment: the first one by its timer, where it has heard nothing for about a time-out, or after a loss that
    /// acknowledgements have shown. A probe (RFC 8985 section 7) repeats the last one, and is no sign of congestion.
    fn loss(&mut self, (first, last, again): (bool, bool, bool), effects: &mut Effects, now: Time) {
        if last && !again {
            return;
        }
        let quiet = now.since(self.flight.heard());
        let by_timer = first && quiet.0 >= self.rto().0 / 10 * 9;
        let cause = if by_timer { CongestionCause::Timeout } else { CongestionCause::FastLoss };
        if self.recovery.is_some() && cause == CongestionCause::FastLoss {
            return;
        }
        let before = self.recovery.is_some_and(|(_, cause)| cause == CongestionCause::Timeout);
        self.recovery = self.flight.next().map(|next| (next, cause));
        let congestion = Congestion {
            cause,
            in_flight: Bytes(self.flight.outstanding()),
            pipe: Bytes(self.flight.in_flight()),
            repeated: before && again && cause == CongestionCause::Timeout,
        };
        self.call(effects, now, |law, context| law.on_congestion(&congestion, context));
        if cause == CongestionCause::Timeout {
            self.flight.lose_all();
        }
    }

    /// Feedback of routers, which the receiver's edge has sent back. True if the law follows TCP's from now on.
    pub fn feedback(&mut self, header: &Header, effects: &mut Effects, now: Time) -> bool {
        self.call(effects, now, |law, context| law.on_feedback(header, context));
        !std::mem::replace(&mut self.fell_back, self.slot.machine.fell_back()) && self.fell_back
    }

    /// An acknowledgement arrives at the sender's edge; `option`: bytes of the header of the scheme in a segment.
    pub fn acknowledged(&mut self, header: &Tcp, bare: bool, option: u64, effects: &mut Effects, now: Time) {
        self.last_used = now;
        self.start(header.options.timestamps().is_some(), option, effects, now);
        let of_fin = self.fin.filter(|&fin| header.acknowledgement == fin.wrapping_add(1));
        self.over |= of_fin.is_some();
        let number = of_fin.unwrap_or(header.acknowledgement);
        let Some(added) = self.flight.acknowledge(number, header.options.sack(), bare, now) else { return };
        if added.bytes == 0 && added.cumulative == 0 {
            return;
        }
        added.rtt.into_iter().for_each(|rtt| self.observe(rtt));
        let una = self.flight.una().unwrap_or(number);
        let round_ended = is_after(una, self.round_end) || una == self.round_end;
        if round_ended {
            self.round_end = self.flight.next().unwrap_or(una);
        }
        let recovered = self.recovery.filter(|&(point, _)| !is_after(point, una));
        let acked = Acked {
            bytes: Bytes(added.bytes),
            cumulative: Bytes(added.cumulative),
            lost: Bytes(added.lost),
            prior_in_flight: Bytes(added.prior),
            in_flight: Bytes(self.flight.in_flight()),
            rtt: added.rtt,
            rate_sample: added.sample,
            round_ended,
            window_limited: std::mem::take(&mut self.limited),
            in_recovery: self.recovery.is_some_and(|(_, cause)| cause == CongestionCause::FastLoss),
            sent_at: added.sent_at,
        };
        self.call(effects, now, |law, context| law.on_acked(&acked, context));
        if let Some((_, cause)) = recovered {
            self.recovery = None;
            if cause == CongestionCause::FastLoss {
                let left = Bytes(self.flight.in_flight());
                self.call(effects, now, |law, context| law.on_recovered(left, context));
            }
        }
    }

    /// The window field that the kernel is to see in an acknowledgement, if it is smaller than that of the receiver: the law's window, and
    /// a little for what waits at the edge. The right edge that was told never moves back (RFC 9293 section 3.8.6), nor
    /// behind what the kernel has sent.
    pub fn window(&mut self, header: &Tcp, now: Time) -> Option<u16> {
        if !self.started || header.flags.syn {
            return None;
        }
        let allowance = self.allowance(now);
        let by_rate = || {
            let round = self.rtt.map_or(FIRST_RTO, |[rtt, _]| rtt);
            let bytes = |rate: Rate| u128::from(rate.0) * u128::from(round.0) / 4_000_000_000;
            allowance.rate.map(|rate| bytes(rate) as u64 + 10 * self.mss)
        };
        let window = allowance.window.map(Bytes::get).or_else(by_rate)?;
        let most = window.max(self.mss).saturating_add(READY * self.mss).min(LARGEST_WINDOW) as u32;
        let scale = if self.scales { self.scale } else { 0 };
        let given = u32::from(header.window) << scale;
        let from = header.acknowledgement;
        // The SYN's window is not known to have been used beyond what the kernel has sent.
        let seen = self.held.iter().rev().take(1).map(|held| held.sequence.wrapping_add(held.payload)).next();
        let sent = seen.or(self.flight.next()).unwrap_or(from);
        let edge = self.edge.filter(|&edge| is_after(edge, sent)).unwrap_or(sent);
        let kept = edge.wrapping_sub(from).cast_signed().max(0).cast_unsigned();
        let told = most.max(kept).min(given);
        // Rounded up: a window of less than a segment would stop the sender.
        let field = told.div_ceil(1 << scale).min(u32::from(header.window)) as u16;
        let right = from.wrapping_add(u32::from(field) << scale);
        self.edge = self.edge.filter(|&edge| is_after(edge, right)).or(Some(right));
        (field < header.window).then_some(field)
    }

    /// A timer of the law fires.
    pub fn timer(&mut self, timer: Timer, generation: u32, effects: &mut Effects, now: Time) {
        if self.slot.timers.fires(timer, generation) {
            self.call(effects, now, |law, context| law.on_timer(timer, context));
        }
    }

    /// True once the FIN is acknowledged.
    pub const fn is_over(&self) -> bool {
        self.over
    }
}
