//! Capture of interfaces' packets as files, and a table of frames: transmissions, receptions, losses.
//!
//! Records are given after each event, while a packet still is as it was when its frame left.
//!
//! | file | contents |
//! |---|---|
//! | `addresses` | MAC and IP addresses of interfaces |
//! | `bytes` | a frame as bytes |
//! | `file` | packets of a node's interfaces in order of time, as blocks of a file |
//! | `table` | rows of events, as columns |

mod addresses;
mod bytes;
mod file;
mod table;

use std::collections::BTreeMap;

use airfair_units::{Dbm, Time};

use crate::air::Air;
use crate::ids::{CopyRef, LinkRef, NodeIx, PacketRef, PortIx, StationIx, WireIx};
use crate::link::opposite;
use crate::node::Network;
use crate::observe::describe::{self, PacketDescription};
use crate::observe::{Observer, WorldView};
use crate::record::{FrameKind, FrameView, Names, Record, Signal};
pub use addresses::Addresses;
use file::{Captured, File};

use table::Rows;

pub use table::{Columns, Labels};

/// Settings of a capture.
#[derive(Debug, Clone)]
pub struct CaptureSpec {
    /// Interfaces to capture, by their indices in [`World::queues`](crate::World::queues).
    pub interfaces: Vec<PortIx>,
    /// Largest number of bytes stored of a packet, radiotap header included; 0: all.
    pub snap_len: u32,
    /// True if frames received with errors are captured too.
    pub errors: bool,
    /// True if the table of frames is built.
    pub rows: bool,
    /// The table contains rows of this node only.
    pub node: Option<NodeIx>,
    /// Start of capture and table (inclusive).
    pub from: Time,
    /// End of capture and table (exclusive).
    pub until: Time,
}

/// A frame on the air, with its packet.
#[derive(Debug, Clone)]
struct OnAir {
    frame: FrameView,
    carried: Option<PacketDescription>,
    /// Number of earlier transmissions of the packet by its station.
    retries: u8,
    /// Traffic identifier in its QoS Control field, if it has one.
    tid: Option<u8>,
}

/// The packet that a station is sending.
#[derive(Debug, Clone)]
struct StationPacket {
    packet: PacketRef,
    described: PacketDescription,
    retries: u8,
}

/// Observer that captures packets.
pub(crate) struct Capture {
    spec: CaptureSpec,
    addresses: Addresses,
    /// One file for each captured node.
    files: Vec<File>,
    /// Destination of a port's packets: a file, and the number of the interface in it.
    file_of_port: Vec<Option<(usize, u32)>>,
    /// Frames that have not ended at all hearers, by number.
    on_air: BTreeMap<u32, OnAir>,
    echo: u64,
    /// Packet that each category of a station sends, and retries after the packet has moved on.
    carrying: BTreeMap<(StationIx, Option<u8>), StationPacket>,
    /// Category that each station has sent last.
    last_sent: Vec<Option<u8>>,
    rows: Rows,
}

impl Observer for Capture {
    fn record(&mut self, at: Time, record: &Record, world: &WorldView<'_>) {
        let WorldView { air, network, .. } = *world;
        match *record {
            Record::Start { frame } => self.on_start(frame, world),
            Record::Received { frame, at: station, signal } => {
                self.on_arrival(&frame, station, signal, false, air, network);
            }
            Record::Overheard { frame, at: station, signal, loss } => {
                self.on_arrival(&frame, station, signal, loss.is_some(), air, network);
            }
            Record::Lost { frame, at: station, loss, signal } if loss.ends_with_the_frame() => {
                self.on_arrival(&frame, station, signal, true, air, network);
            }
            Record::OnWire { wire, copy, begin, arrival, lost, end: _ } => {
                self.wire_sent(wire, copy, (begin, (!lost).then_some(arrival)), network);
            }
            _ => {}
        }
        self.add_row(at, record, world);
    }

    fn event_done(&mut self, world: &WorldView<'_>) {
        self.remove_ended(world.now);
    }
}

