//! Why a flow gets what it gets: every nanosecond in exactly one place, scenes worked by hand, and a run that is not disturbed.

use crate::aodv::detour;
use crate::support::random_world::*;
use crate::support::routing::aodv;
use crate::support::wires::{link, ms, tcp, wired};
use crate::support::*;
use airfair_sim::World;
use airfair_sim::engine::drive::{self, Steppable};
use airfair_sim::ids::FlowIx;
use airfair_sim::measure::summary::CategoryCounters;
use airfair_sim::observe::explain::{
    Activity, CategoryTime, Explanation, FailureCause, HopExplanation, MissingResponse, Sending, Standing,
};
use airfair_sim::spec::*;
use airfair_transport::{InitialWindow, TcpConfig};
use airfair_units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn watched(spec: &WorldSpec, flow: usize, seed: u64) -> World {
    let mut world = make(spec, seed);
    world.explain(spec, FlowIx(flow as u32)).unwrap();
    world
}

fn explain(spec: &WorldSpec, flow: usize) -> Explanation {
    let mut world = watched(spec, flow, 1);
    drive::to_end(&mut world);
    world.explanation().unwrap()
}

/// Both turns together.
fn spent(hop: &HopExplanation, doing: Activity) -> u64 {
    hop.own_turn[doing as usize] + hop.others_turn[doing as usize]
}

fn adds_up(explanation: &Explanation) -> Result<(), TestCaseError> {
    for hop in &explanation.hops {
        let own: u64 = hop.own_turn.iter().sum();
        let others: u64 = hop.others_turn.iter().sum();
        prop_assert_eq!(hop.observed, explanation.until - explanation.from);
        prop_assert_eq!(hop.no_packet + own + others, hop.observed, "{:?}", hop);
        prop_assert_eq!(hop.behind.values().sum::<u64>(), others);
        for (by, overlapped) in [(&hop.holders, hop.overlapped), (&hop.holding_flows, hop.flows_overlapped)] {
            let alone: u64 = by.values().map(|h| h.alone).sum();
            prop_assert_eq!(alone + overlapped, spent(hop, Activity::Busy));
            prop_assert!(by.values().all(|h| h.joint <= overlapped));
            let joint: u64 = by.values().map(|h| h.joint).sum();
            prop_assert!(joint >= 2 * overlapped, "two or more at a time");
            prop_assert_eq!(by.values().map(|h| h.nav).sum::<u64>(), spent(hop, Activity::Nav));
            prop_assert_eq!(by.values().map(|h| h.eifs).sum::<u64>(), spent(hop, Activity::Eifs));
        }
        let here = own + others - spent(hop, Activity::Address);
        let categories = hop.categories.clone().unwrap_or_default();
        let precedence: u64 = categories.others.iter().map(|(_, time)| time.sum()).sum();
        prop_assert_eq!(precedence, spent(hop, Activity::Category));
        if hop.categories.is_some() {
            prop_assert_eq!(categories.own.iter().map(|(_, ns)| ns).sum::<u64>(), here);
            prop_assert!(categories.others.iter().all(|(_, time)| time.given_up <= time.collisions));
        }
        if let Some(a) = &hop.attempts {
            prop_assert_eq!(a.causes.iter().map(|c| c.1).sum::<u64>(), a.no_cts + a.no_ack);
            prop_assert!(a.no_cts <= a.rts && a.no_ack <= a.data && a.exchanges <= a.rts + a.data);
            prop_assert!(a.given_up <= a.no_cts + a.no_ack);
        }
    }
    if let Some(tcp) = &explanation.tcp {
        prop_assert_eq!(tcp.waited.iter().sum::<u64>(), tcp.observed);
        let listed: u64 = tcp.timeout_waits.iter().map(|(from, until)| until - from).sum();
        prop_assert_eq!(listed, tcp.waited[Sending::Timeout as usize]);
        prop_assert!(tcp.timeouts_under_way <= tcp.timeouts);
    }
    Ok(())
}

