//! Counters of radios for programs in nodes, as a driver would have them.
//!
//! At an abstract name in each node's network namespace a program sends the name of a device, as a datagram, and gets lines of a name and a
//! whole number: the time and those of the radio's states in nanoseconds, whole milliseconds like a driver's, then packets and bytes of IP.
//! A driver has no count of the NAV, which is idle time here.

use std::fmt::Write;
use std::io;
use std::os::fd::OwnedFd;

use airfair_schemes::places::Airtime;
use airfair_sim::{World, radio_counters};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, bind, recvfrom, sendto,
    socket_with,
};

use crate::plan::NodePlan;

/// The name of the socket.
pub const NAME: &[u8] = b"airfair-counters";

/// Requests that are answered at once: the others have their turn then.
const AT_ONCE: usize = 16;

/// A driver counts times in this unit, ns.
const UNIT: u64 = 1_000_000;

/// The socket of the network namespace of the calling thread.
pub(crate) fn socket() -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::DGRAM, flags, None)?;
    bind(&socket, &SocketAddrUnix::new_abstract_name(NAME)?)?;
    Ok(socket)
}

/// Answers the requests that wait at the socket of a node.
pub(crate) fn answer(socket: &OwnedFd, node: &NodePlan, world: &World) {
    let mut request = [0; 16];
    for _ in 0..AT_ONCE {
        let Ok((length, _, Some(from))) = recvfrom(socket, &mut request, RecvFlags::empty()) else { return };
        let device = String::from_utf8_lossy(&request[..length]);
        let interface = node.interfaces.iter().find(|interface| interface.device == device);
        let text = interface
            .and_then(|interface| text_of(world, interface.port))
            .unwrap_or_else(|| format!("error {}: no radio of this node", device.escape_default()));
        // A program that is gone, or does not read, gets nothing.
        _ = sendto(socket, text.as_bytes(), SendFlags::DONTWAIT, &from);
    }
}

fn text_of(world: &World, port: airfair_sim::ids::PortIx) -> Option<String> {
    let counters = radio_counters(world, port)?;
    let Airtime { transmit, receive, busy, nav, idle } = counters.airtime?;
    let whole = |time: u64| time / UNIT * UNIT;
    let link = counters.link;
    let rows = [
        ("at", counters.at.0),
        ("transmit", whole(transmit.0)),
        ("receive", whole(receive.0)),
        ("receive_own", whole(counters.receive_own.0)),
        ("busy", whole(busy.0)),
        ("idle", whole(idle.0 + nav.0)),
        ("retries", counters.retries),
        ("sent_packets", link.sent_packets),
        ("sent_bytes", link.sent_bytes),
        ("received_packets", link.received_packets),
        ("received_bytes", link.received_bytes),
    ];
    let mut text = String::new();
    for (name, value) in rows {
        _ = writeln!(text, "{name} {value}");
    }
    Some(text)
}
