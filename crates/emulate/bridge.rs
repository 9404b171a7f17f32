//! Frames of devices that enter the world, and copies that leave it.

use std::collections::BTreeMap;
use std::sync::Arc;

use airfair_schemes::places::{Ecn, FlowId, Header, HeaderKind, PacketClass};
use airfair_sim::ids::NodeIx;
use airfair_sim::{Egress, Fate, Injection, PacketBytes, World};
use airfair_units::{Span, Time};
use airfair_wire::five_tuple::FiveTuple;
use rustix::io::Errno;
use serde::Serialize;

use crate::flows::{self, Counted, Flows};
use crate::frame::{Seen, echo, mark};
use crate::node::Tap;
use crate::plan::Plan;
use crate::source::{Edges, Leave, Sources};

/// Frames that are read from a device at once: the others have their turn then.
const AT_ONCE: usize = 64;

/// Largest frame that a device gives.
const LARGEST: usize = 65_536;

/// Most frames inside the world: some 100 MB. Queues of the scenario hold far fewer.
const MOST_INSIDE: usize = 65_536;

/// A frame inside the world.
#[derive(Debug, Clone, Default)]
struct Inside {
    frame: Vec<u8>,
    /// It carries a congestion mark.
    marked: bool,
    /// The IP packet in it, as its flow counts it, with the node of its destination.
    counted: Option<(Counted, NodeIx)>,
}

/// Counts of frames.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Read from devices.
    pub read: u64,
    /// Of those, for a group.
    pub to_groups: u64,
    /// Written to devices.
    pub written: u64,
    /// Written with a congestion mark that they did not have as they entered.
    pub marked: u64,
    /// Acknowledgements that echo congestion by a scheme's word.
    pub echoed: u64,
    /// For a station that no node has.
    pub unknown_station: u64,
    /// No Ethernet frame with a type, or one that the world refuses, as larger than a packet may be.
    pub refused: u64,
    /// Not taken since too many were inside: a fault of the emulation.
    pub too_many: u64,
    /// Refused by a device that is up: a fault of the emulation.
    pub not_written: u64,
    /// Not written to a device that a program has set down, or deleted.
    pub device_down: u64,
    /// Dropped in the world, by reason.
    pub dropped: BTreeMap<&'static str, u64>,
}

/// The setting of a bridge.
#[derive(Debug)]
pub struct Setting {
    /// The key of the numbers of flows.
    pub seed: u64,
    /// True if the world is given the frames' bytes.
    pub captures: bool,
    /// End of the warm-up.
    pub warmup: Time,
    /// Length of an interval of the flows' counts.
    pub interval: Span,
    /// The edges of the stacks, if the scheme has sources there.
    pub sources: Option<Sources>,
    /// The header in which queues announce their sizes, if the scheme has such queues (DiffQ's trailer): it is in the air only.
    pub label: Option<&'static HeaderKind>,
}

/// Devices and the frames inside the world.
#[derive(Debug)]
pub struct Bridge {
    plan: Plan,
    taps: Vec<Tap>,
    /// Devices by the number of the port.
    by_port: Vec<Option<usize>>,
    inside: Vec<Inside>,
    free: Vec<usize>,
    buffer: Vec<u8>,
    seed: u64,
    captures: bool,
    counts: Counts,
    flows: Flows,
    /// The edges of the stacks, if the scheme has sources there.
    sources: Option<Sources>,
    /// The header of IP packets in the air, if queues announce their sizes in one.
    label: Option<&'static HeaderKind>,
}

impl Bridge {
    /// For the devices of a plan's nodes.
    #[must_use]
    pub fn new(plan: Plan, taps: Vec<Tap>, setting: Setting) -> Self {
        let Setting { seed, captures, warmup, interval, sources, label } = setting;
        let mut by_port = Vec::new();
        for (at, tap) in taps.iter().enumerate() {
            let port = tap.port.0 as usize;
            by_port.resize(by_port.len().max(port + 1), None);
            by_port[port] = Some(at);
        }
        Self {
            plan,
            taps,
            by_port,
            inside: Vec::new(),
            free: Vec::new(),
            buffer: vec![0; LARGEST],
            seed,
            captures,
            counts: Counts::default(),
            flows: Flows::new(warmup, interval),
            sources,
            label,
        }
    }

    /// Takes the counts of the flows over time.
    pub fn take_intervals(&mut self) -> Vec<(usize, Vec<flows::Counts>)> {
        self.flows.take_intervals()
    }

