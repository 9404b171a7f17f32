//! The MAC: the distributed coordination function of each station (802.11-2016 clause 10.3). It stands above the medium, which it lets
//! transmit and whose receptions it is given; what it has to say to the layer above are [`Indication`]s in a list.
//!
//! | file | contents |
//! |---|---|
//! | `kind` | constants of a kind of radio |
//! | `access` | when a station may send: back-off, contention, retries of a category |
//! | `exchange` | what it sends then: RTS, CTS, data, ACK, time-outs |
//! | `rate` | in which mode it sends data |
//! | `watch` | a station as one that explains a run sees it |

mod access;
mod exchange;
mod kind;
mod rate;
mod watch;

pub(crate) use access::access_due;
pub use kind::MacKind;
pub(crate) use watch::{View, Waits};

use airfair_units::Time;
use airfair_units::random::{Purpose, Stream};

use super::medium::radio::{NEVER, Station};
use super::medium::{Medium, StationSpec};
use crate::ids::{CopyRef, PacketRef, StationIx, Table};
use access::{CATEGORIES, Contention};
use exchange::Exchange;

/// A packet that is handed down to the MAC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Msdu {
    /// The upper layer's reference.
    pub packet: PacketRef,
    /// The copy of it that the node sends, and keeps until the MAC is done with it.
    pub copy: CopyRef,
    /// Size as an IP packet.
    pub bytes: u32,
    /// The station it goes to, or [`super::BROADCAST`].
    pub to: StationIx,
    /// Stations that overhear are to hand it up.
    pub overhear: bool,
}

/// How the MAC got rid of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Acknowledged.
    Delivered,
    /// Broadcast: sent, without an acknowledgement.
    Broadcast,
    /// Given up after so many attempts.
    RetryLimit,
}

/// An event for the layer above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indication {
    /// The MAC is done with a packet, and may have room for others: the layer above gives them and lets the station contend.
    Finished {
        /// The station that sent it.
        station: StationIx,
        /// The packet.
        msdu: Msdu,
        /// How it ended.
        outcome: Outcome,
    },
    /// A packet has arrived for a station, once.
    Received {
        /// The station.
        station: StationIx,
        /// The sender's copy of the packet.
        copy: CopyRef,
        /// Station that sent it.
        from: StationIx,
        /// When its last bit arrived.
        at: Time,
    },
    /// A packet for another station was received ([`StationSpec::overhears`]).
    Overheard {
        /// The station.
        station: StationIx,
        /// The sender's copy of the packet.
        copy: CopyRef,
        /// When its last bit arrived.
        at: Time,
    },
    /// Movement has changed which stations can decode what a station sends.
    NeighboursChanged {
        /// The station.
        station: StationIx,
    },
}

/// Counters of the MAC of a station.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counters {
    pub duplicates: u64,
    pub no_cts: u64,
    pub no_ack: u64,
    pub cts_withheld: u64,
    pub given_up: u64,
}

/// The MAC of a station, in the order in which its parts share cache lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct StationMac {
    exchange: Exchange,
    contentions: [Contention; CATEGORIES],
    pub counters: Counters,
}

impl StationMac {
    /// The category whose packet is being sent, or contends: with one category there is no choice.
    #[inline(always)]
    fn contention(&self) -> &Contention {
        let [contention] = &self.contentions;
        contention
    }

    #[inline(always)]
    fn contention_mut(&mut self) -> &mut Contention {
        let [contention] = &mut self.contentions;
        contention
    }

    /// Packets that it holds.
    pub(super) fn held(&self) -> impl Iterator<Item = &Msdu> {
        self.contentions.iter().flat_map(|contention| &contention.held)
    }

    /// Touches its first cache line, to prefetch it; the value has no meaning.
    #[inline(always)]
    pub(super) fn fetch(&self) -> u64 {
        self.exchange.fetch()
    }

    /// Touches the packet in its hands, to prefetch it; the value has no meaning.
    #[inline(always)]
    pub(super) fn fetch_held(&self) -> u64 {
        self.contention().held.front().map_or(0, |msdu| msdu.packet.0)
    }
}

/// The MACs of all stations.
#[derive(Debug)]
pub(super) struct Mac {
    kinds: Vec<MacKind>,
    pub stations: Table<StationIx, StationMac>,
    /// Indications of the present event, in order, and how many of them were taken out.
    pub indications: Vec<Indication>,
    taken: usize,
}

impl Mac {
    pub(super) fn new(kinds: Vec<MacKind>, stations: &[StationSpec], seed: u64) -> Self {
        let station = |spec: &StationSpec| {
            let random = Stream::new(seed, &spec.name, Purpose::Backoff);
            StationMac {
                exchange: Exchange::default(),
                contentions: [Contention::new(&kinds[usize::from(spec.kind)], random)],
                counters: Counters::default(),
            }
        };
        Self { stations: stations.iter().map(station).collect(), kinds, indications: Vec::new(), taken: 0 }
    }

    /// The constants of a kind of radio.
    pub(super) fn kind(&self, kind: u8) -> &MacKind {
        &self.kinds[usize::from(kind)]
    }

    /// The next indication that was not taken out yet.
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

    /// Bytes of memory that all stations take.
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
