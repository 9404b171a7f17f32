//! Runs the fuzz entry points on stable Rust: 10^5 inputs each, half of them random bytes, half mutations of
//! valid frames; 10^6 for five-tuples, routing protocols, DiffQ's trailer, which all that overhear a frame read, C3L,
//! MORE, ExOR and their probes, the airtime allocator, the transport with a rate, ATP and EXACT.

use airfair_wire::airtime::{Announcement, Link, State};
use airfair_wire::aodv::{Message, Rerr, Rrep, Rreq, Unreachable};
use airfair_wire::atp;
use airfair_wire::c3l;
use airfair_wire::congestion::{Congestion, Fields, Rates};
use airfair_wire::diffq::{Call, Sizes, Trailer, Type};
use airfair_wire::dsdv::{self, Update};
use airfair_wire::exact;
use airfair_wire::exor::{self, Exor};
use airfair_wire::fuzz::{
    fuzz_airtime, fuzz_all, fuzz_aodv, fuzz_arp, fuzz_atp, fuzz_c3l, fuzz_congestion, fuzz_diffq, fuzz_dsdv,
    fuzz_ethernet, fuzz_exact, fuzz_exor, fuzz_five_tuple, fuzz_ieee80211, fuzz_ipv4, fuzz_ipv6, fuzz_llc,
    fuzz_more, fuzz_olsr, fuzz_pcapng, fuzz_probe, fuzz_radiotap, fuzz_rate, fuzz_rewrite, fuzz_tcp,
    fuzz_udp,
};
use airfair_wire::ieee80211::{Ack, Addresses, CfEnd, Cts, DataHeader, Frame, NavDuration, QosControl, Rts};
use airfair_wire::more;
use airfair_wire::olsr;
use airfair_wire::pcapng::{Block, Data, Direction, Interface, LinkType, Names, Packet, Section, Text};
use airfair_wire::probe::{self, Probe};
use airfair_wire::radiotap::{Channel, Flags, TxFlags};
use airfair_wire::rate::{self, Arrivals, Block as Row};
use airfair_wire::tcp::{Options, SackBlock, SchemeOption, Timestamps, WindowScale};
use airfair_wire::{
    Arp, EtherType, Ethernet, Ipv4, Ipv6, Ipv6Addr, LlcSnap, MacAddr, Radiotap, Tcp, Udp, arp, ipv4, udp,
};

const INPUTS: usize = 100_000;

/// Marsaglia's xorshift64, sufficient for this test.
struct XorShift(u64);

impl XorShift {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from((self.next() >> 33) % bound as u64).unwrap()
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[5]
    }
}

fn drive(seeds: &[Vec<u8>], entry: fn(&[u8])) {
    drive_with(seeds, INPUTS, entry);
}

fn drive_with(seeds: &[Vec<u8>], inputs: usize, entry: fn(&[u8])) {
    let mut random = XorShift(0x2545_f491_4f6c_dd1d);
    for seed in seeds {
        entry(seed);
        (0..seed.len()).for_each(|len| entry(&seed[..len]));
    }
    for input in 0..inputs {
        let mut bytes: Vec<u8>;
        if input % 2 == 0 {
            bytes = (0..random.below(80)).map(|_| random.byte()).collect();
        } else {
            bytes = seeds[random.below(seeds.len())].clone();
            for _ in 0..random.below(4) {
                let at = random.below(bytes.len());
                match random.below(4) {
                    0 => bytes[at] ^= 1 << random.below(8),
                    1 => bytes[at] = random.byte(),
                    2 => bytes.truncate(at + 1),
                    _ => bytes.insert(at, random.byte()),
                }
            }
        }
        entry(&bytes);
    }
}

fn bytes(len: usize, encode: impl Fn(&mut [u8])) -> Vec<u8> {
    let mut buffer = vec![0; len];
    encode(&mut buffer);
    buffer
}