/// Against what the stations themselves count, where the explanation covers all of a station's time.
fn agrees(explanation: &Explanation, world: &World) -> Result<(), TestCaseError> {
    let result = world.result();
    for hop in explanation.hops.iter().filter(|hop| !hop.wired) {
        let station = result.stations.iter().find(|s| s.node == hop.from).unwrap();
        let air = station.airtime;
        let sent = spent(hop, Activity::Transmit) + spent(hop, Activity::Answer);
        prop_assert!(sent <= air.transmit.0);
        let internal = |of: fn(&CategoryCounters) -> u64| -> u64 {
            station.categories.iter().map(|category| of(&category.counters)).sum()
        };
        let lost = hop.categories.iter().flat_map(|categories| &categories.others);
        let (collisions, given_up) =
            lost.fold((0, 0), |sum, (_, time)| (sum.0 + time.collisions, sum.1 + time.given_up));
        prop_assert!(
            collisions <= internal(|c| c.internal_collisions) && given_up <= station.counters.given_up
        );
        prop_assert_eq!(hop.categories.is_some(), station.categories.len() > 1);
        // A query before a frame's arrival may include some of it: up to a band, 4 us.
        prop_assert!(spent(hop, Activity::Busy) <= air.receive.0 + air.busy.0 + 4_000);
        if hop.no_packet == 0 && hop.observed == world.now().0 {
            prop_assert!(air.transmit.0 <= sent + spent(hop, Activity::Category));
            prop_assert!(hop.categories.is_some() || sent == air.transmit.0);
        }
        if let Some(a) = &hop.attempts {
            let c = station.counters;
            prop_assert!(a.rts <= c.sent[0] && a.data <= c.sent[2]);
            prop_assert!(a.no_cts <= c.no_cts && a.no_ack <= c.no_ack && a.given_up <= c.given_up);
        }
    }
    Ok(())
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    }
}

/// No options in the headers, every segment acknowledged at once.
fn plain(initial_window: u32) -> TcpConfig {
    TcpConfig {
        mss: 1000,
        initial_window: InitialWindow::Segments(initial_window),
        delayed_ack: None,
        sack: false,
        fin: false,
        initial_rto: Span::from_secs(1),
        min_rto: Span::from_millis(200),
        ..TcpConfig::default()
    }
}

fn over_tcp(spec: &mut WorldSpec, flow: usize, config: TcpConfig, traffic: Traffic) {
    let flow = &mut spec.flows[flow];
    (flow.transport, flow.traffic) = (tcp(config), traffic);
}

proptest! {
    #![proptest_config(cases(200))]

    /// All rules of the air, fixed and found routes, with and without ARP, wires, relays, TCP beside UDP, at any time and at the end; and
    /// the run is the same as without observers.
    #[test]
    fn every_nanosecond_has_one_place(
        drawn in draw(),
        seed in any::<u64>(),
        which in any::<proptest::sample::Index>(),
        tcp in 0u8..4,
        found in proptest::bool::weighted(0.3),
        look_at in 1u64..300_000_000,
    ) {
        let mut spec = build(&drawn, Time(300_000_000), Span::from_millis(600));
        prop_assume!(!spec.flows.is_empty());
        spec.warmup = Span(look_at / 3 * u64::from(tcp % 2));
        let flow = which.index(spec.flows.len());
        let files = Traffic::Web {
            sizes: Sizes::Fixed(Bytes(3000)),
            pause: Span::from_millis(5),
        };
        match tcp {
            2 => over_tcp(&mut spec, flow, plain(2), Traffic::Endless),
            3 => over_tcp(&mut spec, flow, TcpConfig::default(), files),
            _ => {}
        }
        if found {
            spec.routing = aodv(|_| ());
        }
        let mut world = watched(&spec, flow, seed);
        world.start_trace();
        world.advance(Time(look_at));
        let explanation = world.explanation().unwrap();
        adds_up(&explanation)?;
        agrees(&explanation, &world)?;
        drive::to_end(&mut world);
        let explanation = world.explanation().unwrap();
        adds_up(&explanation)?;
        agrees(&explanation, &world)?;
        if found {
            let moved = world.result().flows[flow].has_traffic();
            prop_assert_eq!(explanation.hops.is_empty() && moved, explanation.standing == Standing::Unreachable);
        } else {
            prop_assert_eq!(explanation.hops.is_empty(), explanation.standing == Standing::Unreachable);
        }
        prop_assert!(explanation.awaited_route.is_some() == found);
        prop_assert!(explanation.awaited_route.is_none_or(|ns| ns <= explanation.until - explanation.from));
        let mut alone = make(&spec, seed);
        alone.start_trace();
        drive::to_end(&mut alone);
        prop_assert_eq!(world.result(), alone.result());
        prop_assert!(world.take_trace() == alone.take_trace(), "the story is the same");
    }
}

