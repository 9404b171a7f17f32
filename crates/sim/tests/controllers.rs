//! Controllers in a world: where and when they run, what reaches them, and what reaches the agents from them.

use std::sync::{Arc, Mutex};

use crate::support::routing::{aodv, places_add_up};
use crate::support::wires::{link, ms, wired};
use crate::support::{chain, dot11b, id_of, node, number_of, saturating, world};
use airfair_schemes::places::{
    Agent, AgentContext, AgentSetup, Controller, ControllerContext, ControllerMessage, ControllerSetup,
    Destination, Interface, Message, NodeId, Timer,
};
use airfair_schemes::{Params, Scheme, find};
use airfair_sim::World;
use airfair_sim::engine::drive;
use airfair_sim::measure::summary::{ControllerCounts, RunResult};
use airfair_sim::spec::*;
use airfair_units::{Span, Time};

/// Events in their order: time in nanoseconds, and what happened.
type Log = Arc<Mutex<Vec<(u64, String)>>>;

/// Agents say what they are told to. A controller counts its ticks, one a second from its start, and returns each message, with its number
/// of messages so far.
#[derive(Clone, Default)]
struct Office {
    log: Log,
    /// Node, time in seconds, destination.
    says: Arc<Vec<(u32, f64, Destination)>>,
    ahead: bool,
    /// The controller writes to this node at its first tick.
    writes_to: Option<NodeId>,
}

struct Clerk {
    office: Office,
    me: u32,
}

struct Head {
    office: Office,
    me: u32,
    heard: u8,
    ticks: u8,
}

impl Office {
    fn note(&self, now: Time, what: String) {
        self.log.lock().unwrap().push((now.as_nanos(), what));
    }
}

impl Agent for Clerk {
    fn on_start(&mut self, setup: &AgentSetup<'_>, context: &mut AgentContext<'_>) {
        self.me = number_of(setup.node);
        for (i, (from, at, _)) in (0u16..).zip(self.office.says.iter()) {
            if *from == self.me {
                context.out.timers.push((Timer(i), Time((at * 1e9) as u64)));
            }
        }
    }

    fn on_controller(&mut self, here: bool, context: &mut AgentContext<'_>) {
        let what = if here { "starts" } else { "stops" };
        self.office.note(context.now, format!("{}: controller {what}", self.me));
    }

    fn on_message(&mut self, from: NodeId, bytes: &[u8], to_me: bool, context: &mut AgentContext<'_>) {
        if to_me {
            self.office.note(context.now, format!("{} < {}: {bytes:?}", self.me, number_of(from)));
        }
    }

    fn on_timer(&mut self, timer: Timer, context: &mut AgentContext<'_>) {
        let (_, _, to) = self.office.says[usize::from(timer.0)];
        let bytes = vec![timer.0 as u8; 4];
        context.out.messages.push(Message { to, bytes, ahead: self.office.ahead, transmit: None });
    }
}

impl Controller for Head {
    fn on_start(&mut self, setup: &ControllerSetup<'_>, context: &mut ControllerContext<'_>) {
        self.me = number_of(setup.node);
        let neighbours: Vec<u32> = setup.neighbours.iter().map(|&id| number_of(id)).collect();
        self.office.note(context.now, format!("head {}: starts beside {neighbours:?}", self.me));
        context.out.timers.push((Timer(0), context.now + Span::from_secs(1)));
    }

    fn on_message(&mut self, from: NodeId, bytes: &[u8], context: &mut ControllerContext<'_>) {
        self.office.note(context.now, format!("head {} < {}: {bytes:?}", self.me, number_of(from)));
        self.heard += 1;
        let bytes = vec![100 + bytes[0], self.heard];
        context.out.messages.push(ControllerMessage { to: from, bytes, ahead: self.office.ahead });
    }

    fn on_timer(&mut self, timer: Timer, context: &mut ControllerContext<'_>) {
        self.ticks += 1;
        context.out.timers.push((timer, context.now + Span::from_secs(1)));
        if let Some(to) = self.office.writes_to.filter(|_| self.ticks == 1) {
            context.out.messages.push(ControllerMessage { to, bytes: vec![255], ahead: false });
        }
    }

    fn gauges(&self) -> Vec<(&'static str, f64)> {
        vec![("ticks", f64::from(self.ticks))]
    }
}

