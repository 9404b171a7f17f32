//! The agent beside an interface: it counts, receives and sends notifications, and sets the drop probabilities [NRED §5].

use alloc::vec;
use alloc::vec::Vec;

use airfair_units::{Span, Time};
use airfair_wire::nred::Ncn;

use super::Nred;
use super::accounting::Accounting;
use super::detection::{Congestion, Detector};
use super::drop::local_share;
use super::notification::Heard;
use super::trial::Trial;
use crate::link_values::LinkValues;
use crate::places::{
    Agent, AgentContext, AgentSetup, Destination, Direction, Message, NodeId, NodeSample, Probability,
    Setting, Timer,
};

/// Timer: the next check whether a notification is due.
const CHECK: Timer = Timer(0);
/// Timer: the notification that is stored expires.
const EXPIRE: Timer = Timer(1);

/// Most neighbours whose notifications are told apart.
const MOST_SUFFERERS: usize = 64;

/// Weight of an interval in the average of the time of others.
const FOREIGN_WEIGHT: f64 = 0.02;

/// With `proof`: the part of the time that others have to use, in the mean, while a notified node drops. With 0.04 lies cost three times as
/// much (docs/schemes/nred.md).
const PROOF: f64 = 0.08;

/// With `proof`: the first rest of a notified node whose drops help nobody.
const DOUBT: Span = Span::from_secs(60);

/// W/C, packets per second.
fn scale(nred: &Nred) -> f64 {
    nred.bandwidth.as_bps() as f64 / (8.0 * nred.mean_packet.0 as f64)
}

/// NRED's agent.
#[derive(Debug, Clone)]
pub struct NredAgent {
    nred: Nred,
    accounting: Accounting,
    detector: Detector,
    heard: Heard,
    /// The neighbours that have notified lately, and until when each counts.
    sufferers: LinkValues<Time>,
    me: NodeId,
    neighbours: Vec<NodeId>,
    /// When the node was last on the path of a flow.
    last_traffic: Option<Time>,
    /// The last packet of a flow that has passed the node, or the start.
    last_packet: Time,
    /// The end of the time for which the last silence counts.
    starved_until: Time,
    trial: Trial,
    /// That of the drops of a notified node, for the sake of others.
    proof: Trial,
    /// Mean use of the channel over the time of `lasting`: the node's own, and all.
    lasting: (f64, f64),
    /// True at the radio of an access point.
    access_point: bool,
    /// Moving average of the time in which others send to others.
    foreign: f64,
    /// The congestion at the last check.
    congestion: Congestion,
    /// Notifications taken.
    taken: u64,
}

impl NredAgent {
    /// An agent with a run's parameters.
    #[must_use]
    pub fn new(nred: Nred, access_point: bool) -> Self {
        Self {
            accounting: Accounting::new(nred.weight, scale(&nred), nred.rx_all),
            detector: Detector::new(&nred),
            heard: Heard::default(),
            sufferers: LinkValues::new(MOST_SUFFERERS),
            me: NodeId(u32::MAX),
            neighbours: Vec::new(),
            last_traffic: None,
            last_packet: Time::ZERO,
            starved_until: Time::ZERO,
            trial: Trial::new(nred.trial, nred.enough, nred.rest),
            proof: Trial::new(nred.proof, PROOF, if nred.proof > Span::ZERO { DOUBT } else { Span::ZERO }),
            lasting: (0.0, 0.0),
            congestion: Congestion::default(),
            taken: 0,
            access_point,
            foreign: 0.0,
            nred,
        }
    }

    /// The neighbours that count as suffering.
    fn suffering(&self, now: Time) -> u64 {
        self.sufferers.iter().filter(|&&until| now < until).count() as u64
    }

    /// Sets the local share of p_b for either direction (§5.3).
    fn set_shares(&mut self, context: &mut AgentContext<'_>) {
        let suffering = self.suffering(context.now);
        if self.in_cell() {
            // The sufferers' flows pass this node itself, and of those with no more than the mean nothing is dropped: so the rule holds for
            // as long as a neighbour counts as suffering, whether or not it rests.
            let acts = suffering > 0 && self.foreign <= self.nred.most_foreign;
            let p = Probability::new(if acts { self.nred.cell } else { 0.0 });
            for direction in [Direction::Outgoing, Direction::Incoming] {
                context.out.settings.push(Setting::Probability(direction, p));
            }
            return;
        }
        let leaves = self.access_point && self.foreign > self.nred.most_foreign
            || suffering > self.nred.most_sufferers;
        let leaves = leaves || !self.proof.may_act(context.now);
        let normalized = if leaves { 0.0 } else { self.heard.normalized(context.now) };
        let shares = self.accounting.shares().above(self.nred.spare);
        if normalized > 0.0 && shares.tx + shares.rx > 0.0 {
            self.proof.acted(context.now);
        }
        for (direction, avg) in [(Direction::Outgoing, shares.tx), (Direction::Incoming, shares.rx)] {
            let share = if self.nred.spare > 0.0 && avg == 0.0 {
                Probability::ZERO
            } else {
                local_share(normalized, avg)
            };
            context.out.settings.push(Setting::Probability(direction, share));
        }
    }

