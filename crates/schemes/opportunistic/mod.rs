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
//! | w, tau of ETX's probes | `probes::Config::window`, `probes::Config::interval` |

pub mod backpressure;
pub mod expected;
pub(crate) mod flows;
pub mod losses;
pub mod probes;
pub mod ratios;
pub(crate) mod sources;

/// Time without a packet that fits after which a batch gives way to an earlier one, or to one of another size: its number may be forged.
pub(crate) const QUIET: airfair_units::Span = airfair_units::Span::from_secs(3);

/// Whether a batch comes after another; numbers go round.
pub(crate) const fn later(batch: u32, than: u32) -> bool {
    batch.wrapping_sub(than).cast_signed() > 0
}
