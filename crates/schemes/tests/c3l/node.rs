//! An agent, a controller and a hop as a host calls them: what tables that are full forget, what reports and gauges say.

use airfair_schemes::c3l::Stamper;
use airfair_schemes::c3l::header::allocation;
use airfair_schemes::places::{
    Agent, AgentEffects, AgentSetup, AnswerSample, Capability, Context, Controller, ControllerEffects,
    ControllerSetup, FlowId, FlowSample, Header, Hop, Interface, LinkSample, LoneExchange, Medium, NodeId,
    NodeSample, PacketClass, Passage, Setting, Timer,
};
use airfair_schemes::{ParamValue, Params, Scheme, find};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Db, Rate, Span};
use airfair_wire::c3l::{
    Alive, Allocation, AllocationHead, FlowReport, Hello, Message, Report, ReportHead, Share, Word,
};

use super::at;

const REPORT: Timer = Timer(3);
const DIVIDE: Timer = Timer(4);

/// The controller that stations hear.
const CONTROLLER: u32 = 7;

fn scheme(name: &str, set: &[(&str, ParamValue)]) -> Box<dyn Scheme> {
    let params = Params(set.iter().map(|&(name, value)| (name.to_string(), value)).collect());
    (find(name).unwrap().build)(&params).unwrap()
}

fn encoded(message: &Message) -> Vec<u8> {
    let mut bytes = vec![0; message.wire_len()];
    message.encode(&mut bytes).unwrap();
    bytes
}

/// Packets of 1000 B of a flow to a next hop, and what its source states, kbit/s.
type Arrival = (u32, u32, u32, Option<u64>);

/// Node 0 with a radio of 2 Mbit/s.
struct Station {
    agent: Box<dyn Agent>,
    random: Stream,
    out: AgentEffects,
}

impl Station {
    fn new(name: &str, set: &[(&str, ParamValue)]) -> Self {
        let agent = scheme(name, set).agent(&Interface::radio(50)).unwrap();
        let (random, out) = (Stream::new(1, "n", Purpose::Agent), AgentEffects::default());
        let mut station = Self { agent, random, out };
        let exchange = LoneExchange { rate: Rate::from_mbps(2), ..LoneExchange::default() };
        let setup = AgentSetup {
            node: NodeId(0),
            rate: exchange.rate,
            exchange,
            neighbours: &[],
            sense_margin: None,
        };
        let Self { agent, random, out } = &mut station;
        agent.on_start(&setup, &mut Context { now: at(0), random, out });
        station
    }

    fn sample(&mut self, ms: u64, arrivals: &[Arrival]) {
        let links: Vec<LinkSample> =
            arrivals.iter().map(|arrival| LinkSample::new(NodeId(arrival.1))).collect();
        let flow = |&(flow, neighbour, packets, kbps): &Arrival| FlowSample {
            flow: FlowId(flow),
            from: NodeId(0),
            to: NodeId(5),
            neighbour: NodeId(neighbour),
            packets,
            bytes: 1000 * u64::from(packets),
            stated: kbps.map(Rate::from_kbps),
        };
        let flows: Vec<FlowSample> = arrivals.iter().map(flow).collect();
        let sample = NodeSample { links: &links, flows: &flows, ..NodeSample::default() };
        let Self { agent, random, out } = self;
        agent.on_sample(&sample, &mut Context { now: at(ms), random, out });
    }

    /// Acknowledgements of a flow to a next hop: packets of 60 B.
    fn answer(&mut self, ms: u64, flow: u32, neighbour: u32, packets: u32) {
        let (flow, neighbour) = (FlowId(flow), NodeId(neighbour));
        let answers = &[AnswerSample { flow, neighbour, packets, bytes: 60 * u64::from(packets) }];
        let sample = NodeSample { answers, ..NodeSample::default() };
        let Self { agent, random, out } = self;
        agent.on_sample(&sample, &mut Context { now: at(ms), random, out });
    }

    fn timer(&mut self, timer: Timer, ms: u64) {
        let Self { agent, random, out } = self;
        agent.on_timer(timer, &mut Context { now: at(ms), random, out });
    }

