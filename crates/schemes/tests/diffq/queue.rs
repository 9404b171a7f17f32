//! DiffQ at an interface: what is served next, and at which level.

use airfair_schemes::ParamValue::{Choice, Integer, Span as Length};
use airfair_schemes::places::{
    Capability, DropReason, Ecn, Enqueued, Header, Interface, Medium, NodeId, OutputQueue, Packet,
    PacketClass, PacketId, Priority, QueueView, Setting, Starving, Wants,
};
use airfair_units::Span;

use super::{Node, build, labelled, plain};

const FULL: Enqueued = Enqueued::Refused(DropReason::QUEUE_FULL);

/// Queues of 10 and 9 packets for 5 and 6 at next hops with 4 and 0: 6 against 9. Each packet that leaves takes one: 9, 8, 7, 6, then 5 and
/// 6 are level, and take turns.
#[test]
fn the_largest_differential_leaves_first() {
    let mut node = Node::unheld(&[]);
    node.store(5, 2, 10);
    node.store(6, 3, 9);
    node.hears(2, 5, 4);
    node.hears(3, 6, 0);
    // Differentials before each packet: (6, 9), (6, 8), (6, 7), (6, 6): 5 was never served; (5, 6), (5, 5): 6 was served last; ...
    assert_eq!(node.destinations(8), [6, 6, 6, 5, 6, 5, 6, 5]);
    assert_eq!(node.gauge("differential"), 4.0);
    assert_eq!(node.gauge("level"), 1.0);
    assert_eq!((node.gauge("destinations"), node.gauge("known_sizes")), (2.0, 2.0));
}

/// 38 packets and an empty next hop: ceil(3.04) = 4, then 37: 3. The next hop's 25 packets leave 11: 1, its 80 leave -44.
#[test]
fn levels_follow_what_is_heard() {
    let mut node = Node::unheld(&[]);
    assert!(node.gauge("differential").is_nan() && node.gauge("level").is_nan());
    node.store(5, 2, 38);
    assert_eq!(node.serves(), Some((5, 4)));
    assert_eq!((node.gauge("differential"), node.gauge("level")), (38.0, 4.0));
    assert_eq!(node.serves(), Some((5, 3)));
    node.hears(2, 5, 25);
    assert_eq!(node.serves(), Some((5, 1)));
    node.hears(2, 5, 80);
    assert_eq!(node.serves(), Some((5, 0)), "35 - 80: sent all the same");
    assert_eq!(node.gauge("differential"), -45.0);
    // Other nodes' queues and other destinations of the next hop do not count.
    node.hears(2, 5, 0);
    node.hears(3, 5, 90);
    node.hears(2, 6, 90);
    assert_eq!(node.serves(), Some((5, 3)));
}

/// A peek is no service: the gauges tell the packet that left.
#[test]
fn gauges_tell_the_packet_that_left() {
    let mut node = Node::unheld(&[]);
    node.store(5, 2, 20);
    assert_eq!(node.peek().map(|head| head.priority), Some(Priority(2)));
    assert!(node.gauge("level").is_nan());
    node.serves();
    assert_eq!(node.gauge("level"), 2.0);
    // With a packet beside it that is not DiffQ's.
    node.store_plain(1);
    node.hears(2, 5, 60);
    assert_eq!([node.serves(), node.serves()], [Some((0, 0)), Some((5, 0))]);
    assert_eq!(node.gauge("differential"), -41.0);
}

/// The next hop is the destination: it has no queue.
#[test]
fn at_the_last_hop_the_whole_queue_counts() {
    let mut node = Node::unheld(&[]);
    node.store(5, 5, 26);
    node.hears(5, 5, 26);
    assert_eq!(node.serves(), Some((5, 3)));
}

#[test]
fn a_silent_neighbour_s_size_expires() {
    let mut node = Node::unheld(&[("expiry", Length(Span::from_millis(200)))]);
    node.store(5, 2, 40);
    node.hears(2, 5, 40);
    assert_eq!(node.peek().map(|head| head.priority.0), Some(0));
    node.after(Span::from_nanos(199_999_999));
    assert_eq!(node.peek().map(|head| head.priority.0), Some(0));
    node.after(Span::from_nanos(1));
    assert_eq!(node.peek().map(|head| head.priority.0), Some(4), "ceil(3.2), with no news in between");
}

