//! Nodes that starve say so, and only then sources are limited (ours): `calls`.
//!
//! A limit keeps queues short and costs those who are limited: it is worth that where somebody starves for want of it, and only there. A
//! node whose flows fall silent while the channel is busy, and that has next to nothing of what it hears of the channel, calls for
//! [`TRIAL`]. Once its share has grown by that it goes on for [`HOLD`], or until its flows end, and looks again after [`LASTING`] without
//! limits; if not, it rests, twice as long after each call in vain, until it has not starved for as long. A flow that begins after a pause
//! of [`MEMORY`] is a new one, and the pause no silence of it. A share that was tiny must have grown many times at once, growth times
//! share at least [`GAIN`], or [`MORE`] times by the end of the trial and to [`LEAST`]: where many share a channel the fair share is small.
//!
//! - A call is for those who can decode the broadcast: passed on by one hop more it helped nobody more, and cost others. It is repeated
//!   with each sample, and every [`CALL`] once it has helped: near a hidden sender most broadcasts are lost.
//! - A node that tries is not limited by the calls of others, or it could not use what they leave; one that was helped is.
//! - Whom a node sends to starves for want of that node's packets: [`HeardCalls`](super::calls::HeardCalls) tells these calls apart.
//! - The use of the channel is counted without the times of NAV, which not every radio tells.
//! - A forged call does no more than `calls = "0 s"`: sources within its reach are limited for as long as it is repeated. One in the
//!   name of a flow's destination keeps the flow's time-outs from doubling, and itself unlimited.
//!
//! Measured and given up: turns of nodes that try, and few seconds in a minute for all trials together, cost less where nothing can be
//! helped and left most of those who can be helped starving; a watch over each flow in place of the node's use called where all was well.

use alloc::vec;

use airfair_units::{Span, Time};
use airfair_wire::diffq::Call;

use crate::places::{AgentContext, Airtime, Destination, Message, NodeId, NodeSample, Setting, Starving};

/// Length of a sample.
pub(super) const SAMPLE: Span = Span::from_millis(100);
/// Time between two calls of a node that was helped.
const CALL: Span = Span::from_millis(300);
/// The longest time for which a node calls before it knows whether that helps, and the shortest.
const TRIAL: Span = Span::from_secs(8);
const EARLIEST: Span = Span::from_secs(2);
/// The time for which it goes on if it does.
const HOLD: Span = Span::from_secs(300);
/// The first rest after a call in vain, and the longest as a factor of it.
const REST: Span = Span::from_secs(60);
const LONGEST: u64 = 16;
/// The time over which the use of the channel is averaged, and for which a silence counts.
const LASTING: Span = Span::from_secs(10);
/// A node starves below this part of the use of the channel that it hears, where the channel is so busy, after such a silence, and if it
/// has had packets of flows within the last [`MEMORY`].
const LITTLE: f64 = 0.1;
const BUSY: f64 = 0.3;
const SILENCE: Span = Span::from_millis(500);
const MEMORY: Span = Span::from_secs(20);
/// A call has helped at once if the mean share of the use of the channel is at least [`ENOUGH`], and its product with the factor by which
/// it has grown at least [`GAIN`]; at the end of the trial if it has grown by the factor [`MORE`].
const ENOUGH: f64 = 0.05;
const GAIN: f64 = 1.5;
const MORE: f64 = 2.0;
/// Least share with which a call has helped: the calls themselves take nearly 0.01 at 1 Mbit/s.
const LEAST: f64 = 0.02;

/// The state of a node's own call.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Phase {
    #[default]
    Watching,
    /// It calls; its share before, and the sums of its own use and of all use since.
    Trying {
        until: Time,
        before: f64,
        own: f64,
        all: f64,
    },
    Helped(Time),
    Resting(Time),
}

/// The part of an agent that calls and hears calls.
#[derive(Debug, Clone, Default)]
pub(super) struct Caller {
    me: u32,
    phase: Phase,
    /// Calls in vain since the last that has helped.
    in_vain: u32,
    /// Mean use of the channel: the node's own, and all.
    mean: (f64, f64),
    /// The first and the last time with packets of flows, and the last long one without.
    first_traffic: Option<Time>,
    last_traffic: Option<Time>,
    last_silence: Option<Time>,
    called: Option<Time>,
    /// When it starved last.
    starved: Option<Time>,
    /// Calls heard.
    work: u64,
}

fn within(at: Option<Time>, time: Span, now: Time) -> bool {
    at.is_some_and(|at| now.since(at) < time)
}

impl Caller {
    /// Takes a sample; true if the node starves.
    fn starves(&mut self, (own, all): (f64, f64), sample: &NodeSample<'_>, now: Time) -> bool {
        let weight = (sample.interval.0 as f64 / LASTING.0 as f64).min(1.0);
        self.mean.0 += weight * (own - self.mean.0);
        self.mean.1 += weight * (all - self.mean.1);
        if sample.traffic > 0 {
            if !within(self.last_traffic, MEMORY, now) {
                // New flows: the silence before them was theirs.
                (self.first_traffic, self.last_silence) = (Some(now), None);
            }
            self.last_traffic = Some(now);
        } else if self.last_traffic.is_some_and(|last| now.since(last) >= SILENCE) {
            self.last_silence = Some(now);
        }
        // Before that the means say little.
        let is_known = self.first_traffic.is_some() && !within(self.first_traffic, LASTING, now);
        is_known
            && within(self.last_traffic, MEMORY, now)
            && within(self.last_silence, LASTING, now)
            && self.mean.1 >= BUSY
            && self.mean.0 < LITTLE * self.mean.1
    }

