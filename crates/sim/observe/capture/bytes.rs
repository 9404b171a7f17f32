//! Frames as bytes: headers from what the simulator stores of a packet, and a payload of zeros.
//!
//! A frame is as long as the simulator charged for it. If the scenario counts more bytes for a header than the header has, zeros follow the
//! IP packet; if it counts fewer, the frame is longer than charged, since the headers are real.

use airfair_schemes::places::Ecn as Mark;
use airfair_transport::Segment;
use airfair_units::{Attowatts, Dbm};
use airfair_wire::ieee80211::{
    Ack, AckPolicy, Addresses as Direct, CfEnd, Cts, DataHeader, Fcs, NavDuration, QosControl, Rts, Tid,
};
use airfair_wire::ieee80211::{FragmentNumber, SequenceControl, SequenceNumber};
use airfair_wire::ip::set_ce;
use airfair_wire::ipv4::{self, Ecn, Protocol};
use airfair_wire::pcapng::LinkType;
use airfair_wire::radiotap::{Channel, Flags, Radiotap, TxFlags};
use airfair_wire::rate::Data;
use airfair_wire::tcp::{self, Options, SackBlock, Timestamps, WindowScale};
use airfair_wire::{Arp, EtherType, Ethernet, Ipv4, LlcSnap, MacAddr, Tcp, Udp, arp, udp};

use super::OnAir;
use super::addresses::Addresses;
use super::file::Captured;
use crate::air::{MacKind, PhyKind};
use crate::ids::{LinkRef, NodeIx, PortIx, StationIx};
use crate::modes::Mode;
use crate::node::Network;
use crate::observe::describe::{Body, PacketDescription, SchemeHeader};
use crate::record::{FrameKind, Signal};
use crate::route::Datagram;
use crate::spec::{HeaderSpec, Protection, Standard};

/// Destination port of data: the discard service [RFC 863], which no analyser dissects.
const DISCARD: u16 = 9;
/// Destination port of connections of flows that have many: an unassigned port.
const FILES: u16 = 10;
/// Source and destination port of agents' messages.
const CONTROL: u16 = 11;
/// First of the 16,384 dynamic ports [RFC 6335 section 6]: source ports are numbered from it.
const DYNAMIC: u16 = 49_152;

/// Bytes of payload.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// Captured bytes of a packet.
#[derive(Debug)]
pub(super) struct Bytes {
    kept: Vec<u8>,
    original_len: usize,
    nodes: Option<[NodeIx; 2]>,
}

impl Bytes {
    /// The packet with its time, at interface 0.
    pub(super) fn at(&self, time: u64, sent: bool) -> Captured {
        Captured {
            time,
            interface: 0,
            data: self.kept.clone(),
            original_len: u32::try_from(self.original_len).unwrap_or(u32::MAX),
            sent,
            bad: false,
            nodes: self.nodes,
        }
    }
}

/// Link type of a port's packets.
pub(super) fn link_type(link: LinkRef, headers: &HeaderSpec) -> LinkType {
    match link {
        LinkRef::Station(_) => LinkType::RADIOTAP,
        LinkRef::Wire(_) if has_ethernet(headers) => LinkType::ETHERNET,
        LinkRef::Wire(_) => LinkType::IPV4,
    }
}

/// True if the framing of the scenario's wires has room for an Ethernet header.
fn has_ethernet(headers: &HeaderSpec) -> bool {
    headers.wired as usize >= Ethernet::wire_len()
}

/// Radiotap header of a frame that a radio has sent.
pub(super) fn sent_header(on_air: &OnAir, (kind, mac): (&PhyKind, &MacKind), power: Dbm) -> Radiotap {
    let frame = &on_air.frame;
    let data = frame.kind == FrameKind::Data;
    // Until RTS go first every failed attempt is a data frame.
    let rts_cts = data && mac.uses_rts_after(on_air.retries.into(), frame.mode, frame.bytes);
    Radiotap {
        tx_power_dbm: Some(whole_dbm(power)),
        tx_flags: Some(TxFlags {
            cts_to_self: data && !rts_cts && mac.modes[frame.mode].protection == Protection::CtsToSelf,
            rts_cts,
            no_ack: !data,
        }),
        data_retries: data.then_some(on_air.retries),
        ..common_header(on_air, kind, frame.end.0, false)
    }
}