/// 300 m: DIFS until 50 us, data 1310 us, the ACK from 1371.001 us for 304 us and 1.001 us on its way. Then DIFS and back-off.
#[test]
fn one_exchange_by_hand() {
    let spec = chain(dot11b(400.0, 550.0), 1, 300.0, saturating(1472), 1);
    let mut world = watched(&spec, 0, 1);
    world.advance(Time(1_676_002 + 50_000 + 1));
    let explanation = world.explanation().unwrap();
    assert_eq!(explanation.hops.len(), 1, "UDP: nothing goes back");
    let hop = &explanation.hops[0];
    assert_eq!((hop.no_packet, hop.others_turn.iter().sum::<u64>()), (0, 0));
    let spent: Vec<_> =
        Activity::ALL.into_iter().map(|d| (d, hop.own_turn[d as usize])).filter(|s| s.1 > 0).collect();
    let expected = [
        (Activity::Transmit, 1_310_000),
        (Activity::AwaitAck, 316_002),
        (Activity::Difs, 100_000),
        (Activity::Backoff, 1),
    ];
    assert_eq!(spent, expected);
}

/// The same exchange at the first of two hops, with one packet only: no packet is left there after the ACK (1675.001 us); the relay has the
/// packet from the data frame's end on (1360 us), sends an ACK for 304 us, and contends.
#[test]
fn a_relay_by_hand() {
    let seldom = Traffic::ConstantRate { rate: Rate(100_000), packet: Bytes(1472), gap_jitter: 0.0 };
    let spec = chain(dot11b(400.0, 550.0), 2, 300.0, seldom, 1);
    let mut world = watched(&spec, 0, 1);
    world.advance(Time(1_700_000));
    let hops = world.explanation().unwrap().hops;
    let ends: Vec<_> = hops.iter().map(|h| (h.from.as_str(), h.to.as_str(), h.no_packet)).collect();
    assert_eq!(ends, [("0", "1", 1_700_000 - 1_675_001), ("1", "2", 1_360_000)]);
    let relay = &hops[1];
    assert_eq!(relay.own_turn[Activity::Answer as usize], 304_000);
    assert_eq!(relay.own_turn[Activity::Sifs as usize], 11_001);
    assert_eq!(relay.own_turn[Activity::Difs as usize], 1_700_000 - 1_675_001);
}

/// Flows from one node to another at 300 m, one packet each, in the categories with these numbers.
fn one_packet_each(rows: &[(u8, u32, u32, u64)], categories: &[u8]) -> WorldSpec {
    let mut edca = edca_table(rows, Countdown::Standard, TxopEnd::Silent);
    edca.category_of_dscp = std::array::from_fn(|dscp| dscp as u8 % rows.len() as u8);
    let seldom = || Traffic::ConstantRate { rate: Rate(100_000), packet: Bytes(1472), gap_jitter: 0.0 };
    let mut spec = chain(with_edca(dot11b(400.0, 550.0), edca), 1, 300.0, seldom(), 1);
    spec.flows.clear();
    for (i, &category) in categories.iter().enumerate() {
        flow(&mut spec, &format!("f{i}"), 0, 1, seldom());
        spec.flows[i].dscp = category;
    }
    spec
}

