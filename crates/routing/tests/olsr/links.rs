//! Link sensing [RFC 3626 section 7.1.1], link-layer notification [13], hysteresis [14].

use crate::support::*;
use airfair_routing::olsr::{Hysteresis, OlsrConfig};
use airfair_routing::{Routing, Undelivered};
use airfair_wire::olsr::{LinkCode, LinkType, NeighbourType};

/// How the node's next HELLO lists its neighbour 2.
fn code(node: &mut Node, at: u64) -> Option<LinkCode> {
    let sent = node.until(at);
    let last = hellos(&sent).pop().unwrap();
    last.into_iter().find(|(_, neighbours)| neighbours.contains(&2)).map(|(code, _)| code)
}

#[test]
fn a_link_is_symmetric_once_the_neighbour_lists_the_node() {
    let mut node = Node::started(&config());
    node.hello(500, 2, &[]);
    assert_eq!((code(&mut node, 2000), node.routes()), (Some(ASYMMETRIC), vec![]));
    // Heard only, from the neighbour's point of view: both hear each other.
    node.hello(2500, 2, &[(ASYMMETRIC, &[1])]);
    assert_eq!((code(&mut node, 4000), node.routes()), (Some(SYMMETRIC), vec![(2, 2, 1)]));
    assert_eq!(node.routing.next_hop(at(2), ms(4000)), Some(hop(2)));
}

#[test]
fn a_lost_link_is_not_symmetric() {
    let mut node = Node::started(&config());
    node.meet(500, 2, &[]);
    assert_eq!(node.routes(), [(2, 2, 1)]);
    node.hello(2500, 2, &[(LOST, &[1])]);
    assert_eq!((code(&mut node, 4000), node.routes()), (Some(ASYMMETRIC), vec![]));
}

/// Other codes about this node leave the link's time as it is, and a code without meaning counts as none.
#[test]
fn only_codes_of_links_count() {
    let mut node = Node::started(&config());
    node.meet(500, 2, &[]);
    for (step, group) in [LinkCode(4), LinkCode(2), LinkCode(0x12)].into_iter().enumerate() {
        node.hello(1000 + 1000 * step as u64, 2, &[(group, &[1])]);
    }
    node.until(6499);
    assert_eq!(node.routes(), [(2, 2, 1)]);
    node.until(6500);
    assert_eq!(node.routes(), []);
}

/// Symmetric for 6 s after the last HELLO that lists the node, then heard, as long as HELLOs arrive; at last lost, for the rest of the time
/// for which the link is remembered: 6 s more.
#[test]
fn a_silent_neighbour_is_lost_after_its_hold_time() {
    let mut node = Node::started(&config());
    node.meet(500, 2, &[]);
    node.hello(2500, 2, &[]);
    node.until(6499);
    assert_eq!(node.routes(), [(2, 2, 1)]);
    assert_eq!(node.routing.table().lost, 0);
    node.until(6500);
    assert_eq!((node.routes(), node.routing.table().lost), (vec![], 1));
    assert_eq!(code(&mut node, 8000), Some(ASYMMETRIC));
    assert_eq!(code(&mut node, 10_000), Some(LOST));
    assert_eq!(code(&mut node, 12_000), Some(LOST));
    assert_eq!(code(&mut node, 14_000), None);
}

/// At the moment at which its time ends, a link is lost.
#[test]
fn times_end_at_their_moment() {
    let mut node = Node::started(&config());
    node.until(2000);
    node.meet(2000, 2, &[]);
    node.until(7999);
    assert_eq!(node.routes(), [(2, 2, 1)]);
    assert_eq!((code(&mut node, 8000), node.routes()), (Some(LOST), vec![]));
}