impl Capture {
    /// Starts at the start of a run. `radios`: names of the stations' radios.
    pub(crate) fn new(
        spec: CaptureSpec,
        (names, radios): (&Names, &[String]),
        air: &mut Air,
        network: &Network,
    ) -> Self {
        let interfaces = &network.plane.interfaces;
        let ports: Vec<(NodeIx, LinkRef)> =
            interfaces.ports().map(|port| (interfaces.node(port), interfaces.link(port))).collect();
        let mut capture = Self {
            addresses: Addresses::new(&names.nodes, ports.iter().map(|port| port.0)),
            files: Vec::new(),
            file_of_port: vec![None; ports.len()],
            on_air: BTreeMap::new(),
            echo: air.max_delay_after_end().as_nanos(),
            carrying: BTreeMap::new(),
            last_sent: vec![None; air.len()],
            rows: Rows::new(network.endpoints.udp.any()),
            spec,
        };
        // The queues of a radio's access categories share an interface.
        let of_link = |&port: &PortIx| match ports.get(port.ix()) {
            Some(&(_, LinkRef::Station(station))) => network.plane.interfaces.of_station(station).1,
            _ => port,
        };
        let mut interfaces: Vec<PortIx> = capture.spec.interfaces.iter().map(of_link).collect();
        interfaces.sort_unstable();
        interfaces.dedup();
        for port in interfaces {
            let Some(&(node, link)) = ports.get(port.ix()) else { continue };
            let name = names.nodes[node.ix()].as_str();
            if capture.files.last().is_none_or(|file| file.node != node) {
                capture.files.push(File::new(node));
            }
            let at = capture.files.len() - 1;
            let target = match link {
                LinkRef::Station(station) => &radios[station.ix()],
                LinkRef::Wire(wire) => &names.nodes[network.plane.links.far_end(wire).ix()],
            };
            let link_type = bytes::link_type(link, &network.plane.rules.headers);
            let number = capture.files[at].add_interface(link_type, capture.spec.snap_len, name, target);
            capture.file_of_port[port.ix()] = Some((at, number));
            if let LinkRef::Station(station) = link {
                air.monitor(station);
            }
        }
        capture
    }

    /// Removes frames that have ended at all hearers.
    fn remove_ended(&mut self, now: Time) {
        self.on_air.retain(|_, on_air| on_air.frame.end.0 + self.echo >= now.0);
    }

    fn in_time(&self, at: Time) -> bool {
        self.spec.from <= at && at < self.spec.until
    }

    /// Handles the start of a frame.
    fn on_start(&mut self, frame: FrameView, world: &WorldView<'_>) {
        let WorldView { air, network, .. } = *world;
        let mac = air.mac(frame.sender);
        let mut on_air = OnAir { frame, carried: None, retries: 0, tid: None };
        if matches!(frame.kind, FrameKind::Data | FrameKind::Broadcast) {
            let key = (frame.sender, frame.category);
            self.last_sent[frame.sender.ix()] = frame.category;
            match self.carrying.get_mut(&key) {
                // A retry: the packet may have reached the next hop already, and be changed there, or have ended.
                Some(known) if frame.retry && known.packet == frame.packet => {
                    known.retries = known.retries.saturating_add(1);
                }
                _ => match describe::packet(network, frame.packet) {
                    Some(described) => {
                        let packet = StationPacket { packet: frame.packet, described, retries: 0 };
                        self.carrying.insert(key, packet);
                    }
                    None => _ = self.carrying.remove(&key),
                },
            }
            let carrying = self.carrying.get(&key);
            on_air.carried = carrying.map(|carrying| carrying.described.clone());
            on_air.retries = carrying.map_or(0, |carrying| carrying.retries);
            on_air.tid = mac.tid(frame.category);
        }
        let port = network.plane.interfaces.of_station(frame.sender).1;
        if let Some((file, interface)) = self.file_of_port[port.ix()]
            && self.in_time(frame.start)
        {
            let kind = air.phy(frame.sender);
            let power = world.run.tx_power[frame.sender.ix()].0 + f64::from(frame.power_offset) / 100.0;
            let header = bytes::sent_header(&on_air, (kind, mac), Dbm(power));
            let bytes = bytes::frame(&on_air, &header, kind, &self.addresses, network, self.spec.snap_len);
            self.files[file].push(Captured { interface, ..bytes.at(frame.start.0, true) });
        }
        self.on_air.insert(frame.number, on_air);
    }

