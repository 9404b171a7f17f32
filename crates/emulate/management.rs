//! The management network: each node has a device `mgmt0` with an address of its own range, which does not go over the air. Connections
//! that control a measurement, and readings of metrics, disturb nothing there.
//!
//! A hub, a namespace that belongs to no node, forwards between the nodes. The route to the range stands in a table of its own, which
//! routing programs do not read; the address has the scope of a host, which most of them do not announce (babeld does).

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, OwnedFd};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::netlink::{Address, Requests, Route, index_of};
use crate::sys;

/// The range, with its length.
const RANGE: (Ipv4Addr, u8) = (Ipv4Addr::new(172, 30, 0, 0), 16);

/// The hub's address.
const HUB: Ipv4Addr = Ipv4Addr::new(172, 30, 255, 254);

/// The table of the route.
const TABLE: u32 = 77;

/// Name of the device in a node.
pub(crate) const DEVICE: &str = "mgmt0";

/// The name under which the socket shows the hub, where no node is called so.
pub(crate) const HUB_NAME: &str = "mgmt";

/// The address of the node with a number.
#[must_use]
pub fn address(number: u16) -> Ipv4Addr {
    let [high, low] = number.to_be_bytes();
    Ipv4Addr::new(172, 30, high, low)
}

/// The namespace of the hub.
#[derive(Debug)]
pub(crate) struct Hub {
    pub network: OwnedFd,
}

impl Hub {
    /// Makes the hub.
    pub fn new() -> io::Result<Self> {
        on_own_thread(|| {
            sys::new_network()?;
            let network = sys::own_network()?;
            for (path, value) in
                [("ip_forward", "1"), ("conf/all/rp_filter", "0"), ("conf/default/rp_filter", "0")]
            {
                fs::write(format!("/proc/sys/net/ipv4/{path}"), value)?;
            }
            let mut requests = Requests::new()?;
            let loopback = index_of("lo")?;
            requests.set_up(loopback, None, None, None)?;
            requests.add_address(loopback, &Address::of(HUB.into()))?;
            requests.finish()?;
            Ok(Self { network })
        })
    }

    /// Joins the node in whose namespace the calling thread is.
    pub fn join(&self, number: u16) -> io::Result<()> {
        let mut requests = Requests::new()?;
        requests.add_pair(DEVICE, &name_at_hub(number), self.network.as_fd())?;
        requests.finish()?;
        let ipv6 = format!("/proc/sys/net/ipv6/conf/{DEVICE}/disable_ipv6");
        _ = fs::write(ipv6, "1");
        let device = index_of(DEVICE)?;
        let own = IpAddr::from(address(number));
        requests.set_up(device, None, None, None)?;
        requests.add_address(device, &Address { of_host: true, ..Address::of(own) })?;
        requests.finish()?;
        let route = Route {
            length: Some(RANGE.1),
            table: Some(TABLE),
            source: Some(own),
            ..Route::to(RANGE.0.into(), device)
        };
        requests.add_route(&Route { via: Some(HUB.into()), ..route })?;
        requests.add_rule(RANGE.0, RANGE.1, TABLE)?;
        requests.finish()
    }

    /// Lets the hub know the way to nodes that have joined.
    pub fn add_routes(&self, numbers: &[u16]) -> io::Result<()> {
        on_own_thread(|| {
            move_into_link_name_space(self.network.as_fd(), Some(LinkNameSpaceType::Network))?;
            let mut requests = Requests::new()?;
            for &number in numbers {
                let device = index_of(&name_at_hub(number))?;
                requests.set_up(device, None, None, None)?;
                requests.add_route(&Route::to(address(number).into(), device))?;
            }
            requests.finish()
        })
    }
}

fn name_at_hub(number: u16) -> String {
    format!("m{number}")
}

/// Runs a function on a thread of its own: a namespace is a thread's.
fn on_own_thread<T: Send>(function: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        scope.spawn(function).join().unwrap_or_else(|_| Err(io::Error::other("a thread has failed")))
    })
}
