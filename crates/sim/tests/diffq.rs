//! DiffQ in worlds: what its queues learn from frames, beside other schemes, over changing routes and over wires.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use crate::support::random_world::edca;
use crate::support::rig::{both, by_matrix, no_back_off};
use crate::support::routing::{aodv, constant, olsr, places_add_up};
use crate::support::wires::*;
use crate::support::*;
use airfair_schemes::places::{
    Agent, Allowance, Enqueued, FlowSetup, Head, Header, HeaderKind, Heard, Interface, LabelledQueue, Medium,
    NodeId, OutputQueue, Packet, PacketId, Queue, QueueContext, QueueView, Setting, Source, SourceContext,
    Timer, UdpEnds, Waiting, WaitingQueue, Wants,
};
use airfair_schemes::{ParamValue, Params, Scheme};
use airfair_sim::World;
use airfair_sim::measure::summary::RunResult;
use airfair_sim::spec::*;
use airfair_transport::TcpConfig;
use airfair_units::{Bytes, Db, Rate, Span, Time};

fn radio() -> RadioSpec {
    with_edca(dot11b(250.0, 550.0), diffq_levels())
}

/// A frame as a queue has announced or heard it: node, neighbour that has sent it, destination, size, number of the packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Word {
    node: usize,
    from: u32,
    destination: u32,
    size: u32,
    number: u32,
}

#[derive(Debug, Default)]
struct Log {
    queues: usize,
    /// Backlogs that queues have announced; the sender stands for itself.
    said: Vec<Word>,
    heard: Vec<Word>,
    /// Backlogs that messages have carried, and when.
    told: Vec<Word>,
    told_at: Vec<Time>,
    /// Node and time of each labelled packet that has left a queue.
    left: Vec<(usize, Time)>,
    finished: usize,
    /// Packets that were taken back because their route has moved.
    withdrawn: usize,
    /// Most packets that a radio has held at once, by node.
    held: BTreeMap<usize, usize>,
    /// Size of the own queue and rate after it, at each step of a source.
    steps: Vec<(u32, u64)>,
}

/// A scheme whose queues and sources are observed. Nodes have a radio each, and queues are made in their order.
struct Observed {
    scheme: Box<dyn Scheme>,
    log: Arc<Mutex<Log>>,
}

impl Observed {
    fn diffq(set: &[(&str, ParamValue)]) -> Self {
        Self::of("diffq", set)
    }

    fn of(scheme: &str, set: &[(&str, ParamValue)]) -> Self {
        Self { scheme: built(scheme, set), log: Arc::default() }
    }

    fn run(self, spec: &WorldSpec, seed: u64) -> (RunResult, Log) {
        let log = Arc::clone(&self.log);
        let result = finished(World::new(spec, "diffq", Box::new(self), seed).unwrap());
        places_add_up(&result.ends);
        let log = std::mem::take(&mut *log.lock().unwrap());
        (result, log)
    }
}

impl Scheme for Observed {
    fn queue(&self, interface: &Interface) -> OutputQueue {
        let queue = match self.scheme.queue(interface) {
            OutputQueue::Labelled(queue) => queue,
            plain @ (OutputQueue::Plain(_) | OutputQueue::Waiting(_)) => return plain,
        };
        let mut log = self.log.lock().unwrap();
        log.queues += 1;
        OutputQueue::labelled(ObservedQueue {
            queue,
            node: log.queues - 1,
            log: Arc::clone(&self.log),
            held: BTreeSet::new(),
        })
    }
    fn source(&self) -> Option<Box<dyn Source>> {
        Some(Box::new(Steps { source: self.scheme.source()?, log: Arc::clone(&self.log), packets: 0 }))
    }
    fn udp(&self) -> Option<UdpEnds> {
        let UdpEnds { source, receiver } = self.scheme.udp()?;
        Some(UdpEnds { source: Box::new(Steps { source, log: Arc::clone(&self.log), packets: 0 }), receiver })
    }
    fn agent(&self, interface: &Interface) -> Option<Box<dyn Agent>> {
        self.scheme.agent(interface)
    }
    fn wants(&self, interface: &Interface) -> Wants {
        self.scheme.wants(interface)
    }
}

struct ObservedQueue {
    queue: Box<dyn LabelledQueue>,
    node: usize,
    log: Arc<Mutex<Log>>,
    held: BTreeSet<PacketId>,
}

impl ObservedQueue {
    fn word(&self, from: NodeId, destination: NodeId, header: &Header) -> Word {
        let [size, .., number] = header.fields;
        Word { node: self.node, from: from.0, destination: destination.0, size: size & 0xffff, number }
    }
}

impl Queue for ObservedQueue {
    fn enqueue(&mut self, packet: Packet, context: &mut QueueContext<'_>) -> Enqueued {
        self.queue.enqueue(packet, context)
    }
    fn peek(&mut self, context: &mut QueueContext<'_>) -> Option<Head> {
        self.queue.peek(context)
    }
    fn commit(&mut self) -> Option<Packet> {
        let packet = self.queue.commit()?;
        if packet.labelled {
            assert!(self.held.insert(packet.id), "a packet leaves twice");
            let mut log = self.log.lock().unwrap();
            let most = log.held.entry(self.node).or_default();
            *most = (*most).max(self.held.len());
        }
        Some(packet)
    }
    fn tail_drop(&self) -> Option<u32> {
        self.queue.tail_drop()
    }
    fn view(&self) -> QueueView {
        self.queue.view()
    }
    fn apply(&mut self, setting: Setting, now: Time) {
        self.queue.apply(setting, now);
        if let Setting::Backlog { neighbour, destination, packets } = setting {
            let word = Word {
                node: self.node,
                from: neighbour.0,
                destination: destination.0,
                size: packets,
                number: 0,
            };
            let mut log = self.log.lock().unwrap();
            log.told.push(word);
            log.told_at.push(now);
        }
    }
    fn show(&self, see: &mut dyn FnMut(&Packet)) {
        self.queue.show(see);
    }
}

impl WaitingQueue for ObservedQueue {
    fn wakes_at(&self, now: Time) -> Option<Time> {
        self.queue.wakes_at(now)
    }
}

impl LabelledQueue for ObservedQueue {
    fn pass_over(&mut self, context: &mut QueueContext<'_>) -> Option<Head> {
        self.queue.pass_over(context)
    }
    fn header(&self) -> &'static HeaderKind {
        self.queue.header()
    }
    fn stamp(&mut self, packet: &Packet, header: &mut Header, now: Time) {
        self.queue.stamp(packet, header, now);
        let word = self.word(NodeId(0), packet.destination, header);
        let mut log = self.log.lock().unwrap();
        log.said.push(word);
        log.left.push((self.node, now));
    }
    fn on_heard(&mut self, heard: &Heard<'_>, now: Time) -> bool {
        let may_leave = self.queue.on_heard(heard, now);
        let word = self.word(heard.from, heard.destination, heard.header);
        self.log.lock().unwrap().heard.push(word);
        may_leave
    }
    fn on_finished(&mut self, packet: PacketId) {
        self.queue.on_finished(packet);
        self.log.lock().unwrap().finished += usize::from(self.held.remove(&packet));
    }
    fn on_routes(&mut self, next_hop: &mut dyn FnMut(NodeId) -> Option<NodeId>) {
        self.queue.on_routes(next_hop);
    }
    fn withdraw(&mut self, destination: NodeId) -> Option<Packet> {
        let packet = self.queue.withdraw(destination);
        self.log.lock().unwrap().withdrawn += usize::from(packet.is_some());
        packet
    }
    fn backlogs(&self, see: &mut dyn FnMut(NodeId, u32)) {
        self.queue.backlogs(see);
    }
    fn backlog_to(&self, destination: NodeId, labelled: bool) -> QueueView {
        self.queue.backlog_to(destination, labelled)
    }
}