fn frames() -> Vec<Vec<u8>> {
    let [a, b, c, d] = [10, 11, 12, 13].map(|last| MacAddr([2, 0, 0, 0, 0, last]));
    let duration = NavDuration::new(314).unwrap();
    let header = |addresses| DataHeader::new(addresses, duration, Default::default());
    let ibss = header(Addresses::Direct { destination: a, source: b, bssid: c });
    let qos = QosControl { ht_control: Some(0x1234_5678), ..Default::default() };
    let relay = header(Addresses::Relay { receiver: a, transmitter: b, destination: c, source: d });
    let body = b"body";
    [
        Frame::Rts(Rts { duration, receiver: a, transmitter: b }),
        Frame::Cts(Cts { duration, receiver: a }),
        Frame::Ack(Ack { duration, receiver: a }),
        Frame::CfEnd(CfEnd { duration, receiver: a, transmitter: b }),
        Frame::Data { header: ibss, body },
        Frame::Data { header: DataHeader { qos: Some(qos), ..ibss }, body },
        Frame::Data { header: relay, body },
        Frame::Data { header: DataHeader { qos: Some(QosControl::default()), ..relay }, body },
        Frame::Data { header: DataHeader { null: true, ..ibss }, body: &[] },
    ]
    .map(|frame| bytes(frame.wire_len(), |buffer| assert!(frame.encode(buffer).is_ok())))
    .to_vec()
}

fn ipv4_seed() -> Vec<u8> {
    let payload_len = ipv4::PayloadLen::new(12).unwrap();
    let header = Ipv4::new(ipv4::Protocol::UDP, [10, 0, 0, 1].into(), [10, 0, 0, 2].into(), payload_len);
    bytes(32, |buffer| assert!(header.encode(buffer).is_ok()))
}

fn udp_seed() -> Vec<u8> {
    let header = Udp::new(5000, 5001, udp::PayloadLen::new(4).unwrap());
    bytes(12, |buffer| assert!(header.encode(buffer).is_ok()))
}

/// A SYN and an acknowledgement with every option, a segment with an unknown option between others, a segment without options.
fn tcp_seeds() -> Vec<Vec<u8>> {
    let timestamps = Timestamps { value: 0x0102_0304, echo: 0x0506_0708 };
    let block = SackBlock { left: 1000, right: 2000 };
    let syn = Options::NONE.with_mss(1460).with_sack_permitted().with_window_scale(WindowScale::MAX);
    let all = [Options::NONE, syn.with_timestamps(timestamps), Options::NONE.with_sack(&[block; 4])];
    let mut seeds: Vec<Vec<u8>> = all
        .map(|options| {
            let header = Tcp { options, window: 100, ..Tcp::new(5000, 5001, 7) };
            bytes(header.wire_len() + 4, |buffer| assert!(header.encode(buffer).is_ok()))
        })
        .to_vec();
    let mut unknown = seeds[0].clone();
    unknown[12] = 0x80;
    unknown.splice(20..20, [253, 5, 1, 2, 3, 2, 4, 5, 180, 0, 9, 9]);
    seeds.push(unknown);
    seeds
}

