//! Rates of links: what an allocator sets for the packets to each neighbour of a radio, and what it counts of them.

use std::fmt;

use airfair_schemes::places::{FlowId, LinkRate};
use airfair_units::Time;

/// A hardware address.
pub type MacAddress = [u8; 6];

/// Rates of the links of one radio.
pub trait RateActuator: fmt::Debug {
    /// Sets the neighbours, and the rate of each that has one. A neighbour without a rate has no limit.
    ///
    /// # Errors
    /// The kernel has refused: rates may be those of before.
    fn set(&mut self, links: &[(MacAddress, Option<LinkRate>)]) -> Result<(), String>;

    /// Lets the rates hold until a moment; afterwards, by the boot clock, nothing is held up.
    ///
    /// # Errors
    /// The kernel has refused.
    fn hold(&mut self, until: Time) -> Result<(), String>;

    /// Removes the packets that have arrived for neighbours since the last call.
    ///
    /// # Errors
    /// The kernel does not answer.
    fn take_arrivals(&mut self) -> Result<Vec<Arrivals>, String>;

    /// True if somebody else has removed what gives the links their rates.
    fn has_gone(&self) -> bool;

    /// The links that are set.
    ///
    /// # Errors
    /// The kernel does not answer.
    fn links(&self) -> Result<Vec<LinkTraffic>, String>;
}

/// Packets that have arrived for a neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrivals {
    /// The neighbour.
    pub to: MacAddress,
    /// The flow by a hash of addresses, protocol and ports, the same in both directions; none of packets that belong to none.
    pub flow: Option<FlowId>,
    /// True of acknowledgements.
    pub answers: bool,
    /// Packets.
    pub packets: u64,
    /// Their bytes, as IP packets.
    pub bytes: u64,
}

/// A link with its packets so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkTraffic {
    /// The neighbour.
    pub to: MacAddress,
    /// The rate of its packets; none: no limit.
    pub rate: Option<LinkRate>,
    /// Packets that wait for it.
    pub waiting: u32,
    /// Packets that have arrived for it.
    pub packets: u64,
    /// Their bytes, as IP packets.
    pub bytes: u64,
    /// Packets to which the rate has applied.
    pub sorted: u64,
    /// Packets that were dropped because too many waited.
    pub dropped: u64,
}