/// Radiotap header of a frame that a radio has received.
pub(super) fn received_header(on_air: &OnAir, signal: Signal, bad: bool, kind: &PhyKind) -> Radiotap {
    Radiotap {
        signal_dbm: Some(whole_dbm(signal.power.to_dbm())),
        noise_dbm: Some(whole_dbm(Attowatts(kind.noise).to_dbm())),
        ..common_header(on_air, kind, (on_air.frame.end + signal.delay).0, bad)
    }
}

/// The time stamp is that of the frame's end. Radiotap specifies that of the MPDU's first bit, but Wireshark, by default, computes a
/// frame's start, its end and the silence before it correctly only from one at the end, which most drivers give.
fn common_header(on_air: &OnAir, kind: &PhyKind, end: u64, bad_fcs: bool) -> Radiotap {
    let mode = on_air.frame.mode;
    let short_preamble = mode.shortens(kind.format.preamble);
    Radiotap {
        tsft: Some(end / 1000),
        flags: Some(Flags { short_preamble, fcs: true, bad_fcs }),
        rate: u8::try_from(mode.rate().as_bps() / 500_000).ok(),
        channel: Some(channel(kind, mode)),
        ..Radiotap::default()
    }
}

fn whole_dbm(level: Dbm) -> i8 {
    level.0.round().clamp(-128.0, 127.0) as i8
}

/// The centre frequency of a channel [802.11-2016 15.4.4.3, 17.3.8.4.2]: 5 GHz for 802.11a, else 2.4 GHz.
fn channel(kind: &PhyKind, mode: Mode) -> Channel {
    let number = kind.channel;
    let modulation = if mode.is_ofdm() { Channel::OFDM } else { Channel::CCK };
    match (kind.format.standard, number) {
        (Standard::Dot11a, _) => {
            Channel { mhz: 5000 + 5 * number.min(1000), flags: modulation | Channel::GHZ_5 }
        }
        (_, 14) => Channel { mhz: 2484, flags: modulation | Channel::GHZ_2 },
        _ => Channel { mhz: 2407 + 5 * number.min(1000), flags: modulation | Channel::GHZ_2 },
    }
}

/// Builder of the front of a packet; the rest is a payload of zeros.
struct PacketFront(Vec<u8>);

impl PacketFront {
    /// Adds a header by its encoder and length from the wire crate.
    fn add<E: std::fmt::Debug>(&mut self, len: usize, encode: impl FnOnce(&mut [u8]) -> Result<usize, E>) {
        let at = self.0.len();
        self.0.resize(at + len, 0);
        encode(&mut self.0[at..]).expect("the buffer is as long as the header");
    }
}

/// An 802.11 frame behind a radiotap header.
pub(super) fn frame(
    on_air: &OnAir,
    header: &Radiotap,
    kind: &PhyKind,
    addresses: &Addresses,
    network: &Network,
    snap_len: u32,
) -> Bytes {
    let frame = &on_air.frame;
    let mut front = PacketFront(Vec::with_capacity(160));
    front.add(header.wire_len(), |buffer| header.encode(buffer));
    let before = front.0.len();
    let mac = |station: StationIx| addresses.mac(network.plane.interfaces.of_station(station).1);
    let transmitter = mac(frame.sender);
    let receiver = frame.receiver.map_or(MacAddr::BROADCAST, mac);
    let duration = NavDuration::saturating(u16::try_from(frame.nav_us).unwrap_or(u16::MAX));
    let mut nodes = None;
    let mut rest = 0;
    match frame.kind {
        FrameKind::Rts => {
            let rts = Rts { duration, receiver, transmitter };
            front.add(Rts::wire_len(), |buffer| rts.encode(buffer));
        }
        FrameKind::Cts => front.add(Cts::wire_len(), |buffer| Cts { duration, receiver }.encode(buffer)),
        FrameKind::Ack => front.add(Ack::wire_len(), |buffer| Ack { duration, receiver }.encode(buffer)),
        FrameKind::CfEnd => {
            let cf_end = CfEnd { duration, receiver, transmitter };
            front.add(CfEnd::wire_len(), |buffer| cf_end.encode(buffer));
        }
        FrameKind::Data | FrameKind::Broadcast => {
            let [high, low] = kind.channel.to_be_bytes();
            // One cell for each channel.
            let bssid = MacAddr([2, 0xff, 0xff, 0xff, high, low]);
            let ends = Direct::Direct { destination: receiver, source: transmitter, bssid };
            let number = SequenceNumber::saturating(frame.sequence);
            let sequence = SequenceControl { number, fragment: FragmentNumber::default() };
            let qos = on_air.tid.map(|tid| QosControl {
                tid: Tid::saturating(tid),
                ack_policy: if frame.receiver.is_some() { AckPolicy::Normal } else { AckPolicy::NoAck },
                ..QosControl::default()
            });
            let data = DataHeader { retry: frame.retry, qos, ..DataHeader::new(ends, duration, sequence) };
            front.add(data.wire_len(), |buffer| data.encode(buffer));
            if let Some(carried) = &on_air.carried {
                let llc = LlcSnap::new(ether_type(&carried.body));
                front.add(LlcSnap::wire_len(), |buffer| llc.encode(buffer));
                rest = packet(&mut front, carried, addresses, transmitter, receiver);
                nodes = Some([carried.source, carried.destination]);
            }
            let real = front.0.len() - before + rest + Fcs::wire_len();
            rest += (frame.bytes as usize).saturating_sub(real);
            return finish(front, before, rest, header, snap_len, nodes);
        }
    }
    if header.flags.is_some_and(|flags| flags.bad_fcs) {
        corrupt(&mut front.0);
    }
    truncate(front, rest, snap_len, nodes)
}

