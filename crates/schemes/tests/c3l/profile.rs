//! §III-A: routes of flows from reports of nodes.

use airfair_schemes::c3l::profile::{Passing, Profile, Route};
use airfair_schemes::c3l::topology::Link;
use airfair_schemes::places::{FlowId, NodeId};
use airfair_units::Span;

use super::{at, link};

const fn to(flow: u32, next_hop: u32, demand: f64) -> Passing {
    Passing { flow: FlowId(flow), next_hop: NodeId(next_hop), demand, rate: 0.0 }
}

fn profile() -> Profile {
    Profile::new(Span::from_secs(20), 4)
}

const ANY: f64 = f64::INFINITY;

/// Flow 7 from 9 by 3 to 5 and 1, flow 8 from 3 to 5: routes from the first to the last node, and the smallest demand; with the rate
/// that the last node reports, and when. Flow 7 takes all by its first node, though the last one thinks that it needs 80 bit/s.
#[test]
fn reports_join_to_routes() {
    let mut profile = profile();
    assert_eq!(profile.routes(1024), []);
    profile.report(NodeId(3), vec![to(7, 5, 100.0), to(8, 5, ANY)], at(0));
    profile.report(NodeId(5), vec![Passing { rate: 60.0, ..to(7, 1, 80.0) }], at(2));
    profile.report(NodeId(9), vec![to(7, 3, ANY)], at(0));
    let seven = Route {
        flow: FlowId(7),
        links: vec![link(9, 3), link(3, 5), link(5, 1)],
        demand: 80.0,
        rate: 0.0,
        last: (60.0, at(2)),
        takes_all: true,
        answers: Vec::new(),
    };
    let eight =
        Route { flow: FlowId(8), links: vec![link(3, 5)], demand: ANY, last: (0.0, at(0)), ..seven.clone() };
    assert_eq!(profile.routes(1024), [seven.clone(), eight.clone()]);
    assert_eq!((seven.rank(), eight.rank()), ((7 << 32) + 9, (8 << 32) + 3));
    // A new report replaces the last one.
    profile.report(NodeId(5), vec![], at(3));
    assert_eq!(profile.routes(1024)[0].links, [link(9, 3), link(3, 5)]);
}

/// Node 3's report is missing: two pieces.
#[test]
fn a_missing_report_leaves_pieces() {
    let mut profile = profile();
    profile.report(NodeId(5), vec![to(7, 1, 80.0)], at(0));
    profile.report(NodeId(9), vec![to(7, 3, ANY)], at(0));
    let last = (0.0, at(0));
    let piece = |links, demand| Route {
        flow: FlowId(7),
        links,
        demand,
        rate: 0.0,
        last,
        takes_all: demand == ANY,
        answers: Vec::new(),
    };
    assert_eq!(profile.routes(1024), [piece(vec![link(5, 1)], 80.0), piece(vec![link(9, 3)], ANY)]);
}

/// 1 > 2 > 3 > 1 is a ring: three links, once each; and a node that names itself has no link. A tail that runs into a ring ends there.
#[test]
fn rings_end() {
    let mut profile = profile();
    for (node, next) in [(2, 3), (1, 2), (3, 1), (4, 4)] {
        profile.report(NodeId(node), vec![to(7, next, ANY)], at(0));
    }
    let routes = profile.routes(1024);
    assert_eq!(routes.len(), 1);
    assert_eq!(routes[0].links, [link(1, 2), link(2, 3), link(3, 1)]);
    profile.report(NodeId(4), vec![to(7, 2, ANY)], at(0));
    let routes = profile.routes(1024);
    assert_eq!(routes.len(), 1);
    assert_eq!(routes[0].links, [link(4, 2), link(2, 3), link(3, 1), link(1, 2)]);
    // Two flows into one: 1 > 2 and 3 > 2 > 4 of the same number: the second joins, each link once.
    let mut two = self::profile();
    for (node, next) in [(1, 2), (3, 2), (2, 4)] {
        two.report(NodeId(node), vec![to(7, next, ANY)], at(0));
    }
    let links: Vec<_> = two.routes(1024).into_iter().map(|route| route.links).collect();
    assert_eq!(links, [vec![link(1, 2), link(2, 4)], vec![link(3, 2)]]);
}