fn own_turn(hop: &HopExplanation) -> Vec<(Activity, u64)> {
    Activity::ALL.into_iter().map(|d| (d, hop.own_turn[d as usize])).filter(|s| s.1 > 0).collect()
}

/// Both categories win at 50 us; the lower one waits for the exchange of the higher, 1310 + 316.002 us, and a DIFS. Then it sends.
#[test]
fn an_internal_collision_by_hand() {
    let spec = one_packet_each(&[(2, 0, 0, 0), (2, 0, 0, 0)], &[0, 1]);
    let mut world = watched(&spec, 0, 1);
    world.advance(Time(50_000 + 1_626_002 + 50_000 + 7));
    let explanation = world.explanation().unwrap();
    adds_up(&explanation).unwrap();
    let hop = &explanation.hops[0];
    let expected = [(Activity::Transmit, 7), (Activity::Difs, 100_000), (Activity::Category, 1_626_002)];
    assert_eq!(own_turn(hop), expected);
    let categories = hop.categories.as_ref().unwrap();
    assert_eq!(categories.names, ["c1", "c0"]);
    assert_eq!(categories.own, [("c0".to_string(), 1_726_009)]);
    let collision = CategoryTime { collision: 1_626_002, collisions: 1, ..CategoryTime::default() };
    assert_eq!(categories.others, [("c1".to_string(), collision)]);
    assert_eq!(hop.attempts.as_ref().unwrap().exchanges, 1, "only its own frame is an attempt");
    // To the higher one nothing has happened. Its packet is delivered when the ACK has left its sender.
    let mut world = watched(&spec, 1, 1);
    world.advance(Time(1_675_001));
    let hop = &world.explanation().unwrap().hops[0];
    let expected = [(Activity::Transmit, 1_310_000), (Activity::AwaitAck, 315_001), (Activity::Difs, 50_000)];
    assert_eq!(own_turn(hop), expected);
    assert_eq!(hop.categories.as_ref().unwrap().others, []);
}

/// At the retry limit an internal collision ends the packet.
#[test]
fn an_internal_collision_at_the_retry_limit_by_hand() {
    let mut spec = one_packet_each(&[(2, 0, 0, 0), (2, 0, 0, 0)], &[0, 1]);
    spec.radios[0].mac.short_retry_limit = 1;
    let explanation = explain(&spec, 0);
    let (_, time) = &explanation.hops[0].categories.as_ref().unwrap().others[0];
    assert!(time.collisions >= 1, "{time:?}");
    assert_eq!(time.given_up, time.collisions);
    assert_eq!(explanation.hops[0].attempts.as_ref().unwrap().given_up, 0);
    assert_eq!(explanation.drops[0].packets, time.given_up);
}

/// The AIFS of the lower category is 10 + 7 x 20 us. The higher one sends two packets in a TXOP, a SIFS apart, of which the second belongs
/// to another flow: that flow has a packet behind the first, and no other category before it. An exchange is over when the ACK has left its
/// sender, 1.001 us before it ends at the other.
#[test]
fn a_txop_by_hand() {
    let spec = one_packet_each(&[(7, 0, 0, 0), (2, 0, 0, 6016)], &[0, 1, 1]);
    let end = 50_000 + 1_626_002 + 10_000 + 1_626_002;
    let mut world = watched(&spec, 0, 1);
    world.advance(Time(end + 150_000 + 7));
    let explanation = world.explanation().unwrap();
    adds_up(&explanation).unwrap();
    let hop = &explanation.hops[0];
    let expected =
        [(Activity::Transmit, 7), (Activity::Difs, 200_000), (Activity::Category, 1_626_002 + 1_636_002)];
    assert_eq!(own_turn(hop), expected);
    let time = CategoryTime { access: 1_625_001, txop: 1_637_003, ..CategoryTime::default() };
    assert_eq!(hop.categories.as_ref().unwrap().others, [("c1".to_string(), time)]);
    let mut world = watched(&spec, 2, 1);
    world.advance(Time(end));
    let hop = &world.explanation().unwrap().hops[0];
    assert_eq!(hop.behind, [((Some("f1".to_string()), true), 1_675_001)].into());
    let expected =
        [(Activity::Transmit, 1_310_000), (Activity::Sifs, 10_000), (Activity::AwaitAck, 1_001 + 315_001)];
    assert_eq!(own_turn(hop), expected);
    assert_eq!(hop.categories.as_ref().unwrap().others, []);
}

