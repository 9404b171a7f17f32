//! From the records of a file to a network: a received power for each direction, a wire for each pair.

use std::collections::{BTreeMap, BTreeSet};

use super::draft::{
    DirectionQuality, Imported, ImportedLink, ImportedNode, Medium, NodeLocation, link_record, node_record,
    shown,
};
use super::geo::distance;
use super::options::{ImportOptions, LinkModel, UnknownMedium};
use super::placement;
use super::quality::Radio;
use super::reason::{Reason, Record};
use super::report::count;

/// Least delivery ratio, in both directions, of a link that routes may use.
pub(crate) const USABLE: f64 = 0.1;
/// Delivery ratios are rounded to steps of 1/this, which bounds how many different ones a file can have.
const STEPS: f64 = 10_000.0;
/// Most nodes of a network in which all pairs may hear each other.
const MOST_POSITIONS: usize = 5000;

/// A wired link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Wire {
    pub tunnel: bool,
    /// The length of the link, m.
    pub length_m: f64,
}

/// A network as the scenario will contain it.
#[derive(Debug)]
pub(crate) struct Network {
    pub nodes: Vec<ImportedNode>,
    /// Received power by direction, dBm; empty where power comes from positions.
    pub powers: BTreeMap<(usize, usize), f64>,
    /// By pair, the lesser node first.
    pub wires: BTreeMap<(usize, usize), Wire>,
    /// Nodes whose location is a guess.
    pub guessed: Vec<bool>,
    /// Pairs over which packets can go both ways.
    pub usable: Vec<Vec<usize>>,
    pub rejected: Vec<Record>,
    /// Records that the scenario contains, but not as the file has them.
    pub noted: Vec<Record>,
    pub assumed: Vec<String>,
    /// Directions whose power is a measured one, of the direction itself or of the other one.
    pub measured: BTreeSet<(usize, usize)>,
}

/// Counts of the pairs that a file links, before any record is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LinkedCounts {
    pub pairs: usize,
    pub nodes: usize,
    /// Nodes of the largest component.
    pub largest: usize,
}

/// Counts the pairs that are linked.
pub(crate) fn linked(found: &Imported) -> LinkedCounts {
    let mut pairs = found.pairs.clone();
    pairs.sort_unstable();
    pairs.dedup();
    let mut neighbours = vec![Vec::new(); found.nodes.len()];
    for &(a, b) in &pairs {
        add_edge(&mut neighbours, a, b);
    }
    let nodes = neighbours.iter().filter(|n| !n.is_empty()).count();
    let largest = if nodes == 0 { 0 } else { largest(&components(&neighbours)).1 };
    LinkedCounts { pairs: pairs.len(), nodes, largest }
}

/// Makes the network.
///
/// # Errors
/// If it is too large for positions.
pub(crate) fn build(
    found: Imported,
    model: LinkModel,
    radio: &Radio,
    options: &ImportOptions,
) -> Result<Network, String> {
    let mut network = Network {
        usable: vec![Vec::new(); found.nodes.len()],
        guessed: vec![false; found.nodes.len()],
        nodes: found.nodes,
        powers: BTreeMap::new(),
        wires: BTreeMap::new(),
        rejected: found.rejected,
        noted: found.noted,
        assumed: found.assumed,
        measured: BTreeSet::new(),
    };
    let (mut radios, mut wires): (Vec<ImportedLink>, Vec<(ImportedLink, bool)>) = (Vec::new(), Vec::new());
    let positions = model == LinkModel::Positions;
    for link in found.links {
        match (link.medium, options.untold) {
            (Medium::Cable, _) | (Medium::Unknown, UnknownMedium::Wire) => wires.push((link, false)),
            (Medium::Tunnel, _) => wires.push((link, true)),
            _ if positions => {}
            (Medium::Radio, _) | (Medium::Unknown, UnknownMedium::Radio) => radios.push(link),
            (Medium::Unknown, UnknownMedium::Drop) => {
                network.reject(&link, Reason::UnknownMedium, String::new())
            }
        }
    }
    network.wire(wires, found.undirected, options.radio_only);
    if positions {
        network.by_positions(options.range.0)?;
    } else {
        let kept = network.reject_long_and_duplicate(radios, found.undirected, model, options.longest.0);
        if model != LinkModel::Distance {
            network.place(&kept);
        }
        network.by_links(&kept, model, radio);
    }
    if options.largest {
        network.keep_largest();
    }
    Ok(network)
}