impl Scheme for Office {
    fn agent(&self, _: &Interface) -> Option<Box<dyn Agent>> {
        Some(Box::new(Clerk { office: self.clone(), me: u32::MAX }))
    }

    fn controller(&self) -> Option<Box<dyn Controller>> {
        Some(Box::new(Head { office: self.clone(), me: u32::MAX, heard: 0, ticks: 0 }))
    }
}

fn office(says: &[(u32, f64, Destination)]) -> Office {
    Office { says: Arc::new(says.to_vec()), ..Office::default() }
}

fn run(spec: &WorldSpec, office: &Office) -> RunResult {
    let mut world = World::new(spec, "office", Box::new(office.clone()), 1).unwrap();
    drive::to_end(&mut world);
    world.result()
}

/// The result, and what happened, without times.
fn story(spec: &WorldSpec, office: &Office) -> (RunResult, Vec<String>) {
    let result = run(spec, office);
    let log = std::mem::take(&mut *office.log.lock().unwrap());
    (result, log.into_iter().map(|entry| entry.1).collect())
}

fn quiet(hops: usize, seconds: u64) -> WorldSpec {
    let spec = chain(dot11b(250.0, 550.0), hops, 200.0, saturating(500), seconds);
    WorldSpec { flows: vec![], ..spec }
}

fn at(node: usize, start: u64, stop: Option<u64>) -> ControllerSpec {
    let time = |s: u64| Time(s * 1_000_000_000);
    ControllerSpec { node, start: time(start), stop: stop.map(time) }
}

fn counts(result: &RunResult) -> Vec<(&str, u64, u64, u64)> {
    let of = |c: &ControllerCounts| (c.sent, c.received, c.lost);
    let each = result.controllers.iter().map(|c| (c.node.as_str(), of(&c.counts)));
    each.map(|(node, (sent, received, lost))| (node, sent, received, lost)).collect()
}

/// In a mesh the middle of the network, the first by name of two; with access points, the first of these.
#[test]
fn without_a_word_a_controller_runs_at_the_gateway_or_in_the_middle() {
    let runs_at = |spec: &WorldSpec| {
        let result = run(spec, &office(&[]));
        assert_eq!(result.controllers.len(), 1);
        assert_eq!((result.controllers[0].start_s, result.controllers[0].stop_s), (0.0, None));
        result.controllers[0].node.clone()
    };
    assert_eq!(runs_at(&quiet(4, 1)), "2");
    assert_eq!(runs_at(&quiet(3, 1)), "1");
    let mut reversed = quiet(3, 1);
    reversed.nodes.reverse();
    assert_eq!(runs_at(&reversed), "1");
    let mut spec = quiet(4, 1);
    let server = wired(&mut spec, "90");
    for gateway in [4, 0] {
        spec.links.push(link((gateway, server), 10, ms(1), 50));
    }
    assert_eq!(runs_at(&spec), "0");
}

/// A message takes a hop at a time to the middle, the answer as many hops back; nodes between hear nothing, and nobody is lost.
#[test]
fn reports_reach_the_controller_and_answers_the_reporter() {
    let office = office(&[(0, 0.5, Destination::Node(id_of(2))), (4, 0.6, Destination::Node(id_of(2)))]);
    let (result, story) = story(&quiet(4, 1), &office);
    let expected = [
        "head 2: starts beside [1, 3]",
        "2: controller starts",
        // The agent at the controller's node hears what its node hears.
        "2 < 0: [0, 0, 0, 0]",
        "head 2 < 0: [0, 0, 0, 0]",
        "0 < 2: [100, 1]",
        "2 < 4: [1, 1, 1, 1]",
        "head 2 < 4: [1, 1, 1, 1]",
        "4 < 2: [101, 2]",
    ];
    assert_eq!(story, expected);
    let ControllerCounts { sent, sent_bytes, received, received_bytes, lost } = result.controllers[0].counts;
    assert_eq!((sent, sent_bytes, received, received_bytes, lost), (2, 4, 2, 8, 0));
    assert_eq!(result.stations[0].messages.unwrap().missed, 0, "it has arrived");
    assert_eq!(result.transmissions, 8 * 2, "a frame and an ACK for each hop of each message");
    assert_eq!(result.ends.made, 0, "no packet of a flow");
}