/// Everything that a node has heard.
fn heard_by(log: &Log, node: usize) -> Vec<Word> {
    log.heard.iter().copied().filter(|word| word.node == node).collect()
}

/// Nodes on a line at these places, in metres.
fn line(places: &[f64], seconds: u64) -> WorldSpec {
    let mut spec = world(radio(), seconds);
    for (i, &x) in places.iter().enumerate() {
        node(&mut spec, &i.to_string(), x, 0.0);
    }
    spec
}

/// 0 sends to 1, 100 m away. 2, at 200 m, is in range of 0 (250 m); 3, at 400 m, senses 0 (550 m), and decodes 1's ACKs at most, which say
/// nothing. 1 and 2 learn each size that 0 announces, 3 learns nothing.
#[test]
fn sizes_are_learnt_from_frames_that_are_decoded() {
    let mut spec = line(&[0.0, 100.0, 200.0, 400.0], 5);
    flow(&mut spec, "f", 0, 1, saturating(1000));
    let (result, log) = Observed::diffq(&[]).run(&spec, 1);
    assert_eq!((log.queues, result.drops.len()), (4, 0));
    assert!(result.flows[0].delivered_packets > 300, "{:?}", result.flows[0]);
    let said: Vec<Word> = log.said.iter().map(|&word| Word { from: id_of(0).0, ..word }).collect();
    assert!(said.iter().all(|word| word.node == 0 && word.destination == id_of(1).0));
    assert!(said.iter().any(|word| word.size > 10), "a queue forms");
    for node in [1, 2] {
        let expected: Vec<Word> = said.iter().map(|&word| Word { node, ..word }).collect();
        let heard = heard_by(&log, node);
        // The last frame may be on the air at the end.
        assert!(heard.len() + 1 >= expected.len() && expected.starts_with(&heard), "{}", heard.len());
    }
    assert_eq!((heard_by(&log, 0), heard_by(&log, 3)), (vec![], vec![]));
    assert!(log.finished + 1 >= said.len());
}

/// A frame is lost at a station with probability 0.3. Beside the receiver 2 hears each frame of its own luck, and misses a packet that is
/// sent until 1 has it with probability 0.7 x 0.3 / (1 - 0.3 x 0.3) = 0.231, if lost ACKs do not repeat it; if they do, a little less. 4
/// standard deviations of n packets are 4 sqrt(0.231 x 0.769 / n). At a probability of 1 it learns nothing.
#[test]
fn a_lost_frame_says_nothing() {
    let mut spec = line(&[0.0, 100.0, 200.0], 20);
    flow(&mut spec, "f", 0, 1, saturating(500));
    spec.radios[0].phy.frame_loss = 0.3;
    let (result, log) = Observed::diffq(&[]).run(&spec, 1);
    let numbers =
        |node: usize| -> BTreeSet<u32> { heard_by(&log, node).iter().map(|word| word.number).collect() };
    let said: BTreeSet<u32> = log.said.iter().map(|word| word.number).collect();
    let (received, overheard) = (numbers(1), numbers(2));
    assert!(said.len() > 1000 && received.is_subset(&said) && overheard.is_subset(&said));
    assert!(received.len() as u64 >= result.flows[0].delivered_packets);
    assert!(received.len() * 1000 >= said.len() * 990);
    let share = overheard.intersection(&received).count() as f64 / received.len() as f64;
    assert!((0.7..0.9).contains(&share), "{share}");
    // A radio of its own for 2.
    let mut deaf = spec.radios[0].clone();
    (deaf.name, deaf.phy.frame_loss) = ("deaf".into(), 1.0);
    spec.radios.push(deaf);
    spec.nodes[2].radios = vec![1];
    let (_, log) = Observed::diffq(&[]).run(&spec, 1);
    assert!(heard_by(&log, 1).len() > 1000);
    assert_eq!(heard_by(&log, 2), []);
}

/// 1 between 0 and 2 has drop-tail: it forwards, and writes nothing. The size that its frames carry is 0's, and neither 0 nor 2 takes it
/// for 1's. With DiffQ at 1 both hear of it.
#[test]
fn a_header_that_its_sender_has_not_written_is_not_learnt() {
    let mut spec = line(&[0.0, 200.0, 400.0], 5);
    flow(&mut spec, "f", 0, 2, saturating(1000));
    let (all, log) = Observed::diffq(&[]).run(&spec, 1);
    assert!(all.flows[0].delivered_packets > 200);
    for node in [0, 2] {
        let heard = heard_by(&log, node);
        assert!(heard.len() > 200 && heard.iter().all(|word| word.from == id_of(1).0), "{node}");
    }
    for scheme in ["droptail", "fq-codel"] {
        spec.schemes = vec![NodeScheme { node: 1, scheme: scheme.into(), params: Params::default() }];
        let (mixed, log) = Observed::diffq(&[]).run(&spec, 1);
        assert_eq!(log.queues, 2);
        assert!(mixed.flows[0].delivered_packets > 200, "{scheme}: {:?}", mixed.flows[0]);
        // Queues are made for 0 and 2: the second one observed is that of node 2.
        assert!(log.said.iter().all(|word| word.node == 0 && word.destination == id_of(2).0));
        assert_eq!(log.heard, []);
    }
}

/// Without overhearing the sizes come by a message every 100 ms, from neighbours in range alone: 0 and 2 learn 1's sizes, 3 learns 2's.
#[test]
fn sizes_come_by_broadcast() {
    let mut spec = line(&[0.0, 200.0, 400.0, 600.0], 5);
    flow(&mut spec, "f", 0, 3, saturating(1000));
    let set = [("sizes_by", ParamValue::Choice("broadcast"))];
    let (result, log) = Observed::diffq(&set).run(&spec, 1);
    assert!(result.flows[0].delivered_packets > 100, "{:?}", result.flows[0]);
    assert_eq!(log.heard, []);
    assert!(log.told.iter().all(|word| word.destination == id_of(3).0));
    for (node, neighbours) in [(0, vec![1]), (1, vec![0, 2]), (2, vec![1]), (3, vec![2])] {
        let told: Vec<Word> = log.told.iter().copied().filter(|word| word.node == node).collect();
        let of: BTreeSet<u32> = told.iter().map(|word| number_of(NodeId(word.from))).collect();
        assert_eq!(of, neighbours.iter().copied().collect(), "{node}");
        // At most one message each 100 ms from each.
        assert!((10..=50 * neighbours.len()).contains(&told.len()), "{node}: {}", told.len());
    }
}

