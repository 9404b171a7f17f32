//! The MAC: the distributed coordination function of each station (802.11-2016 clause 10.3). The MAC is above the medium: it transmits by
//! the medium and handles the receptions that the medium returns. The MAC reports to the layer above by a list of [`Indication`]s.
//!
//! | file | contents |
//! |---|---|
//! | `kind` | constants of a kind of radio |
//! | `access` | when a station may send by the DCF: back-off, contention, retries |
//! | `edca` | when a category may send, internal collisions, TXOPs |
//! | `exchange` | frames after access is won: RTS, CTS, data, ACK, time-outs |
//! | `progress` | state of a station in the present exchange |
//! | `rate` | the law that chooses the mode of data frames |
//! | `watch` | the state of a station for `explain` |

mod access;
mod edca;
mod exchange;
mod kind;
mod progress;
mod rate;
mod watch;

pub(crate) use access::access_due;
pub use kind::MacKind;
pub(super) use kind::{CategoryKind, ModeKind, ResponseWait};
pub use rate::{Attempt, Ending, FixedRate, Pair, RateControl};
pub(crate) use watch::{CategoryView, Countdown, MacWait, StationView};

use airfair_schemes::places::SendRate;
use airfair_units::Time;
use airfair_units::random::{Purpose, Stream};

use super::BROADCAST;
use super::medium::radio::{NEVER, Station};
use super::medium::{Medium, StationSpec};
use crate::ids::{CopyRef, PacketRef, StationIx, Table};
use crate::measure::summary::CategoryCounters;
use crate::modes::Mode;
use access::Contention;
use edca::LastSequence;
use progress::Exchange;
use rate::Rates;

/// A packet that the layer above has passed to the MAC, with the packet's destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Msdu {
    /// Reference of the packet.
    pub packet: PacketRef,
    /// The node's copy of the packet, kept until the MAC has finished it.
    pub copy: CopyRef,
    /// Size as an IP packet, bytes.
    pub bytes: u32,
    /// Receiving station, or [`BROADCAST`].
    pub to: StationIx,
    /// Access category; 0 at a station of the DCF.
    pub category: u8,
    /// True if stations that overhear the packet indicate it to their layer above.
    pub overhear: bool,
    /// True for a packet that belongs to no flow: of ARP, routing or a scheme.
    pub control: bool,
    /// True for a report of a flow's receiver that precedes what waits.
    pub report: bool,
    /// Rate at which it is sent.
    pub rate: SendRate,
    /// Power above the radio's own, hundredths of a dB; broadcasts only.
    pub power_offset: i16,
}

impl Msdu {
    /// A place in the MAC of a station for a broadcast that is made when the station has won access ([`Indication::Access`]).
    pub(crate) const fn to_be_made(category: u8) -> Self {
        Self {
            packet: PacketRef::NONE,
            copy: CopyRef::NONE,
            bytes: 0,
            to: BROADCAST,
            category,
            overhear: false,
            control: false,
            report: false,
            rate: SendRate::Data,
            power_offset: 0,
        }
    }

    /// True for a broadcast that has not been made.
    #[inline(always)]
    pub(crate) fn is_to_be_made(&self) -> bool {
        self.packet == PacketRef::NONE
    }
}

/// How the MAC has finished a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Acknowledged.
    Delivered,
    /// Sent as a broadcast, which is not acknowledged.
    Broadcast,
    /// Given up at the retry limit: the response to the last attempt did not come.
    RetryLimit,
    /// Given up at the retry limit as the last attempt was lost to a higher category of the station: this says nothing about the receiver.
    InternalCollisions,
}

/// A report of the MAC to the layer above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indication {
    /// A packet is finished. The MAC may have room for further packets; the layer above passes them to the MAC and lets the station
    /// contend.
    Finished {
        /// The station that sent it.
        station: StationIx,
        /// The packet.
        msdu: Msdu,
        /// How it ended.
        outcome: Outcome,
    },
    /// A packet was received by the station that it is for; duplicates are not reported.
    Received {
        /// The receiving station.
        station: StationIx,
        /// The sender's copy of the packet.
        copy: CopyRef,
        /// The station that sent it.
        from: StationIx,
        /// Arrival time of its last bit.
        at: Time,
    },
    /// A packet for another station was received ([`Msdu::overhear`], [`StationSpec::overhears`]).
    Overheard {
        /// The overhearing station.
        station: StationIx,
        /// The sender's copy of the packet.
        copy: CopyRef,
        /// The station that sent it.
        from: StationIx,
        /// Arrival time of its last bit.
        at: Time,
    },
    /// A station may send now, and its MAC holds a place for a broadcast that is made at this moment (`Msdu::to_be_made`). The layer
    /// above answers at once, by `Air::send_made` or `Air::send_nothing`.
    Access {
        /// The station.
        station: StationIx,
    },
    /// The usual mode of data frames to a neighbour is known, or has changed ([`RateControl::usual`]). Never with the fixed rate.
    LinkMode {
        /// The sending station.
        station: StationIx,
        /// The neighbour.
        to: StationIx,
    },
    /// Movement has changed the set of stations that can decode a station's frames.
    NeighboursChanged {
        /// The transmitting station.
        station: StationIx,
    },
}

/// MAC counters of a station.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MacCounters {
    pub duplicates: u64,
    pub no_cts: u64,
    pub no_ack: u64,
    pub cts_withheld: u64,
    pub given_up: u64,
}

