//! Controllers of schemes: when and where they run, their timers, and their messages.

use alloc::vec::Vec;

use airfair_schemes::places::{
    ControllerEffects, ControllerMessage, ControllerSetup, Destination, FlowId, FlowLimit, Inhibition,
    Message, NodeId, Timer,
};
use airfair_units::Time;

use super::agents::{self, Addressee, Received};
use super::{HostEvent, MessageSender, Net, post};
use crate::agent::EndedMessage;
use crate::controller::ControllerSlot;
use crate::seen::Seen;
use crate::slot::Firing;
use crate::table::{ControllerIx, Table};

/// Counts of a controller's messages over the whole run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ControllerCounts {
    /// Messages sent.
    pub sent: u64,
    /// Their bytes, without headers.
    pub sent_bytes: u64,
    /// Messages received.
    pub received: u64,
    /// Their bytes, without headers.
    pub received_bytes: u64,
    /// Messages sent that have ended without reaching their node.
    pub lost: u64,
}

/// The controllers of a network, in the order in which they were added: at most one runs at a node at a time.
pub struct Controllers<N: Net> {
    list: Table<ControllerIx, Hosted<N::Node>>,
    /// Effects that the last hook has requested.
    effects: ControllerEffects,
    firings: Vec<Firing>,
}

impl<N: Net> Default for Controllers<N> {
    fn default() -> Self {
        Self { list: Table::default(), effects: ControllerEffects::default(), firings: Vec::new() }
    }
}

/// A controller with the time in which it runs.
struct Hosted<T> {
    node: T,
    start: Time,
    /// None: it runs to the end.
    stop: Option<Time>,
    /// None once it has stopped.
    slot: Option<ControllerSlot>,
    running: bool,
    /// Messages that it has received.
    seen: Seen,
    counts: ControllerCounts,
    /// The inhibited links that the controller had found when it stopped.
    found: Option<Inhibition>,
}