/// From the agent to the controller beside it and back: a nanosecond each way and no frame.
#[test]
fn a_message_to_the_own_node_costs_no_air() {
    let office = office(&[(2, 0.5, Destination::Node(id_of(2)))]);
    let result = run(&quiet(4, 1), &office);
    let log = office.log.lock().unwrap().clone();
    let half = 500_000_000;
    assert_eq!(log[2], (half + 1, "head 2 < 2: [0, 0, 0, 0]".to_string()));
    assert_eq!(log[3], (half + 2, "2 < 2: [100, 1]".to_string()));
    assert_eq!((log.len(), result.transmissions), (4, 0));
    assert_eq!(counts(&result), [("2", 1, 1, 0)]);
    assert_eq!(result.stations[2].messages.unwrap().sent, 1);
}

/// A node without a radio has no agent: its controller names its neighbours, and is reached through a gateway.
#[test]
fn a_controller_may_run_at_a_node_with_wires_only() {
    let mut spec = quiet(2, 2);
    let server = wired(&mut spec, "9");
    spec.links.push(link((2, server), 10, ms(1), 50));
    spec.controllers = vec![at(server, 0, None)];
    let office = Office { writes_to: Some(id_of(2)), ..office(&[(0, 0.5, Destination::Node(id_of(9)))]) };
    let (result, story) = story(&spec, &office);
    let expected = [
        "head 9: starts beside [2]",
        "head 9 < 0: [0, 0, 0, 0]",
        "0 < 9: [100, 1]",
        // It has written to its neighbour.
        "2 < 9: [255]",
    ];
    assert_eq!(story, expected);
    assert_eq!(counts(&result), [("9", 2, 1, 0)]);
}

/// A restart and a move: each controller is new, knows nothing of the time before, and has no timer of an earlier one. Between them a
/// report finds nobody; agents at the nodes are told.
#[test]
fn a_controller_stops_restarts_and_moves() {
    let mut spec = quiet(2, 10);
    spec.controllers = vec![at(2, 5, Some(8)), at(0, 0, Some(2)), at(0, 3, Some(5))];
    let to = |node: u32| Destination::Node(id_of(node));
    let says = [(1, 1.5, to(0)), (1, 2.5, to(0)), (1, 3.5, to(0)), (1, 5.5, to(2)), (1, 8.5, to(2))];
    let speaks = office(&says);
    let (result, story) = story(&spec, &speaks);
    let expected = [
        "head 0: starts beside [1]",
        "0: controller starts",
        "0 < 1: [0, 0, 0, 0]",
        "head 0 < 1: [0, 0, 0, 0]",
        "1 < 0: [100, 1]",
        "0: controller stops",
        "0 < 1: [1, 1, 1, 1]",
        "head 0: starts beside [1]",
        "0: controller starts",
        "0 < 1: [2, 2, 2, 2]",
        "head 0 < 1: [2, 2, 2, 2]",
        "1 < 0: [102, 1]",
        "0: controller stops",
        "head 2: starts beside [1]",
        "2: controller starts",
        "2 < 1: [3, 3, 3, 3]",
        "head 2 < 1: [3, 3, 3, 3]",
        "1 < 2: [103, 1]",
        "2: controller stops",
        "2 < 1: [4, 4, 4, 4]",
    ];
    // What happens at 5 s has the order of the nodes' ranks.
    let sorted = |story: &[String]| {
        let mut story = story.to_vec();
        story[12..15].sort();
        story
    };
    let expected: Vec<String> = expected.iter().map(|&line| line.to_string()).collect();
    assert_eq!(sorted(&story), sorted(&expected));
    assert_eq!(counts(&result), [("0", 1, 1, 0), ("0", 1, 1, 0), ("2", 1, 1, 0)]);
    let times: Vec<_> = result.controllers.iter().map(|c| (c.start_s, c.stop_s)).collect();
    assert_eq!(times, [(0.0, Some(2.0)), (3.0, Some(5.0)), (5.0, Some(8.0))]);
    // The order of the entries means nothing.
    spec.controllers.reverse();
    let again = office(&says);
    let (other, other_story) = self::story(&spec, &again);
    assert_eq!((other_story, other), (story, result));
}

