//! Forwarders at their hosts: packets at the source, turns at a radio, counts.

mod toy;

use std::sync::{Arc, Mutex};

use airfair_host::forwarders::{self, Turn};
use airfair_host::{AgentSlot, ForwardCounts, HeaderId};
use airfair_schemes::places::{
    Agent, AgentContext, AgentSetup, FlowId, Forwarder, ForwarderContext, HeardBroadcast, Holding, Made,
    NativePacket, NodeId, Priority,
};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Span, Time};

use toy::{Flow, Node, Toy, id};

/// The answers that a test gives to its forwarder, and the packets that it has taken.
#[derive(Debug, Default)]
struct Orders {
    room: u32,
    ready: bool,
    /// Batch of the next broadcast.
    batch: u32,
    taken: Vec<NativePacket>,
}

/// A forwarder that does as it is told: a heard header is a list of orders, each a letter and a number.
#[derive(Clone, Default)]
struct Puppet(Arc<Mutex<Orders>>);

const FLOW: FlowId = FlowId(70);

impl Agent for Puppet {
    fn on_start(&mut self, _: &AgentSetup<'_>, _: &mut AgentContext<'_>) {}

    fn forwarder(&mut self) -> Option<&mut dyn Forwarder> {
        Some(self)
    }
}

impl Forwarder for Puppet {
    fn room(&self, _: FlowId, _: NodeId) -> u32 {
        self.0.lock().unwrap().room
    }

    fn on_packet(&mut self, packet: &NativePacket, _: &mut ForwarderContext<'_>) {
        let mut orders = self.0.lock().unwrap();
        orders.room -= 1;
        orders.taken.push(*packet);
    }

    fn on_heard(&mut self, heard: &HeardBroadcast<'_>, context: &mut ForwarderContext<'_>) {
        context.out.checked = Some("on_heard");
        for order in heard.header.chunks_exact(2) {
            let number = u32::from(order[1]);
            match order[0] {
                b'd' => context.out.delivered.push((FLOW, number)),
                b'w' => context.out.whole.push((FLOW, number)),
                b'r' => context.out.routed.push((FLOW, number)),
                b'h' => context.out.holds.push(Holding { flow: FLOW, batch: number, packets: 1, of: 2 }),
                _ => context.out.delivered.push((FlowId(1), number)),
            }
        }
    }

    fn ready(&self, _: Time) -> Option<Priority> {
        self.0.lock().unwrap().ready.then_some(Priority(2))
    }

    fn make(&mut self, _: &mut ForwarderContext<'_>) -> Option<Made> {
        let batch = self.0.lock().unwrap().batch;
        Some(Made { flow: FLOW, batch, header: vec![1], content: 100 })
    }
}

/// Three nodes, of which the first two have a forwarder; a flow from the first to the second that is counted until 5 ns.
fn two_forwarders() -> (Toy, [Puppet; 2]) {
    let mut toy = Toy::new(3);
    let puppets = [Puppet::default(), Puppet::default()];
    for (node, puppet) in (0..).zip(&puppets) {
        let random = Stream::new(1, "agent", Purpose::Agent);
        let agent = AgentSlot::new(Box::new(puppet.clone()), Span::ZERO, 2, random, 0);
        toy.hosts.agents.add((Node(node), 3), agent, (false, HeaderId::NONE));
        toy.hosts.forwarders.add((Node(node), 3), Node(node), false);
    }
    toy.hosts.forwarders.add_flow(FLOW, [Node(0), Node(1)], true, Time(5));
    (toy, puppets)
}

/// A packet of the flow waits at its source. True if the forwarder takes packets.
fn offer(toy: &mut Toy, packet: u32) -> bool {
    toy.offered.push_back(packet);
    forwarders::offered(toy, Flow(0), Time(1))
}

fn hears(toy: &mut Toy, node: u32, orders: &[u8], now: u64) {
    let heard = HeardBroadcast { from: id(0), header: orders, content: 100 };
    forwarders::heard(toy, Node(node), &heard, Time(now));
}

#[test]
fn both_ends_need_a_forwarder() {
    let (mut toy, _) = two_forwarders();
    let flows = &mut toy.hosts.forwarders;
    for (from, to, may) in [(0, 2, true), (2, 0, true), (0, 0, true), (0, 1, false)] {
        flows.add_flow(FlowId(100 - from), [Node(from), Node(to)], may, Time(9));
    }
    assert_eq!(flows.of_number(FLOW), Some((Flow(0), Node(1))));
    assert_eq!(flows.of_number(FlowId(98)), None);
    let sources = [0, 1, 2, 3, 4].map(|flow| flows.source_of(Flow(flow)));
    assert_eq!(sources, [Some(Node(0)), None, None, None, None]);
}

/// A forwarder takes packets as it has room, numbered from 0; a packet stays at its source until it is handed up, in any order and once.
#[test]
fn packets_end_in_any_order_and_once() {
    let (mut toy, [source, _]) = two_forwarders();
    assert!(!offer(&mut toy, 40), "no room");
    assert_eq!((toy.taken.len(), toy.offered.len()), (0, 1));
    source.0.lock().unwrap().room = 4;
    let fed: Vec<_> = (41..46).map(|packet| offer(&mut toy, packet)).collect();
    assert_eq!(fed, [true, true, true, false, false]);
    assert_eq!(toy.taken, [40, 41, 42, 43]);
    let taken = |n: u32| NativePacket { flow: FLOW, to: id(1), number: n, bytes: 1040 + n };
    assert_eq!(source.0.lock().unwrap().taken, [0, 1, 2, 3].map(taken));
    hears(&mut toy, 1, b"d\x01d\x01d\x00", 2);
    assert_eq!(toy.delivered, [(Node(1), 41), (Node(1), 40)]);
    let held: Vec<_> = toy.hosts.forwarders.packets().collect();
    assert_eq!((&held[..], &toy.offered), (&[42, 43][..], &[44, 45].into()), "two are taken, two wait");
    source.0.lock().unwrap().room = 1;
    hears(&mut toy, 0, b"", 3);
    assert_eq!((toy.taken.last(), toy.resumed.last()), (Some(&44), Some(&Node(0))), "room has come");
    assert_eq!(source.0.lock().unwrap().taken[4].number, 4, "numbers go on");
    assert_eq!(toy.hosts.forwarders.mistake, None);
}

