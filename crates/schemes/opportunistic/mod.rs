//! Which nodes forward a packet that has no next hop: what MORE and ExOR have in common.
//!
//! Sources: Chachulski, Jennings, Katti, Katabi, "Trading Structure for Randomness in Wireless Opportunistic Routing", SIGCOMM 2007 (the
//! number of transmissions of each forwarder); Biswas, Morris, "ExOR: Opportunistic Multi-Hop Routing for Wireless Networks", SIGCOMM 2005
//! (order by ETX); De Couto, Aguayo, Bicket, Morris, "A High-Throughput Path Metric for Multi-Hop Wireless Routing", MobiCom 2003 (ETX).
//!
//! | symbol | here |
//! |---|---|
//! | e_ij | `losses::Losses::loss` |
//! | ETX to d, of deliveries forward | `losses::Distances` |
//! | L_j, z_j | `expected::Share::load`, `expected::Share::sends` |
//! | w, tau of ETX's probes | `probes::ProbesConfig::window`, `probes::ProbesConfig::interval` |

pub mod backpressure;
pub mod expected;
pub(crate) mod flows;
pub mod losses;
pub mod probes;
pub mod ratios;
pub(crate) mod sources;

use airfair_units::Span;

use crate::params;
use expected::Pruning;

params! {
    /// The parameters of every scheme with forwarders.
    pub(crate) struct OpportunisticParameters {
        ..ratios: ratios::RatiosParameters;
        /// time after which fewer packets than a batch has are sent as one (ours; the papers' sources always have more to send)
        reading flush: Span = Span::from_millis(100), in Span::ZERO..=Span::from_secs(60);
        /// part of all transmissions below which a forwarder is left out (MORE: section 3.2.1; ExOR: section 3)
        paper prune: f64 = 0.1, in 0.0..=1.0;
        /// part by which leaving forwarders out may make the transmissions rise; 1: leave out whatever it costs
        reading prune_rise: f64 = 0.05, in 0.0..=1.0;
        /// most flows of other nodes that a node knows at a time
        operator flows: u64 = 256, in 1..=65_536;
    }
}

impl OpportunisticParameters {
    /// Which forwarders are left out, at most so many being in a list.
    pub(crate) const fn pruning(&self, most: usize) -> Pruning {
        Pruning { part: self.prune, rise: self.prune_rise, most }
    }
}

/// Time without a packet that fits after which a batch gives way to an earlier one, or to one of another size: its number may be forged.
pub(crate) const QUIET: Span = Span::from_secs(3);

/// True if a batch comes after another; numbers go round.
pub(crate) const fn later(batch: u32, than: u32) -> bool {
    batch.wrapping_sub(than).cast_signed() > 0
}
