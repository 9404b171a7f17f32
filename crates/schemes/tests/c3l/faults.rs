//! Reports that are lost, late or wrong (`c3l-faulty`): an agent with one link and one flow near a controller.

use airfair_schemes::faulty::LATE;
use airfair_schemes::places::{
    Agent, AgentEffects, AgentSetup, Context, Destination, FlowId, FlowSample, Interface, LinkSample,
    LoneExchange, NodeId, NodeSample, Timer,
};
use airfair_schemes::{ParamValue, Params, find};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Rate, Span, Time};
use airfair_wire::c3l::{Alive, Hello, Message, Report};

use super::at;

const REPORT: Timer = Timer(3);
const FLOW: u32 = 7;

/// An agent at node 0 with these parameters, which has heard of a controller at node 1 and sends a flow to it.
struct Node {
    agent: Box<dyn Agent>,
    random: Stream,
}

impl Node {
    fn new(set: &[(&str, ParamValue)]) -> Self {
        let params = Params(set.iter().map(|&(name, value)| (name.to_string(), value)).collect());
        let scheme = (find("c3l-faulty").unwrap().build)(&params).unwrap();
        let mut node = Self {
            agent: scheme.agent(&Interface::radio(50)).unwrap(),
            random: Stream::new(1, "n", Purpose::Agent),
        };
        let exchange = LoneExchange { rate: Rate::from_mbps(2), ..LoneExchange::default() };
        let mut out = AgentEffects::default();
        let setup = AgentSetup {
            node: NodeId(0),
            rate: exchange.rate,
            exchange,
            neighbours: &[],
            sense_margin: None,
        };
        node.agent.on_start(&setup, &mut Context { now: at(0), random: &mut node.random, out: &mut out });
        node.hear(0);
        let links =
            [LinkSample { sent: 10, arrived: 10, attempts: 10, bytes: 10_480, ..LinkSample::new(NodeId(1)) }];
        let flows = [FlowSample {
            flow: FlowId(FLOW),
            from: NodeId(0),
            to: NodeId(1),
            neighbour: NodeId(1),
            packets: 10,
            bytes: 10_480,
            stated: None,
        }];
        let sample = NodeSample {
            interval: Span::from_millis(100),
            links: &links,
            flows: &flows,
            ..NodeSample::default()
        };
        node.agent.on_sample(&sample, &mut Context { now: at(1), random: &mut node.random, out: &mut out });
        node
    }

    fn hear(&mut self, ms: u64) {
        let alive = Alive { controller: 1, freshness: ms as u32, hops: 0 };
        let hello = Message::Hello(Hello::new(false, 1, 1, core::iter::once(alive)));
        let mut bytes = vec![0; hello.wire_len()];
        hello.encode(&mut bytes).unwrap();
        let mut out = AgentEffects::default();
        let mut context = Context { now: at(ms), random: &mut self.random, out: &mut out };
        self.agent.on_message(NodeId(1), &bytes, true, &mut context);
    }

    /// The reports that leave at a timer, and the time of the next late one.
    fn at(&mut self, timer: Timer, ms: u64) -> (Vec<Report>, Option<Time>) {
        let mut out = AgentEffects::default();
        self.agent.on_timer(timer, &mut Context { now: at(ms), random: &mut self.random, out: &mut out });
        let reports = out.messages.iter().map(|message| {
            assert_eq!(message.to, Destination::Node(NodeId(1)));
            match Message::decode(&message.bytes).unwrap().0 {
                Message::Report(report) => report,
                other => panic!("{other:?}"),
            }
        });
        let late = out.timers.iter().filter(|(timer, _)| *timer == LATE).map(|&(_, due)| due);
        (reports.collect(), late.min())
    }
}

#[test]
fn without_faults_reports_are_those_of_c3l() {
    let mut node = Node::new(&[]);
    let mut before = node.random.clone();
    let (reports, late) = node.at(REPORT, 2);
    assert_eq!((reports.len(), late), (1, None));
    assert_eq!(node.random.uniform(), before.uniform(), "nothing is drawn for faults that there are not");
    assert_eq!(reports[0].flows().iter().map(|flow| flow.flow).collect::<Vec<_>>(), [FLOW]);
    assert!(!reports[0].links()[0].overloaded);
}

#[test]
fn a_liar_invents_flows_and_overload() {
    let (reports, _) =
        Node::new(&[("more_flows", ParamValue::Integer(9)), ("overloaded", ParamValue::Flag(true))])
            .at(REPORT, 2);
    let mut flows: Vec<u32> = reports[0].flows().iter().map(|flow| flow.flow).collect();
    flows.sort_unstable();
    flows.dedup();
    assert_eq!(flows.len(), 10);
    assert!(flows.contains(&FLOW));
    assert!(
        reports[0].flows().iter().all(|flow| flow.next_hop == 1 && flow.rate == reports[0].flows()[0].rate)
    );
    assert!(reports[0].links()[0].overloaded);
}

#[test]
fn so_many_reports_are_lost() {
    let mut node = Node::new(&[("lost", ParamValue::Number(0.25))]);
    let sent: usize = (0..2000u64)
        .map(|k| {
            node.hear(2 + k);
            node.at(REPORT, 2 + k).0.len()
        })
        .sum();
    assert!((1420..=1580).contains(&sent), "{sent} of 2000");
}

/// Each leaves when its time has come, whatever the order: after 5 s in the mean, and after 10 s at most.
#[test]
fn late_reports_leave_at_their_time() {
    let mut node = Node::new(&[("late", ParamValue::Span(Span::from_secs(10)))]);
    let (mut now, mut left, mut next) = (2, 0, None::<Time>);
    let mut waits = Vec::new();
    let mut waited = |reports: &[Report], now: u64| {
        waits.extend(reports.iter().map(|report| now - 2 - 100 * u64::from(report.head().number - 1)));
    };
    for k in 0..100u64 {
        now = 2 + 100 * k;
        node.hear(now);
        let (reports, late) = node.at(REPORT, now);
        left += reports.len();
        waited(&reports, now);
        next = late;
    }
    assert!(left < 80, "{left} of 100");
    while let Some(due) = next {
        let ms = due.0.div_ceil(1_000_000);
        assert!(ms >= now && ms <= now + 10_001, "{ms}");
        let (reports, late) = node.at(LATE, ms);
        left += reports.len();
        waited(&reports, ms);
        next = late;
    }
    assert_eq!(left, 100);
    let mean = waits.iter().sum::<u64>() / 100;
    assert!(waits.iter().all(|&ms| ms <= 10_100) && (4_000..6_000).contains(&mean), "{mean} {waits:?}");
}
