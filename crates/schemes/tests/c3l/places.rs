//! The places: stamps, both ends of a flow, and an agent and a controller that receive anything.

use std::collections::BTreeMap;

use airfair_schemes::c3l::header::{STAMP, allocation};
use airfair_schemes::c3l::{Backstop, C3lSource, Receiver, SourceConfig, Stamper};
use airfair_schemes::places::{
    Agent, AgentContext, AgentEffects, AgentSetup, Allowance, Arrived, Backlog, Congestion, CongestionCause,
    Context, ControllerEffects, ControllerSetup, Ecn, FlowId, FlowSample, FlowSetup, Header, Hop, Interface,
    LinkSample, LoneExchange, NodeId, NodeSample, PacketClass, Passage, Receiver as _, ReceiverEffects,
    ReportBytes, Setting, Source, SourceEffects, Timer,
};
use airfair_schemes::{ParamValue, Params, find};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Rate, Span, Time};
use airfair_wire::c3l::{
    Allocation, AllocationHead, FlowReport, Hello, Message, Report, ReportHead, Share, Word,
};
use proptest::prelude::*;

use super::at;

fn stream() -> Stream {
    Stream::new(1, "n", Purpose::Agent)
}

fn passage(flow: u32, class: PacketClass) -> Passage {
    Passage { bytes: 1040, flow: FlowId(flow), next_hop: NodeId(1), class, backlog: Backlog::default() }
}

/// A header as it leaves a source of 8 kbit/s.
fn fresh() -> Header {
    Header { fields: [0, u32::MAX, 1000, 7], ..Header::default() }
}

/// A time of expiry shorter than the interval of repetition is refused: the scheme would run and do nothing.
#[test]
fn parameters_that_contradict_each_other() {
    let built = |scheme: &str, name: &str, seconds| {
        let set = Params([(name.into(), ParamValue::Span(Span::from_secs(seconds)))].into_iter().collect());
        (find(scheme).unwrap().build)(&set).err().map(|error| error.to_string())
    };
    for (scheme, name, least_wrong, says) in [
        ("c3l", "cycle", 40, "cycle is not below report_expiry"),
        ("c3l", "hello_interval", 20, "hello_interval is not below controller_expiry"),
        ("c3l", "epoch", 5, "epoch is not below feedback_expiry"),
        ("c3l-local", "epoch", 5, "epoch is not below feedback_expiry"),
    ] {
        assert_eq!(built(scheme, name, least_wrong - 1), None, "{scheme} {name}");
        assert_eq!(built(scheme, name, least_wrong).unwrap(), says);
    }
    assert_eq!(built("c3l", "node_expiry", 8).unwrap(), "cycle is not below node_expiry");
}

#[test]
fn hops_leave_the_smallest_allocation() {
    let hop = |kbps: u64| {
        let mut hop = Stamper::new(8, Rate(160_000), Span::from_secs(10));
        hop.apply(Setting::FlowRate { flow: FlowId(5), rate: Rate::from_kbps(kbps) }, at(0));
        hop
    };
    let mut header = fresh();
    assert_eq!(allocation(&header), None);
    for (kbps, smallest) in [(800, 100_000), (400, 50_000), (600, 50_000)] {
        hop(kbps).on_arrival(&passage(5, PacketClass::Data), Some(&mut header), at(1));
        assert_eq!((header.fields[0], allocation(&header)), (5, Some(smallest)), "bytes/s");
    }
    hop(8).on_arrival(&passage(5, PacketClass::Ack), Some(&mut header), at(1));
    assert_eq!(allocation(&header), Some(50_000), "acknowledgements are not stamped");
    hop(8).on_arrival(&passage(6, PacketClass::Data), Some(&mut header), at(1));
    assert_eq!(allocation(&header), Some(20_000), "a flow without a share: the rate of unknown ones");
}

#[test]
fn a_hop_stores_so_many_flows_and_the_oldest_gives_way() {
    let mut hop = Stamper::new(2, Rate(8), Span::from_secs(10));
    for (flow, ms) in [(1, 3), (2, 1), (3, 2)] {
        hop.apply(Setting::FlowRate { flow: FlowId(flow), rate: Rate(80 * u64::from(flow)) }, at(ms));
    }
    let stamped = [1, 2, 3].map(|flow| {
        let mut header = fresh();
        hop.on_arrival(&passage(flow, PacketClass::Data), Some(&mut header), at(4));
        allocation(&header).unwrap()
    });
    assert_eq!(stamped, [10, 1, 30]);
    // Flow 1 has a packet: flow 3, whose share was set later, is the one that gives way.
    hop.on_arrival(&passage(1, PacketClass::Data), Some(&mut fresh()), at(5));
    hop.apply(Setting::FlowRate { flow: FlowId(4), rate: Rate(320) }, at(6));
    let mut header = fresh();
    hop.on_arrival(&passage(1, PacketClass::Data), Some(&mut header), at(7));
    assert_eq!(
        allocation(&header),
        Some(10),
        "a flow that lasts is not forgotten for others that come and go"
    );
}

#[test]
fn headers_keep_their_words_on_the_wire() {
    let header = Header { supported: 3, unsupported: 9, fields: [1, 2, 3, u32::MAX] };
    let mut bytes = [0; 20];
    assert_eq!((STAMP.encode)(&header, &mut bytes), Some(20));
    assert_eq!((STAMP.decode)(&bytes), Some(header));
    assert_eq!((STAMP.decode)(&bytes[..19]), None);
}

/// A flow of 1000 B with 48 B of headers whose feedback expires after this time.
fn flow(expiry: Span) -> (SourceConfig, FlowSetup) {
    let rates = [Rate(4_000), Rate(2_000_000)];
    let config = SourceConfig {
        first: Rate(104_800),
        rates,
        expiry,
        epoch: Span::from_secs(1),
        backstop: Backstop::None,
        least_window: 1,
        doubles: true,
        unstamped: false,
    };
    let setup = FlowSetup {
        mss: Bytes(1000),
        headers: Bytes(48),
        initial_window: Bytes(4000),
        window_limit: Bytes(u64::MAX),
        rtt: None,
        syn_lost: false,
        link: None,
    };
    (config, setup)
}

