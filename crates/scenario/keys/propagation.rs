//! The keys of `propagation`: how power falls with distance, and ranges in metres from which thresholds are computed.

use airfair_units::{Db, Meters, Span};

use crate::declare::field::LONGEST;
use crate::declare::frequency::Frequency;
use crate::declare::table::{table, variants};
use crate::text::location::{At, Locations};

const FREQUENCIES: std::ops::RangeInclusive<Frequency> = Frequency(1e6)..=Frequency(1e12);
const DISTANCES: std::ops::RangeInclusive<Meters> = Meters(1.0)..=Meters(1e7);
const HEIGHTS: std::ops::RangeInclusive<Meters> = Meters(0.01)..=Meters(1e5);

variants! {
    /// How power falls with distance.
    enum PropagationTable by model {
        "free-space" => FreeSpace(FreeSpaceTable),
        "two-ray" => TwoRay(TwoRayTable),
        "log-distance" => LogDistance(LogDistanceTable),
        "matrix" => Matrix(MatrixTable),
    }
}

table! {
    /// Free space (Friis) with antennas of no gain.
    struct FreeSpaceTable {
        /// Carrier frequency.
        frequency: Frequency = computed("2.4 GHz; 802.11a: 5.18 GHz"), in FREQUENCIES;
        /// Distance up to which a preamble is detected, instead of `preamble_detect`.
        range: Meters = computed("from preamble_detect"), in DISTANCES;
        /// Distance up to which a signal makes the medium busy, instead of `energy_detect`.
        carrier_sense: Meters = computed("from energy_detect"), in DISTANCES;
    }
}

table! {
    /// Two-ray ground: free space up to 4 pi h^2 / wavelength, beyond that the fourth power of distance.
    struct TwoRayTable {
        /// Carrier frequency.
        frequency: Frequency = computed("2.4 GHz; 802.11a: 5.18 GHz"), in FREQUENCIES;
        /// Height of both antennas above their nodes' positions.
        antenna_height: Meters = default(Meters(1.5)), in HEIGHTS;
        /// Distance up to which a preamble is detected, instead of `preamble_detect`.
        range: Meters = computed("from preamble_detect"), in DISTANCES;
        /// Distance up to which a signal makes the medium busy, instead of `energy_detect`.
        carrier_sense: Meters = computed("from energy_detect"), in DISTANCES;
    }
}

table! {
    /// A loss at a reference distance, 10 n log10(d / d0) beyond it, and shadowing drawn once for each pair of nodes.
    struct LogDistanceTable {
        /// Path-loss exponent n: 2 in free space, 3 to 4 among buildings.
        exponent: f64 = default(3.0), in 0.5..=20.0;
        /// Reference distance d0.
        reference: Meters = default(Meters(1.0)), in Meters(0.01)..=Meters(1e5);
        /// Loss at the reference distance.
        reference_loss: Db = computed("that of free space at 2.4 GHz; 802.11a: at 5.18 GHz"), in Db(-100.0)..=Db(300.0);
        /// Standard deviation of the shadowing.
        shadowing: Db = default(Db(0.0)), in Db(0.0)..=Db(50.0);
        /// Seed of the shadowing, which is the same in every run, whatever the run's own seed is.
        shadowing_seed: u64 = default(1);
        /// Median distance up to which a preamble is detected, instead of `preamble_detect`.
        range: Meters = computed("from preamble_detect"), in DISTANCES;
        /// Median distance up to which a signal makes the medium busy, instead of `energy_detect`.
        carrier_sense: Meters = computed("from energy_detect"), in DISTANCES;
    }
}

table! {
    /// Measured gains, written as `[[gain]]`; pairs without a gain do not hear each other.
    struct MatrixTable {
    }
}

/// Durations of a block of fading.
const BLOCKS: std::ops::RangeInclusive<Span> = Span::from_micros(1)..=LONGEST;

variants! {
    /// Variation of a signal's power in time, about the power that `propagation` gives.
    enum FadingTable by model {
        "rayleigh" => Rayleigh(RayleighTable),
        "rician" => Rician(RicianTable),
        "log-normal" => LogNormal(LogNormalTable),
    }
}

table! {
    /// Many reflections, none of which dominates: power follows an exponential law whose mean is that of `propagation`. Factors above
    /// 10 dB (one draw in 22,000) are cut to 10 dB.
    struct RayleighTable {
        /// Coherence time: length of the blocks of time, from time 0, in which the power of a pair of radios is constant. It is the same in
        /// both directions, and independent between blocks and pairs. A frame keeps the power of its start.
        coherence: Span = required, in BLOCKS;
    }
}

table! {
    /// A dominant path beside many reflections; the mean is that of `propagation`. Factors above 10 dB are cut to 10 dB.
    struct RicianTable {
        /// Power of the dominant path in relation to that of the reflections (the K-factor).
        k: Db = required, in Db(-40.0)..=Db(40.0);
        /// Coherence time: length of the blocks of time, from time 0, in which the power of a pair of radios is constant. It is the same in
        /// both directions, and independent between blocks and pairs. A frame keeps the power of its start.
        coherence: Span = required, in BLOCKS;
    }
}

table! {
    /// A normal law in dB, bounded at five standard deviations: shadowing that varies. The power that `propagation` gives is the median;
    /// the mean power is 0.115 dB times the square of the deviation in dB above it, 1.8 dB for 4 dB.
    struct LogNormalTable {
        /// Standard deviation.
        deviation: Db = required, in Db(0.0)..=Db(20.0);
        /// Coherence time: length of the blocks of time, from time 0, in which the power of a pair of radios is constant. It is the same in
        /// both directions, and independent between blocks and pairs. A frame keeps the power of its start.
        coherence: Span = required, in BLOCKS;
    }
}

impl PropagationTable {
    /// Two-ray ground with every default.
    pub fn two_ray(at: At) -> Self {
        Self::TwoRay(TwoRayTable {
            locations: Locations::new(at),
            frequency: None,
            antenna_height: Meters(1.5),
            range: None,
            carrier_sense: None,
        })
    }
}
