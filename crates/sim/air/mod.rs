//! The air: the radio medium, and above it the MAC (DCF).
//!
//! A *station* is one radio interface of a node. [`Air`] knows stations and references to packets, nothing above. The layer above passes
//! packets to the MAC ([`Air::free_places`], [`Air::hand_down`], [`Air::contend`]) and removes and handles the air's [`Indication`]s after
//! each of its events.
//!
//! | folder | contents |
//! |---|---|
//! | `medium` | power and time: lists of hearers, effects of a transmission at every hearer, reception |
//! | `mac` | DCF of each station |
//!
//! The MAC is above the medium, which calls no function of the MAC: the pass at a frame's end visits the hearers, and this module passes
//! the outcome at each (`Reception`) to the MAC. Both write a station's back-off: the MAC sets it, and the medium freezes it at every frame
//! that the station senses (`medium/radio.rs`).

mod fetch;
mod kind;
mod mac;
mod medium;
mod reach;

pub use kind::Kind;
pub use mac::{Attempt, Ending, FixedRate, Indication, MacKind, Msdu, Outcome, Pair, RateControl};
pub(crate) use mac::{CategoryView, Countdown, MacWait, StationView};
pub use medium::artificial_links::{CutOff, TooFast};
pub use medium::frame::BROADCAST;
pub use medium::phy::{PhyKind, PpduFormat};
pub(crate) use medium::relations::{JUDGED_BYTES, MOST_POWER_OFFSET, ReceivedSignal};
pub use medium::relations::{LEAST_DELIVERY, Relation, least_power};
pub use medium::{StationSpec, error, propagation};
pub use reach::Reach;

use airfair_schemes::places::Airtime;
use airfair_units::{Attowatts, Bytes, Span, Time};

use crate::engine::{Agenda, EventOwner};
use crate::event::{Event, EventKind};
use crate::ids::{FrameIx, StationIx};
use crate::measure::summary::{CategoryCounters, StationCounters};
use crate::modes::Mode;
use crate::record::{FrameView, Records};
use crate::spec::{GainChangeSpec, GainSpec, MovementSpec};
use mac::Mac;
use medium::frame::Frame;
use medium::radio::flag;
use medium::{Medium, memory};

/// The air, with all stations.
#[derive(Debug)]
pub struct Air {
    medium: Medium,
    mac: Mac,
    /// See [`Air::shortest_frame`].
    shortest_frame: Span,
}

/// The memory of all pairs of stations. Refuses a world whose pairs need more than `limit`.
///
/// # Errors
/// States the number of pairs, their memory, and what would reduce it.
pub(crate) fn check_memory(
    stations: &[StationSpec],
    kinds: &[Kind],
    gains: &[GainSpec],
    limit: Bytes,
) -> Result<Bytes, String> {
    let kinds: Vec<PhyKind> = kinds.iter().map(|kind| kind.phy.clone()).collect();
    memory::check(stations, &kinds, gains, limit)
}

impl Air {
    /// Creates the air and the stations of a run.
    #[must_use]
    pub fn new(kinds: Vec<Kind>, stations: &[StationSpec], gains: &[GainSpec], seed: u64) -> Self {
        let (phy, mac): (Vec<_>, Vec<_>) = kinds.into_iter().map(|kind| (kind.phy, kind.mac)).unzip();
        let idle_times = mac.iter().any(|kind| kind.immediate_access);
        let shortest =
            |kind: &MacKind| Mode::of_standard(kind.format.standard).map(|mode| kind.airtime(mode, 1)).min();
        Self {
            shortest_frame: mac.iter().filter_map(shortest).min().unwrap_or(Span(u64::MAX)),
            medium: Medium::new(phy, stations, gains, seed, idle_times),
            mac: Mac::new(mac, stations, seed),
        }
    }

    /// The shortest time on the air of a frame that carries a packet; without stations the longest time that there is.
    #[must_use]
    pub const fn shortest_frame(&self) -> Span {
        self.shortest_frame
    }

