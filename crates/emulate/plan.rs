//! Addresses, host names and routes of the nodes, by values of the world.
//!
//! The addresses are those of the simulator's captures, from the natural order of the nodes' names; the order of a file changes nothing.
//! All interfaces of a node have its addresses, as routers of meshes do without subnets on their links; a route names the interface.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use airfair_sim::ids::{NodeIx, PortIx};
use airfair_sim::{PortEnd, World};
use airfair_wire::MacAddr;

use crate::management;

/// Most nodes: their numbers are the last two bytes of their addresses.
pub const MOST_NODES: usize = 50_000;

/// Most interfaces of a node.
pub const MOST_INTERFACES: usize = 200;

/// Names of hosts that mean something else.
const RESERVED: [&str; 3] = ["localhost", "mgmt", "ip6-localhost"];

/// A node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodePlan {
    /// The node in the world.
    pub node: NodeIx,
    /// The name in the scenario.
    pub name: String,
    /// The name as a host: the same with letters, digits, dots and hyphens only, and an "n" before a number.
    pub host: String,
    /// The last bytes of its addresses.
    pub number: u16,
    /// The address of all interfaces.
    pub ipv4: Ipv4Addr,
    /// The address of all interfaces.
    pub ipv6: Ipv6Addr,
    /// Radios, then wires.
    pub interfaces: Vec<InterfacePlan>,
    /// Routes to other nodes.
    pub routes: Vec<RoutePlan>,
}

/// An interface of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterfacePlan {
    /// The port in the world.
    pub port: PortIx,
    /// Name of the device: `wl0`, `wl1` and so on of radios, `eth0` and so on of wires.
    pub device: String,
    /// The station's address.
    pub mac: MacAddr,
}

/// A route of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoutePlan {
    /// Addresses of the destination.
    pub to: [IpAddr; 2],
    /// Those of the next hop, if it is another node.
    pub via: Option<[IpAddr; 2]>,
    /// The interface, by its place.
    pub interface: usize,
}

/// The plan of a world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The nodes, in the order of the world.
    pub nodes: Vec<NodePlan>,
    /// Nodes by the addresses of their interfaces.
    pub by_mac: BTreeMap<MacAddr, NodeIx>,
    /// Nodes by their addresses.
    pub by_ip: BTreeMap<IpAddr, NodeIx>,
}

/// Names of hosts: those of the nodes as far as a host may be called so, after an "n" if they are numbers; of two that become the same the
/// later has its rank in it.
fn host_names(sorted: &[(&str, NodeIx)]) -> BTreeMap<NodeIx, String> {
    let mut taken = BTreeSet::new();
    let mut hosts = BTreeMap::new();
    for (rank, &(name, node)) in sorted.iter().enumerate() {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
        let host: String = name.chars().map(|c| if fits(c) { c } else { '-' }).take(60).collect();
        let host = host.trim_matches(['-', '.']).to_string();
        // A number would be read as an address.
        let is_number = host.chars().all(|c| c.is_ascii_digit() || c == '.');
        let host = if is_number { format!("n{host}") } else { host };
        // Names of hosts are the same in capitals and small letters.
        let is_free = |host: &str| {
            let host = host.to_ascii_lowercase();
            !taken.contains(&host) && !RESERVED.contains(&host.as_str()) && !host.ends_with(".mgmt")
        };
        let mut free = host.clone();
        let mut number = rank;
        while !is_free(&free) {
            free = format!("{}-{number}", host[..host.len().min(50)].trim_end_matches(".mgmt"));
            number += sorted.len();
        }
        let host = free;
        taken.insert(host.to_ascii_lowercase());
        hosts.insert(node, host);
    }
    hosts
}

