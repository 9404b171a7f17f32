//! The radio medium: lists of hearers, effects of a transmission at every hearer, reception. The medium calls no function of the MAC.
//!
//! The medium determines how long a hearer waits after a signal: a pass applies DIFS and EIFS, and the NAV that a duration field sets. The
//! numbers of a station's back-off are stored in the hearer's cache line too ([`radio::Radio`]), since every frame that is sensed freezes
//! them: the MAC draws and sets them, the medium freezes them. The MAC decides which frames a station sends and when.
//!
//! | file | contents |
//! |---|---|
//! | `propagation`, `error` | loss of power with distance; probability of reception |
//! | `hearers` | lists of hearers, in flat arrays |
//! | `radio` | state of a hearer that the inner loops touch |
//! | `frame` | frames on the air |
//! | `passes` | the pass over all hearers at a frame's start and the pass at its end |
//! | `hearing` | one hearer's part of these passes: carrier sense, lock, interference, NAV |
//! | `power_offset` | frames that are sent with another power than the radio's own |
//! | `path`, `movement` | position of a moving node; update of the lists of hearers |
//! | `fading`, `varying` | distribution of a fading gain; powers of each frame where gains vary |
//! | `regions` | storage of lists of hearers that are replaced during a run |
//! | `relations`, `artificial_links` | reception between stations on a silent air; links that exist, or are missing, by a parameter |
//! | `phy` | constants of a kind of radio |
//! | `memory` | estimated memory of the lists |

pub(crate) mod artificial_links;
pub(crate) mod backoffs;
pub mod error;
pub mod fading;
pub(crate) mod frame;
pub(crate) mod hearers;
mod hearing;
pub(crate) mod memory;
mod movement;
mod passes;
mod path;
pub(crate) mod phy;
mod power_offset;
pub mod propagation;
pub(crate) mod radio;
mod regions;
pub(crate) mod relations;
mod varying;

pub(crate) use passes::Reception;

use airfair_schemes::places::Airtime;
use airfair_units::Dbm;
use airfair_units::random::{Purpose, Stream};

use crate::event::rank;
use crate::ids::{StationIx, Table};
use crate::record::Records;
use crate::spec::{ErrorModel, FadingSpec, GainSpec, Propagation};
use frame::Frames;
use hearers::Hearers;
use movement::Movement;
use phy::PhyKind;
use power_offset::OffsetLists;
use radio::{RxState, Station, TransceiverCounters};
use regions::Regions;
use varying::Varying;

/// Greatest received power, aW: see [`hearers::entry`].
const MOST_POWER: f64 = 1e15;

/// Specification of a station.
#[derive(Debug, Clone)]
pub struct StationSpec {
    /// Node of the station, by its index in the specification.
    pub node: usize,
    /// The node's name.
    pub node_id: String,
    /// Unique name of the station; its random streams and ranks depend on it.
    pub name: String,
    /// Position, m.
    pub position: [f64; 3],
    /// False if the position is unknown or a guess.
    pub located: bool,
    /// Kind of radio, by its index.
    pub kind: u8,
    /// Transmit power.
    pub tx_power: Dbm,
    /// Received signals weaker than this are left out.
    pub cutoff: Dbm,
    /// Propagation model of its signal.
    pub propagation: Propagation,
    /// Fading of its signal.
    pub fading: Option<FadingSpec>,
    /// True if agents' messages for other stations are indicated to the layer above.
    pub overhears: bool,
}

impl StationSpec {
    /// Greatest factor by which fading raises the power of its signal.
    fn best_fade(&self) -> f64 {
        self.fading.as_ref().map_or(1.0, |fading| fading.best().to_linear())
    }
}

/// Optional state, maintained only if the rules of the run need it.
#[derive(Debug, Clone, Copy)]
struct Needs {
    /// Sums of received power. Not needed where signals are compared one by one and any energy occupies a receiver.
    sums: bool,
    /// Times at which the medium became busy and idle.
    idle_times: bool,
}

/// The medium, with every station as a hearer, transmitter and receiver.
#[derive(Debug)]
pub(crate) struct Medium {
    kinds: Vec<PhyKind>,
    pub hearers: Hearers,
    pub stations: Table<StationIx, Station>,
    pub counted: Table<StationIx, TransceiverCounters>,
    pub frames: Frames,
    per_chunk: bool,
    needs: Needs,
    successes: error::SuccessCache,
    reception: Table<StationIx, error::Draws>,
    movement: Option<Box<Movement>>,
    /// Gains that vary: then `hearers` has the powers of each station's last frame.
    varying: Option<Box<Varying>>,
    /// Lists of senders of frames with another power than the radio's own.
    offset_lists: OffsetLists,
    /// Storage of the lists of powers without fading ([`Medium::unfaded_hearers`]), if these lists may change.
    regions: Regions,
    /// Stations whose sets of decodable hearers movement has changed, until [`crate::air::Air`] takes them out.
    pub neighbours_changed: Vec<StationIx>,
    /// Records of the medium and of the stations' MACs.
    pub records: Records,
}

