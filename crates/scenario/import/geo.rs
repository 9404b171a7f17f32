//! Distances between positions on the Earth, and their projection into the plane of a scenario.

use airfair_units::math;

use super::draft::NodeLocation;

/// Mean radius of the Earth (IUGG), m.
const EARTH_M: f64 = 6_371_008.8;
/// Metres of a degree of latitude.
const DEGREE_M: f64 = EARTH_M * core::f64::consts::PI / 180.0;

/// Length of the straight line between two positions, m; over long distances it passes through the Earth.
pub(crate) fn distance(a: &NodeLocation, b: &NodeLocation) -> f64 {
    let (a, b) = (cartesian(a), cartesian(b));
    [0, 1, 2].map(|i| (a[i] - b[i]) * (a[i] - b[i])).iter().sum::<f64>().sqrt()
}

fn cartesian(location: &NodeLocation) -> [f64; 3] {
    match *location {
        NodeLocation::Plane(p) => p,
        NodeLocation::Earth { latitude, longitude, altitude } => {
            let (phi, lambda) = (latitude.to_radians(), longitude.to_radians());
            let (out, up) = ((EARTH_M + altitude) * math::cos(phi), (EARTH_M + altitude) * math::sin(phi));
            [out * math::cos(lambda), out * math::sin(lambda), up]
        }
    }
}

/// Positions in a plane, m: x to the east, y to the north of the median position, z above the sea. East and west are right at
/// the median latitude: exact enough for a region, not for a continent.
pub(crate) fn plane(locations: &[Option<NodeLocation>]) -> Vec<Option<[f64; 3]>> {
    let middle = |axis: fn(&NodeLocation) -> Option<f64>| {
        let mut values: Vec<f64> = locations.iter().flatten().filter_map(axis).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(0.0)
    };
    let latitude0 =
        middle(|s| if let NodeLocation::Earth { latitude, .. } = s { Some(*latitude) } else { None });
    let longitude0 =
        middle(|s| if let NodeLocation::Earth { longitude, .. } = s { Some(*longitude) } else { None });
    let narrow = math::cos(latitude0.to_radians());
    locations
        .iter()
        .map(|location| match (*location)? {
            NodeLocation::Plane(p) => Some(p),
            NodeLocation::Earth { latitude, longitude, altitude } => {
                // The shorter of the two directions round the Earth.
                let mut east = longitude - longitude0;
                if east > 180.0 {
                    east -= 360.0;
                } else if east < -180.0 {
                    east += 360.0;
                }
                // Two poles are 20,000 km apart: half of that is the farthest coordinate of a scenario.
                let clamp = |m: f64| m.clamp(-9.9e6, 9.9e6);
                Some([clamp(east * DEGREE_M * narrow), clamp((latitude - latitude0) * DEGREE_M), altitude])
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(latitude: f64, longitude: f64) -> NodeLocation {
        NodeLocation::Earth { latitude, longitude, altitude: 0.0 }
    }

    /// A degree of latitude is 111.19 km on this sphere; at 52.5 degrees north a degree of longitude is 0.6088 times as long.
    #[test]
    fn degrees_have_their_lengths() {
        assert!((distance(&at(52.0, 13.0), &at(53.0, 13.0)) - 111_194.0).abs() < 5.0);
        assert!((distance(&at(52.5, 13.0), &at(52.5, 13.01)) - 676.9).abs() < 0.5);
        let over = NodeLocation::Earth { latitude: 52.0, longitude: 13.0, altitude: 250.0 };
        assert!((distance(&at(52.0, 13.0), &over) - 250.0).abs() < 1e-6);
        // From pole to pole: the diameter.
        assert!((distance(&at(90.0, 0.0), &at(-90.0, 0.0)) - 2.0 * EARTH_M).abs() < 1.0);
    }

    #[test]
    fn the_plane_keeps_distances_of_a_city() {
        let locations = [at(52.50, 13.40), at(52.52, 13.43), at(52.48, 13.35)].map(Some);
        let flat = plane(&locations);
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            let [a, b] = [flat[i].unwrap(), flat[j].unwrap()];
            let d = ((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1])).sqrt();
            let real = distance(&locations[i].unwrap(), &locations[j].unwrap());
            assert!((d / real - 1.0).abs() < 1e-3, "{d} {real}");
        }
        assert_eq!(flat[0], Some([0.0, 0.0, 0.0]), "the median position is the origin");
    }

    #[test]
    fn the_date_line_is_no_wall() {
        let flat = plane(&[at(0.1, 179.9), at(0.1, 179.95), at(0.1, -179.9)].map(Some));
        assert!((flat[2].unwrap()[0] - 0.2 * DEGREE_M).abs() < 1.0);
        assert_eq!(plane(&[None, Some(NodeLocation::Plane([1.0, 2.0, 3.0]))]), [None, Some([1.0, 2.0, 3.0])]);
    }
}
