//! Links whose existence or absence follows from a parameter and not from their power: reasons for warnings.

use std::collections::BTreeMap;

use airfair_units::{Attowatts, Dbm, math};

use super::Medium;
use super::error::{log_success, required_snr};
use super::phy::{PhyKind, exceeds};
use super::relations::LEAST_DELIVERY;
use crate::ids::StationIx;
use crate::modes::Mode;
use crate::spec::{ErrorModel, Propagation, RadioSpec};

/// A threshold cuts the error curve if frames at the detection threshold arrive with more than this probability: weaker links, which real
/// radios would use with losses, are missing.
pub const CUT: f64 = 0.5;

/// Range of power below the required power in which some frames still arrive, dB: the curves fall from 0.9 to 0.01 within 2.6 dB.
const CURVE_DB: f64 = 3.0;

/// A link without losses although its power is too low for the sender's nominal rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TooFast {
    /// The transmitting station.
    pub from: StationIx,
    /// The receiving station.
    pub to: StationIx,
    /// Received power.
    pub power: Dbm,
    /// Power that the rate requires.
    pub needed: Dbm,
}

/// Links that are missing because signals below a threshold are not detected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CutOff {
    /// Kind of the receiving radio, by its index in the specification.
    pub kind: usize,
    /// Nominal mode of the senders.
    pub mode: Mode,
    /// Detection threshold: signals below it are not detected.
    pub threshold: Dbm,
    /// True if the threshold is `preamble_detect`; false if it is `lock_sinr` above the noise.
    pub by_power: bool,
    /// Probability that a data frame of 1500 B arrives at the threshold.
    pub delivery: f64,
    /// Ordered pairs of stations whose delivery ratio would exceed [`LEAST_DELIVERY`]. 0 if the pairs change with movement, or are left out
    /// of the world by `cutoff`.
    pub pairs: usize,
}

impl CutOff {
    /// The text of the warning, for this radio.
    pub(crate) fn warning(&self, radio: &RadioSpec) -> String {
        // The threshold of a `range` is the power at that distance.
        let by_range = self.by_power && radio.propagation != Propagation::Matrix;
        let key = match self.by_power {
            true if by_range => "preamble_detect, or the `range` that sets it",
            true => "preamble_detect",
            false => "lock_sinr, over the noise",
        };
        let longer = if by_range { "a longer `range` or none, or " } else { "" };
        let links = match self.pairs {
            0 => "links with losses do not exist".to_string(),
            1 => "1 link that would carry some of its frames does not exist".to_string(),
            n => format!("{n} links that would carry some of their frames do not exist"),
        };
        format!(
            "radio {} detects nothing below {:.1} dBm ({key}), where {:.0} % of frames of 1500 B at {} still arrive: {links}; with \
             {longer}a lower preamble_detect and lock_sinr, they do",
            radio.name,
            self.threshold.0,
            100.0 * self.delivery,
            self.mode.rate()
        )
    }
}

impl PhyKind {
    /// Power that data frames of `mode` require at this receiver.
    fn needed(&self, mode: Mode) -> Dbm {
        Dbm(Attowatts(self.noise).to_dbm().0 + required_snr(mode).0)
    }

    /// Probability that a data frame of `psdu` bytes arrives with this power, regardless of detection thresholds.
    fn delivery(&self, mode: Mode, power: u64, psdu: u32) -> f64 {
        let snr = power as f64 / self.noise.max(1) as f64;
        math::exp(log_success(mode, snr, f64::from(psdu) * 8.0))
    }

    fn detects(&self, power: u64) -> bool {
        power >= self.preamble_detect && exceeds(power, self.lock_sinr, self.noise)
    }
}

/// The link between two stations, if it has no losses by [`ErrorModel::Threshold`] while the error curves give a loss of more than a tenth.
pub(crate) fn too_fast(medium: &Medium, from: StationIx, to: StationIx) -> Option<TooFast> {
    let kind = medium.kind(to);
    let hearer = medium.unfaded_hearers().find(from, to)?;
    let (power, needed) = (Attowatts(hearer.power).to_dbm(), kind.needed(medium.kind(from).nominal_mode));
    let by_decree = kind.error_model == ErrorModel::Threshold && hearer.bound > 0 && power < needed;
    by_decree.then_some(TooFast { from, to, power, needed })
}

/// Thresholds that cut error curves for data frames of `psdu` bytes, where there are links or nodes move.
pub(crate) fn cut_off(medium: &Medium, psdu: u32) -> Vec<CutOff> {
    let mut found: BTreeMap<(usize, Mode), CutOff> = BTreeMap::new();
    let mut senders = vec![false; medium.kinds.len()];
    for station in &medium.stations {
        senders[usize::from(station.radio.kind)] = true;
    }
    let of_channel = |channel: u16| {
        let senders =
            medium.kinds.iter().zip(&senders).filter(move |(k, there)| **there && k.channel == channel);
        senders.map(|(kind, _)| kind.nominal_mode)
    };
    for (number, kind) in medium.kinds.iter().enumerate() {
        if kind.error_model == ErrorModel::Threshold {
            continue;
        }
        let sinr =
            Dbm(Attowatts(kind.noise).to_dbm().0 + 10.0 * math::log10(kind.lock_sinr as f64 / 65536.0));
        let power = Attowatts(kind.preamble_detect).to_dbm();
        let threshold = Dbm(power.0.max(sinr.0));
        for mode in of_channel(kind.channel) {
            let delivery = kind.delivery(mode, threshold.to_attowatts().0, psdu);
            if delivery > CUT {
                let by_power = power >= sinr;
                let cut = CutOff { kind: number, mode, threshold, by_power, delivery, pairs: 0 };
                found.insert((number, mode), cut);
            }
        }
    }
    if found.is_empty() {
        return Vec::new();
    }
    let hearers = medium.unfaded_hearers();
    for (from, station) in medium.stations.pairs() {
        let mode = medium.kinds[usize::from(station.radio.kind)].nominal_mode;
        for band in &hearers.bands[hearers.bands_of(from)] {
            for hearer in &hearers.list[band.first as usize..band.end as usize] {
                let number = usize::from(medium.stations[hearer.id].radio.kind);
                let kind = &medium.kinds[number];
                let Some(cut) = found.get_mut(&(number, mode)).filter(|_| !kind.detects(hearer.power)) else {
                    continue;
                };
                let near = Attowatts(hearer.power).to_dbm().0 > kind.needed(mode).0 - CURVE_DB;
                cut.pairs += usize::from(near && kind.delivery(mode, hearer.power, psdu) > LEAST_DELIVERY);
            }
        }
    }
    let moving = medium.movement.is_some();
    found.into_values().filter(|cut| cut.pairs > 0 || moving).collect()
}
