//! TCP as the RFCs say, as pure state machines: time, randomness and segments are handed in, segments and deadlines are
//! handed back. Window laws are not here but in `airfair-schemes`; this crate repairs losses, measures, and keeps time.

mod segment;

pub use segment::{Flags, SackBlocks, Segment, Timestamps};
