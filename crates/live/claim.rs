//! The claim of a daemon on a device: one daemon acts at a device at a time.

use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, socket_with};

use crate::qdisc::index_of;

/// A claim, by an abstract name of the network namespace. It ends with this value, and with the process.
#[derive(Debug)]
pub struct Claim {
    index: i32,
    _socket: OwnedFd,
}

impl Claim {
    /// Claims a device.
    ///
    /// # Errors
    /// There is no such device, another daemon has claimed it.
    pub fn new(device: &str) -> Result<Self, String> {
        let index = index_of(device).ok_or_else(|| format!("{device}: no such device"))?;
        let failed = |error: Errno| format!("{device}: {error}");
        let socket = socket_with(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None)
            .map_err(failed)?;
        let name = format!("airfaird-device-{index}");
        let address = SocketAddrUnix::new_abstract_name(name.as_bytes()).map_err(failed)?;
        bind(&socket, &address).map_err(|error| match error {
            Errno::ADDRINUSE => format!("{device}: another airfaird acts there"),
            other => failed(other),
        })?;
        Ok(Self { index, _socket: socket })
    }

    /// The number of the device.
    #[must_use]
    pub const fn index(&self) -> i32 {
        self.index
    }
}
