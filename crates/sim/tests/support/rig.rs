//! Stations on the air without a network above: packets are handed to the MAC at given nanoseconds, so that a test can
//! work out every start of a frame by hand.

use std::collections::VecDeque;

use airfair_schemes::places::SendRate;
use airfair_sim::air::{Air, BROADCAST, Indication, Kind, Msdu, Outcome, StationSpec};
use airfair_sim::engine::Agenda;
use airfair_sim::ids::{CopyRef, PacketRef, StationIx};
use airfair_sim::record::{FrameKind, FrameView, Loss, Record, Trace};
use airfair_sim::spec::*;
use airfair_units::{Db, Dbm, Time};

/// The layer above the MACs: queues that the test fills, and a record of indications.
#[derive(Default)]
pub struct CallLog {
    queues: Vec<VecDeque<Msdu>>,
    /// Packets that arrived: time, station, packet.
    pub got: Vec<(u64, u32, u64)>,
    /// Packets that a MAC is done with: time, station, packet, outcome.
    pub done: Vec<(u64, u32, u64, Outcome)>,
    /// Packets that were overheard.
    pub overheard: u64,
}

/// Stations, and what they are to send.
pub struct Rig {
    pub air: Air,
    agenda: Agenda,
    pub diary: CallLog,
    plan: Vec<(u64, u32, Msdu)>,
}

/// One station: its name, its kind of radio, its place on a line in metres.
pub type At<'a> = (&'a str, usize, f64);

impl Rig {
    /// Stations on a line. `powers` are received powers in dBm (from, to, power) for kinds whose propagation is a matrix.
    pub fn new(kinds: &[RadioSpec], stations: &[At], powers: &[(usize, usize, f64)], seed: u64) -> Self {
        Self::with_overhearing(kinds, stations, powers, seed, false)
    }

    pub fn with_overhearing(
        kinds: &[RadioSpec],
        stations: &[At],
        powers: &[(usize, usize, f64)],
        seed: u64,
        overhears: bool,
    ) -> Self {
        let headers = HeaderSpec { udp: 8, tcp: None, ip: 20, llc: 8, mac: 28, wired: 0 };
        let specs: Vec<StationSpec> = stations
            .iter()
            .enumerate()
            .map(|(node, &(name, kind, x))| StationSpec {
                node,
                node_id: name.into(),
                name: name.into(),
                position: [x, 0.0, 0.0],
                located: true,
                kind: kind as u8,
                tx_power: kinds[kind].phy.tx_power,
                cutoff: kinds[kind].phy.cutoff,
                propagation: kinds[kind].propagation.clone(),
                fading: kinds[kind].fading,
                overhears,
            })
            .collect();
        let gains: Vec<GainSpec> = powers
            .iter()
            .map(|&(from, to, dbm)| GainSpec { from, to, gain: Db(dbm - specs[from].tx_power.0) })
            .collect();
        let kinds = kinds.iter().map(|k| Kind::new(k, &headers).unwrap()).collect();
        let mut air = Air::new(kinds, &specs, &gains, seed);
        air.records().enable();
        let queues = vec![VecDeque::new(); stations.len()];
        Self {
            air,
            agenda: Agenda::default(),
            diary: CallLog { queues, ..CallLog::default() },
            plan: Vec::new(),
        }
    }

    /// An IP packet of `bytes` is handed down at `at` ns. Returns its number.
    pub fn send(&mut self, at: u64, from: u32, to: u32, bytes: u32) -> u64 {
        self.send_in(0, at, from, to, bytes)
    }

    /// [`Rig::send`] in an access category.
    pub fn send_in(&mut self, category: u8, at: u64, from: u32, to: u32, bytes: u32) -> u64 {
        let packet = self.plan.len() as u64;
        self.plan.push((
            at,
            from,
            Msdu {
                packet: PacketRef(packet),
                copy: CopyRef(packet),
                bytes,
                to: StationIx(to),
                category,
                overhear: true,
                control: false,
                report: false,
                rate: if to == BROADCAST.0 { SendRate::Broadcast } else { SendRate::Data },
                power_offset: 0,
            },
        ));
        packet
    }

    pub fn broadcast(&mut self, at: u64, from: u32, bytes: u32) -> u64 {
        self.send(at, from, BROADCAST.0, bytes)
    }

    /// Lets everything happen before `until` and returns what happened. Call it once.
    ///
    /// Packets of one moment are all handed down before anything else of that moment.
    pub fn run(&mut self, until: u64) -> Trace {
        let mut plan = std::mem::take(&mut self.plan);
        plan.sort_by_key(|p| p.0);
        let mut times: Vec<u64> = plan.iter().map(|p| p.0).collect();
        times.dedup();
        for at in times {
            self.advance(at);
            for &(_, from, handed) in plan.iter().filter(|p| p.0 == at) {
                self.diary.queues[from as usize].push_back(handed);
                self.fill(StationIx(from));
            }
        }
        self.advance(until);
        let mut trace: Trace = self.air.records().drain().collect();
        trace.sort_by_key(|r| r.0);
        trace
    }