/// Over TCP with every header encoded and decoded at each hop: the results are those without.
#[test]
fn trailers_survive_their_bytes() {
    let mut spec = line(&[0.0, 200.0, 400.0], 5);
    flow(&mut spec, "f", 0, 2, Traffic::Endless);
    spec.flows[0].transport = tcp(TcpConfig::default());
    flow(&mut spec, "g", 2, 0, saturating(500));
    let world = || World::new(&spec, "diffq", built("diffq", &[]), 1).unwrap();
    let mut checked = world();
    checked.check_headers();
    let result = finished(checked);
    assert!(result.flows.iter().all(|flow| flow.delivered_packets > 50), "{:?}", result.flows);
    assert_eq!(result, finished(world()));
}

/// Results by name.
fn by_name(mut result: RunResult) -> RunResult {
    result.flows.sort_by(|a, b| a.id.cmp(&b.id));
    result.stations.sort_by(|a, b| a.node.cmp(&b.node));
    result.queues.sort_by(|a, b| (&a.node, &a.towards).cmp(&(&b.node, &b.towards)));
    result
}

/// Two flows over UDP and two over TCP across a grid of nine nodes, in five orders of nodes and flows.
#[test]
fn the_order_of_nodes_and_flows_changes_nothing() {
    for name in ["diffq", "diffq-rc", "diffq-occupancy"] {
        let in_order = |turn: usize, reversed: bool| {
            let mut spec = world(radio(), 5);
            let place = |n: usize| if reversed { 8 - (n + turn) % 9 } else { (n + turn) % 9 };
            let mut at = [0; 9];
            for i in 0..9 {
                let n = place(i);
                at[n] = node(&mut spec, &n.to_string(), 180.0 * (n % 3) as f64, 180.0 * (n / 3) as f64);
            }
            let mut ends = [("a", 0, 8, false), ("b", 2, 6, true), ("c", 7, 2, false), ("d", 3, 5, true)];
            ends.rotate_left(turn % 4);
            if reversed {
                ends.reverse();
            }
            for (id, from, to, over_tcp) in ends {
                let traffic = if over_tcp { Traffic::Endless } else { saturating(1000) };
                flow(&mut spec, id, at[from], at[to], traffic);
                if over_tcp {
                    spec.flows.last_mut().unwrap().transport = tcp(TcpConfig::default());
                }
            }
            by_name(finished(World::new(&spec, name, built(name, &[]), 3).unwrap()))
        };
        let first = in_order(0, false);
        assert!(first.flows.iter().all(|flow| flow.delivered_packets > 20), "{name}: {:?}", first.flows);
        for (turn, reversed) in [(1, false), (4, false), (0, true), (7, true)] {
            assert_eq!(in_order(turn, reversed), first, "{name}, {turn}, {reversed}");
        }
    }
}

/// A flow of DiffQ over TCP or UDP and a plain TCP flow leave one node by one radio: neither starves, and the plain one waits in a queue
/// that is not a destination's.
#[test]
fn beside_plain_tcp_at_one_node() {
    let plain = Transport::Tcp {
        config: TcpConfig::default(),
        law: "cubic".into(),
        params: Params::default(),
        pinned: true,
    };
    for over_tcp in [false, true] {
        for (in_radio, mac_queue) in [(1usize, 1u32), (1, 4), (2, 1), (4, 1), (4, 4)] {
            let mut spec = line(&[0.0, 100.0], 20);
            // Packets of each category.
            spec.radios[0].mac.mac_queue = mac_queue;
            flow(&mut spec, "diffq", 0, 1, if over_tcp { Traffic::Endless } else { saturating(1000) });
            if over_tcp {
                spec.flows[0].transport = tcp(TcpConfig::default());
            }
            flow(&mut spec, "plain", 0, 1, Traffic::Endless);
            spec.flows[1].transport = plain.clone();
            spec.warmup = Span::from_secs(5);
            let set = [("in_radio", ParamValue::Integer(in_radio as u64))];
            let (result, log) = Observed::diffq(&set).run(&spec, 1);
            let rates: Vec<f64> = result.flows.iter().map(|flow| flow.goodput_bps / 1e6).collect();
            assert!(
                rates.iter().all(|&rate| rate > 0.2),
                "over TCP: {over_tcp}, {in_radio}, {mac_queue}: {rates:?}"
            );
            let held = log.held[&0];
            assert!(if mac_queue == 1 { held <= in_radio } else { held == in_radio }, "{in_radio}: {held}");
        }
    }
}

/// A radio holds as many packets of destination queues as it may, and no more; none is lost, and the air is used.
#[test]
fn the_radio_holds_from_one_to_four_packets() {
    let mut goodputs = vec![];
    for in_radio in 1..=4 {
        let mut spec = line(&[0.0, 200.0, 400.0], 10);
        spec.radios[0].mac.mac_queue = 4;
        flow(&mut spec, "f", 0, 2, saturating(1000));
        spec.warmup = Span::from_secs(5);
        let (result, log) = Observed::diffq(&[("in_radio", ParamValue::Integer(in_radio))]).run(&spec, 1);
        assert_eq!((log.held[&0], result.drops.len()), (in_radio as usize, 0), "{:?}", result.drops);
        assert!(log.held.values().all(|&held| held <= in_radio as usize));
        goodputs.push(result.flows[0].goodput_bps);
    }
    let (least, most) =
        (goodputs.iter().copied().fold(f64::MAX, f64::min), goodputs.iter().copied().fold(0.0, f64::max));
    assert!(least > 0.8 * most && most > 1e6, "{goodputs:?}");
}

/// A source that is observed at its steps.
struct Steps {
    source: Box<dyn Source>,
    log: Arc<Mutex<Log>>,
    packets: u32,
}

impl Source for Steps {
    fn on_start(&mut self, setup: &FlowSetup, context: &mut SourceContext<'_>) {
        self.source.on_start(setup, context);
    }
    fn header(&self) -> Option<&'static HeaderKind> {
        self.source.header()
    }
    fn stamp(&mut self, header: &mut Header, now: Time) {
        self.source.stamp(header, now);
    }
    fn on_own_queue(&mut self, waiting: &Waiting) {
        self.packets = waiting.all;
        self.source.on_own_queue(waiting);
    }
    fn on_timer(&mut self, timer: Timer, context: &mut SourceContext<'_>) {
        self.source.on_timer(timer, context);
        let rate = self.source.allowance(context.now).rate.unwrap().0;
        self.log.lock().unwrap().steps.push((self.packets, rate));
    }
    fn allowance(&self, now: Time) -> Allowance {
        self.source.allowance(now)
    }
}