/// A stop at the moment of a start at the same node comes first, whatever their order in the file.
#[test]
fn a_controller_may_follow_another_at_once() {
    for turn in [false, true] {
        let mut spec = quiet(1, 3);
        spec.controllers = vec![at(0, 0, Some(1)), at(0, 1, None)];
        if turn {
            spec.controllers.reverse();
        }
        let (_, story) = story(&spec, &office(&[]));
        let expected =
            ["head 0: starts beside [1]", "0: controller starts", "0: controller stops"].map(String::from);
        assert_eq!(story, [&expected[..], &expected[..2]].concat());
    }
}

/// Ticks by series, whose rows end just before the next tick: not a number before the start and after the stop.
#[test]
fn gauges_follow_the_controller_s_time() {
    let mut spec = quiet(1, 6);
    spec.controllers = vec![at(0, 1, Some(4))];
    let mut world = World::new(&spec, "office", Box::new(office(&[])), 1).unwrap();
    world.sample(Span::from_secs(1));
    drive::to_end(&mut world);
    let series = world.take_series().unwrap().controllers;
    assert_eq!((series.places, series.names), (vec![0], vec!["ticks"]));
    let values: Vec<String> = series.values[0].iter().map(f64::to_string).collect();
    assert_eq!(values, ["NaN", "0", "1", "2", "NaN", "NaN"]);
}

/// Beyond the reach of all there is no route; over a wire that loses all, no arrival.
#[test]
fn messages_may_be_lost() {
    let mut spec = quiet(2, 3);
    node(&mut spec, "7", 90_000.0, 0.0);
    spec.controllers = vec![at(0, 0, None)];
    let office = Office { writes_to: Some(id_of(7)), ..office(&[(7, 0.5, Destination::Node(id_of(0)))]) };
    let (result, _) = story(&spec, &office);
    assert_eq!(counts(&result), [("0", 1, 0, 1)]);
    assert_eq!(result.stations[3].messages.unwrap().missed, 1);
    let mut spec = world(dot11b(250.0, 550.0), 3);
    let ends = (wired(&mut spec, "0"), wired(&mut spec, "1"));
    spec.links.push(link(ends, 10, ms(1), 50));
    spec.links[0].loss = 1.0;
    spec.controllers = vec![at(0, 0, None)];
    let writes = Office { writes_to: Some(id_of(1)), ..self::office(&[]) };
    assert_eq!(counts(&run(&spec, &writes)), [("0", 1, 0, 1)]);
    // Nobody is there to receive it, but it arrives.
    spec.links[0].loss = 0.0;
    assert_eq!(counts(&run(&spec, &writes)), [("0", 1, 0, 0)]);
}

/// A message that waits for a route is no packet of a flow.
#[test]
fn messages_that_wait_for_a_route_are_in_no_account_of_packets() {
    let mut spec = WorldSpec { flows: vec![], ..chain(dot11b(250.0, 550.0), 1, 900.0, saturating(500), 3) };
    spec.routing = aodv(|_| {});
    spec.controllers = vec![at(0, 0, None)];
    let (result, _) = story(&spec, &office(&[(1, 0.5, Destination::Node(id_of(0)))]));
    assert_eq!(result.stations[1].messages.unwrap().sent, 1);
    places_add_up(&result.ends);
    assert_eq!((result.ends.made, result.ends.awaiting_route), (0, Some(0)));
}

#[test]
fn a_message_to_nobody_is_a_fault() {
    let writes = Office { writes_to: Some(NodeId(5)), ..office(&[]) };
    let mut world = World::new(&quiet(2, 3), "office", Box::new(writes), 1).unwrap();
    drive::to_end(&mut world);
    assert_eq!(
        world.fault().unwrap(),
        "scheme office: its controller at node 1 sent a message to a node that does not exist; expected a node of the scenario"
    );
}

#[test]
fn controllers_that_contradict_each_other_are_refused() {
    let error = |controllers: Vec<ControllerSpec>| {
        let spec = WorldSpec { controllers, ..quiet(1, 3) };
        World::new(&spec, "office", Box::new(office(&[])), 1).err()
    };
    let two = vec![at(0, 0, Some(2)), at(1, 0, None), at(0, 1, None)];
    assert_eq!(error(two).unwrap(), "controller at node 0: two run at the same time");
    assert_eq!(error(vec![at(1, 1, Some(1))]).unwrap(), "controller at node 1: it stops before it runs");
    assert_eq!(error(vec![at(2, 0, None)]).unwrap(), "controller: no such node");
    assert_eq!(error(vec![at(0, 0, Some(2)), at(1, 0, None), at(0, 2, None)]), None);
}

