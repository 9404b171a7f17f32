//! TCP over the simulated network: times worked by hand, and what must hold whatever the network does.

use crate::support::wires::*;
use crate::support::{dot11b, flow, world};
use airfair_schemes::droptail::DropTail;
use airfair_schemes::places::{
    Enqueued, Head, Interface, OutputQueue, Packet, Queue, QueueContext, QueueView,
};
use airfair_schemes::{ParamValue, Params, Scheme, find};
use airfair_sim::World;
use airfair_sim::engine::drive::{self, Steppable};
use airfair_sim::ids::FlowIx;
use airfair_sim::measure::files::Completion;
use airfair_sim::measure::summary::RunResult;
use airfair_sim::record::{Content, Record, TcpCause};
use airfair_sim::spec::*;
use airfair_transport::{InitialWindow, TcpConfig};
use airfair_units::{Bytes, Rate, Span, Time};

/// No options in the headers, every segment acknowledged, one segment at first: easy to follow.
fn plain() -> TcpConfig {
    TcpConfig {
        mss: 1000,
        initial_window: InitialWindow::Segments(1),
        delayed_ack: None,
        sack: false,
        fin: false,
        initial_rto: Span::from_secs(1),
        min_rto: Span::from_millis(200),
        ..TcpConfig::default()
    }
}

fn add(spec: &mut WorldSpec, id: &str, (from, to): (usize, usize), config: TcpConfig, traffic: Traffic) {
    flow(spec, id, from, to, traffic);
    spec.flows.last_mut().unwrap().transport = tcp(config);
}

/// Two nodes with a wired link between them; headers of 20 bytes each.
fn pair(mbps: u64, delay_ms: u64, packets: u32, seconds: u64) -> WorldSpec {
    let mut spec = world(dot11b(100.0, 200.0), seconds);
    spec.headers = HeaderSpec { udp: 8, tcp: Some(20), ip: 20, llc: 0, mac: 0, wired: 0 };
    wired(&mut spec, "a");
    wired(&mut spec, "b");
    spec.links.push(link((0, 1), mbps, ms(delay_ms), packets));
    spec
}

fn run_with(spec: &WorldSpec, scheme: &str, params: &Params) -> RunResult {
    let built = (find(scheme).unwrap().build)(params).unwrap();
    let mut world = World::new(spec, scheme, built, 1).unwrap();
    drive::to_end(&mut world);
    let result = world.result();
    let ends = &result.ends;
    let dropped: u64 = ends.dropped.values().sum();
    let rest = ends.inside();
    assert_eq!(ends.made, ends.delivered + dropped + rest, "every packet ends in one place: {ends:?}");
    result
}

fn run(spec: &WorldSpec) -> RunResult {
    run_with(spec, "droptail", &Params::default())
}

/// 1 Mbit/s, 10 ms: SYN (40 bytes, 320 us) and SYN-ACK take 20.64 ms, the segment of 1040 bytes 8.32 + 10 ms, its acknowledgement 10.32 ms:
/// 49.28 ms.
#[test]
fn a_file_of_one_segment_takes_two_round_trips() {
    let mut spec = pair(1, 10, 50, 1);
    add(&mut spec, "f", (0, 1), plain(), Traffic::File { size: Bytes(1000) });
    let flow = &run(&spec).flows[0];
    let files = flow.files.as_ref().unwrap();
    assert_eq!((files.started, files.finished), (1, 1));
    assert!((flow.completion_s.unwrap() - 0.049_28).abs() < 1e-9, "{:?}", flow.completion_s);
    assert_eq!(flow.delivered_bytes, 1000);
}

/// A file that is not done when the run ends is counted as a transfer without an end is, from the end of the warm-up on.
#[test]
fn a_connection_that_is_open_at_the_end_counts() {
    let counted = |traffic| {
        let mut spec = pair(1, 10, 50, 20);
        spec.warmup = Span::from_secs(5);
        spec.links[0].loss_every = 40;
        add(&mut spec, "f", (0, 1), plain(), traffic);
        let flow = run(&spec).flows.remove(0);
        (flow.retransmissions, flow.round_trips, flow.round_trip_ns, flow.sent_packets)
    };
    let file = counted(Traffic::File { size: Bytes(100_000_000) });
    assert_eq!(file, counted(Traffic::Endless));
    assert!(file.0 > 10 && file.1 > 10, "{file:?}");
}

