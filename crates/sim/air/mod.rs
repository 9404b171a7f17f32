//! The air: propagation, reception, the medium, and the MAC (DCF).
//!
//! A *station* is one radio interface of a node. [`Air`] knows stations and packet handles, nothing above; what lies
//! above is an [`Upper`], which hands packets down and takes them up.
//!
//! | folder | contents |
//! |---|---|
//! | `medium` | power and time: who hears whom, what a transmission does to every hearer, what is received |
//! | `mac` | the station's side of DCF |

mod kind;
pub(crate) mod mac;
pub(crate) mod medium;
pub(crate) mod watch;

pub use kind::Kind;
pub use medium::doubts::{CutOff, TooFast};
pub use medium::frame::{BROADCAST, FrameKind, Loss};
pub(crate) use medium::hearers::BAND_NS;
pub(crate) use medium::memory;
pub use medium::modes::Mode;
pub(crate) use medium::radio::NEVER;
pub(crate) use medium::relations::JUDGED_BYTES;
pub use medium::relations::{LEAST_DELIVERY, Relation, least_power};
pub use medium::{error, propagation};

use airfair_schemes::places::Airtime;
use airfair_units::random::{Purpose, Stream, name_hash};
use airfair_units::{Attowatts, Dbm, Span};

use crate::engine::{Agenda, Owner};
pub(crate) use crate::event::class;
use crate::event::{Event, What};
use crate::measure::trace::{FrameView, Record, Trace};
use crate::spec::{ErrorModel, GainSpec, Propagation};
use mac::Mac;
use medium::frame::{Frame, Frames};
use medium::hearers::{self, Hearers};
use medium::movement::Movement;
use medium::radio::{self, Clock, Own, Station};

/// A station to be.
#[derive(Debug, Clone)]
pub struct StationSpec {
    /// Its node.
    pub node: usize,
    /// The node's name.
    pub node_id: String,
    /// A name of its own, unique: random streams and ranks hang on it.
    pub name: String,
    /// Place, m.
    pub position: [f64; 3],
    /// Which [`Kind`].
    pub kind: u8,
    /// Transmit power.
    pub tx_power: Dbm,
    /// Signals weaker than this are left out.
    pub cutoff: Dbm,
    /// How its signal falls with distance.
    pub propagation: Propagation,
    /// Whether frames for others are handed up.
    pub overhears: bool,
}

/// A packet handed down to the MAC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handed {
    /// The upper layer's handle.
    pub packet: u64,
    /// The upper layer's own.
    pub tag: u32,
    /// Its size as an IP packet.
    pub bytes: u32,
    /// The station it goes to, or [`BROADCAST`].
    pub to: u32,
    /// Stations that overhear are to hand it up.
    pub overhear: bool,
}

/// How the MAC got rid of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Acknowledged.
    Delivered,
    /// Broadcast: sent, and nobody tells.
    Broadcast,
    /// Given up after so many attempts.
    RetryLimit,
}

/// What lies above the MAC.
pub trait Upper {
    /// The next packet of a station, if there is one; it leaves the queue.
    fn pull(&mut self, station: u32, now: u64) -> Option<Handed>;
    /// The MAC is done with a packet that it pulled.
    fn finished(&mut self, station: u32, packet: Handed, outcome: Outcome, now: u64);
    /// A packet has arrived for this station, once.
    fn received(&mut self, station: u32, packet: u64, from: u32, now: u64);
    /// A packet for another station was received ([`StationSpec::overhears`]).
    fn overheard(&mut self, station: u32, packet: u64, from: u32, now: u64);
    /// Movement has changed which stations can decode what `station` sends: these can now, in ascending order.
    fn neighbours_changed(&mut self, _station: u32, _neighbours: &[u32], _now: u64) {}
}

/// Counters of a station.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StationCounters {
    /// Frames sent, by [`FrameKind::ALL`].
    pub sent: [u64; 5],
    /// Frames for this station that were received, by kind.
    pub received: [u64; 5],
    /// Frames for this station that were lost, by [`Loss::NAMES`].
    pub lost: [u64; 9],
    /// Data packets received again and dropped as duplicates.
    pub duplicates: u64,
    /// CTS or ACK that did not come.
    pub no_cts: u64,
    /// See `no_cts`.
    pub no_ack: u64,
    /// RTS that were not answered because the NAV was set.
    pub cts_withheld: u64,
    /// Packets given up.
    pub given_up: u64,
    /// NAVs that were reset after an RTS that nothing followed are counted where a reception would have extended them.
    pub nav_extended: u64,
}

