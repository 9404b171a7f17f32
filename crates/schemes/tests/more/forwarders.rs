//! Credits by hand.

use airfair_schemes::more::forwarders::forwarders;
use airfair_schemes::opportunistic::expected::{Expected, Pruning};
use airfair_schemes::places::NodeId;

use crate::networks::{DIAMOND, LINE, MESH, network};

const ALL: Pruning = Pruning { part: 0.0, rise: 0.0, most: 64 };

/// Forwarders with z and TX.
fn assert_credits(links: &[(u32, u32, f64)], source: u32, destination: u32, wanted: &[(u32, f64, f64)]) {
    let losses = network(links);
    let expected = Expected::new(&losses, NodeId(source), NodeId(destination), &ALL).unwrap();
    let found = forwarders(&losses, &expected);
    assert_eq!(found.len(), wanted.len());
    for (forwarder, &(node, sends, credit)) in found.iter().zip(wanted) {
        assert_eq!(forwarder.node, NodeId(node));
        assert!((forwarder.sends - sends).abs() < 1e-12, "{node}: z is {}", forwarder.sends);
        assert!((forwarder.credit - credit).abs() < 1e-12, "{node}: TX is {}", forwarder.credit);
    }
}

#[test]
fn credits_by_hand() {
    assert_credits(&[(1, 0, 0.5)], 1, 0, &[]);
    // The relay hears 25/21 * 0.8 = 20/21 packets, and sends 32/21.
    assert_credits(&LINE, 2, 0, &[(1, 32.0 / 21.0, 1.6)]);
    // Both relays hear 4/3 * 1/2 = 2/3 packets.
    assert_credits(&DIAMOND, 3, 0, &[(1, 5.0 / 6.0, 1.25), (2, 5.0 / 12.0, 0.625)]);
    // 13 hears the source, 15 hears 13, 12 hears the source, 13 and 15.
    let (z13, z15) = (1.0 / 9.0 / 0.98, 0.08 / 9.0 / 0.98 / 0.9);
    let z12 = (8.0 / 9.0 + 0.4 * z13 + 0.1 * z15) / 0.8;
    let credits = [z12 / (8.0 / 9.0 + 0.8 * z13 + 0.5 * z15), z15 / (0.8 * z13), z13 / (5.0 / 9.0)];
    assert_credits(&MESH, 10, 14, &[(12, z12, credits[0]), (15, z15, credits[1]), (13, z13, credits[2])]);
}
