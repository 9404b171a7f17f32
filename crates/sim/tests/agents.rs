//! Agents beside radios: what their samples say, what becomes of their messages, and nodes that have another scheme.

use std::sync::{Arc, Mutex};

use crate::support::wires::link;
use crate::support::{chain, dot11b, flow, id_of, node, number_of, saturating, world};
use airfair_schemes::places::{
    Agent, AgentContext, AgentSetup, Capability, Destination, Interface, Medium, Message, NodeId, NodeSample,
    Timer, Transmit, Wants,
};
use airfair_schemes::{Params, Scheme, find};
use airfair_sim::World;
use airfair_sim::engine::drive;
use airfair_sim::measure::summary::RunResult;
use airfair_sim::spec::*;
use airfair_units::{Rate, Span, Time};

/// Messages received by agents: node and time.
#[derive(Default)]
struct Log {
    samples: Vec<(u32, NodeSample<'static>)>,
    heard: Vec<(u32, f64, u32, Vec<u8>, bool)>,
}

/// Says a byte at given moments.
struct Speaker {
    log: Arc<Mutex<Log>>,
    me: u32,
    says: Arc<Vec<(u32, f64, Destination)>>,
    ahead: bool,
    transmit: Option<Transmit>,
}

impl Agent for Speaker {
    fn on_start(&mut self, setup: &AgentSetup<'_>, context: &mut AgentContext<'_>) {
        self.me = number_of(setup.node);
        for (i, (from, at, _)) in (0u16..).zip(self.says.iter()) {
            if *from == self.me {
                context.out.timers.push((Timer(i), Time((at * 1e9) as u64)));
            }
        }
    }

    fn on_sample(&mut self, sample: &NodeSample<'_>, _context: &mut AgentContext<'_>) {
        self.log
            .lock()
            .unwrap()
            .samples
            .push((self.me, NodeSample { links: &[], flows: &[], answers: &[], ..*sample }));
    }

    fn on_message(&mut self, from: NodeId, bytes: &[u8], to_me: bool, context: &mut AgentContext<'_>) {
        let at = context.now.as_secs_f64();
        self.log.lock().unwrap().heard.push((self.me, at, number_of(from), bytes.to_vec(), to_me));
    }

    fn on_timer(&mut self, timer: Timer, context: &mut AgentContext<'_>) {
        let (_, _, to) = self.says[usize::from(timer.0)];
        context.out.messages.push(Message {
            to,
            bytes: vec![timer.0 as u8; 8],
            ahead: self.ahead,
            transmit: self.transmit,
        });
    }
}

struct Speaking {
    log: Arc<Mutex<Log>>,
    says: Arc<Vec<(u32, f64, Destination)>>,
    ahead: bool,
    transmit: Option<Transmit>,
}

impl Scheme for Speaking {
    fn agent(&self, _at: &Interface) -> Option<Box<dyn Agent>> {
        let (log, says) = (Arc::clone(&self.log), Arc::clone(&self.says));
        Some(Box::new(Speaker { log, me: u32::MAX, says, ahead: self.ahead, transmit: self.transmit }))
    }

