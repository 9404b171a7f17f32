//! MORE: every packet is a random combination of a batch, and whoever hears it may send another.
//!
//! Source: Chachulski, Jennings, Katti, Katabi, "Trading Structure for Randomness in Wireless Opportunistic Routing", SIGCOMM 2007. These
//! are its laws, pure; no place calls them yet.
//!
//! | symbol | here | unit |
//! |---|---|---|
//! | K | `decoder::Decoder::natives` | packets |
//!
//! | file | contents |
//! |---|---|
//! | `gf256`, `row` | arithmetic of coding |
//! | `decoder` | a node's packets of a batch: rank, combinations, natives |

pub mod decoder;
pub mod gf256;
pub mod row;
