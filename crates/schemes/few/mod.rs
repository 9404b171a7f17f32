//! TCP-FeW: NewReno whose window grows by a fraction of a segment in a round trip, so that a flow over several radio hops keeps a window of
//! two or three segments.
//!
//! Source: Nahm, Helmy, Kuo, "TCP over Multihop 802.11 Networks: Issues and Performance Enhancement", MobiHoc 2005. Places: the source.
//!
//! | symbol | here | unit |
//! |---|---|---|
//! | W | cwnd, `Window` | bytes of payload |
//! | a | `growth` | segments a round trip |
//!
//! Congestion avoidance adds a/W segments at each acknowledgement, where Reno adds 1/W. All else is NewReno's: slow start, half of the
//! window at a loss, one segment at a time-out. Readings: whether slow start is slowed down too is open (`limit_slow_start`).

use crate::params;
use crate::params::{ParamError, Params};
use crate::places::PartialAck;
use crate::reno::{Common, Growth, PARTS, Reno};

params! {
    /// The parameters of TCP-FeW.
    pub(crate) struct FewParameters {
        ..common: Common;
        /// a, the growth of the window in congestion avoidance, segments a round trip; 1 is NewReno's
        paper growth: f64 = 0.01, in 0.0001..=1.0;
        /// slow start is slowed down too: an acknowledgement adds a segments instead of one
        reading limit_slow_start: bool = false;
    }
}

/// The law that these parameters describe.
///
/// # Errors
/// A value that is out of its range.
pub fn from_params(params: &Params) -> Result<Reno, ParamError> {
    let set = FewParameters::read(params)?;
    let slow_start = set.limit_slow_start.then_some((set.growth * PARTS as f64) as u64);
    let growth = Growth { avoidance: set.growth, slow_start };
    Ok(Reno::new(&set.common, PartialAck::RepairsNext).with_growth(growth))
}