impl StationCounters {
    /// Data frames for this station that were received, duplicates not counted.
    #[must_use]
    pub fn received_data(&self) -> u64 {
        let data = FrameKind::ALL.iter().zip(self.received).filter(|(kind, _)| **kind == FrameKind::Data);
        data.map(|(_, n)| n).sum::<u64>() - self.duplicates
    }
}

/// What the rules of a run ask for beyond the least.
#[derive(Debug, Clone, Copy)]
struct Needs {
    /// Sums of received power. Not where signals are compared one by one and any energy occupies a receiver.
    sums: bool,
    /// When the medium got busy and idle, for immediate access.
    idle_times: bool,
}

/// The air and every station on it.
#[derive(Debug)]
pub struct Air {
    kinds: Vec<Kind>,
    hearers: Hearers,
    /// Every station as a hearer, and as a transmitter and receiver.
    stations: Vec<Station>,
    own: Vec<Own>,
    /// Last sequence number seen, one more than it, by entry of the hearers' list (the receiver's place in the sender's list).
    last_sequence: Vec<u32>,
    frames: Frames,
    per_chunk: bool,
    needs: Needs,
    successes: error::Successes,
    reception: Vec<error::Draws>,
    movement: Option<Box<Movement>>,
    /// What happened, if a trace was asked for; the world takes it out.
    pub recorder: Option<Trace>,
}

impl Air {
    /// Sets up the stations of a run.
    #[must_use]
    pub fn new(kinds: Vec<Kind>, stations: &[StationSpec], gains: &[GainSpec], seed: u64) -> Self {
        let hearers = Hearers::build(stations, &kinds, gains);
        let own = stations.iter().map(|spec| {
            let cw_min = kinds[usize::from(spec.kind)].cw_min;
            Own::new(Mac::new(cw_min, Stream::new(seed, &spec.name, Purpose::Backoff)))
        });
        let state = stations.iter().map(|spec| {
            let clock = Clock { rank: rank(seed, &spec.name), ..Clock::default() };
            let mut station = Station { clock, ..Station::default() };
            station.radio.kind = spec.kind;
            if spec.overhears {
                station.radio.set(radio::flag::OVERHEARS);
            }
            station
        });
        let random = kinds.iter().any(|k| k.error_model != ErrorModel::Threshold || k.frame_loss > 0.0);
        Self {
            last_sequence: vec![0; hearers.list.len()],
            hearers,
            stations: state.collect(),
            own: own.collect(),
            frames: Frames::default(),
            per_chunk: kinds.iter().any(|k| k.error_model == ErrorModel::PerChunk),
            needs: Needs {
                sums: !kinds
                    .iter()
                    .all(|k| k.strongest && k.lock_on_energy && k.error_model != ErrorModel::PerChunk),
                idle_times: kinds.iter().any(|k| k.immediate_access),
            },
            successes: error::Successes::default(),
            reception: if random {
                let stream = |s: &StationSpec| Stream::new(seed, &s.name, Purpose::Reception);
                stations.iter().map(|s| error::Draws::new(stream(s))).collect()
            } else {
                Vec::new()
            },
            kinds,
            movement: None,
            recorder: None,
        }
    }

    /// Number of stations.
    #[must_use]
    pub fn len(&self) -> usize {
        self.stations.len()
    }

