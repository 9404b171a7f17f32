//! Links, addresses and routes of the network namespace in which a thread is.

use std::io;
use std::net::IpAddr;

use airfair_wire::MacAddr;
use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage, AddressScope};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};

/// Bytes of requests that are sent at once.
const BATCH: usize = 16 * 1024;

/// Requests to the kernel's routing tables, collected and sent together.
pub(crate) struct Requests {
    socket: Socket,
    bytes: Vec<u8>,
    sent: u32,
}

impl Requests {
    /// For the network namespace of the calling thread.
    pub fn new() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket, bytes: Vec::new(), sent: 0 })
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

    /// Gives a link an address of a host.
    pub fn add_address(&mut self, index: u32, address: IpAddr) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.index = index;
        message.header.scope = AddressScope::Universe;
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

    /// Adds a route to a host: over a link, by a neighbour if there is one.
    pub fn add_route(&mut self, to: IpAddr, via: Option<IpAddr>, index: u32) -> io::Result<()> {
        let (family, length) = family(to);
        let mut message = RouteMessage::default();
        message.header = RouteHeader {
            address_family: family,
            destination_prefix_length: length,
            table: RouteHeader::RT_TABLE_MAIN,
            protocol: RouteProtocol::Static,
            scope: if via.is_some() { RouteScope::Universe } else { RouteScope::Link },
            kind: RouteType::Unicast,
            ..RouteHeader::default()
        };
        let value = |address| match address {
            IpAddr::V4(address) => RouteAddress::Inet(address),
            IpAddr::V6(address) => RouteAddress::Inet6(address),
        };
        message.attributes.push(RouteAttribute::Destination(value(to)));
        if let Some(via) = via {
            // Without a subnet the kernel does not know that it is a neighbour.
            message.header.flags = RouteFlags::Onlink;
            message.attributes.push(RouteAttribute::Gateway(value(via)));
        }
        message.attributes.push(RouteAttribute::Oif(index));
        self.add(RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE | NLM_F_EXCL)
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
        if self.bytes.len() >= BATCH { self.finish() } else { Ok(()) }
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
