//! Controllers of a scheme: when and where they run, their timers, and counts of their messages, which are packets.

use airfair_host::{ControllerSlot, EndedMessage, Firing};
use airfair_schemes::places::{
    ControllerEffects, ControllerSetup, FlowId, FlowLimit, Inhibition, NodeId, Timer,
};
use airfair_units::Time;

use crate::event::{EventKind, Order, Schedule, class};
use crate::ids::{ControllerIx, NodeIx, Table};
use crate::measure::summary::ControllerCounts;

/// The controllers of a world, in the order of their nodes' names and of their starts: at most one runs at a node at a time.
#[derive(Default)]
pub(crate) struct Controllers {
    list: Table<ControllerIx, Hosted>,
    /// Effects that the last hook has requested.
    effects: ControllerEffects,
    firings: Vec<Firing>,
    /// The first node whose controller has sent a message to a node that does not exist, which makes the run invalid.
    pub unknown_receiver: Option<NodeIx>,
}

/// A controller with the time in which it runs.
struct Hosted {
    node: NodeIx,
    start: Time,
    /// None: it runs to the end.
    stop: Option<Time>,
    /// None once it has stopped.
    slot: Option<ControllerSlot>,
    running: bool,
    counts: ControllerCounts,
    /// The inhibited links that the controller had found when it stopped.
    found: Option<Inhibition>,
}

impl Controllers {
    /// Adds a controller.
    pub fn add(&mut self, node: NodeIx, (start, stop): (Time, Option<Time>), slot: ControllerSlot) {
        let counts = ControllerCounts::default();
        self.list.push(Hosted { node, start, stop, slot: Some(slot), running: false, counts, found: None });
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All controllers.
    pub fn places(&self) -> impl ExactSizeIterator<Item = ControllerIx> + use<> {
        self.list.places()
    }

    /// The node of a controller.
    pub fn node(&self, controller: ControllerIx) -> NodeIx {
        self.list[controller].node
    }

    /// Start and stop of a controller; without a stop it runs to the end.
    pub fn times(&self, controller: ControllerIx) -> (Time, Option<Time>) {
        let Hosted { start, stop, .. } = self.list[controller];
        (start, stop)
    }

    /// The controller that runs at a node.
    pub fn at(&self, node: NodeIx) -> Option<ControllerIx> {
        self.list.pairs().find(|(_, hosted)| hosted.running && hosted.node == node).map(|(at, _)| at)
    }

    /// Calls a hook of a controller that runs. Requested effects other than timers stay in [`Controllers::take_effects`].
    fn call(
        &mut self,
        controller: ControllerIx,
        schedule: &mut Schedule,
        hook: impl FnOnce(&mut ControllerSlot, &mut ControllerEffects, &mut Vec<Firing>),
    ) {
        let Self { list, effects, firings, .. } = self;
        let Hosted { slot: Some(slot), running: true, .. } = &mut list[controller] else { return };
        hook(slot, effects, firings);
        let order = Order::new(class::TIMER, slot.rank());
        for Firing { at, timer, generation } in firings.drain(..) {
            let kind = EventKind::ControllerTimer { controller, generation, timer: timer.0 };
            schedule.add(at, order, kind);
        }
    }

    /// Starts a controller.
    pub fn start(
        &mut self,
        controller: ControllerIx,
        setup: &ControllerSetup<'_>,
        now: Time,
        schedule: &mut Schedule,
    ) {
        self.list[controller].running = true;
        self.call(controller, schedule, |slot, out, firings| slot.on_start(setup, now, out, firings));
    }

    /// Stops a controller: its timers will not fire.
    pub fn stop(&mut self, controller: ControllerIx) {
        let hosted = &mut self.list[controller];
        hosted.found = hosted.slot.take().and_then(|slot| slot.inhibition());
        hosted.running = false;
    }

    /// Hands a message from a node to a controller.
    pub fn on_message(
        &mut self,
        controller: ControllerIx,
        message: (NodeId, &[u8]),
        now: Time,
        schedule: &mut Schedule,
    ) {
        let counts = &mut self.list[controller].counts;
        counts.received += 1;
        counts.received_bytes += message.1.len() as u64;
        self.call(controller, schedule, |slot, out, firings| slot.on_message(message, now, out, firings));
    }

    /// Handles the timer of a controller, unless it was moved in the meantime or the controller has stopped.
    pub fn on_timer(
        &mut self,
        controller: ControllerIx,
        timer: (Timer, u32),
        now: Time,
        schedule: &mut Schedule,
    ) {
        self.call(controller, schedule, |slot, out, firings| slot.on_timer(timer, now, out, firings));
    }

    /// Effects other than timers that the last hook has requested.
    pub fn take_effects(&mut self) -> ControllerEffects {
        std::mem::take(&mut self.effects)
    }

    /// Counts a message that a controller sends.
    pub fn count_sent(&mut self, controller: ControllerIx, bytes: usize) {
        let counts = &mut self.list[controller].counts;
        counts.sent += 1;
        counts.sent_bytes += bytes as u64;
    }

    /// Counts the end of a message of a controller.
    pub fn count_ended(&mut self, controller: ControllerIx, ended: &EndedMessage) {
        self.list[controller].counts.lost += u64::from(!ended.arrived);
    }

    /// Counts of a controller's messages.
    pub fn counts(&self, controller: ControllerIx) -> ControllerCounts {
        self.list[controller].counts
    }

    /// Internal values of a controller, by name: not a number while it does not run.
    pub fn gauges(&self, controller: ControllerIx) -> Vec<(&'static str, f64)> {
        let Hosted { slot, running, .. } = &self.list[controller];
        let mut gauges = slot.as_ref().map_or_else(Vec::new, ControllerSlot::gauges);
        if !running {
            gauges.iter_mut().for_each(|gauge| gauge.1 = f64::NAN);
        }
        gauges
    }

    /// The limit of a flow, by the running controller that gives it the smallest rate.
    pub fn limit(&self, flow: FlowId) -> Option<(ControllerIx, FlowLimit)> {
        let running = self.list.pairs().filter(|(_, hosted)| hosted.running);
        let limits = running.filter_map(|(at, hosted)| Some((at, hosted.slot.as_ref()?.limit(flow)?)));
        limits.min_by_key(|(_, limit)| limit.rate)
    }

    /// The inhibited links as the running controllers found them; as those found them that stopped last, where none that runs has had a
    /// round.
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
