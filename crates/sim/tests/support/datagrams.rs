//! Datagrams as bytes, each with its number.

use airfair_wire::ipv4::{Ecn, PayloadLen, Protocol};
use airfair_wire::{Ipv4, Ipv4Addr, Udp, checksum, udp};

/// The address of a node.
pub const fn address(node: u32) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, node as u8)
}

/// A datagram of 1000 bytes that holds its number. Those below 500 go from node 0 to node 2, the others back; each third one has no ECN.
pub fn datagram(number: u32, marked: bool, ttl: u8) -> (u32, Vec<u8>) {
    let [from, to] = if number < 500 { [0, 2] } else { [2, 0] };
    let ecn = if marked { Ecn::Ce } else { [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1][number as usize % 3] };
    let mut payload = [0; 972];
    payload[..4].copy_from_slice(&number.to_be_bytes());
    let ports = Udp::new(1000, 2000, udp::PayloadLen::saturating(0));
    let header = ports.with_payload(address(from), address(to), &payload).unwrap();
    let ip = Ipv4::new(Protocol::UDP, address(from), address(to), PayloadLen::saturating(980));
    let mut packet = vec![0; 1000];
    Ipv4 { ecn, ttl, ..ip }.encode(&mut packet).unwrap();
    header.encode(&mut packet[20..]).unwrap();
    packet[28..].copy_from_slice(&payload);
    (from, packet)
}

/// The number of a datagram.
pub fn number_of(packet: &[u8]) -> u32 {
    u32::from_be_bytes(packet[28..32].try_into().unwrap())
}

/// Takes one hop from those that a packet may make, as a router does.
pub fn one_hop_less(packet: &mut [u8]) {
    let word = |at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
    let (old, new) = (word(8), word(8) - 0x100);
    let sum = checksum::updated(word(10), old, new);
    packet[8..10].copy_from_slice(&new.to_be_bytes());
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
}