/// No queue is longer than D: a neighbour that announces more holds nobody back for longer.
#[test]
fn an_announced_size_is_at_most_the_limit_of_a_queue() {
    let mut node = Node::unheld(&[("depth", Integer(40))]);
    node.store(5, 2, 10);
    node.store(6, 3, 5);
    node.hears(2, 5, 40);
    node.hears(3, 6, u16::MAX);
    // -30 against 5 - 40 = -35: without the limit too; then -34 is said of 6 with one packet more.
    assert_eq!(node.destinations(6), [5, 5, 5, 5, 5, 6]);
    assert_eq!(node.gauge("differential"), -35.0);
}

/// 100 packets for each destination; 50 that are not DiffQ's, whatever the others are.
#[test]
fn limits() {
    let mut node = Node::with_limit("diffq", &[], 50);
    node.store(5, 2, 100);
    assert_eq!(node.enqueue(labelled(900, 5, 2)), FULL);
    node.store(6, 2, 100);
    node.store_plain(50);
    assert_eq!(node.enqueue(plain(901)), FULL);
    assert_eq!(node.enqueue(labelled(902, 6, 3)), FULL);
    assert_eq!(node.queue.view(), QueueView { packets: 250, bytes: 225_000, limit_packets: 250 });
    let of = |destination, labelled| node.queue.backlog_to(NodeId(destination), labelled);
    assert_eq!(of(5, true), QueueView { packets: 100, bytes: 100_000, limit_packets: 100 });
    assert_eq!(of(7, true), QueueView { packets: 0, bytes: 0, limit_packets: 100 });
    assert_eq!(of(5, false), QueueView { packets: 50, bytes: 25_000, limit_packets: 50 });
    assert_eq!(node.queue.tail_drop(), None);
    let mut short = Node::with_limit("diffq", &[("depth", Integer(3))], 0);
    short.store(5, 2, 3);
    assert_eq!((short.enqueue(labelled(9, 5, 2)), short.enqueue(plain(10))), (FULL, FULL));
    assert_eq!(short.queue.view().limit_packets, 3);
}

/// A refused packet is no news of a route.
#[test]
fn a_packet_leaves_by_the_newest_route() {
    let mut node = Node::unheld(&[("depth", Integer(3))]);
    node.store(5, 2, 1);
    node.store(5, 3, 2);
    assert_eq!(node.enqueue(labelled(9, 5, 4)), FULL);
    node.hears(2, 5, 3);
    let (packet, level) = node.leaves().unwrap();
    assert_eq!((packet.id, packet.next_hop, level), (PacketId(1), NodeId(3), 7), "3 - 0 of 3");
}

/// One packet at a time; the end of another one's transmission changes nothing, and packets that are not DiffQ's do not count.
#[test]
fn the_radio_holds_one_packet_of_destination_queues() {
    let mut node = Node::new("diffq", &[]);
    node.store(5, 2, 3);
    node.store_plain(2);
    let (first, _) = node.leaves().unwrap();
    assert_eq!(first.id, PacketId(1));
    assert_eq!(node.destinations(5), [0, 0], "its packets of other kinds");
    assert_eq!(node.queue.view().packets, 2);
    node.queue.on_finished(PacketId(4));
    assert_eq!(node.peek(), None);
    node.queue.on_finished(first.id);
    assert_eq!(node.leaves().map(|left| left.0.id), Some(PacketId(2)));
    assert_eq!(node.peek(), None);
}

#[test]
fn the_radio_may_hold_several_packets() {
    for held in 1..=4 {
        let mut node = Node::new("diffq", &[("in_radio", Integer(held))]);
        node.store(5, 2, 8);
        let ids = |node: &mut Node| -> Vec<u32> {
            std::iter::from_fn(|| node.leaves()).map(|(packet, _)| packet.id.0).collect()
        };
        let first: Vec<u32> = (1..=held as u32).collect();
        assert_eq!(ids(&mut node), first);
        // They may be finished in any order; the end of one makes room for one.
        node.queue.on_finished(PacketId(*first.last().unwrap()));
        assert_eq!(ids(&mut node), [held as u32 + 1]);
        first[1..].iter().chain(&[1]).for_each(|&id| node.queue.on_finished(PacketId(id)));
        assert_eq!(ids(&mut node).len() as u64, held - 1);
    }
}

