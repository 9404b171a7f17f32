//! The kernel's counters of a device.

use airfair_host::InterfaceCounters;
use airfair_schemes::places::{Capability, LinkUse};
use airfair_units::Time;

use super::{Counters, Fault, LoadSource};
use crate::netlink::{InterfaceTraffic, Interfaces};

/// Bytes of an Ethernet header, which the kernel's counters of a device have for each packet and IP does not.
const ETHERNET: u64 = 14;

/// The kernel's counters of a device: packets and bytes in both directions, no times.
#[derive(Debug)]
pub struct DeviceCounters {
    device: String,
    interfaces: Option<Interfaces>,
}

impl DeviceCounters {
    /// Those of a device of this process's network namespace.
    #[must_use]
    pub fn new(device: &str) -> Self {
        Self { device: device.to_string(), interfaces: None }
    }

    /// Packets and bytes of IP, those that are sent and those that are received.
    pub(super) fn link(&mut self) -> Result<LinkUse, Fault> {
        let unread = |error: crate::netlink::Error| Fault::Unread(error.to_string());
        let mut interfaces = match self.interfaces.take() {
            Some(interfaces) => interfaces,
            None => Interfaces::open().map_err(unread)?,
        };
        let traffic = interfaces.interface(&self.device).map_err(unread)?.traffic;
        self.interfaces = Some(interfaces);
        Ok(use_of(&traffic))
    }
}

fn use_of(traffic: &InterfaceTraffic) -> LinkUse {
    let ip = |bytes: u64, packets: u64| bytes.saturating_sub(ETHERNET.saturating_mul(packets));
    LinkUse {
        sent_packets: traffic.sent_packets,
        sent_bytes: ip(traffic.sent_bytes, traffic.sent_packets),
        received_packets: traffic.received_packets,
        received_bytes: ip(traffic.received_bytes, traffic.received_packets),
        ..LinkUse::default()
    }
}

impl LoadSource for DeviceCounters {
    fn read(&mut self, now: Time) -> Result<Option<Counters>, Fault> {
        let link = self.link()?;
        let traffic = link.sent_packets.saturating_add(link.received_packets);
        let interface =
            InterfaceCounters { at: now, airtime: None, link, traffic, ..InterfaceCounters::default() };
        Ok(Some(Counters::of(interface)))
    }

    fn offers(&self) -> (&'static [Capability], &'static [Capability]) {
        (&[Capability::Samples, Capability::LinkUse], &[])
    }

    fn words(&self) -> String {
        format!("the kernel's counters of {}", self.device)
    }
}