/// IP packets of both versions that hold these segments, and with extension headers before them.
fn packet_seeds() -> Vec<Vec<u8>> {
    let mut segments = tcp_seeds();
    let timestamps = Options::NONE.with_timestamps(Timestamps { value: 1, echo: 2 });
    for header in congestion_seeds().iter().filter_map(|header| SchemeOption::new(header)) {
        let flags = airfair_wire::tcp::Flags { ack: true, ..Default::default() };
        let header = Tcp { options: timestamps.with_scheme(header), flags, ..Tcp::new(5000, 5001, 7) };
        segments.push(bytes(header.wire_len(), |buffer| assert!(header.encode(buffer).is_ok())));
    }
    segments.push(udp_seed());
    let mut packets = Vec::new();
    for (number, segment) in segments.iter().enumerate() {
        let protocol = if segment.len() < 20 { ipv4::Protocol::UDP } else { ipv4::Protocol::TCP };
        let ecn = [ipv4::Ecn::Ect0, ipv4::Ecn::Ect1, ipv4::Ecn::NotEct][number % 3];
        let len = u16::try_from(segment.len()).unwrap();
        let [a, b] = [1, 2].map(|last| [10, 0, 0, last].into());
        let header = Ipv4 { ecn, ..Ipv4::new(protocol, a, b, ipv4::PayloadLen::new(len).unwrap()) };
        packets.push([bytes(20, |buffer| assert!(header.encode(buffer).is_ok())), segment.clone()].concat());
        let [a, b] = [1, 2].map(|last| Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, last));
        let header = Ipv6 { ecn, ..Ipv6::new(protocol, a, b, len) };
        packets.push([bytes(40, |buffer| assert!(header.encode(buffer).is_ok())), segment.clone()].concat());
        let header = Ipv6 { ecn, ..Ipv6::new(ipv4::Protocol::HOP_BY_HOP, a, b, len + 40) };
        let mut extensions = vec![60, 0, 1, 4, 0, 0, 0, 0, 43, 1, 1, 12];
        extensions.resize(24, 0);
        extensions.extend([44, 0, 0, 0, 0, 0, 0, 0, protocol.0, 0, 0, 0, 0, 0, 0, 7]);
        let front = bytes(40, |buffer| assert!(header.encode(buffer).is_ok()));
        packets.push([front, extensions, segment.clone()].concat());
    }
    packets
}

fn arp_seed() -> Vec<u8> {
    let packet = Arp {
        operation: arp::Operation::Reply,
        sender_mac: MacAddr([2, 0, 0, 0, 0, 1]),
        sender_ip: [10, 0, 0, 1].into(),
        target_mac: MacAddr([2, 0, 0, 0, 0, 2]),
        target_ip: [10, 0, 0, 2].into(),
    };
    bytes(28, |buffer| assert!(packet.encode(buffer).is_ok()))
}

fn aodv_seeds() -> Vec<Vec<u8>> {
    let [a, b] = [1, 2].map(|last| [10, 0, 0, last].into());
    let lost = |destination| Unreachable { destination, number: 7 };
    let rreq = Rreq {
        join: false,
        repair: false,
        gratuitous: true,
        destination_only: false,
        hops: 2,
        id: 3,
        destination: a,
        destination_number: Some(4),
        originator: b,
        originator_number: 5,
    };
    let rrep = Rrep {
        repair: false,
        acknowledge: true,
        prefix: Default::default(),
        hops: 2,
        destination: a,
        destination_number: 4,
        originator: b,
        lifetime_ms: 6000,
    };
    [
        Message::Rreq(rreq),
        Message::Rrep(rrep),
        Message::Rerr(Rerr::new(false, &[lost(a), lost(b)]).unwrap()),
        Message::RrepAck,
    ]
    .map(|message| bytes(message.wire_len() + 3, |buffer| assert!(message.encode(buffer).is_ok())))
    .to_vec()
}

fn dsdv_seed() -> Vec<u8> {
    let entry = |last, hops, number| dsdv::Entry { destination: [10, 0, 0, last].into(), hops, number };
    let update = Update::new(&[entry(1, 1, 8), entry(2, 3, 5)]).unwrap();
    bytes(update.wire_len() + 5, |buffer| assert!(update.encode(buffer).is_ok()))
}

