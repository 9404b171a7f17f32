//! Prefetches the state that the next events touch into the processor's caches.

use std::hint::black_box;

use super::Air;
use super::medium::frame::Frame;
use super::medium::hearers::{Band, Hearer};
use super::medium::radio::Station;
use crate::event::{Event, EventKind};
use crate::ids::StationIx;
use crate::record::FrameKind;

/// Number of stations whose state fits into the processor's nearest caches. Above it [`Air::prefetch_for`] saves time.
pub(super) const STATIONS_IN_CACHE: usize = 1000;

/// Hearers of a frame that are prefetched for its pass, of those that can decode it and of the others. A pass reads the rest in order, and
/// the processor prefetches these by itself.
const PREFETCHED_HEARERS: u32 = 64;

/// The station that an event belongs to, if it belongs to one.
#[inline(always)]
fn station_of(event: &Event) -> Option<StationIx> {
    match event.kind {
        EventKind::FrameEnd { sender, .. }
        | EventKind::BandStart { sender, .. }
        | EventKind::BandEnd { sender, .. } => Some(sender),
        EventKind::Reply(station) | EventKind::Access(station) | EventKind::Timeout { station, .. } => {
            Some(station)
        }
        _ => None,
    }
}

impl Air {
    /// Prefetches the state of the next events. Without it each event would miss the cache and wait before the branch that depends on the
    /// loaded value. Here the loads of a round are independent of one another, and each round loads the addresses that the round before has
    /// found.
    #[inline(never)]
    pub(super) fn prefetch_for(&self, events: &[Event]) {
        let mut read = 0;
        for event in events {
            if let Some(station) = station_of(event).and_then(|station| self.medium.stations.get(station)) {
                read ^= station.radio.deadline ^ station.rx.armed_at;
            }
        }
        for event in events {
            let Some((sender, list, _)) = self.pass_of(event) else { continue };
            read ^= self.medium.counted[sender].sent[0] ^ self.mac.stations[sender].prefetch();
            for line in list.chunks(64 / size_of::<Hearer>()) {
                read ^= line[0].power;
            }
            // The receiver will send a response, or continue its own exchange.
            if let Some((frame, receiver)) = self.received_by(event) {
                read ^= self.medium.counted[receiver].received[1] ^ self.mac.stations[receiver].prefetch();
                if frame.kind == FrameKind::Data {
                    let band = self.medium.hearers.bands[self.medium.hearers.bands_of(sender).start];
                    read ^= u64::from(self.medium.hearers.last_sequence[band.first as usize]);
                }
            }
        }
        for event in events {
            let Some((sender, list, decodable)) = self.pass_of(event) else { continue };
            let (decodable, others) = list.split_at(decodable);
            for hearer in decodable {
                let Station { radio, rx, .. } = &self.medium.stations[hearer.id];
                read ^= radio.busy_until ^ rx.receive_until;
            }
            for hearer in others {
                read ^= self.medium.stations[hearer.id].radio.busy_until;
            }
            let sends = self.received_by(event).map_or(sender, |(_, receiver)| receiver);
            read ^= self.mac.stations[sends].prefetch_held();
        }
        black_box(read);
    }

    /// The frame that an event ends, and the frame's receiver.
    #[inline(always)]
    fn received_by(&self, event: &Event) -> Option<(&Frame, StationIx)> {
        let EventKind::FrameEnd { frame, .. } = event.kind else { return None };
        let frame = self.medium.frames.get(frame);
        Some((frame, frame.receiver)).filter(|&(_, receiver)| receiver.ix() < self.len())
    }

    /// The hearers that an event's pass visits, at most [`PREFETCHED_HEARERS`]: the sender, its hearers in order, and the number of those
    /// that can decode.
    #[inline(always)]
    fn pass_of(&self, event: &Event) -> Option<(StationIx, &[Hearer], usize)> {
        let first_band = |sender: StationIx| self.medium.hearers.bands_of(sender).start;
        let (sender, band, starts) = match event.kind {
            EventKind::Reply(sender) => (sender, first_band(sender), true),
            EventKind::Access(sender) if self.medium.stations[sender].radio.deadline <= event.time => {
                (sender, first_band(sender), true)
            }
            EventKind::FrameEnd { sender, .. } => (sender, first_band(sender), false),
            EventKind::BandStart { sender, band, .. } => (sender, band as usize, true),
            EventKind::BandEnd { sender, band, .. } => (sender, band as usize, false),
            _ => return None,
        };
        let Band { first, decodable_end, end, .. } = *self.medium.hearers.bands.get(band)?;
        let decodable = (decodable_end - first).min(PREFETCHED_HEARERS);
        let count = if starts { (end - first).min(PREFETCHED_HEARERS) } else { decodable };
        Some((
            sender,
            &self.medium.hearers.list[first as usize..(first + count) as usize],
            decodable as usize,
        ))
    }
}
