//! The calls of a hop at its interface, and the headers in them, recorded by a hop.

use std::sync::{Arc, Mutex};

use crate::support::wires::*;
use crate::support::{diffq_levels, dot11b, flow, id_of, id_of_name, node, with_edca, world};
use Calls::*;
use airfair_schemes::Scheme;
use airfair_schemes::explicit::QFCP;
use airfair_schemes::places::{
    Agent, AgentContext, AgentSetup, Backlog, Capability, FlowId, Header, HeaderKind, Hop, HopContext,
    Interface, Medium, NodeId, Passage, Setting, Timer, Wants,
};
use airfair_sim::World;
use airfair_sim::engine::drive;
use airfair_sim::measure::summary::RunResult;
use airfair_sim::spec::*;
use airfair_transport::TcpConfig;
use airfair_units::{Bytes, Rate, Span, Time};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Calls {
    Arrives(Passage, bool),
    Leaves(Passage, bool),
    ComesIn(Passage, bool),
    IsDropped(u32),
    HasRate(Rate),
    Fires(Timer, Backlog),
}

/// Records: time, queue limit of the interface, call. A call without a time of its own has that of the previous one.
type CallLog = Vec<(u64, u32, Calls)>;

#[derive(Clone)]
struct Diarist {
    diary: Arc<Mutex<CallLog>>,
    /// True if the hop needs departures and received packets.
    subscribed: bool,
    /// Timers that are set at the start; each that fires sets itself again, at once.
    timers: Vec<(Timer, Time)>,
    place: u32,
    now: Time,
}

impl Diarist {
    fn new(subscribed: bool) -> Self {
        Self { diary: Arc::default(), subscribed, timers: Vec::new(), place: 0, now: Time::ZERO }
    }

    fn write(&mut self, now: Time, calls: Calls) {
        self.now = now;
        self.diary.lock().unwrap().push((now.0, self.place, calls));
    }

    /// The result, and the records at interfaces with this limit.
    fn read(&self, spec: &WorldSpec, place: u32) -> (RunResult, CallLog) {
        let result = finished(World::new(spec, "diarist", Box::new(self.clone()), 1).unwrap());
        let diary = self.diary.lock().unwrap().iter().copied().filter(|entry| entry.1 == place).collect();
        (result, diary)
    }
}

impl Scheme for Diarist {
    fn hop(&self, interface: &Interface) -> Option<Box<dyn Hop>> {
        Some(Box::new(Self { place: interface.limit_packets, ..self.clone() }))
    }
    fn wants(&self, interface: &Interface) -> Wants {
        let received = self.subscribed && interface.medium == Medium::Radio;
        Wants::NONE.and_if(self.subscribed, Capability::Departures).and_if(received, Capability::Received)
    }
}

impl Hop for Diarist {
    fn header(&self) -> &'static HeaderKind {
        &QFCP
    }
    fn on_start(&mut self, context: &mut HopContext<'_>) {
        context.out.timers.extend(&self.timers);
    }
    fn on_arrival(&mut self, passage: &Passage, header: Option<&mut Header>, now: Time) {
        self.write(now, Arrives(*passage, header.is_some()));
    }
    fn on_departure(&mut self, passage: &Passage, header: Option<&mut Header>, now: Time) {
        self.write(now, Leaves(*passage, header.is_some()));
    }
    fn on_drop(&mut self, bytes: u32) {
        self.write(self.now, IsDropped(bytes));
    }
    fn on_receive(&mut self, passage: &Passage, header: Option<&mut Header>, now: Time) {
        self.write(now, ComesIn(*passage, header.is_some()));
    }
    fn on_rate(&mut self, rate: Rate) {
        self.write(self.now, HasRate(rate));
    }
    fn on_timer(&mut self, timer: Timer, backlog: Backlog, context: &mut HopContext<'_>) {
        self.write(context.now, Fires(timer, backlog));
        if context.now < Time(10) {
            context.out.timers.push((timer, context.now));
        }
    }
    fn gauges(&self) -> Vec<(&'static str, f64)> {
        vec![("place", f64::from(self.place))]
    }
}

/// A packet of 1000 bytes every 4 ms until 26 ms, over 8 Mbit/s into a queue of two in front of 1 Mbit/s; 18 bytes of framing.
fn narrow() -> WorldSpec {
    let mut spec = world(dot11b(100.0, 200.0), 1);
    spec.headers.wired = 18;
    for id in ["source", "router", "sink"] {
        wired(&mut spec, id);
    }
    spec.links.push(link((0, 1), 8, Span::ZERO, 100));
    spec.links.push(link((1, 2), 1, Span::ZERO, 2));
    let traffic = Traffic::ConstantRate { rate: Rate(8 * 972 * 250), packet: Bytes(972), gap_jitter: 0.0 };
    flow(&mut spec, "f", 0, 2, traffic);
    spec.flows[0].stop = Time(26_000_000);
    spec
}