/// Three segments, a window of one at first: the second and third leave when the first is acknowledged (49.28 ms); the third
/// arrives 8.32 ms after the second: 49.28 + 2 x 8.32 + 10 + 0.32 + 10 = 86.24 ms.
#[test]
fn slow_start_opens_by_one_segment_an_acknowledgement() {
    let mut spec = pair(1, 10, 50, 1);
    add(&mut spec, "f", (0, 1), plain(), Traffic::File { size: Bytes(3000) });
    let flow = &run(&spec).flows[0];
    assert!((flow.completion_s.unwrap() - 0.086_24).abs() < 1e-9, "{:?}", flow.completion_s);
}

/// A link that is never idle carries 1000 of 1040 bytes.
#[test]
fn a_long_flow_fills_its_link() {
    let mut spec = pair(10, 10, 100, 30);
    spec.warmup = Span::from_secs(5);
    add(&mut spec, "f", (0, 1), plain(), Traffic::Endless);
    let result = run(&spec);
    let share = result.flows[0].goodput_bps / (10e6 * 1000.0 / 1040.0);
    assert!((0.995..=1.0005).contains(&share), "{share}");
    // Its own queue stops the source instead of dropping.
    assert_eq!(result.drops.get("queue-full"), None);
}

/// Behind a router the queue cannot hold the source back: it drops, and TCP repairs.
#[test]
fn a_router_drops_and_tcp_repairs() {
    let mut spec = pair(100, 1, 1000, 30);
    wired(&mut spec, "c");
    spec.links.push(link((1, 2), 2, ms(20), 20));
    add(&mut spec, "f", (0, 2), plain(), Traffic::File { size: Bytes(3_000_000) });
    let result = run(&spec);
    let flow = &result.flows[0];
    assert!(result.drops["queue-full"] > 0);
    assert_eq!(flow.delivered_bytes, 3_000_000);
    assert!(flow.retransmissions >= result.drops["queue-full"]);
    // 3 MB with headers take 12.48 s at 2 Mbit/s.
    assert!((12.48..20.0).contains(&flow.completion_s.unwrap()), "{:?}", flow.completion_s);
}

/// Marks instead of losses: nothing is sent again, and the link stays full.
#[test]
fn marks_replace_losses() {
    let mut spec = pair(100, 1, 1000, 20);
    wired(&mut spec, "c");
    spec.links.push(link((1, 2), 5, ms(20), 200));
    let config = TcpConfig { ecn: true, ..plain() };
    add(&mut spec, "f", (0, 2), config, Traffic::Endless);
    let ecn = Params([("ecn".to_string(), ParamValue::Flag(true))].into());
    let result = run_with(&spec, "red", &ecn);
    assert!(result.marks["red-early"] > 10, "{:?}", result.marks);
    let without = run_with(&spec, "red", &Params::default());
    assert!(without.drops["red-early"] > 5 && without.marks.is_empty());
    assert!(result.flows[0].retransmissions < without.flows[0].retransmissions);
}

/// A flow that has stopped hands nothing more over; what was sent is still repaired.
#[test]
fn a_stopped_flow_sends_no_more() {
    let mut spec = pair(1, 10, 50, 10);
    add(&mut spec, "f", (0, 1), plain(), Traffic::Endless);
    spec.flows[0].stop = Time(2_000_000_000);
    let whole = run(&spec).flows[0].clone();
    // 2 s at 1 Mbit/s, headers and set-up off, are 238 segments at most; its queue may hold 50 more at the stop.
    assert!((200_000..=240_000).contains(&whole.delivered_bytes), "{}", whole.delivered_bytes);
    assert!(whole.sent_packets <= 295, "{}", whole.sent_packets);
}

/// Two files, worked out above: only those that end after the question was put are kept, and each is handed out once.
#[test]
fn files_may_be_kept_one_by_one() {
    let mut spec = pair(1, 10, 50, 3);
    let files =
        [(Span::ZERO, Bytes(1000)), (Span::from_secs(1), Bytes(1000)), (Span::from_secs(2), Bytes(3000))];
    add(&mut spec, "f", (0, 1), plain(), Traffic::List { files: files.into() });
    let mut world = World::new(&spec, "droptail", built("droptail", &[]), 1).unwrap();
    world.advance(Time(500_000_000));
    world.keep_completions();
    drive::to_end(&mut world);
    let kept = |file, start, bytes, duration| {
        let (start, duration) = (Time(start), Span(duration));
        (FlowIx(0), Completion { file, start, bytes, duration, timeouts: 0, retransmissions: 0 })
    };
    let expected = [kept(1, 1_000_000_000, 1000, 49_280_000), kept(2, 2_000_000_000, 3000, 86_240_000)];
    assert_eq!(world.take_completions(), expected);
    assert!(world.take_completions().is_empty());
}

