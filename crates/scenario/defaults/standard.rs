//! Standards: the modes of each, and the defaults that a radio of the standard has.

use airfair_sim::spec::Standard;
use airfair_units::{Dbm, Rate, Span, math};

/// Thermal noise in 1 Hz at 290 K.
const THERMAL_DBM_PER_HZ: f64 = -174.0;

/// The weakest preamble that is detected by default: 4 dB (the usual `lock_sinr`) over the usual noise
/// of -93.6 dBm (22 MHz) or -94.0 dBm (20 MHz). docs/radio-switches.md gives the reasons.
pub(crate) const PREAMBLE_DETECT: Dbm = Dbm(-90.0);

/// The defaults of one standard.
pub(crate) struct Defaults {
    /// Every rate that a frame may have.
    pub modes: &'static [Rate],
    /// The fastest of them.
    pub data_rate: Rate,
    /// Rates of responses.
    pub basic_rates: &'static [Rate],
    /// Rate of broadcast frames.
    pub broadcast_rate: Rate,
    /// Smallest contention window.
    pub cw_min: u32,
    /// Carrier frequency, Hz.
    pub frequency_hz: f64,
    /// Channel.
    pub channel: u16,
    /// Width of the channel, for the noise, Hz.
    pub bandwidth_hz: f64,
}

const fn rates<const N: usize>(half_mbps: [u64; N]) -> [Rate; N] {
    let mut out = [Rate(0); N];
    let mut i = 0;
    while i < N {
        out[i] = Rate::from_kbps(half_mbps[i] * 500);
        i += 1;
    }
    out
}

const DSSS: [Rate; 4] = rates([2, 4, 11, 22]);
const OFDM: [Rate; 8] = rates([12, 18, 24, 36, 48, 72, 96, 108]);
const BOTH: [Rate; 12] = rates([2, 4, 11, 22, 12, 18, 24, 36, 48, 72, 96, 108]);

const DOT11B: Defaults = Defaults {
    modes: &DSSS,
    data_rate: Rate::from_mbps(11),
    basic_rates: &rates([2, 4]),
    broadcast_rate: Rate::from_mbps(1),
    cw_min: 31,
    frequency_hz: 2.4e9,
    channel: 1,
    bandwidth_hz: 22e6,
};

const DOT11A: Defaults = Defaults {
    modes: &OFDM,
    data_rate: Rate::from_mbps(54),
    basic_rates: &rates([12, 24, 48]),
    broadcast_rate: Rate::from_mbps(6),
    cw_min: 15,
    frequency_hz: 5.18e9,
    channel: 36,
    bandwidth_hz: 20e6,
};

const DOT11G: Defaults = Defaults {
    modes: &BOTH,
    data_rate: Rate::from_mbps(54),
    basic_rates: &rates([2, 4, 11, 22, 12, 24, 48]),
    broadcast_rate: Rate::from_mbps(1),
    cw_min: 15,
    frequency_hz: 2.4e9,
    channel: 1,
    bandwidth_hz: 20e6,
};

/// The defaults of a standard.
pub(crate) fn defaults(standard: Standard) -> &'static Defaults {
    match standard {
        Standard::Dot11b => &DOT11B,
        Standard::Dot11a => &DOT11A,
        Standard::Dot11g => &DOT11G,
    }
}

/// The slot and the default sensing delay of a standard.
pub(crate) fn slot(standard: Standard, short_slot: bool) -> (Span, Span) {
    match standard {
        Standard::Dot11a => (Span::from_micros(9), Span::from_micros(6)),
        Standard::Dot11g if short_slot => (Span::from_micros(9), Span::from_micros(6)),
        Standard::Dot11b | Standard::Dot11g => (Span::from_micros(20), Span::from_micros(15)),
    }
}

/// Noise in the receiver from its noise figure in dB.
pub(crate) fn noise(standard: Standard, figure_db: f64) -> Dbm {
    Dbm(THERMAL_DBM_PER_HZ + 10.0 * math::log10(defaults(standard).bandwidth_hz) + figure_db)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_those_of_the_standards() {
        let mbps = |s| defaults(s).modes.iter().map(|r| r.0 as f64 / 1e6).collect::<Vec<_>>();
        assert_eq!(mbps(Standard::Dot11b), [1.0, 2.0, 5.5, 11.0]);
        assert_eq!(mbps(Standard::Dot11a), [6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0]);
        assert_eq!(mbps(Standard::Dot11g).len(), 12);
    }

    #[test]
    fn noise_of_a_20_mhz_channel_is_about_minus_101_dbm() {
        assert!((noise(Standard::Dot11a, 0.0).0 + 100.99).abs() < 0.01);
        assert!((noise(Standard::Dot11b, 7.0).0 + 93.576).abs() < 0.01);
    }
}