    fn hear(&mut self, message: &Message, ms: u64) {
        let Self { agent, random, out } = self;
        let context = &mut Context { now: at(ms), random, out };
        agent.on_message(NodeId(CONTROLLER), &encoded(message), true, context);
    }

    fn hear_of_controller(&mut self, ms: u64) {
        let alive = Alive { controller: CONTROLLER, freshness: ms as u32, hops: 0 };
        self.hear(&Message::Hello(Hello::new(false, 1, CONTROLLER, core::iter::once(alive))), ms);
    }

    /// Reports to the controller, and gets these shares of its links, kbit/s.
    fn allocate(&mut self, round: u16, shares: &[(u32, u32)], ms: u64) {
        let bytes: Vec<(u32, u32)> = shares.iter().map(|&(next_hop, kbps)| (next_hop, 125 * kbps)).collect();
        self.allocate_bytes(round, &bytes, ms);
    }

    /// The same with shares in bytes/s.
    fn allocate_bytes(&mut self, round: u16, shares: &[(u32, u32)], ms: u64) {
        self.hear_of_controller(ms);
        self.timer(REPORT, ms);
        let head = AllocationHead { controller: CONTROLLER, node: 0, round, version: 0, valid_ms: 3_600_000 };
        let share = |&(next_hop, share): &(u32, u32)| Share { next_hop, share };
        let shares: Vec<Share> = shares.iter().map(share).collect();
        self.hear(&Message::Allocation(Allocation::parts(head, &shares).remove(0)), ms);
    }

    /// The last rate that the hop was told of a flow, kbit/s.
    fn rate(&self, flow: u32) -> Option<u64> {
        let of_flow = |setting: &Setting| match setting {
            Setting::FlowRate { flow: FlowId(of), rate } if *of == flow => Some(rate.0 / 1000),
            _ => None,
        };
        self.out.settings.iter().rev().find_map(of_flow)
    }

    fn gauge(&self, name: &str) -> f64 {
        self.agent.gauges().iter().find(|gauge| gauge.0 == name).unwrap().1
    }

    /// The report at this time.
    fn report(&mut self, ms: u64) -> Report {
        self.out.messages.clear();
        self.timer(REPORT, ms);
        assert!(self.out.messages[0].ahead, "reports precede what waits");
        match Message::decode(&self.out.messages[0].bytes).unwrap().0 {
            Message::Report(report) => report,
            other => panic!("{other:?}"),
        }
    }
}

/// A link stores two flows. The third takes the place of the one that was seen longest ago, though that one was measured last: what it had
/// of the link's share is divided among those that are there.
#[test]
fn the_flow_that_was_seen_longest_ago_gives_way() {
    let mut station = Station::new("c3l", &[("flows", ParamValue::Integer(2))]);
    station.allocate(1, &[(1, 400)], 3);
    station.sample(100, &[(8, 1, 10, None)]);
    station.sample(200, &[(9, 1, 1, None)]);
    station.timer(DIVIDE, 300);
    assert_eq!([8, 9].map(|flow| station.rate(flow)), [Some(200); 2]);
    station.sample(400, &[(7, 1, 10, None)]);
    assert_eq!([7, 9].map(|flow| station.rate(flow)), [Some(200); 2]);
    assert_eq!(station.gauge("flows"), 2.0);
    assert_eq!(station.agent.share(FlowId(8)), None);
    station.timer(DIVIDE, 500);
    assert_eq!([7, 9].map(|flow| station.rate(flow)), [Some(200); 2]);
}

/// A flow without a packet for 8 s is none any more.
#[test]
fn a_flow_that_has_ended() {
    let mut station = Station::new("c3l", &[]);
    station.allocate(1, &[(1, 400)], 3);
    station.sample(100, &[(8, 1, 1, None)]);
    for (ms, flows) in [(8099, 1.0), (8100, 0.0)] {
        station.timer(DIVIDE, ms);
        assert_eq!(station.gauge("flows"), flows, "{ms}");
    }
}