/// A source of 1000 B with 48 B of headers: an allocation of 1048 kbit/s is 1000 kbit/s of payload. After 5 s without feedback it is back
/// at its first rate, or slower.
#[test]
fn a_source_follows_its_feedback() {
    let (config, setup) = flow(Span::from_secs(5));
    for over_tcp in [false, true] {
        let mut source = C3lSource::new(config);
        let (mut random, mut out) = (stream(), SourceEffects::default());
        let mut rate =
            |ms, hook: &mut dyn FnMut(&mut C3lSource, &mut airfair_schemes::places::SourceContext<'_>)| {
                hook(&mut source, &mut Context { now: at(ms), random: &mut random, out: &mut out });
                source.allowance(at(ms)).rate.unwrap().0
            };
        // Over TCP the first count says how many hops have stamped.
        let echo = |allocation| Header { supported: 1, unsupported: 0, fields: [1, allocation, 0, 0] };
        let hears = |epoch: u16, allocation: u32| {
            move |s: &mut C3lSource, c: &mut airfair_schemes::places::SourceContext<'_>| match over_tcp {
                true => s.on_feedback(&echo(allocation), c),
                false => s.on_report(&feedback(epoch, allocation), c),
            }
        };
        assert_eq!(rate(0, &mut |s, c| s.on_start(&setup, c)), 100_000);
        assert_eq!(rate(1000, &mut hears(1, 131_000)), 1_000_000);
        assert_eq!(rate(1001, &mut hears(2, u32::MAX)), 1_000_000, "not stamped");
        assert_eq!(rate(1002, &mut hears(3, 0)), 4_000, "never below");
        assert_eq!(rate(1003, &mut hears(4, 4_000_000_000)), 2_000_000);
        if over_tcp {
            assert_eq!(
                rate(1004, &mut |s, c| s.on_feedback(&Header::default(), c)),
                2_000_000,
                "no data yet"
            );
        } else {
            assert_eq!(rate(1004, &mut hears(3, 1)), 2_000_000, "overtaken");
            assert_eq!(rate(1004, &mut |s, c| s.on_report(&feedback(5, 1)[..19], c)), 2_000_000, "cut");
            assert_eq!(rate(1004, &mut |s, c| s.on_report(&[], c)), 2_000_000, "no report");
        }
        assert_eq!(rate(5000, &mut |s, c| s.on_timer(Timer(1), c)), 2_000_000);
        assert_eq!(rate(6003, &mut |s, c| s.on_timer(Timer(1), c)), 100_000);
        assert_eq!(rate(7000, &mut hears(5, 1310)), 10_000);
        assert_eq!(rate(12_000, &mut |s, c| s.on_timer(Timer(1), c)), 10_000);
    }
}

/// The report of an epoch as `airfair_wire::c3l::Feedback` lays it out, by hand: flow 1, nothing received, no sequence number.
fn feedback(epoch: u16, allocation: u32) -> Vec<u8> {
    let mut bytes = vec![0x16, 0];
    bytes.extend(epoch.to_be_bytes());
    bytes.extend([1, allocation, 0, 0].iter().flat_map(|word: &u32| word.to_be_bytes()));
    bytes
}

/// A source that sends whenever its rate allows states its rate, with headers; one that sends less states what it sends.
#[test]
fn a_source_states_what_it_sends() {
    let (config, setup) = flow(Span::from_secs(500));
    let mut source = C3lSource::new(config);
    let (mut random, mut out) = (stream(), SourceEffects::default());
    source.on_start(&setup, &mut Context { now: at(0), random: &mut random, out: &mut out });
    let stated = |source: &mut C3lSource, ms: u64| {
        let mut header = Header::default();
        source.stamp(&mut header, at(ms));
        header.fields[2]
    };
    // 100 kbit/s of payload: a packet each 80 ms.
    let busy: Vec<u32> = (0..40).map(|n| stated(&mut source, 80 * n)).collect();
    assert_eq!(busy, [13_100; 40]);
    // One each 200 ms: 40 kbit/s of payload.
    let slow: Vec<u32> = (1..20).map(|n| stated(&mut source, 3120 + 200 * n)).collect();
    assert_eq!(slow[..4], [13_100; 4], "not before an epoch has passed");
    assert!(slow[12..].iter().all(|&rate| rate == 5_240), "{slow:?}");
    // A smaller allocation is what it sends at most.
    source.on_report(&feedback(1, 2_620), &mut Context { now: at(7000), random: &mut random, out: &mut out });
    assert_eq!(stated(&mut source, 7120), 2_620);
    // 20 kbit/s of payload: a packet each 400 ms. It uses all of that, so that it states more as soon as it may send more.
    (1..8).for_each(|n| assert_eq!(stated(&mut source, 7120 + 400 * n), 2_620));
    source
        .on_report(&feedback(2, 6_550), &mut Context { now: at(10_000), random: &mut random, out: &mut out });
    assert_eq!(stated(&mut source, 10_320), 6_550);
}

/// Kept from sending for 3.92 of 4 s, 98 %, a source uses its rate: it states more as soon as it may send more. With a nanosecond less it
/// states what it has sent.
#[test]
fn a_source_that_just_uses_its_rate() {
    for (later, stated) in [(0, 26_200), (1, 13_099)] {
        let (config, setup) = flow(Span::from_secs(500));
        let config = SourceConfig { epoch: Span::from_secs(4), ..config };
        let mut source = C3lSource::new(config);
        let (mut random, mut out) = (stream(), SourceEffects::default());
        let mut header = Header::default();
        source.on_start(&setup, &mut Context { now: at(0), random: &mut random, out: &mut out });
        // 100 kbit/s of payload: a packet each 80 ms, and one that is late by as much.
        (0..=48).for_each(|n| source.stamp(&mut header, at(80 * n)));
        source.stamp(&mut header, Time(at(4000).0 + later));
        source.on_report(
            &feedback(1, 26_200),
            &mut Context { now: at(4001), random: &mut random, out: &mut out },
        );
        source.stamp(&mut header, at(4080));
        assert_eq!(header.fields[2], stated, "{later}");
    }
}

/// A hop tells the rate of flows that it knows, as the last packet states it.
#[test]
fn a_hop_tells_what_sources_state() {
    let mut hop = Stamper::new(2, Rate(8), Span::from_secs(10));
    let pass = |hop: &mut Stamper, flow, class| {
        hop.on_arrival(&passage(flow, class), Some(&mut fresh()), at(2));
    };
    pass(&mut hop, 1, PacketClass::Data);
    assert_eq!(hop.stated_rate(FlowId(1)), None, "no share yet");
    for rate in [Rate(80), Rate(90)] {
        hop.apply(Setting::FlowRate { flow: FlowId(1), rate }, at(3));
        pass(&mut hop, 1, PacketClass::Ack);
        assert_eq!(hop.stated_rate(FlowId(1)), (rate == Rate(90)).then_some(Rate(8_000)));
        pass(&mut hop, 1, PacketClass::Data);
        assert_eq!(hop.stated_rate(FlowId(1)), Some(Rate(8_000)));
    }
    assert_eq!(hop.stated_rate(FlowId(2)), None);
}

