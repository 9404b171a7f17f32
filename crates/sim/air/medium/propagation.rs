//! Loss of power with distance.

use airfair_units::random::{Purpose, Stream, name_hash};
use airfair_units::{Db, Span, math};

use crate::spec::Propagation;

/// Speed of light, m/s.
pub const LIGHT: f64 = 299_792_458.0;

/// Gain over a distance without shadowing. Distances below one metre count as one metre.
///
/// Free space: Friis with unit antenna gains, `-20 log10(4 pi d / lambda)`. Two-ray ground (Rappaport, Wireless
/// Communications, 4.6): Friis up to the cross-over `4 pi ht hr / lambda`, `ht^2 hr^2 / d^4` beyond. Log-distance:
/// `-(L0 + 10 n log10(d / d0))`. A measured matrix has no gain over a distance: minus infinity.
#[must_use]
pub fn gain_at(model: &Propagation, distance_m: f64) -> Db {
    let d = distance_m.max(1.0);
    let friis =
        |frequency_hz: f64| -20.0 * math::log10(4.0 * core::f64::consts::PI * d * frequency_hz / LIGHT);
    Db(match *model {
        Propagation::FreeSpace { frequency_hz } => friis(frequency_hz),
        Propagation::TwoRayGround { frequency_hz, antenna_height_m: h } => {
            let crossover = 4.0 * core::f64::consts::PI * h * h * frequency_hz / LIGHT;
            if d < crossover { friis(frequency_hz) } else { 40.0 * math::log10(h) - 40.0 * math::log10(d) }
        }
        Propagation::LogDistance { exponent, reference_m, reference_loss, .. } => {
            -(reference_loss.0 + 10.0 * exponent * math::log10(d / reference_m))
        }
        Propagation::Matrix => f64::NEG_INFINITY,
    })
}

/// Shadowing of a pair of nodes: equal in both directions, drawn once from the model's own seed and both names.
#[must_use]
pub fn shadowing(model: &Propagation, one: &str, other: &str) -> Db {
    let Propagation::LogDistance { shadowing, shadowing_seed: seed, .. } = model else { return Db(0.0) };
    shadowing_of_pair(*shadowing, *seed, one, other)
}

/// Shadowing of a pair of nodes, equal in both directions: a normal draw of this standard deviation from a seed and both names.
#[must_use]
pub fn shadowing_of_pair(deviation: Db, seed: u64, one: &str, other: &str) -> Db {
    if deviation.0 <= 0.0 {
        return Db(0.0);
    }
    let (low, high) = if one <= other { (one, other) } else { (other, one) };
    let pair = hash_of_pair(name_hash(low), name_hash(high));
    let draw = Stream::of_hash(seed, pair, Purpose::Shadowing).normal();
    // Bounded to five standard deviations, so that the reach of a signal is bounded.
    Db(deviation.0 * draw.clamp(-SHADOWING_BOUND, SHADOWING_BOUND))
}

/// Hash of an unordered pair of names, whose own hashes are given in the order of the names.
pub(crate) fn hash_of_pair(low: u64, high: u64) -> u64 {
    low ^ high.rotate_left(32).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Bound of the shadowing in standard deviations (one draw in two million exceeds it).
pub const SHADOWING_BOUND: f64 = 5.0;

/// Upper bound, m, of the distance at which the gain, with the best shadowing, is at least `least`: 0.1 % above it, between 1 m and 1e8 m;
/// infinite for a matrix.
#[must_use]
pub fn reach(model: &Propagation, least: Db) -> f64 {
    let bonus = match model {
        Propagation::LogDistance { shadowing, .. } => SHADOWING_BOUND * shadowing.0.max(0.0),
        Propagation::Matrix => return f64::INFINITY,
        _ => 0.0,
    };
    let (mut low, mut high) = (1.0f64, 1e8f64);
    if gain_at(model, high).0 + bonus >= least.0 {
        return high;
    }
    // The gain falls with distance (two-ray has a small step at the cross-over, hence the margin).
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if gain_at(model, middle).0 + bonus >= least.0 { low = middle } else { high = middle }
    }
    high * 1.001
}

/// Propagation delay over a distance, ns, rounded to the nearest.
#[must_use]
pub fn delay_ns(distance_m: f64) -> u64 {
    (distance_m / LIGHT * 1e9 + 0.5) as u64
}