    /// Connections at the edges of the stacks, if the scheme has sources there.
    #[must_use]
    pub fn edges(&self) -> Option<Edges> {
        self.sources.as_ref().map(Sources::edges)
    }

    /// Flows of the stacks so far.
    #[must_use]
    pub const fn flows(&self) -> &Flows {
        &self.flows
    }

    /// Counts so far.
    #[must_use]
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Reads what waits at a device; it enters the world now.
    pub fn read(&mut self, device: usize, world: &mut World) {
        for _ in 0..AT_ONCE {
            let Some(frames) = self.taps.get(device).and_then(|tap| tap.frames.as_ref()) else { return };
            match rustix::io::read(frames, &mut self.buffer[..]) {
                Ok(length) if length > 0 => {
                    let frame = std::mem::take(&mut self.buffer);
                    self.take(device, &frame[..length], world);
                    self.buffer = frame;
                }
                Err(Errno::BADFD) => {
                    // A program has deleted the device, which would be readable for ever.
                    self.taps[device].frames = None;
                    return;
                }
                _ => return,
            }
        }
    }

    /// Takes a frame that a device has sent: it enters the world, unless the edge of a source holds it back.
    fn take(&mut self, device: usize, frame: &[u8], world: &mut World) {
        let node = self.taps[device].node;
        self.counts.read += 1;
        let Some(seen) = Seen::of(frame, self.seed) else {
            self.counts.refused += 1;
            return;
        };
        if self.sources.is_none() || !seen.counted.is_some_and(|of| of.is_tcp()) {
            self.enter(device, frame, &seen, None, world);
            return;
        }
        let [source, destination] = self.ends_of(&seen);
        let Some(sources) = &self.sources else { return };
        if source != Some(node) {
            // A relay passes on what it has received, with the header in it.
            let header = sources.carried(frame);
            self.enter(device, frame, &seen, header, world);
            return;
        }
        if let (Some(of), Some(destination)) = (seen.counted, destination) {
            self.flows.sent(&of, [node, destination], world.now());
        }
        let Some(sources) = &mut self.sources else { return };
        let mut leaving = frame.to_vec();
        let port = self.taps[device].port;
        match sources.leave((device, &mut leaving), || world.source_at(port), world.now()) {
            Leave::Now(header) => self.enter_stamped(device, &leaving, header, world),
            Leave::Waits | Leave::Twice => {}
            Leave::Full(reason) => {
                *self.counts.dropped.entry(reason).or_default() += 1;
                if let Some(of) = &seen.counted {
                    self.flows.dropped(of, world.now());
                }
            }
        }
        self.release(world);
    }

    /// Lets the frames leave that have waited at edges and may go now.
    pub fn release(&mut self, world: &mut World) {
        while let Some(mut held) = self.sources.as_mut().and_then(|sources| sources.take_ready(world.now())) {
            let Some(sources) = &mut self.sources else { return };
            let header = sources.leave_released(&mut held.frame, world.now());
            self.enter_stamped(held.device, &held.frame, header, world);
        }
    }

    /// The time at which a frame that waits at an edge may leave, or its law wants to be called.
    #[must_use]
    pub fn next_due(&self) -> Option<Time> {
        self.sources.as_ref()?.next_due()
    }

    /// Lets a frame enter that has left the edge of its source, longer by a header than it was.
    fn enter_stamped(&mut self, device: usize, frame: &[u8], header: Option<Header>, world: &mut World) {
        if let Some(seen) = Seen::of(frame, self.seed) {
            self.enter(device, frame, &seen, header, world);
        }
    }

    /// Source and destination of an IP packet, where they are nodes.
    fn ends_of(&self, seen: &Seen) -> [Option<NodeIx>; 2] {
        let Some(FiveTuple { source, destination, .. }) = seen.counted.map(|of| of.tuple) else {
            return [None; 2];
        };
        [source, destination].map(|address| self.plan.by_ip.get(&address).copied())
    }