/// The first packet is reported at once, then what arrives once an epoch; in an epoch without data nothing is.
#[test]
fn a_receiver_reports_once_an_epoch() {
    let mut receiver = Receiver::new(Span::from_secs(1));
    let (mut random, mut out) = (stream(), ReceiverEffects::default());
    let data = |sequence, allocation| {
        let header = Header { fields: [9, allocation, 500, sequence], ..Header::default() };
        Arrived { bytes: Bytes(1000), ecn: Ecn::NotEct, header }
    };
    for (ms, data) in
        [(0, Some(data(0, 40))), (300, Some(data(2, 60))), (400, Some(data(1, 50))), (1000, None)]
    {
        let mut context = Context { now: at(ms), random: &mut random, out: &mut out };
        match data {
            Some(data) => receiver.on_data(&data, &mut context),
            None => receiver.on_timer(Timer(1), &mut context),
        }
    }
    let bytes = |number: u16, words: [u32; 4]| {
        let words = words.into_iter().flat_map(u32::to_be_bytes);
        [0x16, 0].into_iter().chain(number.to_be_bytes()).chain(words).collect::<Vec<u8>>()
    };
    let reports: Vec<_> = out.reports.iter().map(ReportBytes::as_slice).collect();
    let expected = [bytes(0, [9, 40, 0, 0]), bytes(1, [9, 60, 3000, 2])];
    assert_eq!(reports, expected, "number, flow, allocation, rate, sequence");
    assert_eq!(out.timers, [(Timer(1), at(1000)), (Timer(1), at(2000))]);
    out = ReceiverEffects::default();
    receiver.on_timer(Timer(1), &mut Context { now: at(2000), random: &mut random, out: &mut out });
    assert!(out.reports.is_empty() && out.timers.is_empty());
    receiver.on_data(&data(3, 70), &mut Context { now: at(5000), random: &mut random, out: &mut out });
    assert_eq!(out.reports.len(), 1);
    assert_eq!(out.reports[0].as_slice(), bytes(2, [9, 70, 0, 3]));
}

