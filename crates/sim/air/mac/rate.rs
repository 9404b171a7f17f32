//! Rate selection for data frames.

use super::MacKind;
use crate::air::medium::frame::BROADCAST;
use crate::ids::StationIx;
use crate::modes::Mode;

/// Mode of a station's next data frame to a receiver: a constant of the station's kind.
#[inline(always)]
pub(super) fn data_mode(kind: &MacKind, to: StationIx) -> Mode {
    if to == BROADCAST { kind.broadcast_mode } else { kind.data_mode }
}