impl<N: Net> Controllers<N> {
    /// Adds a controller.
    pub fn add(&mut self, node: N::Node, (start, stop): (Time, Option<Time>), slot: ControllerSlot) {
        let (slot, seen, counts) = (Some(slot), Seen::default(), ControllerCounts::default());
        self.list.push(Hosted { node, start, stop, slot, running: false, seen, counts, found: None });
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All controllers.
    #[must_use]
    pub fn places(&self) -> impl ExactSizeIterator<Item = ControllerIx> + use<N> {
        self.list.places()
    }

    /// The node of a controller.
    #[must_use]
    pub fn node(&self, controller: ControllerIx) -> N::Node {
        self.list[controller].node
    }

    /// Start and stop of a controller; without a stop it runs to the end.
    #[must_use]
    pub fn times(&self, controller: ControllerIx) -> (Time, Option<Time>) {
        let Hosted { start, stop, .. } = self.list[controller];
        (start, stop)
    }

    /// The controller that runs at a node.
    #[must_use]
    pub fn at(&self, node: N::Node) -> Option<ControllerIx> {
        self.list.pairs().find(|(_, hosted)| hosted.running && hosted.node == node).map(|(at, _)| at)
    }

    /// Counts the end of a message of a controller.
    pub fn count_ended(&mut self, controller: ControllerIx, ended: &EndedMessage) {
        self.list[controller].counts.lost += u64::from(!ended.arrived);
    }

    /// Counts of a controller's messages.
    #[must_use]
    pub fn counts(&self, controller: ControllerIx) -> ControllerCounts {
        self.list[controller].counts
    }

    /// Internal values of a controller, by name: not a number while it does not run.
    #[must_use]
    pub fn gauges(&self, controller: ControllerIx) -> Vec<(&'static str, f64)> {
        let Hosted { slot, running, .. } = &self.list[controller];
        let mut gauges = slot.as_ref().map_or_else(Vec::new, ControllerSlot::gauges);
        if !running {
            gauges.iter_mut().for_each(|gauge| gauge.1 = f64::NAN);
        }
        gauges
    }

    /// The limit of a flow, by the running controller that gives it the smallest rate.
    #[must_use]
    pub fn limit(&self, flow: FlowId) -> Option<(ControllerIx, FlowLimit)> {
        let running = self.list.pairs().filter(|(_, hosted)| hosted.running);
        let limits = running.filter_map(|(at, hosted)| Some((at, hosted.slot.as_ref()?.limit(flow)?)));
        limits.min_by_key(|(_, limit)| limit.rate)
    }

    /// The inhibited links as the running controllers found them; as those found them that stopped last, where none that runs has had a
    /// round.
    #[must_use]
    pub fn inhibitions(&self) -> Vec<Inhibition> {
        let running = self.list.iter().filter(|hosted| hosted.running);
        let found: Vec<_> = running.filter_map(|hosted| hosted.slot.as_ref()?.inhibition()).collect();
        if !found.is_empty() {
            return found;
        }
        let stopped = || self.list.iter().filter_map(|hosted| Some((hosted.stop?, hosted.found.as_ref()?)));
        let last = stopped().map(|(stop, _)| stop).max();
        stopped().filter(|(stop, _)| Some(*stop) == last).map(|(_, found)| found.clone()).collect()
    }
}

/// Starts a controller; `neighbours`: the nodes one hop away from its node.
pub fn start<N: Net>(net: &mut N, controller: ControllerIx, neighbours: &[NodeId], now: Time) {
    let node = net.hosts().controllers.node(controller);
    let setup = ControllerSetup { node: net.id(node), neighbours };
    net.hosts().controllers.list[controller].running = true;
    call(net, controller, |slot, out, firings| slot.on_start(&setup, now, out, firings));
    carry_out(net, node, now);
    notify_agents(net, node, true, now);
}

/// Stops a controller: its timers will not fire.
pub fn stop<N: Net>(net: &mut N, controller: ControllerIx, now: Time) {
    let hosted = &mut net.hosts().controllers.list[controller];
    hosted.found = hosted.slot.take().and_then(|slot| slot.inhibition());
    hosted.running = false;
    let node = hosted.node;
    notify_agents(net, node, false, now);
}

fn notify_agents<N: Net>(net: &mut N, node: N::Node, here: bool, now: Time) {
    for radio in net.radios(node) {
        agents::controller(net, radio, here, now);
    }
}

/// Handles a due timer of a controller, unless it was moved in the meantime or the controller has stopped.
pub fn timer<N: Net>(net: &mut N, controller: ControllerIx, timer: (Timer, u32), now: Time) {
    call(net, controller, |slot, out, firings| slot.on_timer(timer, now, out, firings));
    let node = net.hosts().controllers.node(controller);
    carry_out(net, node, now);
}

/// Handles a message that has reached the node that it is for: by a radio, whose agent has it then, or by other ways. Where `to_agents` is
/// true, the agents of the node's other radios get it, too; a controller at the node gets it, unless it has sent it itself.
pub fn message<N: Net>(
    net: &mut N,
    (node, by): (N::Node, Option<N::Radio>),
    received: &Received<'_, N::Radio>,
    (to_agents, of_controller): (bool, bool),
    now: Time,
) {
    if to_agents {
        for radio in net.radios(node).into_iter().filter(|&radio| by != Some(radio)) {
            agents::message(net, radio, &Received { to: Addressee::Me, own_frame: false, ..*received }, now);
        }
    }
    let own = of_controller && received.id.origin == net.id(node);
    let controllers = &mut net.hosts().controllers;
    if let Some(controller) = controllers.at(node).filter(|_| !own)
        && controllers.list[controller].seen.is_new(received.id, now)
    {
        let counts = &mut controllers.list[controller].counts;
        counts.received += 1;
        counts.received_bytes += received.bytes.len() as u64;
        let message = (received.id.origin, received.bytes);
        call(net, controller, |slot, out, firings| slot.on_message(message, now, out, firings));
    }
    carry_out(net, node, now);
}

/// Calls a hook of a controller that runs, and schedules the timers that it has set. Other effects wait for [`carry_out`].
fn call<N: Net>(
    net: &mut N,
    controller: ControllerIx,
    hook: impl FnOnce(&mut ControllerSlot, &mut ControllerEffects, &mut Vec<Firing>),
) {
    let Controllers { list, effects, firings, .. } = &mut net.hosts().controllers;
    let Hosted { slot: Some(slot), running: true, .. } = &mut list[controller] else { return };
    hook(slot, effects, firings);
    let rank = slot.rank();
    let mut firings = core::mem::take(firings);
    for Firing { at, timer, generation } in firings.drain(..) {
        net.schedule(HostEvent::ControllerTimer(controller, timer.0, generation), at, rank);
    }
    net.hosts().controllers.firings = firings;
}

/// Carries out the effects that a hook of the controller at a node has requested.
fn carry_out<N: Net>(net: &mut N, node: N::Node, now: Time) {
    let messages = core::mem::take(&mut net.hosts().controllers.effects).messages;
    let Some(controller) = net.hosts().controllers.at(node) else { return };
    for ControllerMessage { to, bytes, ahead } in messages.into_iter().filter(|m| !m.bytes.is_empty()) {
        let length = bytes.len() as u64;
        let message = Message { to: Destination::Node(to), bytes, ahead, transmit: None };
        if post(net, (node, MessageSender::Controller(controller)), message, now) {
            let counts = &mut net.hosts().controllers.list[controller].counts;
            counts.sent += 1;
            counts.sent_bytes += length;
        }
    }
}
