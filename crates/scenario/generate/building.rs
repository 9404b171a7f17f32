//! Buildings, `[nodes] kind = "building"`: nodes in rooms on floors, and the path gains that walls and floors leave between them.

use airfair_sim::air::propagation::gain_at;
use airfair_sim::spec::Propagation;
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Db, math};

use crate::keys::network::BuildingTable;

/// The empirical exponent of COST 231 for several floors.
const SEVERAL_FLOORS: f64 = 0.46;
/// Most nodes of a building whose walls take power away: each pair is computed.
const MOST_NODES: usize = 2000;
/// Most pairs of nodes with a gain: the complete form of a scenario must fit in a file.
const MOST_PAIRS: usize = 100_000;

/// How many nodes a building has.
pub(crate) fn count(t: &BuildingTable) -> u64 {
    let rooms = u128::from(t.floors) * u128::from(t.rows) * u128::from(t.columns);
    u64::try_from(rooms * u128::from(t.per_room)).unwrap_or(u64::MAX)
}

/// The floor, the row and the column of the room of a node.
fn room(t: &BuildingTable, node: usize) -> [usize; 3] {
    let number = node / t.per_room.max(1) as usize;
    let (rows, columns) = (t.rows.max(1) as usize, t.columns.max(1) as usize);
    [number / columns / rows, number / columns % rows, number % columns]
}

/// The position of each node, m.
pub(crate) fn positions(t: &BuildingTable) -> Vec<[f64; 3]> {
    let mut stream = Stream::new(t.seed, "building", Purpose::Placement);
    let total = usize::try_from(count(t)).unwrap_or(usize::MAX);
    (0..total)
        .map(|node| {
            let [floor, row, column] = room(t, node);
            let x = (column as f64 + stream.uniform()) * t.room[0].0;
            let y = (row as f64 + stream.uniform()) * t.room[1].0;
            [x, y, floor as f64 * t.height.0]
        })
        .collect()
}

/// Every pair of nodes with a gain of at least `least`, and the gain, dB to a hundredth.
///
/// # Errors
/// If there are too many.
pub(crate) fn gains(
    t: &BuildingTable,
    positions: &[[f64; 3]],
    frequency_hz: f64,
    least: Db,
) -> Result<Vec<(usize, usize, Db)>, String> {
    if positions.len() > MOST_NODES {
        let n = positions.len();
        return Err(format!("{n} nodes between which walls are counted; expected at most {MOST_NODES}"));
    }
    let mut gains = Vec::new();
    for (i, a) in positions.iter().enumerate() {
        for (j, b) in positions.iter().enumerate().skip(i + 1) {
            let gain = -loss(t, (room(t, i), *a), (room(t, j), *b), frequency_hz);
            if gain < least.0 {
                continue;
            }
            if gains.len() == MOST_PAIRS {
                return Err(format!(
                    "more than {MOST_PAIRS} pairs of nodes hear each other; expected fewer nodes"
                ));
            }
            // No gain is above 60 dB, the most that a file may have.
            gains.push((i, j, Db((gain * 100.0).round() / 100.0)));
        }
    }
    Ok(gains)
}

/// The loss between two nodes, each given by its room (floor, row, column) and its position (m); dB.
fn loss(
    t: &BuildingTable,
    (a, here): ([usize; 3], [f64; 3]),
    (b, there): ([usize; 3], [f64; 3]),
    frequency_hz: f64,
) -> f64 {
    let squared: f64 = [0, 1, 2].map(|k| (here[k] - there[k]) * (here[k] - there[k])).iter().sum();
    let free = -gain_at(&Propagation::FreeSpace { frequency_hz }, squared.sqrt()).0;
    // Rooms lie in rows and columns: a straight line crosses as many walls as they are apart.
    let walls = a[1].abs_diff(b[1]) + a[2].abs_diff(b[2]);
    let floors = a[0].abs_diff(b[0]) as f64;
    let through = match floors {
        k if k > 0.0 => math::pow(k, (k + 2.0) / (k + 1.0) - SEVERAL_FLOORS) * t.floor.0,
        _ => 0.0,
    };
    free + walls as f64 * t.wall.0 + through
}

#[cfg(test)]
mod tests {
    use airfair_units::Meters;

    use super::*;
    use crate::text::location::{At, Locations};

    fn table(floors: u32, rows: u32, columns: u32, per_room: u32) -> BuildingTable {
        BuildingTable {
            locations: Locations::new(At::Line(1)),
            floors,
            rows,
            columns,
            room: [Meters(5.0), Meters(4.0)],
            height: Meters(3.0),
            per_room,
            seed: 1,
            wall: Db(6.9),
            floor: Db(18.3),
            prefix: String::new(),
            radios: None,
        }
    }

    #[test]
    fn nodes_are_in_their_rooms() {
        let t = table(2, 3, 4, 2);
        let positions = positions(&t);
        assert_eq!((count(&t), positions.len()), (48, 48));
        assert_eq!([room(&t, 0), room(&t, 9), room(&t, 47)], [[0, 0, 0], [0, 1, 0], [1, 2, 3]]);
        for (node, [x, y, z]) in positions.into_iter().enumerate() {
            let [floor, row, column] = room(&t, node);
            assert!((x / 5.0).floor() == column as f64 && (y / 4.0).floor() == row as f64, "{node}");
            assert!((z - 3.0 * floor as f64).abs() < 1e-9);
        }
    }

    /// By hand, 10 m at 2.4 GHz: free space 60.05 dB; one floor 18.3 dB; two floors 18.3 * 2^(4/3 - 0.46) = 33.5 dB.
    #[test]
    fn walls_and_floors_add_up() {
        let t = table(3, 3, 3, 1);
        let at = |a: [usize; 3], b: [usize; 3]| loss(&t, (a, [0.0; 3]), (b, [10.0, 0.0, 0.0]), 2.4e9);
        let near = |x: f64, y: f64| assert!((x - y).abs() < 0.05, "{x} {y}");
        near(at([0, 0, 0], [0, 0, 0]), 60.05);
        near(at([0, 0, 0], [0, 0, 1]), 60.05 + 6.9);
        near(at([0, 0, 0], [0, 2, 1]), 60.05 + 3.0 * 6.9);
        near(at([1, 0, 0], [0, 0, 0]), 60.05 + 18.3);
        near(at([0, 0, 0], [2, 0, 2]), 60.05 + 33.5 + 2.0 * 6.9);
    }

    #[test]
    fn pairs_without_reception_are_omitted() {
        let t = table(1, 1, 40, 1);
        let all = gains(&t, &positions(&t), 2.4e9, Db(-1e9)).unwrap();
        assert_eq!(all.len(), 40 * 39 / 2);
        let heard = gains(&t, &positions(&t), 2.4e9, Db(-119.0)).unwrap();
        assert!(heard.len() < 400 && heard.iter().all(|(i, j, gain)| j - i <= 9 && gain.0 >= -119.0));
        assert!(gains(&t, &vec![[0.0; 3]; 2001], 2.4e9, Db(0.0)).is_err());
    }
}