/// A route that is lost, one by another interface, and one that returns.
#[test]
fn packets_wait_for_a_route() {
    let mut node = Node::unheld(&[]);
    node.store(5, 2, 30);
    node.store(6, 3, 10);
    node.queue.on_routes(&mut |destination| (destination == NodeId(6)).then_some(NodeId(3)));
    assert_eq!(node.destinations(20), [6; 10]);
    assert_eq!(node.peek(), None);
    assert_eq!(node.queue.view().packets, 30);
    assert_eq!(node.queue.backlog_to(NodeId(5), true).packets, 30);
    let mut shown = 0;
    node.queue.show(&mut |packet| shown += u32::from(packet.destination == NodeId(5)));
    assert_eq!(shown, 30);
    node.hears(4, 5, 17);
    node.queue.on_routes(&mut |_| Some(NodeId(4)));
    let (packet, level) = node.leaves().unwrap();
    assert_eq!((packet.id, packet.next_hop, level), (PacketId(1), NodeId(4), 2), "ceil(1.04)");
    // A packet that is offered with a next hop is news of a route.
    node.queue.on_routes(&mut |_| None);
    node.store(5, 8, 1);
    assert_eq!(node.leaves().map(|(packet, _)| (packet.id, packet.next_hop)), Some((PacketId(2), NodeId(8))));
}

/// `commit` removes what `peek` has named, with the next hop that it had then: the host has prepared the frame.
#[test]
fn news_between_peek_and_commit() {
    let news: [fn(&mut Node); 5] = [
        |node| node.queue.on_routes(&mut |_| None),
        |node| node.queue.on_routes(&mut |_| Some(NodeId(9))),
        |node| node.hears(2, 5, 100),
        |node| node.store(5, 9, 1),
        |node| node.store(6, 9, 50),
    ];
    for (case, news) in news.iter().enumerate() {
        let mut node = Node::unheld(&[]);
        node.store(5, 2, 20);
        let head = node.peek().unwrap();
        assert_eq!(
            (head.packet.id, head.packet.next_hop, head.priority),
            (PacketId(1), NodeId(2), Priority(2))
        );
        news(&mut node);
        assert_eq!(node.queue.commit(), Some(head.packet), "case {case}");
        assert_eq!(node.gauge("level"), 2.0);
        let left = [19, 19, 19, 20, 69][case];
        assert_eq!(node.queue.view().packets, left);
        assert_eq!(node.queue.commit(), None, "nothing is named");
    }
}

/// At level 0 packets that are not DiffQ's are one more queue that takes its turn; those of a level above go first.
#[test]
fn plain_packets_and_level_0_take_turns() {
    let mut node = Node::unheld(&[]);
    node.store(5, 2, 4);
    node.store_plain(8);
    node.hears(2, 5, 50);
    let served = node.destinations(12);
    assert_eq!(served[..8], [0, 5, 0, 5, 0, 5, 0, 5]);
    assert_eq!(served[8..], [0; 4]);
    // A new packet of level 0 waits for one other, however many there are, and its end lets them go on.
    node.store_plain(8);
    assert_eq!(node.destinations(3), [0; 3]);
    node.store(5, 2, 1);
    assert_eq!(node.destinations(2), [0, 5]);
    // Two destinations, both of differentials -48, -49.
    node.store(5, 2, 2);
    node.store(6, 2, 2);
    node.hears(2, 6, 50);
    assert_eq!(node.destinations(8), [0, 5, 6, 0, 5, 6, 0, 0]);
    // 3 - 0 is level 1.
    node.store_plain(2);
    node.store(7, 7, 3);
    assert_eq!(node.destinations(9), [7, 7, 7, 0, 0]);
}