/// A packet with HELLO and TC, with and without qualities, and a message of another type.
fn olsr_seed() -> Vec<u8> {
    let [a, b] = [1, 2].map(|last| [10, 0, 0, last].into());
    let rated = |address| olsr::Rated { address, quality: 255, neighbour_quality: 200 };
    let code = olsr::LinkCode(6);
    let bodies = [
        olsr::Body::Hello(olsr::Hello {
            interval: olsr::Vtime(5),
            willingness: 3,
            groups: vec![olsr::Group { code, neighbours: vec![a, b] }],
        }),
        olsr::Body::Tc(olsr::Tc { number: 7, neighbours: vec![a] }),
        olsr::Body::RatedHello(olsr::Hello {
            interval: olsr::Vtime(5),
            willingness: 3,
            groups: vec![olsr::Group { code, neighbours: vec![rated(a)] }],
        }),
        olsr::Body::RatedTc(olsr::Tc { number: 7, neighbours: vec![rated(b)] }),
        olsr::Body::Other(olsr::Other::new(3, vec![10, 0, 0, 9]).unwrap()),
    ];
    let message = |body| olsr::Message {
        validity: olsr::Vtime(0x86),
        originator: a,
        ttl: 255,
        hops: 1,
        sequence: 9,
        body,
    };
    let packet = olsr::Packet::new(5, bodies.map(message).to_vec()).unwrap();
    bytes(packet.wire_len() + 2, |buffer| assert!(packet.encode(buffer).is_ok()))
}

fn ethernet_seed() -> Vec<u8> {
    let source = MacAddr([2, 0, 0, 0, 0, 1]);
    let header = Ethernet { destination: MacAddr::BROADCAST, source, ether_type: EtherType::ARP };
    bytes(16, |buffer| assert!(header.encode(buffer).is_ok()))
}

fn llc_seed() -> Vec<u8> {
    bytes(10, |buffer| assert!(LlcSnap::new(EtherType::IPV4).encode(buffer).is_ok()))
}

fn congestion_seeds() -> Vec<Vec<u8>> {
    let rates = Rates { rtt_us: 100_000, request: u32::MAX, feedback: 18_750_000 };
    let xcp = Fields::Xcp { rtt_us: 100_000, inverse_rate: 53_333, delta: -700, reverse: 256 };
    let bytes = |fields| {
        let header = Congestion { next: 6, supported: 3, unsupported: 1, fields };
        let mut bytes = vec![0; header.wire_len()];
        header.encode(&mut bytes).unwrap();
        bytes
    };
    let data = Fields::TfrcData { sequence: 70_000, sent_us: 4_000_000_000, rtt_us: 50_123 };
    let report = Fields::TfrcReport { sent_us: 12, delay_us: 34_567, received: 1_250_000, loss: 1 << 25 };
    vec![bytes(Fields::Qfcp(rates)), bytes(Fields::Rcp(rates)), bytes(xcp), bytes(data), bytes(report)]
}

fn diffq_seeds() -> Vec<Vec<u8>> {
    let trailer = Trailer {
        kind: Type::Data,
        written: 2,
        queue: 26,
        flow: 7,
        sent_us: 1_000_000,
        longest: 27,
        number: 4464,
    };
    let mut seeds = [Type::Data, Type::Ack, Type::SourceRouted]
        .map(|kind| bytes(16, |buffer| assert!(Trailer { kind, ..trailer }.encode(buffer).is_ok())))
        .to_vec();
    let sizes = Sizes::new([(7, 26), (8, 0), (u32::MAX, 65_535)].into_iter());
    seeds.push(bytes(sizes.wire_len() + 1, |buffer| assert!(sizes.encode(buffer).is_ok())));
    let call = Call { node: 7 };
    seeds.push(bytes(Call::WIRE_LEN, |buffer| assert!(call.encode(buffer).is_ok())));
    seeds
}

