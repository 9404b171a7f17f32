//! Every value that can be constructed can be encoded, and decodes to the same value.

use core::num::NonZeroU16;

use airfair_wire::checksum::{Checksum, updated};
use airfair_wire::five_tuple::{Class, FiveTuple};
use airfair_wire::ieee80211::{
    Ack, AckPolicy, Addresses, CfEnd, Cts, DataHeader, FragmentNumber, Frame, NavDuration, QosControl, Rts,
    SequenceControl, SequenceNumber, Tid,
};
use airfair_wire::ip::{self, Ip};
use airfair_wire::ipv4::{self, Dscp, Ecn, FragmentOffset, Protocol};
use airfair_wire::ipv6::FlowLabel;
use airfair_wire::llc::Encapsulation;
use airfair_wire::tcp::{self, Options, SchemeOption, Timestamps};
use airfair_wire::{
    Arp, EtherType, Ethernet, IpAddr, Ipv4, Ipv4Addr, Ipv6, Ipv6Addr, LlcSnap, MacAddr, Tcp, Udp, arp,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

fn mac() -> impl Strategy<Value = MacAddr> {
    any::<[u8; 6]>().prop_map(MacAddr)
}

fn ip() -> impl Strategy<Value = Ipv4Addr> {
    any::<[u8; 4]>().prop_map(Ipv4Addr::from)
}

fn ether_type() -> impl Strategy<Value = EtherType> {
    (1536..=u16::MAX).prop_map(|value| EtherType::new(value).unwrap())
}

fn duration() -> impl Strategy<Value = NavDuration> {
    (0..=32_767_u16).prop_map(|value| NavDuration::new(value).unwrap())
}

fn addresses() -> impl Strategy<Value = Addresses> {
    (0..4, mac(), mac(), mac(), mac()).prop_map(|(kind, a, b, c, d)| match kind {
        0 => Addresses::Direct { destination: a, source: b, bssid: c },
        1 => Addresses::ToDs { bssid: a, source: b, destination: c },
        2 => Addresses::FromDs { destination: a, bssid: b, source: c },
        _ => Addresses::Relay { receiver: a, transmitter: b, destination: c, source: d },
    })
}

fn sequence() -> impl Strategy<Value = SequenceControl> {
    (0..4096_u16, 0..16_u8).prop_map(|(number, fragment)| SequenceControl {
        number: SequenceNumber::new(number).unwrap(),
        fragment: FragmentNumber::new(fragment).unwrap(),
    })
}

fn qos() -> impl Strategy<Value = QosControl> {
    let policy = prop_oneof![
        Just(AckPolicy::Normal),
        Just(AckPolicy::NoAck),
        Just(AckPolicy::NoExplicit),
        Just(AckPolicy::Block)
    ];
    (0..16_u8, any::<bool>(), policy, any::<bool>(), any::<u8>(), any::<Option<u32>>()).prop_map(
        |(tid, eosp, ack_policy, amsdu, upper, ht_control)| {
            let tid = Tid::new(tid).unwrap();
            QosControl { tid, eosp, ack_policy, amsdu, upper, ht_control }
        },
    )
}

fn data_header() -> impl Strategy<Value = DataHeader> {
    (any::<[bool; 6]>(), duration(), addresses(), sequence(), option::of(qos())).prop_map(
        |(flags, duration, addresses, sequence, qos)| {
            let [null, more_fragments, retry, power_management, more_data, protected] = flags;
            DataHeader {
                null,
                more_fragments,
                retry,
                power_management,
                more_data,
                protected,
                qos,
                ..DataHeader::new(addresses, duration, sequence)
            }
        },
    )
}

fn ecn() -> impl Strategy<Value = Ecn> {
    prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect1), Just(Ecn::Ect0), Just(Ecn::Ce)]
}

fn ipv6(payload: usize) -> impl Strategy<Value = Ipv6> {
    let payload_len = u16::try_from(payload).unwrap();
    (0..64_u8, ecn(), 0..1_u32 << 20, any::<[u8; 2]>(), any::<[[u8; 16]; 2]>()).prop_map(
        move |(dscp, ecn, label, [next, hop_limit], [source, destination])| Ipv6 {
            dscp: Dscp::new(dscp).unwrap(),
            ecn,
            flow_label: FlowLabel::new(label).unwrap(),
            hop_limit,
            ..Ipv6::new(Protocol(next), source.into(), destination.into(), payload_len)
        },
    )
}

fn of_scheme() -> impl Strategy<Value = SchemeOption> {
    (1..6_usize, any::<[u8; 20]>(), any::<bool>()).prop_map(|(words, bytes, answers)| {
        let option = SchemeOption::new(&bytes[..4 * words]).unwrap();
        if answers { option.answering() } else { option }
    })
}

