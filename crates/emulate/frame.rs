//! The part of a frame that air, queues and schemes need to know, and marks.

use airfair_schemes::places::{Ecn, PacketClass};
use airfair_wire::address::MacAddr;
use airfair_wire::ethernet::{EtherType, Ethernet};
use airfair_wire::five_tuple::Class;
use airfair_wire::ip::{Ip, set_ce};
use airfair_wire::ipv4;
use airfair_wire::tcp::set_ece;

use crate::flows::Counted;

/// A frame of a stack, from its Ethernet header on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// The station that it is for; a group address is for all that receive it.
    pub to: MacAddr,
    /// Type of its payload.
    pub ether_type: EtherType,
    /// The IP packet, as its flow counts it.
    pub counted: Option<Counted>,
    /// Number of its flow; none for what is no IP packet.
    pub flow: Option<u32>,
    /// Data, or an acknowledgement without data.
    pub class: PacketClass,
    /// ECN field.
    pub ecn: Ecn,
    /// DSCP.
    pub dscp: u8,
    /// Bytes after the Ethernet header.
    pub size: u32,
}

impl Seen {
    /// Looks at a frame; `seed` is the key of the numbers of flows. None for bytes that are no Ethernet frame with a type. A payload that
    /// is damaged is carried as one of no flow: the receiving stack decides.
    #[must_use]
    pub fn of(frame: &[u8], seed: u64) -> Option<Self> {
        let (header, payload) = Ethernet::decode(frame).ok()?;
        let mut seen = Self {
            to: header.destination,
            ether_type: header.ether_type,
            counted: None,
            flow: None,
            class: PacketClass::Data,
            ecn: Ecn::NotEct,
            dscp: 0,
            size: u32::try_from(payload.len()).ok()?,
        };
        if let Ok(Some(packet)) = Ip::decode(header.ether_type, payload) {
            let counted = Counted::of(&packet);
            seen.flow = Some(counted.tuple.flow(seed));
            seen.counted = Some(counted);
            seen.class = Class::new(&packet).into();
            seen.ecn = match packet.ecn {
                ipv4::Ecn::NotEct => Ecn::NotEct,
                ipv4::Ecn::Ect0 | ipv4::Ecn::Ect1 => Ecn::Ect,
                ipv4::Ecn::Ce => Ecn::Ce,
            };
            seen.dscp = packet.dscp.get();
        }
        Some(seen)
    }

    /// True of a frame for more than one station.
    #[must_use]
    pub const fn is_for_group(&self) -> bool {
        self.to.0[0] & 1 == 1
    }
}

/// Marks the IP packet in a frame as having met congestion. True if it carries the mark now.
pub fn mark(frame: &mut [u8]) -> bool {
    let Ok((header, _)) = Ethernet::decode(frame) else { return false };
    let payload = frame.get_mut(Ethernet::wire_len()..).unwrap_or_default();
    set_ce(header.ether_type, payload).unwrap_or(false)
}