/// Without a controller too.
#[test]
fn a_node_that_estimates_its_bandwidth_forgets_the_same() {
    let mut station = Station::new("c3l-local", &[("flows", ParamValue::Integer(2))]);
    for (ms, flow) in [(100, 8), (200, 9), (300, 7)] {
        station.sample(ms, &[(flow, 1, 10, None)]);
    }
    assert_eq!([7, 8, 9].map(|flow| station.agent.share(FlowId(flow)).is_some()), [true, false, true]);
    assert_eq!(station.rate(9), Some(1000));
    let told = |station: &Station| {
        let share = station.agent.share(FlowId(9)).unwrap();
        (share.to, share.allocated)
    };
    assert_eq!(told(&station), (NodeId(1), None), "nobody can allocate it");
    station.sample(400, &[(9, 2, 10, None)]);
    assert_eq!(told(&station), (NodeId(2), None), "the last next hop");
}

/// A flow of 80 kbit/s in 100 ms of which it was there for the end of the first: that says nothing of what it requires, the next 100 ms do.
/// A twentieth of 2 Mbit/s, or of the half of that time, is delta.
#[test]
fn a_part_of_an_epoch_is_no_measurement() {
    for (time, all, next) in [(1.0, 2000, 180), (0.5, 1000, 130)] {
        let set = [("delta", ParamValue::Number(0.05)), ("time", ParamValue::Number(time))];
        let mut station = Station::new("c3l-local", &set);
        for (ms, kbps) in [(100, all), (200, next)] {
            station.sample(ms, &[(9, 1, 1, None)]);
            assert_eq!(station.rate(9), Some(all));
            station.timer(Timer(1), ms);
            assert_eq!(station.rate(9), Some(kbps), "{ms}");
        }
    }
}

/// In a cycle of 8 s flow 9 has ten packets and states 80 kbit/s. In the next one it has none: it sends nothing, whatever it stated.
#[test]
fn reports_say_what_sources_state_or_what_arrives() {
    for (sending, bytes) in [("stated", 10_000), ("arrivals", 1250)] {
        let mut station = Station::new("c3l", &[("sending", ParamValue::Choice(sending))]);
        station.hear_of_controller(1);
        station.sample(100, &[(8, 1, 1, Some(8)), (9, 1, 10, Some(80))]);
        let rates = |report: &Report| {
            let flow = |flow: &FlowReport| (flow.flow, flow.rate);
            report.flows().iter().map(flow).collect::<Vec<_>>()
        };
        let (first, slow) = (station.report(8000), if sending == "stated" { 1000 } else { 125 });
        assert_eq!(rates(&first), [(8, slow), (9, bytes)], "{sending}");
        assert_eq!(first.links()[0].used, slow + bytes);
        station.sample(8100, &[(8, 1, 1, None)]);
        assert_eq!(rates(&station.report(16_000)), [(8, slow), (9, 0)], "{sending}");
    }
}

/// Of a share of 400 kbit/s flow 9, which states 80, has a tenth more when it has settled, whatever arrives of it: 16 kbit/s.
#[test]
fn flows_are_judged_by_what_they_state() {
    let mut station = Station::new("c3l", &[]);
    station.allocate(1, &[(1, 400)], 3);
    let rates = (1..15).map(|second| {
        station.sample(1000 * second, &[(8, 1, 40, Some(4000)), (9, 1, 2, Some(80))]);
        station.timer(DIVIDE, 1000 * second);
        station.rate(9).unwrap()
    });
    assert_eq!(rates.collect::<Vec<_>>(), [&[200; 2][..], &[120; 12][..]].concat());
}

/// A word of a neighbour that is a controller counts, and is no message that is ignored.
#[test]
fn a_word_of_a_controller_is_heeded() {
    let mut station = Station::new("c3l", &[]);
    station.sample(1, &[]);
    assert_eq!((station.gauge("controller"), station.gauge("ignored")), (0.0, 0.0));
    station.hear(&Message::Word(Word { controller: CONTROLLER, freshness: 1 }), 1);
    assert_eq!((station.gauge("controller"), station.gauge("ignored")), (1.0, 0.0));
    station.hear(&Message::Word(Word { controller: CONTROLLER + 1, freshness: 1 }), 1);
    assert_eq!(station.gauge("ignored"), 1.0, "of another than its sender");
}