impl Medium {
    /// Creates the medium and its stations. `idle_times`: the times at which the medium becomes busy and idle are maintained.
    pub(crate) fn new(
        kinds: Vec<PhyKind>,
        stations: &[StationSpec],
        gains: &[GainSpec],
        seed: u64,
        idle_times: bool,
    ) -> Self {
        let state = stations.iter().map(|spec| {
            let rx = RxState { rank: rank(seed, &spec.name), ..RxState::default() };
            let mut station = Station { rx, ..Station::default() };
            station.radio.kind = spec.kind;
            if let Some(backoffs) = kinds[usize::from(spec.kind)].backoffs {
                station.radio.set(radio::flag::CATEGORIES);
                station.backoffs = backoffs;
            }
            if spec.overhears {
                station.radio.set(radio::flag::OVERHEARS);
            }
            station
        });
        let random = kinds.iter().any(|k| k.error_model != ErrorModel::Threshold || k.frame_loss > 0.0);
        Self {
            hearers: Hearers::build(stations, &kinds, gains),
            stations: state.collect(),
            counted: stations.iter().map(|_| TransceiverCounters::default()).collect(),
            frames: Frames::default(),
            per_chunk: kinds.iter().any(|k| k.error_model == ErrorModel::PerChunk),
            needs: Needs {
                sums: !kinds
                    .iter()
                    .all(|k| k.strongest && k.lock_on_energy && k.error_model != ErrorModel::PerChunk),
                idle_times,
            },
            successes: error::SuccessCache::default(),
            reception: if random {
                let stream = |s: &StationSpec| Stream::new(seed, &s.name, Purpose::Reception);
                stations.iter().map(|s| error::Draws::new(stream(s))).collect()
            } else {
                Table::default()
            },
            kinds,
            movement: None,
            varying: None,
            offset_lists: OffsetLists::default(),
            regions: Regions::default(),
            neighbours_changed: Vec::new(),
            records: Records::default(),
        }
    }

    /// Lists of hearers with their present powers, without fading.
    pub(crate) fn unfaded_hearers(&self) -> &Hearers {
        self.varying.as_ref().map_or(&self.hearers, |varying| &varying.unfaded)
    }

    /// Bands of the hearers of a frame of this power above the radio's own.
    #[inline(always)]
    pub(crate) fn bands_of(&self, sender: StationIx, power_offset: i16) -> std::ops::Range<usize> {
        if power_offset == 0 { self.hearers.bands_of(sender) } else { self.offset_lists.bands(sender) }
    }

    /// True if gains vary while nodes rest.
    pub(crate) fn gains_vary(&self) -> bool {
        self.varying.is_some()
    }

    /// The medium's constants of a station's kind.
    pub(crate) fn kind(&self, station: StationIx) -> &PhyKind {
        &self.kinds[usize::from(self.stations[station].radio.kind)]
    }

    /// Time in each radio state from the start to `now`; the five add up to `now` exactly.
    pub(crate) fn airtime(&self, station: StationIx, now: u64) -> Airtime {
        let Station { radio, rx, optional, .. } = &self.stations[station];
        radio.airtime(rx, optional, self.counted[station].transmit, now)
    }

    /// Time of a signal from one station to another and back, ns; 0 if the second does not hear the first.
    pub(crate) fn way_there_and_back(&self, from: StationIx, to: StationIx) -> u64 {
        self.hearers.find(from, to).map_or(0, |hearer| 2 * u64::from(hearer.delay))
    }

    /// Upper bound of the delay from a frame's end to its end at the last hearer, now and in the rest of the run, ns.
    pub(crate) fn max_delay_after_end(&self) -> u64 {
        let bands = self.unfaded_hearers().bands.iter().map(|band| u64::from(band.offset));
        let changed = self.varying.as_ref().map_or(0, |varying| varying.max_delay_of_changes());
        hearers::BAND_NS + bands.max().unwrap_or(0).max(self.max_delay_with_movement()).max(changed)
    }

    /// Memory of all stations and their lists of hearers, bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.stations.len() * (size_of::<Station>() + size_of::<TransceiverCounters>())
            + self.hearers.bytes()
            + self.varying.as_ref().map_or(0, |varying| varying.unfaded.bytes())
    }
}
