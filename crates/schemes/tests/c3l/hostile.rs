//! Hostile reports at C3L's controller, and hostile messages at its agents.

use airfair_schemes::c3l::discovery;
use airfair_schemes::c3l::topology::{Rules, Topology};
use airfair_schemes::fuzz::{Agents, Controllers, scheme};
use airfair_schemes::places::{Context, Controller, ControllerEffects, NodeId, Timer};
use airfair_schemes::{ParamValue, Params, find};
use airfair_units::Span;
use airfair_units::random::{Purpose, Stream};
use airfair_wire::c3l::{FlowReport, Neighbour, Report, ReportHead};
use allocation_counter::measure;

use crate::hostile_driver::drive;

use super::{at, link};

const ROUND: Timer = Timer(1);

struct Rig {
    controller: Box<dyn Controller>,
    random: Stream,
}

impl Rig {
    fn new() -> Self {
        let controller = scheme("c3l").controller().unwrap();
        Self { controller, random: Stream::new(1, "x", Purpose::Controller) }
    }

    /// A node reports that it hears others and sends a flow to the next one.
    fn report(&mut self, from: u32, round: u16, hears: &[u32], next_hop: u32) {
        let list: Vec<Neighbour> =
            hears.iter().map(|&node| Neighbour { node, hellos: 255, probes: 255 }).collect();
        let flows = [FlowReport { flow: from, next_hop, rate: 1000, demand: u32::MAX }];
        let head = ReportHead { node: from, number: round, version: round };
        for part in &Report::parts(head, &[], &flows, Some(&list[..])) {
            let mut bytes = vec![0; part.wire_len()];
            part.encode(&mut bytes).unwrap();
            let mut out = ControllerEffects::default();
            let now = at(u64::from(round) * 8000 - 1000);
            let mut context = Context { now, random: &mut self.random, out: &mut out };
            self.controller.on_message(NodeId(from), &bytes, &mut context);
        }
    }

    fn round(&mut self, round: u16) {
        let mut out = ControllerEffects::default();
        let mut context =
            Context { now: at(u64::from(round) * 8000), random: &mut self.random, out: &mut out };
        self.controller.on_timer(ROUND, &mut context);
    }

    fn gauge(&self, name: &str) -> f64 {
        self.controller.gauges().into_iter().find(|gauge| gauge.0 == name).unwrap().1
    }
}

/// Links in groups of three, of which those of different groups are in conflict: 3^k cliques of k links (Moon and Moser 1965). 8 groups
/// have 6,561 of them, which are listed; 13 groups 1,594,323, of which so many are that they have 200,000 members. Then neither a round
/// nor the next one costs more, and all links still get shares.
#[test]
fn forged_reports_with_too_many_cliques() {
    let mut works = Vec::new();
    for groups in [8_u32, 10, 13] {
        let mut rig = Rig::new();
        for round in 1..3_u16 {
            for i in 0..3 * groups {
                let others = (0..3 * groups).filter(|j| j / 3 != i / 3).map(|j| 2 * j);
                rig.report(2 * i, round, &others.chain([2 * i + 1]).collect::<Vec<_>>(), 2 * i + 1);
                rig.report(2 * i + 1, round, &[2 * i], 2 * i);
            }
            let before = rig.controller.work();
            let memory = measure(|| rig.round(round));
            works.push(rig.controller.work() - before);
            let members = rig.gauge("clique_members");
            let all = 3_u64.pow(groups) as f64;
            // Each sender has its link, and each receiver one back: both are in all cliques of the other.
            assert_eq!(rig.gauge("links"), f64::from(6 * groups));
            if groups == 8 {
                assert_eq!((rig.gauge("cliques"), rig.gauge("cliques_cut")), (all, 0.0));
            } else {
                assert!(rig.gauge("cliques") < all && rig.gauge("cliques_cut") == 1.0);
                // Links that are in no clique by then have one of their own.
                assert!(members <= 200_000.0 + f64::from(6 * groups), "{members}");
            }
            assert!(memory.bytes_max < 50_000_000, "{memory:?}");
            println!("{groups} groups, round {round}: {members} members, {memory:?}");
        }
    }
    // Most of it is the search for cliques.
    assert!(works.iter().all(|&work| work < 5_000_000), "{works:?}");
    println!("{works:?}");
}

/// Reports that change many links at once, round after round, in a graph with 6,561 cliques that are kept: each conflict that comes or
/// goes costs a search in its neighbourhood and a look at the cliques of both links. All of a round's changes together cost no more than
/// one search of the whole graph may.
#[test]
fn forged_reports_with_many_changes() {
    const GROUPS: u32 = 8;
    let few = Params([("clique_members".to_string(), ParamValue::Integer(60_000))].into());
    let scheme = (find("c3l").unwrap().build)(&few).unwrap();
    let mut rig = Rig { controller: scheme.controller().unwrap(), ..Rig::new() };
    let bound = Rules { members: 60_000, ..Rules::default() }.most_work();
    let mut works = Vec::new();
    for round in 1..8_u16 {
        // Far from the cliques 300 links, so that those that change are few enough for changes one by one.
        for far in 0..300_u32 {
            rig.report(10_000 + 2 * far, round, &[10_001 + 2 * far], 10_001 + 2 * far);
        }
        for i in 0..3 * GROUPS {
            // In every other round each sender hears those of its own group too: all links are in conflict, and no longer the next time.
            let all = round % 2 == 0;
            let others = (0..3 * GROUPS).filter(|j| *j != i && (all || j / 3 != i / 3)).map(|j| 2 * j);
            rig.report(2 * i, round, &others.chain([2 * i + 1]).collect::<Vec<_>>(), 2 * i + 1);
            rig.report(2 * i + 1, round, &[2 * i], 2 * i);
        }
        let before = rig.controller.work();
        rig.round(round);
        works.push(rig.controller.work() - before);
        println!("round {round}: {} cliques, work {}", rig.gauge("cliques"), works[works.len() - 1]);
    }
    assert!(works.iter().all(|&work| work < bound), "{works:?}, {bound}");
    // The search counts: it is most of the work.
    assert!(works.iter().any(|&work| work > 1_000_000), "{works:?}");
}