/// Adds the FCS of a data frame.
fn finish(
    mut front: PacketFront,
    before: usize,
    rest: usize,
    header: &Radiotap,
    snap_len: u32,
    nodes: Option<[NodeIx; 2]>,
) -> Bytes {
    let whole = front.0.len() + rest + Fcs::wire_len();
    // The checksum over all of a long frame is computed only if it is stored.
    if snap_len == 0 || whole <= snap_len as usize {
        front.0.resize(whole, 0);
        Fcs::seal(&mut front.0[before..]).expect("there is room for it");
        if header.flags.is_some_and(|flags| flags.bad_fcs) {
            corrupt(&mut front.0);
        }
        return truncate(front, 0, snap_len, nodes);
    }
    truncate(front, rest + Fcs::wire_len(), snap_len, nodes)
}

/// Corrupts a frame received with errors: which bits were wrong is unknown, so the last ones are changed.
fn corrupt(bytes: &mut [u8]) {
    bytes.iter_mut().rev().take(Fcs::wire_len()).for_each(|byte| *byte = !*byte);
}

/// Cuts a front and `rest` zeros to the snap length.
fn truncate(front: PacketFront, rest: usize, snap_len: u32, nodes: Option<[NodeIx; 2]>) -> Bytes {
    let original_len = front.0.len() + rest;
    let most = if snap_len == 0 { usize::MAX } else { snap_len as usize };
    let mut kept = front.0;
    kept.resize(original_len.min(most), 0);
    Bytes { kept, original_len, nodes }
}

/// A packet on a wire, from port `near` to port `far`.
pub(super) fn wired(
    described: &PacketDescription,
    near: PortIx,
    far: PortIx,
    addresses: &Addresses,
    headers: &HeaderSpec,
    snap_len: u32,
) -> Bytes {
    let to_all = addresses.is_nobody(described.destination);
    let (source, destination) =
        (addresses.mac(near), if to_all { MacAddr::BROADCAST } else { addresses.mac(far) });
    let mut front = PacketFront(Vec::with_capacity(160));
    if has_ethernet(headers) {
        let ethernet = Ethernet { destination, source, ether_type: ether_type(&described.body) };
        front.add(Ethernet::wire_len(), |buffer| ethernet.encode(buffer));
    }
    let rest = packet(&mut front, described, addresses, source, destination);
    truncate(front, rest, snap_len, Some([described.source, described.destination]))
}

/// EtherType of a packet. One from outside whose number is none (a length) is shown as an experiment.
fn ether_type(body: &Body) -> EtherType {
    match body {
        Body::Arp { .. } => EtherType::ARP,
        Body::Forwarded(_) => EtherType::EXPERIMENTAL_1,
        Body::Foreign(Some(foreign)) => {
            EtherType::new(foreign.ethertype).unwrap_or(EtherType::EXPERIMENTAL_2)
        }
        _ => EtherType::IPV4,
    }
}

