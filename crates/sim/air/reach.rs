//! Reception between stations: whom a frame reaches, how strongly, and how likely, by the powers and error curves of the medium.

use airfair_units::{Db, Span};

use super::medium::{artificial_links, relations};
use super::{Air, CutOff, JUDGED_BYTES, ReceivedSignal, Relation, TooFast};
use crate::ids::StationIx;
use crate::record::FrameView;

/// The air as one who asks what would be received.
#[derive(Debug, Clone, Copy)]
pub struct Reach<'a> {
    pub(super) air: &'a Air,
}

impl<'a> Reach<'a> {
    /// Stations for which the medium is busy while `station` transmits, in the order of their numbers.
    #[must_use]
    pub fn relations(self, station: StationIx) -> Vec<Relation> {
        let psdu = self.air.psdu(station, JUDGED_BYTES);
        relations::relations(&self.air.medium, station, psdu, |to| self.air.link_mode(station, to))
    }

    /// Probability that a data frame of `bytes` (as an IP packet) in the mode of the pair arrives on an otherwise silent air.
    #[must_use]
    pub fn delivery_ratio(self, from: StationIx, to: StationIx, bytes: u32) -> f64 {
        let frame = (self.air.link_mode(from, to), self.air.psdu(from, bytes));
        relations::delivery_ratio(&self.air.medium, (from, to), frame)
    }

    /// The stations at which broadcasts of a station at its nominal rate arrive at times, each with that probability, in no order that
    /// means anything.
    pub(crate) fn deliveries(
        self,
        from: StationIx,
        bytes: u32,
    ) -> impl Iterator<Item = (StationIx, f64)> + use<'a> {
        relations::deliveries(
            &self.air.medium,
            from,
            (self.air.mac(from).nominal_mode, self.air.psdu(from, bytes)),
        )
    }

    /// The least power above the radio's own, 0 or more, with which broadcasts of `bytes` (as an IP packet) at the lowest rate arrive.
    pub(crate) fn power_to_arrive(self, from: StationIx, to: StationIx, bytes: u32) -> Option<Db> {
        let frame = (self.air.mac(from).lowest_mode(), self.air.psdu(from, bytes));
        relations::power_to_arrive(&self.air.medium, (from, to), frame)
    }

    /// The least power above the radio's own, 0 or more, with which broadcasts of `bytes` (as an IP packet) at the lowest rate arrive where
    /// a radio of its kind just senses its signal. None: no power is enough.
    pub(crate) fn sense_margin(self, station: StationIx, bytes: u32) -> Option<Db> {
        let frame = (self.air.mac(station).lowest_mode(), self.air.psdu(station, bytes));
        relations::sense_margin(&self.air.medium, station, frame)
    }

    /// The link between two stations, if it has no losses by [`crate::spec::ErrorModel::Threshold`] while the error curves give a loss of
    /// more than a tenth.
    pub(crate) fn too_fast(self, from: StationIx, to: StationIx) -> Option<TooFast> {
        artificial_links::too_fast(&self.air.medium, from, to)
    }

    /// Thresholds that cut error curves where there are links or nodes move.
    pub(crate) fn cut_off(self) -> Vec<CutOff> {
        if self.air.is_empty() {
            Vec::new()
        } else {
            artificial_links::cut_off(&self.air.medium, self.air.psdu(StationIx(0), JUDGED_BYTES))
        }
    }

    /// Propagation delay from one station to another; none if the second does not hear the first.
    pub(crate) fn delay(self, from: StationIx, to: StationIx) -> Option<Span> {
        self.air.medium.unfaded_hearers().find(from, to).map(|hearer| Span(hearer.delay.into()))
    }

    /// The signal of a frame that has just started at another station.
    pub(crate) fn signal_at(self, frame: &FrameView, at: StationIx) -> Option<ReceivedSignal> {
        relations::signal_in(&self.air.medium, self.air.medium.bands_of(frame.sender, frame.power_offset), at)
    }

    /// The signal of one station at another, without fading.
    pub(crate) fn mean_signal_at(self, from: StationIx, at: StationIx) -> Option<ReceivedSignal> {
        relations::mean_signal_at(&self.air.medium, from, at)
    }

    /// The mean signals of all stations at this one, by the number of the sender.
    pub(crate) fn signals_at(self, station: StationIx) -> Vec<Option<ReceivedSignal>> {
        relations::signals_at(&self.air.medium, station)
    }
}
