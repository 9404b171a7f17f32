//! Links that exist, or are missing, by a parameter and not by their power: reasons for warnings.

use std::collections::BTreeMap;

use airfair_units::{Attowatts, Dbm, math};

use super::Medium;
use super::error::{log_success, required_snr};
use super::phy::{PhyKind, exceeds};
use super::relations::LEAST_DELIVERY;
use crate::ids::StationIx;
use crate::modes::Mode;
use crate::spec::ErrorModel;

/// A threshold cuts the error curve if a frame that is just detected arrives with more than this probability: all weaker
/// links, which real radios would use with losses, are missing.
pub const CUT: f64 = 0.5;

/// How far below the required power a link may lie of which something arrives, dB: the curves fall from 0.9 to 0.01 within 2.6 dB.
const CURVE_DB: f64 = 3.0;

/// A link that loses nothing, though its power is too little for the sender's data rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TooFast {
    /// Station that transmits.
    pub from: StationIx,
    /// Station that receives.
    pub to: StationIx,
    /// Received power.
    pub power: Dbm,
    /// Power that the rate needs.
    pub needed: Dbm,
}

/// Links that are missing since nothing is detected below a threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CutOff {
    /// Kind of radio that does not detect, by its place in the specification.
    pub kind: usize,
    /// Data mode of the senders.
    pub mode: Mode,
    /// The power below which nothing is detected.
    pub threshold: Dbm,
    /// The threshold is `preamble_detect`; if false, it is `lock_sinr` over the noise.
    pub by_power: bool,
    /// Probability that a data frame of 1500 B arrives with that power.
    pub delivery: f64,
    /// Pairs of stations, each direction for itself, of which more than [`LEAST_DELIVERY`] would arrive. Their number is 0 if they
    /// come and go with movement, or are left out of the world by `cutoff`.
    pub pairs: usize,
}

impl CutOff {
    /// The warning, for a radio of this name.
    pub(crate) fn warning(&self, radio: &str) -> String {
        let key = if self.by_power { "preamble_detect" } else { "lock_sinr, over the noise," };
        let links = match self.pairs {
            0 => "links with losses do not exist".to_string(),
            1 => "1 link that would carry some of its frames does not exist".to_string(),
            n => format!("{n} links that would carry some of their frames do not exist"),
        };
        format!(
            "radio {radio} detects nothing below {:.1} dBm ({key} says so), where {:.0} % of frames of 1500 B at {} still arrive: \
             {links}; a lower preamble_detect and lock_sinr let them be",
            self.threshold.0,
            100.0 * self.delivery,
            self.mode.rate()
        )
    }
}

impl PhyKind {
    /// Power that data frames of a mode need at this receiver.
    fn needed(&self, mode: Mode) -> Dbm {
        Dbm(Attowatts(self.noise).to_dbm().0 + required_snr(mode).0)
    }

    /// Probability that a data frame of so many bytes of PSDU arrives with this power, whatever is detected.
    fn delivery(&self, mode: Mode, power: u64, psdu: u32) -> f64 {
        let snr = power as f64 / self.noise.max(1) as f64;
        math::exp(log_success(mode, snr, f64::from(psdu) * 8.0))
    }

    fn detects(&self, power: u64) -> bool {
        power >= self.preamble_detect && exceeds(power, self.lock_sinr, self.noise)
    }
}

/// The link from one station to another, if it loses nothing by decree ([`ErrorModel::Threshold`]) while the error curves
/// lose more than a tenth of it.
pub(crate) fn too_fast(medium: &Medium, from: StationIx, to: StationIx) -> Option<TooFast> {
    let kind = medium.kind(to);
    let hearer = medium.hearers.find(from, to)?;
    let (power, needed) = (Attowatts(hearer.power).to_dbm(), kind.needed(medium.kind(from).data_mode));
    let by_decree = kind.error_model == ErrorModel::Threshold && hearer.bound > 0 && power < needed;
    by_decree.then_some(TooFast { from, to, power, needed })
}

/// Thresholds that cut error curves, by data frames of so many bytes of PSDU, where there are links, or where nodes move.
pub(crate) fn cut_off(medium: &Medium, psdu: u32) -> Vec<CutOff> {
    let mut found: BTreeMap<(usize, Mode), CutOff> = BTreeMap::new();
    let mut senders = vec![false; medium.kinds.len()];
    for station in &medium.stations {
        senders[usize::from(station.radio.kind)] = true;
    }
    let of_channel = |channel: u16| {
        let senders =
            medium.kinds.iter().zip(&senders).filter(move |(k, there)| **there && k.channel == channel);
        senders.map(|(kind, _)| kind.data_mode)
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
    for (from, station) in medium.stations.pairs() {
        let mode = medium.kinds[usize::from(station.radio.kind)].data_mode;
        for band in &medium.hearers.bands[medium.hearers.bands_of(from)] {
            for hearer in &medium.hearers.list[band.first as usize..band.end as usize] {
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