#[test]
fn a_packet_that_was_handed_up_is_not_routed() {
    let (mut toy, [source, _]) = two_forwarders();
    source.0.lock().unwrap().room = 2;
    (0..2).for_each(|packet| assert!(offer(&mut toy, packet)));
    hears(&mut toy, 0, b"r\x01", 2);
    forwarders::routed_arrived(&mut toy, Node(1), (Flow(0), 1), Time(3));
    hears(&mut toy, 0, b"r\x01r\x00", 4);
    assert_eq!(
        (&toy.routed[..], &toy.delivered[..]),
        (&[(Node(0), 1, 1), (Node(0), 0, 0)][..], &[(Node(1), 1)][..])
    );
}

#[test]
fn the_first_mistake_of_a_forwarder_is_kept() {
    for (node, orders, problem) in [
        (
            1,
            b"x\x07",
            "deliver(flow 1, number 7): there is no such flow; expected a flow that forwarders carry",
        ),
        (
            0,
            b"d\x00",
            "deliver(flow 70, number 0): the flow ends at another node; expected one that ends here",
        ),
        (1, b"r\x00", "route(flow 70, number 0): the flow ends here; expected one that goes on"),
        (
            0,
            b"w\x00",
            "count_whole(flow 70, batch 0): the flow ends at another node; expected one that ends here",
        ),
        (
            1,
            b"d\x00",
            "deliver(flow 70, number 0): the flow has no such packet; expected a number that Forwarder.on_packet was given",
        ),
    ] {
        let (mut toy, _) = two_forwarders();
        hears(&mut toy, node, orders, 1);
        hears(&mut toy, 1, b"x\x09", 2);
        let expected = (Node(node), format!("on_heard has called Context.{problem}"));
        assert_eq!(toy.hosts.forwarders.mistake, Some(expected));
        assert_eq!((toy.delivered.len(), toy.routed.len()), (0, 0));
    }
}

/// The queue of a radio and its forwarder take turns; a place in the MAC is held once.
#[test]
fn queue_and_forwarder_take_turns() {
    let (mut toy, [source, _]) = two_forwarders();
    let turn = |toy: &mut Toy, queued: Option<u8>| forwarders::turn(toy, Node(0), |_| queued, Time(1));
    assert_eq!(turn(&mut toy, Some(1)), Some(Turn::Queued(1)), "nothing to broadcast");
    source.0.lock().unwrap().ready = true;
    assert_eq!(turn(&mut toy, Some(2)), Some(Turn::Broadcast), "its turn, after a packet");
    assert_eq!(turn(&mut toy, Some(3)), Some(Turn::Queued(3)), "it has a place already");
    assert!(forwarders::make(&mut toy, Node(0), Time(1)).is_some());
    forwarders::made(&mut toy, Node(0), Time(1));
    assert_eq!(toy.ready, [Node(0)], "there is more to send");
    assert_eq!(turn(&mut toy, Some(4)), Some(Turn::Broadcast));
    forwarders::make(&mut toy, Node(0), Time(1));
    assert_eq!(turn(&mut toy, Some(5)), Some(Turn::Queued(5)), "the queue's turn");
    assert_eq!(turn(&mut toy, None), Some(Turn::Broadcast), "the queue is empty");
    source.0.lock().unwrap().ready = false;
    assert_eq!(turn(&mut toy, None), None);
    assert_eq!(forwarders::turn(&mut toy, Node(2), |_| Some(6), Time(1)), Some(Turn::Queued(6)));
}

#[test]
fn broadcasts_after_a_batch_is_whole_are_late() {
    let (mut toy, [source, _]) = two_forwarders();
    let make = |toy: &mut Toy, batch, now| {
        source.0.lock().unwrap().batch = batch;
        assert!(forwarders::make(toy, Node(0), Time(now)).is_some());
    };
    make(&mut toy, 0, 1);
    hears(&mut toy, 1, b"h\x00w\x00", 2);
    hears(&mut toy, 0, b"h\x00", 2);
    make(&mut toy, 0, 3);
    make(&mut toy, 1, 5);
    let counts = ForwardCounts { broadcasts: 2, late: 1, innovative: 1, batches: 1 };
    assert_eq!(toy.hosts.forwarders.counts(Flow(0)), Some(counts));
    assert_eq!(toy.held.iter().map(|held| held.0).collect::<Vec<_>>(), [Node(1), Node(0)]);
    // Nothing counts after the stop, but what the destination holds is known, still.
    hears(&mut toy, 1, b"h\x01w\x01", 6);
    make(&mut toy, 2, 6);
    assert_eq!(toy.hosts.forwarders.counts(Flow(0)), Some(counts));
    toy.hosts.forwarders.warmed_up();
    make(&mut toy, 1, 4);
    let counts = ForwardCounts { late: 1, ..ForwardCounts::default() };
    assert_eq!(toy.hosts.forwarders.counts(Flow(0)), Some(counts));
}
