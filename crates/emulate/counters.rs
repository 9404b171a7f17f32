//! Counters of radios for programs in nodes, as a driver would have them.
//!
//! At an abstract name in each node's network namespace a program sends the name of a device, as a datagram, and gets lines of a name and a
//! whole number: the time and those of the radio's states in nanoseconds, whole milliseconds like a driver's, then packets and bytes of IP.
//! A driver has no count of the NAV, which is idle time here. For each neighbour to which the radio has sent follows a line with the
//! neighbour's hardware address and four numbers: packets acknowledged and given up, data frames, bytes of IP of the acknowledged ones.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::os::fd::OwnedFd;

use airfair_host::LinkCounters;
use airfair_schemes::places::Airtime;
use airfair_sim::ids::PortIx;
use airfair_sim::{World, link_counters, radio_counters};
use airfair_wire::MacAddr;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, bind, recvfrom, sendto,
    socket_with,
};

use crate::plan::Plan;

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

/// A fault of a real driver's counters, in the second half of each twenty seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriverFault {
    /// They stand still.
    Freeze,
    /// They begin again at 0, at the start and at the end of that half.
    Reset,
    /// Times have 32 bits of nanoseconds.
    Wrap,
    /// The times of frames are missing.
    Omit,
}

impl DriverFault {
    /// Every fault with the word for it.
    pub const WORDS: [(&'static str, Self); 4] =
        [("freeze", Self::Freeze), ("reset", Self::Reset), ("wrap", Self::Wrap), ("omit", Self::Omit)];
}

/// The period of faults.
const PERIOD: u64 = 20_000_000_000;

/// The lines of a radio's counters.
type Rows = [(&'static str, u64); 11];

/// The lines of its links.
type Links = BTreeMap<MacAddr, [u64; 4]>;

/// Most links in an answer: a datagram has some sixty bytes for each.
const MOST_LINKS: usize = 200;

/// The counters of all radios of a run, with a fault if one is wanted.
#[derive(Debug)]
pub(crate) struct Counters {
    sockets: Vec<OwnedFd>,
    fault: Option<DriverFault>,
    /// With a fault that remembers: by port the half in which it began, and the lines of then.
    kept: BTreeMap<u32, (u64, Rows, Links)>,
    /// Hardware addresses by ports.
    addresses: BTreeMap<u32, MacAddr>,
}

impl Counters {
    /// For the sockets of all nodes of a plan.
    pub fn new(sockets: Vec<OwnedFd>, plan: &Plan, fault: Option<DriverFault>) -> Self {
        let interfaces = plan.nodes.iter().flat_map(|node| &node.interfaces);
        let addresses = interfaces.map(|interface| (interface.port.0, interface.mac)).collect();
        Self { sockets, fault, kept: BTreeMap::new(), addresses }
    }

    /// Answers the requests that wait at the socket of a node.
    pub fn answer(&mut self, number: usize, plan: &Plan, world: &World) {
        let node = &plan.nodes[number];
        let mut request = [0; 16];
        for _ in 0..AT_ONCE {
            let received = recvfrom(&self.sockets[number], &mut request, RecvFlags::empty());
            let Ok((length, _, Some(from))) = received else { return };
            let device = String::from_utf8_lossy(&request[..length]);
            let interface = node.interfaces.iter().find(|interface| interface.device == device);
            let text = interface
                .and_then(|interface| {
                    let port = interface.port;
                    Some(self.with_fault(port, rows(world, port)?, self.links(world, port)))
                })
                .unwrap_or_else(|| format!("error {}: no radio of this node", device.escape_default()));
            // A program that is gone, or does not read, gets nothing.
            _ = sendto(&self.sockets[number], text.as_bytes(), SendFlags::DONTWAIT, &from);
        }
    }

    /// The links of a radio, by the addresses of their receivers.
    fn links(&self, world: &World, port: PortIx) -> Links {
        let line = |(to, counters): (PortIx, LinkCounters)| {
            let LinkCounters { sent, given_up, attempts, bytes, .. } = counters;
            Some((*self.addresses.get(&to.0)?, [sent, given_up, attempts, bytes]))
        };
        link_counters(world, port).into_iter().filter_map(line).take(MOST_LINKS).collect()
    }

    /// The text of a radio's counters.
    fn with_fault(&mut self, port: PortIx, mut rows: Rows, mut links: Links) -> String {
        let half = rows[0].1 / (PERIOD / 2);
        let is_faulty = half % 2 == 1;
        let begun = self.kept.get(&port.0).is_some_and(|kept| kept.0 == half);
        if !begun {
            self.kept.insert(port.0, (half, rows, links.clone()));
        }
        let (_, since, links_since) = &self.kept[&port.0];
        let mut omitted: &[&str] = &[];
        match self.fault {
            Some(DriverFault::Freeze) if is_faulty => {
                rows[1..].copy_from_slice(&since[1..]);
                links.clone_from(links_since);
            }
            Some(DriverFault::Reset) if is_faulty => {
                rows.iter_mut().zip(since).skip(1).for_each(|(row, from)| row.1 -= from.1.min(row.1));
                for (address, values) in &mut links {
                    let from = links_since.get(address).copied().unwrap_or_default();
                    values.iter_mut().zip(from).for_each(|(value, from)| *value -= from.min(*value));
                }
            }
            Some(DriverFault::Wrap) => rows[1..6].iter_mut().for_each(|row| row.1 &= u64::from(u32::MAX)),
            Some(DriverFault::Omit) if is_faulty => {
                omitted = &["transmit", "receive"];
                links.clear();
            }
            _ => {}
        }
        let mut text = String::new();
        for (name, value) in rows.iter().filter(|(name, _)| !omitted.contains(name)) {
            _ = writeln!(text, "{name} {value}");
        }
        for (address, [sent, given_up, attempts, bytes]) in &links {
            _ = writeln!(text, "link {address} {sent} {given_up} {attempts} {bytes}");
        }
        text
    }
}

fn rows(world: &World, port: PortIx) -> Option<Rows> {
    let counters = radio_counters(world, port)?;
    let Airtime { transmit, receive, busy, nav, idle } = counters.airtime?;
    let whole = |time: u64| time / UNIT * UNIT;
    let link = counters.link;
    Some([
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
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counters of a radio that sends for a tenth of the time, at so many seconds.
    fn at(seconds: u64) -> Rows {
        let time = seconds * 1_000_000_000;
        let mut rows = [("", 0); 11];
        rows[0] = ("at", time);
        rows[1] = ("transmit", time / 10);
        rows[2] = ("receive", 0);
        rows[5] = ("idle", time - time / 10);
        rows[7] = ("sent_packets", 100 * seconds);
        rows
    }

    fn served(counters: &mut Counters, seconds: u64, name: &str) -> Option<u64> {
        let links =
            BTreeMap::from([(MacAddr([2, 0, 0, 0, 0, 7]), [seconds, 0, 2 * seconds, 1000 * seconds])]);
        let text = counters.with_fault(PortIx(3), at(seconds), links);
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        line.split(' ').next()?.parse().ok()
    }

    #[test]
    fn faults_come_in_every_second_half() {
        let nobody = Plan { nodes: Vec::new(), by_mac: BTreeMap::new(), by_ip: BTreeMap::new() };
        let of = |fault| Counters::new(Vec::new(), &nobody, fault);
        for second in [3, 12, 17, 25] {
            assert_eq!(served(&mut of(None), second, "transmit"), Some(second * 100_000_000));
        }
        let mut frozen = of(Some(DriverFault::Freeze));
        let sent = [8, 11, 15, 19, 20].map(|second| served(&mut frozen, second, "sent_packets").unwrap());
        assert_eq!(sent, [800, 1100, 1100, 1100, 2000]);
        assert_eq!(served(&mut frozen, 15, "at"), Some(15_000_000_000), "the clock goes on");
        let mut reset = of(Some(DriverFault::Reset));
        let sent = [8, 11, 15, 21].map(|second| served(&mut reset, second, "sent_packets").unwrap());
        assert_eq!(sent, [800, 0, 400, 2100]);
        let mut omitted = of(Some(DriverFault::Omit));
        assert_eq!([5, 15].map(|second| served(&mut omitted, second, "transmit")), [Some(500_000_000), None]);
        let of_link = "link 02:00:00:00:00:07";
        let mut frozen = of(Some(DriverFault::Freeze));
        assert_eq!([8, 11, 15].map(|second| served(&mut frozen, second, of_link)), [8, 11, 11].map(Some));
        let mut reset = of(Some(DriverFault::Reset));
        assert_eq!([8, 11, 15].map(|second| served(&mut reset, second, of_link)), [8, 0, 4].map(Some));
        assert_eq!([5, 15].map(|second| served(&mut omitted, second, of_link)), [Some(5), None]);
        let mut wrapped = of(Some(DriverFault::Wrap));
        assert_eq!(served(&mut wrapped, 5, "idle"), Some(4_500_000_000 - (1 << 32)));
    }
}
