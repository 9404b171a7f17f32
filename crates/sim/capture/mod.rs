//! Looking at a run: what interfaces send and receive, as capture files, and a table of all that becomes of frames.
//!
//! A world that is looked at goes from event to event and asks air and net after each what has happened: only then a packet is still
//! what it was when its frame left. A world that is not looked at does not know of this module.
//!
//! | file | its one idea |
//! |---|---|
//! | `addresses` | MAC and IP addresses of interfaces |
//! | `bytes` | a frame as bytes |
//! | `file` | packets of a node's interfaces in the order of time, as the blocks of a file |
//! | `table` | rows for what happens, as columns |

mod addresses;
mod bytes;
mod file;
mod table;

use std::collections::BTreeMap;
use std::sync::PoisonError;

use airfair_units::{Dbm, Time};

use crate::air::{Air, BROADCAST, FrameKind};
use crate::ids::StationIx;
use crate::measure::trace::{FrameView, Names, Record, Signal, Trace};
use crate::net::{Behind, Described, InFlight, Net, Sent};
use addresses::Addresses;
use file::{Captured, File};

use table::Rows;

pub use table::{Columns, Labels};

/// What is looked at.
#[derive(Debug, Clone)]
pub struct Watch {
    /// Interfaces whose traffic is captured: places in [`World::queues`](crate::World::queues).
    pub interfaces: Vec<usize>,
    /// Most bytes that are kept of a packet, radiotap header included; 0: all.
    pub snap_len: u32,
    /// Frames that a radio received with errors are captured too.
    pub errors: bool,
    /// Whether the table of frames is made.
    pub rows: bool,
    /// It tells of this node only.
    pub node: Option<u32>,
    /// Captures and table tell what happens from here on ...
    pub from: Time,
    /// ... and before.
    pub until: Time,
}

/// A frame on the air, and what it carries.
#[derive(Debug, Clone)]
struct OnAir {
    frame: FrameView,
    carried: Option<Described>,
    /// How often its station had sent it before.
    retries: u8,
}

/// What a station is busy with.
#[derive(Debug, Clone)]
struct Carrying {
    packet: u64,
    described: Described,
    retries: u8,
}

/// Looks at a world.
pub(crate) struct Observer {
    watch: Watch,
    addresses: Addresses,
    /// By station.
    tx_power: Vec<Dbm>,
    /// A file for each node that is captured.
    files: Vec<File>,
    /// Where the packets of a port go: a file, and the number of the interface in it.
    file_of_port: Vec<Option<(usize, u32)>>,
    /// What wires have sent whose traffic goes into a file.
    sent: Sent,
    /// By number: frames whose end has not been heard everywhere.
    on_air: BTreeMap<u32, OnAir>,
    echo: u64,
    /// What each station sends, and sends again after the packet has moved on.
    carrying: Vec<Option<Carrying>>,
    rows: Rows,
}

impl Observer {
    /// Begins at the start of a run.
    pub(crate) fn new(
        watch: Watch,
        names: &Names,
        targets: &[(String, String)],
        tx_power: Vec<Dbm>,
        air: &mut Air,
        net: &mut Net,
    ) -> Self {
        let ports: Vec<(u32, Behind)> = net.ports().collect();
        let mut observer = Self {
            addresses: Addresses::new(&names.nodes, &ports),
            files: Vec::new(),
            file_of_port: vec![None; ports.len()],
            sent: Sent::default(),
            on_air: BTreeMap::new(),
            echo: air.longest_echo().as_nanos(),
            carrying: vec![None; air.len()],
            rows: Rows::default(),
            tx_power,
            watch,
        };
        let mut interfaces = observer.watch.interfaces.clone();
        interfaces.sort_unstable();
        interfaces.dedup();
        for port in interfaces {
            let Some(&(node, behind)) = ports.get(port) else { continue };
            let name = names.nodes[node as usize].as_str();
            if observer.files.last().is_none_or(|file| file.node != node) {
                observer.files.push(File::new(node));
            }
            let at = observer.files.len() - 1;
            let link_type = bytes::link_type(behind, net.headers());
            let number =
                observer.files[at].add_interface(link_type, observer.watch.snap_len, name, &targets[port].1);
            observer.file_of_port[port] = Some((at, number));
            match behind {
                Behind::Station(station) => air.monitor(StationIx(station)),
                // What comes goes by the wire of the other end.
                Behind::Wire(wire) => {
                    [wire, wire ^ 1].into_iter().for_each(|wire| net.capture_wire(wire, &observer.sent));
                }
            }
        }
        observer
    }

    /// Sees what has happened by `now` and since the last call.
    pub(crate) fn see(&mut self, happened: &Trace, names: &Names, air: &Air, net: &Net, now: u64) {
        for &(at, record) in happened {
            match record {
                Record::Start { frame } => self.starts(frame, air, net),
                Record::Received { frame, at: station, signal } => {
                    self.arrived(&frame, station, signal, false, air, net);
                }
                Record::Overheard { frame, at: station, signal, loss } => {
                    self.arrived(&frame, station, signal, loss.is_some(), air, net);
                    continue;
                }
                Record::Lost { frame, at: station, loss, signal } if loss.ends_with_the_frame() => {
                    self.arrived(&frame, station, signal, true, air, net);
                }
                _ => {}
            }
            self.tell(at, &record, names, air);
        }
        let sent = std::mem::take(&mut *self.sent.lock().unwrap_or_else(PoisonError::into_inner));
        for (wire, packet) in sent {
            self.wire_sent(wire, packet, net);
        }
        self.on_air.retain(|_, on_air| on_air.frame.end + self.echo >= now);
    }

