//! Bytes from other sources: worked examples of RFCs, and frames composed by hand whose fields, checksums and FCS
//! were checked with Wireshark's dissectors.

use airfair_wire::checksum::Checksum;
use airfair_wire::ieee80211::{
    Ack, AckPolicy, Addresses, Cts, DATA_OVERHEAD, DataHeader, Fcs, Frame, NavDuration, QOS_DATA_OVERHEAD,
    QosControl, Rts, SequenceControl, SequenceNumber, Tid,
};
use airfair_wire::ipv4::{Ecn, Protocol};
use airfair_wire::{
    Arp, DecodeError, EtherType, Ethernet, Expected, Header, Ipv4, Ipv4Addr, LlcSnap, MacAddr, Tcp, Udp, arp,
};

const A: MacAddr = MacAddr([2, 0, 0, 0, 0, 0x0a]);
const B: MacAddr = MacAddr([2, 0, 0, 0, 0, 0x0b]);
const C: MacAddr = MacAddr([2, 0, 0, 0, 0, 0x0c]);
const D: MacAddr = MacAddr([2, 0, 0, 0, 0, 0x0d]);
const CELL: MacAddr = MacAddr([2, 0xca, 0xfe, 0, 0, 1]);

/// Retransmitted data from A to B in an IBSS: LLC/SNAP, IPv4 with ECT(0), UDP, "hello".
const DATA: &str = "08083a0102000000000b02000000000a02cafe0000014012aaaa030000000800450200211c46400040110a70\
                    0a00000a0a00000bc0001389000dd46368656c6c6f";

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().map(|c| c.to_digit(16).expect("a hex digit") as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn check_frame(text: &str, frame: Frame<'_>) {
    let bytes = hex(text);
    assert_eq!(Frame::decode(&bytes), Ok(frame));
    let mut encoded = vec![0; bytes.len()];
    assert_eq!(frame.encode(&mut encoded), Ok(bytes.len()));
    assert_eq!(encoded, bytes);
}

fn us(duration: u16) -> NavDuration {
    NavDuration::new(duration).unwrap()
}

fn sequence(number: u16) -> SequenceControl {
    SequenceControl { number: SequenceNumber::new(number).unwrap(), ..Default::default() }
}

/// The sizes of IEEE 802.11-2016 clause 9.3, of the RFCs and of IEEE 802.3.
#[test]
fn lengths() {
    assert_eq!((Rts::wire_len(), Cts::wire_len(), Ack::wire_len()), (20, 14, 14));
    assert_eq!((DataHeader::base_len(), Fcs::wire_len()), (24, 4));
    assert_eq!((DATA_OVERHEAD, QOS_DATA_OVERHEAD), (28, 30));
    assert_eq!((LlcSnap::wire_len(), Ethernet::wire_len(), Arp::wire_len()), (8, 14, 28));
    assert_eq!((Ipv4::wire_len(), Udp::wire_len(), Tcp::new(0, 0, 0).wire_len()), (20, 8, 20));
}

#[test]
fn control_frames() {
    let rts = Rts { duration: us(1234), receiver: B, transmitter: A };
    check_frame("b400d20402000000000b02000000000af1a7e153", Frame::Rts(rts));
    check_frame("c400260402000000000a7ac195f4", Frame::Cts(Cts { duration: us(1062), receiver: A }));
    check_frame("d400000002000000000a500f6d18", Frame::Ack(Ack { duration: us(0), receiver: A }));
}

#[test]
fn data_frame_and_what_it_wraps() {
    let addresses = Addresses::Direct { destination: B, source: A, bssid: CELL };
    let header = DataHeader { retry: true, ..DataHeader::new(addresses, us(314), sequence(292)) };
    let mut bytes = hex(DATA);
    let body = bytes.split_off(24);
    check_frame(&format!("{DATA}9143a3dd"), Frame::Data { header, body: &body });

    let (llc, packet) = LlcSnap::decode(&body).unwrap();
    assert_eq!(llc, LlcSnap::new(EtherType::IPV4));
    let (ip, segment) = Ipv4::decode(packet).unwrap();
    assert_eq!((ip.source, ip.destination), ([10, 0, 0, 10].into(), [10, 0, 0, 11].into()));
    assert_eq!((ip.ecn, ip.ttl, ip.protocol, ip.identification), (Ecn::Ect0, 64, Protocol::UDP, 7238));
    assert!(ip.dont_fragment && !ip.more_fragments);
    let (udp, payload) = Udp::decode(segment).unwrap();
    assert_eq!((udp.source_port, udp.destination_port, payload), (49152, 5001, &b"hello"[..]));
    assert_eq!(udp.verify(ip.source, ip.destination, payload), Ok(()));
    assert_eq!(udp.checksum.map(u16::from), Some(0xd463));

    let mut packet = vec![0; 28];
    ip.encode(&mut packet).unwrap();
    let unsigned = Udp { checksum: None, ..udp };
    unsigned.with_payload(ip.source, ip.destination, b"hello").unwrap().encode(&mut packet[20..]).unwrap();
    assert_eq!(packet, body[8..36]);
}

/// Four addresses, QoS: voice priority, no acknowledgement.
#[test]
fn relayed_qos_frame() {
    let addresses = Addresses::Relay { receiver: B, transmitter: A, destination: D, source: C };
    let qos = QosControl { tid: Tid::new(6).unwrap(), ack_policy: AckPolicy::NoAck, ..Default::default() };
    let header = DataHeader { qos: Some(qos), ..DataHeader::new(addresses, us(44), sequence(4095)) };
    assert_eq!(header.wire_len(), 32);
    check_frame(
        "88032c0002000000000b02000000000a02000000000df0ff02000000000c2600626f6479be69132f",
        Frame::Data { header, body: b"body" },
    );
}

/// The layout of RFC 826, "An Example": X requests, by broadcast, the address of Y.
#[test]
fn arp_request() {
    let bytes = hex("0001080006040001\
                     02000000000a0a00000a0000000000000a00000b");
    let request = Arp {
        operation: arp::Operation::Request,
        sender_mac: A,
        sender_ip: [10, 0, 0, 10].into(),
        target_mac: MacAddr::default(),
        target_ip: [10, 0, 0, 11].into(),
    };
    assert_eq!(Arp::decode(&bytes), Ok((request, &[][..])));
    let mut encoded = [0; 28];
    assert_eq!(request.encode(&mut encoded), Ok(28));
    assert_eq!(encoded, bytes[..]);
    // The frame with this packet, FCS included.
    let frame = hex("08000000ffffffffffff02000000000a02cafe0000011000aaaa030000000806\
                     000108000604000102000000000a0a00000a0000000000000a00000b2a920ef1");
    let Ok(Frame::Data { header, body }) = Frame::decode(&frame) else { panic!("not a data frame") };
    assert!(header.addresses.receiver().is_broadcast());
    assert_eq!(body[8..], bytes);
}

/// The header often used to teach the checksum: 192.168.0.1 to 192.168.0.199, UDP, 115 bytes, checksum b861.
#[test]
fn ipv4_textbook_header() {
    let mut bytes = hex("45000073000040004011b861c0a80001c0a800c7");
    bytes.resize(115, 0);
    let (header, payload) = Ipv4::decode(&bytes).unwrap();
    assert_eq!((header.payload_len.get(), payload.len()), (95, 95));
    assert_eq!(header, Ipv4::new(Protocol::UDP, header.source, header.destination, header.payload_len));
    let mut encoded = [0; 20];
    assert_eq!(header.encode(&mut encoded), Ok(20));
    assert_eq!(encoded, bytes[..20]);
}

/// A Router Alert option [RFC 2113] is skipped, and the padding of the link is removed.
#[test]
fn ipv4_options_and_padding() {
    let mut bytes = hex("46c0001a0000000001fe00000a00000ae000000194040000");
    let checksum = Checksum::new().with(&bytes).finish();
    bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
    bytes.extend([1, 2, 0, 0, 0, 0]);
    let (header, payload) = Ipv4::decode(&bytes).unwrap();
    assert_eq!((header.dscp.get(), header.payload_len.get(), payload), (48, 2, &[1, 2][..]));
}

/// RFC 768: a computed checksum of zero is sent as all ones; zero means no checksum.
#[test]
fn udp_zero_checksum() {
    let (source, destination): (Ipv4Addr, Ipv4Addr) = ([0, 0, 0, 0].into(), [0, 0, 0, 0].into());
    // The sum without the payload is protocol 17 and twice the length 10: a payload of ffff - 17 - 20 makes the checksum zero.
    let payload = (0xffff_u16 - 17 - 20).to_be_bytes();
    let header = Udp::new(0, 0, Default::default()).with_payload(source, destination, &payload).unwrap();
    assert_eq!(header.checksum.map(u16::from), Some(0xffff));
    assert_eq!(header.verify(source, destination, &payload), Ok(()));
    assert!(header.verify(source, destination, b"no").is_err());
    assert!(header.verify(source, destination, b"longer").is_err());
    assert_eq!(Udp { checksum: None, ..header }.verify(source, destination, b"no"), Ok(()));
}

#[test]
fn ethernet_header() {
    let bytes = hex("ffffffffffff02000000000a0806");
    let header = Ethernet { destination: MacAddr::BROADCAST, source: A, ether_type: EtherType::ARP };
    assert_eq!(Ethernet::decode(&bytes), Ok((header, &[][..])));
    let mut encoded = [0; 14];
    assert_eq!(header.encode(&mut encoded), Ok(14));
    assert_eq!(encoded, bytes[..]);
}

/// An error names the header, the position, and the expected value.
#[test]
fn errors() {
    let message = |result: Result<Frame<'_>, DecodeError>| result.unwrap_err().to_string();
    let mut rts = hex("b400d20402000000000b02000000000af1a7e153");
    rts[4] ^= 1;
    assert!(message(Frame::decode(&rts)).starts_with("802.11 FCS, byte 16: expected the checksum 0x"));
    assert_eq!(
        message(Frame::decode_without_fcs(&hex("c4000000"))),
        "802.11 CTS, byte 0: expected 10 bytes, found 4"
    );
    assert_eq!(
        message(Frame::decode_without_fcs(&hex("d400008002000000000a"))),
        "802.11 Ack, byte 2: Duration/ID: expected a duration of at most 32767 us, found 0x8000"
    );
    assert_eq!(
        message(Frame::decode_without_fcs(&hex("d400000002000000000a00"))),
        "802.11 Ack, byte 10: expected the end of the frame, found 1 more bytes"
    );
    // A beacon.
    assert_eq!(
        message(Frame::decode_without_fcs(&hex("8000"))),
        "802.11 frame control, byte 0: version, type and subtype: expected RTS, CTS, Ack, data, null, \
         QoS data or QoS null, found 0x80"
    );
    let ip = hex("450000730000400040110000c0a80001c0a800c7");
    let expected = Expected::Checksum { computed: 0xb861, found: 0 };
    assert_eq!(Ipv4::decode(&ip), Err(DecodeError { header: Header::Ipv4, offset: 10, expected }));
    let length = hex("ffffffffffff02000000000a002e");
    assert_eq!(
        Ethernet::decode(&length).unwrap_err().to_string(),
        "Ethernet header, byte 12: EtherType: expected at least 0x600, found 0x2e"
    );
    assert_eq!(
        Ethernet { destination: A, source: B, ether_type: EtherType::IPV6 }
            .encode(&mut [0; 13])
            .unwrap_err()
            .to_string(),
        "Ethernet header: needs 14 bytes, the buffer has 13"
    );
}
