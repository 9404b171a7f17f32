//! The network as the controller knows it: who hears whom, which links are in conflict, cliques, inhibited links (§III-B).
//!
//! Readings, each a field of [`Rules`] where there is a choice:
//! - A link is usable if its delivery ratio is at least a half; the paper gives no number.
//! - Two nodes interfere if one of them hears a part `interferes` or more of the other's HELLOs or probes: interference is as symmetric as
//!   the paper's range. With `mutual` each has to hear the other: a node that lies can then invent no conflict with nodes that do not hear
//!   it.
//! - The vertices of the conflict graph are the links that carry flows, also those that discovery does not call usable: their frames take
//!   air. The paper takes all usable links (`vertices = "usable"`): then a clique may be larger and its set of links more lasting, but no
//!   allocation differs, since links without flows take nothing. A link stays for `keep` after its last use.
//! - With RTS and CTS both ends of a link send and receive: two links are in conflict if an end of one interferes with an end of the
//!   other, or is the same node (`conflict = "ends"`). Without, a link spoils another if its sender interferes with the other's
//!   receiver (`conflict = "receivers"`).
//! - A link is inhibited if its sender lies outside the interference range of a node that is in communication range of its receiver;
//!   `reach` replaces the latter by interference range: a node out of communication range hears no CTS of the receiver and spoils
//!   receptions, too. An inhibitor is a link with such a node as its sender, or also as its receiver, which sends CTS and ACK (`hider`).
//!   Links that share a node do not inhibit each other.
//!
//! Cliques are kept by [`CliqueSet`]: a change costs a search among its neighbours. Where more than a quarter of all links have changed,
//! the graph is made anew. Without a change nothing is searched.

mod rules;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use airfair_optimum::{CliqueSet, Cliques, ConflictGraph, Membership};
use airfair_units::Time;

use super::discovery::{Neighbour, ratio};
use crate::places::NodeId;

use rules::USABLE;
pub use rules::{Conflict, Hider, Link, Reach, Rules, Vertices};

/// A node's last report.
#[derive(Debug, Clone)]
struct Report {
    at: Time,
    /// Sorted by node.
    neighbours: Vec<Neighbour>,
}

/// A link in the graph.
#[derive(Debug, Clone, Copy)]
struct Vertex {
    number: Option<u32>,
    used: Time,
}

/// The controller's picture of the network.
#[derive(Debug, Clone)]
pub struct Topology {
    rules: Rules,
    reports: BTreeMap<NodeId, Report>,
    /// The nodes that each node interferes with, in both directions.
    near: BTreeMap<NodeId, BTreeSet<NodeId>>,
    links: BTreeMap<Link, Vertex>,
    /// The links that each node is an end of.
    at_node: BTreeMap<NodeId, Vec<Link>>,
    /// Links by number; those of free numbers are not in the graph.
    by_number: Vec<Link>,
    /// Links whose conflicts may have changed.
    changed: BTreeSet<Link>,
    /// Numbers of links that have gone.
    gone: Vec<u32>,
    set: CliqueSet,
    cliques: Cliques,
    membership: Membership,
    complete: bool,
    left_out: usize,
    /// True if links have no conflicts because there were too many pairs to check.
    cut: bool,
    /// Pairs of links that the last update has checked for a conflict.
    checks: u64,
    /// Work of the last update's changes of cliques and searches for them.
    searched: u64,
    /// Work of the sets of cliques that others have replaced.
    replaced: u64,
}

