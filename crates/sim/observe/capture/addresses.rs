//! Addresses of interfaces, from the natural order of the nodes' names: they do not depend on the order of a file.
//!
//! The nth node has the IP address 10.0.0.n; its ith interface (from 0 on) has the locally administered MAC address 02:ii:00:00:00:nn. The
//! last three bytes of both are the same number.

use airfair_wire::{Ipv4Addr, MacAddr};

use crate::ids::{NodeIx, PortIx, Table};
use crate::names::natural_orders;

/// Addresses of nodes and of their interfaces.
#[derive(Debug)]
pub struct Addresses {
    /// Number of each node, from 1 on.
    numbers: Table<NodeIx, u32>,
    /// Node of each port, and number of the interface at that node, from 0 on.
    ports: Table<PortIx, (NodeIx, u16)>,
}

impl Addresses {
    pub(crate) fn new(nodes: &[String], ports: impl Iterator<Item = NodeIx>) -> Self {
        let names: Vec<&str> = nodes.iter().map(String::as_str).collect();
        let numbers = natural_orders(&names).into_iter().map(|rank| rank + 1).collect();
        // The ports of a node are adjacent.
        let mut before: Option<(NodeIx, u16)> = None;
        let port = |node: NodeIx| {
            let number =
                before.filter(|before| before.0 == node).map_or(0, |before| before.1.wrapping_add(1));
            *before.insert((node, number))
        };
        Self { numbers, ports: ports.map(port).collect() }
    }

    /// True if it is no node: packets to it are for all neighbours.
    pub(super) fn is_nobody(&self, node: NodeIx) -> bool {
        self.numbers.get(node).is_none()
    }

    /// The number of a node, from 1 on: the last three bytes of its addresses. `None` for what is no node.
    #[must_use]
    pub fn number(&self, node: NodeIx) -> Option<u32> {
        self.numbers.get(node).copied()
    }

    /// The address of a node; that of all for what is no node.
    #[must_use]
    pub fn ip(&self, node: NodeIx) -> Ipv4Addr {
        // A message to all neighbours has no node.
        let Some(number) = self.number(node) else { return Ipv4Addr::new(255, 255, 255, 255) };
        let [_, a, b, c] = number.to_be_bytes();
        Ipv4Addr::new(10, a, b, c)
    }

    /// The address of an interface.
    #[must_use]
    pub fn mac(&self, port: PortIx) -> MacAddr {
        let (node, interface) = self.ports[port];
        let [_, a, b, c] = self.numbers[node].to_be_bytes();
        let [high, low] = interface.to_be_bytes();
        // The two lowest bits of the first byte: locally administered, individual.
        MacAddr([2 | high << 2, low, high >> 6, a, b, c])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_follow_names_and_interfaces() {
        let nodes = ["b10", "b9", "a"].map(String::from);
        let addresses = Addresses::new(&nodes, [0, 0, 1].map(NodeIx).into_iter());
        let ips = [0, 1, 2].map(|node| addresses.ip(NodeIx(node)).to_string());
        assert_eq!(ips, ["10.0.0.3", "10.0.0.2", "10.0.0.1"]);
        assert_eq!(addresses.mac(PortIx(0)).to_string(), "02:00:00:00:00:03");
        assert_eq!(addresses.mac(PortIx(1)).to_string(), "02:01:00:00:00:03");
        assert_eq!(addresses.mac(PortIx(2)).to_string(), "02:00:00:00:00:02");
        let macs = (0..3).map(|port| addresses.mac(PortIx(port)));
        assert!(macs.into_iter().all(|mac| mac.is_local() && !mac.is_group()));
    }
}