/// Messages that reach an agent or a controller: bytes of any kind, or messages with any words in them.
fn messages() -> impl Strategy<Value = Vec<u8>> {
    let encoded = |message: Message| {
        let mut bytes = vec![0; message.wire_len()];
        message.encode(&mut bytes).unwrap();
        bytes
    };
    let words = any::<(u32, u16, u16, u32)>();
    let allocation = (words, prop::collection::vec(any::<(u32, u32)>(), 0..5)).prop_map(
        move |((node, round, version, valid_ms), links)| {
            let head = AllocationHead { controller: 2, node: node % 3, round, version, valid_ms };
            let links: Vec<Share> =
                links.iter().map(|&(next_hop, share)| Share { next_hop, share }).collect();
            encoded(Message::Allocation(Allocation::parts(head, &links).remove(0)))
        },
    );
    let hello = words.prop_map(move |(node, sequence, _, freshness)| {
        let alive = airfair_wire::c3l::Alive { controller: node % 4, freshness, hops: sequence as u8 };
        encoded(Message::Hello(Hello::new(sequence % 2 == 0, sequence, node % 4, core::iter::once(alive))))
    });
    let word = words.prop_map(move |(controller, _, _, freshness)| {
        encoded(Message::Word(Word { controller: controller % 4, freshness }))
    });
    let report = (words, prop::collection::vec(any::<(u32, u8, u8)>(), 0..300)).prop_map(
        move |((node, round, version, part), list)| {
            let neighbour = |&(node, hellos, probes): &(u32, u8, u8)| airfair_wire::c3l::Neighbour {
                node: node % 5,
                hellos,
                probes,
            };
            let list: Vec<_> = list.iter().map(neighbour).collect();
            let links = [airfair_wire::c3l::LinkReport {
                next_hop: version.into(),
                capacity: part,
                used: node,
                transmissions: round,
                overloaded: round % 2 == 0,
                lost: 0,
            }];
            let flow = FlowReport { flow: part % 3, next_hop: node % 4, rate: part, demand: node };
            let head = ReportHead { node: node % 4, number: round, version };
            let parts = Report::parts(head, &links, &[flow], Some(&list));
            let which = part as usize % parts.len();
            encoded(Message::Report(parts[which].clone()))
        },
    );
    prop_oneof![allocation, hello, word, report, prop::collection::vec(any::<u8>(), 0..100)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn anything_may_arrive(messages in prop::collection::vec((0u32..4, messages(), 0u64..3_000), 1..60)) {
        let scheme = (find("c3l").unwrap().build)(&Params::default()).unwrap();
        let mut agent = scheme.agent(&Interface::radio(50)).unwrap();
        let mut controller = scheme.controller().unwrap();
        let (mut random, mut out, mut answers) = (stream(), AgentEffects::default(), ControllerEffects::default());
        let exchange = LoneExchange { rate: Rate::from_mbps(2), ..LoneExchange::default() };
        let setup = AgentSetup { node: NodeId(0), rate: exchange.rate, exchange, neighbours: &[], sense_margin: None };
        agent.on_start(&setup, &mut Context { now: Time::ZERO, random: &mut random, out: &mut out });
        let setup = ControllerSetup { node: NodeId(2), neighbours: &[NodeId(1)] };
        controller.on_start(&setup, &mut Context { now: Time::ZERO, random: &mut random, out: &mut answers });
        let mut now = 0;
        for (from, bytes, later) in messages {
            now += later;
            let mut context = Context { now: at(now), random: &mut random, out: &mut out };
            agent.on_message(NodeId(from), &bytes, true, &mut context);
            agent.on_timer(Timer(now as u16 % 5), &mut context);
            let mut context = Context { now: at(now), random: &mut random, out: &mut answers };
            controller.on_message(NodeId(from), &bytes, &mut context);
            controller.on_timer(Timer(1 + now as u16 % 2), &mut context);
        }
        for answer in answers.messages {
            prop_assert!(Message::decode(&answer.bytes).is_ok());
        }
    }
}

#[test]
fn garbage_is_counted() {
    let scheme = (find("c3l").unwrap().build)(&Params::default()).unwrap();
    let mut agent = scheme.agent(&Interface::radio(50)).unwrap();
    let mut controller = scheme.controller().unwrap();
    let (mut random, mut out, mut answers) =
        (stream(), AgentEffects::default(), ControllerEffects::default());
    let mut hello = vec![0; 8];
    Hello::new(false, 1, 7, core::iter::empty()).encode(&mut hello).unwrap();
    let mut word = vec![0; Word::wire_len()];
    Word { controller: 7, freshness: 1 }.encode(&mut word).unwrap();
    // No message; a HELLO and a word of another node than their sender; nothing.
    for bytes in [&[0xff; 8][..], &hello, &word, &[]] {
        agent.on_message(
            NodeId(3),
            bytes,
            true,
            &mut Context { now: at(0), random: &mut random, out: &mut out },
        );
        let mut context = Context { now: at(0), random: &mut random, out: &mut answers };
        controller.on_message(NodeId(3), bytes, &mut context);
    }
    let ignored = |gauges: Vec<(&str, f64)>| gauges.iter().find(|gauge| gauge.0 == "ignored").unwrap().1;
    assert_eq!(ignored(agent.gauges()), 4.0);
    assert_eq!(ignored(controller.gauges()), 2.0, "HELLOs and words are for agents");
}

/// A packet of 1048 B takes 4.192 ms at 2 Mbit/s and as long before that: a lone link delivers 1 Mbit/s. Without a controller a flow with
/// a hop more than this one has half of a tenth of C_max.
#[test]
fn c_max_is_a_goodput_or_a_rate() {
    for (word, kbps) in [("goodput", 50), ("rate", 100)] {
        let set = Params([("c_max".into(), ParamValue::Choice(word))].into_iter().collect());
        let mut agent = (find("c3l").unwrap().build)(&set).unwrap().agent(&Interface::radio(50)).unwrap();
        let (mut random, mut out) = (stream(), AgentEffects::default());
        let fixed = Span::from_micros(4192);
        let exchange = LoneExchange { fixed, rate: Rate::from_mbps(2), ..LoneExchange::default() };
        let setup = AgentSetup {
            node: NodeId(0),
            rate: exchange.rate,
            exchange,
            neighbours: &[],
            sense_margin: None,
        };
        let flow = FlowSample {
            flow: FlowId(9),
            from: NodeId(0),
            to: NodeId(5),
            neighbour: NodeId(1),
            packets: 1,
            bytes: 1048,
            stated: None,
        };
        let (interval, flows) = (Span::from_millis(100), &[flow]);
        let mut context = Context { now: at(0), random: &mut random, out: &mut out };
        agent.on_start(&setup, &mut context);
        agent.on_sample(&NodeSample { interval, flows, ..NodeSample::default() }, &mut context);
        let told = Setting::FlowRate { flow: FlowId(9), rate: Rate::from_kbps(kbps) };
        assert!(out.settings.contains(&told), "{word}: {:?}", out.settings);
    }
}

/// C_max follows the rate that a law chooses for the link, and no other: at 1 Mbit/s a packet of 1048 B takes 8.384 ms, and with the
/// 4.192 ms before that a lone link delivers 2/3 Mbit/s; half of a tenth of that.
#[test]
fn c_max_follows_the_rate_of_its_link() {
    for (word, before, after) in [("goodput", 50_000, 33_333), ("rate", 100_000, 50_000)] {
        let set = Params([("c_max".into(), ParamValue::Choice(word))].into_iter().collect());
        let mut agent = (find("c3l").unwrap().build)(&set).unwrap().agent(&Interface::radio(50)).unwrap();
        let (mut random, mut out) = (stream(), AgentEffects::default());
        let fixed = Span::from_micros(4192);
        let exchange = LoneExchange { fixed, rate: Rate::from_mbps(2), ..LoneExchange::default() };
        let slower = LoneExchange { rate: Rate::from_mbps(1), ..exchange };
        let setup = AgentSetup {
            node: NodeId(0),
            rate: exchange.rate,
            exchange,
            neighbours: &[],
            sense_margin: None,
        };
        let flow = |flow, neighbour| {
            let (from, to) = (NodeId(0), NodeId(5));
            FlowSample { flow, from, to, neighbour, packets: 1, bytes: 1048, stated: None }
        };
        let flows = &[flow(FlowId(9), NodeId(1))];
        let (interval, now) = (Span::from_millis(100), at(0));
        let mut rates = |hook: &dyn Fn(&mut dyn Agent, &mut AgentContext<'_>)| {
            hook(agent.as_mut(), &mut Context { now, random: &mut random, out: &mut out });
            let rate = |setting| match setting {
                Setting::FlowRate { rate, .. } => rate.0,
                other => panic!("{other:?}"),
            };
            out.settings.drain(..).map(rate).collect::<Vec<u64>>()
        };
        rates(&|agent, context| agent.on_start(&setup, context));
        let sample = NodeSample { interval, flows, ..NodeSample::default() };
        assert_eq!(rates(&|agent, context| agent.on_sample(&sample, context)), [before], "{word}");
        let other = rates(&|agent, context| agent.on_link_rate(NodeId(2), slower, context));
        assert_eq!(other, [], "{word}: another link");
        let own = rates(&|agent, context| agent.on_link_rate(NodeId(1), slower, context));
        assert_eq!(own, [after], "{word}: at once");
        let back = rates(&|agent, context| agent.on_link_rate(NodeId(1), exchange, context));
        assert_eq!(back, [before], "{word}");
        // Of as many other links as there may be, and more, none takes the place of one with flows.
        rates(&|agent, context| agent.on_link_rate(NodeId(1), slower, context));
        let many = rates(&|agent, context| {
            (100..1_000).for_each(|to| agent.on_link_rate(NodeId(to), exchange, context));
        });
        assert_eq!(many, [], "{word}");
        let stays = rates(&|agent, context| agent.on_neighbours(&[NodeId(1), NodeId(5)], context));
        assert_eq!(stays, [], "{word}");
        let gone = rates(&|agent, context| agent.on_neighbours(&[NodeId(5)], context));
        assert_eq!(gone, [before], "{word}: the nominal rate");
    }
}

/// A controller that has started anew, or has forgotten a node, has no list of it: it asks for the list, also of a node that has no links.
#[test]
fn a_controller_asks_for_lists_that_it_does_not_have() {
    let scheme = (find("c3l").unwrap().build)(&Params::default()).unwrap();
    let mut controller = scheme.controller().unwrap();
    let (mut random, mut out) = (stream(), ControllerEffects::default());
    let mut report = vec![0; 16];
    let head = ReportHead { node: 3, number: 1, version: 7 };
    Report::parts(head, &[], &[], None)[0].encode(&mut report).unwrap();
    controller.on_message(
        NodeId(3),
        &report,
        &mut Context { now: at(0), random: &mut random, out: &mut out },
    );
    let mut asked = Vec::new();
    for ms in [1000, 9000] {
        controller.on_timer(Timer(1), &mut Context { now: at(ms), random: &mut random, out: &mut out });
        asked.extend(out.messages.drain(..).map(|message| match Message::decode(&message.bytes) {
            Ok((Message::Allocation(allocation), _)) => (ms, message.to, allocation.head().version),
            other => panic!("{other:?}"),
        }));
    }
    assert_eq!(asked, [(1000, NodeId(3), 0)], "once for a report");
}

/// A node of which nothing was heard for so long that its list is gone is asked for it when it returns, though it says the same version.
#[test]
fn a_controller_asks_for_lists_that_it_has_forgotten() {
    let scheme = (find("c3l").unwrap().build)(&Params::default()).unwrap();
    let mut controller = scheme.controller().unwrap();
    let (mut random, mut out) = (stream(), ControllerEffects::default());
    let list = [airfair_wire::c3l::Neighbour { node: 4, hellos: 255, probes: 255 }];
    let mut versions = Vec::new();
    for second in (0..96).step_by(8) {
        let listed = (second == 0).then_some(&list[..]);
        if second < 16 || second == 80 {
            let head = ReportHead { node: 3, number: 1 + second as u16, version: 7 };
            let report = Report::parts(head, &[], &[], listed).remove(0);
            let mut bytes = vec![0; report.wire_len()];
            report.encode(&mut bytes).unwrap();
            let mut context = Context { now: at(1000 * second), random: &mut random, out: &mut out };
            controller.on_message(NodeId(3), &bytes, &mut context);
        }
        let mut context = Context { now: at(1000 * second + 1), random: &mut random, out: &mut out };
        controller.on_timer(Timer(1), &mut context);
        for message in out.messages.drain(..) {
            if let Ok((Message::Allocation(allocation), _)) = Message::decode(&message.bytes) {
                versions.push((second, allocation.head().version));
            }
        }
    }
    assert_eq!(versions, [(0, 7), (80, 0)]);
}

/// A report that a later one has overtaken changes nothing, and does not stop the parts of the later one; a node that has started anew is
/// heard.
#[test]
fn reports_out_of_order() {
    const NONE: u32 = u32::MAX;
    // Reports of node 3: the time in s, the round, the part, and the next hop of its flow. Those of even rounds have two parts.
    let next_hop = |arrivals: &[(u64, u16, usize, u32)]| {
        let scheme = (find("c3l").unwrap().build)(&Params::default()).unwrap();
        let mut controller = scheme.controller().unwrap();
        let (mut random, mut out) = (stream(), ControllerEffects::default());
        let mut last = 0;
        for &(second, round, part, next_hop) in arrivals {
            let flow = |flow| FlowReport { flow, next_hop, rate: 1, demand: u32::MAX };
            let flows: Vec<FlowReport> = (0..if round % 2 == 0 { 100 } else { 1 }).map(flow).collect();
            let parts = Report::parts(ReportHead { node: 3, number: round, version: 0 }, &[], &flows, None);
            let mut bytes = vec![0; parts[part].wire_len()];
            parts[part].encode(&mut bytes).unwrap();
            let mut context = Context { now: at(1000 * second), random: &mut random, out: &mut out };
            controller.on_message(NodeId(3), &bytes, &mut context);
            last = second;
        }
        let mut context = Context { now: at(1000 * last + 1), random: &mut random, out: &mut out };
        controller.on_timer(Timer(1), &mut context);
        out.messages.iter().fold(NONE, |_, message| match Message::decode(&message.bytes) {
            Ok((Message::Allocation(allocation), _)) => {
                allocation.links().first().map_or(NONE, |share| share.next_hop)
            }
            other => panic!("{other:?}"),
        })
    };
    assert_eq!(next_hop(&[(1, 1, 0, 4)]), 4);
    assert_eq!(next_hop(&[(1, 3, 0, 4), (2, 1, 0, 5)]), 4, "overtaken");
    assert_eq!(next_hop(&[(1, 3, 0, 4), (2, 5, 0, 5)]), 5);
    assert_eq!(next_hop(&[(1, 1, 0, 4), (2, u16::MAX, 0, 5)]), 4, "overtaken, where numbers go round");
    assert_eq!(next_hop(&[(1, u16::MAX, 0, 4), (2, 1, 0, 5)]), 5);
    assert_eq!(next_hop(&[(1, 501, 0, 4), (2, 1, 0, 5)]), 5, "started anew");
    assert_eq!(next_hop(&[(1, 9, 0, 4), (2, 1, 0, 5)]), 5);
    assert_eq!(next_hop(&[(1, 8, 0, 4), (2, 8, 1, 4), (2, 1, 0, 5)]), 4);
    assert_eq!(next_hop(&[(1, 3, 0, 4), (40, 1, 0, 5)]), 4);
    assert_eq!(next_hop(&[(1, 3, 0, 4), (41, 1, 0, 5)]), 5, "the last one has expired");
    assert_eq!(next_hop(&[(1, 2, 0, 4)]), NONE, "half a report");
    assert_eq!(next_hop(&[(1, 2, 0, 4), (2, 2, 1, 4)]), 4);
    assert_eq!(
        next_hop(&[(1, 2, 1, 4), (2, 1, 0, 5), (3, 2, 0, 4)]),
        4,
        "an overtaken one between two parts"
    );
}

/// Arrivals at an agent's interface in a sample: packets of 1000 B of flows, with their next hops.
type Arrivals<'a> = &'a [(u32, u32, u32)];

/// An agent of node 0, with a sample and a division of shares every `step` ms; node 7 is a controller that has given its links to nodes 1
/// and 2 400 kbit/s each. The rate that the hop has of flow 9 after each sample and each division, kbit/s.
fn rates_of(name: &str, set: &Params, step: u64, samples: &[Arrivals<'_>]) -> Vec<u64> {
    let scheme = (find(name).unwrap().build)(set).unwrap();
    let mut agent = scheme.agent(&Interface::radio(50)).unwrap();
    let (mut random, mut out) = (stream(), AgentEffects::default());
    let exchange = LoneExchange { rate: Rate::from_mbps(2), ..LoneExchange::default() };
    let setup =
        AgentSetup { node: NodeId(0), rate: exchange.rate, exchange, neighbours: &[], sense_margin: None };
    let mut last = 0;
    let mut call = |now, hook: &mut dyn FnMut(&mut dyn Agent, &mut AgentContext<'_>)| {
        out.settings.clear();
        hook(&mut *agent, &mut Context { now: at(now), random: &mut random, out: &mut out });
        for &setting in &out.settings {
            if let Setting::FlowRate { flow: FlowId(9), rate } = setting {
                last = rate.0 / 1000;
            }
        }
        last
    };
    let encoded = |message: Message| {
        let mut bytes = vec![0; message.wire_len()];
        message.encode(&mut bytes).unwrap();
        bytes
    };
    call(0, &mut |agent, context| agent.on_start(&setup, context));
    let alive = airfair_wire::c3l::Alive { controller: 7, freshness: 1, hops: 0 };
    let hello = encoded(Message::Hello(Hello::new(false, 1, 7, core::iter::once(alive))));
    let shares = [1, 2].map(|next_hop| Share { next_hop, share: 50_000 });
    let head = AllocationHead { controller: 7, node: 0, round: 1, version: 0, valid_ms: 3_600_000 };
    let allocation = encoded(Message::Allocation(Allocation::parts(head, &shares).remove(0)));
    // Timers: C3L's report and division; the division of `c3l-local`.
    let divide = if name == "c3l" { Timer(4) } else { Timer(1) };
    if name == "c3l" {
        call(1, &mut |agent, context| agent.on_message(NodeId(7), &hello, true, context));
        call(2, &mut |agent, context| agent.on_timer(Timer(3), context));
        call(3, &mut |agent, context| agent.on_message(NodeId(7), &allocation, true, context));
    }
    let (mut now, mut rates) = (0, Vec::new());
    for arrivals in samples {
        now += step;
        let flow = |&(flow, neighbour, packets): &(u32, u32, u32)| FlowSample {
            flow: FlowId(flow),
            from: NodeId(0),
            to: NodeId(5),
            neighbour: NodeId(neighbour),
            packets,
            bytes: 1000 * u64::from(packets),
            stated: None,
        };
        let flows: Vec<FlowSample> = arrivals.iter().map(flow).collect();
        let sample = NodeSample { interval: Span::from_millis(step), flows: &flows, ..NodeSample::default() };
        rates.push(call(now, &mut |agent, context| agent.on_sample(&sample, context)));
        rates.push(call(now, &mut |agent, context| agent.on_timer(divide, context)));
    }
    rates
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever arrives when, with statements or without: flows that a link has seen lately never have more than its share together.
    #[test]
    fn flows_never_have_more_than_their_link(
        events in prop::collection::vec(
            (0u64..4_000, prop::collection::vec((0u32..4, 1u32..3, 1u32..20, prop::option::of(0u64..200_000)), 0..5),
             prop::option::weighted(0.1, 0u32..60_000), any::<bool>()),
            1..60,
        ),
    ) {
        let scheme = (find("c3l").unwrap().build)(&Params::default()).unwrap();
        let mut agent = scheme.agent(&Interface::radio(50)).unwrap();
        let (mut random, mut out) = (stream(), AgentEffects::default());
        let exchange = LoneExchange { rate: Rate::from_mbps(2), ..LoneExchange::default() };
        let setup = AgentSetup { node: NodeId(0), rate: exchange.rate, exchange, neighbours: &[], sense_margin: None };
        let encoded = |message: Message| {
            let mut bytes = vec![0; message.wire_len()];
            message.encode(&mut bytes).unwrap();
            bytes
        };
        // By flow: its link, when it was seen there, its rate.
        let mut flows: BTreeMap<FlowId, (u32, u64, u64)> = BTreeMap::new();
        let mut shares: BTreeMap<u32, u64> = BTreeMap::new();
        let (mut now, mut round) = (0, 0u16);
        agent.on_start(&setup, &mut Context { now: at(0), random: &mut random, out: &mut out });
        for (later, mut arrivals, share, divide) in events {
            now += later;
            out.settings.clear();
            let mut context = Context { now: at(now), random: &mut random, out: &mut out };
            let alive = airfair_wire::c3l::Alive { controller: 7, freshness: now as u32, hops: 0 };
            let hello = encoded(Message::Hello(Hello::new(false, 1, 7, core::iter::once(alive))));
            agent.on_message(NodeId(7), &hello, true, &mut context);
            arrivals.sort_unstable();
            arrivals.dedup_by_key(|&mut (flow, neighbour, ..)| (flow, neighbour));
            let sample: Vec<FlowSample> = arrivals
                .iter()
                .map(|&(flow, neighbour, packets, stated)| {
                    let known = flows.entry(FlowId(flow)).or_insert((neighbour, now, 0));
                    (known.0, known.1) = (neighbour, now);
                    FlowSample {
                        flow: FlowId(flow), from: NodeId(0), to: NodeId(5), neighbour: NodeId(neighbour), packets,
                        bytes: 1000 * u64::from(packets), stated: stated.map(Rate),
                    }
                })
                .collect();
            let sample = NodeSample { flows: &sample, ..NodeSample::default() };
            agent.on_sample(&sample, &mut context);
            if let Some(share) = share {
                agent.on_timer(Timer(3), &mut context);
                round += 1;
                let links = [1, 2].map(|next_hop| Share { next_hop, share });
                let head = AllocationHead { controller: 7, node: 0, round, version: 0, valid_ms: 3_600_000 };
                let allocation = encoded(Message::Allocation(Allocation::parts(head, &links).remove(0)));
                agent.on_message(NodeId(7), &allocation, true, &mut context);
                shares.extend([1, 2].map(|next_hop| (next_hop, 8 * u64::from(share))));
            }
            if divide {
                agent.on_timer(Timer(4), &mut context);
            }
            for setting in &out.settings {
                if let Setting::FlowRate { flow, rate } = setting && let Some(known) = flows.get_mut(flow) {
                    known.2 = rate.0;
                }
            }
            flows.retain(|_, &mut (_, seen, _)| now - seen < 8_000);
            for (&to, &share) in &shares {
                let sum: u64 = flows.values().filter(|flow| flow.0 == to).map(|flow| flow.2).sum();
                prop_assert!(sum <= share, "{now} ms, to {to}: {sum} of {share}, {flows:?}");
            }
        }
    }
}

/// A flow that has got another next hop has the share of the link that it takes now, whichever of the two has the smaller number.
#[test]
fn a_flow_whose_next_hop_changes() {
    for (scheme, rate) in [("c3l", 400), ("c3l-local", 2000)] {
        for [before, after] in [[1, 2], [2, 1]] {
            let (before, after) = ([(9, before, 100)], [(9, after, 100)]);
            let mut samples: Vec<Arrivals<'_>> = vec![&before, &[(9, 1, 50), (9, 2, 50)]];
            samples.extend([&after[..]; 100]);
            let rates = rates_of(scheme, &Params::default(), 100, &samples);
            assert_eq!(rates, vec![rate; rates.len()], "{scheme}, from {before:?} to {after:?}");
        }
    }
}

/// A link stores so many flows, and no more of them share it: the sum of their rates never exceeds its share, whichever come and go.
#[test]
fn flows_beyond_the_limit_have_no_part_of_the_link() {
    let set = Params([("flows".into(), ParamValue::Integer(2))].into_iter().collect());
    // Flow 8 has ten packets in a sample, 9 one; when 8 has ended, 7 takes its place.
    let both: Arrivals<'_> = &[(8, 1, 10), (9, 1, 1)];
    let samples: [Arrivals<'_>; 5] = [&[(9, 1, 1)], both, both, &[(9, 1, 1)], &[(7, 1, 10), (9, 1, 1)]];
    let rates = rates_of("c3l", &set, 100, &samples);
    assert_eq!(rates[2..], [200; 8]);
}

/// A link is overloaded by a fifth of its even part of the queue: of 50 packets 10 for one link, 5 for each of two that have packets.
#[test]
fn links_share_the_queue() {
    let overloaded = |waiting: &[u32], loud: usize| -> Vec<bool> {
        let scheme = (find("c3l").unwrap().build)(&Params::default()).unwrap();
        let mut agent = scheme.agent(&Interface::radio(50)).unwrap();
        let (mut random, mut out) = (stream(), AgentEffects::default());
        let exchange = LoneExchange { rate: Rate::from_mbps(2), ..LoneExchange::default() };
        let setup = AgentSetup {
            node: NodeId(0),
            rate: exchange.rate,
            exchange,
            neighbours: &[],
            sense_margin: None,
        };
        agent.on_start(&setup, &mut Context { now: at(0), random: &mut random, out: &mut out });
        let mut hello = vec![0; 17];
        let alive = airfair_wire::c3l::Alive { controller: 7, freshness: 1, hops: 0 };
        Hello::new(false, 1, 7, core::iter::once(alive)).encode(&mut hello).unwrap();
        agent.on_message(
            NodeId(7),
            &hello,
            true,
            &mut Context { now: at(1), random: &mut random, out: &mut out },
        );
        let links: Vec<LinkSample> = (1u32..)
            .zip(waiting)
            .map(|(to, &waiting)| LinkSample { waiting, ..LinkSample::new(NodeId(to)) })
            .collect();
        let flow = |link: &LinkSample| FlowSample {
            flow: FlowId(link.neighbour.0),
            from: NodeId(0),
            to: NodeId(9),
            neighbour: link.neighbour,
            packets: 1,
            bytes: 1000,
            stated: None,
        };
        let flows: Vec<FlowSample> = links.iter().map(flow).collect();
        for (ms, loud) in [(500, flows.len()), (1000, loud), (3000, loud), (5000, loud), (7000, loud)] {
            let sample = NodeSample { links: &links, flows: &flows[..loud], ..NodeSample::default() };
            agent.on_sample(&sample, &mut Context { now: at(ms), random: &mut random, out: &mut out });
            if ms == 500 {
                // The cycle ends.
                agent.on_timer(Timer(3), &mut Context { now: at(600), random: &mut random, out: &mut out });
            }
        }
        out.messages.clear();
        agent.on_timer(Timer(3), &mut Context { now: at(7500), random: &mut random, out: &mut out });
        match Message::decode(&out.messages[0].bytes) {
            Ok((Message::Report(report), _)) => report.links().iter().map(|link| link.overloaded).collect(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!([9, 10, 11].map(|waiting| overloaded(&[waiting], 1)), [[false], [false], [true]]);
    assert_eq!(overloaded(&[5, 6], 2), [false, true]);
    assert_eq!(overloaded(&[6, 6, 0, 2], 4), [true, true, false, false], "12 packets each");
    assert_eq!(overloaded(&[6, 0], 1), [false], "the other one had packets in an earlier cycle");
}

/// The flows that an agent has announced for its links are stored for all links, up to the limit.
#[test]
fn a_hop_stores_the_flows_of_all_links() {
    let params =
        [("flows", 2), ("node_links", 3)].map(|(name, value)| (name.into(), ParamValue::Integer(value)));
    let scheme = (find("c3l").unwrap().build)(&Params(params.into_iter().collect())).unwrap();
    let mut hop = scheme.hop(&Interface::radio(50)).unwrap();
    for flow in 0..6 {
        hop.apply(Setting::FlowRate { flow: FlowId(flow), rate: Rate(8000 + 8 * u64::from(flow)) }, at(0));
    }
    for flow in 0..6 {
        let mut header = fresh();
        hop.on_arrival(&passage(flow, PacketClass::Data), Some(&mut header), at(1));
        assert_eq!(allocation(&header), Some(1000 + flow));
    }
}

/// Of many flows that come and go a hop forgets those without a packet for the expiry, and no other.
#[test]
fn a_hop_forgets_flows_that_have_ended() {
    let mut hop = Stamper::new(100_000, Rate(8), Span::from_secs(10));
    let set = |hop: &mut Stamper, flow, ms| {
        hop.apply(Setting::FlowRate { flow: FlowId(flow), rate: Rate(8000) }, at(ms));
    };
    (0..64).for_each(|flow| set(&mut hop, flow, 0));
    let stamped = |hop: &mut Stamper, flow, ms| {
        let mut header = fresh();
        hop.on_arrival(&passage(flow, PacketClass::Data), Some(&mut header), at(ms));
        allocation(&header).unwrap()
    };
    assert_eq!(stamped(&mut hop, 5, 1), 1000);
    set(&mut hop, 64, 10_000);
    let mut left = || (0..=64).filter(|&flow| stamped(&mut hop, flow, 10_001) == 1000).collect::<Vec<_>>();
    assert_eq!(left(), [5, 64]);
    // Two are not many.
    set(&mut hop, 65, 30_000);
    assert_eq!([5, 64].map(|flow| stamped(&mut hop, flow, 30_001)), [1000; 2]);
}

/// A flow of a packet in two seconds, 4 kbit/s, has its part of the link's share until it is known to be slow, and then 4 kbit/s and delta;
/// never that of a flow without a share.
#[test]
fn a_slow_flow_in_a_long_cycle() {
    let (cycle, delta) = (ParamValue::Span(Span::from_secs(30)), ParamValue::Number(0.05));
    let set = Params([("cycle".into(), cycle), ("delta".into(), delta)].into_iter().collect());
    let rates = rates_of("c3l", &set, 2000, &[&[(9, 1, 1)][..]; 20]);
    assert_eq!(rates[0], 400);
    assert!(rates[1..10].iter().all(|rate| [400, 26, 24].contains(rate)), "{rates:?}");
    assert_eq!(rates[10..], vec![24; rates.len() - 10]);
}

/// The requirement of a flow at a node that estimates its own bandwidth: the source's statement, or the arrivals. A tenth of the node's
/// even rate is delta.
#[test]
fn statements_and_arrivals_without_a_controller() {
    for (sending, kbps) in [("stated", 40 + 200), ("arrivals", 2000)] {
        let set = Params([("sending".into(), ParamValue::Choice(sending))].into_iter().collect());
        let mut agent =
            (find("c3l-local").unwrap().build)(&set).unwrap().agent(&Interface::radio(50)).unwrap();
        let (mut random, mut out) = (stream(), AgentEffects::default());
        let exchange = LoneExchange { rate: Rate::from_mbps(2), ..LoneExchange::default() };
        let setup = AgentSetup {
            node: NodeId(0),
            rate: exchange.rate,
            exchange,
            neighbours: &[],
            sense_margin: None,
        };
        agent.on_start(&setup, &mut Context { now: at(0), random: &mut random, out: &mut out });
        for ms in [1000, 2000, 3000] {
            let flow = FlowSample {
                flow: FlowId(9),
                from: NodeId(0),
                to: NodeId(5),
                neighbour: NodeId(5),
                packets: 250,
                bytes: 250_000,
                stated: Some(Rate(40_000)),
            };
            let sample = NodeSample { flows: &[flow], ..NodeSample::default() };
            agent.on_sample(&sample, &mut Context { now: at(ms), random: &mut random, out: &mut out });
            agent.on_timer(Timer(1), &mut Context { now: at(ms), random: &mut random, out: &mut out });
        }
        let rate = Rate::from_kbps(kbps);
        assert_eq!(out.settings.pop(), Some(Setting::FlowRate { flow: FlowId(9), rate }), "{sending}");
    }
}

/// A flow that appears divides a node's time anew, and says nothing of what others require: none of them may have had a packet lately.
#[test]
fn a_new_flow_is_no_measurement_of_others() {
    let samples: [Arrivals<'_>; 4] = [&[(9, 1, 25)], &[(9, 1, 25)], &[(8, 1, 25)], &[(8, 1, 25), (9, 1, 25)]];
    let set = Params([("delta".into(), ParamValue::Number(0.05))].into_iter().collect());
    let rates = rates_of("c3l-local", &set, 100, &samples);
    assert_eq!(rates[..5], [2000, 2000, 2000, 2000, 1000]);
    // In the next 100 ms the new flow uses its part, and the other has had no packet.
    assert_eq!(rates[5..], [50, 50, 1000]);
}

/// With NewReno's window beside the rate: without a stamp only the window holds the source (4 segments), with one both do. A time-out takes
/// the window to one segment, of which `least_window` makes three while there is an allocation, and the timer does not double; when the
/// allocation has expired both are TCP's again.
#[test]
fn a_window_beside_the_rate() {
    let (config, setup) = flow(Span::from_secs(5));
    let config = SourceConfig {
        backstop: Backstop::NewReno,
        least_window: 3,
        doubles: false,
        unstamped: true,
        ..config
    };
    let mut source = C3lSource::over_tcp(config);
    let (mut random, mut out) = (stream(), SourceEffects::default());
    let echo = |allocation| Header { supported: 1, unsupported: 0, fields: [1, allocation, 0, 0] };
    source.on_start(&setup, &mut Context { now: at(0), random: &mut random, out: &mut out });
    let limits = |source: &C3lSource, ms| {
        let Allowance { window, rate, .. } = source.allowance(at(ms));
        (window.unwrap().0, rate.map(|rate| rate.0))
    };
    assert_eq!(limits(&source, 0), (4000, None));
    let context = &mut Context { now: at(1000), random: &mut random, out: &mut out };
    source.on_feedback(&echo(131_000), context);
    assert_eq!((limits(&source, 1000), source.doubles_timer()), ((4000, Some(1_000_000)), false));
    let congestion = Congestion {
        cause: CongestionCause::Timeout,
        in_flight: Bytes(4000),
        pipe: Bytes(4000),
        repeated: false,
    };
    source.on_congestion(&congestion, context);
    assert_eq!(limits(&source, 1000), (3000, Some(1_000_000)));
    source.on_feedback(&echo(u32::MAX), context);
    assert_eq!((limits(&source, 1000), source.doubles_timer()), ((1000, None), true), "no radio");
    source.on_feedback(&echo(131_000), context);
    source.on_timer(Timer(1), &mut Context { now: at(6000), random: &mut random, out: &mut out });
    assert_eq!((limits(&source, 6000), source.doubles_timer()), ((1000, None), true), "expired");
}

/// Over UDP a path without radio is held by the largest rate alone; without `unstamped` the source stays at its first one.
#[test]
fn a_path_without_radio() {
    let (config, setup) = flow(Span::from_secs(5));
    for (unstamped, rate) in [(false, 100_000), (true, 2_000_000)] {
        let mut source = C3lSource::new(SourceConfig { unstamped, ..config });
        let (mut random, mut out) = (stream(), SourceEffects::default());
        let context = &mut Context { now: at(0), random: &mut random, out: &mut out };
        source.on_start(&setup, context);
        assert_eq!(source.allowance(at(0)).rate.unwrap().0, 100_000);
        source.on_report(&feedback(1, u32::MAX), context);
        assert_eq!(source.allowance(at(0)).rate.unwrap().0, rate);
    }
}