impl Topology {
    /// Nothing known yet.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        let mut set = CliqueSet::new(ConflictGraph::new(), rules.limits());
        let cliques = set.listing().into_cliques();
        Self {
            rules,
            reports: BTreeMap::new(),
            near: BTreeMap::new(),
            links: BTreeMap::new(),
            at_node: BTreeMap::new(),
            by_number: Vec::new(),
            changed: BTreeSet::new(),
            gone: Vec::new(),
            membership: cliques.membership(),
            set,
            cliques,
            complete: true,
            left_out: 0,
            cut: false,
            checks: 0,
            searched: 0,
            replaced: 0,
        }
    }

    /// A report with the list of what a node hears.
    pub fn report(&mut self, node: NodeId, neighbours: &[Neighbour], now: Time) {
        if !self.reports.contains_key(&node) && self.reports.len() >= self.rules.nodes {
            let oldest = self.reports.iter().min_by_key(|(_, report)| report.at).map(|(&node, _)| node);
            if let Some(oldest) = oldest {
                self.forget(oldest);
            }
        }
        let mut list: Vec<Neighbour> =
            neighbours.iter().filter(|heard| heard.node != node).copied().collect();
        list.sort_unstable_by_key(|heard| (heard.node, heard.hellos, heard.probes));
        list.dedup_by_key(|heard| heard.node);
        list.truncate(self.rules.neighbours);
        self.replace(node, Some(Report { at: now, neighbours: list }));
    }

    /// A report without a list: the last one stays valid. False if there is none.
    pub fn confirm(&mut self, node: NodeId, now: Time) -> bool {
        let report = self.reports.get_mut(&node);
        report.map(|report| report.at = report.at.max(now)).is_some()
    }

    /// Forgets nodes that have not reported any more.
    pub fn expire(&mut self, now: Time) {
        let expiry = self.rules.expiry;
        let silent = self.reports.iter().filter(|(_, report)| now.since(report.at) >= expiry);
        let silent: Vec<NodeId> = silent.map(|(&node, _)| node).collect();
        silent.into_iter().for_each(|node| self.forget(node));
    }

    fn forget(&mut self, node: NodeId) {
        self.replace(node, None);
    }

    fn replace(&mut self, node: NodeId, report: Option<Report>) {
        let empty = Vec::new();
        let old = self.reports.remove(&node).map_or(empty, |report| report.neighbours);
        let mut others: Vec<NodeId> = old.iter().map(|heard| heard.node).collect();
        if let Some(report) = report {
            others.extend(report.neighbours.iter().map(|heard| heard.node));
            self.reports.insert(node, report);
        }
        others.sort_unstable();
        others.dedup();
        for other in others {
            let [one, two] = [self.hears(node, other), self.hears(other, node)];
            let now = if self.rules.mutual { one && two } else { one || two };
            if now == self.interferes(node, other) {
                continue;
            }
            for (a, b) in [(node, other), (other, node)] {
                let near = self.near.entry(a).or_default();
                if now {
                    near.insert(b);
                } else {
                    near.remove(&b);
                    if near.is_empty() {
                        self.near.remove(&a);
                    }
                }
                self.changed.extend(self.at_node.get(&a).into_iter().flatten());
            }
        }
    }

    fn listed(&self, hearer: NodeId, heard: NodeId) -> Option<Neighbour> {
        let neighbours = &self.reports.get(&hearer)?.neighbours;
        let at = neighbours.binary_search_by_key(&heard, |neighbour| neighbour.node).ok()?;
        Some(neighbours[at])
    }

    fn hears(&self, hearer: NodeId, heard: NodeId) -> bool {
        self.listed(hearer, heard).is_some_and(|n| {
            let most = n.hellos.max(n.probes);
            most > 0 && ratio(most) >= self.rules.interferes
        })
    }

    /// Delivery ratio of a link, 0 to 1.
    #[must_use]
    pub fn delivery(&self, link: Link) -> f64 {
        self.listed(link.to, link.from).map_or(0.0, |neighbour| ratio(neighbour.hellos))
    }

    /// Is the delivery ratio of a link high enough?
    #[must_use]
    pub fn usable(&self, link: Link) -> bool {
        self.delivery(link) >= USABLE
    }

    /// All usable links, in their order.
    #[must_use]
    pub fn usable_links(&self) -> Vec<Link> {
        let heard = self.reports.iter().flat_map(|(&to, report)| {
            report.neighbours.iter().map(move |neighbour| Link::new(neighbour.node, to))
        });
        let mut links: Vec<Link> = heard.filter(|&link| self.usable(link)).collect();
        links.sort_unstable();
        links
    }

    /// Do two nodes interfere?
    #[must_use]
    pub fn interferes(&self, a: NodeId, b: NodeId) -> bool {
        self.near.get(&a).is_some_and(|near| near.contains(&b))
    }

    /// Nodes that others hear and that have never reported, or not for long.
    #[must_use]
    pub fn unheard(&self) -> Vec<NodeId> {
        self.near.keys().copied().filter(|node| !self.reports.contains_key(node)).collect()
    }

    /// Are two links in conflict?
    #[must_use]
    pub fn conflict(&self, a: Link, b: Link) -> bool {
        a.shares_a_node(b)
            || match self.rules.conflict {
                Conflict::Ends => a.ends().iter().any(|&x| b.ends().iter().any(|&y| self.interferes(x, y))),
                Conflict::Receivers => self.interferes(a.from, b.to) || self.interferes(b.from, a.to),
            }
    }

    /// Hidden(nid, lid): is `inhibited` a link that `inhibitor` inhibits?
    #[must_use]
    pub fn hidden(&self, inhibited: Link, inhibitor: Link) -> bool {
        !inhibited.shares_a_node(inhibitor)
            && (self.inhibits(inhibited, inhibitor.from)
                || (self.rules.hider == Hider::Either && self.inhibits(inhibited, inhibitor.to)))
    }

    /// Is a node near the receiver of a link, and outside the interference range of its sender?
    fn inhibits(&self, link: Link, node: NodeId) -> bool {
        let near = match self.rules.reach {
            Reach::Communication => self.usable(Link::new(node, link.to)),
            Reach::Interference => self.interferes(node, link.to),
        };
        near && node != link.from && !self.interferes(node, link.from)
    }

    /// Is a link inhibited by any node, whether or not that node sends?
    #[must_use]
    pub fn inhibited(&self, link: Link) -> bool {
        self.inhibitors(link).next().is_some()
    }

    /// The nodes that inhibit a link, whether or not they send, in ascending order.
    pub fn inhibitors(&self, link: Link) -> impl Iterator<Item = NodeId> + '_ {
        let near = self.near.get(&link.to).into_iter().flatten();
        near.copied().filter(move |&node| self.inhibits(link, node))
    }

    /// The links that carry flows now.
    pub fn use_links(&mut self, used: impl IntoIterator<Item = Link>, now: Time) {
        self.left_out = 0;
        for link in used {
            self.use_link(link, now);
        }
        if self.rules.vertices == Vertices::Usable {
            self.usable_links().into_iter().for_each(|link| self.use_link(link, now));
        }
        let keep = self.rules.keep;
        let old =
            self.links.iter().filter(|(_, vertex)| vertex.used != now && now.since(vertex.used) >= keep);
        let old: Vec<Link> = old.map(|(&link, _)| link).collect();
        for link in old {
            if let Some(Vertex { number: Some(number), .. }) = self.links.remove(&link) {
                self.gone.push(number);
            }
            self.changed.remove(&link);
            for end in link.ends() {
                if let Some(links) = self.at_node.get_mut(&end) {
                    links.retain(|&other| other != link);
                    if links.is_empty() {
                        self.at_node.remove(&end);
                    }
                }
            }
        }
    }

    fn use_link(&mut self, link: Link, now: Time) {
        if let Some(vertex) = self.links.get_mut(&link) {
            vertex.used = now;
        } else if link.from == link.to || self.links.len() >= self.rules.links {
            self.left_out += 1;
        } else {
            self.links.insert(link, Vertex { number: None, used: now });
            link.ends().iter().for_each(|&end| self.at_node.entry(end).or_default().push(link));
            self.changed.insert(link);
        }
    }

    /// Brings the cliques up to date; false if nothing has changed that they depend on. Numbers of links are valid until the next call that
    /// returns true.
    pub fn update(&mut self) -> bool {
        if self.changed.is_empty() && self.gone.is_empty() {
            return false;
        }
        self.checks = 0;
        let before = self.replaced + self.set.work();
        // What was cut before may find room now.
        if self.cut || (self.changed.len() + self.gone.len()) * 4 > self.links.len() || !self.change() {
            self.make_anew();
        }
        self.changed.clear();
        self.gone.clear();
        let listing = self.set.listing();
        self.searched = self.replaced + self.set.work() - before;
        self.complete = listing.is_complete() && !self.cut;
        self.cliques = listing.into_cliques();
        self.membership = self.cliques.membership();
        true
    }

    /// Numbers of the links in conflict with a link, ascending; links that have no number yet are left out. With them, how many were
    /// checked.
    fn conflicts(&self, link: Link) -> (Vec<u32>, u64) {
        let mut checks = 0;
        let near = link.ends().into_iter().filter_map(|end| self.near.get(&end)).flatten().copied();
        let mut found: Vec<u32> = Vec::new();
        for node in link.ends().into_iter().chain(near) {
            for &other in self.at_node.get(&node).into_iter().flatten() {
                checks += 1;
                if other != link && self.conflict(link, other) {
                    found.extend(self.links.get(&other).and_then(|vertex| vertex.number));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        (found, checks)
    }

    /// Makes the graph from the beginning. The links that come last have no conflicts in it where there are too many pairs to check: then
    /// the listing is not complete either.
    fn make_anew(&mut self) {
        self.by_number.clear();
        let mut graph = ConflictGraph::new();
        for (&link, vertex) in &mut self.links {
            vertex.number = Some(graph.add_vertex(link.rank()));
            self.by_number.push(link);
        }
        let mut checks = 0;
        self.cut = false;
        for (number, &link) in (0..).zip(&self.by_number) {
            if checks > self.rules.most_pairs() {
                self.cut = true;
                break;
            }
            let (conflicts, more) = self.conflicts(link);
            checks += more;
            for other in conflicts.into_iter().filter(|&other| other < number) {
                // Both exist and differ: `conflicts` leaves out the link itself.
                let _ = graph.add_edge(number, other);
            }
        }
        self.checks += checks;
        self.replaced += self.set.work();
        self.set = CliqueSet::new(graph, self.rules.limits());
    }

    /// Makes the changes in the graph; false if that takes longer than to make it anew.
    fn change(&mut self) -> bool {
        for &number in &self.gone {
            self.set.remove_vertex(number);
        }
        for link in core::mem::take(&mut self.changed) {
            if self.checks > self.rules.most_pairs() {
                return false;
            }
            let (conflicts, checks) = self.conflicts(link);
            self.checks += checks;
            let Some(vertex) = self.links.get(&link) else { continue };
            if let Some(number) = vertex.number {
                let before: Vec<u32> = self.set.graph().neighbours(number).collect();
                for &other in before.iter().filter(|other| conflicts.binary_search(other).is_err()) {
                    self.set.remove_edge(number, other);
                }
                for &other in conflicts.iter().filter(|other| before.binary_search(other).is_err()) {
                    let _ = self.set.add_edge(number, other);
                }
            } else if let Ok(number) = self.set.add_vertex(link.rank(), &conflicts) {
                let at = number as usize;
                if at == self.by_number.len() {
                    self.by_number.push(link);
                } else {
                    self.by_number[at] = link;
                }
                if let Some(vertex) = self.links.get_mut(&link) {
                    vertex.number = Some(number);
                }
            }
        }
        true
    }

    /// The cliques, as of the last update: links by number, in an order of links and not of numbers.
    #[must_use]
    pub const fn cliques(&self) -> &Cliques {
        &self.cliques
    }

    /// The cliques of each link, by number.
    #[must_use]
    pub const fn membership(&self) -> &Membership {
        &self.membership
    }

    /// True if the list of the last update has all maximal cliques. The list ends at `rules.cliques` cliques, at `rules.members` members,
    /// and where checks for conflicts or the search for cliques would be more work than is allowed for that many members; the cliques that
    /// are missing do not constrain the allocation.
    #[must_use]
    pub const fn lists_all(&self) -> bool {
        self.complete
    }

    /// Pairs of links that the last update has checked for a conflict.
    #[must_use]
    pub const fn checks(&self) -> u64 {
        self.checks
    }

    /// Words of sets of links, and members of cliques, that the last update has looked at to change the cliques and to search for more.
    #[must_use]
    pub const fn searched(&self) -> u64 {
        self.searched
    }

    /// Links that were in use last and found no room.
    #[must_use]
    pub const fn left_out(&self) -> usize {
        self.left_out
    }

    /// The number of a link, as of the last update.
    #[must_use]
    pub fn number(&self, link: Link) -> Option<u32> {
        self.links.get(&link)?.number
    }

    /// The link of a number; `None` if no link has had it.
    #[must_use]
    pub fn link(&self, number: u32) -> Option<Link> {
        self.by_number.get(number as usize).copied()
    }

    /// The links in the graph by number, as of the last update; none at a number that is free.
    pub fn numbered(&self) -> impl ExactSizeIterator<Item = Option<Link>> + '_ {
        let held =
            |(number, &link): (u32, &Link)| Some(link).filter(|&link| self.number(link) == Some(number));
        (0..self.by_number.len() as u32).zip(&self.by_number).map(held)
    }

    /// All numbers of links are below this one.
    #[must_use]
    pub const fn number_bound(&self) -> usize {
        self.by_number.len()
    }

    /// The nodes that have reported, in their order.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = NodeId> + '_ {
        self.reports.keys().copied()
    }
}