/// A neighbour by two interfaces: the link over one of them is enough, and each HELLO lists the links of its interface.
#[test]
fn links_belong_to_interfaces() {
    let mut node = Node::with_interfaces(1, 3, &config());
    node.timer(0);
    node.receive_by(500, 0, 2, &[hello(2, 3, &[(SYMMETRIC, &[1])])]);
    node.receive_by(3000, 1, 2, &[hello(2, 3, &[(SYMMETRIC, &[1])])]);
    let sent = node.until(4000);
    let of = |interface: u32| {
        let own: Vec<_> = sent.iter().filter(|sent| sent.interface == interface).cloned().collect();
        hellos(&own).pop().unwrap()
    };
    let elsewhere = LinkCode::new(LinkType::Unspecified, NeighbourType::Symmetric);
    assert_eq!((of(0), of(1)), (vec![(SYMMETRIC, vec![2])], vec![(SYMMETRIC, vec![2])]));
    assert_eq!(of(2), [(elsewhere, vec![2])]);
    assert_eq!(node.routing.next_hop(at(2), ms(4000)).unwrap().interface, 0);
    node.until(6500);
    assert_eq!(node.routing.next_hop(at(2), ms(6500)).unwrap().interface, 1);
    assert_eq!(node.routing.table().lost, 0, "the route changes, and is not lost");
    node.until(9000);
    assert_eq!((node.routes(), node.routing.table().lost), (vec![], 1));
}

#[test]
fn a_packet_given_up_breaks_the_link_if_feedback_is_on() {
    for (feedback, routes) in [(false, vec![(2, 2, 1)]), (true, vec![])] {
        let mut node = Node::started(&OlsrConfig { link_layer_feedback: feedback, ..config() });
        node.meet(500, 2, &[]);
        node.effects(ms(1000), |olsr, cx| olsr.on_undelivered(hop(2), Undelivered::Data(None), cx));
        assert_eq!(node.routes(), routes);
        if feedback {
            // Lost for the hold time, whatever is heard.
            for now in [1500, 3500, 5500] {
                node.meet(now, 2, &[]);
                assert_eq!((code(&mut node, now + 500), node.routes()), (Some(LOST), vec![]));
            }
            node.until(6999);
            assert_eq!(node.routes(), []);
            node.until(7000);
            assert_eq!(node.routes(), [(2, 2, 1)]);
        }
    }
}

/// Weight 0.5: after one, two and three HELLOs the quality is 0.5, 0.75, 0.875; the third is above 0.8. Then misses: 0.4375, 0.21875: the
/// second is below 0.3. A HELLO counts as missed half an interval after it was due.
#[test]
fn hysteresis_accepts_and_gives_up_links() {
    let mut node = Node::started(&OlsrConfig { hysteresis: Some(Hysteresis::default()), ..config() });
    for (now, accepted) in [(500, false), (2500, false), (4500, true)] {
        node.meet(now, 2, &[]);
        assert_eq!(!node.routes().is_empty(), accepted, "at {now}");
        assert_eq!(code(&mut node, now + 1500).is_some(), accepted, "pending links are not listed");
    }
    // Due at 6500 and 8500.
    node.until(9499);
    assert_eq!(node.routes(), [(2, 2, 1)]);
    node.until(9500);
    assert_eq!(node.routes(), []);
    assert_eq!(code(&mut node, 10_000), Some(LOST));
    // 0.609, 0.805: accepted with the second HELLO, although the time of the loss has not ended.
    node.meet(10_100, 2, &[]);
    assert_eq!(node.routes(), []);
    node.meet(12_100, 2, &[]);
    assert_eq!(node.routes(), [(2, 2, 1)]);
}

/// Half of the HELLOs keep a link, since the quality stays between 1/3 and 2/3.
#[test]
fn hysteresis_keeps_a_link_between_the_thresholds() {
    let mut node = Node::started(&OlsrConfig { hysteresis: Some(Hysteresis::default()), ..config() });
    for now in [500, 2500, 4500, 8500, 12_500, 16_500, 20_500] {
        node.until(now - 1);
        node.meet(now, 2, &[]);
    }
    assert_eq!((node.routes(), node.routing.table().lost), (vec![(2, 2, 1)], 0));
}