/// With eight categories and one queue of each, a queue that drops a packet of the flow holds packets of its category only.
#[test]
fn a_full_queue_is_that_of_the_category() {
    let mut spec = one_packet_each(&[(7, 31, 1023, 0), (2, 15, 31, 0)], &[0, 0, 1]);
    spec.radios[0].mac.backpressure = false;
    for flow in &mut spec.flows {
        flow.traffic =
            Traffic::ConstantRate { rate: Rate::from_mbps(8), packet: Bytes(1472), gap_jitter: 0.0 };
    }
    let hop = &explain(&spec, 0).hops[0];
    assert!(hop.queue.dropped > 100, "{:?}", hop.queue);
    let flows: Vec<_> = hop.queue.full_of.keys().map(|(flow, _)| flow.as_deref()).collect();
    assert_eq!(flows, [Some("f0"), Some("f1")]);
    let held: u64 = hop.queue.full_of.values().map(|waiting| waiting.packets).sum();
    let limit = u64::from(spec.radios[0].queue.packets);
    assert!(held <= hop.queue.dropped * (limit + 1), "{held} in {} drops", hop.queue.dropped);
    assert!(10 * held > 9 * hop.queue.dropped * limit, "{held} in {} drops", hop.queue.dropped);
}

/// Two stations that cannot sense each other send to the one between them: collisions with the hidden one, and no deferring. Where
/// they sense each other nearly all of the other's time is spent deferring to it.
#[test]
fn hidden_or_sensed() {
    let scene = |sense: f64| {
        let mut spec = world(dot11b(400.0, sense), 2);
        let (left, hub, right) = (
            node(&mut spec, "left", -300.0, 0.0),
            node(&mut spec, "hub", 0.0, 0.0),
            node(&mut spec, "right", 300.0, 0.0),
        );
        flow(&mut spec, "l", left, hub, saturating(1000));
        flow(&mut spec, "r", right, hub, saturating(1000));
        let mut world = watched(&spec, 0, 1);
        drive::to_end(&mut world);
        let hop = world.explanation().unwrap().hops.remove(0);
        (hop, world.result().stations.remove(0))
    };
    let (hop, station) = scene(550.0);
    let attempts = hop.attempts.unwrap();
    assert_eq!(attempts.no_ack, station.counters.no_ack);
    assert_eq!(attempts.data, station.counters.sent[2]);
    assert_eq!(attempts.given_up, station.counters.given_up);
    assert!(attempts.no_ack > 100 && attempts.given_up > 0, "{attempts:?}");
    for (cause, count) in &attempts.causes {
        assert_eq!((cause.missing, cause.of.as_deref()), (MissingResponse::Ack, Some("r")), "{cause:?}");
        match cause.why {
            FailureCause::Collision | FailureCause::Receiving => {
                assert_eq!((cause.by.as_deref(), cause.hidden), (Some("right"), true))
            }
            // It answers the other station.
            FailureCause::Transmitting => {
                assert!(cause.by.as_deref() == Some("hub") && *count < 20, "{count}")
            }
            _ => panic!("{cause:?}"),
        }
    }
    // It senses the hub's responses.
    let names: Vec<_> = hop.holders.keys().map(|id| id.as_deref()).collect();
    assert_eq!(names, [Some("hub")]);

    let (hop, station) = scene(650.0);
    let (right, busy) = (hop.holders[&Some("right".to_string())], station.airtime.busy.0);
    // This station senses only the other one's data frames, which it cannot decode; it defers to them, unless both began in one slot.
    let held = right.alone + right.joint;
    assert!(held <= busy && 10 * held > 9 * busy, "{held} of {busy}");
    assert!(4 * held > hop.observed, "{right:?}");
    assert!(hop.attempts.unwrap().causes.iter().all(|(c, _)| !c.hidden));
}

