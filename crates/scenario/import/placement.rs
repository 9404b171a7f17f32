//! Places for nodes without a location: amid their neighbours.

use super::draft::{ImportedNode, NodeLocation, node_record};
use super::reason::{Reason, Record};
use super::report::count;

/// Gives every node without a location the median location of its located neighbours, then their neighbours without one that of theirs,
/// and so on. Returns which nodes stand at such a guess, which serves pictures: it has no length and causes no delay.
pub(super) fn place(
    nodes: &mut [ImportedNode],
    neighbours: &[Vec<usize>],
    noted: &mut Vec<Record>,
) -> Vec<bool> {
    let mut guessed = vec![false; nodes.len()];
    let mut last: Vec<usize> = (0..nodes.len()).filter(|&i| located(nodes, i).is_some()).collect();
    loop {
        let reached = last.iter().flat_map(|&node| neighbours.get(node).into_iter().flatten().copied());
        let mut next: Vec<usize> = reached.filter(|&node| located(nodes, node).is_none()).collect();
        next.sort_unstable();
        next.dedup();
        // All of a round are placed by those of earlier rounds, so that none depends on the order of another.
        let places: Vec<(usize, NodeLocation, String)> =
            next.iter().filter_map(|&node| amid(nodes, node, neighbours.get(node)?)).collect();
        if places.is_empty() {
            return guessed;
        }
        for (node, location, detail) in places {
            if let Some((placed, guess)) = nodes.get_mut(node).zip(guessed.get_mut(node)) {
                (placed.location, *guess) = (Some(location), true);
                noted.push(Record { record: node_record(&placed.id), reason: Reason::Placed, detail });
            }
        }
        last = next;
    }
}

fn located(nodes: &[ImportedNode], node: usize) -> Option<NodeLocation> {
    nodes.get(node)?.location
}

/// The median location of a node's neighbours, and where that is in words.
fn amid(nodes: &[ImportedNode], node: usize, neighbours: &[usize]) -> Option<(usize, NodeLocation, String)> {
    let mut around: Vec<usize> =
        neighbours.iter().copied().filter(|&i| located(nodes, i).is_some()).collect();
    around.sort_unstable();
    around.dedup();
    let locations: Vec<NodeLocation> = around.iter().filter_map(|&i| located(nodes, i)).collect();
    let words = match around[..] {
        [one] => format!("at {}", node_record(nodes.get(one).map_or("", |node| &node.id))),
        _ => format!("amid {}", count(around.len(), "neighbour")),
    };
    Some((node, median(&locations)?, words))
}

/// The median of each coordinate; none if some locations are on the Earth and others in a plane.
fn median(locations: &[NodeLocation]) -> Option<NodeLocation> {
    let (mut earth, mut plane) = (Vec::new(), Vec::new());
    for location in locations {
        match *location {
            NodeLocation::Earth { latitude, longitude, altitude } => {
                earth.push([latitude, longitude, altitude])
            }
            NodeLocation::Plane(position) => plane.push(position),
        }
    }
    match (&earth[..], &plane[..]) {
        ([], [_, ..]) => {
            Some(NodeLocation::Plane([0, 1, 2].map(|axis| middle(plane.iter().map(|p| p[axis])))))
        }
        ([[_, west, _], ..], []) => {
            // The shorter of the two directions round the Earth, from any of them.
            let eastward = |longitude: f64| (longitude - west + 540.0).rem_euclid(360.0) - 180.0;
            let longitude = west + middle(earth.iter().map(|e| eastward(e[1])));
            let longitude = (longitude + 540.0).rem_euclid(360.0) - 180.0;
            let [latitude, altitude] = [0, 2].map(|axis| middle(earth.iter().map(|e| e[axis])));
            Some(NodeLocation::Earth { latitude, longitude, altitude })
        }
        _ => None,
    }
}

/// The median of some numbers: of an even number of them the mean of the two in the middle.
fn middle(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    let at = |i: usize| values.get(i).copied().unwrap_or(0.0);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { at(half) } else { 0.5 * (at(half.saturating_sub(1)) + at(half)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: &str, location: Option<NodeLocation>) -> ImportedNode {
        ImportedNode { id: id.to_string(), label: None, location, gateway: false, legs: Vec::new() }
    }

    fn at(x: f64, y: f64) -> Option<NodeLocation> {
        Some(NodeLocation::Plane([x, y, 0.0]))
    }

    fn places(
        located: &[Option<NodeLocation>],
        links: &[(usize, usize)],
    ) -> (Vec<Option<NodeLocation>>, Vec<bool>) {
        let mut nodes: Vec<_> = located.iter().map(|&location| node("n", location)).collect();
        let mut neighbours = vec![Vec::new(); nodes.len()];
        for &(a, b) in links {
            neighbours[a].push(b);
            neighbours[b].push(a);
        }
        let guessed = place(&mut nodes, &neighbours, &mut Vec::new());
        (nodes.into_iter().map(|node| node.location).collect(), guessed)
    }

    /// A hub between three neighbours in one place and one that is wrongly located 188 km away stands with the three.
    #[test]
    fn one_wrong_location_does_not_move_a_hub() {
        let around = [at(0.0, 0.0), at(200.0, 0.0), at(100.0, 300.0), at(188_000.0, 0.0), at(150.0, 100.0)];
        let located = [&around[..], &[None]].concat();
        let (places, guessed) = places(&located, &[(0, 5), (1, 5), (2, 5), (3, 5), (4, 5)]);
        assert_eq!(places[5], at(150.0, 0.0));
        assert_eq!(guessed, [false, false, false, false, false, true]);
    }

    /// Nodes farther from a located one stand where those before them do; the order of nodes does not matter, and a node that is linked
    /// with no located one has no place.
    #[test]
    fn places_spread_from_located_nodes() {
        let (found, _) = places(&[None, None, at(0.0, 0.0), at(10.0, 4.0), None], &[(0, 1), (1, 2), (1, 3)]);
        assert_eq!(found, [at(5.0, 2.0), at(5.0, 2.0), at(0.0, 0.0), at(10.0, 4.0), None]);
        // Two rounds: both ends of a chain of two are placed at once, the middle between them afterwards.
        let chain = [at(0.0, 0.0), None, None, None, at(40.0, 0.0)];
        let (found, guessed) = places(&chain, &[(0, 1), (1, 2), (2, 3), (3, 4)]);
        assert_eq!(found, [at(0.0, 0.0), at(0.0, 0.0), at(20.0, 0.0), at(40.0, 0.0), at(40.0, 0.0)]);
        assert_eq!(guessed, [false, true, true, true, false]);
    }

    /// The middle of 179 and -179 degrees is the date line, not Greenwich.
    #[test]
    fn the_date_line_is_no_wall() {
        let earth = |longitude| NodeLocation::Earth { latitude: 10.0, longitude, altitude: 0.0 };
        for order in [[179.0, -179.0], [-179.0, 179.0]] {
            let Some(NodeLocation::Earth { longitude, .. }) = median(&order.map(earth)) else { panic!() };
            assert!((longitude.abs() - 180.0).abs() < 1e-9, "{longitude}");
        }
        assert_eq!(median(&[earth(1.0), NodeLocation::Plane([0.0; 3])]), None);
    }
}
