//! The MAC: the distributed coordination function of each station (802.11-2016 clause 10.3).

mod exchange;

use super::medium::{frame, radio};
use super::{Air, Handed, Kind, Mode, Outcome, Upper, class};

pub(crate) use exchange::{Mac, State};