fn pair(seconds: u64, loss_every: u32) -> WorldSpec {
    let mut spec = world(dot11b(100.0, 200.0), seconds);
    spec.headers = HeaderSpec { udp: 8, tcp: Some(20), ip: 20, llc: 0, mac: 0, wired: 0 };
    let ends = (wired(&mut spec, "a"), wired(&mut spec, "b"));
    spec.links.push(LinkSpec { loss_every, ..link(ends, 1, ms(10), 50) });
    spec
}

/// 1028 bytes take 8.224 ms at 1 Mbit/s. The flow's packet comes 1 ms after another's: it waits 7.224 ms.
#[test]
fn a_wire_by_hand() {
    let slow = || Traffic::ConstantRate { rate: Rate(100_000), packet: Bytes(1000), gap_jitter: 0.0 };
    let mut spec = pair(1, 0);
    spec.duration = Span::from_millis(40);
    flow(&mut spec, "first", 0, 1, slow());
    flow(&mut spec, "second", 0, 1, slow());
    spec.flows[1].start = Time(1_000_000);
    for saturated in [false, true] {
        // A saturating flow the other way makes the same wire keep a queue instead of a timetable.
        if saturated {
            flow(&mut spec, "third", 0, 1, saturating(1000));
            spec.flows[2].start = Time(30_000_000);
        }
        let explanation = explain(&spec, 1);
        let hop = &explanation.hops[0];
        assert_eq!(hop.observed, 39_000_000);
        assert_eq!(hop.own_turn[Activity::Transmit as usize], 8_224_000);
        assert_eq!(hop.behind, [((Some("first".to_string()), true), 7_224_000)].into());
        assert_eq!(hop.no_packet, 39_000_000 - 8_224_000 - 7_224_000);
    }
}

/// The second of two segments is lost. SYN and SYN-ACK take 20.64 ms; the first segment arrives after 8.32 + 10 ms, its acknowledgement
/// 10.32 ms later: at 49.28 ms; the second is lost at 20.64 + 16.64 + 10 = 47.28 ms. From 49.28 ms on no packet of the flow is in flight.
/// The timer was restarted then, and expires after 200 ms, its minimum.
#[test]
fn a_wait_for_the_timer_by_hand() {
    let mut spec = pair(1, 2);
    flow(&mut spec, "f", 0, 1, Traffic::Endless);
    over_tcp(&mut spec, 0, plain(2), Traffic::File { size: Bytes(2000) });
    let explanation = explain(&spec, 0);
    let tcp = explanation.tcp.unwrap();
    assert_eq!((tcp.timeouts, tcp.timeouts_under_way, tcp.fast_losses), (1, 0, 0));
    assert_eq!(tcp.timeout_waits, [(49_280_000, 249_280_000)]);
    assert_eq!(tcp.timeout_times, [249_280_000]);
    assert_eq!(tcp.waited[Sending::Timeout as usize], 200_000_000);
    assert_eq!(tcp.waited[Sending::Handshake as usize], 20_640_000);
    // Sent again, acknowledged: 28.64 ms later all is over.
    assert_eq!(tcp.observed, 249_280_000 + 28_640_000);
    assert_eq!(explanation.drops.len(), 1);
    let drop = &explanation.drops[0];
    assert_eq!((drop.node.as_str(), drop.reason, drop.data, drop.packets), ("a", "wire-loss", true, 1));
    assert_eq!(explanation.standing, Standing::Content);
}

