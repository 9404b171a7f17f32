//! Datagrams between the neighbours of a radio.

use std::fmt;
use std::io;
use std::net::{Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use crate::netlink::Interfaces;
use crate::qdisc::index_of;
use crate::shaping::MacAddress;
use crate::sys;

/// The UDP port of messages, unless the configuration says otherwise.
pub const PORT: u16 = 7788;

/// The group of all daemons on a link: transient, of this link only.
const GROUP: Ipv6Addr = Ipv6Addr::new(0xff12, 0, 0, 0, 0, 0, 0x6169, 0x7266);

/// Messages are network control (CS6): they precede data in the queues of a radio.
const CLASS: u32 = 0xc0;

/// A neighbour's address on the link of a radio.
pub type Address = SocketAddrV6;

/// Datagrams at one radio.
pub trait Messenger: fmt::Debug {
    /// Sends to all neighbours, or to one. A message that cannot be sent is lost, as one in the air may be; false then.
    fn send(&mut self, to: Option<&Address>, bytes: &[u8]) -> bool;

    /// The next datagram that has come, with its length and the address from which it came; none if there is none.
    fn receive(&mut self, buffer: &mut [u8]) -> Option<(usize, Address)>;

    /// The hardware address of the radio.
    fn hardware_address(&self) -> MacAddress;

    /// Asks the kernel for the hardware address anew: it may be changed while a daemon runs.
    fn refresh(&mut self) {}

    /// A descriptor that is readable when a datagram has come.
    fn watched(&self) -> BorrowedFd<'_>;
}

/// A socket at the device of a radio: IPv6, addresses of the link only, so that nothing comes from beyond the neighbours.
#[derive(Debug)]
pub struct RadioSocket {
    device: String,
    socket: UdpSocket,
    group: Address,
    hardware_address: MacAddress,
}

impl RadioSocket {
    /// For a device of this process's network namespace.
    ///
    /// # Errors
    /// There is no such device, the port is taken, the device has no IPv6.
    pub fn open(device: &str, port: u16) -> Result<Self, String> {
        let wrong = |error: io::Error| format!("{device}: messages at UDP port {port}: {error}");
        let index = index_of(device).ok_or_else(|| format!("{device}: no such device"))? as u32;
        let socket = rustix::net::socket_with(
            rustix::net::AddressFamily::INET6,
            rustix::net::SocketType::DGRAM,
            rustix::net::SocketFlags::CLOEXEC | rustix::net::SocketFlags::NONBLOCK,
            None,
        )
        .map_err(|error| wrong(error.into()))?;
        let options = || -> rustix::io::Result<()> {
            use rustix::net::sockopt;
            sockopt::set_ipv6_v6only(&socket, true)?;
            sockopt::set_ipv6_multicast_loop(&socket, false)?;
            sockopt::set_ipv6_tclass(&socket, CLASS)?;
            // Not for this port alone: several radios have a socket each.
            sockopt::set_socket_reuseaddr(&socket, true)
        };
        options().map_err(|error| wrong(error.into()))?;
        sys::bind_to_device(&socket, device).map_err(wrong)?;
        let own = SocketAddr::from((Ipv6Addr::UNSPECIFIED, port));
        rustix::net::bind(&socket, &own).map_err(|error| wrong(error.into()))?;
        let socket = UdpSocket::from(socket);
        socket.join_multicast_v6(&GROUP, index).map_err(wrong)?;
        let hardware_address = hardware_address(device)?.unwrap_or_default();
        let (device, group) = (device.to_string(), SocketAddrV6::new(GROUP, port, 0, index));
        Ok(Self { device, socket, group, hardware_address })
    }
}

fn hardware_address(device: &str) -> Result<Option<MacAddress>, String> {
    let found = Interfaces::open().and_then(|mut all| all.interface(device));
    found.map(|found| found.mac).map_err(|error| error.to_string())
}

impl Messenger for RadioSocket {
    fn send(&mut self, to: Option<&Address>, bytes: &[u8]) -> bool {
        self.socket.send_to(bytes, *to.unwrap_or(&self.group)).is_ok()
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Option<(usize, Address)> {
        // Errors of earlier sends are reported here, too: they are no end.
        for _ in 0..4 {
            match self.socket.recv_from(buffer) {
                Ok((length, SocketAddr::V6(from))) if from.ip().is_unicast_link_local() => {
                    return Some((length, from));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
                // From beyond the link.
                Ok(_) | Err(_) => {}
            }
        }
        None
    }

    fn hardware_address(&self) -> MacAddress {
        self.hardware_address
    }

    fn refresh(&mut self) {
        if let Ok(Some(address)) = hardware_address(&self.device) {
            self.hardware_address = address;
        }
    }

    fn watched(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
