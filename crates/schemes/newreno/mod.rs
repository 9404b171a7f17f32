//! NewReno: the window of [`Reno`], and a recovery that a partial acknowledgement does not end.
//!
//! Source: Henderson, Floyd, Gurtov, Nishida, "The NewReno Modification to TCP's Fast Recovery Algorithm", RFC 6582
//! (2012). Places: the source. Symbols, units and deviations are Reno's.
//!
//! Without SACK the transport repairs one hole a round trip, as [`Source::partial_ack`](crate::places::Source::partial_ack)
//! says. It stays in recovery for as many round trips as segments were lost, and at its end the data in flight may be
//! far below ssthresh. So recovery ends with min(ssthresh, max(FlightSize, SMSS) + SMSS): this first choice of RFC 6582 section 3.2
//! step 3 needs no measure against a burst elsewhere, and slow start fills the difference in a few round trips.

use crate::params::{ParamError, Params};
use crate::places::PartialAck;
use crate::reno::{Common, Reno};

/// The law that these parameters describe.
///
/// # Errors
/// A value that is out of its range.
pub fn from_params(params: &Params) -> Result<Reno, ParamError> {
    Ok(Reno::new(&Common::read(params)?, PartialAck::RepairsNext))
}