/// Every SYN is lost on the wire. The time-out is 1 s before the first measurement (RFC 6298 section 2.1), and doubles: SYNs leave at 0,
/// 1, 3 and 7 s, and the timer runs until 15 s.
#[test]
fn a_connection_that_never_opens_by_hand() {
    let mut spec = pair(8, 0);
    spec.links[0].loss = 1.0;
    flow(&mut spec, "f", 0, 1, Traffic::Endless);
    over_tcp(&mut spec, 0, plain(2), Traffic::Endless);
    let explanation = explain(&spec, 0);
    let tcp = explanation.tcp.unwrap();
    assert_eq!((tcp.connections, tcp.unopened), (1, 1));
    assert_eq!((tcp.syn_timeouts, tcp.timeouts), (3, 0));
    let timer = tcp.timer.unwrap();
    assert_eq!((timer.until, timer.doublings), (15_000_000_000, 3));
    let [drop] = &explanation.drops[..] else { panic!("one kind of drops: {:?}", explanation.drops) };
    assert_eq!((drop.data, drop.opening, drop.packets), (false, true, 4), "no data were lost");
}

/// The first SYN is lost, and the second answered: the connection has opened, after one time-out.
#[test]
fn a_connection_that_opens_late_by_hand() {
    let mut spec = pair(4, 0);
    flow(&mut spec, "f", 0, 1, Traffic::Endless);
    let slow = TcpConfig { initial_rto: Span::from_millis(15), ..plain(2) };
    over_tcp(&mut spec, 0, slow, Traffic::Endless);
    // The answer takes 20.64 ms: the SYN is sent again after 15 ms.
    let tcp = explain(&spec, 0).tcp.unwrap();
    assert_eq!((tcp.connections, tcp.unopened, tcp.syn_timeouts), (1, 0, 1));
}

/// A packet in the queue of a starved station is in flight, however long it waits: that is not the timer's wait, and a time-out during it
/// is counted separately. Here the wire holds it: 20 segments at 20 kbit/s take 8.3 s.
#[test]
fn a_time_out_while_packets_are_under_way() {
    let mut spec = pair(4, 0);
    spec.links[0].rate = Rate(20_000);
    flow(&mut spec, "f", 0, 1, Traffic::Endless);
    over_tcp(&mut spec, 0, plain(20), Traffic::Endless);
    let tcp = explain(&spec, 0).tcp.unwrap();
    assert!(tcp.timeouts > 0);
    assert_eq!(tcp.timeouts_under_way, tcp.timeouts);
    assert_eq!(tcp.waited[Sending::Timeout as usize], 0);
}

/// Categories of flows: by the others, by the offered load, and none if there is nothing to compare.
#[test]
fn standing() {
    let mut spec = cell(dot11b(250.0, 550.0), 4, 1000, 2);
    let stations: Vec<usize> = (1..=4).collect();
    assert_eq!(explain(&spec, 2).standing, Standing::Fair, "a fair share of a full cell");
    let little = Traffic::ConstantRate { rate: Rate(20_000), packet: Bytes(500), gap_jitter: 0.0 };
    flow(&mut spec, "little", stations[0], 0, little.clone());
    let explanation = explain(&spec, 4);
    assert_eq!(explanation.standing, Standing::Content, "it asks for no more");
    assert!(explanation.goodput_bps < 0.1 * explanation.compared.mean_goodput_bps);
    node(&mut spec, "far", 90_000.0, 0.0);
    flow(&mut spec, "nowhere", 0, 5, little.clone());
    flow(&mut spec, "later", 1, 0, little);
    spec.flows[6].start = Time(5_000_000_000);
    assert_eq!(explain(&spec, 5).standing, Standing::Unreachable);
    assert_eq!(explain(&spec, 6).standing, Standing::Silent);
    // Without a route or without traffic a flow is no part of the mean.
    let (with, without) = (explain(&spec, 2).compared, explanation.compared);
    assert_eq!((with.flows, without.flows), (5, 5));
    assert!((with.mean_goodput_bps / without.mean_goodput_bps - 1.0).abs() < 1e-9);
}

