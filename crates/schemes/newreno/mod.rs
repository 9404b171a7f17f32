//! NewReno: the window of [`Reno`], and a recovery that a partial acknowledgement does not end.
//!
//! Source: Henderson, Floyd, Gurtov, Nishida, "The NewReno Modification to TCP's Fast Recovery Algorithm", RFC 6582
//! (2012). Places: the source. Symbols, units and deviations are Reno's.
//!
//! Without SACK the transport repairs one hole a round trip, as [`Source::partial_ack`](crate::places::Source::partial_ack)
//! says. It stays in recovery for as many round trips as segments were lost, and at its end the data in flight may be
//! far below ssthresh. So `careful_exit` is on by default: the first choice of RFC 6582 section 3.2 step 3
//! needs no measure against a burst elsewhere, and slow start fills the difference in a few round trips.

use crate::params;
use crate::params::{ParamError, Params};
use crate::places::PartialAck;
use crate::reno::{Common, Reno};

params! {
    /// The parameters of NewReno: Reno's, with another default for `careful_exit`.
    pub(crate) struct NewRenoParameters {
        ..common: Common;
        /// fast recovery ends with cwnd = min(ssthresh, max(FlightSize, SMSS) + SMSS), the first choice of RFC 6582 section 3.2 step 3,
        /// so that no burst of up to ssthresh leaves at once; without it cwnd = ssthresh (RFC 5681 section 3.2 step 6)
        reading careful_exit: bool = true;
    }
}

/// The law that these parameters describe.
///
/// # Errors
/// A value that is out of its range.
pub fn from_params(params: &Params) -> Result<Reno, ParamError> {
    let set = NewRenoParameters::read(params)?;
    Ok(Reno::new(&set.common, set.careful_exit, PartialAck::RepairsNext))
}