/// The factor of injection is told of links that flows pass, and only of those.
#[test]
fn the_scale_is_that_of_links_with_flows() {
    let mut station = Station::new("c3l", &[]);
    station.allocate(1, &[(1, 400), (2, 100)], 3);
    station.sample(50, &[]);
    assert!(station.gauge("scale").is_nan() && station.gauge("flows") == 0.0);
    assert_eq!(station.gauge("share_bps"), 500_000.0);
    station.sample(100, &[(9, 1, 1, None)]);
    assert_eq!((station.gauge("scale"), station.gauge("flows")), (1.0, 1.0));
}

/// A flow's share is that of the link that it takes, by an allocation or without one.
#[test]
fn the_share_of_a_flow() {
    let mut station = Station::new("c3l", &[]);
    station.allocate(1, &[(1, 400)], 3);
    station.sample(100, &[(8, 1, 1, None), (9, 2, 1, None)]);
    let of = |flow| station.agent.share(FlowId(flow)).map(|share| (share.to, share.allocated));
    assert_eq!([7, 8, 9].map(of), [None, Some((NodeId(1), Some(true))), Some((NodeId(2), Some(false)))]);
}

/// Node 2 with a controller, between nodes 1 and 3.
struct Centre {
    controller: Box<dyn Controller>,
    random: Stream,
    out: ControllerEffects,
}

impl Centre {
    fn new(set: &[(&str, ParamValue)]) -> Self {
        let controller = scheme("c3l", set).controller().unwrap();
        let (random, out) = (Stream::new(1, "n", Purpose::Agent), ControllerEffects::default());
        let mut centre = Self { controller, random, out };
        let setup = ControllerSetup { node: NodeId(2), neighbours: &[NodeId(1), NodeId(3)] };
        let Self { controller, random, out } = &mut centre;
        controller.on_start(&setup, &mut Context { now: at(0), random, out });
        centre
    }

    fn timer(&mut self, timer: Timer, ms: u64) {
        let Self { controller, random, out } = self;
        controller.on_timer(timer, &mut Context { now: at(ms), random, out });
    }

    /// A part of a node's report of so many flows to a next hop.
    fn hear(&mut self, node: u32, round: u16, (flows, part): (u32, usize), next_hop: u32, ms: u64) {
        let flow = |flow| FlowReport { flow, next_hop, rate: 1, demand: u32::MAX };
        let flows: Vec<FlowReport> = (0..flows).map(flow).collect();
        let report =
            Report::parts(ReportHead { node, number: round, version: 0 }, &[], &flows, None).remove(part);
        let Self { controller, random, out } = self;
        let context = &mut Context { now: at(ms), random, out };
        controller.on_message(NodeId(node), &encoded(&Message::Report(report)), context);
    }

    /// The next hop of the only link that a round gives a share.
    fn next_hop(&mut self, ms: u64) -> u32 {
        self.timer(Timer(1), ms);
        match &self.said()[..] {
            [(NodeId(3), Message::Allocation(allocation))] => allocation.links()[0].next_hop,
            other => panic!("{other:?}"),
        }
    }

    /// The messages since the last call.
    fn said(&mut self) -> Vec<(NodeId, Message)> {
        let message = |(to, bytes): (NodeId, Vec<u8>)| (to, Message::decode(&bytes).unwrap().0);
        self.out.messages.drain(..).map(|message| (message.to, message.bytes)).map(message).collect()
    }
}

