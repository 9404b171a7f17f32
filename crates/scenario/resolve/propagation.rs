//! From `propagation` to a model of how power falls with distance; distances to thresholds and back.

use airfair_sim::air::least_power;
use airfair_sim::air::propagation::gain_at;
use airfair_sim::modes::Mode;
use airfair_sim::spec::{FadingLaw, FadingSpec, Propagation, RadioSpec};
use airfair_units::{Db, Dbm, Meters};

use crate::declare::frequency::Frequency;
use crate::defaults::standard::Defaults;
use crate::keys::propagation::{FadingTable, PropagationTable};
use crate::text::location::At;

/// A threshold that a range sets lies this far below the power at that distance, so that a node at exactly the range is
/// inside it, whatever the last bit of a logarithm is.
const MARGIN_DB: f64 = 0.0005;

impl PropagationTable {
    /// Fills in the defaults and gives the model.
    pub fn resolve(&mut self, defaults: &Defaults) -> Propagation {
        let usual = Frequency(defaults.frequency_hz);
        match self {
            Self::FreeSpace(t) => Propagation::FreeSpace { frequency_hz: t.frequency.get_or_insert(usual).0 },
            Self::TwoRay(t) => Propagation::TwoRayGround {
                frequency_hz: t.frequency.get_or_insert(usual).0,
                antenna_height_m: t.antenna_height.0,
            },
            Self::LogDistance(t) => {
                let free = Propagation::FreeSpace { frequency_hz: defaults.frequency_hz };
                let usual = Db(-gain_at(&free, t.reference.0).0);
                Propagation::LogDistance {
                    exponent: t.exponent,
                    reference_m: t.reference.0,
                    reference_loss: *t.reference_loss.get_or_insert(usual),
                    shadowing: t.shadowing,
                    shadowing_seed: t.shadowing_seed,
                }
            }
            Self::Matrix(_) => Propagation::Matrix,
        }
    }

    /// Removes and returns the two ranges, which become thresholds.
    pub fn take_ranges(&mut self) -> Ranges {
        let (locations, range, sense) = match self {
            Self::FreeSpace(t) => (&t.locations, &mut t.range, &mut t.carrier_sense),
            Self::TwoRay(t) => (&t.locations, &mut t.range, &mut t.carrier_sense),
            Self::LogDistance(t) => (&t.locations, &mut t.range, &mut t.carrier_sense),
            Self::Matrix(t) => {
                let at = t.locations.of("model");
                return Ranges { range: None, carrier_sense: None, range_at: at, carrier_sense_at: at };
            }
        };
        Ranges {
            range: range.take(),
            carrier_sense: sense.take(),
            range_at: locations.of("range"),
            carrier_sense_at: locations.of("carrier_sense"),
        }
    }
}

impl FadingTable {
    /// The specification of the fading.
    pub fn resolve(&self) -> FadingSpec {
        let (law, coherence) = match self {
            Self::Rayleigh(t) => (FadingLaw::Rayleigh, t.coherence),
            Self::Rician(t) => (FadingLaw::Rician { k: t.k }, t.coherence),
            Self::LogNormal(t) => (FadingLaw::LogNormal { deviation: t.deviation }, t.coherence),
        };
        FadingSpec { law, coherence }
    }
}

/// The ranges that a user wrote, and their locations.
pub(crate) struct Ranges {
    pub range: Option<Meters>,
    pub carrier_sense: Option<Meters>,
    pub range_at: At,
    pub carrier_sense_at: At,
}

/// The threshold that a node at exactly this distance just passes.
pub(crate) fn threshold(model: &Propagation, tx_power: Dbm, distance: Meters) -> Dbm {
    Dbm(tx_power.0 + gain_at(model, distance.0).0 - MARGIN_DB)
}

/// The distance at which the power falls to a threshold, to a millimetre; `None` without a model by distance, or if it
/// is never or always reached.
pub(crate) fn reach(model: &Propagation, tx_power: Dbm, threshold: Dbm) -> Option<f64> {
    if matches!(model, Propagation::Matrix) {
        return None;
    }
    let heard = |d: f64| tx_power.0 + gain_at(model, d).0 >= threshold.0;
    let (mut near, mut far) = (1.0, 1e8);
    if !heard(near) || heard(far) {
        return None;
    }
    while far - near > 1e-4 {
        let middle = (near + far) / 2.0;
        if heard(middle) { near = middle } else { far = middle }
    }
    Some(near)
}

/// The distance up to which data frames are received, m; nine of ten of them if an error rate decides. `None`: any distance.
pub(crate) fn data_reach(radio: &RadioSpec) -> Option<f64> {
    let phy = &radio.phy;
    let needed = least_power(phy, Mode::of_rate(phy.standard, phy.data_rate)?);
    match reach(&radio.propagation, phy.tx_power, needed) {
        Some(distance) => Some(distance),
        None if radio.propagation == Propagation::Matrix => None,
        None if phy.tx_power.0 + gain_at(&radio.propagation, 1.0).0 >= needed.0 => None,
        // No neighbour is heard, not even at a distance of one metre.
        None => Some(1e-3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_RAY: Propagation = Propagation::TwoRayGround { frequency_hz: 914e6, antenna_height_m: 1.5 };

    /// ns-2's thresholds for 250 m and 550 m: 3.652e-10 W and 1.559e-11 W at 0.28183815 W.
    #[test]
    fn thresholds_agree_with_ns2() {
        let tx = Dbm(24.5);
        assert!((threshold(&TWO_RAY, tx, Meters(250.0)).0 + 64.375).abs() < 0.01);
        assert!((threshold(&TWO_RAY, tx, Meters(550.0)).0 + 78.072).abs() < 0.01);
    }

    #[test]
    fn reach_is_the_inverse_of_threshold() {
        for d in [1.5, 50.0, 250.0, 367.0, 670.0, 5000.0] {
            let found = reach(&TWO_RAY, Dbm(15.0), threshold(&TWO_RAY, Dbm(15.0), Meters(d))).unwrap();
            assert!(found >= d && found < d * 1.001, "{d} m: {found} m");
        }
        assert_eq!(reach(&Propagation::Matrix, Dbm(15.0), Dbm(-80.0)), None);
    }
}
