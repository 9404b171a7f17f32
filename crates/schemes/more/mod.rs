//! MORE: every packet is a random combination of a batch, and whoever hears it may send another.
//!
//! Source: Chachulski, Jennings, Katti, Katabi, "Trading Structure for Randomness in Wireless Opportunistic Routing", SIGCOMM 2007. These
//! are its laws, pure; no place calls them yet.
//!
//! | file | contents |
//! |---|---|
//! | `gf256`, `row` | arithmetic of coding |

pub mod gf256;
pub mod row;