    fn wants(&self, at: &Interface) -> Wants {
        if at.medium == Medium::Wire {
            return Wants::NONE;
        }
        Wants::of(&[Capability::Overheard]).samples_every(Span::from_millis(100))
    }
}

fn speak(spec: &WorldSpec, says: &[(u32, f64, Destination)]) -> (RunResult, Log) {
    speak_as(spec, says, true)
}

fn speak_as(spec: &WorldSpec, says: &[(u32, f64, Destination)], ahead: bool) -> (RunResult, Log) {
    speak_with(spec, says, ahead, None)
}

fn speak_with(
    spec: &WorldSpec,
    says: &[(u32, f64, Destination)],
    ahead: bool,
    transmit: Option<Transmit>,
) -> (RunResult, Log) {
    let log = Arc::new(Mutex::new(Log::default()));
    let scheme = Speaking { log: Arc::clone(&log), says: Arc::new(says.to_vec()), ahead, transmit };
    let mut world = World::new(spec, "speaking", Box::new(scheme), 1).unwrap();
    drive::to_end(&mut world);
    let result = world.result();
    drop(world);
    (result, std::mem::take(&mut *log.lock().unwrap()))
}

fn messages(result: &RunResult, node: &str) -> [u64; 4] {
    let station = result.stations.iter().find(|s| s.node == node).unwrap();
    let m = station.messages.expect("it has an agent");
    [m.sent, m.missed, m.heard, m.received]
}

/// Five radio states fill each interval; the samples of a run follow each other without a gap.
#[test]
fn samples_add_up_to_their_interval() {
    let spec = chain(dot11b(250.0, 550.0), 3, 200.0, saturating(500), 5);
    let (_, log) = speak(&spec, &[]);
    for node in 0..4 {
        let own: Vec<&NodeSample<'static>> =
            log.samples.iter().filter(|s| s.0 == node).map(|s| &s.1).collect();
        assert_eq!(own.len(), 50, "one each 100 ms, the first within that");
        for sample in &own {
            let a = &sample.airtime;
            let sum = a.transmit.0 + a.receive.0 + a.busy.0 + a.nav.0 + a.idle.0;
            assert_eq!(sum, sample.interval.0);
            assert!(
                sample.receive_own.0 <= a.receive.0 + 5_000_000,
                "at most a frame of the interval before"
            );
        }
        assert!(own[1..].iter().all(|sample| sample.interval == Span::from_millis(100)));
        assert!(own.iter().map(|sample| sample.traffic).sum::<u32>() > 100, "packets pass everywhere");
    }
}

/// Node 1 of a chain of four decodes 0 and 2. A unicast to 0 is overheard by 2, a broadcast is heard by both; 3 hears nothing.
#[test]
fn a_message_is_heard_by_all_neighbours() {
    let spec = chain(dot11b(250.0, 550.0), 3, 200.0, saturating(500), 1);
    let mut quiet = WorldSpec { flows: vec![], ..spec };
    let says = [(1, 0.3, Destination::Neighbour(id_of(0))), (1, 0.6, Destination::Broadcast)];
    let (result, log) = speak(&quiet, &says);
    let mut heard: Vec<(u32, u32, u8, bool)> = log.heard.iter().map(|h| (h.0, h.2, h.3[0], h.4)).collect();
    heard.sort_unstable();
    assert_eq!(heard, [(0, 1, 0, true), (0, 1, 1, true), (2, 1, 0, false), (2, 1, 1, true)]);
    assert!(
        log.heard.iter().all(|h| h.3.len() == 8 && (h.1 % 0.3) < 0.01),
        "at once: nothing else is on the air"
    );
    assert_eq!(messages(&result, "1"), [2, 0, 0, 0]);
    assert_eq!(messages(&result, "0"), [0, 0, 2, 1]);
    assert_eq!(messages(&result, "2"), [0, 0, 2, 0]);
    assert_eq!(messages(&result, "3"), [0, 0, 0, 0]);
    quiet.radios[0].packet_loss = 1.0;
    assert_eq!(speak(&quiet, &says).1.heard, log.heard, "it strikes packets of flows only");
}

/// All nodes on a flow's static route know the flow from its first packet on until one has arrived; no other node does.
#[test]
fn a_flow_is_being_set_up_until_its_first_packet_arrives() {
    let mut spec = chain(dot11b(250.0, 550.0), 3, 200.0, saturating(500), 3);
    node(&mut spec, "4", 0.0, 200.0);
    spec.flows[0].start = Time(1_000_000_000);
    let (_, log) = speak(&spec, &[]);
    assert!(log.samples.iter().filter(|s| s.1.set_up > 0).count() <= 4, "one interval at most");
    spec.radios[0].packet_loss = 1.0;
    let (_, log) = speak(&spec, &[]);
    for node in 0..5 {
        let set_up: Vec<u32> = log.samples.iter().filter(|s| s.0 == node).map(|s| s.1.set_up).collect();
        let (before, after) = set_up.split_at(10);
        assert!(before[..9].iter().all(|&n| n == 0), "{node}: {set_up:?}");
        let expected = u32::from(node < 4);
        assert!(after[1..].iter().all(|&n| n == expected), "{node}: {set_up:?}");
    }
}

/// A broadcast is received by all neighbours and for none of them in particular.
#[test]
fn broadcasts_are_no_frames_for_this_node() {
    let spec = chain(dot11b(250.0, 550.0), 3, 200.0, saturating(500), 1);
    let quiet = WorldSpec { flows: vec![], ..spec };
    let own = |to| {
        let (_, log) = speak(&quiet, &[(1, 0.3, to)]);
        [0, 2].map(|node| log.samples.iter().filter(|s| s.0 == node).map(|s| s.1.receive_own.0).sum::<u64>())
    };
    assert_eq!(own(Destination::Broadcast), [0, 0]);
    let [addressed, overhears] = own(Destination::Neighbour(id_of(0)));
    assert!(addressed > 0 && overhears == 0, "{addressed} {overhears}");
}

/// A message stands before the data that wait, and each that a neighbour misses is counted.
#[test]
fn messages_pass_a_full_queue_and_are_lost_like_frames() {
    let spec = chain(dot11b(250.0, 550.0), 3, 200.0, saturating(1000), 5);
    let says: Vec<_> = (0..100).map(|i| (1, 0.5 + 0.04 * f64::from(i), Destination::Broadcast)).collect();
    let (result, log) = speak(&spec, &says);
    let waits: Vec<f64> = log.heard.iter().map(|h| h.1 - (0.5 + 0.04 * f64::from(h.3[0]))).collect();
    assert!(waits.iter().all(|wait| *wait < 0.1), "a queue of fifty takes longer: {waits:?}");
    let [sent, missed, ..] = messages(&result, "1");
    assert_eq!(sent, 100);
    assert!(missed > 5, "broadcasts collide: {missed}");
    assert_eq!(log.heard.len() as u64 + missed, 2 * sent, "each neighbour heard it or missed it");
}

/// One node of a mesh with NRED has drop-tail: it neither speaks nor listens, and a message for it is dropped silently.
#[test]
fn a_node_may_have_another_scheme() {
    let mut spec = world(dot11b(250.0, 550.0), 20);
    for i in 0..4 {
        node(&mut spec, &i.to_string(), 200.0 * f64::from(i), 0.0);
    }
    flow(
        &mut spec,
        "a",
        0,
        1,
        Traffic::ConstantRate {
            rate: Rate::from_kbps(600),
            packet: airfair_units::Bytes(500),
            gap_jitter: 0.5,
        },
    );
    flow(&mut spec, "b", 3, 2, saturating(500));
    let nred = || (find("nred").unwrap().build)(&Params::default()).unwrap();
    let run = |spec: &WorldSpec| {
        let mut world = World::new(spec, "nred", nred(), 1).unwrap();
        drive::to_end(&mut world);
        world.result()
    };
    let all = run(&spec);
    assert!(all.stations.iter().all(|s| s.messages.is_some()));
    spec.schemes.push(NodeScheme { node: 1, scheme: "droptail".into(), params: Params::default() });
    let mixed = run(&spec);
    for station in &mixed.stations {
        assert_eq!(station.messages.is_some(), station.node != "1", "{}", station.node);
    }
    let ends = &mixed.ends;
    assert_eq!(
        ends.made,
        ends.delivered + ends.dropped.values().sum::<u64>() + ends.queued + ends.in_mac + ends.awaiting_arp
    );
    // And the other way round: the first node with it in a mesh of drop-tail.
    spec.schemes = vec![NodeScheme { node: 2, scheme: "nred".into(), params: Params::default() }];
    let droptail = (find("droptail").unwrap().build)(&Params::default()).unwrap();
    let mut world = World::new(&spec, "droptail", droptail, 1).unwrap();
    drive::to_end(&mut world);
    let first = world.result();
    assert_eq!(first.stations.iter().filter(|s| s.messages.is_some()).count(), 1);
    assert!(!first.drops.contains_key("nred-outgoing"), "it does not follow its own cry: {:?}", first.drops);
    spec.schemes[0].scheme = "drptail".into();
    let error = World::new(&spec, "nred", nred(), 1).err().unwrap();
    assert_eq!(error, "node 2: no such scheme: drptail");
}

/// Three nodes, each of which would hear both others but for three frames in ten. A broadcast reaches each with probability 0.7; a message
/// for one neighbour is sent until that has it, and meanwhile missed by the other with probability 0.7 * 0.3 / (1 - 0.3^2) = 0.231.
#[test]
fn frame_loss_strikes_messages_too() {
    let mut spec = chain(dot11b(250.0, 550.0), 2, 100.0, saturating(500), 21);
    spec.flows.clear();
    spec.radios[0].phy.frame_loss = 0.3;
    let every =
        |to: Destination| -> Vec<_> { (0..1000).map(|i| (1, 0.5 + 0.02 * f64::from(i), to)).collect() };
    let heard = |to: Destination| {
        let log = speak(&spec, &every(to)).1;
        [0, 2].map(|node| log.heard.iter().filter(|heard| heard.0 == node).count() as i32)
    };
    let broadcast = heard(Destination::Broadcast);
    assert!(
        broadcast.iter().all(|heard| (heard - 700).abs() < 58),
        "four standard deviations: {broadcast:?}"
    );
    let [received, overheard] = heard(Destination::Neighbour(id_of(0)));
    assert!(received >= 998 && (overheard - 769).abs() < 54, "{received} {overheard}");
}

/// Node 2 has a radio too, but 1 reaches it by wire only: a message from 0 to 2 goes by air, then by wire, and is heard there, once. 0
/// overhears nothing, since 1 sends no frame.
#[test]
fn a_message_goes_on_by_wire() {
    let mut spec = chain(dot11b(250.0, 550.0), 1, 200.0, saturating(500), 3);
    spec.flows.clear();
    let far = node(&mut spec, "2", 9_000.0, 0.0);
    spec.links.push(link((1, far), 10, Span::from_millis(1), 50));
    let says: Vec<_> = (0..19).map(|i| (0, 0.5 + 0.1 * f64::from(i), Destination::Node(id_of(2)))).collect();
    for ahead in [true, false] {
        let (result, log) = speak_as(&spec, &says, ahead);
        let heard: Vec<_> = log.heard.iter().map(|h| (h.0, h.2, h.3[0], h.4)).collect();
        assert_eq!(heard, (0..19).map(|i| (2, 0, i, true)).collect::<Vec<_>>());
        assert_eq!([messages(&result, "0")[0], messages(&result, "2")[2]], [19, 19]);
        assert!(log.samples.iter().all(|s| s.1.traffic == 0), "no packet of a flow");
    }
}

/// 0 - 1 - 2 - 3: 1 relays what 0 says to 3, and 0 decodes that frame, but does not hear itself; 1 overhears the relay of 2. Those that
/// relay do not hear what they relay, and no message counts as traffic of flows.
#[test]
fn a_node_does_not_hear_itself() {
    let mut spec = chain(dot11b(250.0, 550.0), 3, 200.0, saturating(500), 3);
    spec.flows.clear();
    let (_, log) = speak(&spec, &[(0, 0.5, Destination::Node(id_of(3)))]);
    let mut heard: Vec<_> = log.heard.iter().map(|h| (h.0, h.2, h.4)).collect();
    heard.sort_unstable();
    assert_eq!(heard, [(1, 0, false), (3, 0, true)]);
    assert!(log.samples.iter().all(|s| s.1.traffic == 0));
}

/// 3 does not decode 1: a frame for 3 is sent as often as the retry limit allows, is neither answered nor forwarded. Node 4 has no radio: a
/// message for it as a neighbour takes no air time.
#[test]
fn nobody_answers_for_a_node_that_is_no_neighbour() {
    let mut spec = chain(dot11b(250.0, 550.0), 3, 200.0, saturating(500), 3);
    spec.flows.clear();
    let wired = node(&mut spec, "4", 0.0, 0.0);
    spec.nodes[wired].radios.clear();
    spec.links.push(link((0, wired), 10, Span::from_millis(1), 50));
    let (result, log) = speak(&spec, &[(1, 0.5, Destination::Neighbour(id_of(3)))]);
    let mut heard: Vec<_> = log.heard.iter().map(|h| (h.0, h.2, h.4)).collect();
    heard.sort_unstable();
    assert_eq!(heard, [(0, 1, false), (2, 1, false)]);
    assert_eq!(result.stations[1].counters.given_up, 1);
    assert_eq!(messages(&result, "3"), [0, 0, 0, 0]);
    let (result, log) = speak(&spec, &[(1, 0.5, Destination::Neighbour(id_of(4)))]);
    assert_eq!((log.heard.len(), messages(&result, "1")[0], result.transmissions), (0, 1, 0));
}

/// Packets of flows end in named places, whatever agents have queued beside them.
#[test]
fn messages_are_in_no_account_of_packets() {
    let mut spec = chain(dot11b(250.0, 550.0), 2, 200.0, saturating(500), 1);
    let far = node(&mut spec, "3", 9_000.0, 0.0);
    spec.links.push(link((2, far), 1, Span::from_millis(300), 50));
    // All at the very end: they queue, and they are on the wire.
    let says: Vec<_> =
        (0..40).map(|i| (0, 0.9 + 0.002 * f64::from(i), Destination::Node(id_of(3)))).collect();
    let quiet = WorldSpec { flows: vec![], ..spec.clone() };
    for ahead in [true, false] {
        assert_eq!(speak_as(&quiet, &says, ahead).0.ends.inside(), 0);
        let ends = speak_as(&spec, &says, ahead).0.ends;
        assert!(ends.made > 100);
        assert_eq!(
            ends.made,
            ends.delivered + ends.dropped.values().sum::<u64>() + ends.inside(),
            "{ends:?}"
        );
    }
}
