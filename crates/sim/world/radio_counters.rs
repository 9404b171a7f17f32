//! Counters of a radio, as a driver would have them, for a program outside the world.

use airfair_host::InterfaceCounters;

use super::World;
use crate::ids::{LinkRef, PortIx};

/// The counters of a radio up to the present; none for a wire. Packets and bytes count after [`World::measure_links`].
#[must_use]
pub fn radio_counters(world: &World, port: PortIx) -> Option<InterfaceCounters> {
    let interfaces = &world.network.plane.interfaces;
    let LinkRef::Station(station) = interfaces.link(port) else { return None };
    let (air, now) = (&world.air, world.now());
    let counters = air.counters(station);
    Some(InterfaceCounters {
        at: now,
        airtime: Some(air.airtime(station, now)),
        receive_own: air.receive_own(station),
        retries: counters.no_cts + counters.no_ack,
        traffic: interfaces.packets_left(port) + counters.received_data(),
        link: world.network.plane.meters.uses.totals(station).unwrap_or_default().used,
    })
}
