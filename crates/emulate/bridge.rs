//! Frames of devices that enter the world, and copies that leave it.

use std::collections::BTreeMap;
use std::sync::Arc;

use airfair_schemes::places::{Ecn, FlowId};
use airfair_sim::ids::NodeIx;
use airfair_sim::{Egress, Fate, Injection, PacketBytes, World};
use airfair_units::Time;
use rustix::io::Errno;

use crate::flows::{Counted, Flows};
use crate::frame::{Seen, echo, mark};
use crate::node::Tap;
use crate::plan::Plan;

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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Read from devices.
    pub read: u64,
    /// Of those, for a group.
    pub groups: u64,
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
    /// Dropped in the world, by reason.
    pub dropped: BTreeMap<&'static str, u64>,
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
}

impl Bridge {
    /// For the devices of a plan's nodes; `seed` is the key of the numbers of flows. With `captures` the world is given the frames' bytes.
    #[must_use]
    pub fn new(plan: Plan, taps: Vec<Tap>, seed: u64, captures: bool, warmup: Time) -> Self {
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
            flows: Flows::new(warmup),
        }
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
                    self.enter(device, &frame[..length], world);
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

    /// Lets a frame that a device has sent enter the world.
    fn enter(&mut self, device: usize, frame: &[u8], world: &mut World) {
        let &Tap { node, port, .. } = &self.taps[device];
        self.counts.read += 1;
        let Some(seen) = Seen::of(frame, self.seed) else {
            self.counts.refused += 1;
            return;
        };
        let next = if seen.is_for_group() {
            self.counts.groups += 1;
            None
        } else {
            let Some(&next) = self.plan.by_mac.get(&seen.to) else {
                self.counts.unknown_station += 1;
                return;
            };
            Some(next)
        };
        let known = seen.counted.map_or([None; 2], |of| {
            [of.tuple.source, of.tuple.destination].map(|of| self.plan.by_ip.get(&of).copied())
        });
        let ends = [known[0].unwrap_or(node), known[1].or(next).unwrap_or(node)];
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
        let injection = Injection {
            flow: seen.flow.map_or(FlowId::NONE, FlowId),
            class: seen.class,
            ecn: seen.ecn,
            dscp: seen.dscp,
            bytes,
            ..Injection::new(ends[0], ends[1], seen.size, place as u64).at_port(port, next)
        };
        if world.inject(injection, world.now()).is_err() {
            self.counts.refused += 1;
            self.free.push(place);
            return;
        }
        let counted = seen.counted.zip(known[1]);
        if let (Some((of, destination)), Some(source)) = (counted, known[0])
            && source == node
        {
            self.flows.sent(&of, [source, destination], world.now());
        }
        let inside = &mut self.inside[place];
        inside.frame.clear();
        inside.frame.extend_from_slice(frame);
        inside.marked = seen.ecn == Ecn::Ce;
        inside.counted = counted;
    }

    /// Writes the copies that have arrived to their devices; calls `arrived` with the time of each.
    pub fn write(&mut self, world: &mut World, arrived: &mut dyn FnMut(Time)) {
        for egress in world.drain_outputs() {
            let place = egress.tag as usize;
            match egress.fate {
                Fate::Arrived => {
                    self.deliver(place, &egress);
                    arrived(egress.at);
                }
                Fate::Dropped(reason) => *self.counts.dropped.entry(reason).or_default() += 1,
                Fate::Ended => {}
            }
            if egress.last {
                self.free.push(place);
            }
        }
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
        let Some(frames) = &self.taps[device].frames else { return };
        match rustix::io::write(frames, &inside.frame) {
            // A device that a program has set down, or deleted, receives nothing: no fault.
            Err(Errno::IO | Errno::BADFD) => {}
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
