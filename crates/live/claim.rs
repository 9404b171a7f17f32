//! The claim of a daemon on a device: one daemon acts at a device at a time.

use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, socket_with};
use rustix::time::Timespec;

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

    /// The claim on a device, where nobody else has it within this many tries, a hundredth of a second apart. `over`: true if whoever may
    /// still be about to give it up has ended.
    pub(crate) fn within(tries: u32, device: &str, over: &dyn Fn() -> bool) -> Option<Self> {
        for left in (0..tries).rev() {
            // Before the try: who ends after it gives the claim up in time for the next one.
            let last = left == 0 || over();
            if let Ok(claim) = Self::new(device) {
                return Some(claim);
            }
            if last {
                break;
            }
            let pause = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
            _ = rustix::thread::nanosleep(&pause);
        }
        None
    }

    /// The number of the device.
    #[must_use]
    pub const fn index(&self) -> i32 {
        self.index
    }
}