fn c3l_seeds() -> Vec<Vec<u8>> {
    let alive = |controller| c3l::Alive { controller, freshness: 70_000, hops: 3 };
    let link = |next_hop| c3l::LinkReport {
        next_hop,
        capacity: 174_250,
        used: 73_250,
        transmissions: 300,
        overloaded: next_hop == 2,
        lost: 0,
    };
    let flow = |flow| c3l::FlowReport { flow, next_hop: 2, rate: 73_250, demand: u32::MAX };
    let neighbour = |node| c3l::Neighbour { node, hellos: 240, probes: 255 };
    let head = c3l::ReportHead { node: 7, number: 4, version: 2 };
    let report =
        |neighbours| c3l::Report::parts(head, &[1, 2].map(link), &[8, 9].map(flow), neighbours).remove(0);
    let shares = [1, 2].map(|next_hop| c3l::Share { next_hop, share: 36_000 });
    let allocation = c3l::AllocationHead { controller: 1, node: 7, round: 5, version: 2, valid_ms: 24_000 };
    let feedback =
        c3l::Feedback { epoch: 3, flow: 8, allocation: 36_000, received: 35_000, sequence: 70_000 };
    let mut seeds = [
        c3l::Message::Hello(c3l::Hello::new(false, 9, 7, [1, 2].map(alive).into_iter())),
        c3l::Message::Hello(c3l::Hello::new(true, 9, 7, std::iter::empty())),
        c3l::Message::Word(c3l::Word { controller: 7, freshness: 9 }),
        c3l::Message::Report(report(None)),
        c3l::Message::Report(report(Some(&[1, 2, 3].map(neighbour)))),
        c3l::Message::Allocation(c3l::Allocation::parts(allocation, &shares).remove(0)),
        c3l::Message::Feedback(feedback),
    ]
    .map(|message| bytes(message.wire_len() + 1, |buffer| assert!(message.encode(buffer).is_ok())))
    .to_vec();
    let stamp = c3l::Stamp {
        next: 17,
        supported: 2,
        unsupported: 0,
        flow: 8,
        allocation: 36_000,
        rate: 37_000,
        sequence: 12,
    };
    seeds.push(bytes(21, |buffer| assert!(stamp.encode(buffer).is_ok())));
    seeds
}

fn more_seeds() -> Vec<Vec<u8>> {
    let flow = more::Flow { flow: 7, source: 1, destination: 9 };
    let forwarder = |node| more::Forwarder { node, credit: more::Credit(1638) };
    let forwarders = more::Forwarders::new([3, 4, 5].map(forwarder).into_iter());
    let coded = more::Coded::new(flow, 70_000, forwarders, (0..32).collect()).unwrap();
    let lone = more::Coded::new(flow, 0, more::Forwarders::default(), vec![9]).unwrap();
    let acknowledgement = more::Acknowledgement { flow, batch: 70_000 };
    [more::Message::Coded(coded), more::Message::Coded(lone), more::Message::Acknowledgement(acknowledgement)]
        .map(|message| bytes(message.wire_len() + 1, |buffer| assert!(message.encode(buffer).is_ok())))
        .to_vec()
}

fn probe_seeds() -> Vec<Vec<u8>> {
    let list = |node: u32, heard: u32| {
        let heard = (0..heard).map(|other| probe::Heard { node: other, ratio: 200 });
        probe::List::new(node, 7, 150, heard)
    };
    [Probe::new(9, vec![list(1, 5), list(2, 0), list(3, 40)]), Probe::new(10, Vec::new())]
        .map(|probe| bytes(probe.wire_len() + 20, |buffer| assert!(probe.encode(buffer).is_ok())))
        .to_vec()
}

fn airtime_seeds() -> Vec<Vec<u8>> {
    let link = |to| Link { from: 3, to, used: 9_000, flows: 2, state: State::Short, spoiled: to % 2 == 0 };
    [(0, 0, 0), (2, 3, 1), (32, 64, 32)]
        .map(|(own, heard, far)| {
            Announcement::new(7, (0..own).map(link), (0..heard).map(link), (0..far).map(link))
        })
        .map(|said| bytes(said.wire_len() + 5, |buffer| assert!(said.encode(buffer).is_ok())))
        .to_vec()
}