    /// The earliest end of a frame on the air that carries a packet, at its sender. It may have passed: hearers receive it later.
    #[must_use]
    pub fn next_end(&self) -> Option<Time> {
        self.medium.frames.next_end().map(Time)
    }

    /// Number of stations.
    #[must_use]
    pub fn len(&self) -> usize {
        self.medium.stations.len()
    }

    /// All stations.
    pub fn stations(&self) -> impl Iterator<Item = StationIx> + use<> {
        self.medium.stations.places()
    }

    /// True if there is no station.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Frames sent so far.
    #[must_use]
    pub fn transmissions(&self) -> u64 {
        self.medium.counted.iter().map(|counted| counted.sent.iter().sum::<u64>()).sum()
    }

    /// Frame and loss counters of a station.
    #[must_use]
    pub fn counters(&self, station: StationIx) -> StationCounters {
        let medium = &self.medium.counted[station];
        let mac = &self.mac.stations[station].counters;
        StationCounters {
            sent: medium.sent,
            received: medium.received,
            lost: medium.lost,
            duplicates: mac.duplicates,
            no_cts: mac.no_cts,
            no_ack: mac.no_ack,
            cts_withheld: mac.cts_withheld,
            given_up: mac.given_up,
            nav_extended: medium.nav_extended,
        }
    }

    /// Names and counters of a station's access categories, the lowest priority first; none with the DCF.
    #[must_use]
    pub fn category_counters(&self, station: StationIx) -> Vec<(&str, CategoryCounters)> {
        if !self.has_categories(station) {
            return Vec::new();
        }
        let names = self.mac(station).names.iter().map(String::as_str);
        names.zip(self.mac.stations[station].category_counters()).collect()
    }

    /// Time in each radio state from the start to `now`; the five add up to `now` exactly.
    #[must_use]
    pub fn airtime(&self, station: StationIx, now: Time) -> Airtime {
        self.medium.airtime(station, now.as_nanos())
    }

    /// Time of received frames that were addressed to this station.
    #[must_use]
    pub fn receive_own(&self, station: StationIx) -> Span {
        Span(self.medium.counted[station].receive)
    }

    /// Sum of the powers of all signals at a station now; zero on an empty air, and always if no rule of the run needs sums.
    #[must_use]
    pub fn power(&self, station: StationIx) -> Attowatts {
        Attowatts(self.medium.stations[station].optional.power_sum)
    }