    /// The check after an interval T_NCN: Algorithm 5.1 and the conditions.
    fn check(&mut self, context: &mut AgentContext<'_>) {
        let shares = self.accounting.shares();
        let congestion = self.detector.congestion(shares.total);
        self.congestion = congestion;
        let on_path = self.last_traffic.is_some_and(|last| context.now.since(last) <= self.nred.memory);
        let largest_heard = self.heard.take_largest();
        if self.neighbours.is_empty()
            // Before the trial: while the node must not notify, nothing is known of its help.
            || self.suffering(context.now) > self.nred.most_sufferers
            || !self.trial.may_act(context.now)
            || self.nred.lasting > Span::ZERO && self.lasting.0 >= self.nred.little * self.lasting.1
            || self.nred.silence > Span::ZERO && context.now >= self.starved_until
            || !self.detector.should_notify(congestion, shares, on_path, largest_heard)
        {
            return;
        }
        self.trial.acted(context.now);
        let ncn = Ncn {
            normalized: (congestion.normalized * f64::from(u32::MAX)) as u32,
            lifetime_ms: u16::try_from(self.nred.lifetime.0 / 1_000_000).unwrap_or(u16::MAX),
        };
        let to = if self.nred.broadcast {
            Destination::Broadcast
        } else {
            let drawn = context.random.below(self.neighbours.len() as u32) as usize;
            Destination::Neighbour(self.neighbours[drawn])
        };
        let mut bytes = vec![0; Ncn::wire_len()];
        if ncn.encode(&mut bytes).is_ok() {
            context.out.messages.push(Message { to, bytes, ahead: true, transmit: None });
        }
        if self.nred.obey_own {
            self.take(self.me, ncn, context);
        }
    }

    fn take(&mut self, from: NodeId, ncn: Ncn, context: &mut AgentContext<'_>) {
        self.taken += 1;
        let now = context.now;
        // A neighbour at rest suffers no less.
        let suffers_for = self.nred.recovery.max(self.nred.rest);
        if from != self.me {
            self.sufferers.set(from, now.saturating_add(suffers_for), |_| false);
        }
        let normalized = f64::from(ncn.normalized) / f64::from(u32::MAX);
        let until = context.now + Span(u64::from(ncn.lifetime_ms) * 1_000_000);
        if from == self.me {
            self.heard.take_own(from, normalized, until, context.now);
        } else {
            self.heard.take(from, normalized, until, context.now);
        }
        if let Some(until) = self.heard.until() {
            context.out.timers.push((EXPIRE, until));
        }
        // In a cell the next sample sets them, so that a window of the use of flows has the length of an interval.
        if !self.in_cell() {
            self.set_shares(context);
        }
    }

    /// True at an access point with a rule of its own.
    fn in_cell(&self) -> bool {
        self.access_point && self.nred.cell > 0.0
    }
}

impl Agent for NredAgent {
    fn on_start(&mut self, setup: &AgentSetup<'_>, context: &mut AgentContext<'_>) {
        self.me = setup.node;
        self.neighbours = setup.neighbours.to_vec();
        // No two nodes check in step.
        let first = (context.random.uniform() * self.nred.ncn_interval.0 as f64) as u64;
        context.out.timers.push((CHECK, context.now + Span(first)));
    }

    fn on_neighbours(&mut self, neighbours: &[NodeId], _context: &mut AgentContext<'_>) {
        self.neighbours.clear();
        self.neighbours.extend_from_slice(neighbours);
    }

    fn on_sample(&mut self, sample: &NodeSample<'_>, context: &mut AgentContext<'_>) {
        if sample.traffic > 0 || self.nred.set_up && sample.set_up > 0 {
            self.last_traffic = Some(context.now);
        }
        if sample.traffic > 0 {
            self.last_packet = context.now;
        } else if self.last_traffic.is_some() && context.now.since(self.last_packet) >= self.nred.silence {
            self.starved_until = context.now.saturating_add(self.nred.recovery);
        }
        self.accounting.update(sample);
        self.foreign += FOREIGN_WEIGHT * (sample.foreign() - self.foreign);
        let shares = self.accounting.shares();
        self.trial.observe(shares.own(), shares.total);
        self.proof.observe(sample.foreign(), 1.0);
        if self.nred.lasting > Span::ZERO {
            let weight = (sample.interval.0 as f64 / self.nred.lasting.0 as f64).min(1.0);
            let (own, total) = &mut self.lasting;
            *own += weight * (shares.own() - *own);
            *total += weight * (shares.total - *total);
        }
        self.set_shares(context);
    }

    /// Messages other than NCNs are not for NRED and are dropped silently (§8).
    fn on_message(&mut self, from: NodeId, bytes: &[u8], _to_me: bool, context: &mut AgentContext<'_>) {
        if let Ok((ncn, _)) = Ncn::decode(bytes) {
            self.take(from, ncn, context);
        }
    }

    fn on_timer(&mut self, timer: Timer, context: &mut AgentContext<'_>) {
        match timer {
            CHECK => {
                context.out.timers.push((CHECK, context.now + self.nred.ncn_interval));
                self.check(context);
            }
            _ if self.in_cell() => {}
            _ => self.set_shares(context),
        }
    }

    /// The averages; p_b of the last check; normalizedP_b as it is held, whether or not its lifetime is over.
    fn gauges(&self) -> Vec<(&'static str, f64)> {
        let shares = self.accounting.shares();
        vec![
            ("avg", shares.total),
            ("avg_tx", shares.tx),
            ("avg_rx", shares.rx),
            ("p_b", self.congestion.p_b),
            ("normalized_p_b", self.heard.held()),
        ]
    }

    /// One for each notification: only the one that holds is kept.
    fn work(&self) -> u64 {
        self.taken
    }
}