/// Thousands of files one after the other need room for one connection.
#[test]
fn connections_leave_nothing_behind() {
    let mut spec = pair(100, 1, 100, 60);
    let traffic = Traffic::Web { sizes: Sizes::Fixed(Bytes(3000)), pause: Span::from_millis(5) };
    add(&mut spec, "f", (0, 1), TcpConfig { fin: true, ..plain() }, traffic);
    let mut world = World::new(&spec, "droptail", built("droptail", &[]), 1).unwrap();
    drive::to_end(&mut world);
    let files = world.result().flows[0].files.clone().unwrap();
    assert!(files.finished > 3000, "{files:?}");
    assert!(files.started - files.finished <= 1);
    assert_eq!(world.connections(), (files.started - files.finished, 1));
}

/// The law named in the flow holds unless the run's scheme is a law itself; a flow may insist on its own.
#[test]
fn the_runs_law_replaces_the_flows_unless_it_is_pinned() {
    let goodput = |law: &str, pinned: bool, scheme: &str| {
        let mut spec = pair(100, 1, 1000, 10);
        wired(&mut spec, "c");
        spec.links.push(link((1, 2), 5, ms(20), 20));
        let transport =
            Transport::Tcp { config: plain(), law: law.into(), params: Params::default(), pinned };
        add(&mut spec, "f", (0, 2), plain(), Traffic::Endless);
        spec.flows[0].transport = transport;
        run_with(&spec, scheme, &Params::default()).flows[0].delivered_bytes
    };
    let (vegas, newreno) = (goodput("vegas", false, "droptail"), goodput("newreno", false, "droptail"));
    assert_ne!(vegas, newreno);
    assert_eq!(goodput("newreno", false, "vegas"), vegas);
    assert_eq!(goodput("newreno", true, "vegas"), newreno);
}

#[test]
fn a_flow_without_a_law_is_refused() {
    let mut spec = pair(1, 1, 10, 1);
    add(&mut spec, "f", (0, 1), plain(), Traffic::Endless);
    for (law, why) in [("red", "flow f: red has no window law"), ("rneo", "flow f: no such scheme: rneo")] {
        spec.flows[0].transport =
            Transport::Tcp { config: plain(), law: law.into(), params: Params::default(), pinned: false };
        let refused = World::new(&spec, "droptail", built("droptail", &[]), 1);
        assert_eq!(refused.err().as_deref(), Some(why));
    }
}

/// A flow that stops when all it has sent is acknowledged still says farewell, and its connection goes.
#[test]
fn a_flow_that_stops_in_silence_ends_its_connection() {
    for fin in [false, true] {
        let mut spec = pair(10, 1, 10, 3);
        let traffic = Traffic::ConstantRate { rate: Rate(80_000), packet: Bytes(1000), gap_jitter: 0.0 };
        add(&mut spec, "f", (0, 1), TcpConfig { fin, ..plain() }, traffic);
        // Packets at 0, 100, 200 ms: the last is acknowledged long before the stop.
        spec.flows[0].stop = Time(290_000_000);
        let mut world = World::new(&spec, "droptail", built("droptail", &[]), 1).unwrap();
        world.advance(Time(289_000_000));
        assert_eq!((world.connections().0, world.result().flows[0].delivered_packets), (1, 3));
        let made = world.result().ends.made;
        world.advance(Time(1_000_000_000));
        assert_eq!(world.connections().0, 0);
        // The FIN and its acknowledgement.
        assert_eq!(world.result().ends.made - made, if fin { 2 } else { 0 });
    }
}

/// Drop-tail that is not recognised as such: the wire must dequeue every packet from it.
struct Silent(DropTail);

