//! The position of every bit, and the refusal of every invalid field value.

use airfair_wire::ieee80211::{
    AckPolicy, Addresses, Cts, DataHeader, FrameControl, FrameKind, NavDuration, QosControl, Rts,
    SequenceControl, Tid,
};
use airfair_wire::ipv4::{Dscp, Ecn, FragmentOffset, PayloadLen};
use airfair_wire::llc::Encapsulation;
use airfair_wire::{
    Arp, DecodeError, EtherType, Ethernet, Expected, Header, Ipv4, LlcSnap, MacAddr, Udp, checksum,
};

/// IEEE 802.11-2016 Figure 9-2 (the flags) and Table 9-1 (types and subtypes).
#[test]
fn frame_control_bits() {
    type Set = fn(&mut FrameControl);
    let flags: [(u8, Set); 8] = [
        (0x01, |f| f.to_ds = true),
        (0x02, |f| f.from_ds = true),
        (0x04, |f| f.more_fragments = true),
        (0x08, |f| f.retry = true),
        (0x10, |f| f.power_management = true),
        (0x20, |f| f.more_data = true),
        (0x40, |f| f.protected = true),
        (0x80, |f| f.htc_or_order = true),
    ];
    for (bit, set) in flags {
        let mut field = FrameControl::new(FrameKind::Data);
        set(&mut field);
        assert_eq!(FrameControl::decode(&[0x08, bit]), Ok((field, &[][..])));
        let mut encoded = [0; 2];
        assert_eq!(field.encode(&mut encoded), Ok(2));
        assert_eq!(encoded, [0x08, bit]);
    }
    let kinds = [
        (0b01, 0b1011, FrameKind::Rts),
        (0b01, 0b1100, FrameKind::Cts),
        (0b01, 0b1101, FrameKind::Ack),
        (0b01, 0b1110, FrameKind::CfEnd),
        (0b10, 0b0000, FrameKind::Data),
        (0b10, 0b0100, FrameKind::Null),
        (0b10, 0b1000, FrameKind::QosData),
        (0b10, 0b1100, FrameKind::QosNull),
    ];
    for first in 0..=u8::MAX {
        let found = FrameControl::decode(&[first, 0]).ok().map(|(field, _)| field.kind);
        let listed = kinds.iter().find(|&&(kind, subtype, _)| first == subtype << 4 | kind << 2);
        assert_eq!(found, listed.map(|&(_, _, kind)| kind));
    }
}

/// IEEE 802.11-2016 Table 9-26: the meaning of addresses 1 to 4.
#[test]
fn address_roles() {
    let [one, two, three, four] = [1, 2, 3, 4].map(|last| MacAddr([2, 0, 0, 0, 0, last]));
    // To DS and From DS, then the positions of DA and SA.
    let table = [
        (0x00, Addresses::Direct { destination: one, source: two, bssid: three }, one, two),
        (0x02, Addresses::FromDs { destination: one, bssid: two, source: three }, one, three),
        (0x01, Addresses::ToDs { bssid: one, source: two, destination: three }, three, two),
        (
            0x03,
            Addresses::Relay { receiver: one, transmitter: two, destination: three, source: four },
            three,
            four,
        ),
    ];
    for (flags, addresses, destination, source) in table {
        let mut bytes = vec![0x08, flags, 0, 0];
        [one, two, three].iter().for_each(|address| bytes.extend(address.0));
        bytes.extend([0, 0]);
        if flags == 0x03 {
            bytes.extend(four.0);
        }
        let expected = DataHeader::new(addresses, NavDuration::default(), SequenceControl::default());
        assert_eq!(DataHeader::decode(&bytes), Ok((expected, &[][..])));
        assert_eq!((addresses.receiver(), addresses.transmitter()), (one, two));
        assert_eq!((addresses.destination(), addresses.source()), (destination, source));
    }
}

/// IEEE 802.11-2016 Table 9-6: the bits of QoS Control; HT Control follows if +HTC is set.
#[test]
fn qos_bits() {
    let qos = |low, upper| {
        let mut bytes = vec![0x88, 0x80];
        bytes.resize(24, 0);
        bytes.extend([low, upper, 0x78, 0x56, 0x34, 0x12]);
        DataHeader::decode(&bytes).unwrap().0.qos.unwrap()
    };
    let plain = QosControl { ht_control: Some(0x1234_5678), ..Default::default() };
    assert_eq!(qos(0x0d, 0), QosControl { tid: Tid::new(13).unwrap(), ..plain });
    assert_eq!(qos(0x10, 0), QosControl { eosp: true, ..plain });
    assert_eq!(qos(0x20, 0), QosControl { ack_policy: AckPolicy::NoAck, ..plain });
    assert_eq!(qos(0x40, 0), QosControl { ack_policy: AckPolicy::NoExplicit, ..plain });
    assert_eq!(qos(0x60, 0), QosControl { ack_policy: AckPolicy::Block, ..plain });
    assert_eq!(qos(0x80, 0), QosControl { amsdu: true, ..plain });
    assert_eq!(qos(0, 0xa5), QosControl { upper: 0xa5, ..plain });
}