/// Ends, ECN and DSCP of a packet of TCP.
#[derive(Clone, Copy, Debug)]
struct Ends {
    six: bool,
    addresses: [[u8; 16]; 2],
    ports: (u16, u16),
    dscp: u8,
    ecn: Ecn,
}

impl Ends {
    fn any() -> impl Strategy<Value = Self> {
        (any::<bool>(), any::<[[u8; 16]; 2]>(), any::<(u16, u16)>(), 0..64_u8, ecn())
            .prop_map(|(six, addresses, ports, dscp, ecn)| Self { six, addresses, ports, dscp, ecn })
    }

    fn ether_type(&self) -> EtherType {
        if self.six { EtherType::IPV6 } else { EtherType::IPV4 }
    }

    fn v6(&self) -> [Ipv6Addr; 2] {
        self.addresses.map(Ipv6Addr::from)
    }

    fn v4(&self) -> [Ipv4Addr; 2] {
        self.addresses.map(|[a, b, c, d, ..]| Ipv4Addr::new(a, b, c, d))
    }

    /// The packet that holds this segment, with a right checksum.
    fn packet(&self, header: Tcp, payload: &[u8]) -> Vec<u8> {
        let header = Tcp { source_port: self.ports.0, destination_port: self.ports.1, ..header };
        let len = u16::try_from(header.wire_len() + payload.len()).unwrap();
        let dscp = Dscp::new(self.dscp).unwrap();
        let (header, ip_len, mut bytes) = if self.six {
            let [source, destination] = self.v6();
            let ip = Ipv6 { dscp, ecn: self.ecn, ..Ipv6::new(Protocol::TCP, source, destination, len) };
            let mut bytes = vec![0; 40 + header.wire_len()];
            ip.encode(&mut bytes).unwrap();
            (header.with_payload(source, destination, payload).unwrap(), 40, bytes)
        } else {
            let [source, destination] = self.v4();
            let len = ipv4::PayloadLen::new(len).unwrap();
            let ip = Ipv4 { dscp, ecn: self.ecn, ..Ipv4::new(Protocol::TCP, source, destination, len) };
            let mut bytes = vec![0; 20 + header.wire_len()];
            ip.encode(&mut bytes).unwrap();
            (header.with_payload(source, destination, payload).unwrap(), 20, bytes)
        };
        header.encode(&mut bytes[ip_len..]).unwrap();
        bytes.extend(payload);
        bytes
    }
}

fn ipv4(payload: usize) -> impl Strategy<Value = Ipv4> {
    let payload_len = u16::try_from(payload).ok().and_then(ipv4::PayloadLen::new).unwrap();
    ((0..64_u8, ecn(), any::<u16>(), any::<[bool; 2]>(), 0..8192_u16), (any::<[u8; 2]>(), ip(), ip()))
        .prop_map(
            move |((dscp, ecn, identification, flags, offset), ([ttl, protocol], source, destination))| {
                Ipv4 {
                    dscp: Dscp::new(dscp).unwrap(),
                    ecn,
                    identification,
                    dont_fragment: flags[0],
                    more_fragments: flags[1],
                    fragment_offset: FragmentOffset::new(offset).unwrap(),
                    ttl,
                    ..Ipv4::new(Protocol(protocol), source, destination, payload_len)
                }
            },
        )
}

/// Encodes a value into a buffer of exactly its length, appends `rest`, and decodes.
macro_rules! assert_round_trip {
    ($type:ident, $value:expr, $len:expr, $rest:expr) => {{
        let (value, rest): ($type, &[u8]) = ($value, $rest);
        let mut bytes = vec![0xaa; $len];
        prop_assert_eq!(value.encode(&mut bytes), Ok($len));
        prop_assert!(value.encode(&mut vec![0; $len - 1]).is_err());
        bytes.extend(rest);
        prop_assert_eq!($type::decode(&bytes), Ok((value, rest)));
        for cut in 0..$len {
            prop_assert!($type::decode(&bytes[..cut]).is_err());
        }
    }};
}