/// With one level the queues and packets that are not DiffQ's take turns, whatever the differential.
#[test]
fn variants_without_levels() {
    for (name, expected) in
        [("diffq-rc", [0, 5, 6, 0, 5, 6, 0, 5]), ("diffq-rc-sched", [0, 5, 0, 5, 0, 5, 0, 5])]
    {
        let mut node = Node::new(name, &[("in_radio", Integer(64))]);
        node.store(5, 2, 40);
        node.store(6, 2, 3);
        node.store_plain(4);
        for destination in expected {
            assert_eq!(node.serves(), Some((destination, 0)), "{name}");
        }
    }
}

/// Round robin over three queues, one of which is longer, and one of which comes later.
#[test]
fn only_rate_control_serves_queues_in_turn() {
    let mut node = Node::new("diffq-rc", &[("in_radio", Integer(64))]);
    node.store(5, 2, 9);
    node.store(6, 2, 2);
    assert_eq!(node.destinations(3), [5, 6, 5]);
    node.store(7, 2, 2);
    assert_eq!(node.destinations(8), [6, 5, 7, 5, 7, 5, 5, 5]);
}

/// 30 packets at a next hop with 40 against 20 at an empty one, levels by 12.5 packets: ceil(2.4) and ceil(1.6).
#[test]
fn occupancy_does_not_look_at_the_next_hop() {
    let scene = |name| {
        let mut node = Node::new(name, &[]);
        node.store(5, 2, 30);
        node.store(6, 3, 20);
        node.hears(2, 5, 40);
        node.serves()
    };
    assert_eq!(scene("diffq-occupancy"), Some((5, 3)));
    assert_eq!(scene("diffq"), Some((6, 2)));
}

/// By priority 30 and 26 packets are both at level 3, ceil(2.4) and ceil(2.08), and take turns; 27 against 24 are not level.
#[test]
fn order_by_priority() {
    let mut node = Node::unheld(&[("order", Choice("priority"))]);
    node.store(5, 2, 30);
    node.store(6, 3, 28);
    // (30, 28), (29, 28), (29, 27), (28, 27), (28, 26), (27, 26), (27, 25): 25 is level 2; (26, 25).
    assert_eq!(node.destinations(8), [5, 6, 5, 6, 5, 6, 5, 5]);
}

#[test]
fn acknowledgements_first() {
    let mut node = Node::unheld(&[("acks", Choice("highest"))]);
    node.store(5, 2, 90);
    let ack = |id| Packet { class: PacketClass::Ack, ..labelled(id, 6, 3) };
    assert_eq!(node.enqueue(ack(500)), Enqueued::Stored);
    assert_eq!([node.serves(), node.serves()], [Some((6, 7)), Some((5, 7))]);
    let mut node = Node::unheld(&[("acks", Choice("lowest"))]);
    for id in 0..30 {
        assert_eq!(node.enqueue(ack(id)), Enqueued::Stored);
    }
    assert_eq!(node.serves(), Some((6, 0)));
}

/// At wires there is drop-tail. Levels are those of the parts that are switched on.
#[test]
fn what_is_wanted_of_an_interface() {
    let wire = Interface { medium: Medium::Wire, ..Interface::radio(20) };
    for (name, levels, hears) in [
        ("diffq", 8, true),
        ("diffq-occupancy", 8, false),
        ("diffq-rc-sched", 1, true),
        ("diffq-rc", 1, false),
    ] {
        let scheme = build(name, &[]);
        assert_eq!(scheme.queue(&wire).discipline().tail_drop(), Some(20));
        assert_eq!(scheme.wants(&wire), Wants::NONE);
        let expected = Wants::of(&[Capability::Finished, Capability::Routes, Capability::OwnQueue])
            .and_if(hears, Capability::HeardHeaders)
            .priorities_to(Priority(levels - 1));
        assert_eq!(scheme.wants(&Interface::radio(20)), expected, "{name}");
    }
    let four = build("diffq", &[("levels", Integer(4))]);
    assert_eq!(four.wants(&Interface::radio(20)).priority(), Priority(3));
    let mut node = Node::new("diffq", &[("levels", Integer(4))]);
    node.store(5, 2, 100);
    assert_eq!(node.serves(), Some((5, 3)));
}