/// Steps at which the rate has fallen: queue and rate before and after.
fn decreases(log: &Log) -> Vec<(u32, u64, u64)> {
    let pairs = log.steps.windows(2).filter(|pair| pair[1].1 < pair[0].1);
    pairs.map(|pair| (pair[1].0, pair[0].1, pair[1].1)).collect()
}

/// At 1 Mbit/s a radio sends some 90 packets of 1000 B a second, and the source a little more: its queue grows by less than a packet a
/// step. With the limit of a node's own flows, 8 ms here, one or two packets would wait. The first decrease is at 26 packets, it halves the
/// rate, and at 25 the rate has still risen.
#[test]
fn the_own_queue_fills_whatever_the_limit_of_own_flows() {
    for over_tcp in [false, true] {
        for limit in [Some(ms(8)), None] {
            let mut spec = line(&[0.0, 100.0], 20);
            spec.radios[0].phy.data_rate = Rate::from_mbps(1);
            spec.radios[0].mac.local_limit = limit;
            flow(&mut spec, "f", 0, 1, if over_tcp { Traffic::Endless } else { saturating(1000) });
            if over_tcp {
                let config = TcpConfig { mss: 1000, window_limit: 1_000_000, ..TcpConfig::default() };
                spec.flows[0].transport = tcp(config);
            }
            let rate = |kbps| ParamValue::Rate(Rate::from_kbps(kbps));
            let set = [("rate_start", rate(700)), ("alpha", rate(1))];
            let (result, log) = Observed::diffq(&set).run(&spec, 1);
            assert!(result.drops.is_empty() && result.flows[0].delivered_packets > 1000);
            let falls = decreases(&log);
            assert!(falls.len() > 1, "over TCP: {over_tcp}, {limit:?}: {falls:?}");
            let (queue, before, after) = falls[0];
            assert_eq!((queue, after), (26, before / 2), "over TCP: {over_tcp}, {limit:?}: {falls:?}");
            assert!(falls.iter().all(|&(queue, before, after)| queue >= 26 && after == before / 2));
            let rises_at_25 = log.steps.windows(2).any(|pair| pair[1].0 == 25 && pair[1].1 > pair[0].1);
            assert!(rises_at_25);
        }
    }
}

/// 2 is beyond a wire, drop-tail on both of its ends: DiffQ's flows cross it in both directions. A source at a wire of 1 Mbit/s reads the
/// wire's queue, and keeps it from overflowing. Towards the wire nobody says how long its queue is: it must be faster than the air.
#[test]
fn wires_have_drop_tail() {
    for over_tcp in [false, true] {
        for (from, to, mbps) in [(0, 2, 20), (2, 0, 1)] {
            let mut spec = line(&[0.0, 200.0], 20);
            let far = wired(&mut spec, "2");
            spec.links.push(link((1, far), mbps, ms(10), 100));
            flow(&mut spec, "f", from, to, if over_tcp { Traffic::Endless } else { saturating(1000) });
            if over_tcp {
                spec.flows[0].transport = tcp(TcpConfig { window_limit: 1_000_000, ..TcpConfig::default() });
            }
            spec.warmup = Span::from_secs(5);
            let (result, log) = Observed::diffq(&[]).run(&spec, 1);
            assert_eq!((log.queues, result.flows[0].hops), (2, Some(2)));
            let goodput = result.flows[0].goodput_bps / 1e6;
            let expected = if from == 0 { 2.0..6.0 } else { 0.8..1.0 };
            assert!(expected.contains(&goodput), "over TCP: {over_tcp}, from {from}: {goodput}");
            let falls = decreases(&log);
            assert!(
                !falls.is_empty() && result.drops.is_empty(),
                "over TCP: {over_tcp}, from {from}: {falls:?}, {:?}, {:?}",
                result.drops,
                result.queues
            );
        }
    }
}

/// A node with a wire forwards by it what reaches it by air, and the other way round; what is overheard at its radio is of its radio's
/// neighbours alone.
#[test]
fn a_relay_with_a_wire_hears_its_radio() {
    let mut spec = line(&[0.0, 200.0], 5);
    let far = wired(&mut spec, "2");
    spec.links.push(link((1, far), 10, ms(1), 100));
    flow(&mut spec, "up", 0, far, saturating(1000));
    flow(&mut spec, "down", far, 0, saturating(1000));
    let (result, log) = Observed::diffq(&[]).run(&spec, 1);
    assert!(result.flows.iter().all(|flow| flow.delivered_packets > 100), "{:?}", result.flows);
    let heard = |node: usize| -> BTreeSet<(u32, u32)> {
        heard_by(&log, node).iter().map(|word| (word.from, word.destination)).collect()
    };
    assert_eq!(heard(0), [(id_of(1).0, id_of(0).0)].into());
    assert_eq!(heard(1), [(id_of(0).0, id_of(2).0)].into());
}

/// s - a - b - d, or s - a - c - e - d: 5 s after the start b's frames and those to it are jammed.
fn detour(scheme: &str) -> WorldSpec {
    let mut radio = with_edca(by_matrix(dot11b(400.0, 550.0)), diffq_levels());
    radio.mac.local_limit = None;
    let mut spec = world(radio, 30);
    for name in ["s", "a", "b", "c", "e", "d", "j", "k"] {
        node(&mut spec, name, 0.0, 0.0);
    }
    let pairs = [(0, 1), (1, 2), (2, 5), (1, 3), (3, 4), (4, 5), (6, 7)];
    let mut gains: Vec<_> = pairs.iter().flat_map(|&(a, b)| both(a, b, -60.0)).collect();
    gains.extend([(6, 2, -55.0), (7, 2, -55.0)]);
    spec.gains = gains.iter().map(|&(from, to, dbm)| GainSpec { from, to, gain: Db(dbm - 15.0) }).collect();
    let mut jammer = no_back_off(spec.radios[0].clone());
    (jammer.name, jammer.mac.edca) = ("jammer".into(), None);
    spec.radios.push(jammer);
    spec.nodes[6].radios = vec![1];
    flow(&mut spec, "f", 0, 5, constant(400));
    flow(&mut spec, "noise", 6, 7, saturating(1500));
    spec.flows[1].start = Time(5_000_000_000);
    if scheme == "diffq" {
        let own = |node| NodeScheme { node, scheme: scheme.into(), params: Params::default() };
        spec.schemes = (0..6).map(own).collect();
        let (law, params) = (scheme.into(), Params::default());
        spec.flows[0].transport = Transport::ControlledUdp { law, params, pinned: true };
    }
    spec.routing = aodv(|config| config.broadcast_jitter = Span::ZERO);
    spec
}

