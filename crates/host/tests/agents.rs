//! Agents and controllers at their hosts: effects, messages, samples.

mod toy;

use std::sync::{Arc, Mutex};

use airfair_host::{
    Addressee, AgentSlot, ArrivedPacket, ControllerIx, ControllerSlot, FinishedPacket, HeaderId, HostEvent,
    InterfaceCounters, LinkCounters, MessageId, MessageSender, Received, agents, controllers,
};
use airfair_schemes::places::{
    Agent, AgentContext, AgentSetup, Airtime, Controller, ControllerContext, ControllerMessage,
    ControllerSetup, Destination, Direction, FlowId, FlowSample, LinkSample, LoneExchange, Message, NodeId,
    NodeSample, PacketClass, Probability, Setting, Timer,
};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Rate, Span, Time};

use toy::{Node, Toy, id};

/// All that an agent or a controller was told, in words.
type Log = Arc<Mutex<Vec<String>>>;

fn words(log: &Log) -> Vec<String> {
    std::mem::take(&mut log.lock().unwrap())
}

fn message(to: Destination, bytes: &[u8]) -> Message {
    Message { to, bytes: bytes.to_vec(), ahead: false, transmit: None }
}

/// An agent that writes down what it is told; to the byte 9 it answers with a setting, a timer, and messages to five receivers.
struct Scribe(Log);

impl Agent for Scribe {
    fn on_start(&mut self, setup: &AgentSetup<'_>, _: &mut AgentContext<'_>) {
        self.0.lock().unwrap().push(format!("start at {}", setup.node.0));
    }

    fn on_sample(&mut self, sample: &NodeSample<'_>, _: &mut AgentContext<'_>) {
        let link =
            |l: &LinkSample| (l.neighbour.0, l.waiting, l.arrived, l.sent, l.attempts, l.given_up, l.bytes);
        let flow =
            |f: &FlowSample| (f.flow.0, f.neighbour.0, f.packets, f.bytes, f.stated.map(|rate| rate.0));
        self.0.lock().unwrap().push(format!(
            "sample {} {:?} {:?}",
            sample.set_up,
            sample.links.iter().map(link).collect::<Vec<_>>(),
            sample.flows.iter().map(flow).collect::<Vec<_>>()
        ));
    }

    fn on_backlogs(&mut self, sizes: &[(NodeId, u32)], _: &mut AgentContext<'_>) {
        self.0.lock().unwrap().push(format!("backlogs {sizes:?}"));
    }

    fn on_message(&mut self, from: NodeId, bytes: &[u8], to_me: bool, context: &mut AgentContext<'_>) {
        self.0.lock().unwrap().push(format!("{bytes:?} from {}, {to_me}", from.0));
        if bytes == [9] {
            let out = &mut context.out;
            out.timers.push((Timer(3), context.now + Span(10)));
            out.settings.push(Setting::Probability(Direction::Outgoing, Probability::ONE));
            out.messages.push(message(Destination::Broadcast, &[1]));
            out.messages.push(message(Destination::Neighbour(id(0)), &[2]));
            out.messages.push(message(Destination::Node(id(0)), &[3]));
            out.messages.push(message(Destination::Node(id(77)), &[4]));
            out.messages.push(message(Destination::Broadcast, &[]));
        }
    }

    fn on_controller(&mut self, here: bool, _: &mut AgentContext<'_>) {
        self.0.lock().unwrap().push(format!("controller {here}"));
    }

    fn on_timer(&mut self, timer: Timer, _: &mut AgentContext<'_>) {
        self.0.lock().unwrap().push(format!("timer {}", timer.0));
    }
}

/// A controller that writes down what it is told, and sends each message back to its origin.
struct Mirror(Log);

impl Controller for Mirror {
    fn on_start(&mut self, setup: &ControllerSetup<'_>, _: &mut ControllerContext<'_>) {
        self.0.lock().unwrap().push(format!("start beside {:?}", setup.neighbours));
    }