proptest! {
    #[test]
    fn control(
        duration in duration(),
        receiver in mac(),
        transmitter in mac(),
        rest in vec(any::<u8>(), 0..9),
    ) {
        let rts = Rts { duration, receiver, transmitter };
        assert_round_trip!(Rts, rts, Rts::wire_len(), &rest);
        assert_round_trip!(Cts, Cts { duration, receiver }, Cts::wire_len(), &rest);
        assert_round_trip!(CfEnd, CfEnd { duration, receiver, transmitter }, CfEnd::wire_len(), &rest);
        assert_round_trip!(Ack, Ack { duration, receiver }, Ack::wire_len(), &rest);
    }

    #[test]
    fn data(header in data_header(), body in vec(any::<u8>(), 0..99)) {
        assert_round_trip!(DataHeader, header, header.wire_len(), &body);
        let frame = Frame::Data { header, body: &body };
        let mut bytes = vec![0; frame.wire_len()];
        prop_assert_eq!(frame.encode(&mut bytes), Ok(header.wire_len() + body.len() + 4));
        prop_assert_eq!(Frame::decode(&bytes), Ok(frame));
    }

    /// A CRC-32 detects every burst of errors of up to 32 bits.
    #[test]
    fn fcs_finds_bursts(header in data_header(), at in 0..24_usize, burst in 1..=u32::MAX) {
        let mut bytes = vec![0; header.wire_len() + 4];
        Frame::Data { header, body: &[] }.encode(&mut bytes).unwrap();
        for (byte, error) in bytes[at..].iter_mut().zip(burst.to_be_bytes()) {
            *byte ^= error;
        }
        prop_assert!(Frame::decode(&bytes).is_err());
    }

    #[test]
    fn link(
        a in mac(),
        b in mac(),
        ether_type in ether_type(),
        bridge in any::<bool>(),
        rest in vec(any::<u8>(), 0..9),
    ) {
        let ethernet = Ethernet { destination: a, source: b, ether_type };
        assert_round_trip!(Ethernet, ethernet, Ethernet::wire_len(), &rest);
        let encapsulation = if bridge { Encapsulation::BridgeTunnel } else { Encapsulation::Rfc1042 };
        assert_round_trip!(LlcSnap, LlcSnap { encapsulation, ether_type }, LlcSnap::wire_len(), &rest);
    }

    #[test]
    fn address_resolution(
        macs in (mac(), mac()),
        ips in (ip(), ip()),
        reply in any::<bool>(),
        rest in vec(any::<u8>(), 0..9),
    ) {
        let operation = if reply { arp::Operation::Reply } else { arp::Operation::Request };
        let (sender_mac, target_mac) = macs;
        let (sender_ip, target_ip) = ips;
        let packet = Arp { operation, sender_mac, sender_ip, target_mac, target_ip };
        assert_round_trip!(Arp, packet, Arp::wire_len(), &rest);
    }

    #[test]
    fn network(
        (header, payload) in
            vec(any::<u8>(), 0..99).prop_flat_map(|payload| (ipv4(payload.len()), Just(payload))),
        // Not the first byte: with another header length the checksum covers other bytes.
        flipped in 8..160_usize,
    ) {
        assert_round_trip!(Ipv4, header, Ipv4::wire_len(), &payload);
        let mut bytes = vec![0; 20];
        header.encode(&mut bytes).unwrap();
        bytes.extend(&payload);
        bytes[flipped / 8] ^= 1 << (flipped % 8);
        prop_assert!(Ipv4::decode(&bytes).is_err(), "one wrong bit must be found");
    }

    #[test]
    fn transport(
        ports in any::<(u16, u16)>(),
        checksum in any::<Option<NonZeroU16>>(),
        addresses in (ip(), ip()),
        payload in vec(any::<u8>(), 1..99),
        flipped in any::<prop::sample::Index>(),
    ) {
        let blank = Udp { checksum, ..Udp::new(ports.0, ports.1, Default::default()) };
        let (source, destination) = addresses;
        let header = blank.with_payload(source, destination, &payload).unwrap();
        assert_round_trip!(Udp, header, Udp::wire_len(), &payload);
        assert_round_trip!(Udp, Udp { checksum, ..header }, Udp::wire_len(), &payload);
        prop_assert_eq!(header.verify(source, destination, &payload), Ok(()));
        let mut wrong = payload.clone();
        let bit = flipped.index(8 * payload.len());
        wrong[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(header.verify(source, destination, &wrong).is_err());
    }

    #[test]
    fn network_6(
        (header, payload) in
            vec(any::<u8>(), 0..99).prop_flat_map(|payload| (ipv6(payload.len()), Just(payload))),
    ) {
        assert_round_trip!(Ipv6, header, Ipv6::wire_len(), &payload);
    }

    #[test]
    fn option_of_a_scheme(option in of_scheme(), rest in vec(any::<u8>(), 0..9)) {
        assert_round_trip!(SchemeOption, option, option.wire_len(), &rest);
    }

    /// RFC 1624 §3: the update gives what the sum over the changed words gives, with 0000 and ffff among them.
    #[test]
    fn updated_checksum(
        mut words in vec(prop_oneof![Just(0_u16), Just(0xffff), any::<u16>()], 1..9),
        new in prop_oneof![Just(0_u16), Just(0xffff), any::<u16>()],
        at in any::<prop::sample::Index>(),
        other in 1..=u16::MAX,
    ) {
        let at = at.index(words.len());
        words.push(other);
        let sum = |words: &[u16]| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
            Checksum::new().with(&bytes)
        };
        let old = words[at];
        let checksum = sum(&words).finish();
        words[at] = new;
        prop_assert_eq!(updated(checksum, old, new), sum(&words).finish());
        // Where 0xffff was written for 0x0000, the words and the result sum to 0xffff all the same.
        if checksum == 0 {
            words.push(updated(0xffff, old, new));
            prop_assert_eq!(sum(&words).finish(), 0);
        }
    }

    /// A packet reads as it was made, and with marks and rewritten fields it is the packet that is made with them.
    #[test]
    fn packets_in_place(
        ends in Ends::any(),
        numbers in any::<(u32, u32, u16)>(),
        [ack, syn, rst, fin, ece, stamped] in any::<[bool; 6]>(),
        options in option::of((of_scheme(), of_scheme())),
        payload in vec(any::<u8>(), 0..30),
        code in 0..64_u8,
    ) {
        let ether_type = ends.ether_type();
        let plain = if stamped { Options::NONE.with_timestamps(Timestamps { value: 7, echo: 9 }) } else { Options::NONE };
        let header = Tcp {
            acknowledgement: numbers.1,
            window: numbers.2,
            flags: tcp::Flags { ack, syn, rst, fin, ece, ..Default::default() },
            options: options.map_or(plain, |(old, _)| plain.with_scheme(old)),
            ..Tcp::new(0, 0, numbers.0)
        };
        let original = ends.packet(header, &payload);
        let read = Ip::decode(ether_type, &original).unwrap().unwrap();
        prop_assert_eq!((read.dscp.get(), read.ecn, read.protocol), (ends.dscp, ends.ecn, Protocol::TCP));
        let tuple = FiveTuple::new(&read);
        let addresses = if ends.six { ends.v6().map(IpAddr::from) } else { ends.v4().map(IpAddr::from) };
        prop_assert_eq!([tuple.source, tuple.destination], addresses);
        prop_assert_eq!((tuple.source_port, tuple.destination_port), ends.ports);
        let lone_ack = ack && !syn && !rst && !fin && payload.is_empty();
        prop_assert_eq!(Class::new(&read) == Class::Acknowledgement, lone_ack);
        prop_assert_ne!(tuple.flow(code.into()), u32::MAX);

        let mut packet = original.clone();
        let capable = ends.ecn != Ecn::NotEct;
        prop_assert_eq!(ip::set_ce(ether_type, &mut packet), Ok(capable));
        let ecn = if capable { Ecn::Ce } else { Ecn::NotEct };
        prop_assert_eq!(&packet, &Ends { ecn, ..ends }.packet(header, &payload));

        prop_assert_eq!(ip::set_dscp(ether_type, &mut packet, Dscp::new(code).unwrap()), Ok(true));
        let ends = Ends { ecn, dscp: code, ..ends };
        prop_assert_eq!(&packet, &ends.packet(header, &payload));

        let echoes = ack && !syn && !rst;
        prop_assert_eq!(tcp::set_ece(ether_type, &mut packet), Ok(echoes));
        let header = Tcp { flags: tcp::Flags { ece: ece || echoes, ..header.flags }, ..header };
        prop_assert_eq!(&packet, &ends.packet(header, &payload));

        if let Some((old, new)) = options {
            let same = old.wire_len() == new.wire_len() && old.answers() == new.answers();
            prop_assert_eq!(tcp::set_scheme(ether_type, &mut packet, new), Ok(same));
            let header = if same { Tcp { options: plain.with_scheme(new), ..header } } else { header };
            prop_assert_eq!(&packet, &ends.packet(header, &payload));

            let mut packet = ends.packet(Tcp { options: plain, ..header }, &payload);
            prop_assert_eq!(tcp::insert_scheme(ether_type, &mut packet, 0, new), Ok(true));
            let header = Tcp { options: plain.with_scheme(new), ..header };
            prop_assert_eq!(&packet, &ends.packet(header, &payload));
        }
        prop_assert_eq!(tcp::set_window(ether_type, &mut packet, code.into()), Ok(true));
        let read = Ip::decode(ether_type, &packet).unwrap().unwrap();
        prop_assert_eq!(Tcp::decode(read.transport).unwrap().0.window, u16::from(code));
    }
}
