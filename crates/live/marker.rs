//! The probabilities with which packets of a device are marked or dropped.

use std::fmt;

use airfair_schemes::places::{Direction, FlowBytes, FlowId, Probability};
use airfair_units::{Span, Time};

/// A setting holds for this long, unless it is made again: marks end within this time after a daemon has stopped.
pub const HOLDS: Span = Span::from_millis(1_500);

/// Interval at which a daemon makes its settings again.
pub const RENEWED: Span = Span::from_millis(500);

/// The actions on a packet that a probability has chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It is marked if it can carry a mark, and passes otherwise (LBM).
    Mark,
    /// It is dropped. Chosen packets are spread: see NRED's Algorithm 5.2.
    DropSpread,
    /// It is marked if it can carry a mark, and dropped otherwise; spread likewise.
    MarkOrDropSpread,
}

impl Action {
    /// The action in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Mark => "marks",
            Self::DropSpread => "drops",
            Self::MarkOrDropSpread => "marks or drops",
        }
    }
}

/// Probabilities of the packets of a device, outgoing and incoming, until a moment of the boot clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probabilities {
    /// That of outgoing packets, and that of incoming ones.
    pub of: [Probability; 2],
    /// The largest one of a flow.
    pub most: Probability,
    /// Afterwards all packets pass.
    pub until: Time,
}

/// The index of a direction in arrays of both.
#[must_use]
pub const fn index(direction: Direction) -> usize {
    match direction {
        Direction::Outgoing => 0,
        Direction::Incoming => 1,
    }
}

/// Packets of a device in one direction since the daemon has started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PacketCounts {
    /// Packets of IP; those that the kernel handles as one count apart.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Those that could carry a mark.
    pub able: u64,
    /// Those that were marked.
    pub marked: u64,
    /// Those that were dropped.
    pub dropped: u64,
    /// Those that came while a setting held.
    pub judged: u64,
}

/// Marks and drops packets of one device.
pub trait Marker: fmt::Debug {
    /// Sets the probabilities.
    ///
    /// # Errors
    /// The kernel has refused.
    fn set(&mut self, probabilities: Probabilities) -> Result<(), String>;

    /// Lets flows differ from the next setting on, or not: their packets are counted, and each has a factor.
    fn set_by_flow(&mut self, by_flow: bool);

    /// The flows of which packets have come since the last call, with their bytes.
    fn take_flows(&mut self) -> Vec<(FlowId, FlowBytes)>;

    /// Gives each flow the factor of its probabilities; [`FlowId::NONE`] those of which nothing is known yet.
    ///
    /// # Errors
    /// The kernel has refused.
    fn set_factors(&mut self, factor: &dyn Fn(FlowId) -> f64) -> Result<(), String>;

    /// Outgoing and incoming packets.
    ///
    /// # Errors
    /// The kernel has refused.
    fn counts(&self) -> Result<[PacketCounts; 2], String>;
}
