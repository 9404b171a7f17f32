//! Reception and carrier sense between stations on an otherwise silent air: the basis of routes and maps.

use airfair_units::{Attowatts, Db, Dbm};

use super::hearers::{Band, Hearer, Hearers};
use super::{MOST_POWER, Medium, error, phy};
use crate::ids::StationIx;
use crate::modes::Mode;
use crate::spec::{ErrorModel, PhySpec};

/// Least delivery ratio of a link that is used.
pub const LEAST_DELIVERY: f64 = 0.1;

/// Size of the data frame by which a link is judged, as an IP packet, bytes.
pub(crate) const JUDGED_BYTES: u32 = 1500;

/// Least power at which data frames of `mode` arrive on an otherwise silent air; nine of ten where a draw decides.
#[must_use]
pub fn least_power(phy: &PhySpec, mode: Mode) -> Dbm {
    let received = match phy.error_model {
        ErrorModel::Threshold => phy::sensitivity(phy, mode).0.max(phy.noise.0 + phy.capture.0),
        ErrorModel::WorstSinr | ErrorModel::PerChunk => phy.noise.0 + error::required_snr(mode).0,
    };
    Dbm(received.max(phy.preamble_detect.0).max(phy.noise.0 + phy.lock_sinr.0))
}

/// Reception of one station's frames by another station that at least senses them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Relation {
    /// Station that transmits.
    pub from: StationIx,
    /// The hearing station.
    pub to: StationIx,
    /// Received power.
    pub power: Attowatts,
    /// Probability that a data frame of 1500 B arrives in the mode in which the station sends to the other one.
    pub delivery_ratio: f64,
}

impl Relation {
    /// True if the link can carry data frames; if false, frames are only sensed, as a preamble or as energy.
    #[must_use]
    pub fn receives(&self) -> bool {
        self.delivery_ratio > LEAST_DELIVERY
    }
}

/// The signal of a transmitter at a station.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReceivedSignal {
    /// Propagation delay, ns.
    pub delay: u32,
    /// Received power, aW.
    pub power: u64,
    /// True if the signal makes the medium busy.
    pub sensed: bool,
}

/// The signals, without fading, of all stations at one station, by the number of the sender.
pub(crate) fn signals_at(medium: &Medium, station: StationIx) -> Vec<Option<ReceivedSignal>> {
    let unfaded = medium.unfaded_hearers();
    medium.stations.places().map(|from| signal_at(medium, unfaded, from, station)).collect()
}

/// The signal of one station at another, without fading.
pub(crate) fn mean_signal_at(medium: &Medium, from: StationIx, at: StationIx) -> Option<ReceivedSignal> {
    signal_at(medium, medium.unfaded_hearers(), from, at)
}

/// The signal of one station at another by these lists.
pub(crate) fn signal_at(
    medium: &Medium,
    hearers: &Hearers,
    from: StationIx,
    at: StationIx,
) -> Option<ReceivedSignal> {
    hearers.find(from, at).map(|hearer| signal_of(medium, &hearer, at))
}

/// The signal at a station of a frame with these bands.
pub(crate) fn signal_in(
    medium: &Medium,
    bands: std::ops::Range<usize>,
    at: StationIx,
) -> Option<ReceivedSignal> {
    medium.hearers.find_in(bands, at).map(|hearer| signal_of(medium, &hearer, at))
}

fn signal_of(medium: &Medium, hearer: &Hearer, at: StationIx) -> ReceivedSignal {
    let kind = medium.kind(at);
    let sensed_from = kind.preamble_detect.min(kind.energy_detect);
    let Hearer { delay, power, .. } = *hearer;
    ReceivedSignal { delay, power, sensed: power >= sensed_from }
}

/// Stations for which the medium is busy while `station` transmits, in the order of their numbers, with the delivery ratios of data frames
/// of `psdu` bytes in the `mode` of each. A relation has the power without fading; with fading it exists also where only the best fades
/// deliver frames.
pub(crate) fn relations(
    medium: &Medium,
    station: StationIx,
    psdu: u32,
    mode: impl Fn(StationIx) -> Mode,
) -> Vec<Relation> {
    let hearers = medium.unfaded_hearers();
    let bands = &hearers.bands[hearers.bands_of(station)];
    let sensed = |band: &Band| band.first as usize..band.sensed_end as usize;
    let heard = bands.iter().flat_map(|band| &hearers.list[sensed(band)]);
    let mut relations: Vec<Relation> = heard
        .map(|hearer| Relation {
            from: station,
            to: hearer.id,
            power: Attowatts(hearer.power),
            delivery_ratio: delivery_to(medium, station, hearer, (mode(hearer.id), psdu)),
        })
        .filter(|relation| {
            let kind = medium.kind(relation.to);
            relation.power.0 >= kind.preamble_detect.min(kind.energy_detect) || relation.receives()
        })
        .collect();
    relations.sort_unstable_by_key(|r| r.to);
    relations
}