/// A place for a controller under a scheme without one, or after the end of the run.
#[test]
fn a_controller_without_effect_is_a_warning() {
    let mut spec = quiet(1, 3);
    let warnings = |spec: &WorldSpec| run(spec, &office(&[])).warnings;
    spec.controllers = vec![at(0, 0, None), at(1, 3, None)];
    let late = "[[controller]] at node 1: it would start at 3 s, when the run has ended, and has no effect"
        .to_string();
    assert_eq!(warnings(&spec), std::slice::from_ref(&late));
    spec.schemes = vec![NodeScheme { node: 0, scheme: "droptail".into(), params: Params::default() }];
    let none = "[[controller]] at node 0 has no effect: its scheme, droptail, has no controller".to_string();
    assert_eq!(warnings(&spec), [none, late]);
    let droptail = (find("droptail").unwrap().build)(&Params::default()).unwrap();
    let result = World::new(&spec, "droptail", droptail, 1).unwrap().result();
    assert_eq!(result.warnings, ["[[controller]] has no effect: scheme droptail has no controller"]);
    assert_eq!(result.controllers, []);
}

/// The longest time from a report to its answer, seconds, of 20 reports from node 0, and the number of answers.
fn slowest_answer(spec: &WorldSpec, to: u32, ahead: bool) -> (f64, usize) {
    let says: Vec<_> = (0..20).map(|i| (0, 1.0 + 0.2 * f64::from(i), Destination::Node(id_of(to)))).collect();
    let office = Office { ahead, ..office(&says) };
    let result = run(spec, &office);
    let ends = &result.ends;
    assert_eq!(ends.made, ends.delivered + ends.dropped.values().sum::<u64>() + ends.inside());
    let log = office.log.lock().unwrap().clone();
    let wait = |(at, what): &(u64, String)| {
        let (number, _) = what.strip_prefix(&format!("0 < {to}: ["))?.split_once(", ")?;
        Some(*at as f64 / 1e9 - says[number.parse::<usize>().unwrap() - 100].1)
    };
    let waits: Vec<f64> = log.iter().filter_map(wait).collect();
    (waits.iter().copied().fold(0.0, f64::max), waits.len())
}

/// Full queues at every hop in both directions: what goes ahead does not wait in them, by air and by wire.
#[test]
fn messages_ahead_pass_every_full_queue() {
    let mut spec = chain(dot11b(250.0, 550.0), 3, 200.0, saturating(1000), 8);
    crate::support::flow(&mut spec, "back", 3, 0, saturating(1000));
    spec.controllers = vec![at(3, 0, None)];
    let (ahead, behind) = (slowest_answer(&spec, 3, true), slowest_answer(&spec, 3, false));
    assert!(ahead.0 < 0.3 && ahead.1 == 20 && behind.0 > 1.0, "{ahead:?} {behind:?}");
    let mut spec = world(dot11b(250.0, 550.0), 8);
    for i in 0..4 {
        // The agent at node 0 needs a radio; nobody is near.
        node(&mut spec, &i.to_string(), 9_000.0 * f64::from(i), 0.0);
    }
    for i in 0..3 {
        spec.links.push(link((i, i + 1), 1, ms(1), 50));
    }
    crate::support::flow(&mut spec, "f", 0, 3, saturating(1000));
    crate::support::flow(&mut spec, "back", 3, 0, saturating(1000));
    spec.links[1].rate = airfair_units::Rate::from_kbps(900);
    spec.controllers = vec![at(3, 0, None)];
    let (ahead, behind) = (slowest_answer(&spec, 3, true), slowest_answer(&spec, 3, false));
    // Six packets on the wires, one a hop, of 8.2 ms (9.1 ms) and 1 ms each.
    assert!(ahead.0 < 0.07 && ahead.1 == 20 && behind.0 > 0.4, "{ahead:?} {behind:?}");
}