#[test]
fn reports_expire_and_the_oldest_gives_way() {
    let mut profile = profile();
    for node in 1..=4 {
        profile.report(NodeId(node), vec![to(node, 9, ANY)], at(u64::from(node)));
    }
    profile.report(NodeId(1), vec![to(1, 9, ANY)], at(5));
    profile.report(NodeId(6), vec![to(6, 9, ANY)], at(6));
    let flows = |profile: &Profile| profile.routes(1024).iter().map(|route| route.flow.0).collect::<Vec<_>>();
    assert_eq!(flows(&profile), [1, 3, 4, 6], "2 had reported first");
    profile.expire(at(20_003));
    assert_eq!(flows(&profile), [1, 4, 6]);
    profile.expire(at(20_005));
    assert_eq!(flows(&profile), [6]);
}

/// Of three flows that begin at node 1 two count, the first by number; one that only passes it counts in any case.
#[test]
fn no_node_begins_more_flows_than_it_may() {
    let passing =
        |flow, next| Passing { flow: FlowId(flow), next_hop: NodeId(next), demand: f64::INFINITY, rate: 0.0 };
    let mut profile = Profile::new(Span::from_secs(20), 10);
    let now = airfair_units::Time::ZERO;
    profile.report(NodeId(1), vec![passing(7, 2), passing(5, 2), passing(6, 2), passing(9, 2)], now);
    profile.report(NodeId(3), vec![passing(9, 1)], now);
    let flows = |own| profile.routes(own).iter().map(|route| route.flow.0).collect::<Vec<_>>();
    assert_eq!(flows(2), [5, 6, 9]);
    assert_eq!(flows(3), [5, 6, 7, 9]);
}

/// Node 9 says that it sends the flow of node 1, which then begins at node 9, where it is one too many: its links from node 1 on count.
#[test]
fn a_node_cannot_take_the_flows_of_others() {
    let mut profile = profile();
    profile.report(NodeId(9), vec![to(3, 8, ANY), to(7, 1, ANY)], at(0));
    profile.report(NodeId(1), vec![to(7, 2, ANY), to(4, 2, ANY)], at(0));
    profile.report(NodeId(2), vec![to(7, 4, ANY), to(4, 4, ANY), to(5, 6, ANY)], at(0));
    let routes = |own| -> Vec<(u32, Vec<Link>)> {
        let routes = profile.routes(own);
        assert!(routes.is_sorted_by_key(Route::rank));
        routes.into_iter().map(|route| (route.flow.0, route.links)).collect()
    };
    let (three, four, five) =
        ((3, vec![link(9, 8)]), (4, vec![link(1, 2), link(2, 4)]), (5, vec![link(2, 6)]));
    let seven = [link(9, 1), link(1, 2), link(2, 4)];
    let with = |seven: &[Link]| vec![three.clone(), four.clone(), five.clone(), (7, seven.to_vec())];
    assert_eq!(routes(2), with(&seven));
    // Flows that begin at node 1 and at node 2 come first there.
    assert_eq!(routes(1), [three, four, five]);
    let mut without = profile.clone();
    without.report(NodeId(1), vec![to(7, 2, ANY)], at(1));
    let flows: Vec<(u32, Vec<Link>)> =
        without.routes(1).into_iter().map(|route| (route.flow.0, route.links)).collect();
    assert_eq!(flows.last(), Some(&(7, seven[1..].to_vec())));
    without.report(NodeId(1), vec![], at(2));
    let flows: Vec<u32> = without.routes(1).into_iter().map(|route| route.flow.0).collect();
    assert_eq!(flows, [3, 4], "two pieces of flow 7, both too many");
}

/// Node 9 begins one flow too many, 4, which counts from node 1 on: in its place in the order.
#[test]
fn what_is_left_of_a_flow_has_its_place() {
    let mut profile = profile();
    profile.report(NodeId(9), vec![to(3, 8, ANY), to(4, 1, ANY)], at(0));
    profile.report(NodeId(1), vec![to(4, 2, ANY)], at(0));
    profile.report(NodeId(5), vec![to(8, 6, ANY)], at(0));
    let flows: Vec<u32> = profile.routes(1).iter().map(|route| route.flow.0).collect();
    assert_eq!(flows, [3, 4, 8]);
}