/// The MAC of a station. The order of fields decides which of them share cache lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct StationMac {
    exchange: Exchange,
    /// The category of lowest priority; the only one of the DCF.
    first: Contention,
    pub counters: MacCounters,
    /// The other categories, by priority.
    others: Vec<Contention>,
    /// Last sequence numbers received from stations with access categories, sorted.
    received: Vec<LastSequence>,
}

impl StationMac {
    /// A category, by priority. A number above the highest means the highest.
    #[inline(always)]
    fn category(&self, category: usize) -> &Contention {
        if category == 0 {
            return &self.first;
        }
        self.others.get(category - 1).or(self.others.last()).unwrap_or(&self.first)
    }

    #[inline(always)]
    fn category_mut(&mut self, category: usize) -> &mut Contention {
        let last = self.others.len();
        match category.min(last).checked_sub(1).and_then(|at| self.others.get_mut(at)) {
            Some(contention) => contention,
            None => &mut self.first,
        }
    }

    /// The category that sends or has sent last.
    #[inline(always)]
    fn sending(&self) -> &Contention {
        self.category(self.exchange.category())
    }

    #[inline(always)]
    fn sending_mut(&mut self) -> &mut Contention {
        if self.exchange.category() == 0 {
            return &mut self.first;
        }
        self.category_mut(self.exchange.category())
    }

    /// Packets that the MAC holds, those of the category that sends first.
    pub(super) fn held(&self) -> impl Iterator<Item = &Msdu> {
        let sending = self.exchange.category();
        let others = (0..=self.others.len()).filter(move |&category| category != sending);
        self.sending().held.iter().chain(others.flat_map(|category| &self.category(category).held))
    }

    /// Counters of the categories.
    pub(super) fn category_counters(&self) -> impl Iterator<Item = CategoryCounters> {
        std::iter::once(&self.first).chain(&self.others).map(|category| category.counters)
    }

    /// Data frames and broadcasts that a category has sent.
    pub(super) fn frames_of(&self, category: u8) -> u64 {
        self.category(category.into()).counters.sent
    }

    /// Reads the first cache line, to prefetch it; the value has no meaning.
    #[inline(always)]
    pub(super) fn prefetch(&self) -> u64 {
        self.exchange.prefetch()
    }

    /// Reads the first held packet, to prefetch it; the value has no meaning.
    #[inline(always)]
    pub(super) fn prefetch_held(&self) -> u64 {
        self.first.held.front().map_or(0, |msdu| msdu.packet.0)
    }
}

/// The MACs of all stations.
#[derive(Debug)]
pub(super) struct Mac {
    kinds: Vec<MacKind>,
    rates: Rates,
    pub stations: Table<StationIx, StationMac>,
    /// Indications of the present event, in order.
    pub indications: Vec<Indication>,
    taken: usize,
}

impl Mac {
    pub(super) fn new(kinds: Vec<MacKind>, stations: &[StationSpec], seed: u64) -> Self {
        let station = |spec: &StationSpec| {
            let kind = &kinds[usize::from(spec.kind)];
            let category = |category: usize| {
                // The category of ordinary traffic draws what the DCF would draw.
                let random = if category == kind.default_category {
                    Stream::new(seed, &spec.name, Purpose::Backoff)
                } else {
                    Stream::new(seed, &format!("{}/{}", spec.name, kind.names[category]), Purpose::Backoff)
                };
                Contention::new(kind, category, random)
            };
            StationMac {
                exchange: Exchange::none(kind.nominal_mode),
                first: category(0),
                counters: MacCounters::default(),
                others: (1..kind.category_count).map(category).collect(),
                received: Vec::new(),
            }
        };
        let stations = stations.iter().map(station).collect();
        let rates = Rates::Fixed(FixedRate);
        Self { stations, kinds, rates, indications: Vec::new(), taken: 0 }
    }

    /// Replaces the fixed rate by another law.
    pub(super) fn set_rate_control(&mut self, law: Box<dyn RateControl>) {
        self.rates = Rates::chosen(law);
    }

    /// The mode of data frames from a station of this kind to another one now.
    pub(super) fn link_mode(&self, (from, kind): (StationIx, u8), to: StationIx) -> Mode {
        self.rates.usual(Pair { from, to, nominal: self.kind(kind).nominal_mode })
    }

    /// The MAC's constants of a kind of radio.
    pub(super) fn kind(&self, kind: u8) -> &MacKind {
        &self.kinds[usize::from(kind)]
    }

    /// Removes and returns the next indication of the present event.
    #[inline(always)]
    pub(super) fn next_indication(&mut self) -> Option<Indication> {
        let next = self.indications.get(self.taken).copied();
        if next.is_some() {
            self.taken += 1;
        } else {
            self.indications.clear();
            self.taken = 0;
        }
        next
    }

    /// Memory of all stations' MACs, bytes.
    pub(super) fn bytes(&self) -> usize {
        self.stations.len() * size_of::<StationMac>()
    }

    /// A station with its MAC and the constants of its kind.
    #[inline(always)]
    fn at<'a>(
        &'a mut self,
        medium: &'a mut Medium,
        id: StationIx,
    ) -> (&'a mut Station, &'a mut StationMac, &'a MacKind) {
        let station = &mut medium.stations[id];
        let kind = &self.kinds[usize::from(station.radio.kind)];
        (station, &mut self.stations[id], kind)
    }
}