/// Sets ECN-Echo in the TCP segment in a frame. True if it has it now.
pub fn echo(frame: &mut [u8]) -> bool {
    let Ok((header, _)) = Ethernet::decode(frame) else { return false };
    let payload = frame.get_mut(Ethernet::wire_len()..).unwrap_or_default();
    set_ece(header.ether_type, payload).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use airfair_wire::checksum::Checksum;

    /// 20 bytes of IPv4 and an acknowledgement of TCP, ECT(0), DSCP 46; the checksum of the header is right.
    fn acknowledgement() -> Vec<u8> {
        let mut frame = vec![2, 0xaf, 0, 0, 0, 1, 2, 0xaf, 0, 0, 0, 0, 8, 0];
        let mut ip = vec![0x45, 46 << 2 | 2, 0, 40, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2];
        let sum = Checksum::new().with(&ip).finish();
        ip[10..12].copy_from_slice(&sum.to_be_bytes());
        frame.extend(ip);
        frame.extend([0x1b, 0x58, 0x1b, 0x59, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 1, 0, 0, 0, 0, 0]);
        frame
    }

    #[test]
    fn a_frame_is_seen_and_marked() {
        let mut frame = acknowledgement();
        let seen = Seen::of(&frame, 1).unwrap();
        assert_eq!((seen.class, seen.ecn, seen.dscp, seen.size), (PacketClass::Ack, Ecn::Ect, 46, 40));
        assert!(!seen.is_for_group() && seen.flow.is_some());
        assert_eq!(
            seen.counted.map(|of| [of.tuple.source, of.tuple.destination].map(|end| end.to_string())),
            Some(["10.77.0.1", "10.77.0.2"].map(String::from))
        );
        assert!(mark(&mut frame));
        let marked = Seen::of(&frame, 1).unwrap();
        assert_eq!((marked.ecn, marked.flow), (Ecn::Ce, seen.flow));
        assert_eq!(Checksum::new().with(&frame[14..34]).sum(), 0xffff, "the checksum is right");
    }

    #[test]
    fn an_acknowledgement_echoes() {
        use airfair_wire::tcp::Tcp;
        let addresses = [[10, 77, 0, 1], [10, 77, 0, 2]].map(std::net::Ipv4Addr::from);
        let mut frame = acknowledgement();
        let (header, _) = Tcp::decode(&frame[34..]).unwrap();
        header.with_payload(addresses[0], addresses[1], &[]).unwrap().encode(&mut frame[34..]).unwrap();
        assert!(echo(&mut frame) && echo(&mut frame), "twice is once");
        Tcp::verify(addresses[0], addresses[1], &frame[34..]).unwrap();
        assert!(Tcp::decode(&frame[34..]).unwrap().0.flags.ece);
        // No TCP.
        let mut other = acknowledgement();
        other[23] = 17;
        assert!(!echo(&mut other));
    }

    #[test]
    fn what_is_no_packet_is_carried_as_one_of_no_flow() {
        let arp = [&[0xff; 6][..], &[2, 0xaf, 0, 0, 0, 0, 8, 6], &[0; 28]].concat();
        let seen = Seen::of(&arp, 1).unwrap();
        assert!(seen.is_for_group() && seen.flow.is_none() && seen.counted.is_none());
        let mut cut = acknowledgement();
        cut.truncate(20);
        assert_eq!(Seen::of(&cut, 1).unwrap().flow, None);
        assert!(!mark(&mut cut) && !mark(&mut [0; 5]));
        assert_eq!(Seen::of(&[0; 13], 1), None);
        // 802.3 with a length.
        assert_eq!(Seen::of(&[0; 60], 1), None);
    }

    /// Whatever a stack sends, or a program that writes to a device by itself: no panic, and a mark changes no length.
    #[test]
    fn random_and_mutated_frames() {
        use airfair_units::random::{Purpose, Stream};
        let mut random = Stream::new(1, "frames", Purpose::Gap);
        for round in 0..20_000 {
            let mut frame = acknowledgement();
            if round % 2 == 0 {
                frame = (0..random.next_u32() % 90).map(|_| random.next_u32() as u8).collect();
                if frame.len() >= 14 {
                    frame[12..14].copy_from_slice(if round % 4 == 0 { &[8, 0] } else { &[0x86, 0xdd] });
                }
            }
            for _ in 0..random.next_u32() % 4 {
                let at = random.next_u32() as usize % frame.len().max(1);
                frame.get_mut(at).into_iter().for_each(|byte| *byte = random.next_u32() as u8);
            }
            let length = frame.len();
            let seen = Seen::of(&frame, 1);
            let marked = mark(&mut frame);
            echo(&mut frame);
            assert_eq!(frame.len(), length);
            assert!(!marked || seen.is_some_and(|seen| seen.ecn != Ecn::NotEct));
        }
    }
}