/// RFC 791 §3.1, RFC 2474 §3 and RFC 3168 §5.
#[test]
fn ipv4_bits() {
    let header = |traffic_class, flags: u16| {
        let mut bytes = [0; 20];
        bytes[..4].copy_from_slice(&[0x45, traffic_class, 0, 20]);
        bytes[6..8].copy_from_slice(&flags.to_be_bytes());
        let checksum = checksum::Checksum::new().with(&bytes).finish();
        bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
        Ipv4::decode(&bytes).unwrap().0
    };
    assert_eq!((header(0xb8, 0).dscp, header(0xb8, 0).ecn), (Dscp::new(46).unwrap(), Ecn::NotEct));
    assert_eq!([1, 2, 3].map(|bits| header(bits, 0).ecn), [Ecn::Ect1, Ecn::Ect0, Ecn::Ce]);
    assert!(header(0, 0x4000).dont_fragment && !header(0, 0xbfff).dont_fragment);
    assert!(header(0, 0x2000).more_fragments && !header(0, 0xdfff).more_fragments);
    assert_eq!(header(0, 0x1fff).fragment_offset, FragmentOffset::MAX);
    assert_eq!(PayloadLen::new(65_516), None);
    assert_eq!(
        (PayloadLen::saturating(u16::MAX).get(), PayloadLen::MAX.to_string().as_str()),
        (65_515, "65515")
    );
}

/// The field that is refused, and its offset in bytes.
fn refused<T: std::fmt::Debug>(result: Result<T, DecodeError>) -> (Header, usize, &'static str) {
    match result {
        Err(DecodeError { header, offset, expected: Expected::Value { field, .. } }) => {
            (header, offset, field)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn refused_values() {
    let ip = |change: &[(usize, u8)]| {
        let mut bytes = [0; 60];
        bytes[..4].copy_from_slice(&[0x45, 0, 0, 60]);
        change.iter().for_each(|&(at, byte)| bytes[at] = byte);
        let len = (usize::from(bytes[0] & 0x0f) * 4).max(20);
        let checksum = checksum::Checksum::new().with(&bytes[..len]).finish();
        bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
        Ipv4::decode(&bytes).map(|(header, payload)| (header, payload.len()))
    };
    assert!(ip(&[]).is_ok());
    assert_eq!(refused(ip(&[(0, 0x65)])), (Header::Ipv4, 0, "version"));
    assert_eq!(refused(ip(&[(0, 0x44)])), (Header::Ipv4, 0, "header length"));
    assert_eq!(refused(ip(&[(0, 0x46), (3, 23)])), (Header::Ipv4, 2, "total length"));
    let expected = Expected::Bytes { needed: 41, available: 40 };
    assert_eq!(ip(&[(3, 61)]), Err(DecodeError { header: Header::Ipv4, offset: 20, expected }));

    assert_eq!(refused(Udp::decode(&[0, 1, 0, 2, 0, 7, 0, 0])), (Header::Udp, 4, "length"));

    let arp = |at: usize, byte| {
        let mut bytes = [0; 28];
        bytes[..8].copy_from_slice(&[0, 1, 8, 0, 6, 4, 0, 2]);
        bytes[at] = byte;
        Arp::decode(&bytes).map(|(packet, _)| packet)
    };
    assert!(arp(7, 1).is_ok());
    assert_eq!(refused(arp(1, 6)), (Header::Arp, 0, "hardware type"));
    assert_eq!(refused(arp(2, 9)), (Header::Arp, 2, "protocol type"));
    assert_eq!(refused(arp(4, 8)), (Header::Arp, 4, "address lengths"));
    assert_eq!(refused(arp(7, 0)), (Header::Arp, 6, "operation"));
    assert_eq!(refused(arp(7, 3)), (Header::Arp, 6, "operation"));

    let sap = LlcSnap::decode(&[0x42, 0x42, 3, 0, 0, 0, 8, 0]);
    assert_eq!(refused(sap), (Header::LlcSnap, 0, "DSAP, SSAP and control"));
    let oui = LlcSnap::decode(&[0xaa, 0xaa, 3, 0, 0, 0x0c, 0x20, 0]);
    assert_eq!(refused(oui), (Header::LlcSnap, 3, "organisation code"));
    let (tunnel, _) = LlcSnap::decode(&[0xaa, 0xaa, 3, 0, 0, 0xf8, 0x80, 0xf3]).unwrap();
    assert_eq!(tunnel.encapsulation, Encapsulation::BridgeTunnel);

    let mut ethernet = [0; 14];
    ethernet[12..].copy_from_slice(&1535_u16.to_be_bytes());
    assert_eq!(refused(Ethernet::decode(&ethernet)), (Header::Ethernet, 12, "EtherType"));
    ethernet[12..].copy_from_slice(&1536_u16.to_be_bytes());
    assert!(Ethernet::decode(&ethernet).is_ok());
    assert_eq!((EtherType::new(1535), EtherType::new(0x0800)), (None, Some(EtherType::IPV4)));
}

#[test]
fn refused_frames() {
    let mut rts = [0; 20];
    let address = MacAddr([2, 0, 0, 0, 0, 1]);
    let frame = Rts { duration: NavDuration::MAX, receiver: address, transmitter: address };
    frame.encode(&mut rts).unwrap();
    assert_eq!(Rts::decode(&rts), Ok((frame, &[][..])));
    // A valid frame of another kind.
    let mut cts = [0; 14];
    Cts { duration: NavDuration::MAX, receiver: address }.encode(&mut cts).unwrap();
    let field = "version, type and subtype";
    assert_eq!(refused(airfair_wire::ieee80211::Ack::decode(&cts)), (Header::Ack, 0, field));
    let mut data = [0; 24];
    data[0] = 0x08;
    assert!(DataHeader::decode(&data).is_ok());
    assert_eq!(refused(DataHeader::decode(&[0xb4; 24])), (Header::Data, 0, "type"));
    data[1] = 0x80;
    assert_eq!(refused(DataHeader::decode(&data)), (Header::Data, 0, "flags"));
    data[1..4].copy_from_slice(&[0, 0, 0x80]);
    assert_eq!(refused(DataHeader::decode(&data)), (Header::Data, 2, "Duration/ID"));
}