impl Network {
    fn name(&self, link: &ImportedLink) -> String {
        let id = |i: usize| self.nodes.get(i).map_or("", |n| n.id.as_str());
        link_record(id(link.ends[0]), id(link.ends[1]))
    }

    fn reject(&mut self, link: &ImportedLink, reason: Reason, detail: String) {
        let record = self.name(link);
        self.rejected.push(Record { record, reason, detail });
    }

    fn location(&self, node: usize) -> Option<&NodeLocation> {
        self.nodes.get(node)?.location.as_ref()
    }

    /// Gives nodes without a location places amid their neighbours by radio and cable. Powers come from the links, and lengths and delays
    /// from locations of the file only.
    fn place(&mut self, links: &[ImportedLink]) {
        let cables = self.wires.iter().filter(|(_, wire)| !wire.tunnel).map(|(&(a, b), _)| [a, b]);
        let mut neighbours = vec![Vec::new(); self.nodes.len()];
        for [a, b] in links.iter().map(|link| link.ends).chain(cables) {
            add_edge(&mut neighbours, a, b);
        }
        self.guessed = placement::place(&mut self.nodes, &neighbours, &mut self.noted);
    }

    /// Length of a link, m; none where an end has no location of the file.
    pub fn length(&self, a: usize, b: usize) -> Option<f64> {
        let known = |node: usize| self.location(node).filter(|_| self.guessed.get(node) != Some(&true));
        known(a).zip(known(b)).map(|(a, b)| distance(a, b))
    }

    fn by_links(&mut self, kept: &[ImportedLink], model: LinkModel, radio: &Radio) {
        let mut ways: BTreeMap<(usize, usize), DirectionQuality> = BTreeMap::new();
        for link in kept {
            let [from, to] = link.ends;
            for (pair, way) in [((from, to), link.forward), ((to, from), link.reverse)] {
                merge(ways.entry(pair).or_default(), &way);
            }
        }
        let (mut same, mut full) = (0, 0);
        let usable = radio.power_of(USABLE, LinkModel::Delivery);
        // The power of a ratio takes some time to compute, and maps have few different ratios.
        let mut known: BTreeMap<u64, Option<f64>> = BTreeMap::new();
        let mut power = |way: &DirectionQuality| match way.delivery {
            Some(delivery) if way.power.is_none() && delivery > 0.0 => {
                let delivery = round(delivery, STEPS).max(1.0 / STEPS);
                let near = DirectionQuality { delivery: Some(delivery), ..*way };
                *known.entry(delivery.to_bits()).or_insert_with(|| radio.power(&near, model))
            }
            _ => radio.power(way, model),
        };
        for link in kept {
            let [from, to] = link.ends;
            // The first of two directed records of a pair has completed the pair.
            if self.powers.contains_key(&(from, to)) || self.powers.contains_key(&(to, from)) {
                continue;
            }
            let powers = if model == LinkModel::Distance {
                let power = self.length(from, to).map(|m| radio.power_at(m));
                [(power, false), (power, false)]
            } else {
                let way = |pair| ways.get(&pair).copied().unwrap_or_default();
                let (mut forward, mut reverse) = (way((from, to)), way((to, from)));
                match (forward.is_known(), reverse.is_known()) {
                    (true, true) => {}
                    (false, false) => {
                        (forward, reverse) = (DirectionQuality::own(1.0), DirectionQuality::own(1.0));
                        full += 1;
                    }
                    (told, _) => {
                        if told {
                            reverse = forward
                        } else {
                            forward = reverse
                        }
                        same += 1;
                    }
                }
                [&forward, &reverse].map(|way| (power(way), way.power.is_some()))
            };
            let [(forward_power, _), (reverse_power, _)] = powers;
            match [forward_power, reverse_power] {
                [None, None] => {
                    self.reject(link, Reason::NoDelivery, String::new());
                    continue;
                }
                [Some(_), None] | [None, Some(_)] => {
                    let (a, b) = if forward_power.is_some() { (from, to) } else { (to, from) };
                    let id = |i: usize| self.nodes.get(i).map(|n| n.id.clone()).unwrap_or_default();
                    let record = link_record(&id(a), &id(b));
                    self.noted.push(Record { record, reason: Reason::OneWay, detail: String::new() });
                }
                [Some(forward), Some(reverse)] => {
                    if forward > usable && reverse > usable {
                        add_edge(&mut self.usable, from, to);
                    }
                }
            }
            for (pair, (power, is_measured)) in [((from, to), powers[0]), ((to, from), powers[1])] {
                if let Some(power) = power {
                    self.powers.insert(pair, power);
                    if is_measured && model == LinkModel::Signal {
                        self.measured.insert(pair);
                    }
                }
            }
        }
        if same > 0 {
            self.assumed.push(format!(
                "{} with a quality in one direction only: the same in the other",
                count(same, "link")
            ));
        }
        if full > 0 {
            self.assumed.push(format!("{} without a quality: nothing is lost", count(full, "link")));
        }
    }