    /// Lets a frame enter the world, with the header of a scheme that it carries.
    fn enter(&mut self, device: usize, frame: &[u8], seen: &Seen, header: Option<Header>, world: &mut World) {
        let &Tap { node, port, .. } = &self.taps[device];
        let next = if seen.is_for_group() {
            self.counts.to_groups += 1;
            None
        } else {
            let Some(&next) = self.plan.by_mac.get(&seen.to) else {
                self.counts.unknown_station += 1;
                return;
            };
            Some(next)
        };
        let [source, destination] = self.ends_of(seen);
        let ends = [source.unwrap_or(node), destination.or(next).unwrap_or(node)];
        if self.inside.len() - self.free.len() >= MOST_INSIDE {
            self.counts.too_many += 1;
            return;
        }
        let place = self.free.pop().unwrap_or_else(|| {
            self.inside.push(Inside::default());
            self.inside.len() - 1
        });
        let bytes = self.captures.then(|| PacketBytes {
            ethertype: seen.ether_type.get(),
            bytes: Arc::from(&frame[airfair_wire::Ethernet::wire_len()..]),
        });
        let kind = self.sources.as_ref().map(Sources::kind);
        // To the scheme an acknowledgement belongs to the flow of the data, as in the simulator.
        let flow = match seen.counted.filter(|_| kind.is_some() && seen.class == PacketClass::Ack) {
            Some(of) => Some(of.tuple.reversed().flow(self.seed)),
            None => seen.flow,
        };
        let label = self.label.filter(|_| seen.flow.is_some() && next.is_some());
        let header = match label {
            Some(label) => Some((label, Header::default())),
            None => kind.zip(header),
        };
        let size = seen.size + label.map_or(0, |label| label.wire_len);
        let injection = Injection {
            flow: flow.map_or(FlowId::NONE, FlowId),
            class: seen.class,
            ecn: seen.ecn,
            dscp: seen.dscp,
            header,
            bytes,
            ..Injection::new(ends[0], ends[1], size, place as u64).at_port(port, next)
        };
        if world.inject(injection, world.now()).is_err() {
            self.counts.refused += 1;
            self.free.push(place);
            return;
        }
        // Those of sources with an edge were counted as their stack sent them.
        if let (Some(of), Some(_)) = (seen.counted, destination)
            && source == Some(node)
            && (self.sources.is_none() || !of.is_tcp())
        {
            self.flows.sent(&of, ends, world.now());
        }
        let inside = &mut self.inside[place];
        inside.frame.clear();
        inside.frame.extend_from_slice(frame);
        inside.marked = seen.ecn == Ecn::Ce;
        inside.counted = seen.counted.zip(destination);
    }

    /// Writes the copies that have arrived to their devices; calls `arrived` with the time of each.
    pub fn write(&mut self, world: &mut World, arrived: &mut dyn FnMut(Time)) {
        let outputs = world.drain_outputs();
        for egress in outputs {
            let place = egress.tag as usize;
            match egress.fate {
                Fate::Arrived => {
                    self.deliver(place, &egress);
                    arrived(egress.at);
                }
                Fate::Dropped(reason) => {
                    *self.counts.dropped.entry(reason).or_default() += 1;
                    if let Some((of, _)) = &self.inside[place].counted {
                        self.flows.dropped(of, egress.at);
                    }
                }
                Fate::Ended => {}
            }
            if egress.last {
                self.free.push(place);
            }
        }
        self.release(world);
    }

    fn deliver(&mut self, place: usize, egress: &Egress) {
        let device = egress.port.and_then(|port| self.by_port.get(port.0 as usize).copied().flatten());
        let Some(device) = device else { return };
        let inside = &mut self.inside[place];
        // Of a broadcast the copies that follow have it too: it was marked before it was sent.
        if egress.ecn == Ecn::Ce && !inside.marked && mark(&mut inside.frame) {
            self.counts.marked += 1;
            inside.marked = true;
        }
        if egress.echo && echo(&mut inside.frame) {
            self.counts.echoed += 1;
        }
        if let Some(sources) = &mut self.sources {
            egress.header.iter().for_each(|header| sources.rewrite(&mut inside.frame, header));
            if inside.counted.is_some_and(|(_, destination)| destination == egress.node) {
                sources.arrive(&mut inside.frame, egress.at);
            }
        }
        let Some(frames) = &self.taps[device].frames else {
            self.counts.device_down += 1;
            return;
        };
        match rustix::io::write(frames, &inside.frame) {
            // A device that a program has set down, or deleted, receives nothing: no fault.
            Err(Errno::IO | Errno::BADFD) => self.counts.device_down += 1,
            Err(_) => self.counts.not_written += 1,
            Ok(_) => {
                self.counts.written += 1;
                if let Some((of, _)) = inside.counted.filter(|&(_, destination)| destination == egress.node) {
                    self.flows.arrived(&of, egress.ecn == Ecn::Ce, egress.at);
                }
            }
        }
    }
}
