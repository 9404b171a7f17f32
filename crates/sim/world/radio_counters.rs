//! Counters of a radio, as a driver would have them, for a program outside the world.

use airfair_host::{InterfaceCounters, LinkCounters};

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

/// Counts the packets of each radio link from now on, for [`link_counters`]; the run stays the same. Must be called before the world is
/// advanced.
pub fn count_links(world: &mut World) {
    world.network.link_counts.get_or_insert_default();
    world.network.plane.rules.counts_finished = true;
}

/// The counters of the links from a radio, each with the port of its receiver, after [`count_links`]; empty for a wire.
#[must_use]
pub fn link_counters(world: &World, port: PortIx) -> Vec<(PortIx, LinkCounters)> {
    let interfaces = &world.network.plane.interfaces;
    let (LinkRef::Station(station), Some(counts)) = (interfaces.link(port), &world.network.link_counts)
    else {
        return Vec::new();
    };
    let now = world.now();
    let at = |&(to, counters): &(_, LinkCounters)| {
        (interfaces.of_station(to).1, LinkCounters { at: now, ..counters })
    };
    counts.of(station).iter().map(at).collect()
}
