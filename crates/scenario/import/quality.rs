//! From the quality of a link in a map to the power at which the simulator receives it, and back.
//!
//! The scenario's receivers lose frames by the simulator's error rates (`error_model = "per-chunk"`), so a delivery ratio
//! p is the power over noise at which a frame of a certain size and mode arrives with probability p without interference. Maps do not
//! say which frame that is; the link model decides.

use airfair_sim::air::error::log_success;
use airfair_sim::air::propagation::gain_at;
use airfair_sim::modes::Mode;
use airfair_sim::spec::{Propagation, Standard};
use airfair_units::{Db, Dbm, Rate, math};

use super::draft::DirectionQuality;
use super::options::LinkModel;
use crate::defaults::standard::{defaults, noise};

/// Bytes of a data frame: 1500 of IP, 8 of LLC/SNAP, 28 of MAC.
const DATA_BYTES: f64 = 1536.0;
/// Bytes of a routing protocol's small broadcast: 100 of IP, LLC/SNAP and MAC.
const PROBE_BYTES: f64 = 136.0;
/// A ratio above this is treated as this, with a margin of power: a link without losses may have any power above what it needs.
const FULL: f64 = 0.999;
/// A ratio below this is treated as this.
const LEAST: f64 = 0.001;
/// Transmit power of every imported radio.
pub(crate) const TX_POWER: Dbm = Dbm(20.0);
/// Noise figure of every imported radio.
pub(crate) const NOISE_FIGURE: Db = Db(7.0);

/// The rate of broadcasts. Meshes with OFDM do not send them at 1 Mbit/s, which would use all their airtime.
pub(crate) fn broadcast_rate(standard: Standard) -> Rate {
    match standard {
        Standard::Dot11g => Rate::from_mbps(6),
        _ => defaults(standard).broadcast_rate,
    }
}

/// The radio that all nodes of an imported scenario have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Radio {
    pub standard: Standard,
    pub data_rate: Rate,
    pub data: Mode,
    pub broadcast: Mode,
    pub noise: Dbm,
    /// Added to the power of a link that loses nothing.
    pub margin: Db,
    /// Gain of the antenna at each end, where power comes from length.
    pub antenna: Db,
}

impl Radio {
    /// A radio; `None` if the standard has no such rate.
    pub fn new(standard: Standard, data_rate: Rate, margin: Db, antenna: Db) -> Option<Self> {
        let data = Mode::of_rate(standard, data_rate)?;
        let broadcast = Mode::of_rate(standard, broadcast_rate(standard))?;
        Some(Self {
            standard,
            data_rate,
            data,
            broadcast,
            noise: noise(standard, NOISE_FIGURE.0),
            margin,
            antenna,
        })
    }

    /// The received power of a direction whose quality is known; `None` if no frame arrives.
    pub fn power(&self, way: &DirectionQuality, model: LinkModel) -> Option<f64> {
        match (way.power, way.delivery) {
            (Some(power), _) if model == LinkModel::Signal => Some(power),
            (_, Some(delivery)) if delivery > 0.0 => Some(self.power_of(delivery, model)),
            (power, None) => power,
            (_, Some(_)) => None,
        }
    }

    /// The received power at which this share of frames arrives.
    pub fn power_of(&self, delivery: f64, model: LinkModel) -> f64 {
        let (mode, bytes) = match model {
            LinkModel::Probe => (self.broadcast, PROBE_BYTES),
            _ => (self.data, DATA_BYTES),
        };
        let log_delivery = math::ln(delivery.clamp(LEAST, FULL));
        let (mut low, mut high) = (-30.0, 60.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if log_success(mode, Db(middle).to_linear(), bytes * 8.0) < log_delivery {
                low = middle
            } else {
                high = middle
            }
        }
        self.noise.0 + high + if delivery >= FULL { self.margin.0 } else { 0.0 }
    }

    /// The share of data frames that arrive at this power.
    pub fn delivery(&self, power: f64) -> f64 {
        math::exp(log_success(self.data, Db(power - self.noise.0).to_linear(), DATA_BYTES * 8.0))
    }

    /// The received power over a free line of this length, with both antennas aimed.
    pub fn power_at(&self, distance_m: f64) -> f64 {
        let model = Propagation::FreeSpace { frequency_hz: defaults(self.standard).frequency_hz };
        TX_POWER.0 + gain_at(&model, distance_m).0 + 2.0 * self.antenna.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn radio() -> Radio {
        Radio::new(Standard::Dot11g, Rate::from_mbps(24), Db(10.0), Db(20.0)).unwrap()
    }

    #[test]
    fn the_power_of_a_ratio_gives_that_ratio() {
        for p in [0.01, 0.1, 0.25, 0.5, 0.9, 0.99, 0.998] {
            let reverse = radio().delivery(radio().power_of(p, LinkModel::Delivery));
            assert!((reverse - p).abs() < 1e-6, "{p}: {reverse}");
        }
        let full = radio().power_of(1.0, LinkModel::Delivery);
        assert!((full - radio().power_of(0.998, LinkModel::Delivery) - 10.0).abs() < 1.0);
        assert!(radio().power_of(1.0, LinkModel::Probe) < full, "small slow frames need less");
    }

    #[test]
    fn silence_has_no_power_and_a_signal_is_kept() {
        assert_eq!(radio().power(&DirectionQuality::own(0.0), LinkModel::Delivery), None);
        let both = DirectionQuality { delivery: Some(0.5), power: Some(-71.0), own: true };
        assert_eq!(radio().power(&both, LinkModel::Signal), Some(-71.0));
        assert!(radio().power(&both, LinkModel::Delivery).unwrap() < -80.0);
        let signal = DirectionQuality { delivery: None, ..both };
        assert_eq!(radio().power(&signal, LinkModel::Delivery), Some(-71.0), "nothing else is known");
    }

    /// Free space at 5.18 GHz loses 106.7 dB over a kilometre.
    #[test]
    fn lengths_have_the_loss_of_free_space() {
        let a = Radio::new(Standard::Dot11a, Rate::from_mbps(24), Db(10.0), Db(20.0)).unwrap();
        assert!((a.power_at(1000.0) - (20.0 + 40.0 - 106.73)).abs() < 0.05);
        assert!(Radio::new(Standard::Dot11a, Rate::from_mbps(11), Db(0.0), Db(0.0)).is_none());
    }
}