    /// Leaves out links that are too long, links without a length if power comes from length, and the worse of two records of a link.
    fn reject_long_and_duplicate(
        &mut self,
        links: Vec<ImportedLink>,
        undirected: bool,
        model: LinkModel,
        longest: f64,
    ) -> Vec<ImportedLink> {
        let mut kept: Vec<ImportedLink> = Vec::with_capacity(links.len());
        let mut first: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for mut link in links {
            let [from, to] = link.ends;
            match self.length(from, to) {
                Some(m) if m > longest => {
                    let detail = format!(
                        "{} km; longest is {} km",
                        shown(round(m / 1000.0, 10.0)),
                        shown(longest / 1000.0)
                    );
                    self.reject(&link, Reason::TooLong, detail);
                    continue;
                }
                None if model == LinkModel::Distance => {
                    self.reject(&link, Reason::Unlocated, String::new());
                    continue;
                }
                _ => {}
            }
            let key = if undirected { sorted(link.ends) } else { (from, to) };
            match first.get(&key).and_then(|&i| kept.get_mut(i)) {
                None => {
                    first.insert(key, kept.len());
                    kept.push(link);
                }
                Some(other) => {
                    if score(&link) > score(other) {
                        std::mem::swap(other, &mut link);
                    }
                    self.reject(&link, Reason::DuplicateLink, String::new());
                }
            }
        }
        kept
    }

    fn by_positions(&mut self, range: f64) -> Result<(), String> {
        let located: Vec<bool> = self.nodes.iter().map(|n| n.location.is_some()).collect();
        self.keep(&located, Reason::Unlocated);
        if self.nodes.len() > MOST_POSITIONS {
            let count = self.nodes.len();
            return Err(format!(
                "{count} nodes that may all hear each other; expected at most {MOST_POSITIONS}"
            ));
        }
        let locations: Vec<Option<NodeLocation>> = self.nodes.iter().map(|n| n.location).collect();
        let positions: Vec<[f64; 3]> = super::geo::plane(&locations).into_iter().flatten().collect();
        for (i, a) in positions.iter().enumerate() {
            for (j, b) in positions.iter().enumerate().skip(i + 1) {
                let squared: f64 = [0, 1, 2].map(|k| (a[k] - b[k]) * (a[k] - b[k])).iter().sum();
                if squared <= range * range {
                    add_edge(&mut self.usable, i, j);
                }
            }
        }
        Ok(())
    }

