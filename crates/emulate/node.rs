//! A node: a network namespace without a name, held by a descriptor, with a TAP device for each interface. All of it vanishes with this
//! process.

use std::fs;
use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;

use airfair_sim::ids::{NodeIx, PortIx};
use serde::{Deserialize, Serialize};

use crate::counters;
use crate::management::{self, Hub};
use crate::netlink::{Address, Requests, Route, index_of};
use crate::plan::NodePlan;
use crate::sys;

/// Frames that a device holds between the stack and the emulator, which reads it at once: more than a burst of a stack.
const DEVICE_QUEUE: u32 = 1000;

/// Settings of the namespace, by their paths below /proc/sys/net.
const SETTINGS: [(&str, &str); 13] = [
    ("ipv4/ip_forward", "1"),
    ("ipv6/conf/all/forwarding", "1"),
    // Routes of a mesh need not be symmetric, and a neighbour's redirect would be about a link that a node does not have.
    ("ipv4/conf/all/rp_filter", "0"),
    ("ipv4/conf/default/rp_filter", "0"),
    ("ipv4/conf/all/send_redirects", "0"),
    ("ipv4/conf/default/send_redirects", "0"),
    ("ipv4/conf/all/accept_redirects", "0"),
    ("ipv4/conf/default/accept_redirects", "0"),
    ("ipv6/conf/all/accept_redirects", "0"),
    ("ipv6/conf/default/accept_redirects", "0"),
    // Addresses follow from the plan: a search for duplicates would only make the first seconds silent.
    ("ipv6/conf/all/accept_dad", "0"),
    ("ipv6/conf/default/accept_dad", "0"),
    // No router advertises here.
    ("ipv6/conf/default/router_solicitations", "0"),
];

/// A device of a node.
#[derive(Debug)]
pub struct Tap {
    /// Reads and writes frames; none once a program has deleted the device.
    pub frames: Option<OwnedFd>,
    /// The node.
    pub node: NodeIx,
    /// The port in the world.
    pub port: PortIx,
}

/// A node's namespace.
#[derive(Debug)]
pub struct Node {
    /// The network namespace.
    pub network: OwnedFd,
}

/// The descriptors of a node that the emulator serves.
#[derive(Debug)]
pub(crate) struct Served {
    /// The devices in the order of the node's interfaces.
    pub taps: Vec<OwnedFd>,
    /// The socket at which programs in the node request counters.
    pub counters: OwnedFd,
}

/// Settings of the stacks that the user has chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stack {
    /// TCP's congestion control.
    pub congestion_control: Option<String>,
    /// True if TCP asks for ECN.
    pub ecn: bool,
}

/// Behaviour of this kernel's devices and stacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// TCP's congestion control.
    pub congestion_control: String,
    /// True if the kernel holds packets back where a device is full, instead of dropping them: kernels after 6.18 may.
    pub devices_hold_back: bool,
}

/// Tries out in a namespace that vanishes what this kernel does.
///
/// # Errors
/// The kernel's refusal of a namespace, or of the stacks' settings.
pub fn try_out(stack: &Stack) -> Result<Tried, String> {
    std::thread::scope(|scope| {
        let tries = || {
            sys::new_network().map_err(|error| format!("a network namespace: {error}"))?;
            set_stack(stack)?;
            let congestion_control = fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control")
                .map_or_else(|_| "unknown".to_string(), |text| text.trim().to_string());
            let devices_hold_back = hold_back().map_err(|error| format!("a TAP device: {error}"))?;
            Ok(Tried { congestion_control, devices_hold_back })
        };
        scope.spawn(tries).join().unwrap_or_else(|_| Err("a thread has failed".to_string()))
    })
}

/// True if a device that nobody reads keeps all of more packets than it can hold waiting.
fn hold_back() -> io::Result<bool> {
    use rustix::net::{AddressFamily, SendFlags, SocketType, sendto, socket};
    use std::net::{Ipv4Addr, SocketAddrV4};
    const HOLDS: u32 = 10;
    let _device = sys::open_tap("wl0")?;
    let mut requests = Requests::new()?;
    let index = index_of("wl0")?;
    requests.set_up(index, None, None, Some(HOLDS))?;
    requests.add_address(index, &Address::of(Ipv4Addr::new(10, 0, 0, 1).into()))?;
    requests.finish()?;
    let sender = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    rustix::net::sockopt::set_socket_broadcast(&sender, true)?;
    requests.add_route(&Route::to(Ipv4Addr::BROADCAST.into(), index))?;
    _ = requests.finish();
    for _ in 0..3 * HOLDS {
        _ = sendto(&sender, b"full", SendFlags::empty(), &SocketAddrV4::new(Ipv4Addr::BROADCAST, 9));
    }
    Ok(dropped()? == 0)
}