impl Plan {
    /// The plan of a world; with `routes` its static routes are those of the nodes, without them a program in the nodes finds routes.
    ///
    /// # Errors
    /// Names what is too much: nodes, or interfaces of one.
    pub fn of(world: &mut World, routes: bool) -> Result<Self, String> {
        let entries = if routes { world.next_hops() } else { Vec::new() };
        let names: Vec<String> = world.names().nodes.iter().map(ToString::to_string).collect();
        if names.len() > MOST_NODES {
            return Err(format!("{} nodes: expected at most {MOST_NODES}", names.len()));
        }
        let mut sorted: Vec<(&str, NodeIx)> =
            names.iter().enumerate().map(|(at, name)| (name.as_str(), NodeIx(at as u32))).collect();
        sorted.sort();
        let hosts = host_names(&sorted);
        let addresses = world.addresses();
        let mut plan = Self { nodes: Vec::new(), by_mac: BTreeMap::new(), by_ip: BTreeMap::new() };
        for (at, name) in names.iter().enumerate() {
            let node = NodeIx(at as u32);
            let ports = world.ports_of(node);
            if ports.len() > MOST_INTERFACES {
                return Err(format!(
                    "node {name}: {} interfaces: expected at most {MOST_INTERFACES}",
                    ports.len()
                ));
            }
            let (mut radios, mut wires) = (0, 0);
            let number = addresses.number(node).unwrap_or_default() as u16;
            let (ipv4, ipv6) = (addresses.ip(node), Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, number));
            let interface = |(port, end): (PortIx, PortEnd)| {
                let (kind, number) = match end {
                    PortEnd::Radio(_) => ("wl", &mut radios),
                    PortEnd::Wire(_) => ("eth", &mut wires),
                };
                let device = format!("{kind}{number}");
                *number += 1;
                InterfacePlan { port, device, mac: addresses.mac(port) }
            };
            let interfaces: Vec<InterfacePlan> = ports.into_iter().map(interface).collect();
            plan.by_mac.extend(interfaces.iter().map(|interface| (interface.mac, node)));
            plan.by_ip.extend([(ipv4.into(), node), (ipv6.into(), node)]);
            let host = hosts[&node].clone();
            plan.nodes.push(NodePlan {
                node,
                name: name.clone(),
                host,
                number,
                ipv4,
                ipv6,
                interfaces,
                routes: Vec::new(),
            });
        }
        for entry in entries {
            let both = |node: NodeIx| {
                let of = &plan.nodes[node.0 as usize];
                [IpAddr::from(of.ipv4), IpAddr::from(of.ipv6)]
            };
            let (to, via) = (both(entry.destination), both(entry.next_hop));
            let via = (entry.next_hop != entry.destination).then_some(via);
            let of = &mut plan.nodes[entry.node.0 as usize];
            if let Some(interface) = of.interfaces.iter().position(|interface| interface.port == entry.port) {
                of.routes.push(RoutePlan { to, via, interface });
            }
        }
        Ok(plan)
    }

    /// The text of `/etc/hosts` in all nodes; with `managed` their addresses in the management network too.
    #[must_use]
    pub fn hosts(&self, managed: bool) -> String {
        let mut text = "127.0.0.1 localhost\n::1 localhost\n".to_string();
        for node in &self.nodes {
            _ = writeln!(text, "{} {host}\n{} {host}", node.ipv4, node.ipv6, host = node.host);
            if managed {
                _ = writeln!(text, "{} {}.mgmt", management::address(node.number), node.host);
            }
        }
        text
    }

    /// A node by its name, or by that of its host.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&NodePlan> {
        let by = |of: fn(&NodePlan) -> &str| self.nodes.iter().find(|node| of(node) == name);
        by(|node| &node.name).or_else(|| by(|node| &node.host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_hosts() {
        let names = ["", "3", "a b", "a-b", "ap.1", "10.77.0.1", "-x-", "A-B", "localhost", "a-b-3"];
        let sorted: Vec<(&str, NodeIx)> =
            names.iter().zip(0..).map(|(&name, at)| (name, NodeIx(at))).collect();
        let hosts: Vec<String> = host_names(&sorted).into_values().collect();
        assert_eq!(
            hosts,
            ["n", "n3", "a-b", "a-b-3", "ap.1", "n10.77.0.1", "x", "A-B-7", "localhost-8", "a-b-3-9"]
        );
    }
}
