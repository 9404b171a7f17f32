//! MORE: every packet is a random combination of a batch, and whoever hears it may send another.
//!
//! Source: Chachulski, Jennings, Katti, Katabi, "Trading Structure for Randomness in Wireless Opportunistic Routing", SIGCOMM 2007.
//! Place: the forwarder of radio interfaces. Flows over UDP without a law of their own go by it; others by routes.
//! Coefficients are real; what they combine are numbers of packets, not bytes.
//!
//! | symbol | here | unit |
//! |---|---|---|
//! | K | `decoder::Decoder::natives` | packets |
//! | z_i, L_i | `opportunistic::expected::Share` | transmissions, packets |
//! | TX_i | `forwarders::Forwarder::credit` | transmissions a packet heard |
//!
//! | file | contents |
//! |---|---|
//! | `gf256` | arithmetic of coding |
//! | `decoder` | a node's packets of a batch: rank, combinations |
//! | `forwarders` | credits, at the source |
//! | `node` | source, forwarder and destination |
//! | `differential` | DiffQ over MORE: the nodes whose backlogs count |
//! | `station` | all of it at a radio: batches of own flows, acknowledgements |

pub mod decoder;
pub mod differential;
pub mod forwarders;
pub mod gf256;
pub mod node;
pub mod station;

use alloc::boxed::Box;

use airfair_units::Span;
use airfair_wire::more::Forwarders;

use crate::diffq::CommonParameters;
use crate::opportunistic::{self, backpressure, ratios};
use crate::params;
use crate::params::{ParamError, Params};
use crate::places::{Agent, Capability, Interface, Medium, MessageKinds, Priority, Wants};
use crate::scheme::Scheme;

use node::MoreConfig;
use station::{MoreStation, StationConfig};

params! {
    /// The parameters.
    pub(crate) struct MoreParameters {
        ..opportunistic: opportunistic::OpportunisticParameters;
        /// K, the natives of a batch (section 3)
        paper batch: u64 = 32, in 1..=255;
        /// a packet that brings nothing new earns credit, too: credit pays for what was sent upstream
        reading dependent_earns: bool = true;
        /// shortest time between two acknowledgements of a batch, while the destination hears more of it; each time twice as long, up to
        /// a second (ours)
        reading again: Span = Span::from_millis(50), in Span::ZERO..=Span::from_secs(60);
        /// time for which the destination repeats an acknowledgement until it hears of a later batch (ours); 0: never
        reading repeat: Span = Span::from_secs(60), in Span::ZERO..=Span::from_secs(3600);
    }
}

params! {
    /// The parameters of `diffq-more`.
    pub(crate) struct DiffQMoreParameters {
        ..more: MoreParameters;
        ..diffq: CommonParameters;
    }
}

/// The scheme.
#[derive(Debug, Clone, Copy)]
pub struct More {
    config: StationConfig,
}

impl More {
    /// The scheme that these parameters describe.
    ///
    /// # Errors
    /// A value that is out of its range.
    pub fn from_params(params: &Params) -> Result<Self, ParamError> {
        Ok(Self::new(&MoreParameters::read(params)?))
    }

    fn new(set: &MoreParameters) -> Self {
        let node = MoreConfig {
            dependent_earns: set.dependent_earns,
            granted: false,
            depth: u32::MAX,
            again: set.again,
            flows: set.opportunistic.flows as usize,
        };
        let config = StationConfig {
            natives: set.batch as u8,
            flush: set.opportunistic.flush,
            repeat: set.repeat,
            pruning: set.opportunistic.pruning(Forwarders::MOST),
            node,
            probes: set.opportunistic.ratios.probes(),
            diffq: None,
        };
        Self { config }
    }

    /// DiffQ-MORE by these parameters.
    ///
    /// # Errors
    /// A value that is out of its range.
    pub fn with_diffq(params: &Params) -> Result<Self, ParamError> {
        let mut config = Self::new(&DiffQMoreParameters::read(params)?.more).config;
        config.node.granted = true;
        let diffq = backpressure::BackpressureConfig::from_params(params)?;
        config.node.depth = diffq.quantiser.depth;
        config.diffq = Some(diffq);
        Ok(Self { config })
    }
}

impl Scheme for More {
    fn agent(&self, interface: &Interface) -> Option<Box<dyn Agent>> {
        (interface.medium == Medium::Radio).then(|| MoreStation::new(self.config).boxed())
    }

    fn wants(&self, interface: &Interface) -> Wants {
        let radio = interface.medium == Medium::Radio;
        let levels = self.config.diffq.filter(|_| radio).map_or(1, |diffq| diffq.quantiser.levels);
        Wants::NONE
            .and_if(radio, Capability::LoneRadio)
            .and_if(radio, Capability::Overheard)
            .and_exactly_if(radio && self.config.probes.is_none(), Capability::DeliveryRatios)
            // Probes leave at the rate of data.
            .and_if(radio && self.config.probes.is_some(), Capability::TransmitChoice)
            .priorities_to(Priority(levels - 1))
    }

    fn message_kinds(&self) -> Option<MessageKinds> {
        Some(self.config.probes.map_or(ratios::ACKNOWLEDGEMENTS, |_| ratios::BOTH))
    }
}
