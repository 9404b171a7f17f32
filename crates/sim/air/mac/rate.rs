//! Rate selection for data frames.

use super::{MacKind, Msdu};
use crate::modes::Mode;

/// Mode of a station's data frame with a packet: one of two constants of the station's kind.
#[inline(always)]
pub(super) fn data_mode(kind: &MacKind, packet: &Msdu) -> Mode {
    if packet.at_data_rate { kind.data_mode } else { kind.broadcast_mode }
}
