use super::*;
use crate::spec::{QueueSpec, RateChange};

const WIRE: WireIx = WireIx(0);

/// 8 Mbit/s, so that a byte takes 1 us, and a delay of 5 ms.
fn spec() -> LinkSpec {
    LinkSpec {
        ends: [0, 1],
        rate: Rate::from_mbps(8),
        rate_changes: vec![],
        delay: Span::from_millis(5),
        loss: 0.0,
        loss_every: 0,
        queue: QueueSpec { packets: 2 },
        local_limit: None,
    }
}

fn links(spec: LinkSpec) -> Links {
    Links::new(&[spec], &["a", "b"], &[PortIx(0), PortIx(1)], (20, Bytes(1_000_000)), 1)
}

fn queueing(spec: LinkSpec, limit: u32) -> Links {
    let mut links = links(spec);
    links.keep_queue(WIRE, limit);
    links
}

fn us(us: u64) -> Time {
    Time(1000 * us)
}

/// A packet of 100 bytes on the wire.
fn offer(packet: u64) -> OfferedPacket {
    OfferedPacket { packet: CopyRef(packet), bytes: 80, has_payload: true }
}

/// Due time of an arrival event.
fn arrival(due: Option<ScheduledEvent>) -> Option<Time> {
    due.map(|due| {
        assert_eq!(due.kind, EventKind::WireArrival(WIRE));
        due.at
    })
}

fn accepted(answer: OfferResult) -> Option<Time> {
    match answer {
        OfferResult::Accepted(due) => arrival(due),
        OfferResult::Full => panic!("refused"),
    }
}

fn arrived(packet: u64) -> Option<WireEnd> {
    Some(WireEnd { packet: CopyRef(packet), node: NodeIx(1), lost: false, onward: None })
}

#[test]
fn packets_leave_one_after_the_other_and_arrive_a_delay_later() {
    let mut links = queueing(spec(), 2);
    assert!(links.keeps_queue(WIRE) && !links.keeps_queue(opposite(WIRE)));
    // 100 us to send, 5,000 us on the way. Only the first arrival is an event; each makes the next one.
    assert_eq!(accepted(links.offer(WIRE, &offer(1), us(0))), Some(us(5100)));
    assert_eq!(accepted(links.offer(WIRE, &offer(2), us(10))), None);
    assert_eq!(accepted(links.offer(WIRE, &offer(3), us(20))), None);
    // One is in transmission, two wait: there is room again when the second starts.
    assert_eq!(links.offer(WIRE, &offer(4), us(99)), OfferResult::Full);
    assert!(links.is_full(WIRE, us(99)) && !links.is_full(WIRE, us(100)));
    assert_eq!(accepted(links.offer(WIRE, &offer(4), us(100))), None);
    let next = |links: &mut Links| {
        let (end, due) = links.on_arrival(WIRE);
        (end, arrival(due))
    };
    assert_eq!(next(&mut links), (arrived(1), Some(us(5200))));
    assert_eq!(next(&mut links), (arrived(2), Some(us(5300))));
    assert_eq!(next(&mut links), (arrived(3), Some(us(5400))));
    assert_eq!(next(&mut links), (arrived(4), None));
}

#[test]
fn a_view_is_of_its_moment() {
    let mut links = queueing(spec(), 10);
    for (packet, at) in [(1, 0), (2, 0), (3, 50)] {
        assert!(accepted(links.offer(WIRE, &offer(packet), us(at))).is_none() || packet == 1);
    }
    let view = |waiting, on_the_way, left, waited| WireView { waiting, on_the_way, left, waited };
    let waited = |us: u64| Span::from_micros(us);
    assert_eq!(links.view(WIRE, us(50)), view(2, 1, 1, waited(0)));
    assert_eq!(links.waiting(WIRE, us(50)).collect::<Vec<_>>(), [CopyRef(2), CopyRef(3)]);
    assert_eq!(links.backlog(WIRE, us(50)), Some(Backlog { packets: 2, bytes: 200 }));
    // The second starts at 100 us, the third at 200 us.
    assert_eq!(links.view(WIRE, us(100)), view(1, 2, 2, waited(100)));
    assert_eq!(links.backlog(WIRE, us(100)), Some(Backlog { packets: 1, bytes: 100 }));
    assert!(!links.is_empty(WIRE, us(199)) && links.is_empty(WIRE, us(200)));
    assert_eq!(links.view(WIRE, us(200)), view(0, 3, 3, waited(250)));
    assert_eq!(links.backlog(WIRE, us(300)), Some(Backlog::default()));
    let last = Departure { begin: us(200), end: us(300), packet: CopyRef(3) };
    assert_eq!(links.departure(WIRE, CopyRef(3)), Some(last));
    assert_eq!(links.departure(WIRE, CopyRef(2)), None);
}