/// A controller at a node without an agent tells its neighbours of itself each second, until the agent's report shows that there is one.
#[test]
fn a_controller_without_an_agent_makes_itself_known() {
    let mut centre = Centre::new(&[]);
    assert_eq!(centre.out.timers, [(Timer(1), at(8000)), (Timer(2), at(1000))]);
    for ms in [1000, 2000] {
        centre.out.timers.clear();
        centre.timer(Timer(2), ms);
        let word = Message::Word(Word { controller: 2, freshness: ms as u32 / 100 });
        assert_eq!(centre.said(), [(NodeId(1), word.clone()), (NodeId(3), word)]);
        assert_eq!(centre.out.timers, [(Timer(2), at(ms + 1000))]);
    }
    centre.out.timers.clear();
    centre.hear(3, 1, (0, 0), 4, 2500);
    centre.timer(Timer(2), 3000);
    assert_eq!((centre.said().len(), centre.out.timers.len()), (2, 1), "an agent elsewhere");
    centre.hear(2, 1, (0, 0), 4, 3500);
    centre.timer(Timer(2), 4000);
    assert_eq!((centre.said().len(), centre.out.timers.len()), (0, 1), "that of the last time");
}

/// The table of last reports has room for one node. What others report counts as it arrives: with no number to compare, none is overtaken.
#[test]
fn beyond_the_table_of_last_reports_none_is_overtaken() {
    for (before, next_hop) in [(false, 4), (true, 5)] {
        let mut centre = Centre::new(&[("nodes", ParamValue::Integer(1))]);
        if before {
            // Half a report takes the place, and nothing else.
            centre.hear(9, 2, (100, 0), 4, 0);
        }
        centre.hear(3, 5, (1, 0), 4, 1);
        centre.hear(3, 3, (1, 0), 5, 2);
        assert_eq!(centre.next_hop(8000), next_hop, "{before}");
        // Node 9 was heard 40 s ago: its place is free.
        centre.timer(Timer(1), 40_000);
        centre.said();
        centre.hear(3, 8, (1, 0), 6, 40_001);
        centre.hear(3, 7, (1, 0), 7, 40_002);
        assert_eq!(centre.next_hop(48_000), 6, "{before}");
        // After a round its last report is still known.
        centre.hear(3, 7, (1, 0), 7, 48_001);
        assert_eq!(centre.next_hop(56_000), 6, "{before}");
    }
}

/// Links that a controller takes for inhibited are there since its first round, with the round's time.
#[test]
fn inhibited_links_are_those_of_a_round() {
    let mut centre = Centre::new(&[]);
    assert_eq!(centre.controller.inhibition(), None);
    centre.hear(3, 1, (1, 0), 4, 1);
    centre.timer(Timer(1), 8000);
    let found = centre.controller.inhibition().unwrap();
    assert_eq!((found.at, &found.links[..]), (at(8000), &[([NodeId(3), NodeId(4)], vec![])][..]));
    let inhibited = centre.controller.gauges().into_iter().find(|gauge| gauge.0 == "inhibited");
    assert_eq!(inhibited, Some(("inhibited", 0.0)), "one without inhibitors does not count");
}

/// Stamps a data packet of a flow; its allocation, B/s.
fn stamped(hop: &mut dyn Hop, flow: u32, ms: u64) -> u32 {
    let mut header = Header { fields: [0, u32::MAX, 1000, 7], ..Header::default() };
    let class = PacketClass::Data;
    let passage =
        Passage { bytes: 1040, flow: FlowId(flow), next_hop: NodeId(1), class, backlog: Default::default() };
    hop.on_arrival(&passage, Some(&mut header), at(ms));
    allocation(&header).unwrap()
}

fn set_rates(hop: &mut dyn Hop, flows: impl IntoIterator<Item = u32>, ms: u64) {
    for flow in flows {
        hop.apply(Setting::FlowRate { flow: FlowId(flow), rate: Rate(8000) }, at(ms));
    }
}

/// How many of these flows have a share.
fn with_share(hop: &mut dyn Hop, flows: core::ops::Range<u32>, ms: u64) -> usize {
    flows.filter(|&flow| stamped(hop, flow, ms) == 1000).count()
}