/// The link from a to b breaks: drop-tail drops what waits for b, DiffQ's destination queue keeps it, and it leaves by the new route.
#[test]
fn packets_wait_where_a_link_breaks() {
    let dropped = |scheme| {
        let result = make(&detour(scheme), 1);
        let result = finished(result);
        places_add_up(&result.ends);
        (result.ends.dropped.get("link-break").copied().unwrap_or(0), result)
    };
    let (of_droptail, _) = dropped("droptail");
    assert!(of_droptail > 0);
    let (of_diffq, result) = dropped("diffq");
    assert_eq!(of_diffq, 0, "{:?}", result.ends);
    let f = &result.flows[0];
    assert_eq!(f.hops, Some(4));
    let lost = result.ends.dropped.values().sum::<u64>();
    assert!(
        f.delivered_packets + lost + 20 >= f.sent_packets && f.sent_packets > 2500,
        "{f:?}, {:?}",
        result.ends
    );
}

/// The only neighbour leaves at 5 s, is out of range until about 18 s, and comes back: the queue fills in the meantime, is given up or
/// waits, and nothing of it keeps the flow from going on. With ARP, which has to ask first.
#[test]
fn a_flow_goes_on_when_its_neighbour_returns() {
    for routing in [RoutingSpec::Static(airfair_routing::shortest::Metric::Hops), aodv(|_| {})] {
        for over_tcp in [false, true] {
            for law in ["aimd", "log"] {
                let mut spec = line(&[0.0, 100.0], 90);
                spec.routing = routing.clone();
                spec.arp.prefilled = false;
                let knots = [(5, 100.0), (7, 2000.0), (16, 2000.0), (18, 100.0)]
                    .map(|(seconds, x)| Knot { at: Time(seconds * 1_000_000_000), position: [x, 0.0, 0.0] });
                spec.movement.paths.push(PathSpec { node: 1, knots: knots.into(), repeat_from: None });
                flow(&mut spec, "f", 0, 1, if over_tcp { Traffic::Endless } else { saturating(1000) });
                if over_tcp {
                    spec.flows[0].transport = tcp(TcpConfig::default());
                }
                spec.warmup = Span::from_secs(60);
                let set = [("law", ParamValue::Choice(law))];
                let (result, _) = Observed::diffq(&set).run(&spec, 1);
                let goodput = result.flows[0].goodput_bps / 1e6;
                assert!(goodput > 2.0, "over TCP: {over_tcp}, {law}, {:?}: {goodput}", spec.routing);
            }
        }
    }
}

/// An IPv4 packet has at most 65,535 B: 28 B of headers and 16 B of trailer leave 65,491 B.
#[test]
fn a_trailer_needs_room() {
    let mut spec = line(&[0.0, 100.0], 1);
    let error = |spec: &WorldSpec| World::new(spec, "diffq", built("diffq", &[]), 1).err();
    flow(&mut spec, "f", 0, 1, saturating(65_492));
    assert_eq!(
        error(&spec).unwrap(),
        "flow f: a packet of 65492 B leaves no room for the header of diffq, 16 B; expected at most \"65491 B\""
    );
    spec.flows[0].traffic = saturating(65_491);
    assert_eq!(error(&spec), None);
}

/// A queue that waits for a positive differential sends when the size of the next hop's queue has expired, though nobody speaks any more:
/// after a lost trailer the last word of a neighbour would hold it for ever.
#[test]
fn a_queue_that_waits_outlives_the_last_word_of_its_neighbour() {
    let mut left = 0;
    for (serve, announced) in [("positive", "after"), ("positive", "before"), ("always", "after")] {
        for seed in 1..=6 {
            let mut spec = line(&[0.0, 200.0, 400.0, 600.0, 800.0], 40);
            flow(&mut spec, "f", 0, 4, saturating(1000));
            spec.flows[0].stop = Time::ZERO + Span::from_secs(5);
            spec.radios[0].phy.frame_loss = 0.4;
            let set = [("serve", ParamValue::Choice(serve)), ("announced", ParamValue::Choice(announced))];
            let (result, _) = Observed::diffq(&set).run(&spec, seed);
            assert!(result.flows[0].delivered_packets > 20);
            left += result.ends.queued;
        }
    }
    assert_eq!(left, 0);
}

/// The same with sizes by broadcast, each 10 s: at 10 s 0 learns that 1's queue is as long as its own, and waits. It goes on when that
/// has expired, and without expiry at 20 s, when 1 says that its queue is empty, whichever of the two broadcasts first.
#[test]
fn a_queue_that_waits_for_a_broadcast_goes_on() {
    let mut woken = 0;
    for (expiry, seconds) in [(1, 15), (60, 25)] {
        for seed in 1..=6 {
            let mut spec = line(&[0.0, 200.0, 400.0], seconds);
            flow(&mut spec, "f", 0, 2, saturating(1000));
            spec.flows[0].stop = Time::ZERO + Span::from_millis(9_990);
            let set = [
                ("serve", ParamValue::Choice("positive")),
                ("sizes_by", ParamValue::Choice("broadcast")),
                ("announcement_interval", ParamValue::Span(Span::from_secs(10))),
                ("expiry", ParamValue::Span(Span::from_secs(expiry))),
                ("levels", ParamValue::Integer(1)),
                ("threshold", ParamValue::Integer(65_535)),
                ("rate_start", ParamValue::Rate(Rate(11_000_000))),
            ];
            let (result, log) = Observed::diffq(&set).run(&spec, seed);
            assert!(result.flows[0].delivered_packets > 300, "{}", result.flows[0].delivered_packets);
            assert_eq!(result.ends.queued, 0, "{expiry}, {seed}");
            // 0 has waited, and 1 says that its queue is empty: a packet of 0 leaves at once.
            let told = log.told.iter().zip(&log.told_at);
            for (_, &emptied) in told.filter(|(word, _)| word.node == 0 && word.size == 0) {
                let left = || log.left.iter().filter(|left| left.0 == 0).map(|left| left.1);
                // A reception is handled with the end of its frame, and its time is the propagation delay later.
                let emptied = Time(emptied.0 - 1_000);
                let before = left().take_while(|&at| at < emptied).last();
                if let (Some(before), Some(next)) = (before, left().find(|&at| at >= emptied))
                    && emptied.since(before) > Span::from_secs(1)
                {
                    assert!(next.since(emptied) <= Span::from_millis(1), "{seed}: {next:?} {emptied:?}");
                    woken += 1;
                }
            }
        }
    }
    assert!(woken > 3, "{woken}");
}

/// The queue of a saturating source is at the upper of two levels. Its category holds one packet, and the radio may hold two: what waits
/// for room in that category lets a plain flow pass.
#[test]
fn a_level_without_room_lets_others_pass() {
    for in_radio in [1, 2, 4] {
        let mut spec = line(&[0.0, 100.0], 10);
        flow(&mut spec, "diffq", 0, 1, saturating(1000));
        flow(&mut spec, "plain", 0, 1, saturating(1000));
        spec.flows[1].transport = Transport::PlainUdp;
        let set = [
            ("in_radio", ParamValue::Integer(in_radio)),
            ("levels", ParamValue::Integer(2)),
            ("threshold", ParamValue::Integer(65_535)),
            ("rate_start", ParamValue::Rate(Rate(11_000_000))),
        ];
        let (result, _) = Observed::diffq(&set).run(&spec, 1);
        let packets: Vec<u64> = result.flows.iter().map(|flow| flow.delivered_packets).collect();
        assert!(packets.iter().all(|&packets| packets > 500), "{in_radio}: {packets:?}");
    }
}

