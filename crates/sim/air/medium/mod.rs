//! The radio medium: who hears whom, what a transmission does to every hearer, what is received. Power and time; no rules of access.
//!
//! | file | contents |
//! |---|---|
//! | `modes` | how long a frame takes |
//! | `propagation`, `error` | how power falls; how likely a frame is received |
//! | `hearers` | who hears whom, in flat lists |
//! | `radio` | the state of a hearer that the inner loops touch |
//! | `frame` | frames on the air |
//! | `passes` | the pass over all hearers at a frame's start and the pass at its end |
//! | `hearing` | one hearer's side of these passes: carrier sense, lock, interference, NAV |
//! | `path`, `movement` | where a moving node is; how the lists of hearers follow it |
//! | `relations`, `doubts` | what stations receive of each other on a silent air; links that exist or are missing by decree |
//! | `memory` | how much memory the lists will take |

pub(crate) mod doubts;
pub mod error;
pub(crate) mod frame;
pub(crate) mod hearers;
pub(crate) mod hearing;
pub(crate) mod memory;
pub(crate) mod modes;
pub(crate) mod movement;
pub(crate) mod passes;
mod path;
pub mod propagation;
pub(crate) mod radio;
pub(crate) mod relations;

use super::{Air, Kind, Mode, Needs, StationCounters, StationSpec, Upper, class, kind, mac, rank};