/// Probability that a data frame of `psdu` bytes in `mode` arrives on an otherwise silent air.
pub(crate) fn delivery_ratio(
    medium: &Medium,
    (from, to): (StationIx, StationIx),
    (mode, psdu): (Mode, u32),
) -> f64 {
    let hearer = medium.unfaded_hearers().find(from, to);
    hearer.map_or(0.0, |hearer| delivery_to(medium, from, &hearer, (mode, psdu)))
}

/// The stations for which that is not 0.
pub(crate) fn deliveries(
    medium: &Medium,
    from: StationIx,
    (mode, psdu): (Mode, u32),
) -> impl Iterator<Item = (StationIx, f64)> + '_ {
    let hearers = medium.unfaded_hearers();
    let bands = &hearers.bands[hearers.bands_of(from)];
    let heard = bands.iter().flat_map(|band| &hearers.list[band.first as usize..band.end as usize]);
    heard
        .map(move |hearer| (hearer.id, delivery_to(medium, from, hearer, (mode, psdu))))
        .filter(|&(_, ratio)| ratio > 0.0)
}

/// Most power above the radio's own that [`power_to_arrive`] considers, dB.
pub(crate) const MOST_POWER_OFFSET: u32 = 30;

/// The least power above the radio's own, in dB with one decimal, with which a tenth of the frames of `psdu` bytes in `mode` arrives on an
/// otherwise silent air; none if more than [`MOST_POWER_OFFSET`] would be needed.
pub(crate) fn power_to_arrive(
    medium: &Medium,
    (from, to): (StationIx, StationIx),
    (mode, psdu): (Mode, u32),
) -> Option<Db> {
    let hearer = medium.unfaded_hearers().find(from, to)?;
    least_offset((medium.kind(to), medium.kind(from)), hearer.power, (mode, psdu))
}

/// The least power above its own with which a frame arrives where radios of a station's kind just sense its signal.
pub(crate) fn sense_margin(medium: &Medium, station: StationIx, frame: (Mode, u32)) -> Option<Db> {
    let kind = medium.kind(station);
    least_offset((kind, kind), kind.energy_detect.min(kind.preamble_detect), frame)
}

/// The least offset of a sender's power with which a frame arrives that has this power without, aW, at a kind of radio. None: none does.
fn least_offset(
    (kind, sender): (&phy::PhyKind, &phy::PhyKind),
    own: u64,
    (mode, psdu): (Mode, u32),
) -> Option<Db> {
    let arrives = |tenths: u32| {
        let factor = Db(f64::from(tenths) / 10.0).to_linear();
        let power = (own as f64 * factor).min(MOST_POWER) as u64;
        kind.arrival((power, 0), sender.nominal_mode, (mode, psdu)) >= LEAST_DELIVERY
    };
    let (mut least, mut enough) = (0, 10 * MOST_POWER_OFFSET);
    if !arrives(enough) {
        return None;
    }
    while least < enough {
        let middle = u32::midpoint(least, enough);
        if arrives(middle) { enough = middle } else { least = middle + 1 }
    }
    Some(Db(f64::from(enough) / 10.0))
}

/// The delivery ratio of a signal with this power; with fading, the mean over its law.
fn delivery_to(medium: &Medium, from: StationIx, hearer: &Hearer, frame: (Mode, u32)) -> f64 {
    let at = |power: u64| medium.kind(hearer.id).arrival((power, 0), frame.0, frame);
    match medium.varying.as_ref().map_or(&[][..], |varying| varying.levels(from)) {
        [] => at(hearer.power),
        levels => {
            let sum: f64 = levels.iter().map(|level| at((hearer.power as f64 * level) as u64)).sum();
            sum / levels.len() as f64
        }
    }
}