    fn in_time(&self, at: u64) -> bool {
        self.watch.from.0 <= at && at < self.watch.until.0
    }

    /// A frame goes on the air.
    fn starts(&mut self, frame: FrameView, air: &Air, net: &Net) {
        let mut on_air = OnAir { frame, carried: None, retries: 0 };
        if matches!(frame.kind, FrameKind::Data | FrameKind::Broadcast) {
            let carrying = &mut self.carrying[frame.sender as usize];
            match carrying {
                // It may have reached the next hop already, and be another packet there, or none.
                Some(known) if frame.retry && known.packet == frame.packet => {
                    known.retries = known.retries.saturating_add(1);
                }
                _ => {
                    let described = net.describe(frame.packet);
                    *carrying =
                        described.map(|described| Carrying { packet: frame.packet, described, retries: 0 });
                }
            }
            on_air.carried = carrying.as_ref().map(|carrying| carrying.described.clone());
            on_air.retries = carrying.as_ref().map_or(0, |carrying| carrying.retries);
        }
        let port = net.port_of_station(frame.sender);
        if let Some((file, interface)) = self.file_of_port[port as usize]
            && self.in_time(frame.start)
        {
            let kind = air.phy(StationIx(frame.sender));
            let power = self.tx_power[frame.sender as usize];
            let header = bytes::sent_header(&on_air, (kind, air.mac(StationIx(frame.sender))), power);
            let bytes = bytes::frame(&on_air, &header, kind, &self.addresses, net, self.watch.snap_len);
            self.files[file].push(Captured { interface, ..bytes.at(frame.start, true) });
        }
        self.on_air.insert(frame.number, on_air);
    }

    /// A frame has arrived at a station, whole or with errors.
    fn arrived(&mut self, frame: &FrameView, station: u32, signal: Signal, bad: bool, air: &Air, net: &Net) {
        let port = net.port_of_station(station);
        let Some((file, interface)) = self.file_of_port[port as usize] else { return };
        let start = frame.start + u64::from(signal.delay);
        if bad && !self.watch.errors || !self.in_time(start) {
            return;
        }
        let Some(on_air) = self.on_air.get(&frame.number) else { return };
        let kind = air.phy(StationIx(station));
        let header = bytes::received_header(on_air, signal, bad, kind);
        let bytes = bytes::frame(on_air, &header, kind, &self.addresses, net, self.watch.snap_len);
        self.files[file].push(Captured { interface, bad, ..bytes.at(start, false) });
    }

    /// A packet that has entered a wire leaves at a known time and arrives at one.
    fn wire_sent(&mut self, wire: u32, packet: InFlight, net: &Net) {
        let Some(described) = net.describe(packet.packet) else { return };
        let (far, near) = (net.far_port(wire), net.far_port(wire ^ 1));
        let bytes = bytes::wired(&described, near, far, &self.addresses, net.headers(), self.watch.snap_len);
        for (port, time, sent) in [(near, packet.begin, true), (far, packet.arrival, false)] {
            if let Some((file, interface)) = self.file_of_port[port as usize]
                && self.in_time(time)
                && (sent || !packet.lost)
            {
                self.files[file].push(Captured { interface, ..bytes.at(time, sent) });
            }
        }
    }

    /// What happens becomes a row.
    fn tell(&mut self, at: u64, record: &Record, names: &Names, air: &Air) {
        let asked = self.watch.rows
            && self.in_time(at)
            && self.watch.node.is_none_or(|node| names.concerns(record, node));
        if asked {
            let carried = |number: u32| self.on_air.get(&number).and_then(|on_air| on_air.carried.clone());
            let held = |station: u32| {
                self.carrying[station as usize].as_ref().map(|c| (c.packet, c.described.clone()))
            };
            if let Some(row) = table::row(record, at, names, air, carried, held) {
                self.rows.push(at, row);
            }
        }
    }

    /// Blocks of the files of nodes, whose packets are all before `now`, or the end of the run; less than `least` bytes wait for more.
    pub(crate) fn take_captures(
        &mut self,
        now: u64,
        over: bool,
        least: usize,
        names: &Names,
    ) -> Vec<(u32, Vec<u8>)> {
        // A frame that is on the air may be received yet, and its time is that of its first bit.
        let on_air = self.on_air.values().next().map_or(now, |on_air| on_air.frame.start);
        let horizon = on_air.min(now);
        let mut taken = Vec::new();
        for file in &mut self.files {
            file.write_before(if over { now } else { horizon }, &self.addresses, names);
            if let Some(bytes) = file.take(if over { 1 } else { least }) {
                taken.push((file.node, bytes));
            }
        }
        taken
    }

    /// Rows that are before `now` by more than a band's width, or all at the end; fewer than `least` wait for more.
    pub(crate) fn take_rows(&mut self, now: u64, over: bool, least: usize) -> Option<Columns> {
        let settled = if over { u64::MAX } else { now.saturating_sub(crate::air::BAND_NS) };
        self.rows.take(settled, if over { 1 } else { least })
    }
}

/// The receiver of a frame, unless it is for everybody.
fn receiver(frame: &FrameView) -> Option<u32> {
    (frame.receiver != BROADCAST.0).then_some(frame.receiver)
}