    fn advance(&mut self, until: u64) {
        while let Some(event) = self.agenda.next_before(Time(until), &mut self.air) {
            self.air.handle(event.kind, &mut self.agenda);
            while let Some(indication) = self.air.next_indication() {
                self.note(indication);
            }
        }
        self.agenda.now = Time(until);
    }

    fn note(&mut self, indication: Indication) {
        match indication {
            Indication::Finished { station, msdu, outcome } => {
                self.diary.done.push((self.agenda.now.0, station.0, msdu.packet.0, outcome));
                self.fill(station);
            }
            Indication::Received { station, copy, at, .. } => {
                self.diary.got.push((at.as_nanos(), station.0, copy.0));
            }
            Indication::Overheard { .. } => self.diary.overheard += 1,
            Indication::Access { .. }
            | Indication::LinkMode { .. }
            | Indication::NeighboursChanged { .. } => {}
        }
    }

    /// The MAC of a station gets the packets that it has room for.
    fn fill(&mut self, station: StationIx) {
        if self.air.has_categories(station) {
            let queue = std::mem::take(&mut self.diary.queues[station.ix()]);
            for msdu in queue {
                if self.air.free_places_of(station, msdu.category) > 0 {
                    self.air.hand_down(station, msdu);
                } else {
                    self.diary.queues[station.ix()].push_back(msdu);
                }
            }
        }
        let free = if self.air.has_categories(station) { 0 } else { self.air.free_places(station) };
        for _ in 0..free {
            let Some(msdu) = self.diary.queues[station.ix()].pop_front() else { break };
            self.air.hand_down(station, msdu);
        }
        self.air.contend(station, &mut self.agenda);
    }
}

/// A radio that hears by given powers: decodes from -82 dBm, senses from -95 dBm, noise -130 dBm.
pub fn by_matrix(mut radio: RadioSpec) -> RadioSpec {
    radio.propagation = Propagation::Matrix;
    radio.phy.tx_power = Dbm(15.0);
    radio.phy.preamble_detect = Dbm(-82.0);
    radio.phy.energy_detect = Dbm(-95.0);
    radio.phy.cutoff = Dbm(-110.0);
    radio.phy.noise = Dbm(-130.0);
    radio
}

/// Both directions of a pair, at the same power.
pub fn both(a: usize, b: usize, dbm: f64) -> [(usize, usize, f64); 2] {
    [(a, b, dbm), (b, a, dbm)]
}

/// Every frame that went on the air.
pub fn frames(trace: &Trace) -> Vec<FrameView> {
    trace
        .iter()
        .filter_map(|(_, r)| match r {
            Record::Start { frame } => Some(*frame),
            _ => None,
        })
        .collect()
}

/// Every frame that went on the air: kind, sender, start, end.
pub fn story(trace: &Trace) -> Vec<(FrameKind, u32, u64, u64)> {
    frames(trace).iter().map(|f| (f.kind, f.sender.0, f.start.0, f.end.0)).collect()
}

/// Starts of the frames that a station sent.
pub fn starts(trace: &Trace, sender: u32) -> Vec<u64> {
    frames(trace).iter().filter(|f| f.sender.0 == sender).map(|f| f.start.0).collect()
}

/// Frames that were lost at a station: the frame's kind, its sender, why.
pub fn losses(trace: &Trace, station: u32) -> Vec<(FrameKind, u32, Loss)> {
    trace
        .iter()
        .filter_map(|(_, r)| match *r {
            Record::Lost { frame, at, loss, .. } if at.0 == station => {
                Some((frame.kind, frame.sender.0, loss))
            }
            _ => None,
        })
        .collect()
}

/// Frames that a station received: kind, sender.
pub fn receptions(trace: &Trace, station: u32) -> Vec<(FrameKind, u32)> {
    trace
        .iter()
        .filter_map(|(_, r)| match *r {
            Record::Received { frame, at, .. } if at.0 == station => Some((frame.kind, frame.sender.0)),
            _ => None,
        })
        .collect()
}

/// Time-outs of a station: when, whether a CTS was awaited, attempts so far, the window from now on, given up.
pub fn timeouts(trace: &Trace, station: u32) -> Vec<(u64, bool, u32, u32, bool)> {
    trace
        .iter()
        .filter_map(|&(t, ref r)| match *r {
            Record::NoResponse { at, cts, attempts, cw, given_up, .. } if at.0 == station => {
                Some((t.0, cts, attempts, cw, given_up))
            }
            _ => None,
        })
        .collect()
}

/// No back-off ever has a slot: what happens is settled to the nanosecond.
pub fn no_back_off(mut radio: RadioSpec) -> RadioSpec {
    radio.mac.cw_min = 0;
    radio.mac.cw_max = 0;
    radio
}

/// Control frames of the sender that RTS/CTS goes before every packet.
pub fn with_rts(mut radio: RadioSpec) -> RadioSpec {
    radio.mac.rts_threshold = airfair_units::Bytes(0);
    radio
}