/// 1018 bytes take 1.018 ms and 8.144 ms. A packet in transmission does not wait; the fifth and the seventh packet find two waiting.
/// Arrivals are the same whether departures are notified or known in advance.
#[test]
fn arrivals_meet_what_waits_and_drops_are_told() {
    for subscribed in [false, true] {
        let (result, diary) = Diarist::new(subscribed).read(&narrow(), 2);
        let arrivals = diary.iter().filter_map(|&(at, _, calls)| match calls {
            Arrives(passage, header) => Some((at, passage.bytes, passage.backlog, header)),
            _ => None,
        });
        let expected = [0, 0, 1, 1, 2, 1, 2].into_iter().enumerate().map(|(i, packets)| {
            let backlog = Backlog { packets, bytes: 1018 * u64::from(packets) };
            (1_018_000 + 4_000_000 * i as u64, 1018, backlog, false)
        });
        assert_eq!(arrivals.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        let dropped = diary.iter().filter(|entry| entry.2 == IsDropped(1018)).map(|entry| entry.0);
        assert_eq!(dropped.collect::<Vec<_>>(), [17_018_000, 25_018_000]);
        assert_eq!(result.drops["queue-full"], 2);
        let left = diary.iter().filter_map(|&(at, _, calls)| match calls {
            Leaves(passage, _) => Some((at, passage.bytes, passage.backlog.packets)),
            _ => None,
        });
        let left: Vec<_> = left.collect();
        if subscribed {
            // Each starts when the one before it has ended, with the backlog that is left.
            let begins = [1_018_000, 9_162_000, 17_306_000, 25_450_000, 33_594_000];
            let behind = [0, 1, 1, 1, 0];
            let expected = begins.into_iter().zip(behind).map(|(at, packets)| (at, 1018, packets));
            assert_eq!(left, expected.collect::<Vec<_>>());
        } else {
            assert_eq!(left, [], "nobody asked");
        }
    }
}

/// The hops of both ends of a wire are notified of its new rate.
#[test]
fn a_new_rate_is_told() {
    let mut spec = narrow();
    spec.links[1].rate_changes.push(RateChange { at: Time(100_000_000), rate: Rate::from_mbps(3) });
    let (_, diary) = Diarist::new(false).read(&spec, 2);
    let calls: Vec<_> =
        diary.iter().map(|entry| entry.2).filter(|calls| matches!(calls, HasRate(_))).collect();
    assert_eq!(calls, [HasRate(Rate::from_mbps(3)); 2]);
}

/// A timer that is set again fires at its last time; one that is due at once fires a nanosecond later, so that time advances.
#[test]
fn a_timer_has_one_time_and_takes_time() {
    let mut diarist = Diarist::new(false);
    let (slow, quick) = (Timer(7), Timer(0));
    diarist.timers = vec![(slow, Time(5_000_000)), (slow, Time(13_000_000)), (quick, Time::ZERO)];
    let (_, diary) = diarist.read(&narrow(), 2);
    let fired = |timer: Timer| {
        let fired = diary.iter().filter(move |entry| matches!(entry.2, Fires(other, _) if other == timer));
        fired.map(|entry| entry.0).collect::<Vec<_>>()
    };
    // Both ends of the wire have one.
    assert_eq!(fired(slow), [13_000_000; 2]);
    assert_eq!(fired(quick), (1..=10).flat_map(|at| [at; 2]).collect::<Vec<_>>());
    // At 13 ms the third packet waits.
    let waiting = Backlog { packets: 1, bytes: 1018 };
    assert!(diary.iter().any(|entry| entry.2 == Fires(slow, waiting)), "{diary:?}");
}

/// A radio counts IP packets; the framing of wires is not for it. A packet each 0.5 ms is more than it can carry.
#[test]
fn radios_count_ip_packets_in_both_directions() {
    for subscribed in [false, true] {
        let mut spec = world(dot11b(100.0, 200.0), 1);
        spec.headers.wired = 18;
        let (a, b) = (node(&mut spec, "a", 0.0, 0.0), node(&mut spec, "b", 5.0, 0.0));
        let traffic =
            Traffic::ConstantRate { rate: Rate(8 * 972 * 2000), packet: Bytes(972), gap_jitter: 0.0 };
        flow(&mut spec, "f", a, b, traffic);
        let (result, diary) = Diarist::new(subscribed).read(&spec, 50);
        let (mut most, mut came_in) = (0, 0);
        for (_, _, calls) in diary {
            let (Arrives(passage, header) | Leaves(passage, header) | ComesIn(passage, header)) = calls
            else {
                panic!("{calls:?}: nothing is dropped");
            };
            assert_eq!((passage.bytes, header), (1000, false));
            assert_eq!(passage.backlog.bytes, 1000 * u64::from(passage.backlog.packets));
            most = most.max(passage.backlog.packets);
            came_in += u64::from(matches!(calls, ComesIn(..)));
        }
        assert_eq!(most, 24, "with the 25th half of its queue is full, and the source waits");
        assert_eq!(came_in, if subscribed { result.flows[0].delivered_packets } else { 0 });
    }
}

/// Flows of QFCP and of RCP, through interfaces that support QFCP: the ones' headers are seen everywhere and both ways, the others'
/// nowhere, and those notice.
#[test]
fn a_hop_sees_headers_of_its_own_kind() {
    let mut spec = world(dot11b(100.0, 200.0), 1);
    let (host, ap) = (wired(&mut spec, "host"), node(&mut spec, "ap", 0.0, 0.0));
    let station = node(&mut spec, "s", 5.0, 0.0);
    spec.links.push(link((host, ap), 100, ms(5), 50));
    for (law, ends) in [("qfcp", (host, station)), ("rcp", (host, station)), ("newreno", (station, host))] {
        flow(&mut spec, law, ends.0, ends.1, Traffic::Endless);
        let Transport::Tcp { config, params, .. } = tcp(TcpConfig::default()) else { continue };
        let transport = Transport::Tcp { config, law: law.into(), params, pinned: true };
        spec.flows.last_mut().unwrap().transport = transport;
    }
    let (result, diary) = Diarist::new(true).read(&spec, 50);
    let mut seen = [[0; 3]; 3];
    for (_, _, calls) in diary {
        let (what, passage, header) = match calls {
            Arrives(passage, header) => (0, passage, header),
            Leaves(passage, header) => (1, passage, header),
            ComesIn(passage, header) => (2, passage, header),
            _ => continue,
        };
        let flow = spec.flows.iter().position(|flow| id_of_name(&flow.id) == passage.flow.0).unwrap();
        assert_eq!(header, flow == 0, "{calls:?}");
        seen[flow][what] += 1;
    }
    assert!(seen.as_flattened().iter().all(|&count| count > 10), "{seen:?}");
    assert_eq!(result.flows.iter().map(|flow| flow.fallbacks).collect::<Vec<_>>(), [0, 1, 0]);
}

/// Inner values are read by interface.
#[test]
fn gauges_are_those_of_the_interface() {
    let spec = narrow();
    let world = World::new(&spec, "diarist", Box::new(Diarist::new(false)), 1).unwrap();
    let calls: Vec<f64> = world.snapshot().hops.iter().map(|(_, gauges)| gauges[0].1).collect();
    assert_eq!(calls, [100.0, 100.0, 2.0, 2.0]);
}

/// An agent that sets the rate of a flow at each sample, and a hop that writes down what it is told.
#[derive(Clone, Default)]
struct Sharing(Arc<Mutex<Vec<(u64, u32, Setting)>>>, u32);

impl Agent for Sharing {
    fn on_start(&mut self, setup: &AgentSetup<'_>, context: &mut AgentContext<'_>) {
        self.1 = setup.node.0;
        context.out.timers.push((Timer(0), Time(1_000)));
    }

    fn on_timer(&mut self, _: Timer, context: &mut AgentContext<'_>) {
        let (flow, rate) = (FlowId(self.1), Rate(u64::from(self.1)));
        context.out.settings.push(Setting::FlowRate { flow, rate });
    }
}

impl Hop for Sharing {
    fn header(&self) -> &'static HeaderKind {
        &QFCP
    }
    fn on_start(&mut self, _: &mut HopContext<'_>) {}
    fn on_arrival(&mut self, _: &Passage, _: Option<&mut Header>, _: Time) {}
    fn on_timer(&mut self, _: Timer, _: Backlog, _: &mut HopContext<'_>) {}

    fn apply(&mut self, setting: Setting, now: Time) {
        self.0.lock().unwrap().push((now.as_nanos(), self.1, setting));
    }
}

impl Scheme for Sharing {
    fn agent(&self, _: &Interface) -> Option<Box<dyn Agent>> {
        Some(Box::new(self.clone()))
    }

    /// Hops are numbered by the limits of their queues.
    fn hop(&self, at: &Interface) -> Option<Box<dyn Hop>> {
        Some(Box::new(Self(Arc::clone(&self.0), at.limit_packets)))
    }
}

/// A setting reaches the hop of the agent's own interface: not that of its node's other radio, nor that of its wire. So it is with access
/// categories.
#[test]
fn a_setting_reaches_the_hop_of_the_own_interface() {
    for categories in [false, true] {
        let mut spec = world(dot11b(250.0, 550.0), 1);
        node(&mut spec, "0", 0.0, 0.0);
        node(&mut spec, "1", 100.0, 0.0);
        spec.radios[0].queue.packets = 20;
        if categories {
            spec.radios[0] = with_edca(spec.radios[0].clone(), diffq_levels());
        }
        spec.radios.push(RadioSpec { name: "second".into(), channel: 6, ..spec.radios[0].clone() });
        spec.radios[1].queue.packets = 21;
        spec.nodes[1].radios = vec![1];
        spec.links.push(link((0, 1), 8, Span::ZERO, 100));
        let scheme = Sharing::default();
        let mut world = World::new(&spec, "sharing", Box::new(scheme.clone()), 1).unwrap();
        drive::to_end(&mut world);
        let told = |number: u32, at: u32| {
            let NodeId(id) = id_of(number);
            (1_000, at, Setting::FlowRate { flow: FlowId(id), rate: Rate(u64::from(id)) })
        };
        let mut log = scheme.0.lock().unwrap().clone();
        log.sort_unstable_by_key(|entry| entry.1);
        assert_eq!(log, [told(0, 20), told(1, 21)]);
    }
}