    /// The rest after the calls in vain so far.
    fn rest(&self) -> Span {
        Span(REST.0 * (1_u64 << self.in_vain.saturating_sub(1).min(16)).min(LONGEST))
    }

    /// The phase after a sample of `length` nanoseconds with this use of the channel.
    fn advance(&mut self, (own, all): (f64, f64), length: f64, starves: bool, now: Time) {
        if starves && !within(self.starved, self.rest(), now) {
            self.in_vain = 0;
        }
        self.starved = if starves { Some(now) } else { self.starved };
        self.phase = match self.phase {
            Phase::Watching if starves => {
                let before = if self.mean.1 > 0.0 { self.mean.0 / self.mean.1 } else { 0.0 };
                Phase::Trying { until: now + TRIAL, before, own: 0.0, all: 0.0 }
            }
            Phase::Trying { until, before, own: mine, all: total } => {
                let (mine, total) = (mine + own * length, total + all * length);
                let much = mine >= ENOUGH * total && mine * mine >= GAIN * before * total * total;
                let helps_at_once = much && now + TRIAL >= until + EARLIEST;
                let has_helped = now >= until && mine >= (MORE * before).max(LEAST) * total;
                if mine > 0.0 && (helps_at_once || has_helped) {
                    self.in_vain = 0;
                    Phase::Helped(now + HOLD)
                } else if now >= until {
                    self.in_vain = self.in_vain.saturating_add(1);
                    let rest = self.rest();
                    Phase::Resting(now.saturating_add(rest))
                } else {
                    Phase::Trying { until, before, own: mine, all: total }
                }
            }
            // What it had before is what it has without limits, so they go for as long as its share is averaged.
            Phase::Helped(until) if now >= until => Phase::Resting(now.saturating_add(LASTING)),
            // Its flows have ended.
            Phase::Helped(_) if !within(self.last_traffic, MEMORY, now) => Phase::Watching,
            Phase::Resting(until) if now >= until => Phase::Watching,
            phase => phase,
        };
    }

    /// True if the node obeys calls.
    const fn obeys(&self) -> bool {
        !matches!(self.phase, Phase::Trying { .. })
    }
}

impl Caller {
    /// The interface of this node starts.
    pub(super) const fn start(&mut self, node: NodeId) {
        self.me = node.0;
    }

    /// An interval of the counters has ended.
    pub(super) fn sample(&mut self, sample: &NodeSample<'_>, context: &mut AgentContext<'_>) {
        let now = context.now;
        let length = sample.interval.0.max(1) as f64;
        let own = sample.airtime.transmit.0.saturating_add(sample.receive_own.0) as f64 / length;
        let Airtime { transmit, receive, busy, .. } = sample.airtime;
        let all = transmit.0.saturating_add(receive.0).saturating_add(busy.0) as f64 / length;
        let starves = self.starves((own, all), sample, now);
        self.advance((own, all), length, starves, now);
        let starving = match self.phase {
            Phase::Trying { .. } => Some(Starving::Trying),
            Phase::Helped(_) => Some(Starving::Helped),
            Phase::Watching | Phase::Resting(_) => None,
        };
        context.out.settings.extend(starving.map(Setting::Starving));
        let interval = match self.phase {
            Phase::Trying { .. } => SAMPLE,
            Phase::Helped(_) => CALL,
            Phase::Watching | Phase::Resting(_) => return,
        };
        if !within(self.called, interval, now) {
            self.called = Some(now);
            let mut bytes = vec![0; Call::WIRE_LEN];
            if (Call { node: self.me }).encode(&mut bytes).is_ok() {
                context.out.messages.push(Message {
                    to: Destination::Broadcast,
                    bytes,
                    ahead: true,
                    transmit: None,
                });
            }
        }
    }

    /// A message has come from a neighbour.
    pub(super) fn hear(&mut self, bytes: &[u8], context: &mut AgentContext<'_>) {
        let Ok((call, [])) = Call::decode(bytes) else { return };
        if call.node == self.me {
            return;
        }
        self.work += 1;
        if self.obeys() {
            context.out.settings.push(Setting::Starving(Starving::Near(NodeId(call.node))));
        }
    }

    /// 1 while the node calls, 2 while it goes on because that has helped; its mean share of the use of the channel.
    pub(super) fn gauges(&self) -> [(&'static str, f64); 2] {
        let calls = match self.phase {
            Phase::Watching | Phase::Resting(_) => 0.0,
            Phase::Trying { .. } => 1.0,
            Phase::Helped(_) => 2.0,
        };
        let (own, all) = self.mean;
        [("calls", calls), ("share", if all > 0.0 { own / all } else { 0.0 })]
    }

    /// Calls heard.
    pub(super) const fn work(&self) -> u64 {
        self.work
    }
}