/// Without levels, too, one queue serves all access categories of the radio. It hears of its neighbours whatever the category of a flow
/// is.
#[test]
fn one_queue_serves_all_categories() {
    for dscp in [0, 46] {
        let mut spec = line(&[0.0, 200.0, 400.0, 600.0, 800.0], 10);
        flow(&mut spec, "f", 0, 4, saturating(1000));
        spec.flows[0].dscp = dscp;
        spec.radios[0] = with_edca(dot11b(250.0, 550.0), edca(Countdown::Dcf, TxopEnd::Silent));
        let set = [("serve", ParamValue::Choice("positive")), ("levels", ParamValue::Integer(1))];
        let (result, log) = Observed::diffq(&set).run(&spec, 1);
        assert!(result.flows[0].delivered_packets > 500, "{dscp}: {:?}", result.flows[0]);
        assert_eq!(log.queues, 5, "{dscp}");
        for node in 0..4 {
            assert!(heard_by(&log, node).len() > 300, "{dscp}: {node}");
        }
    }
}

/// Without levels the queue learns of the end of its packets, also of those of another category than the ordinary one.
#[test]
fn a_queue_learns_of_the_end_of_packets_of_all_categories() {
    for dscp in [0, 46] {
        let mut spec = line(&[0.0, 200.0, 400.0], 5);
        flow(&mut spec, "f", 0, 2, saturating(1000));
        spec.flows[0].dscp = dscp;
        spec.radios[0] = with_edca(dot11b(250.0, 550.0), edca(Countdown::Dcf, TxopEnd::Silent));
        let result = finished(World::new(&spec, "diffq-rc", built("diffq-rc", &[]), 1).unwrap());
        assert!(result.flows[0].delivered_packets > 500, "{dscp}: {:?}", result.flows[0].delivered_packets);
    }
}

/// Two flows from 0 by 1 to 2 with the DSCPs 0 and 46, over radios with EDCA's four categories.
fn in_two_categories() -> WorldSpec {
    let mut spec = line(&[0.0, 200.0, 400.0], 10);
    flow(&mut spec, "f", 0, 2, saturating(1000));
    flow(&mut spec, "g", 0, 2, saturating(1000));
    spec.flows[1].dscp = 46;
    spec.radios[0] = with_edca(dot11b(250.0, 550.0), edca(Countdown::Dcf, TxopEnd::Silent));
    spec
}

/// With 4 levels one queue serves all four categories, hears all frames, and its differentials are the categories, whatever the DSCPs.
#[test]
fn four_levels_are_the_categories_of_edca() {
    let spec = in_two_categories();
    let (result, log) = Observed::diffq(&[("levels", ParamValue::Integer(4))]).run(&spec, 1);
    assert_eq!(log.queues, 3);
    for (hearer, from) in [(0, 1), (1, 0), (2, 1)] {
        let heard = heard_by(&log, hearer);
        assert!(heard.iter().filter(|word| word.from == id_of(from).0).count() > 100);
    }
    let sent: Vec<u64> = result.stations[0].categories.iter().map(|of| of.counters.sent).collect();
    assert!(sent.len() == 4 && sent.iter().filter(|&&frames| frames > 20).count() > 1, "{sent:?}");
    assert!(result.flows.iter().all(|flow| flow.delivered_packets > 200), "{:?}", result.flows);
}

/// Queues that wait for a positive differential keep the next hop's short, whatever the DSCP: no relay of the four hops drops a packet.
#[test]
fn a_queue_of_all_categories_waits_for_the_next_hop() {
    for dscp in [0, 46] {
        let mut spec = line(&[0.0, 200.0, 400.0, 600.0, 800.0], 20);
        flow(&mut spec, "f", 0, 4, saturating(1000));
        spec.flows[0].dscp = dscp;
        spec.radios[0] = in_two_categories().radios[0].clone();
        let dropped = |serve| {
            let set = [("serve", ParamValue::Choice(serve))];
            let (result, _) = Observed::of("diffq-rc-sched", &set).run(&spec, 1);
            assert!(result.flows[0].delivered_packets > 300, "{dscp}, {serve}: {:?}", result.flows[0]);
            result.ends.dropped.get("queue-full").copied().unwrap_or(0)
        };
        let [waiting, always] = ["positive", "always"].map(dropped);
        assert!(waiting == 0 && always > 0, "{dscp}: {waiting}, {always}");
    }
}

/// Differences in results: every packet that has left a queue after the warm-up, by next hop and, with levels, by level. 1 sends
/// to 2 and, for the other flow, to 0.
#[test]
fn results_have_the_differences_by_next_hop() {
    let mut spec = line(&[0.0, 200.0, 400.0], 10);
    spec.warmup = Span::from_secs(5);
    flow(&mut spec, "f", 0, 2, saturating(1000));
    flow(&mut spec, "g", 2, 0, saturating(1000));
    for (scheme, levels) in
        [("diffq", true), ("diffq-rc-sched", false), ("diffq-rc", false), ("droptail", false)]
    {
        let result = finished(World::new(&spec, scheme, built(scheme, &[]), 1).unwrap());
        let queues: Vec<_> = result.queues.iter().filter(|queue| queue.packets > 0).collect();
        assert_eq!(queues.len(), 3);
        for queue in &queues {
            let to: Vec<&str> = queue.differentials.iter().map(|hop| &*hop.to).collect();
            let expected: &[&str] = match (scheme, &*queue.node) {
                ("droptail", _) => &[],
                (_, "1") => &["0", "2"],
                _ => &["1"],
            };
            assert_eq!(to, expected, "{scheme}");
            let left: u64 = queue.differentials.iter().map(|hop| hop.packets).sum();
            assert_eq!(left, if scheme == "droptail" { 0 } else { queue.packets });
            for hop in &queue.differentials {
                assert_eq!(hop.levels.len(), if levels { 8 } else { 0 }, "{scheme}: {hop:?}");
                assert!(!levels || hop.levels.iter().sum::<u64>() == hop.packets, "{hop:?}");
            }
        }
    }
    // A lone source is at level 1 from 1 to 12 packets, 2 from 13 on, 3 from 26 on, where its rate falls: nothing waits at the destination.
    spec.flows.truncate(1);
    spec.flows[0].to = 1;
    let result = finished(World::new(&spec, "diffq", built("diffq", &[]), 1).unwrap());
    let [hop] = &result.queues[0].differentials[..] else { panic!("{:?}", result.queues) };
    let (mean, packets) = (hop.mean_packets, hop.packets as f64);
    let least: u64 =
        (1..).zip(&hop.levels[1..]).map(|(level, packets)| (12 * (level - 1) + 1) * packets).sum();
    let most: u64 = (0..).zip(&hop.levels).map(|(level, packets)| 13 * level * packets).sum();
    assert!((least as f64..=most as f64).contains(&(mean * packets)), "{hop:?}");
    assert!(hop.levels[4..].iter().sum::<u64>() == 0 && hop.levels[2] > 100, "{hop:?}");
}