/// Of 64 flows those are forgotten that have ended; after that a hop looks again when there are twice as many as it kept, 128.
#[test]
fn a_hop_looks_for_ended_flows_when_there_are_twice_as_many() {
    let mut hop = Stamper::new(1000, Rate(8), Span::from_secs(10));
    set_rates(&mut hop, 0..65, 0);
    set_rates(&mut hop, 65..128, 10_000);
    assert_eq!(stamped(&mut hop, 127, 10_001), 1000);
    assert_eq!(with_share(&mut hop.clone(), 0..65, 10_001), 65, "ended, but not looked for");
    set_rates(&mut hop, [128], 10_002);
    assert_eq!(with_share(&mut hop, 0..129, 10_003), 64);
}

/// An agent learns of a packet by a sample, 0.1 s, has forgotten a flow 8 s later, at a division that may be a second away and be told to
/// the hop a second later: 10.1 s.
#[test]
fn a_hop_remembers_as_long_as_the_agent() {
    let mut hop = scheme("c3l", &[]).hop(&Interface::radio(50)).unwrap();
    set_rates(&mut *hop, 0..63, 0);
    set_rates(&mut *hop, [63], 1);
    set_rates(&mut *hop, [64], 10_100);
    // 100 kbit/s: the rate of flows that it does not know.
    assert_eq!([0, 62, 63, 64].map(|flow| stamped(&mut *hop, flow, 10_101)), [12_500, 12_500, 1000, 1000]);
    assert_eq!(hop.gauges(), [("stamped", 4.0), ("stamped_unknown", 2.0)]);
}

/// A radio's agents speak in the name of the node where there is a controller to speak to; wires have none.
#[test]
fn what_interfaces_are_to_offer() {
    let wants = |name: &str, interface: Interface| {
        let wants = scheme(name, &[]).wants(&interface);
        // What fills shows C3L that a link is overloaded: no queue is kept short.
        assert!(wants.has(Capability::OwnQueue));
        let [lone, links, used] =
            [Capability::LoneRadio, Capability::Links, Capability::LinkUse].map(|it| wants.has(it));
        assert_eq!(wants.has(Capability::TransmitChoice), lone, "{name}: probes reach farther than data");
        (lone, links, used, wants.samples())
    };
    let sample = Span::from_millis(100);
    assert_eq!(wants("c3l", Interface::radio(50)), (true, true, false, sample));
    assert_eq!(wants("c3l-local", Interface::radio(50)), (false, true, true, sample));
    let wire = Interface { medium: Medium::Wire, ..Interface::radio(50) };
    for name in ["c3l", "c3l-local"] {
        assert_eq!(wants(name, wire), (false, false, false, Span::ZERO), "{name}");
    }
}

/// Results count messages by their names; those of a node's own estimate are none.
#[test]
fn messages_have_names() {
    let kinds = scheme("c3l", &[]).message_kinds().unwrap();
    let head = ReportHead { node: 3, number: 1, version: 0 };
    let report = Message::Report(Report::parts(head, &[], &[], None).remove(0));
    let head = AllocationHead { controller: 2, node: 3, round: 1, version: 0, valid_ms: 1 };
    let allocation = Message::Allocation(Allocation::parts(head, &[]).remove(0));
    let hello = |probe| Message::Hello(Hello::new(probe, 1, 3, core::iter::empty()));
    let named = |message: &Message| {
        let start = encoded(message)[..4].try_into().unwrap();
        (kinds.of)(&start).map(|kind| kinds.names[kind])
    };
    let names = [report, allocation, hello(false), hello(true)].map(|message| named(&message));
    assert_eq!(names, ["report", "allocation", "hello", "probe"].map(Some));
    assert_eq!((kinds.of)(&[0xff; 4]), None);
    assert!(scheme("c3l-local", &[]).message_kinds().is_none());
}