/// Adds the headers of a packet; returns how many bytes of payload follow.
fn packet(
    front: &mut PacketFront,
    described: &PacketDescription,
    addresses: &Addresses,
    transmitter: MacAddr,
    receiver: MacAddr,
) -> usize {
    let (source, destination) = (addresses.ip(described.source), addresses.ip(described.destination));
    let payload = described.payload as usize;
    let most = |header: usize| usize::from(ipv4::PayloadLen::MAX.get()) - header;
    let ends = (DYNAMIC + (described.flow.map_or(0, |flow| flow.0) & 0x3fff) as u16, DISCARD);
    match described.body {
        Body::Arp { request } => {
            let (operation, target_mac) = if request {
                (arp::Operation::Request, MacAddr::default())
            } else {
                (arp::Operation::Reply, receiver)
            };
            let sender_mac = transmitter;
            let arp = Arp { operation, sender_mac, sender_ip: source, target_mac, target_ip: destination };
            front.add(Arp::wire_len(), |buffer| arp.encode(buffer));
            0
        }
        Body::Udp { header, data } => {
            let (before, after) = header.parts();
            let (from, to) = ends;
            let mut number = [0; Data::wire_len()];
            let number = match data.map(|data| data.encode(&mut number)) {
                Some(_) => &number[..],
                None => &[],
            };
            let room = most(before.len() + Udp::wire_len() + number.len() + after.len());
            let payload = &ZEROS[..payload.min(room)];
            let udp = Udp::new(from, to, udp::PayloadLen::default());
            let udp = match data {
                Some(_) => udp.with_payload(source, destination, &[number, payload].concat()),
                None => udp.with_payload(source, destination, payload),
            };
            let udp = udp.expect("it was cut to what fits");
            let protocol = protocol(Protocol::UDP, &header);
            let len = before.len() + Udp::wire_len() + number.len() + payload.len() + after.len();
            ip(front, described, protocol, addresses, len);
            front.0.extend(before);
            front.add(Udp::wire_len(), |buffer| udp.encode(buffer));
            front.0.extend(number);
            end_with(front, payload, after)
        }
        Body::Report(ref report) => {
            // A report stands where the data's header does: before a datagram without payload.
            let udp = Udp::new(ends.1, ends.0, udp::PayloadLen::default());
            let udp = udp.with_payload(source, destination, &[]).expect("it is empty");
            let protocol = if report.is_empty() { Protocol::UDP } else { Protocol::EXPERIMENTAL_2 };
            ip(front, described, protocol, addresses, report.len() + Udp::wire_len());
            front.0.extend(report);
            front.add(Udp::wire_len(), |buffer| udp.encode(buffer));
            0
        }
        Body::Message(start) => {
            let mut bytes = vec![0; payload.min(most(Udp::wire_len()))];
            bytes.iter_mut().zip(start).for_each(|(to, from)| *to = from);
            let udp = Udp::new(CONTROL, CONTROL, udp::PayloadLen::default());
            let udp = udp.with_payload(source, destination, &bytes).expect("it was cut to what fits");
            ip(front, described, Protocol::UDP, addresses, Udp::wire_len() + bytes.len());
            front.add(Udp::wire_len(), |buffer| udp.encode(buffer));
            front.0.extend(bytes);
            0
        }
        Body::Routing(Datagram { port, ref bytes, .. }) => {
            let udp = Udp::new(port, port, udp::PayloadLen::default());
            let udp = udp.with_payload(source, destination, bytes).expect("it is short");
            ip(front, described, Protocol::UDP, addresses, Udp::wire_len() + bytes.len());
            front.add(Udp::wire_len(), |buffer| udp.encode(buffer));
            front.0.extend(&bytes[..]);
            0
        }
        Body::Tcp { segment, forward, shift, connection, header } => {
            let (before, after) = header.parts();
            let ends = connection.map_or(ends, |number| (DYNAMIC + (number & 0x3fff) as u16, FILES));
            let (from, to) = if forward { ends } else { (ends.1, ends.0) };
            let protocol = protocol(Protocol::TCP, &header);
            let tcp = tcp_header(&segment, from, to, shift);
            let payload = &ZEROS[..payload.min(most(before.len() + tcp.wire_len() + after.len()))];
            let tcp = tcp.with_payload(source, destination, payload).expect("it was cut to what fits");
            let len = before.len() + tcp.wire_len() + payload.len() + after.len();
            ip(front, described, protocol, addresses, len);
            front.0.extend(before);
            front.add(tcp.wire_len(), |buffer| tcp.encode(buffer));
            end_with(front, payload, after)
        }
        Body::Forwarded(ref header) => {
            // Its content is a packet or a combination of packets, whose bytes the simulator does not have.
            front.0.extend(header);
            payload.saturating_sub(header.len())
        }
        Body::Foreign(Some(ref foreign)) => {
            let (before, len) = (front.0.len(), foreign.bytes.len().min(payload));
            front.0.extend(&foreign.bytes[..len]);
            if described.ecn == Mark::Ce {
                // Bytes that are no IP packet have no field to mark.
                let _ = set_ce(ether_type(&described.body), &mut front.0[before..]);
            }
            payload - len
        }
        Body::Foreign(None) => {
            // An injected packet has its size as a whole, headers included.
            let payload = payload.saturating_sub(Ipv4::wire_len()).min(most(0));
            ip(front, described, Protocol::EXPERIMENTAL_1, addresses, payload);
            payload
        }
    }
}

