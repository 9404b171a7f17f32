//! ExOR: the packets of a batch are broadcast, and the nearest node that has heard one forwards it, in turns.
//!
//! Source: Biswas, Morris, "ExOR: Opportunistic Multi-Hop Routing for Wireless Networks", SIGCOMM 2005. Ranks count from the destination,
//! 0, to the source.
//! Place: the forwarder of radio interfaces. Flows over UDP without a law of their own go by it; others by routes.
//!
//! | file | contents |
//! |---|---|
//! | `map` | batch maps: which node holds what |
//! | `turns` | whose turn it is |
//! | `node` | source, forwarder and destination |
//! | `station` | all of it at a radio: batches of own flows, sizes of packets, the timer of turns |
//!
//! Who forwards: [`crate::opportunistic::expected`]. The paper simulates a delivery and takes the nodes that make at least a tenth of the
//! transmissions; here their expected number decides, which is the same without chance.
//!
//! DiffQ over ExOR (`diffq-exor`) is ours; the paper of DiffQ speaks of MORE only. A node's backlog is what is left to it of its fragments:
//! packets that it holds and that no better node is known to hold. DiffQ's queue of a source is what of a batch its rate has granted and no
//! better node holds. Whose turn it is stays with ExOR; of the flows that have theirs DiffQ chooses.

pub mod map;
pub mod node;
pub mod station;
pub mod turns;

use alloc::boxed::Box;
use alloc::vec::Vec;

use airfair_units::Span;
use airfair_wire::exor::Nodes;

use crate::diffq::CommonParameters;
use crate::opportunistic::expected::Expected;
use crate::opportunistic::{self, backpressure, ratios};
use crate::params;
use crate::params::{ParamError, Params};
use crate::places::{Agent, Capability, Interface, Medium, MessageKinds, Priority, Wants};
use crate::scheme::Scheme;

use node::ExorConfig;
use station::{ExorStation, StationConfig};

params! {
    /// The parameters.
    pub(crate) struct ExorParameters {
        ..opportunistic: opportunistic::OpportunisticParameters;
        /// packets of a batch (section 3)
        paper batch: u64 = 32, in 1..=100;
        /// maps that the destination sends in its turn (section 3)
        paper maps: u64 = 10, in 1..=100;
        /// part of a batch that is broadcast until it is delivered, before the rest goes by ordinary routing (section 3)
        paper broadcast: f64 = 0.9, in 0.0..=1.0;
        /// time after which a packet goes by ordinary routing again, if no map shows it at the destination (ours)
        reading again: Span = Span::from_secs(1), in Span::from_millis(1)..=Span::from_secs(60);
        /// part of the old value that stays in the average time of a packet, by which turns begin (section 3)
        paper keeps: f64 = 0.9, in 0.0..=1.0;
        /// packets whose time a node is given of which nothing is heard (section 3)
        paper silent: u64 = 5, in 1..=1000;
        /// time of a packet before one was measured (ours)
        reading packet_time: Span = Span::from_millis(2), in Span::from_micros(10)..=Span::from_secs(10);
    }
}

params! {
    /// The parameters of `diffq-exor`.
    pub(crate) struct DiffQExorParameters {
        ..exor: ExorParameters;
        ..diffq: CommonParameters;
    }
}

/// The scheme.
#[derive(Debug, Clone, Copy)]
pub struct ExOr {
    config: StationConfig,
}

impl ExOr {
    /// The scheme that these parameters describe.
    ///
    /// # Errors
    /// A value that is out of its range.
    pub fn from_params(params: &Params) -> Result<Self, ParamError> {
        Ok(Self::new(&ExorParameters::read(params)?))
    }

    fn new(set: &ExorParameters) -> Self {
        let turns =
            turns::TurnsConfig { keeps: set.keeps, silent: set.silent as u32, packet: set.packet_time };
        let node = ExorConfig {
            turns,
            maps: set.maps as u8,
            broadcast: set.broadcast,
            again: set.again,
            granted: false,
            flows: set.opportunistic.flows as usize,
        };
        Self {
            config: StationConfig {
                batch: set.batch as u8,
                flush: set.opportunistic.flush,
                // A list has room for both ends, too.
                pruning: set.opportunistic.pruning(Nodes::MOST - 2),
                probes: set.opportunistic.ratios.probes(),
                node,
                diffq: None,
            },
        }
    }

    /// DiffQ over ExOR by these parameters.
    ///
    /// # Errors
    /// A value that is out of its range.
    pub fn with_diffq(params: &Params) -> Result<Self, ParamError> {
        let mut config = Self::new(&DiffQExorParameters::read(params)?.exor).config;
        config.node.granted = true;
        config.diffq = Some(backpressure::BackpressureConfig::from_params(params)?);
        Ok(Self { config })
    }
}

impl Scheme for ExOr {
    fn agent(&self, interface: &Interface) -> Option<Box<dyn Agent>> {
        (interface.medium == Medium::Radio).then(|| ExorStation::new(self.config).boxed())
    }

    fn wants(&self, interface: &Interface) -> Wants {
        let radio = interface.medium == Medium::Radio;
        let levels = self.config.diffq.filter(|_| radio).map_or(1, |diffq| diffq.quantiser.levels);
        Wants::NONE
            .and_if(radio, Capability::LoneRadio)
            .and_exactly_if(radio && self.config.probes.is_none(), Capability::DeliveryRatios)
            // Probes leave at the rate of data.
            .and_if(radio && self.config.probes.is_some(), Capability::TransmitChoice)
            .priorities_to(Priority(levels - 1))
    }

    fn message_kinds(&self) -> Option<MessageKinds> {
        self.config.probes.map(|_| ratios::PROBES)
    }
}

/// The list of a flow's nodes: the destination, forwarders, the source. `None` for more than [`Nodes::MOST`].
#[must_use]
pub fn listed(expected: &Expected) -> Option<Nodes> {
    Nodes::new(&expected.shares().iter().map(|share| share.node.0).collect::<Vec<_>>())
}
