//! Choice of rates.

use super::MacKind;
use crate::air::medium::frame::BROADCAST;
use crate::ids::StationIx;
use crate::modes::Mode;

/// The mode in which a station of a kind sends its next data frame to a station: a constant of the kind.
#[inline(always)]
pub(super) fn data_mode(kind: &MacKind, to: StationIx) -> Mode {
    if to == BROADCAST { kind.broadcast_mode } else { kind.data_mode }
}
