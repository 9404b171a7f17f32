//! The mode of data frames: the law that chooses it, once an attempt.

use std::collections::BTreeMap;
use std::fmt::Debug;

use airfair_schemes::places::SendRate;
use airfair_units::Time;

use super::access::Contention;
use super::{BROADCAST, MacKind, Msdu};
use crate::ids::StationIx;
use crate::modes::Mode;

/// A station and the neighbour to which it sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// The sender.
    pub from: StationIx,
    /// The receiver.
    pub to: StationIx,
    /// The nominal mode of the sender's radio, that of the scenario.
    pub nominal: Mode,
}

/// An attempt to deliver a packet: everything from the access to the medium to the response, or to its time-out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// Number of the attempt, 0 for the first at this packet.
    pub number: u32,
    /// Size of the packet as an IP packet, bytes.
    pub bytes: u32,
    /// The present time.
    pub now: Time,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// Packets in the data frame; 0 if no CTS came, so that no data frame was sent.
    pub sent: u32,
    /// Those of them that were acknowledged.
    pub acknowledged: u32,
    /// The present time.
    pub now: Time,
}

/// A law that chooses the mode of data frames to one neighbour. Broadcasts have constant modes.
///
/// A law chooses among the modes of the sender's standard; its choice also decides the modes of the control frames of the exchange, their
/// durations, and who can decode the frames. Nothing may depend on the order in which pairs are asked for.
pub trait RateControl: Debug + Send {
    /// The mode of the data frame of an attempt that begins: asked for once an attempt.
    fn mode(&mut self, pair: Pair, attempt: Attempt) -> Mode;

    /// The attempt has ended.
    fn outcome(&mut self, pair: Pair, ending: Ending);

    /// The mode of the pair now, on which those count who need one rate for a link: that of most of its frames, probes left out.
    fn usual(&self, pair: Pair) -> Mode;
}

/// The first law: all data frames have the nominal mode of their radio.
#[derive(Debug, Clone, Copy, Default)]
pub struct FixedRate;

impl RateControl for FixedRate {
    #[inline(always)]
    fn mode(&mut self, pair: Pair, _: Attempt) -> Mode {
        pair.nominal
    }

    #[inline(always)]
    fn outcome(&mut self, _: Pair, _: Ending) {}

    #[inline(always)]
    fn usual(&self, pair: Pair) -> Mode {
        pair.nominal
    }
}

/// The law of a world.
#[derive(Debug)]
pub(super) enum Rates {
    /// The fixed rate, without a virtual call.
    Fixed(FixedRate),
    /// Another law.
    Chosen(Box<Chosen>),
}

/// A law other than the fixed rate.
#[derive(Debug)]
pub(super) struct Chosen {
    law: Box<dyn RateControl>,
    /// The usual mode of each pair that was last reported to the layer above.
    reported: BTreeMap<(StationIx, StationIx), Mode>,
}

impl Chosen {
    #[cold]
    #[inline(never)]
    fn mode(&mut self, pair: Pair, attempt: Attempt, kind: &MacKind) -> Mode {
        let mode = self.law.mode(pair, attempt);
        debug_assert!(mode.row().standards.contains(&kind.format.standard), "{mode:?}");
        mode
    }

    #[cold]
    #[inline(never)]
    fn ended(&mut self, pair: Pair, ending: Ending) -> bool {
        self.law.outcome(pair, ending);
        let usual = self.law.usual(pair);
        self.reported.insert((pair.from, pair.to), usual) != Some(usual)
    }
}

impl Rates {
    /// A law other than the fixed rate.
    pub fn chosen(law: Box<dyn RateControl>) -> Self {
        Self::Chosen(Box::new(Chosen { law, reported: BTreeMap::new() }))
    }

    /// The mode of the data frame of the attempt that a category begins, or has begun, for its first packet.
    #[inline(always)]
    pub fn of_attempt(
        &mut self,
        contention: &mut Contention,
        packet: &Msdu,
        from: StationIx,
        kind: &MacKind,
        now: u64,
    ) -> Mode {
        if packet.rate != SendRate::Data || packet.to == BROADCAST {
            return mode_of_broadcast(kind, packet.rate);
        }
        let pair = Pair { from, to: packet.to, nominal: kind.nominal_mode };
        let attempt = Attempt { number: contention.attempt.into(), bytes: packet.bytes, now: Time(now) };
        match self {
            // Its answer is always the same, and need not be kept.
            Self::Fixed(law) => law.mode(pair, attempt),
            Self::Chosen(law) => *contention.mode.get_or_insert_with(|| law.mode(pair, attempt, kind)),
        }
    }

    /// An attempt has ended. True if the usual mode of the pair is known for the first time, or has changed.
    #[inline(always)]
    pub fn ended(&mut self, pair: Pair, ending: Ending) -> bool {
        match self {
            Self::Fixed(law) => {
                law.outcome(pair, ending);
                false
            }
            Self::Chosen(law) => law.ended(pair, ending),
        }
    }

    /// The mode of a pair now.
    pub fn usual(&self, pair: Pair) -> Mode {
        match self {
            Self::Fixed(law) => law.usual(pair),
            Self::Chosen(chosen) => chosen.law.usual(pair),
        }
    }
}

/// The mode of a broadcast: one of three constants of its sender's kind.
#[cold]
#[inline(never)]
fn mode_of_broadcast(kind: &MacKind, rate: SendRate) -> Mode {
    match rate {
        SendRate::Data => kind.nominal_mode,
        SendRate::Lowest => kind.lowest_mode(),
        SendRate::Broadcast => kind.broadcast_mode,
    }
}
