//! Properties and counters of any network interface, from rtnetlink.

use std::fmt;

use netlink_sys::protocols::NETLINK_ROUTE;

use super::attributes::{Attribute, Malformed, Request, attributes};
use super::error::Error;
use super::exchange::Exchange;
use super::numbers::{
    IFF_LOWER_UP, IFF_UP, IFLA_ADDRESS, IFLA_IFNAME, IFLA_INFO_KIND, IFLA_LINKINFO, IFLA_MTU, IFLA_STATS64,
    RTM_GETLINK, RTM_NEWLINK,
};

/// Bytes of `struct ifinfomsg`: family, padding, type, index, flags, mask.
const IFINFOMSG: usize = 16;

/// Most bytes of the name of an interface (`IFNAMSIZ` without the zero byte).
const LONGEST_NAME: usize = 15;

/// Counters of packets since the interface was made, of 64 bits (`struct rtnl_link_stats64`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InterfaceTraffic {
    /// Packets received.
    pub received_packets: u64,
    /// Packets sent.
    pub sent_packets: u64,
    /// Bytes received, with the header of the link layer.
    pub received_bytes: u64,
    /// Bytes sent, with the header of the link layer.
    pub sent_bytes: u64,
    /// Packets received with an error.
    pub receive_errors: u64,
    /// Packets that could not be sent.
    pub send_errors: u64,
    /// Packets received and dropped.
    pub receive_dropped: u64,
    /// Packets dropped instead of sent, by the driver. Queueing disciplines count their own.
    pub send_dropped: u64,
}

/// A network interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Name.
    pub name: String,
    /// Index.
    pub index: u32,
    /// Longest packet of the network layer, in bytes.
    pub mtu: u32,
    /// Hardware address; none if the interface has none of 6 bytes.
    pub mac: Option<[u8; 6]>,
    /// True if the interface is set up.
    pub is_up: bool,
    /// True if the interface has a carrier.
    pub has_carrier: bool,
    /// Kind of a virtual interface (`veth`, `bridge`); none for hardware and the loopback.
    pub kind: Option<String>,
    /// Counters.
    pub traffic: InterfaceTraffic,
}

/// The request for the interface with this name (`RTM_GETLINK`).
pub(crate) fn link_request(name: &str) -> Request {
    Request::new(RTM_GETLINK, 0, &[0; IFINFOMSG]).with_text(IFLA_IFNAME, name)
}

impl Interface {
    /// An interface from the payload of a reply (`RTM_NEWLINK`), which begins with `struct ifinfomsg`.
    ///
    /// # Errors
    /// The payload is malformed, or has no name, MTU or counters.
    pub fn decode(payload: &[u8]) -> Result<Self, Malformed> {
        let header = payload.first_chunk::<IFINFOMSG>().ok_or(Malformed("an interface has no header"))?;
        let word =
            |at: usize| u32::from_ne_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let (index, flags) = (word(4), word(8));
        let (mut name, mut mtu, mut mac, mut kind, mut traffic) = (None, None, None, None, None);
        for attribute in attributes(payload.get(IFINFOMSG..).unwrap_or_default()) {
            let attribute = attribute?;
            match attribute.kind {
                IFLA_IFNAME => name = Some(attribute.text()?.to_string()),
                IFLA_MTU => mtu = Some(attribute.u32()?),
                IFLA_ADDRESS => mac = attribute.mac().ok(),
                IFLA_LINKINFO => kind = kind_of(&attribute)?,
                IFLA_STATS64 => traffic = Some(traffic_of(&attribute)?),
                _ => {}
            }
        }
        Ok(Self {
            name: name.ok_or(Malformed("an interface has no name"))?,
            index,
            mtu: mtu.ok_or(Malformed("an interface has no MTU"))?,
            mac,
            is_up: flags & IFF_UP != 0,
            has_carrier: flags & IFF_LOWER_UP != 0,
            kind,
            traffic: traffic.ok_or(Malformed("an interface has no counters"))?,
        })
    }
}

fn kind_of(info: &Attribute<'_>) -> Result<Option<String>, Malformed> {
    for attribute in info.nested() {
        let attribute = attribute?;
        if attribute.kind == IFLA_INFO_KIND {
            return Ok(Some(attribute.text()?.to_string()));
        }
    }
    Ok(None)
}

/// The first eight counters, which all kernels have; newer kernels add some at the end.
fn traffic_of(stats: &Attribute<'_>) -> Result<InterfaceTraffic, Malformed> {
    let mut counters = [0; 8];
    let bytes = stats.value.get(..64).ok_or(Malformed("the counters of an interface are too few"))?;
    for (counter, bytes) in counters.iter_mut().zip(bytes.as_chunks().0) {
        *counter = u64::from_ne_bytes(*bytes);
    }
    let [received_packets, sent_packets, received_bytes, sent_bytes, ..] = counters;
    let [.., receive_errors, send_errors, receive_dropped, send_dropped] = counters;
    Ok(InterfaceTraffic {
        received_packets,
        sent_packets,
        received_bytes,
        sent_bytes,
        receive_errors,
        send_errors,
        receive_dropped,
        send_dropped,
    })
}

/// True for a text that can be the name of an interface (`dev_valid_name` of the kernel).
fn is_name(name: &str) -> bool {
    let has_length = (1..=LONGEST_NAME).contains(&name.len());
    let has_bytes = name.bytes().all(|byte| !matches!(byte, 0 | b'/' | b':') && !byte.is_ascii_whitespace());
    has_length && has_bytes && name != "." && name != ".."
}

/// The index of the interface with this name, in the network namespace of the calling thread.
pub(crate) fn index_of(name: &str) -> Result<u32, Error> {
    use rustix::io::Errno;
    use rustix::net::{AddressFamily, SocketType, netdevice, socket};
    let missing = || Error::NoInterface { interface: name.to_string() };
    if !is_name(name) {
        return Err(missing());
    }
    let failed = |call: &'static str| move |errno: Errno| Error::Socket { call, errno: errno.raw_os_error() };
    let socket = socket(AddressFamily::UNIX, SocketType::DGRAM, None).map_err(failed("socket"))?;
    match netdevice::name_to_index(&socket, name) {
        Err(Errno::NODEV) => Err(missing()),
        index => index.map_err(failed("ioctl")),
    }
}

/// A socket for requests of rtnetlink, in the network namespace of the calling thread. After an error the socket is a new one.
pub struct Interfaces {
    exchange: Exchange,
}

impl fmt::Debug for Interfaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interfaces").finish_non_exhaustive()
    }
}

impl Interfaces {
    /// Opens a socket.
    ///
    /// # Errors
    /// There is no permission, or no socket.
    pub fn open() -> Result<Self, Error> {
        let exchange =
            Exchange::open(NETLINK_ROUTE).map_err(|failure| Error::of_opening(failure, "rtnetlink"))?;
        Ok(Self { exchange })
    }

    /// The interface with this name.
    ///
    /// # Errors
    /// There is no such interface.
    pub fn interface(&mut self, name: &str) -> Result<Interface, Error> {
        let missing = || Error::NoInterface { interface: name.to_string() };
        if !is_name(name) {
            return Err(missing());
        }
        let mut found = None;
        let mut each = |payload: &[u8]| {
            found = Some(Interface::decode(payload)?);
            Ok(())
        };
        self.exchange
            .request(link_request(name), RTM_NEWLINK, false, &mut each)
            .map_err(|failure| Error::of_link(failure, name))?;
        found.ok_or_else(missing)
    }
}