/// 60 B at 2 Mbit/s are 240 us: 100 acknowledgements are 24 ms, in 8 s 3000 us a second. They are told with the rate at which the data have
/// come, 100 packets of 1000 B in 8 s, 12,500 B/s, where 20,000 B/s were stated. Without `answers` the link that carries nothing else is in
/// no report, and the rate is the one that was stated.
#[test]
fn acknowledgements_are_told_with_the_air_that_they_take() {
    for (told, rate) in [(true, 12_500), (false, 20_000)] {
        let mut station = Station::new("c3l", &[("answers", ParamValue::Flag(told))]);
        station.hear_of_controller(0);
        station.report(0);
        station.answer(100, 3, 2, 60);
        station.answer(200, 3, 2, 40);
        station.sample(300, &[(3, 1, 100, Some(160))]);
        let report = station.report(8000);
        let answers: Vec<_> = report.answers().iter().map(|a| (a.flow, a.next_hop, a.time)).collect();
        assert_eq!(answers, if told { vec![(3, 2, 3000)] } else { Vec::new() });
        assert_eq!(report.links().len(), 1 + usize::from(told));
        assert_eq!(report.flows()[0].rate, rate);
        assert_eq!(station.report(16_000).answers(), [], "each cycle anew");
    }
}

/// A link stores the acknowledgements of as many flows as it stores flows.
#[test]
fn answers_are_bounded() {
    let set = [("answers", ParamValue::Flag(true)), ("flows", ParamValue::Integer(2))];
    let mut station = Station::new("c3l", &set);
    station.hear_of_controller(0);
    for flow in 0..100 {
        station.answer(100, flow, 2, 1);
    }
    assert_eq!(station.report(8000).answers().len(), 2);
}

/// 40 packets come for a link; 20 get through, 10 still wait, so 10 are lost: a quarter, 31 of 127. Where 5 waited before, 5 more of them
/// came earlier, and 15 are lost: 3/8, 47 of 127. Nothing is told where limits are never lifted.
#[test]
fn a_link_tells_what_it_loses() {
    for (aside, waited, lost) in [(0.8, 0, 31), (0.8, 5, 47), (0.0, 0, 0)] {
        let mut station = Station::new("c3l", &[("aside", ParamValue::Number(aside))]);
        station.hear_of_controller(0);
        let sample = |station: &mut Station, ms, link: LinkSample| {
            station.sample(ms, &[(3, 1, 1, None)]);
            let sample = NodeSample { links: &[link], ..NodeSample::default() };
            let Station { agent, random, out } = station;
            agent.on_sample(&sample, &mut Context { now: at(ms), random, out });
        };
        sample(&mut station, 50, LinkSample { waiting: waited, ..LinkSample::new(NodeId(1)) });
        station.report(100);
        let link = LinkSample { arrived: 40, sent: 20, waiting: 10, ..LinkSample::new(NodeId(1)) };
        sample(&mut station, 200, link);
        assert_eq!(station.report(8000).links()[0].lost, lost, "{aside} {waited}");
    }
}

/// A link whose share has all ones has no limit: its flow is stamped with the largest number that a stamp has, whatever the queue. A source
/// that states less than that requires what it states, unless its packets wait or less than half of it
/// comes; else it takes all that it gets.
#[test]
fn a_link_without_a_limit() {
    let set = [("aside", ParamValue::Number(0.8)), ("local_threshold", ParamValue::Number(0.1))];
    let mut station = Station::new("c3l", &set);
    station.allocate_bytes(1, &[(1, u32::MAX)], 100);
    for (waiting, demand) in [(0, 60_000), (40, u32::MAX)] {
        let from = 200 + u64::from(waiting) * 100;
        for ms in [from, from + 100] {
            station.sample(ms, &[(3, 1, 10, Some(480))]);
            let link = LinkSample { waiting, ..LinkSample::new(NodeId(1)) };
            let sample = NodeSample { links: &[link], ..NodeSample::default() };
            let Station { agent, random, out } = &mut station;
            agent.on_sample(&sample, &mut Context { now: at(ms), random, out });
        }
        station.timer(DIVIDE, from + 200);
        assert_eq!(station.rate(3), Some(u64::MAX / 1000));
        assert_eq!(station.report(from + 300).flows()[0].demand, demand, "{waiting}");
    }
    assert_eq!(station.agent.share(FlowId(3)), None, "nobody limits it");
    station.allocate_bytes(2, &[(1, 50_000)], 9000);
    assert_eq!(station.agent.share(FlowId(3)).unwrap().rate, Rate(400_000));
}