    /// Whether there is no station.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stations.is_empty()
    }

    /// Frames sent so far.
    #[must_use]
    pub fn transmissions(&self) -> u64 {
        self.own.iter().map(|own| own.counters.sent.iter().sum::<u64>()).sum()
    }

    /// Counters of a station.
    #[must_use]
    pub fn counters(&self, station: u32) -> &StationCounters {
        &self.own[station as usize].counters
    }

    /// Time in each radio state from the start to `now`; the five add up to `now` exactly.
    #[must_use]
    pub fn airtime(&self, station: u32, now: u64) -> Airtime {
        let s = station as usize;
        let Station { radio, clock, slow } = &self.stations[s];
        radio.airtime(clock, slow, self.own[s].transmit, now)
    }

    /// Time of received frames that were for this station.
    #[must_use]
    pub fn receive_own(&self, station: u32) -> Span {
        Span(self.own[station as usize].received)
    }

    /// Sum of the powers of all signals that a station hears now; zero when the air is empty (and always where no rule of
    /// the run asks for sums).
    #[must_use]
    pub fn power(&self, station: u32) -> Attowatts {
        Attowatts(self.stations[station as usize].slow.power_sum)
    }

    /// Frames on the air.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.frames.in_flight()
    }

    /// From now on every frame that a station receives is recorded, also those for others.
    pub(crate) fn monitor(&mut self, station: u32) {
        self.stations[station as usize].radio.set(radio::flag::MONITORS);
    }

    /// How long after a frame's end the last hearer has heard of it, ns.
    pub(crate) fn longest_echo(&self) -> u64 {
        let bands = self.hearers.bands.iter().map(|band| u64::from(band.offset));
        BAND_NS + bands.max().unwrap_or(0).max(self.moving_echo())
    }

    /// Packets that the MAC of a station holds.
    pub fn held(&self, station: u32) -> impl Iterator<Item = Handed> + '_ {
        self.own[station as usize].mac.held.iter().copied()
    }

    /// Stations that can decode what `station` sends, with the received power.
    pub fn neighbours(&self, station: u32) -> impl Iterator<Item = (u32, Attowatts)> + '_ {
        self.hearers.decodable(station).map(|h| (h.id, Attowatts(h.power)))
    }

    /// The kind of a station.
    #[must_use]
    pub fn kind(&self, station: u32) -> &Kind {
        &self.kinds[usize::from(self.stations[station as usize].radio.kind)]
    }

    /// Bytes of memory that a station takes, its list of hearers included.
    #[must_use]
    pub fn bytes_per_station(&self) -> usize {
        let fixed = size_of::<Station>() + size_of::<Own>();
        let lists = self.hearers.list.capacity() * (size_of::<hearers::Hearer>() + 4)
            + self.hearers.bands.capacity() * size_of::<hearers::Band>();
        fixed + lists / self.len().max(1)
    }

    #[cold]
    fn record(&mut self, now: u64, record: Record) {
        if let Some(trace) = &mut self.recorder {
            trace.push((now, record));
        }
    }

    fn view(&self, frame: &Frame) -> FrameView {
        FrameView {
            number: frame.number,
            kind: frame.kind,
            mode: frame.mode,
            sender: frame.sender,
            receiver: frame.receiver,
            packet: frame.packet,
            bytes: frame.bytes,
            start: frame.start,
            end: frame.end,
            nav_us: frame.nav_us,
            sequence: frame.sequence,
            retry: frame.retry,
        }
    }
}

impl Air {
    /// Handles what concerns the air; the rest is not for it.
    #[inline(always)]
    pub fn handle<U: Upper>(&mut self, what: What, agenda: &mut Agenda, upper: &mut U) {
        match what {
            What::FrameEnd { frame, .. } => self.frame_end(frame.0, agenda, upper),
            What::BandStart { frame, band, .. } => self.band_start(frame.0, band as usize),
            What::BandEnd { frame, band, .. } => self.band_end(frame.0, band as usize, agenda, upper),
            What::Reply(station) => self.reply(station.0, agenda),
            What::Timeout { station, generation } => self.timeout(station.0, generation, agenda, upper),
            What::Access(station) => self.access(station.0, agenda),
            What::Move(node) => self.moved(node, agenda, upper),
            What::Renew(station) => self.renewal_due(station.0, agenda, upper),
            _ => {}
        }
    }
}

impl Owner for Air {
    /// An access event whose deadline has moved is put off until then.
    #[inline(always)]
    fn due(&mut self, event: &Event) -> u64 {
        if let What::Access(station) = event.what {
            self.stations[station.ix()].access_due(event.time)
        } else {
            event.time
        }
    }

    #[inline(always)]
    fn soon(&self, events: &[Event]) {
        if self.stations.len() > medium::passes::FIT_INTO_THE_CACHE {
            self.fetch_for(events);
        }
    }
}

/// The rank of a name among events of equal time: from the seed and the name, so that no place in a file is favoured and
/// another node changes nothing.
#[must_use]
pub fn rank(seed: u64, name: &str) -> u32 {
    Stream::of_hash(seed, name_hash(name), Purpose::Rank).next_u32() >> 4
}