fn rate_seeds() -> Vec<Vec<u8>> {
    let rows = |count| (1..=count).map(|i| Row { first: 5 * i, end: 5 * i + 3 });
    let mut seeds: Vec<_> = [0, 3, 20]
        .map(|count| Arrivals::with_blocks(2, 40, 900, 255, rows(count)).unwrap())
        .into_iter()
        .chain([Arrivals::with_map((2, 40, 900), 255, (9, 300), |at| at % 3 == 0)])
        .map(|arrivals| bytes(arrivals.wire_len() + 8, |buffer| assert!(arrivals.encode(buffer).is_ok())))
        .collect();
    seeds.push(bytes(9, |buffer| assert!(rate::Data { number: 7, sent: 9 }.encode(buffer).is_ok())));
    seeds
}

fn atp_seeds() -> Vec<Vec<u8>> {
    let stamp = atp::Stamp { probe: true, supported: 3, unsupported: 1, delay: 9_000 };
    let feedback = atp::Feedback { number: 8, rate: 110_000 };
    vec![
        bytes(12, |buffer| assert!(stamp.encode(buffer).is_ok())),
        bytes(12, |buffer| assert!(feedback.encode(buffer).is_ok())),
    ]
}

fn exact_seeds() -> Vec<Vec<u8>> {
    let stamp = exact::Stamp {
        supported: 3,
        unsupported: 1,
        explicit_rate: 60_000,
        current_rate: 50_000,
        sequence: 12,
    };
    let feedback = exact::Feedback { explicit_rate: 60_000, sequence: 12 };
    vec![
        bytes(20, |buffer| assert!(stamp.encode(buffer).is_ok())),
        bytes(20, |buffer| assert!(feedback.encode(buffer).is_ok())),
    ]
}

fn exor_seeds() -> Vec<Vec<u8>> {
    let nodes = exor::Nodes::new(&[9, 3, 4, 1]).unwrap();
    let head =
        exor::Head { flow: 7, batch: 3, rank: 2, fragment: exor::Fragment { number: 4, size: 10 }, nodes };
    let map = exor::BatchMap::new((0..32).map(|packet| packet % 4).collect()).unwrap();
    [Some(31), None]
        .map(|packet| Exor::new(head.clone(), packet, map.clone()).unwrap())
        .map(|header| bytes(header.wire_len() + 2, |buffer| assert!(header.encode(buffer).is_ok())))
        .to_vec()
}

fn radiotap_seeds() -> Vec<Vec<u8>> {
    let received = Radiotap {
        tsft: Some(1_000_000),
        flags: Some(Flags { fcs: true, ..Flags::default() }),
        rate: Some(22),
        channel: Some(Channel { mhz: 2412, flags: Channel::CCK | Channel::GHZ_2 }),
        signal_dbm: Some(-70),
        noise_dbm: Some(-95),
        ..Radiotap::default()
    };
    let sent = Radiotap {
        tx_power_dbm: Some(15),
        tx_flags: Some(TxFlags { rts_cts: true, ..TxFlags::default() }),
        data_retries: Some(2),
        ..received
    };
    let encoded =
        |header: &Radiotap| bytes(header.wire_len() + 2, |buffer| assert!(header.encode(buffer).is_ok()));
    // Every field, also those that are skipped, and a second presence word.
    let mut every = vec![0, 0, 48, 0, 0xff, 0xff, 0x03, 0];
    every.resize(50, 1);
    let mut extended = encoded(&received);
    extended[7] |= 0x80;
    extended.splice(8..8, [0, 0, 0, 0]);
    extended[2] += 4;
    vec![encoded(&received), encoded(&sent), every, extended]
}

fn pcapng_seed() -> Vec<u8> {
    let name = Text::new("ap").unwrap();
    let interface = Interface { link_type: LinkType::RADIOTAP, snap_len: 160, name, description: name };
    let packet = Packet {
        interface: 0,
        time_ns: 1 << 40,
        original_len: 9,
        data: Data::new(&[1, 2, 3, 4, 5]).unwrap(),
        direction: Direction::Inbound,
        crc_error: true,
    };
    [
        Block::Section(Section { application: name }),
        Block::Interface(interface),
        Block::Names(Names { ipv4: vec![([10, 0, 0, 1].into(), name)] }),
        Block::Packet(packet),
    ]
    .iter()
    .flat_map(|block| bytes(block.wire_len(), |buffer| assert!(block.encode(buffer).is_ok())))
    .collect()
}