#[test]
fn it_is_asked_in_time() {
    let spec = chain(dot11b(250.0, 550.0), 1, 100.0, saturating(1000), 1);
    let mut world = make(&spec, 1);
    assert!(world.explanation().is_none());
    assert!(world.explain(&spec, FlowIx(1)).unwrap_err().contains("1 flows"));
    world.advance(Time(1));
    assert!(world.explain(&spec, FlowIx(0)).unwrap_err().contains("at time 0"));
}

/// With AODV a flow's hops are those of its packets. The first packet waits for 640 ms, in which rings of 1, 3 and 5 hops are searched, and
/// until the reply to the third arrives.
#[test]
fn hops_are_found_with_the_routes() {
    let constant = Traffic::ConstantRate { rate: Rate(50_000), packet: Bytes(500), gap_jitter: 0.0 };
    let mut spec = chain(dot11b(250.0, 550.0), 5, 200.0, constant, 2);
    spec.routing = aodv(|config| config.broadcast_jitter = Span::ZERO);
    let mut world = watched(&spec, 0, 1);
    world.advance(Time(640_000_000));
    let explanation = world.explanation().unwrap();
    assert_eq!(
        (explanation.hops.len(), explanation.awaited_route, explanation.standing),
        (0, Some(640_000_000), Standing::Unreachable)
    );
    drive::to_end(&mut world);
    let explanation = world.explanation().unwrap();
    adds_up(&explanation).unwrap();
    agrees(&explanation, &world).unwrap();
    let ends: Vec<_> =
        explanation.hops.iter().map(|hop| (hop.from.as_str(), hop.to.as_str(), hop.forward)).collect();
    assert_eq!(
        ends,
        [("0", "1", true), ("1", "2", true), ("2", "3", true), ("3", "4", true), ("4", "5", true)]
    );
    let waited = explanation.awaited_route.unwrap();
    assert!((640_000_000..660_000_000).contains(&waited), "{waited}");
    // Each hop has sent each packet, some of them twice.
    let delivered = world.result().flows[0].delivered_packets;
    for hop in &explanation.hops {
        let attempts = hop.attempts.as_ref().unwrap();
        assert_eq!(attempts.exchanges - attempts.no_ack, delivered);
        assert!(hop.no_packet >= waited);
    }
}

/// If a route breaks and another is found, the hops of both are listed, each with the time of its own packets.
#[test]
fn a_detour_has_hops_of_its_own() {
    let mut spec = detour();
    spec.warmup = Span::ZERO;
    spec.routing = aodv(|config| config.broadcast_jitter = Span::ZERO);
    let mut world = watched(&spec, 0, 1);
    world.advance(Time(5_000_000_000));
    let before = world.explanation().unwrap();
    drive::to_end(&mut world);
    let explanation = world.explanation().unwrap();
    for explanation in [&before, &explanation] {
        adds_up(explanation).unwrap();
    }
    agrees(&explanation, &world).unwrap();
    let ends = |explanation: &Explanation| -> Vec<String> {
        explanation.hops.iter().map(|hop| format!("{}{}", hop.from, hop.to)).collect()
    };
    assert_eq!(ends(&before), ["sa", "ab", "bd"]);
    assert_eq!(ends(&explanation), ["sa", "ab", "bd", "ac", "ce", "ed"]);
    let exchanges =
        |explanation: &Explanation, hop: usize| explanation.hops[hop].attempts.as_ref().unwrap().exchanges;
    // 5 s of a packet every 80 ms went over b, and the one that found it deaf; 25 s go over c.
    assert!((61..=63).contains(&exchanges(&before, 1)), "{}", exchanges(&before, 1));
    assert!((300..=320).contains(&exchanges(&explanation, 3)), "{}", exchanges(&explanation, 3));
    let broke = &explanation.hops[1].attempts.as_ref().unwrap();
    assert_eq!(
        broke.given_up,
        explanation.drops.iter().filter(|d| d.reason == "retry-limit").map(|d| d.packets).sum()
    );
    assert!(broke.given_up >= 1 && explanation.awaited_route > before.awaited_route, "{explanation:?}");
}