/// 0 reaches 2 by 1 on one channel; when 1 has left, by 3 on another channel, or by wires over 3 and 4. What waits at 0's first radio then
/// goes the new way: nothing is left there, and no packet is made or lost unnoticed.
#[test]
fn packets_follow_a_route_to_another_interface() {
    for by_wire in [false, true] {
        for over_tcp in [false, true] {
            let mut spec = world(radio(), 40);
            spec.routing = olsr(|_| {});
            let mut second = spec.radios[0].clone();
            (second.name, second.channel) = ("second".into(), 6);
            spec.radios.push(second);
            for (i, (x, y)) in [(0.0, 0.0), (150.0, 150.0), (300.0, 0.0)].into_iter().enumerate() {
                node(&mut spec, &i.to_string(), x, y);
            }
            if by_wire {
                let [third, fourth] = ["3", "4"].map(|id| wired(&mut spec, id));
                for ends in [(0, third), (third, fourth), (fourth, 2)] {
                    spec.links.push(link(ends, 10, ms(1), 200));
                }
            } else {
                node(&mut spec, "3", 150.0, -5000.0);
                (spec.nodes[0].radios, spec.nodes[2].radios, spec.nodes[3].radios) =
                    (vec![0, 1], vec![0, 1], vec![1]);
                // It comes at 3 s.
                let knots = [(0, -5000.0), (3, -150.0)];
                let knots =
                    knots.map(|(s, y)| Knot { at: Time(s * 1_000_000_000), position: [150.0, y, 0.0] });
                spec.movement.paths.push(PathSpec { node: 3, knots: knots.into(), repeat_from: None });
            }
            let knots = [(6, 150.0), (7, 5000.0)];
            let knots = knots.map(|(s, y)| Knot { at: Time(s * 1_000_000_000), position: [150.0, y, 0.0] });
            spec.movement.paths.push(PathSpec { node: 1, knots: knots.into(), repeat_from: None });
            flow(&mut spec, "f", 0, 2, if over_tcp { Traffic::Endless } else { saturating(1000) });
            if over_tcp {
                spec.flows[0].transport = tcp(TcpConfig::default());
            }
            spec.flows[0].stop = Time::ZERO + Span::from_secs(20);
            let set = [
                ("serve", ParamValue::Choice("positive")),
                ("levels", ParamValue::Integer(1)),
                ("threshold", ParamValue::Integer(65_535)),
                ("rate_start", ParamValue::Rate(Rate(11_000_000))),
            ];
            let (result, log) = Observed::diffq(&set).run(&spec, 1);
            assert!(over_tcp || log.withdrawn > 20, "{by_wire}, {over_tcp}: {}", log.withdrawn);
            assert_eq!(result.ends.queued, 0, "{by_wire}, {over_tcp}: {:?}", result.ends);
            assert!(
                result.flows[0].delivered_packets > 700,
                "{by_wire}, {over_tcp}: {:?}",
                result.flows[0].delivered_packets
            );
        }
    }
}

/// 1 hears 0 by one radio and forwards by another one, on a channel of its own, or by a wire: 0 never learns the size of that queue. Only
/// queues that compare themselves with their neighbours' are named, and what 2 sends back is heard.
#[test]
fn a_relay_that_is_never_heard_is_named() {
    let mut spec = line(&[0.0, 200.0, 400.0], 1);
    flow(&mut spec, "f", 0, 2, saturating(1000));
    let warnings = |spec: &WorldSpec, scheme: &str, set: &[(&str, ParamValue)]| {
        finished(World::new(spec, scheme, built(scheme, set), 1).unwrap()).warnings
    };
    assert_eq!(warnings(&spec, "diffq", &[]), Vec::<String>::new());
    let mut two = spec.clone();
    let mut second = two.radios[0].clone();
    (second.name, second.channel) = ("second".into(), 6);
    two.radios.push(second);
    (two.nodes[1].radios, two.nodes[2].radios) = (vec![0, 1], vec![1]);
    let by_radio = "flow f: 1 forwards by its radio 1/second: 0, which does not hear that, takes the queue there for empty";
    assert_eq!(warnings(&two, "diffq", &[]), [by_radio]);
    assert_eq!(warnings(&two, "diffq-rc-sched", &[]), [by_radio]);
    let broadcast = [("sizes_by", ParamValue::Choice("broadcast"))];
    assert_eq!(warnings(&two, "diffq", &broadcast), [by_radio]);
    for scheme in ["diffq-rc", "diffq-occupancy", "droptail"] {
        assert_eq!(warnings(&two, scheme, &[]), Vec::<String>::new(), "{scheme}");
    }
    // On one channel both radios are heard.
    two.radios[1].channel = two.radios[0].channel;
    assert_eq!(warnings(&two, "diffq", &[]), Vec::<String>::new());
    // Two flows by a wire, of which a plain one says nothing.
    let mut by_wire = line(&[0.0, 200.0], 1);
    let far = wired(&mut by_wire, "2");
    by_wire.links.push(link((1, far), 1, ms(1), 50));
    for id in ["h", "g"] {
        flow(&mut by_wire, id, 0, far, saturating(1000));
    }
    let expected =
        "flow g: 1 forwards by a wire: 0, which does not hear that, takes the queue there for empty";
    assert_eq!(warnings(&by_wire, "diffq", &[]), [expected]);
    by_wire.flows.iter_mut().for_each(|flow| flow.transport = Transport::PlainUdp);
    assert_eq!(warnings(&by_wire, "diffq", &[]), Vec::<String>::new());
}

/// A flow over UDP that names no scheme keeps no law in a run of DiffQ or TFRC: a background at a constant rate, whose packets DiffQ's
/// nodes carry without a trailer, beside a flow of DiffQ.
#[test]
fn plain_flows_over_udp() {
    let mut spec = line(&[0.0, 200.0, 400.0], 10);
    flow(&mut spec, "plain", 0, 2, constant(100));
    spec.flows[0].transport = Transport::PlainUdp;
    let (alone, log) = Observed::diffq(&[]).run(&spec, 1);
    // A packet of 4000 bits each 40 ms.
    let expected = 248..=251;
    assert!(expected.contains(&alone.flows[0].delivered_packets), "{:?}", alone.flows[0]);
    assert!(log.said.is_empty() && log.heard.is_empty() && log.held.is_empty());
    assert_eq!(alone.queues[0].differentials.len(), 0);
    for scheme in ["tfrc", "droptail"] {
        let other = finished(World::new(&spec, scheme, built(scheme, &[]), 1).unwrap());
        assert!(expected.contains(&other.flows[0].delivered_packets), "{scheme}: {:?}", other.flows[0]);
    }
    flow(&mut spec, "diffq", 0, 2, saturating(1000));
    let (both, log) = Observed::diffq(&[]).run(&spec, 1);
    assert!(both.flows[0].delivered_packets > 230, "{:?}", both.flows[0]);
    assert!(both.flows[1].delivered_packets > 300 && log.said.len() as u64 > 600, "{:?}", both.flows[1]);
    // A saturating one fills the rest.
    spec.flows[0].traffic = saturating(500);
    let (both, _) = Observed::diffq(&[]).run(&spec, 1);
    assert!(both.flows.iter().all(|flow| flow.delivered_packets > 100), "{:?}", both.flows);
    let error = World::new(&spec, "lbm", built("lbm", &[]), 1).err();
    assert_eq!(error, None);
}