/// Makes the namespace of a node, with devices, addresses and routes.
///
/// # Errors
/// The kernel's refusal, with the node and what was tried.
pub(crate) fn make(plan: &NodePlan, stack: &Stack, hub: Option<&Hub>) -> Result<(Node, Served), String> {
    // A namespace is a thread's: this one ends with it, the descriptor keeps the namespace.
    std::thread::scope(|scope| {
        let maker = scope.spawn(|| in_new_network(plan, stack, hub));
        maker.join().unwrap_or_else(|_| Err("a thread has failed".to_string()))
    })
    .map_err(|problem| format!("node {}: {problem}", plan.name))
}

fn in_new_network(plan: &NodePlan, stack: &Stack, hub: Option<&Hub>) -> Result<(Node, Served), String> {
    let what = |what: &'static str| move |error: io::Error| format!("{what}: {error}");
    sys::new_network().map_err(what("a network namespace"))?;
    let network = sys::own_network().map_err(what("the network namespace"))?;
    for (path, value) in SETTINGS {
        fs::write(format!("/proc/sys/net/{path}"), value).map_err(|error| format!("net/{path}: {error}"))?;
    }
    set_stack(stack)?;
    let mut requests = Requests::new().map_err(what("a netlink socket"))?;
    let loopback = index_of("lo").map_err(what("lo"))?;
    requests.set_up(loopback, None, None, None).map_err(what("lo"))?;
    let (mut taps, mut indices) = (Vec::new(), Vec::new());
    for interface in &plan.interfaces {
        let device = &interface.device;
        let named = |error: io::Error| format!("device {device}: {error}");
        let frames = sys::open_tap(device).map_err(named)?;
        let index = index_of(device).map_err(named)?;
        // The address of a device that is up cannot be changed.
        requests
            .set_up(index, Some(interface.mac), Some(crate::source::MTU), Some(DEVICE_QUEUE))
            .map_err(named)?;
        for address in [IpAddr::from(plan.ipv4), IpAddr::from(plan.ipv6)] {
            requests.add_address(index, &Address::of(address)).map_err(named)?;
        }
        taps.push(frames);
        indices.push(index);
    }
    requests.finish().map_err(what("devices"))?;
    for route in &plan.routes {
        for (family, to) in route.to.into_iter().enumerate() {
            let via = route.via.map(|via| via[family]);
            let route = Route { via, ..Route::to(to, indices[route.interface]) };
            requests.add_route(&route).map_err(what("routes"))?;
        }
    }
    requests.finish().map_err(what("routes"))?;
    if let Some(hub) = hub {
        hub.join(plan.number).map_err(|error| format!("device {}: {error}", management::DEVICE))?;
    }
    let counters = counters::socket().map_err(what("the socket of counters"))?;
    Ok((Node { network }, Served { taps, counters }))
}

/// Sets what the user has chosen in the namespace of the calling thread.
fn set_stack(stack: &Stack) -> Result<(), String> {
    const ALLOWED: &str = "net.ipv4.tcp_allowed_congestion_control";
    fs::write("/proc/sys/net/ipv4/tcp_ecn", if stack.ecn { "1" } else { "2" })
        .map_err(|error| format!("TCP's ECN: {error}"))?;
    let Some(name) = &stack.congestion_control else { return Ok(()) };
    fs::write("/proc/sys/net/ipv4/tcp_congestion_control", name).map_err(|error| {
        let known =
            fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
        if known.split_whitespace().any(|known| known == name) {
            format!("congestion control {name}: {error}: this machine's {ALLOWED} has not got it (sysctl -w)")
        } else {
            format!("congestion control {name}: the kernel has {}", known.trim())
        }
    })
}

/// Frames that the kernel has dropped at the devices of a node since they were made: a fault of the emulation, of which the scenario knows
/// nothing.
///
/// # Errors
/// Where the namespace cannot be entered.
pub fn dropped_at_devices(node: &Node) -> io::Result<u64> {
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| -> io::Result<u64> {
            use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
            use std::os::fd::AsFd;
            move_into_link_name_space(node.network.as_fd(), Some(LinkNameSpaceType::Network))?;
            dropped()
        });
        reader.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
    })
}

/// Frames that the kernel has dropped at the devices of the calling thread's namespace. Those of a device that is down do not count: a
/// program has set it down, and the kernel drops what others still send there.
fn dropped() -> io::Result<u64> {
    let text = fs::read_to_string("/proc/thread-self/net/dev")?;
    // Name, eight numbers of reception, then bytes, packets, errors and drops of transmission.
    let dropped = |line: &str| {
        let (name, numbers) = line.split_once(':')?;
        let sent = numbers.split_whitespace().nth(11)?.parse::<u64>().ok()?;
        let name = name.trim();
        let is_radio_or_wire = name.starts_with("wl") || name.starts_with("eth");
        (is_radio_or_wire && sent > 0 && sys::is_up(name).unwrap_or(true)).then_some(sent)
    };
    Ok(text.lines().filter_map(dropped).sum())
}