    /// Number of frames on the air.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.medium.frames.in_flight()
    }

    /// Records of the air, kept only if the world is observed.
    pub fn records(&mut self) -> &mut Records {
        &mut self.medium.records
    }

    /// Records every frame that a station receives from now on, also those for other stations.
    pub(crate) fn monitor(&mut self, station: StationIx) {
        self.medium.stations[station].radio.set(flag::MONITORS);
    }

    /// Largest delay from a frame's end to its end at the last hearer.
    pub(crate) fn max_delay_after_end(&self) -> Span {
        Span(self.medium.max_delay_after_end())
    }

    /// True if a station has access categories, each with a back-off.
    #[must_use]
    #[inline]
    pub fn has_categories(&self, station: StationIx) -> bool {
        self.medium.stations[station].radio.has_categories()
    }

    /// Packets that the MAC of a station holds.
    pub fn held(&self, station: StationIx) -> impl Iterator<Item = Msdu> + '_ {
        self.mac.stations[station].held().copied()
    }

    /// Stations that can decode the frames of `station`, with the received power; with fading those that can at its best, with the mean
    /// power.
    pub fn neighbours(&self, station: StationIx) -> impl Iterator<Item = (StationIx, Attowatts)> + '_ {
        self.medium.unfaded_hearers().decodable(station).map(|h| (h.id, Attowatts(h.power)))
    }

    /// The medium's constants of the kind of a station.
    #[must_use]
    pub fn phy(&self, station: StationIx) -> &PhyKind {
        self.medium.kind(station)
    }

    /// Time after an RTS of another station within which a reception must start for the NAV at this one to stay, ns.
    pub(crate) fn nav_reset_after(&self, station: StationIx, rts: &FrameView) -> u64 {
        let more = self.phy(rts.sender).nav_reset_more(rts.mode);
        self.phy(station).nav_reset_after.saturating_add_signed(more)
    }

    /// The MAC's constants of the kind of a station.
    #[must_use]
    pub fn mac(&self, station: StationIx) -> &MacKind {
        self.mac.kind(self.medium.stations[station].radio.kind)
    }

    /// Number of the kind of a station.
    pub(crate) fn kind_of(&self, station: StationIx) -> usize {
        self.medium.stations[station].radio.kind.into()
    }

    /// Reception between stations.
    #[must_use]
    pub const fn reach(&self) -> Reach<'_> {
        Reach { air: self }
    }

    /// Memory of a station and its list of hearers, bytes; the mean over all stations.
    #[must_use]
    pub fn bytes_per_station(&self) -> usize {
        (self.medium.bytes() + self.mac.bytes()) / self.len().max(1)
    }

    /// The mode of data frames from one station to another now, by the law of rates.
    #[must_use]
    pub fn link_mode(&self, from: StationIx, to: StationIx) -> Mode {
        self.mac.link_mode((from, self.medium.stations[from].radio.kind), to)
    }

    /// Replaces the fixed rate by another law, before the first event.
    pub fn set_rate_control(&mut self, law: Box<dyn RateControl>) {
        self.mac.set_rate_control(law);
    }

    /// PSDU bytes of a frame in which a station sends an IP packet of `bytes`.
    fn psdu(&self, station: StationIx, bytes: u32) -> u32 {
        bytes + self.framing(station)
    }

    /// Bytes of LLC and MAC headers and FCS in a data frame of a station.
    pub(crate) fn framing(&self, station: StationIx) -> u32 {
        self.mac(station).overhead
    }

    /// State of a station's MAC for observers.
    pub(crate) fn view(&self, station: StationIx) -> StationView {
        self.mac.stations[station].view(&self.medium.stations[station], self.mac(station))
    }

    /// The state of a category of a station, for observers; the DCF has only category 0.
    pub(crate) fn category_view(&self, station: StationIx, category: usize) -> CategoryView {
        let mac = &self.mac.stations[station];
        mac.category_view(&self.medium.stations[station], self.mac(station), category)
    }

    /// True if gains vary while nodes rest: each frame has powers of its own.
    pub(crate) fn gains_vary(&self) -> bool {
        self.medium.gains_vary()
    }

    /// Starts the movement of nodes: see [`Medium::start_movement`].
    ///
    /// # Errors
    /// Names the path that contradicts itself.
    pub(crate) fn start_movement(
        &mut self,
        spec: &MovementSpec,
        stations: &[StationSpec],
        seed: u64,
        agenda: &mut Agenda,
    ) -> Result<(), String> {
        self.medium.start_movement(spec, stations, seed, agenda)
    }

    /// Starts the variation of gains, if any vary: see [`Medium::start_variation`].
    pub(crate) fn start_variation(
        &mut self,
        changes: &[GainChangeSpec],
        stations: &[StationSpec],
        seed: u64,
        agenda: &mut Agenda,
    ) {
        self.medium.start_variation(changes, stations, seed, agenda);
    }

    /// Number of lists of hearers that movement has changed so far, and of changes of measured gains.
    #[must_use]
    pub fn renewed_lists(&self) -> u64 {
        self.medium.renewed_lists()
    }

    /// Position of a station at its last refresh, m; none in a world without movement.
    #[must_use]
    pub fn position(&self, station: StationIx) -> Option<[f64; 3]> {
        self.medium.position(station)
    }

    /// Number of stations whose lists wait for the end of a frame.
    #[must_use]
    pub fn lists_waiting(&self) -> usize {
        self.medium.lists_waiting()
    }

    /// Data frames and broadcasts that a category of a station has sent; the DCF has only category 0.
    pub(crate) fn data_frames(&self, station: StationIx, category: u8) -> u64 {
        self.mac.stations[station].frames_of(category)
    }

    /// Number of further packets that the MAC of a station can hold.
    #[inline]
    #[must_use]
    pub fn free_places(&self, station: StationIx) -> usize {
        self.mac.free_places(station)
    }

    /// Number of further packets of an access category that a station's MAC can hold.
    #[must_use]
    pub fn free_places_of(&self, station: StationIx, category: u8) -> usize {
        self.mac.free_places_of(station, category)
    }

    /// Hands a packet down to the MAC of a station, which must have room ([`Air::free_places`]).
    #[inline]
    pub fn hand_down(&mut self, station: StationIx, msdu: Msdu) {
        self.mac.hand_down(station, msdu);
    }

    /// Starts contention at an idle station that holds a packet.
    #[inline]
    pub fn contend(&mut self, station: StationIx, agenda: &mut Agenda) {
        self.mac.contend(&mut self.medium, station, agenda);
    }

    /// Sends the broadcast that was made for a station which has just won access ([`Indication::Access`]).
    pub(crate) fn send_made(&mut self, station: StationIx, made: Msdu, agenda: &mut Agenda) {
        self.mac.send_made(&mut self.medium, station, made, agenda);
    }

    /// A station that has just won access has nothing to send any more.
    pub(crate) fn send_nothing(&mut self, station: StationIx, agenda: &mut Agenda) {
        self.mac.send_nothing(&mut self.medium, station, agenda);
    }

    /// True if indications of the present event have not been taken out yet.
    #[inline(always)]
    #[must_use]
    pub fn has_indications(&self) -> bool {
        !self.mac.indications.is_empty()
    }

    /// Removes and returns the next indication of the present event, in order.
    #[inline]
    pub fn next_indication(&mut self) -> Option<Indication> {
        self.mac.next_indication()
    }

    /// Handles an event of the air; ignores all others.
    #[inline(always)]
    pub fn handle(&mut self, kind: EventKind, agenda: &mut Agenda) {
        let Self { medium, mac, .. } = self;
        match kind {
            EventKind::FrameEnd { frame, .. } => self.frame_end(frame, agenda),
            EventKind::BandStart { frame, band, .. } => medium.band_start(frame, band as usize),
            EventKind::BandEnd { frame, band, .. } => self.band_end(frame, band as usize, agenda),
            EventKind::Reply(station) => mac.reply(medium, station, agenda),
            EventKind::Timeout { station, generation } => mac.timeout(medium, station, generation, agenda),
            EventKind::Access(station) => mac.access(medium, station, agenda),
            EventKind::Move(node) => self.moved(|medium, agenda| medium.moved(node, agenda), agenda),
            EventKind::GainChange(change) => {
                self.moved(|medium, agenda| medium.gain_changed(change, agenda), agenda);
            }
            EventKind::Renew(station) => {
                self.moved(|medium, agenda| medium.renewal_due(station, agenda), agenda);
            }
            _ => {}
        }
    }

    /// Handles the end of a frame at its sender.
    #[inline(always)]
    fn frame_end(&mut self, at: FrameIx, agenda: &mut Agenda) {
        let frame = *self.medium.frames.get(at);
        self.medium.stations[frame.sender].radio.clear(flag::TRANSMITTING);
        let bands = self.medium.bands_of(frame.sender, frame.power_offset);
        let near = bands.start < bands.end && self.medium.hearers.bands[bands.start].offset == 0;
        let receiver_found = near && self.end_at_band(at, &frame, bands.start, agenda);
        self.mac.sent(&mut self.medium, &frame, agenda);
        self.pass_done(at, receiver_found, &frame, agenda);
    }

    /// Handles the end of a frame at a band of distant hearers.
    fn band_end(&mut self, at: FrameIx, band: usize, agenda: &mut Agenda) {
        let frame = *self.medium.frames.get(at);
        let receiver_found = self.end_at_band(at, &frame, band, agenda);
        self.pass_done(at, receiver_found, &frame, agenda);
        self.medium.carry_last_sequence(&frame, band);
    }

    /// The pass at a frame's end over one band of hearers. Returns true if the receiver was among those that can decode the frame.
    #[inline(always)]
    fn end_at_band(&mut self, at: FrameIx, frame: &Frame, band: usize, agenda: &mut Agenda) -> bool {
        if frame.judged.is_none() {
            self.end_at_usual(at, frame, band, agenda)
        } else {
            self.end_at_other(at, frame, band, agenda)
        }
    }

    /// [`Air::end_at_band`] for a frame in an exchange of its sender's nominal mode.
    #[inline(never)]
    fn end_at_usual(&mut self, at: FrameIx, frame: &Frame, band: usize, agenda: &mut Agenda) -> bool {
        let mut pass = self.medium.end_pass(at, frame, band);
        while let Some(entry) = self.medium.next_hearer(&mut pass) {
            self.end_at(at, entry, frame, agenda);
        }
        pass.receiver_found
    }

    /// [`Air::end_at_band`] for a frame that is judged by another mode.
    #[cold]
    #[inline(never)]
    fn end_at_other(&mut self, at: FrameIx, frame: &Frame, band: usize, agenda: &mut Agenda) -> bool {
        let mut pass = self.medium.end_pass(at, frame, band);
        while let Some((entry, hearer)) = self.medium.next_hearer_of(frame, &mut pass) {
            let reception = self.medium.judge::<true>(at, (entry, hearer), frame);
            self.mac.frame_ended(&mut self.medium, (entry, hearer), frame, reception, agenda);
        }
        pass.receiver_found
    }

    /// Handles the end of a frame at a hearer (`entry` of the sender's list) that is no mere bystander.
    #[inline(never)]
    fn end_at(&mut self, at: FrameIx, entry: u32, frame: &Frame, agenda: &mut Agenda) {
        let hearer = self.medium.hearers.list[entry as usize];
        let reception = self.medium.judge::<false>(at, (entry, hearer), frame);
        self.mac.frame_ended(&mut self.medium, (entry, hearer), frame, reception, agenda);
    }

    /// Completes one of the passes at a frame's end. A response that has reached its receiver in none of them is lost.
    #[inline(always)]
    fn pass_done(&mut self, at: FrameIx, receiver_found: bool, frame: &Frame, agenda: &mut Agenda) {
        if let Some(receiver) = self.medium.pass_done(at, receiver_found)
            && frame.is_response()
        {
            self.mac.on_response_lost(&mut self.medium, receiver, agenda);
        }
    }

    /// Handles an event of movement, or a change of gains. Indications name the stations whose neighbours have changed.
    #[cold]
    #[inline(never)]
    fn moved(&mut self, how: impl FnOnce(&mut Medium, &mut Agenda), agenda: &mut Agenda) {
        how(&mut self.medium, agenda);
        let changed = self.medium.neighbours_changed.drain(..);
        self.mac.indications.extend(changed.map(|station| Indication::NeighboursChanged { station }));
    }
}

impl EventOwner for Air {
    /// Defers an access event whose deadline has moved.
    #[inline(always)]
    fn due(&mut self, event: &Event) -> u64 {
        if let EventKind::Access(station) = event.kind {
            mac::access_due(&mut self.medium.stations[station], event.time)
        } else {
            event.time
        }
    }

    #[inline(always)]
    fn prefetch(&self, events: &[Event]) {
        if self.len() > fetch::STATIONS_IN_CACHE {
            self.prefetch_for(events);
        }
    }
}