/// A queue for all categories that drops large packets that have waited for 0.3 ms.
struct Impatient {
    packets: std::collections::VecDeque<Packet>,
}

impl Queue for Impatient {
    fn enqueue(&mut self, packet: Packet, context: &mut QueueContext<'_>) -> Enqueued {
        if self.packets.len() >= 4 {
            return Enqueued::Refused(airfair_schemes::places::DropReason::QUEUE_FULL);
        }
        self.packets.push_back(Packet { enqueued: context.now, ..packet });
        Enqueued::Stored
    }
    fn peek(&mut self, context: &mut QueueContext<'_>) -> Option<Head> {
        let (now, out) = (context.now, &mut context.out.dropped);
        self.packets.retain(|packet| {
            let stays = packet.bytes < 1000 || now.since(packet.enqueued) < us(300);
            if !stays {
                out.push((packet.id, airfair_schemes::places::DropReason("impatient")));
            }
            stays
        });
        let packet = *self.packets.front()?;
        Some(Head { packet, priority: airfair_schemes::places::Priority(0) })
    }
    fn commit(&mut self) -> Option<Packet> {
        self.packets.pop_front()
    }
    fn view(&self) -> QueueView {
        let bytes = self.packets.iter().map(|packet| u64::from(packet.bytes)).sum();
        QueueView { packets: self.packets.len() as u32, bytes, limit_packets: 4 }
    }
}

struct ImpatientScheme;

impl Scheme for ImpatientScheme {
    fn queue(&self, _: &Interface) -> OutputQueue {
        OutputQueue::plain(Impatient { packets: Default::default() })
    }
    fn wants(&self, interface: &Interface) -> Wants {
        let levels = u8::from(interface.medium == Medium::Radio);
        Wants::NONE.priorities_to(airfair_schemes::places::Priority(levels))
    }
}

/// A packet of 1 is on the air for some 0.9 ms from 1 s on. In the meantime four large packets from the wire fill its queue; a source of 1
/// finds no room at 1000.2 ms and waits. At the end of the frame the four are dropped: nothing leaves, and the source goes on all the same.
#[test]
fn a_source_goes_on_when_drops_have_emptied_a_queue_for_all_categories() {
    let mut spec = world(with_edca(no_back_off(dot11b(250.0, 550.0)), diffq_levels()), 3);
    let sender = node(&mut spec, "1", 0.0, 0.0);
    let receiver = node(&mut spec, "2", 100.0, 0.0);
    let far = wired(&mut spec, "0");
    spec.links.push(link((far, sender), 1000, us(10), 100));
    flow(&mut spec, "local", sender, receiver, constant(400));
    spec.flows[0].start = Time::ZERO + us(1_000_200);
    let mut once = |id: &str, from: usize, bytes: u64| {
        flow(&mut spec, id, from, receiver, constant(1));
        let flow = spec.flows.last_mut().unwrap();
        flow.traffic = Traffic::ConstantRate { rate: Rate(1000), packet: Bytes(bytes), gap_jitter: 0.0 };
        (flow.start, flow.stop) = (Time::ZERO + ms(1000), Time::ZERO + ms(1100));
    };
    once("first", sender, 500);
    (0..4).for_each(|n| once(&format!("burst-{n}"), far, 1400));
    let result = finished(World::new(&spec, "impatient", Box::new(ImpatientScheme), 1).unwrap());
    places_add_up(&result.ends);
    assert_eq!(result.ends.dropped.get("impatient"), Some(&4), "{:?}", result.ends);
    // A packet each 10 ms for 2 s.
    assert!((198..=200).contains(&result.flows[0].delivered_packets), "{:?}", result.flows[0]);
}

/// 1 passes on to 0 what 2 sends, and has a flow of its own to 0. If all packets count that wait at 1 for 0, those of 2 hold 1's own flow
/// down; if its own count, both flows have their part.
#[test]
fn a_relay_has_a_flow_of_its_own() {
    let goodputs = |counts| {
        let mut spec = line(&[0.0, 200.0, 400.0], 30);
        flow(&mut spec, "own", 1, 0, Traffic::Endless);
        flow(&mut spec, "passed on", 2, 0, Traffic::Endless);
        for flow in &mut spec.flows {
            flow.transport = tcp(TcpConfig { window_limit: 1_000_000, ..TcpConfig::default() });
        }
        spec.warmup = Span::from_secs(10);
        let set = [("counts", ParamValue::Choice(counts))];
        let result = finished(World::new(&spec, "diffq", built("diffq", &set), 1).unwrap());
        [0, 1].map(|flow: usize| result.flows[flow].goodput_bps)
    };
    let [own, passed_on] = goodputs("all");
    assert!(own < 0.1 * passed_on, "{own}, {passed_on}");
    let [own, passed_on] = goodputs("own");
    let fair = (own + passed_on) / 2.0;
    assert!(own.min(passed_on) > 0.4 * fair, "{own}, {passed_on}");
}

/// Flows with a window over a wire of 10 Mbit/s, 10 ms long, one each way. DiffQ steps aside: TCP fills the wire as with drop-tail, and the
/// host's limit keeps the queues at its ends short for the acknowledgements of the other flow. 1460 of a packet's 1518 bytes are data.
#[test]
fn a_source_steps_aside_over_cables() {
    let mut spec = line(&[], 20);
    let ends = [wired(&mut spec, "0"), wired(&mut spec, "1")];
    spec.links.push(link((ends[0], ends[1]), 10, ms(10), 1000));
    flow(&mut spec, "there", ends[0], ends[1], Traffic::Endless);
    flow(&mut spec, "back", ends[1], ends[0], Traffic::Endless);
    for flow in &mut spec.flows {
        flow.transport = tcp(TcpConfig { window_limit: 1_000_000, ..TcpConfig::default() });
    }
    spec.warmup = Span::from_secs(5);
    for window in [0, 3] {
        let set = [("window", ParamValue::Integer(window)), ("threshold", ParamValue::Integer(0))];
        let result = finished(World::new(&spec, "diffq", built("diffq", &set), 1).unwrap());
        let goodputs = [0, 1].map(|flow: usize| result.flows[flow].goodput_bps / 1e6);
        // 10 Mbit/s less headers and the acknowledgements of the other flow: 40 + 20 bytes or so for every 2 packets.
        let is_full = goodputs.iter().all(|goodput| (9.0..9.7).contains(goodput));
        assert_eq!(is_full, window > 0, "window {window}: {goodputs:?}");
    }
}