    fn wire(&mut self, links: Vec<(ImportedLink, bool)>, undirected: bool, radio_only: bool) {
        let mut told: BTreeSet<(usize, usize)> = BTreeSet::new();
        let mut lossy: BTreeSet<(usize, usize)> = BTreeSet::new();
        for (link, tunnel) in links {
            let [from, to] = link.ends;
            let pair = sorted(link.ends);
            if radio_only {
                self.reject(&link, Reason::NotRadio, String::new());
                continue;
            }
            // Two records of one cable, one from each end, are no mistake.
            if !told.insert(if undirected { pair } else { (from, to) }) {
                self.reject(&link, Reason::DuplicateLink, "one wire for each pair".to_string());
                continue;
            }
            // Gateways lower the quality of their tunnels to divert traffic: a low quality does not mean that a tunnel loses packets.
            let share = |way: &DirectionQuality| if tunnel { 1.0 } else { way.delivery.unwrap_or(1.0) };
            if share(&link.forward).max(share(&link.reverse)) <= 0.0 {
                self.reject(&link, Reason::NoDelivery, String::new());
                continue;
            }
            if share(&link.forward).min(share(&link.reverse)) < 1.0 {
                lossy.insert(pair);
            }
            let length_m = link.length_m.or(self.length(pair.0, pair.1)).unwrap_or(0.0);
            if self.wires.insert(pair, Wire { tunnel, length_m }).is_none() {
                add_edge(&mut self.usable, pair.0, pair.1);
            }
        }
        if !lossy.is_empty() {
            // The losses are those of broadcasts over a radio bridge, which repeats unicast frames; a wire would repeat nothing.
            let wires = count(lossy.len(), "cable");
            self.assumed
                .push(format!("{wires} with a quality below 1 lose nothing: a radio stands behind them"));
        }
    }

    /// Nodes with a radio: with links, those that receive a node or are received by one.
    pub fn radios(&self, model: LinkModel) -> Vec<bool> {
        let mut has = vec![model == LinkModel::Positions; self.nodes.len()];
        for &(from, to) in self.powers.keys() {
            for end in [from, to] {
                if let Some(has) = has.get_mut(end) {
                    *has = true;
                }
            }
        }
        has
    }

    /// Leaves out every node outside the largest component of usable links.
    fn keep_largest(&mut self) {
        let of = components(&self.usable);
        let (chosen, _) = largest(&of);
        let inside: Vec<bool> = of.iter().map(|&c| c == chosen).collect();
        self.keep(&inside, Reason::OtherComponent);
    }

    /// Leaves out nodes, and all links of theirs.
    fn keep(&mut self, which: &[bool], reason: Reason) {
        let mut new = vec![None; self.nodes.len()];
        let mut kept = Vec::new();
        let mut i = 0;
        self.guessed.retain(|_| {
            i += 1;
            which.get(i - 1) == Some(&true)
        });
        for (i, node) in std::mem::take(&mut self.nodes).into_iter().enumerate() {
            if which.get(i) == Some(&true) {
                new[i] = Some(kept.len());
                kept.push(node);
            } else {
                self.rejected.push(Record { record: node_record(&node.id), reason, detail: String::new() });
            }
        }
        self.nodes = kept;
        let moved = |i: usize| new.get(i).copied().flatten();
        let pair = |(a, b): (usize, usize)| Some((moved(a)?, moved(b)?));
        self.powers = self.powers.iter().filter_map(|(&k, &v)| Some((pair(k)?, v))).collect();
        self.measured = self.measured.iter().filter_map(|&k| pair(k)).collect();
        self.wires = self.wires.iter().filter_map(|(&k, &v)| Some((pair(k)?, v))).collect();
        let usable = std::mem::take(&mut self.usable);
        let own = usable.into_iter().enumerate().filter(|(i, _)| moved(*i).is_some());
        self.usable = own.map(|(_, list)| list.into_iter().filter_map(moved).collect()).collect();
    }
}