/// Packets that find 3 or more of their destination are marked if they can be.
#[test]
fn long_queues_mark() {
    let mut node = Node::unheld(&[("mark_above", Integer(3))]);
    let ect = |id| Packet { ecn: Ecn::Ect, ..labelled(id, 5, 2) };
    node.store(6, 2, 5);
    for id in 11..=14 {
        assert_eq!(node.enqueue(ect(id)), Enqueued::Stored);
    }
    assert_eq!(node.enqueue(labelled(15, 5, 2)), Enqueued::Stored, "cannot be marked");
    assert_eq!(node.enqueue(Packet { ecn: Ecn::Ce, ..ect(16) }), Enqueued::Stored);
    assert_eq!(node.enqueue(Packet { labelled: false, ..ect(17) }), Enqueued::Stored);
    let marked: Vec<_> = node.out.marked.drain(..).map(|(id, reason)| (id.0, reason.0)).collect();
    assert_eq!(marked, [(14, "long-queue")]);
    node.hears(2, 6, 100);
    let bits: Vec<_> =
        (0..3).filter_map(|_| node.leaves()).map(|(packet, _)| (packet.id.0, packet.ecn)).collect();
    assert_eq!(bits, [(11, Ecn::Ect), (12, Ecn::Ect), (13, Ecn::Ect)]);
    assert_eq!(node.leaves().map(|(packet, _)| packet.ecn), Some(Ecn::Ce));
    let mut node = Node::unheld(&[]);
    for id in 0..100 {
        assert_eq!(node.enqueue(ect(id)), Enqueued::Stored);
    }
    assert!(node.out.marked.is_empty());
    let mut full = Node::unheld(&[("mark_above", Integer(1)), ("depth", Integer(1))]);
    assert_eq!([full.enqueue(ect(1)), full.enqueue(ect(2))], [Enqueued::Stored, FULL]);
    assert!(full.out.marked.is_empty(), "a refused packet is not marked");
}

/// With `calls`, before and after calls: packets leave in the order of their arrival, whatever their destinations and the sizes at their
/// next hops, none is held, and all share the limit of the interface. For a second after a call the queue is DiffQ's.
#[test]
fn a_queue_is_drop_tail_until_somebody_calls() {
    let calls = [
        ("calls", Length(Span::from_secs(1))),
        ("serve", Choice("positive")),
        ("depth", Integer(4)),
        ("in_radio", Integer(64)),
    ];
    let mut node = Node::with_limit("diffq", &calls, 6);
    let fill = |node: &mut Node| {
        node.store(6, 3, 1);
        node.store(5, 2, 2);
        node.store_plain(1);
        node.store(6, 3, 1);
        node.store(5, 2, 1);
    };
    node.hears(2, 5, 3);
    fill(&mut node);
    assert_eq!((node.enqueue(labelled(99, 7, 7)), node.enqueue(plain(99))), (FULL, FULL));
    let view = QueueView { packets: 6, bytes: 5500, limit_packets: 6 };
    assert_eq!((node.queue.backlog_to(NodeId(7), true), node.queue.view()), (view, view));
    assert_eq!(node.queue.wakes_at(node.now), None);
    assert_eq!(node.destinations(9), [6, 5, 5, 0, 6, 5]);
    fill(&mut node);
    node.queue.apply(Setting::Starving(Starving::Near(NodeId(9))), node.now);
    let called = node.now;
    assert_eq!(node.queue.backlog_to(NodeId(5), true).limit_packets, 4);
    assert_eq!(node.enqueue(labelled(99, 7, 7)), Enqueued::Stored);
    let mut served = node.destinations(9);
    served.sort_unstable();
    assert_eq!(served, [0, 6, 6, 7], "5 is held: 3 against 3");
    node.after(Span::from_millis(900));
    node.hears(2, 5, 3);
    assert_eq!(
        (node.destinations(1), node.queue.wakes_at(node.now)),
        (vec![], Some(called + Span::from_secs(1)))
    );
    node.after(Span::from_millis(100));
    assert_eq!(node.destinations(9), [5, 5, 5]);
}