    fn on_message(&mut self, from: NodeId, bytes: &[u8], context: &mut ControllerContext<'_>) {
        self.0.lock().unwrap().push(format!("{bytes:?} from {}", from.0));
        context.out.messages.push(ControllerMessage { to: from, bytes: bytes.to_vec(), ahead: true });
    }

    fn on_timer(&mut self, _: Timer, _: &mut ControllerContext<'_>) {}
}

/// Three nodes; the first has an agent with samples each microsecond, link meters, and learns of sizes of queues.
fn network() -> (Toy, Log) {
    let (mut toy, log) = (Toy::new(3), Log::default());
    let random = Stream::new(1, "agent", Purpose::Agent);
    let agent = AgentSlot::new(Box::new(Scribe(log.clone())), Span(1_000), 2, random, 4);
    toy.hosts.agents.add((Node(0), 3), agent, (true, HeaderId::NONE));
    toy.meters.links.add(Node(0), 3);
    (toy, log)
}

/// Counters of a radio that was idle until `at`.
fn idle(at: u64) -> InterfaceCounters {
    let airtime = Some(Airtime { idle: Span(at), ..Airtime::default() });
    InterfaceCounters { at: Time(at), airtime, ..InterfaceCounters::default() }
}

fn receive(toy: &mut Toy, (origin, number): (u32, u64), bytes: &[u8], to: Addressee) -> bool {
    let id = MessageId { origin: id(origin), number };
    let received = Received { id, bytes, to, own_frame: to == Addressee::Me, sender: None };
    agents::message(toy, Node(0), &received, Time(50))
}

#[test]
fn an_agent_has_each_message_once_and_none_of_its_own() {
    let (mut toy, log) = network();
    let cases = [
        ((1, 1), Addressee::Everyone),
        ((1, 1), Addressee::Everyone),
        ((1, 2), Addressee::Other),
        ((1, 2), Addressee::Me),
        ((2, 1), Addressee::Me),
        // Its own message, overheard on its way.
        ((0, 5), Addressee::Other),
        ((0, 5), Addressee::Everyone),
        // A controller at its node has written to it.
        ((0, 6), Addressee::Me),
    ];
    let new = cases.map(|(name, to)| receive(&mut toy, name, &[7], to));
    assert_eq!(new, [true, false, true, false, true, false, false, true]);
    let told = ["[7] from 101, true", "[7] from 101, false", "[7] from 102, true", "[7] from 100, true"];
    assert_eq!(words(&log), told);
    let counts = toy.hosts.agents.message_counts(Node(0)).unwrap();
    assert_eq!((counts.heard, counts.received), (4, 3));
    toy.hosts.agents.count_relayed(Node(0));
    assert_eq!(toy.hosts.agents.messages_in_own_frames(Node(0)), 4);
    // What an agent has sent to its own node is for other agents there.
    let id = MessageId { origin: id(0), number: 7 };
    let received = Received { id, bytes: &[7], to: Addressee::Me, own_frame: false, sender: Some(Node(0)) };
    assert!(!agents::message(&mut toy, Node(0), &received, Time(50)));
}

#[test]
fn effects_are_carried_out_in_their_order() {
    let (mut toy, log) = network();
    assert!(receive(&mut toy, (1, 1), &[9], Addressee::Everyone));
    assert_eq!(toy.applied, [(Node(0), Setting::Probability(Direction::Outgoing, Probability::ONE))]);
    let sent: Vec<_> =
        toy.sent.iter().map(|sent| (sent.message.bytes[0], sent.id.number, sent.sender)).collect();
    // Not to itself as a neighbour, not to a node that does not exist, and nothing without bytes.
    assert_eq!(sent, [(1, 1, MessageSender::Agent(Node(0))), (3, 2, MessageSender::Agent(Node(0)))]);
    assert_eq!(toy.hosts.unknown_receiver, [Some(Node(0)), None]);
    assert_eq!(toy.hosts.agents.message_counts(Node(0)).unwrap().sent, 2);
    let [(HostEvent::AgentTimer(Node(0), 3, generation), Time(60))] = toy.take_events()[..] else {
        panic!("one timer");
    };
    agents::timer(&mut toy, Node(0), (Timer(3), generation + 1), Time(60));
    agents::timer(&mut toy, Node(0), (Timer(3), generation), Time(60));
    assert_eq!(words(&log), ["[9] from 101, true", "timer 3"]);
}

#[test]
fn messages_are_numbered_from_where_a_node_says() {
    let (mut toy, _) = network();
    toy.hosts.number_from(Node(0), 1 << 40);
    toy.hosts.number_from(Node(0), 5);
    receive(&mut toy, (1, 1), &[9], Addressee::Everyone);
    assert_eq!(toy.sent[0].id, MessageId { origin: id(0), number: (1 << 40) + 1 });
}

/// A sample has the links and flows since the last one; what waits is counted with it, also for a neighbour that nothing was sent to.
#[test]
fn a_sample_has_links_and_flows() {
    let (mut toy, log) = network();
    let setup = AgentSetup {
        node: id(0),
        rate: Rate::from_mbps(11),
        exchange: LoneExchange::default(),
        neighbours: &[],
        sense_margin: None,
    };
    agents::start(&mut toy, Node(0), &setup, idle(5_000), Time(5_000));
    let [(HostEvent::Sample(Node(0)), first)] = toy.take_events()[..] else { panic!("one sample") };
    assert!(first > Time(5_000) && first <= Time(6_000), "{first}");
    let arrived = |flow, neighbour, class| ArrivedPacket {
        neighbour: id(neighbour),
        flow: FlowId(flow),
        from: id(0),
        to: id(2),
        bytes: 500,
        class,
    };
    let data = PacketClass::Data;
    let packets = [(8, 2, data), (8, 1, data), (8, 2, data), (7, 1, data), (7, 1, PacketClass::Ack)];
    let none = (FlowId::NONE.0, 1, data);
    for (flow, neighbour, class) in packets.into_iter().chain([none, (7, 2, PacketClass::Control)]) {
        toy.meters.links.on_arrival(Node(0), &arrived(flow, neighbour, class));
        toy.meters.links.on_arrival(Node(1), &arrived(flow, neighbour, class));
    }
    for (attempts, acknowledged) in [(1, true), (7, false), (2, true)] {
        let packet = FinishedPacket { neighbour: id(1), attempts, acknowledged, bytes: 500 };
        toy.meters.links.on_finished(Node(0), &packet);
    }
    toy.waiting = vec![id(1), id(0), id(1)];
    agents::sample(&mut toy, Node(0), idle(6_000), Time(6_000));
    assert_eq!(toy.take_events(), [(HostEvent::Sample(Node(0)), Time(7_000))]);
    toy.waiting.clear();
    agents::sample(&mut toy, Node(0), idle(7_000), Time(7_000));
    let backlogs = "backlogs [(NodeId(102), 5)]";
    let links = "(100, 1, 0, 0, 0, 0, 0), (101, 2, 4, 2, 10, 1, 1000), (102, 0, 2, 0, 0, 0, 0)";
    let flows = "(7, 101, 1, 500, Some(7)), (8, 101, 1, 500, Some(8)), (8, 102, 2, 1000, Some(8))";
    let rest = "(101, 0, 0, 0, 0, 0, 0), (102, 0, 0, 0, 0, 0, 0)";
    let expected = [
        "start at 100",
        backlogs,
        &format!("sample 7 [{links}] [{flows}]"),
        backlogs,
        &format!("sample 7 [{rest}] []"),
    ];
    assert_eq!(words(&log), expected);
    // A driver's counter has stepped back: no sample, and the next interval begins with what it says now. The host's own counts wait.
    toy.meters.links.on_arrival(Node(0), &arrived(8, 2, data));
    agents::sample(&mut toy, Node(0), idle(6_500), Time(6_500));
    toy.meters.links.on_arrival(Node(0), &arrived(8, 2, data));
    agents::sample(&mut toy, Node(0), idle(7_500), Time(7_500));
    let links = "(101, 0, 0, 0, 0, 0, 0), (102, 0, 2, 0, 0, 0, 0)";
    let flows = "(8, 102, 2, 1000, Some(8))";
    assert_eq!(words(&log), [backlogs, backlogs, &format!("sample 7 [{links}] [{flows}]")]);
    assert_eq!(toy.hosts.agents.bad_samples(Node(0)), 1);
}

/// The first reading of a driver is where the counts begin; one that has stepped back is left out, and is where the next ones begin.
#[test]
fn a_sample_has_the_counts_of_a_driver() {
    let (mut toy, log) = network();
    let read = |toy: &mut Toy, ms: u64, sent: u64, attempts: u64| {
        let at = Time(ms * 1_000_000);
        let counters = LinkCounters { at, sent, given_up: 0, attempts, bytes: 100 * sent };
        toy.meters.links.on_counters(Node(0), id(2), counters);
        toy.meters.links.on_counters(Node(1), id(2), counters);
    };
    for (ms, sent, attempts) in [(1, 5000, 5700), (2, 5010, 5713), (3, 4, 5), (4, 7, 9)] {
        read(&mut toy, ms, sent, attempts);
    }
    agents::sample(&mut toy, Node(0), idle(6_000), Time(6_000));
    let told = words(&log);
    assert_eq!(told[1], "sample 7 [(102, 0, 0, 13, 17, 0, 1300)] []");
    assert_eq!((toy.meters.links.bad_readings(Node(0)), toy.meters.links.bad_readings(Node(1))), (1, 0));
}

#[test]
fn a_controller_has_each_message_once_and_answers() {
    let (mut toy, log) = network();
    let heard = Log::default();
    let random = Stream::new(1, "controller", Purpose::Controller);
    let slot = ControllerSlot::new(Box::new(Mirror(heard.clone())), random, 2);
    toy.hosts.controllers.add(Node(0), (Time(3), None), slot);
    let at = ControllerIx(0);
    let reach = |toy: &mut Toy, origin: u32, number: u64, of_controller: bool| {
        let id = MessageId { origin: id(origin), number };
        let received = Received { id, bytes: &[5], to: Addressee::Me, own_frame: false, sender: None };
        controllers::message(toy, (Node(0), None), &received, (true, of_controller), Time(9));
    };
    reach(&mut toy, 1, 1, false);
    assert_eq!((words(&heard), words(&log)), (vec![], vec!["[5] from 101, true".to_string()]), "not started");
    controllers::start(&mut toy, at, &[id(1)], Time(3));
    reach(&mut toy, 1, 2, false);
    reach(&mut toy, 1, 2, false);
    // What it has written to its own node is for the agents there.
    reach(&mut toy, 0, 1, true);
    assert_eq!(words(&heard), ["start beside [NodeId(101)]", "[5] from 101"]);
    assert_eq!(words(&log), ["controller true", "[5] from 101, true", "[5] from 100, true"]);
    let sent: Vec<_> = toy.sent.drain(..).map(|sent| (sent.sender, sent.message)).collect();
    let answer = Message { to: Destination::Node(id(1)), bytes: vec![5], ahead: true, transmit: None };
    assert_eq!(sent, [(MessageSender::Controller(at), answer)]);
    controllers::stop(&mut toy, at, Time(20));
    reach(&mut toy, 1, 3, false);
    assert_eq!((words(&heard).len(), toy.sent.len()), (0, 0), "it has stopped");
    assert_eq!(words(&log), ["controller false", "[5] from 101, true"]);
    let counts = toy.hosts.controllers.counts(at);
    assert_eq!((counts.received, counts.received_bytes, counts.sent, counts.sent_bytes), (1, 1, 1, 1));
}