/// The better of two records of a direction: the one that is about this direction; of two such, the one with the higher quality.
fn merge(known: &mut DirectionQuality, new: &DirectionQuality) {
    if !new.is_known() {
        return;
    }
    let rank = |w: &DirectionQuality| (w.own, w.power.unwrap_or(f64::MIN), w.delivery.unwrap_or(-1.0));
    if !known.is_known() || rank(new) > rank(known) {
        let (power, delivery) = (known.power, known.delivery);
        *known = *new;
        known.power = known.power.or(power);
        known.delivery = known.delivery.or(delivery);
    } else {
        known.power = known.power.or(new.power);
        known.delivery = known.delivery.or(new.delivery);
    }
}

/// The quality of a record, to compare two of the same link.
fn score(link: &ImportedLink) -> (f64, f64) {
    let delivery = |way: &DirectionQuality| way.delivery.unwrap_or(1.0);
    let power = |way: &DirectionQuality| way.power.unwrap_or(-1e3);
    (delivery(&link.forward) * delivery(&link.reverse), power(&link.forward).max(power(&link.reverse)))
}

fn sorted(ends: [usize; 2]) -> (usize, usize) {
    (ends[0].min(ends[1]), ends[0].max(ends[1]))
}

fn add_edge(neighbours: &mut [Vec<usize>], a: usize, b: usize) {
    for (from, to) in [(a, b), (b, a)] {
        if let Some(list) = neighbours.get_mut(from) {
            list.push(to);
        }
    }
}

/// A number rounded to `1/steps`.
pub(crate) fn round(x: f64, steps: f64) -> f64 {
    (x * steps).round() / steps
}

/// The component of each node, named by its first node.
pub(crate) fn components(neighbours: &[Vec<usize>]) -> Vec<usize> {
    let mut of = vec![usize::MAX; neighbours.len()];
    for start in 0..neighbours.len() {
        if of[start] != usize::MAX {
            continue;
        }
        let mut waiting = vec![start];
        of[start] = start;
        while let Some(node) = waiting.pop() {
            for &next in neighbours.get(node).into_iter().flatten() {
                if let Some(other) = of.get_mut(next).filter(|c| **c == usize::MAX) {
                    *other = start;
                    waiting.push(next);
                }
            }
        }
    }
    of
}

/// The largest component, the first of several, and its size.
pub(crate) fn largest(of: &[usize]) -> (usize, usize) {
    let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
    for &component in of {
        *sizes.entry(component).or_insert(0) += 1;
    }
    sizes.into_iter().max_by_key(|&(first, size)| (size, std::cmp::Reverse(first))).unwrap_or((0, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_of_a_direction_itself_has_precedence() {
        let mut way = DirectionQuality::echo(0.9);
        merge(&mut way, &DirectionQuality::own(0.4));
        assert_eq!(way, DirectionQuality::own(0.4));
        merge(&mut way, &DirectionQuality::echo(1.0));
        assert_eq!(way, DirectionQuality::own(0.4));
        merge(&mut way, &DirectionQuality::own(0.5));
        assert_eq!(way, DirectionQuality::own(0.5), "two interfaces: the better one");
        merge(&mut way, &DirectionQuality { delivery: None, power: Some(-70.0), own: true });
        assert_eq!((way.delivery, way.power), (Some(0.5), Some(-70.0)));
        merge(&mut way, &DirectionQuality::default());
        assert!(way.is_known());
    }

    #[test]
    fn components_are_found() {
        let edges = [(0, 1), (1, 2), (4, 5)];
        let mut neighbours = vec![Vec::new(); 6];
        edges.iter().for_each(|&(a, b)| add_edge(&mut neighbours, a, b));
        let of = components(&neighbours);
        assert_eq!(of, [0, 0, 0, 3, 4, 4]);
        assert_eq!(largest(&of), (0, 3));
        assert_eq!(largest(&[]), (0, 0));
    }
}