#[test]
fn who_waits_for_room_is_woken_once_at_the_next_departure() {
    let mut links = queueing(spec(), 2);
    assert_eq!(links.wake_at_departure(WIRE, us(0)), None, "nothing waits");
    for packet in 1..=3 {
        assert!(matches!(links.offer(WIRE, &offer(packet), us(0)), OfferResult::Accepted(_)));
    }
    let due = links.wake_at_departure(WIRE, us(10)).unwrap();
    assert_eq!((due.at, due.kind), (us(100), EventKind::WireFree(WIRE)));
    assert_eq!(links.wake_at_departure(WIRE, us(20)), None, "one is pending");
    assert_eq!(links.on_free(WIRE), FreeWire { port: PortIx(0), keeps_queue: true });
    assert_eq!(links.wake_at_departure(WIRE, us(100)).map(|due| due.at), Some(us(200)));
}

#[test]
fn a_wire_without_a_queue_is_given_packets_when_it_is_idle() {
    let mut links = links(spec());
    assert!(links.is_idle(WIRE, us(0)) && links.backlog(WIRE, us(0)).is_none());
    // Indicated by a radio, at which the last bit arrives 3 us later.
    assert_eq!(arrival(links.send(WIRE, &offer(1), us(3), us(0))), Some(us(5103)));
    assert!(!links.is_idle(WIRE, us(102)) && links.is_idle(WIRE, us(103)));
    let due = links.wake(WIRE).unwrap();
    assert_eq!((due.at, due.kind), (us(103), EventKind::WireFree(WIRE)));
    assert!(links.wake_pending(WIRE) && links.wake(WIRE).is_none());
    assert_eq!(links.on_free(WIRE), FreeWire { port: PortIx(0), keeps_queue: false });
    assert!(!links.wake_pending(WIRE));
    // Packets in the node's queue are not the wire's.
    assert_eq!(links.view(WIRE, us(1)), WireView { on_the_way: 1, ..WireView::default() });
    assert_eq!(links.wake_at_departure(WIRE, us(1)), None);
}

#[test]
fn every_third_packet_with_payload_is_lost_at_its_arrival() {
    let mut links = queueing(LinkSpec { loss_every: 3, ..spec() }, 100);
    links.records.enable();
    let mut fates = Vec::new();
    for packet in 1..=8 {
        // The second has no payload.
        let offer = OfferedPacket { has_payload: packet != 2, ..offer(packet) };
        assert!(matches!(links.offer(WIRE, &offer, us(0)), OfferResult::Accepted(_)));
    }
    while let (Some(end), _) = links.on_arrival(WIRE) {
        fates.push(!end.lost);
    }
    assert_eq!(fates, [true, true, true, false, true, true, false, true]);
    let recorded = links.records.drain().filter_map(|(_, record)| match record {
        Record::OnWire { begin, arrival, lost, .. } => Some((begin, arrival, !lost)),
        _ => None,
    });
    let recorded: Vec<_> = recorded.collect();
    assert_eq!(recorded.iter().map(|packet| packet.2).collect::<Vec<_>>(), fates);
    assert_eq!((recorded[1].0, recorded[1].1), (us(100), us(5200)));
}

#[test]
fn a_link_loses_by_chance_as_often_as_it_is_said_to() {
    let mut links = queueing(LinkSpec { loss: 0.1, ..spec() }, u32::MAX);
    for packet in 0..10_000 {
        let _ = links.offer(WIRE, &offer(packet), us(0));
    }
    let ends = std::iter::from_fn(|| links.on_arrival(WIRE).0);
    let lost = ends.filter(|end| end.lost).count();
    // Mean 1,000, standard deviation 30.
    assert!((880..=1120).contains(&lost), "{lost}");
}

#[test]
fn another_rate_holds_for_the_next_packet() {
    let change = RateChange { at: us(50), rate: Rate::from_mbps(4) };
    let spec = LinkSpec { rate_changes: vec![change], ..spec() };
    let mut links = queueing(spec.clone(), 2);
    assert!(!links.keeps_queue(WIRE), "nobody knows when packets will leave");
    let specs = [spec];
    let changes: Vec<ScheduledEvent> = links.rate_changes(&specs).collect();
    assert_eq!(changes.len(), 1);
    assert_eq!(
        (changes[0].at, changes[0].kind),
        (us(50), EventKind::RateChange { link: 0, rate: change.rate })
    );
    assert_eq!(arrival(links.send(WIRE, &offer(1), us(0), us(0))), Some(us(5100)));
    assert_eq!(links.on_rate_change(0, change.rate), [PortIx(0), PortIx(1)]);
    assert!(links.is_idle(WIRE, us(100)));
    assert_eq!(links.send(WIRE, &offer(2), us(60), us(100)), None);
    let (end, due) = links.on_arrival(WIRE);
    assert_eq!((end, arrival(due)), (arrived(1), Some(us(5300))));
}

#[test]
fn links_between_the_same_nodes_draw_their_own_losses() {
    let specs = [spec(), spec(), LinkSpec { ends: [1, 0], ..spec() }];
    assert_eq!((0..3).map(|i| parallel_index(&specs, i)).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(link_of(WireIx(5)), 2);
}
