//! Rate selection for data frames.

use airfair_schemes::places::SendRate;

use super::{MacKind, Msdu};
use crate::modes::Mode;

/// Mode of a station's data frame with a packet: one of three constants of the station's kind.
#[inline(always)]
pub(super) fn data_mode(kind: &MacKind, packet: &Msdu) -> Mode {
    if packet.rate == SendRate::Data { kind.data_mode } else { mode_of_broadcast(kind, packet.rate) }
}

#[cold]
#[inline(never)]
fn mode_of_broadcast(kind: &MacKind, rate: SendRate) -> Mode {
    if rate == SendRate::Lowest { kind.lowest_mode() } else { kind.broadcast_mode }
}