impl Queue for Silent {
    fn enqueue(&mut self, packet: Packet, context: &mut QueueContext<'_>) -> Enqueued {
        self.0.enqueue(packet, context)
    }
    fn peek(&mut self, context: &mut QueueContext<'_>) -> Option<Head> {
        self.0.peek(context)
    }
    fn commit(&mut self) -> Option<Packet> {
        self.0.commit()
    }
    fn view(&self) -> QueueView {
        self.0.view()
    }
}

struct SilentScheme;

impl Scheme for SilentScheme {
    fn queue(&self, interface: &Interface) -> OutputQueue {
        OutputQueue::plain(Silent(DropTail::new(interface.limit_packets)))
    }
}

/// A timetable in the place of a drop-tail queue changes nothing: sources that wait for room, routers that drop, a saturating
/// source, a loss on the way, and what is counted from the end of the warm-up to a moment when many packets wait.
#[test]
fn a_timetable_does_what_its_queue_would() {
    for seed in 1..=5 {
        let mut spec = pair(20, 1, 8, 10);
        for id in ["c", "d"] {
            wired(&mut spec, id);
        }
        spec.links.push(link((1, 2), 5, ms(20), 20));
        spec.links.push(LinkSpec { loss: 0.001, ..link((2, 3), 4, ms(5), 30) });
        add(&mut spec, "long", (0, 3), plain(), Traffic::Endless);
        let sizes = Sizes::Pareto { mean: Bytes(20_000), shape: 1.5, most: Bytes(1_000_000) };
        add(&mut spec, "short", (0, 2), plain(), Traffic::Arrivals { per_second: 8.0, sizes, count: 0 });
        add(&mut spec, "back", (3, 0), plain(), Traffic::Endless);
        let poisson =
            Traffic::Poisson { rate: Rate::from_mbps(2), packet: Bytes(700), exponential_sizes: true };
        let saturating = Traffic::Saturating { packet: Bytes(900) };
        for (id, ends, traffic) in [("poisson", (1, 3), poisson), ("saturating", (2, 1), saturating)] {
            add(&mut spec, id, ends, plain(), traffic);
            spec.flows.last_mut().unwrap().transport = Transport::Udp;
        }
        spec.warmup = Span::from_millis(2_345);
        let result = |scheme: Box<dyn Scheme>| {
            let mut world = World::new(&spec, "droptail", scheme, seed).unwrap();
            world.advance(Time(9_876_543_210));
            RunResult { events: 0, ..world.result() }
        };
        let (timetable, queue) = (result(built("droptail", &[])), result(Box::new(SilentScheme)));
        assert!(timetable.ends.dropped["queue-full"] > 100 && timetable.ends.dropped["wire-loss"] > 0);
        assert!(timetable.ends.queued > 10 && timetable.ends.on_wire > 10, "{:?}", timetable.ends);
        assert_eq!(timetable, queue);
    }
}

/// Ten segments, the seventh lost; 10 Mbit/s and 10 ms make a round trip of 21 to 22 ms. Set-up, window and repair take slightly more than
/// three round trips: duplicates repair it, as without a FIN, and the timer does not expire.
#[test]
fn a_loss_before_the_fin_is_repaired_without_the_timer() {
    let completion = |fin: bool| {
        let mut spec = pair(10, 10, 50, 10);
        spec.links[0].loss_every = 7;
        add(
            &mut spec,
            "f",
            (0, 1),
            TcpConfig { fin, ..TcpConfig::default() },
            Traffic::File { size: Bytes(14_600) },
        );
        run(&spec).flows[0].completion_s.unwrap()
    };
    let (with, without) = (completion(true), completion(false));
    assert!(with < 0.1 && (with - without).abs() < 0.001, "{with} and {without}");
}

/// A user whose connection cannot be set up continues with the next page after the pause; the page has failed, and its slot is free.
#[test]
fn a_user_outlives_a_failed_connection() {
    let mut spec = pair(10, 10, 50, 600);
    spec.links[0].loss = 0.3;
    let traffic = Traffic::Web { sizes: Sizes::Fixed(Bytes(10_000)), pause: Span::from_secs(1) };
    add(&mut spec, "w", (0, 1), TcpConfig { syn_retries: Some(1), ..TcpConfig::default() }, traffic);
    for seed in 1..=3 {
        let mut world = World::new(&spec, "droptail", built("droptail", &[]), seed).unwrap();
        world.start_trace();
        world.keep_completions();
        drive::to_end(&mut world);
        let flow = world.result().flows[0].clone();
        let files = flow.files.unwrap();
        assert!(flow.sent_packets >= 50 && files.failed > 0, "seed {seed}: {} {files:?}", flow.sent_packets);
        assert!(files.started - files.finished - files.failed <= 1, "{files:?}");
        assert_eq!(world.connections(), (files.started - files.finished - files.failed, 1));
        assert_eq!(world.take_completions().len() as u64, files.finished);
        let gave_up =
            |(_, record): &&(Time, Record)| matches!(record, Record::Tcp { cause: TcpCause::GaveUp, .. });
        assert_eq!(world.take_trace().iter().filter(gave_up).count() as u64, files.failed);
    }
}

