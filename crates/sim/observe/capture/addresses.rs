//! Addresses of interfaces, made from the natural order of the nodes' names: the order of a file changes nothing.
//!
//! The nth node has the IP address 10.0.0.n, its ith interface (from 0 on) the locally administered MAC address 02:ii:00:00:00:nn: the last
//! three bytes of both are the same number.

use airfair_wire::{Ipv4Addr, MacAddr};

use crate::names::natural_ranks;
use crate::net::Behind;

#[derive(Debug)]
pub(super) struct Addresses {
    /// Number of each node, from 1 on.
    numbers: Vec<u32>,
    /// Node of each port, and which of its interfaces it is, from 0 on.
    ports: Vec<(u32, u16)>,
}

impl Addresses {
    pub(super) fn new(nodes: &[String], ports: &[(u32, Behind)]) -> Self {
        let names: Vec<&str> = nodes.iter().map(String::as_str).collect();
        let numbers = natural_ranks(&names).into_iter().map(|rank| rank + 1).collect();
        // The ports of a node stand one after the other.
        let mut counted = Vec::with_capacity(ports.len());
        for &(node, _) in ports {
            let before = counted.last().filter(|&&(last, _)| last == node);
            let number: u16 = before.map_or(0, |&(_, number): &(u32, u16)| number.wrapping_add(1));
            counted.push((node, number));
        }
        Self { numbers, ports: counted }
    }

    /// Whether it is no node: what is sent there is for all neighbours.
    pub(super) fn is_nobody(&self, node: u32) -> bool {
        node as usize >= self.numbers.len()
    }

    pub(super) fn ip(&self, node: u32) -> Ipv4Addr {
        // A message to all neighbours has no node.
        let Some(number) = self.numbers.get(node as usize) else { return Ipv4Addr::new(255, 255, 255, 255) };
        let [_, a, b, c] = number.to_be_bytes();
        Ipv4Addr::new(10, a, b, c)
    }

    pub(super) fn mac(&self, port: u32) -> MacAddr {
        let (node, interface) = self.ports[port as usize];
        let [_, a, b, c] = self.numbers[node as usize].to_be_bytes();
        let [high, low] = interface.to_be_bytes();
        // The two lowest bits of the first byte: local, and for one station.
        MacAddr([2 | high << 2, low, high >> 6, a, b, c])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::WireIx;

    #[test]
    fn addresses_follow_names_and_interfaces() {
        let nodes = ["b10", "b9", "a"].map(String::from);
        let ports = [(0, Behind::Station(0)), (0, Behind::Wire(WireIx(0))), (1, Behind::Station(1))];
        let addresses = Addresses::new(&nodes, &ports);
        assert_eq!([0, 1, 2].map(|n| addresses.ip(n).to_string()), ["10.0.0.3", "10.0.0.2", "10.0.0.1"]);
        assert_eq!(addresses.mac(0).to_string(), "02:00:00:00:00:03");
        assert_eq!(addresses.mac(1).to_string(), "02:01:00:00:00:03");
        assert_eq!(addresses.mac(2).to_string(), "02:00:00:00:00:02");
        assert!((0..3).all(|port| addresses.mac(port).is_local() && !addresses.mac(port).is_group()));
    }
}
