//! Links, addresses and routes of the network namespace in which a thread is.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsRawFd, BorrowedFd};

use airfair_wire::MacAddr;
use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage, AddressScope};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};

/// Bytes of requests that are sent at once.
const BATCH: usize = 16 * 1024;

/// Most requests that are sent at once: the socket holds some 250 answers, and one that it cannot hold is an error.
const MOST_AT_ONCE: u32 = 64;

/// An address of a link.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Address {
    pub address: IpAddr,
    /// True if it is of no use to others.
    pub of_host: bool,
}

impl Address {
    /// An address for all.
    pub const fn of(address: IpAddr) -> Self {
        Self { address, of_host: false }
    }
}

/// A route.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Route {
    /// The destination.
    pub to: IpAddr,
    /// Bits of it that count; all by default.
    pub length: Option<u8>,
    /// The neighbour over which it leads, if it does.
    pub via: Option<IpAddr>,
    /// The link.
    pub index: u32,
    /// The table; the main one by default.
    pub table: Option<u32>,
    /// The source of packets that have none.
    pub source: Option<IpAddr>,
}

impl Route {
    /// The route to a host over a link.
    pub const fn to(to: IpAddr, index: u32) -> Self {
        Self { to, length: None, via: None, index, table: None, source: None }
    }
}

/// Requests to the kernel's routing tables, collected and sent together.
pub(crate) struct Requests {
    socket: Socket,
    bytes: Vec<u8>,
    sent: u32,
    answered: u32,
}

impl Requests {
    /// For the network namespace of the calling thread.
    pub fn new() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket, bytes: Vec::new(), sent: 0, answered: 0 })
    }

    /// Sets a link up, with these values if they are given.
    pub fn set_up(
        &mut self,
        index: u32,
        mac: Option<MacAddr>,
        mtu: Option<u32>,
        queue: Option<u32>,
    ) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = index;
        link.header.flags = LinkFlags::Up;
        link.header.change_mask = LinkFlags::Up;
        link.attributes.extend(mac.map(|mac| LinkAttribute::Address(mac.0.to_vec())));
        link.attributes.extend(mtu.map(LinkAttribute::Mtu));
        link.attributes.extend(queue.map(LinkAttribute::TxQueueLen));
        self.add(RouteNetlinkMessage::SetLink(link), 0)
    }

    /// Makes a pair of linked devices: one here, one in another network.
    pub fn add_pair(&mut self, here: &str, there: &str, network: BorrowedFd<'_>) -> io::Result<()> {
        let mut other = LinkMessage::default();
        other.attributes.push(LinkAttribute::IfName(there.to_string()));
        other.attributes.push(LinkAttribute::NetNsFd(network.as_raw_fd()));
        let mut link = LinkMessage::default();
        link.attributes.push(LinkAttribute::IfName(here.to_string()));
        link.attributes.push(LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Veth),
            LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(other))),
        ]));
        self.add(RouteNetlinkMessage::NewLink(link), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Gives a link an address.
    pub fn add_address(&mut self, index: u32, address: &Address) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.index = index;
        message.header.scope = if address.of_host { AddressScope::Host } else { AddressScope::Universe };
        let address = address.address;
        let (family, length) = family(address);
        (message.header.family, message.header.prefix_len) = (family, length);
        // Nobody else has it.
        if address.is_ipv6() {
            message.header.flags = AddressHeaderFlags::Nodad;
        } else {
            message.attributes.push(AddressAttribute::Local(address));
        }
        message.attributes.push(AddressAttribute::Address(address));
        self.add(RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Adds a route.
    pub fn add_route(&mut self, route: &Route) -> io::Result<()> {
        let (family, whole) = family(route.to);
        let mut message = RouteMessage::default();
        message.header = RouteHeader {
            address_family: family,
            destination_prefix_length: route.length.unwrap_or(whole),
            table: if route.table.is_some() { 0 } else { RouteHeader::RT_TABLE_MAIN },
            protocol: RouteProtocol::Static,
            scope: if route.via.is_some() { RouteScope::Universe } else { RouteScope::Link },
            kind: RouteType::Unicast,
            ..RouteHeader::default()
        };
        let value = |address| match address {
            IpAddr::V4(address) => RouteAddress::Inet(address),
            IpAddr::V6(address) => RouteAddress::Inet6(address),
        };
        message.attributes.push(RouteAttribute::Destination(value(route.to)));
        if let Some(via) = route.via {
            // Without a subnet the kernel does not know that it is a neighbour.
            message.header.flags = RouteFlags::Onlink;
            message.attributes.push(RouteAttribute::Gateway(value(via)));
        }
        message.attributes.push(RouteAttribute::Oif(route.index));
        message.attributes.extend(route.table.map(RouteAttribute::Table));
        message.attributes.extend(route.source.map(|source| RouteAttribute::PrefSource(value(source))));
        self.add(RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Lets a table have the routes to a range.
    pub fn add_rule(&mut self, range: Ipv4Addr, length: u8, table: u32) -> io::Result<()> {
        let mut message = RuleMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.dst_len = length;
        message.header.action = RuleAction::ToTable;
        message.attributes.push(RuleAttribute::Destination(range.into()));
        message.attributes.push(RuleAttribute::Table(table));
        self.add(RouteNetlinkMessage::NewRule(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    fn add(&mut self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        let mut message = NetlinkMessage::from(message);
        message.header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        message.header.sequence_number = self.sent;
        message.finalize();
        self.sent += 1;
        let at = self.bytes.len();
        self.bytes.resize(at + message.buffer_len(), 0);
        message.serialize(&mut self.bytes[at..]);
        let is_full = self.bytes.len() >= BATCH || self.sent - self.answered >= MOST_AT_ONCE;
        if is_full { self.finish() } else { Ok(()) }
    }

    /// Sends what is left and waits for all answers.
    ///
    /// # Errors
    /// The first of the kernel's.
    pub fn finish(&mut self) -> io::Result<()> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        self.socket.send(&self.bytes, 0)?;
        self.bytes.clear();
        self.answered = self.sent;
        let mut first = Ok(());
        loop {
            let (answers, _) = self.socket.recv_from_full()?;
            let mut rest = &answers[..];
            while !rest.is_empty() {
                let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest)
                    .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
                if let NetlinkPayload::Error(error) = &answer.payload
                    && error.code.is_some()
                    && first.is_ok()
                {
                    first = Err(error.to_io());
                }
                if answer.header.sequence_number + 1 == self.sent {
                    return first;
                }
                let length = (answer.header.length as usize).next_multiple_of(4);
                rest = rest.get(length..).unwrap_or_default();
            }
        }
    }
}

fn family(address: IpAddr) -> (AddressFamily, u8) {
    if address.is_ipv4() { (AddressFamily::Inet, 32) } else { (AddressFamily::Inet6, 128) }
}

/// The index of the link with a name.
pub(crate) fn index_of(name: &str) -> io::Result<u32> {
    use rustix::net::{AddressFamily, SocketType, netdevice, socket};
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    Ok(netdevice::name_to_index(&socket, name)?)
}