#[test]
fn radiotap() {
    drive(&radiotap_seeds(), fuzz_radiotap);
}

#[test]
fn pcapng() {
    drive(&[pcapng_seed()], fuzz_pcapng);
}

#[test]
fn ieee80211() {
    drive(&frames(), fuzz_ieee80211);
}

#[test]
fn ipv4() {
    drive(&[ipv4_seed()], fuzz_ipv4);
}

#[test]
fn ipv6() {
    drive(&packet_seeds(), fuzz_ipv6);
}

#[test]
fn five_tuple() {
    drive_with(&packet_seeds(), 10 * INPUTS, fuzz_five_tuple);
}

#[test]
fn rewrite() {
    drive(&packet_seeds(), fuzz_rewrite);
}

#[test]
fn udp() {
    drive(&[udp_seed()], fuzz_udp);
}

#[test]
fn tcp() {
    drive(&tcp_seeds(), fuzz_tcp);
}

#[test]
fn arp() {
    drive(&[arp_seed()], fuzz_arp);
}

#[test]
fn aodv() {
    drive(&aodv_seeds(), fuzz_aodv);
}

#[test]
fn dsdv() {
    drive_with(&[dsdv_seed()], 10 * INPUTS, fuzz_dsdv);
}

#[test]
fn olsr() {
    drive_with(&[olsr_seed()], 10 * INPUTS, fuzz_olsr);
}

#[test]
fn congestion() {
    drive(&congestion_seeds(), fuzz_congestion);
}

#[test]
fn diffq() {
    drive_with(&diffq_seeds(), 10 * INPUTS, fuzz_diffq);
}

#[test]
fn c3l() {
    drive_with(&c3l_seeds(), 10 * INPUTS, fuzz_c3l);
}

#[test]
fn more() {
    drive_with(&more_seeds(), 10 * INPUTS, fuzz_more);
}

#[test]
fn exor() {
    drive_with(&exor_seeds(), 10 * INPUTS, fuzz_exor);
}

#[test]
fn airtime() {
    drive_with(&airtime_seeds(), 10 * INPUTS, fuzz_airtime);
}

#[test]
fn rate_transport() {
    drive_with(&rate_seeds(), 10 * INPUTS, fuzz_rate);
}

#[test]
fn atp_headers() {
    drive_with(&atp_seeds(), 10 * INPUTS, fuzz_atp);
}

#[test]
fn exact_headers() {
    drive_with(&exact_seeds(), 10 * INPUTS, fuzz_exact);
}

#[test]
fn probes() {
    drive_with(&probe_seeds(), 10 * INPUTS, fuzz_probe);
}

#[test]
fn ethernet() {
    drive(&[ethernet_seed()], fuzz_ethernet);
}

#[test]
fn llc() {
    drive(&[llc_seed()], fuzz_llc);
}

/// Every decoder on the bytes of every other format.
#[test]
fn crosswise() {
    let mut seeds = frames();
    seeds.extend([ipv4_seed(), udp_seed(), arp_seed(), ethernet_seed(), llc_seed()]);
    seeds.extend(tcp_seeds());
    seeds.extend(packet_seeds());
    seeds.extend(aodv_seeds());
    seeds.push(dsdv_seed());
    seeds.push(olsr_seed());
    seeds.extend(congestion_seeds());
    seeds.extend(diffq_seeds());
    seeds.extend(c3l_seeds());
    seeds.extend(more_seeds());
    seeds.extend(exor_seeds());
    seeds.extend(rate_seeds());
    seeds.extend(atp_seeds());
    seeds.extend(exact_seeds());
    seeds.extend(probe_seeds());
    seeds.extend(radiotap_seeds());
    seeds.push(pcapng_seed());
    drive(&seeds, fuzz_all);
}
