//! Tables are bounded: a node that floods a network with invented messages does not fill the memory of others.

use crate::support::*;
use airfair_routing::olsr::OlsrConfig;
use airfair_routing::{Protocol, Routing};

/// Equal parameters are the same protocol; others, and other protocols, are not.
#[test]
fn protocols_are_compared_by_their_parameters() {
    let protocol: &dyn Protocol = &config();
    assert!(*protocol == *(&config() as &dyn Protocol));
    assert!(*protocol != *(&OlsrConfig { willingness: 1, ..config() } as &dyn Protocol));
    assert!(*protocol != *(&airfair_routing::aodv::AodvConfig::default() as &dyn Protocol));
    assert_eq!((protocol.name(), protocol.udp_port(), protocol.is_proactive()), ("OLSR", 698, true));
    assert_eq!(protocol.kinds(), ["hello", "tc", "forwarded"]);
}

fn refused(node: &Node) -> u64 {
    let counters = node.routing.counters();
    assert_eq!(counters.len(), 1);
    counters.iter().find(|counter| counter.0 == "refused").unwrap().1
}

#[test]
fn what_finds_no_room_is_refused() {
    let small = OlsrConfig { table_limit: 3, ..config() };
    let mut node = Node::started(&small);
    for number in [2, 3, 4, 5] {
        node.meet(500, number, &[]);
    }
    assert_eq!((node.routes().len(), refused(&node)), (3, 1), "links");
    // A known neighbour is still heard.
    node.meet(1000, 2, &[10, 11, 12, 13]);
    assert_eq!((node.routes().len(), refused(&node)), (6, 2), "nodes two hops away");
    node.meet(1000, 2, &[10, 11, 12]);
    assert_eq!(refused(&node), 2);
    node.tc(1100, 2, 10, 1, &[20, 21, 22, 23]);
    assert_eq!((node.routes().len(), refused(&node)), (9, 3), "advertised links");
    node.tc(1100, 2, 10, 1, &[20, 21, 22]);
    assert_eq!(refused(&node), 3);
    node.selected(1200, 2, &[10, 11, 12]);
    // Two messages have come by now; the third is forwarded, the next is not.
    node.tc(1200, 2, 10, 1, &[20]);
    assert_eq!(refused(&node), 3);
    node.tc(1200, 2, 10, 1, &[20]);
    assert_eq!(refused(&node), 4, "duplicates");
    let forwarded = node.until(1300);
    assert_eq!(forwarded.len(), 1);
    assert_eq!(forwarded[0].messages.len(), 1);
    // They make room when they expire.
    node.until(33_000);
    node.selected(33_000, 2, &[]);
    node.tc(33_000, 2, 10, 1, &[20]);
    assert_eq!((node.until(33_100)[0].messages.len(), refused(&node)), (1, 4));
}