/// 400 links into four nodes, of senders that each say that they hear 250 others: with 1,000 members at most 50,000 pairs are checked, and
/// those of one more link.
#[test]
fn forged_reports_with_too_many_conflicts() {
    let few = Params([("clique_members".to_string(), ParamValue::Integer(1000))].into());
    let scheme = (find("c3l").unwrap().build)(&few).unwrap();
    let mut rig = Rig { controller: scheme.controller().unwrap(), ..Rig::new() };
    for from in 1..=400_u32 {
        let hears: Vec<u32> = (1..=250).map(|i| 1 + (from + i) % 400).collect();
        rig.report(from, 1, &hears, 5000 + from % 4);
    }
    let before = rig.controller.work();
    rig.round(1);
    let work = rig.controller.work() - before;
    assert_eq!(rig.gauge("cliques_cut"), 1.0);
    assert!(rig.gauge("clique_members") <= 1400.0, "{}", rig.gauge("clique_members"));
    assert!(work > 50_000 && work < 150_000, "{work}");
}

/// An honest mesh of 5,000 nodes, 100 by 50, in which each node hears the 8 beside it and the probes of the 16 around these, and all send
/// towards 50 gateways in the first row: far from the limit.
#[test]
fn an_honest_mesh_is_not_cut() {
    let (columns, rows) = (100_i32, 50_i32);
    let number = |x: i32, y: i32| (y * columns + x) as u32;
    let mut topology = Topology::new(Rules { expiry: Span::from_secs(60), ..Rules::default() });
    let mut used = Vec::new();
    for y in 0..rows {
        for x in 0..columns {
            let around = (-2..=2).flat_map(|dy| (-2..=2).map(move |dx| (dx, dy)));
            let inside = around.filter(|&(dx, dy)| {
                (dx, dy) != (0, 0) && (0..columns).contains(&(x + dx)) && (0..rows).contains(&(y + dy))
            });
            let heard = |(dx, dy): (i32, i32)| {
                let hellos = if dx.abs() < 2 && dy.abs() < 2 { 255 } else { 0 };
                discovery::Neighbour { node: NodeId(number(x + dx, y + dy)), hellos, probes: 255 }
            };
            let list: Vec<_> = inside.map(heard).collect();
            topology.report(NodeId(number(x, y)), &list, at(0));
            if y > 0 {
                used.push(link(number(x, y), number(x, y - 1)));
            } else if x % 2 == 1 {
                used.push(link(number(x, 0), number(x - 1, 0)));
            }
        }
    }
    topology.use_links(used.iter().copied(), at(0));
    assert!(topology.update() && topology.lists_all());
    let (members, checks, searched) = (topology.cliques().members(), topology.checks(), topology.searched());
    println!(
        "{} links, {} cliques, {members} members, {checks} checks, searched {searched}",
        used.len(),
        topology.cliques().len()
    );
    assert!(members < 150_000 && checks < 5_000_000, "{members}, {checks}");
    assert!(searched < 50_000_000, "{searched}");
    // A fifth of the links end and begin again elsewhere: changes one by one, which are not cut either.
    let moved = used.iter().enumerate().filter(|(at, _)| at % 10 != 0).map(|(_, &link)| link);
    topology.use_links(moved, at(130_000));
    assert!(topology.update() && topology.lists_all());
    println!("changes: {} checks, searched {}", topology.checks(), topology.searched());
    assert!(topology.searched() < 100_000_000, "{}", topology.searched());
}

#[test]
fn any_reports_cost_bounded_work() {
    let mut controllers = Controllers::new(&*scheme("c3l")).unwrap();
    let worst = drive(&mut controllers, 100_000);
    println!("{worst:?}");
    // Nearly all of it is the search for cliques.
    assert!(worst.total > 1_000_000 && worst.work < 60_000_000, "{worst:?}");
    assert!(worst.kept < 100_000_000, "{worst:?}");
}

#[test]
fn any_messages_at_an_agent_cost_bounded_work() {
    let worst = drive(&mut Agents::new(&*scheme("c3l")).unwrap(), 100_000);
    println!("{worst:?}");
    // The driver bounds the work of each call.
    assert!(worst.total > 10_000, "{worst:?}");
    assert!(worst.allocations < 5000 && worst.bytes < 2_000_000 && worst.kept < 4_000_000, "{worst:?}");
}