/// Distance over which a signal takes this time, m.
#[must_use]
pub fn distance_in(delay: Span) -> f64 {
    delay.as_nanos() as f64 * 1e-9 * LIGHT
}

/// Time that a step of the coverage class adds to a slot, for the way of a signal there and back (802.11-2016 9.4.2.9).
pub const COVERAGE_STEP: Span = Span::from_micros(3);

/// The least coverage class, which may be larger than there is, whose slots are as long as the way of a signal there and back; `slot`: of
/// class 0.
#[must_use]
pub const fn coverage_class(both_ways: Span, slot: Span) -> u64 {
    both_ways.as_nanos().saturating_sub(slot.as_nanos()).div_ceil(COVERAGE_STEP.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 25 km: 83,391 ns one way, 166,782 there and back, less a slot of 9,000: 52.6 steps.
    #[test]
    fn a_coverage_class_makes_slots_as_long_as_the_way_there_and_back() {
        let both_ways = |metres: f64| Span(2 * delay_ns(metres));
        let slot = Span::from_micros(9);
        assert_eq!(coverage_class(both_ways(25_000.0), slot), 53);
        assert_eq!([1348.0, 1350.0].map(|metres| coverage_class(both_ways(metres), slot)), [0, 1]);
        assert_eq!(coverage_class(Span(9_000 + 2 * 3_000), slot), 2);
    }

    const TWO_RAY: Propagation = Propagation::TwoRayGround { frequency_hz: 914e6, antenna_height_m: 1.5 };

    /// ns-2's well-known thresholds for a 0.28183815 W transmitter at 914 MHz: 3.652e-10 W at 250 m, 1.559e-11 W at 550 m.
    #[test]
    fn two_ray_gives_the_known_thresholds() {
        let tx = 0.281_838_15;
        for (d, watt) in [(250.0, 3.652e-10), (550.0, 1.559e-11)] {
            let got = tx * gain_at(&TWO_RAY, d).to_linear();
            assert!((got / watt - 1.0).abs() < 1e-3, "{d} m: {got}");
        }
    }

    #[test]
    fn free_space_loses_6_db_a_doubling() {
        let model = Propagation::FreeSpace { frequency_hz: 2.4e9 };
        let drop = gain_at(&model, 100.0).0 - gain_at(&model, 200.0).0;
        assert!((drop - 6.0206).abs() < 1e-3);
        // 40.05 dB at one metre and 2.4 GHz, the textbook figure.
        assert!((gain_at(&model, 1.0).0 + 40.05).abs() < 0.01);
    }

    #[test]
    fn reach_is_where_the_gain_ends() {
        for model in [
            TWO_RAY,
            Propagation::FreeSpace { frequency_hz: 5.18e9 },
            Propagation::LogDistance {
                exponent: 3.0,
                reference_m: 1.0,
                reference_loss: Db(46.7),
                shadowing: Db(0.0),
                shadowing_seed: 1,
            },
        ] {
            let at = reach(&model, gain_at(&model, 300.0));
            assert!((300.0..301.0).contains(&at), "{at}");
        }
    }

    #[test]
    fn shadowing_is_symmetric_and_of_the_pair() {
        let model = |shadowing_seed| Propagation::LogDistance {
            exponent: 3.0,
            reference_m: 1.0,
            reference_loss: Db(46.7),
            shadowing: Db(6.0),
            shadowing_seed,
        };
        let one = model(1);
        assert_eq!(shadowing(&one, "a", "b"), shadowing(&one, "b", "a"));
        assert_ne!(shadowing(&one, "a", "b"), shadowing(&one, "a", "c"));
        assert_ne!(shadowing(&one, "a", "b"), shadowing(&model(2), "a", "b"));
        let n = 2000;
        let draws: Vec<f64> = (0..n).map(|seed| shadowing(&model(seed), "a", "b").0).collect();
        let mean = draws.iter().sum::<f64>() / n as f64;
        let deviation = (draws.iter().map(|x| x * x).sum::<f64>() / n as f64).sqrt();
        assert!(mean.abs() < 0.7 && (deviation - 6.0).abs() < 0.5, "{mean} {deviation}");
    }

    #[test]
    fn light_takes_83_us_for_25_km() {
        assert_eq!(delay_ns(25_000.0), 83_391);
    }
}