/// The trace names a SYN, a SYN-ACK, and a FIN without data as such.
#[test]
fn a_trace_names_control_segments() {
    let mut spec = pair(1, 10, 50, 1);
    let config = TcpConfig { fin: true, ..plain() };
    add(&mut spec, "f", (0, 1), config, Traffic::Endless);
    spec.flows[0].stop = Time(100_000_000);
    let mut world = World::new(&spec, "droptail", built("droptail", &[]), 1).unwrap();
    world.start_trace();
    drive::to_end(&mut world);
    let contents: Vec<Content> = world
        .take_trace()
        .iter()
        .filter_map(|(_, record)| match record {
            Record::Delivered { content, .. } => Some(*content),
            _ => None,
        })
        .collect();
    assert_eq!(contents[..4], [Content::Syn, Content::SynAck, Content::Data, Content::Ack]);
    assert_eq!(contents.iter().filter(|&&content| content == Content::Fin).count(), 1);
    assert_eq!(contents.iter().filter(|&&content| content == Content::Syn).count(), 1);
}

/// 1 Gbit/s into 10 Mbit/s with 20 ms and a queue of 50.
fn bottleneck(config: TcpConfig) -> WorldSpec {
    let mut spec = pair(1000, 0, 100, 60);
    wired(&mut spec, "c");
    spec.links.push(link((1, 2), 10, ms(20), 50));
    spec.headers.tcp = None;
    add(&mut spec, "f", (0, 2), config, Traffic::Endless);
    spec
}

/// Without SACK duplicates tell BBR the number of delivered bytes: it does not take a closing hole for a fast path. Payload gets 97 % of 10
/// Mbit/s.
#[test]
fn bbr_without_sack_keeps_to_the_path() {
    let config = TcpConfig { sack: false, ..TcpConfig::default() };
    let mut spec = bottleneck(config);
    let result = run_with(&spec, "bbr", &Params::default());
    let drops = result.drops.get("queue-full").copied().unwrap_or(0);
    assert!(result.flows[0].goodput_bps > 9.3e6 && drops <= 100, "{} {drops}", result.flows[0].goodput_bps);
    // Four seconds of 10 kbit/s: a time-out, and then the path as before.
    let change = |seconds: u64, rate| RateChange { at: Time(seconds * 1_000_000_000), rate };
    spec.links[1].rate_changes = vec![change(20, Rate(10_000)), change(24, Rate::from_mbps(10))];
    let result = run_with(&spec, "bbr", &Params::default());
    assert!(result.flows[0].goodput_bps > 8e6, "{}", result.flows[0].goodput_bps);
}

/// R = C on an idle link of 10 Mbit/s: QFCP's first grant is sent in the first round trip, unless a SYN's announced window limits it. 48 kB
/// take the set-up's 40 ms, 42 ms on the wire with headers, and 40 ms until the last is acknowledged.
#[test]
fn an_unbounded_syn_lets_all_of_a_grant_leave() {
    let completion = |syn_window| {
        let mut spec = pair(10, 20, 1000, 5);
        let config =
            TcpConfig { mss: 960, syn_window, initial_window: InitialWindow::Segments(2), ..plain() };
        add(&mut spec, "f", (0, 1), config, Traffic::File { size: Bytes(48_000) });
        // The router has learnt that its link is idle.
        spec.flows[0].start = Time(1_000_000_000);
        run_with(&spec, "qfcp", &Params::default()).flows[0].completion_s.unwrap()
    };
    let (whole, bounded) = (completion(None), completion(Some(10_000)));
    assert!(whole < 0.13 && bounded > whole + 0.03, "{whole} and {bounded}");
}
