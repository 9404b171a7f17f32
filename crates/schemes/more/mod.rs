//! MORE: every packet is a random combination of a batch, and whoever hears it may send another.
//!
//! Source: Chachulski, Jennings, Katti, Katabi, "Trading Structure for Randomness in Wireless Opportunistic Routing", SIGCOMM 2007. These
//! are its laws, pure; no place calls them yet.
//!
//! | symbol | here | unit |
//! |---|---|---|
//! | K | `decoder::Decoder::natives` | packets |
//! | z_i, L_i | `opportunistic::expected::Share` | transmissions, packets |
//! | TX_i | `forwarders::Forwarder::credit` | transmissions a packet heard |
//!
//! | file | contents |
//! |---|---|
//! | `gf256`, `row` | arithmetic of coding |
//! | `decoder` | a node's packets of a batch: rank, combinations, natives |
//! | `forwarders` | credits, at the source |
//! | `node` | source, forwarder and destination |
//! | `differential` | DiffQ's priority over several next nodes |

pub mod decoder;
pub mod differential;
pub mod forwarders;
pub mod gf256;
pub mod node;
pub mod row;