/// A free queue of 4 places: packets without a route leave their places to others, and take their turn once there is one again.
#[test]
fn packets_without_a_route_leave_a_free_queue_to_others() {
    let mut node = Node::with_limit("diffq", &[("calls", Length(Span::from_secs(1)))], 4);
    node.store(5, 2, 3);
    node.store(6, 3, 1);
    assert_eq!(node.enqueue(labelled(99, 6, 3)), FULL);
    node.queue.on_routes(&mut |destination| (destination == NodeId(6)).then_some(NodeId(3)));
    node.store(6, 3, 3);
    assert_eq!(node.enqueue(labelled(99, 6, 3)), FULL);
    assert_eq!(node.queue.view(), QueueView { packets: 7, bytes: 7000, limit_packets: 7 });
    assert_eq!((node.destinations(9), node.peek()), (vec![6; 4], None));
    node.store(6, 3, 2);
    // Taken back, a packet frees no place; a route makes the rest count again.
    assert_eq!(node.queue.withdraw(NodeId(5)).map(|packet| packet.id), Some(PacketId(1)));
    assert_eq!(node.queue.view().limit_packets, 6);
    node.store(5, 4, 1);
    assert_eq!((node.queue.view().packets, node.queue.view().limit_packets), (5, 4));
    assert_eq!(node.enqueue(labelled(99, 6, 3)), FULL);
    assert_eq!(node.destinations(9), [5, 5, 6, 6, 5]);
}

/// When a queue becomes free that holds more than its limit, the packets leave before others come in.
#[test]
fn a_long_queue_becomes_free() {
    let mut node = Node::with_limit("diffq", &[("calls", Length(Span::from_secs(1)))], 4);
    node.queue.apply(Setting::Starving(Starving::Near(NodeId(9))), node.now);
    node.store(5, 2, 4);
    node.store(6, 3, 4);
    node.after(Span::from_secs(1));
    assert_eq!(node.enqueue(labelled(99, 7, 2)), FULL);
    assert_eq!(node.queue.view(), QueueView { packets: 8, bytes: 8000, limit_packets: 4 });
    assert_eq!(node.destinations(5), [5, 5, 5, 5, 6]);
    assert_eq!(node.enqueue(labelled(99, 7, 2)), Enqueued::Stored);
}

/// A free queue is first in, first out whatever the radio holds.
#[test]
fn a_free_queue_waits_for_no_radio() {
    let mut node = Node::new("diffq", &[("calls", Length(Span::from_secs(1)))]);
    node.store(5, 2, 2);
    node.store_plain(1);
    let left: Vec<u32> =
        (0..9).map_while(|_| node.leaves()).map(|(packet, _)| packet.destination.0).collect();
    assert_eq!(left, [5, 5, 1]);
}

/// A free queue names no packets as the longest queue on the way: it limits nobody. Others learn its size all the same.
#[test]
fn a_free_queue_limits_nobody() {
    let mut node = Node::new("diffq", &[("calls", Length(Span::from_secs(1)))]);
    for (starving, longest) in [(None, 0), (Some(Starving::Trying), 1)] {
        starving.into_iter().for_each(|starving| node.queue.apply(Setting::Starving(starving), node.now));
        node.store(5, 2, 2);
        let packet = node.leaves().unwrap().0;
        node.queue.on_finished(packet.id);
        let mut header = Header { supported: 0, unsupported: 0, fields: [0; 4] };
        node.queue.stamp(&packet, &mut header, node.now);
        assert_eq!((header.fields[0] & 0xffff, header.fields[3] >> 16), (1, longest));
        let packet = node.leaves().unwrap().0;
        node.queue.on_finished(packet.id);
    }
}

/// Where one free queue serves several access categories destinations take turns, and so do packets that are not DiffQ's.
#[test]
fn destinations_take_turns_with_several_categories() {
    let calls = [("calls", Length(Span::from_secs(1))), ("in_radio", Integer(64))];
    let at = Interface { categories: 4, ..Interface::radio(50) };
    let OutputQueue::Labelled(queue) = build("diffq", &calls).queue(&at) else { unreachable!() };
    let mut node = Node { queue, ..Node::new("diffq", &calls) };
    node.store(5, 2, 4);
    node.store(6, 3, 1);
    node.store_plain(2);
    assert_eq!(node.destinations(9), [0, 5, 6, 0, 5, 5, 5]);
}