/// The protocol that IP names: with a scheme's header, in front of the transport's or at the end, an experimental one, since nobody else
/// reads the packet right.
fn protocol(transport: Protocol, header: &SchemeHeader) -> Protocol {
    if header.is_empty() { transport } else { Protocol::EXPERIMENTAL_2 }
}

/// Adds a trailer with the payload before it, if there is one; returns how many bytes of payload follow.
fn end_with(front: &mut PacketFront, payload: &[u8], trailer: &[u8]) -> usize {
    if trailer.is_empty() {
        return payload.len();
    }
    front.0.extend(payload);
    front.0.extend(trailer);
    0
}

fn ip(
    front: &mut PacketFront,
    described: &PacketDescription,
    protocol: Protocol,
    addresses: &Addresses,
    payload: usize,
) {
    let len = u16::try_from(payload).ok().and_then(ipv4::PayloadLen::new).unwrap_or(ipv4::PayloadLen::MAX);
    // Segments have sequence numbers; packets of UDP are distinguished by this field [RFC 6864 section 4.1 allows any value].
    let identification = match described.body {
        Body::Tcp { .. } | Body::Forwarded(_) => 0,
        _ => described.sequence as u16,
    };
    let (source, destination) = (addresses.ip(described.source), addresses.ip(described.destination));
    let header = Ipv4 {
        ecn: match described.ecn {
            Mark::NotEct => Ecn::NotEct,
            Mark::Ect => Ecn::Ect0,
            Mark::Ce => Ecn::Ce,
        },
        identification,
        ttl: if let Body::Routing(Datagram { ttl, .. }) = described.body { ttl } else { described.ttl },
        ..Ipv4::new(protocol, source, destination, len)
    };
    front.add(Ipv4::wire_len(), |buffer| header.encode(buffer));
}

fn tcp_header(segment: &Segment, from: u16, to: u16, shift: u8) -> Tcp {
    let mut options = Options::NONE;
    if let Some(mss) = segment.mss {
        options = options.with_mss(mss);
    }
    if let Some(shift) = segment.window_scale {
        options = options.with_window_scale(WindowScale::saturating(shift));
    }
    if segment.sack_permitted {
        options = options.with_sack_permitted();
    }
    if let Some(stamps) = segment.timestamps {
        options = options.with_timestamps(Timestamps { value: stamps.value, echo: stamps.echo });
    }
    let block = |&(left, right): &(u64, u64)| SackBlock { left: left as u32, right: right as u32 };
    let blocks: Vec<SackBlock> = segment.sack.as_slice().iter().map(block).collect();
    if !blocks.is_empty() {
        options = options.with_sack(&blocks);
    }
    let flags = segment.flags;
    Tcp {
        acknowledgement: if flags.ack { segment.ack as u32 } else { 0 },
        flags: tcp::Flags {
            cwr: flags.cwr,
            ece: flags.ece,
            ack: flags.ack,
            psh: flags.psh,
            syn: flags.syn,
            fin: flags.fin,
            ..tcp::Flags::default()
        },
        window: u16::try_from(segment.window >> shift).unwrap_or(u16::MAX),
        options,
        ..Tcp::new(from, to, segment.seq as u32)
    }
}