    /// Captures a frame that has arrived at a station, whole or with errors.
    fn on_arrival(
        &mut self,
        frame: &FrameView,
        station: StationIx,
        signal: Signal,
        bad: bool,
        air: &Air,
        network: &Network,
    ) {
        let port = network.plane.interfaces.of_station(station).1;
        let Some((file, interface)) = self.file_of_port[port.ix()] else { return };
        let start = frame.start + signal.delay;
        if bad && !self.spec.errors || !self.in_time(start) {
            return;
        }
        let Some(on_air) = self.on_air.get(&frame.number) else { return };
        let kind = air.phy(station);
        let header = bytes::received_header(on_air, signal, bad, kind);
        let bytes = bytes::frame(on_air, &header, kind, &self.addresses, network, self.spec.snap_len);
        self.files[file].push(Captured { interface, bad, ..bytes.at(start.0, false) });
    }

    /// Captures a packet that a wire has accepted: its times of departure and arrival are known, unless it is lost.
    fn wire_sent(&mut self, wire: WireIx, copy: CopyRef, times: (Time, Option<Time>), network: &Network) {
        let [near, far] = [wire, opposite(wire)].map(|wire| network.plane.links.port(wire));
        if [near, far].iter().all(|&port| self.file_of_port[port.ix()].is_none()) {
            return;
        }
        let Some(described) = describe::copy(network, copy) else { return };
        let bytes = bytes::wired(
            &described,
            near,
            far,
            &self.addresses,
            &network.plane.rules.headers,
            self.spec.snap_len,
        );
        for (port, time, sent) in [(near, Some(times.0), true), (far, times.1, false)] {
            if let Some((file, interface)) = self.file_of_port[port.ix()]
                && let Some(time) = time.filter(|&time| self.in_time(time))
            {
                self.files[file].push(Captured { interface, ..bytes.at(time.0, sent) });
            }
        }
    }

    /// Adds a row for a record.
    fn add_row(&mut self, at: Time, record: &Record, world: &WorldView<'_>) {
        let names = &world.run.names;
        let requested = self.spec.rows
            && self.in_time(at)
            && self.spec.node.is_none_or(|node| names.concerns(record, node));
        if requested {
            let carried = |number: u32| self.on_air.get(&number).and_then(|on_air| on_air.carried.clone());
            let held = |station: StationIx, packet: Option<PacketRef>| {
                let carrying = match packet {
                    Some(packet) => {
                        let of_station = self.carrying.range((station, None)..=(station, Some(u8::MAX)));
                        of_station.map(|(_, carrying)| carrying).find(|carrying| carrying.packet == packet)
                    }
                    None => self.carrying.get(&(station, self.last_sent[station.ix()])),
                };
                carrying.map(|carrying| carrying.described.clone())
            };
            if let Some(row) = table::row(record, at, names, world.air, carried, held) {
                self.rows.push((at.0, world.now.0, !record.is_of_the_air()), row);
            }
        }
    }

    /// Blocks of the files of nodes, of packets before `now`, or all at the end of the run; fewer than `least` bytes are kept for a later
    /// call.
    pub(crate) fn take_captures(
        &mut self,
        now: Time,
        over: bool,
        least: usize,
        names: &Names,
    ) -> Vec<(NodeIx, Vec<u8>)> {
        // A frame on the air may still be received, with the time of its first bit.
        let horizon = self.on_air.values().next().map_or(now, |on_air| on_air.frame.start.min(now));
        let mut taken = Vec::new();
        for file in &mut self.files {
            file.write_before(if over { now } else { horizon }.0, &self.addresses, names);
            if let Some(bytes) = file.take(if over { 1 } else { least }) {
                taken.push((file.node, bytes));
            }
        }
        taken
    }

    /// Rows before `settled`, of which all are known; fewer than `least` are kept for a later call.
    pub(crate) fn take_rows(&mut self, settled: Time, least: usize, names: &Names) -> Option<Columns> {
        self.rows.take(settled.0, least, names)
    }
}