/// Without a controller a flow has a tenth of 2 Mbit/s, by the one link that ends at its source; after `unled` it has no limit, until
/// a controller is heard of.
#[test]
fn a_node_without_a_controller_limits_no_flow() {
    let five = ParamValue::Span(Span::from_secs(5));
    let mut station = Station::new("c3l", &[("unled", five)]);
    let mut rates = Vec::new();
    for (ms, heard) in [(4900, false), (5000, false), (5500, true), (9000, false)] {
        if heard {
            station.hear_of_controller(ms - 1);
        }
        station.sample(ms - 1, &[(3, 1, 1, None)]);
        station.timer(DIVIDE, ms);
        rates.push(station.rate(3).unwrap());
    }
    assert_eq!(rates, [100, u64::MAX / 1000, 100, 100]);
}

/// Probes are 3 dB louder; with `sense` as much as the radio's signal needs to be heard where it is sensed, where that is known and more.
#[test]
fn probes_reach_as_far_as_signals_are_sensed() {
    for (sense, margin, louder) in
        [(false, Some(12.0), 3.0), (true, Some(12.0), 12.0), (true, Some(1.0), 3.0), (true, None, 3.0)]
    {
        let word = if sense { "sense" } else { "power" };
        let agent = scheme("c3l", &[("probe_reach", ParamValue::Choice(word))]);
        let mut agent = agent.agent(&Interface::radio(50)).unwrap();
        let (mut random, mut out) = (Stream::new(1, "n", Purpose::Agent), AgentEffects::default());
        let setup = AgentSetup {
            node: NodeId(0),
            rate: Rate::from_mbps(2),
            exchange: LoneExchange { rate: Rate::from_mbps(2), ..LoneExchange::default() },
            neighbours: &[],
            sense_margin: margin.map(Db),
        };
        agent.on_start(&setup, &mut Context { now: at(0), random: &mut random, out: &mut out });
        agent.on_timer(Timer(2), &mut Context { now: at(1), random: &mut random, out: &mut out });
        assert_eq!(out.messages[0].transmit.unwrap().power_offset, Db(louder));
    }
}

/// Rounds after 1, 1, 2, 4, 8 and 8 s where the first cycle has 1 s; without, after 8 s each. Shares are valid for three of the times to
/// the next round. A node that hears of its first controller says so within a tenth of a second, and reports within half a first cycle.
#[test]
fn first_cycles_are_short() {
    let first = ("first_cycle", ParamValue::Span(Span::from_secs(1)));
    for (set, times) in [(&[first][..], [1, 2, 4, 8, 16, 24]), (&[][..], [8, 16, 24, 32, 40, 48])] {
        let mut controller = scheme("c3l", set).controller().unwrap();
        let (mut random, mut out) = (Stream::new(1, "c", Purpose::Agent), ControllerEffects::default());
        let setup = ControllerSetup { node: NodeId(7), neighbours: &[] };
        controller.on_start(&setup, &mut Context { now: at(0), random: &mut random, out: &mut out });
        let mut found = Vec::new();
        for _ in 0..times.len() {
            let next = out.timers.iter().rev().find(|timer| timer.0 == Timer(1)).unwrap().1;
            found.push(next.as_nanos() / 1_000_000_000);
            controller.on_timer(Timer(1), &mut Context { now: next, random: &mut random, out: &mut out });
        }
        assert_eq!(found, times);
    }
    let mut station = Station::new("c3l", &[first]);
    station.out.timers.clear();
    station.hear_of_controller(5000);
    let mut due: Vec<(Timer, u64)> = station
        .out
        .timers
        .iter()
        .map(|timer| (timer.0, timer.1.since(at(5000)).as_nanos() / 1_000_000))
        .collect();
    due.sort_by_key(|timer| timer.0.0);
    assert!(matches!(due[..], [(Timer(1), 0..=100), (REPORT, 250..=500)]), "{due:?}");
    station.out.timers.clear();
    station.hear_of_controller(5001);
    assert_eq!(station.out.timers, [], "only of the first");
}
