//! Rate selection for data frames.

use airfair_schemes::places::SendRate;

use super::{MacKind, Msdu};
use crate::modes::Mode;

/// Mode of a station's data frame with a packet: one of three constants of the station's kind.
#[inline(always)]
pub(super) fn data_mode(kind: &MacKind, packet: &Msdu) -> Mode {
    match packet.rate {
        SendRate::Data => kind.data_mode,
        SendRate::Broadcast => kind.broadcast_mode,
        SendRate::Lowest => kind.lowest_mode(),
    }
}
