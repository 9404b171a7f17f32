//! A device of a radio, with what acts there.

use std::collections::BTreeMap;

use airfair_schemes::places::{Aqm, Direction, LinkRate, LoneExchange, NodeId, Probability, Setting};
use airfair_units::{Rate, Span, Time};

use crate::claim::Claim;
use crate::exchange::lone_exchange;
use crate::keeper::Keeper;
use crate::kernel::{Attachment, KernelMarker};
use crate::load::{Fault, LoadSource};
use crate::log::{Level, line};
use crate::marker::{HOLDS, Marker, PacketCounts, Probabilities, index};
use crate::plan::{Acts, PlannedRadio};
use crate::qdisc::{index_of, kind_at_clsact};
use crate::shaper::{KernelShaper, remove_classes};
use crate::shaping::{Arrivals, LinkTraffic, MacAddress, RateActuator};
use crate::status::{BY_RATES, DirectionState, Gauge, LinkState, RadioState};

/// Changes of the state of a device's counters that are logged at once; from then on one of each so many is.
const LOGGED: u64 = 20;

/// Change of a link's rate below which its agent does not learn of it: laws of rates choose anew all the time.
const RATE_CHANGE: f64 = 0.1;

/// The part of a daemon in the kernel.
#[derive(Debug)]
enum Actuator {
    Marks(Box<KernelMarker>),
    Rates(Box<dyn RateActuator>),
}

/// A device of a radio.
pub(crate) struct Device {
    name: String,
    attachment: Attachment,
    acts_as: Acts,
    port: u16,
    /// The largest probability that is carried out.
    most: Probability,
    /// The radio's rate, and the time of a packet beside its own bits, as they are configured.
    rate: Rate,
    overhead: Option<Span>,
    /// The least part of that rate that a link is given.
    least_share: f64,
    pub(crate) source: Box<dyn LoadSource>,
    /// The scheme's AQM, of a scheme that treats flows apart.
    aqm: Option<Box<dyn Aqm>>,
    /// A window of its flows has ended.
    window_ends: bool,
    /// The agent has started.
    pub(crate) started: bool,
    /// The part in the kernel; none while the device is not there.
    attached: Option<(Actuator, Claim)>,
    /// The last setting of the law, and when it was made; none: the law has set nothing yet.
    set: [Probability; 2],
    rates: BTreeMap<NodeId, LinkRate>,
    set_at: Option<Time>,
    /// Hardware addresses of neighbours.
    addresses: BTreeMap<NodeId, MacAddress>,
    /// Rates that a driver has chosen for neighbours.
    chosen: BTreeMap<NodeId, Rate>,
    /// The setting is not in the kernel yet.
    is_new: bool,
    /// The setting holds: it was renewed at the last occasion.
    acts: bool,
    samples: u64,
    unread: u64,
    bad: u64,
    /// Those of the bad ones that the host of the agent has refused.
    refused: u64,
    /// The reason why the last sample was none, or why the program is not there.
    fault: Option<String>,
    /// Faults that have come and gone.
    changes: u64,
}

impl Device {
    /// Claims a device and attaches the program there.
    ///
    /// # Errors
    /// There is no such device, another daemon acts there, the kernel refuses.
    pub fn new(radio: PlannedRadio, port: u16, keeper: &mut Keeper) -> Result<Self, String> {
        let PlannedRadio { device: name, source, acts, attachment, most_probability: most, .. } = radio;
        let mut device = Self {
            name,
            attachment,
            acts_as: acts,
            port,
            most,
            rate: radio.rate,
            overhead: radio.overhead,
            least_share: radio.least_share,
            aqm: radio.aqm,
            window_ends: false,
            source,
            started: false,
            attached: None,
            set: [Probability::ZERO; 2],
            rates: BTreeMap::new(),
            set_at: None,
            addresses: BTreeMap::new(),
            chosen: BTreeMap::new(),
            is_new: false,
            acts: false,
            samples: 0,
            unread: 0,
            bad: 0,
            refused: 0,
            fault: None,
            changes: 0,
        };
        let claim = Claim::new(&device.name)?;
        device.attach(claim, keeper)?;
        Ok(device)
    }

    /// The name of the device.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Attaches the part in the kernel; a `clsact` that is made for it is the keeper's to remove.
    fn attach(&mut self, claim: Claim, keeper: &mut Keeper) -> Result<(), String> {
        let action = match self.acts_as {
            Acts::OnChosen(action) => action,
            Acts::ByRates => {
                let shaper = KernelShaper::attach(&self.name, self.port)?;
                self.attached = Some((Actuator::Rates(Box::new(shaper)), claim));
                self.is_new = self.set_at.is_some();
                return Ok(());
            }
        };
        if self.attachment == Attachment::Clsact {
            let found = kind_at_clsact(&self.name).map_err(|error| format!("{}: {error}", self.name))?;
            match found.as_deref() {
                Some("clsact") => {}
                None => keeper.remove_clsact_of(&self.name),
                Some(other) => {
                    return Err(format!(
                        "{}: a queueing discipline \"{other}\" stands where clsact would: use attach = \"tcx\", or remove it",
                        self.name
                    ));
                }
            }
        }
        // Those of an allocator's daemon that was killed with its keeper.
        remove_classes(&self.name);
        let mut marker = KernelMarker::attach(&self.name, self.attachment, action, self.port)?;
        marker.set_by_flow(self.aqm.is_some());
        self.attached = Some((Actuator::Marks(Box::new(marker)), claim));
        Ok(())
    }

    /// Looks whether the device is still the one at which the program is, and attaches it to a new one. True if it was attached anew.
    pub fn follow(&mut self, keeper: &mut Keeper) -> bool {
        let found = index_of(&self.name);
        if let Some((actuator, claim)) = &self.attached {
            let is_there = found == Some(claim.index());
            if is_there && !matches!(actuator, Actuator::Rates(shaper) if shaper.has_gone()) {
                return false;
            }
            self.attached = None;
            self.forget_setting();
            let gone = if is_there { "its queueing discipline was replaced" } else { "the device has gone" };
            self.note(gone.to_string());
        }
        if found.is_none() {
            return false;
        }
        let attached = Claim::new(&self.name).and_then(|claim| self.attach(claim, keeper));
        match attached {
            Ok(()) => {
                line(
                    Level::Notice,
                    &format!("{}: the device, or what acts there, has come again", self.name),
                );
                true
            }
            Err(problem) => {
                self.note(problem);
                false
            }
        }
    }

    /// With the parts of another configuration. With the same law (`same_law`) the last setting stays until the law has made a new one.
    ///
    /// # Errors
    /// The kernel refuses another attachment: there is none then.
    pub fn change_to(
        &mut self,
        radio: PlannedRadio,
        same_law: bool,
        keeper: &mut Keeper,
    ) -> Result<(), String> {
        let PlannedRadio { source, acts, aqm, attachment, most_probability, least_share, .. } = radio;
        (self.source, self.refused, self.most) = (source, 0, most_probability);
        (self.rate, self.overhead) = (radio.rate, radio.overhead);
        (self.least_share, self.aqm) = (least_share, aqm);
        self.chosen.clear();
        let before = std::mem::replace(&mut self.acts_as, acts);
        if !same_law || acts != before {
            // A probability of marks is none of drops.
            self.forget_setting();
        }
        if let (Acts::OnChosen(action), Some((Actuator::Marks(marker), _))) = (acts, &mut self.attached) {
            marker.change_action(action);
            marker.set_by_flow(self.aqm.is_some());
        }
        self.set = self.set.map(|probability| probability.min(self.most));
        let other_part = (acts == Acts::ByRates) != (before == Acts::ByRates);
        let same_attachment = std::mem::replace(&mut self.attachment, attachment) == attachment;
        // Rates are the same by both, and of two disciplines at a root the old one would take the new one with it.
        if !other_part && (same_attachment || acts == Acts::ByRates) {
            return Ok(());
        }
        let Some((old, claim)) = self.attached.take() else { return Ok(()) };
        // The new program is there before the old one goes: a filter and a link are no places of each other's.
        let changed = self.attach(claim, keeper);
        self.is_new = self.acts;
        drop(old);
        changed
    }

    /// Lets all packets pass until the law has set something.
    fn forget_setting(&mut self) {
        self.let_go();
        (self.set, self.set_at, self.is_new) = ([Probability::ZERO; 2], None, false);
        self.rates.clear();
    }

    /// The law has set a probability.
    pub fn set(&mut self, direction: Direction, probability: Probability, now: Time) {
        self.set[index(direction)] = probability.min(self.most);
        (self.set_at, self.is_new) = (Some(now), true);
        self.aqm.iter_mut().for_each(|aqm| aqm.apply(Setting::Probability(direction, probability)));
        self.window_ends |= direction == Direction::Outgoing;
    }

    /// The law has set the rate of the link to a neighbour; 0 bit/s: it has no limit.
    pub fn set_rate(&mut self, neighbour: NodeId, rate: LinkRate, now: Time) {
        if rate.rate.as_bps() == 0 {
            self.rates.remove(&neighbour);
        } else {
            let whole = self.chosen.get(&neighbour).unwrap_or(&self.rate).as_bps();
            let least = Rate((self.least_share * whole as f64) as u64);
            self.rates.insert(neighbour, LinkRate { rate: rate.rate.max(least), ..rate });
        }
        (self.set_at, self.is_new) = (Some(now), true);
    }

    /// The neighbours have these hardware addresses.
    pub fn set_addresses(&mut self, addresses: BTreeMap<NodeId, MacAddress>) {
        if addresses != self.addresses {
            self.addresses = addresses;
            self.is_new = true;
        }
    }

    /// The neighbour with this hardware address.
    pub fn neighbour(&self, address: MacAddress) -> Option<NodeId> {
        self.addresses.iter().find(|(_, of)| **of == address).map(|(&id, _)| id)
    }

    /// The exchange of a link whose frames the driver sends at this rate, if it has changed by much.
    pub fn new_exchange(&mut self, neighbour: NodeId, rate: Rate) -> Option<LoneExchange> {
        let known = self.chosen.get(&neighbour).unwrap_or(&self.rate).as_bps() as f64;
        if (rate.as_bps() as f64 / known - 1.0).abs() <= RATE_CHANGE {
            return None;
        }
        self.chosen.insert(neighbour, rate);
        Some(lone_exchange(rate, self.overhead))
    }

    /// Packets that have arrived for neighbours since the last call, and the links; nothing where nothing has rates.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn traffic(&mut self) -> Result<(Vec<Arrivals>, Vec<LinkTraffic>), String> {
        let Some((Actuator::Rates(shaper), _)) = &mut self.attached else { return Ok(Default::default()) };
        Ok((shaper.take_arrivals()?, shaper.links()?))
    }

    /// Writes a new setting into the kernel.
    pub fn carry_out(&mut self, now: Time) {
        if !std::mem::take(&mut self.is_new) {
            return;
        }
        self.set_factors();
        if let Some((Actuator::Rates(shaper), _)) = &mut self.attached {
            let links: Vec<_> =
                self.addresses.iter().map(|(id, &to)| (to, self.rates.get(id).copied())).collect();
            if let Err(problem) = shaper.set(&links) {
                self.note(format!("the rates are refused: {problem}"));
            }
        }
        if self.set_at.is_some() {
            self.hold(now);
        }
    }

    /// Hands the flows of the window that ends to the scheme's AQM, before a setting of the agent ends it.
    pub fn count_flows(&mut self) {
        let (Some(aqm), Some((Actuator::Marks(marker), _))) = (&mut self.aqm, &mut self.attached) else {
            return;
        };
        for (flow, used) in marker.take_flows() {
            aqm.count_flow(flow, &used);
        }
    }

    /// Writes the factors of flows into the kernel, if a window has ended.
    fn set_factors(&mut self) {
        if !std::mem::take(&mut self.window_ends) {
            return;
        }
        let (Some(aqm), Some((Actuator::Marks(marker), _))) = (&self.aqm, &mut self.attached) else { return };
        if let Err(problem) = marker.set_factors(&|flow| aqm.flow_factor(flow)) {
            self.note(format!("the factors of flows are refused: {problem}"));
        }
    }

    /// Lets the last setting go on if it is no older than this.
    pub fn renew(&mut self, age: Span, now: Time) {
        match self.set_at {
            Some(at) if now.since(at) <= age => self.hold(now),
            // It ends by itself, soon enough; samples may come before that.
            Some(at) if now.since(at) <= Span(age.0.saturating_add(HOLDS.0)) => {}
            _ if self.acts => {
                self.let_go();
                line(Level::Warning, &format!("{}: no sample for too long: all packets pass", self.name));
            }
            _ => {}
        }
    }

    /// Lets the last setting hold from now on.
    fn hold(&mut self, now: Time) {
        let until = now.saturating_add(HOLDS);
        let held = match &mut self.attached {
            None => return,
            Some((Actuator::Marks(marker), _)) => {
                marker.set(Probabilities { of: self.set, most: self.most, until })
            }
            Some((Actuator::Rates(shaper), _)) => shaper.hold(until),
        };
        match held {
            Ok(()) => self.acts = true,
            Err(problem) => {
                self.acts = false;
                self.note(format!("the setting is refused: {problem}"));
            }
        }
    }

    /// Lets all packets pass from now on.
    fn let_go(&mut self) {
        self.acts = false;
        let nothing = Probabilities { of: [Probability::ZERO; 2], most: self.most, until: Time::ZERO };
        // Where this fails the setting ends by its deadline.
        _ = match &mut self.attached {
            None => Ok(()),
            Some((Actuator::Marks(marker), _)) => marker.set(nothing),
            Some((Actuator::Rates(shaper), _)) => shaper.hold(Time::ZERO),
        };
    }

    /// A sample was taken; `refused`: those that the host of the agent has refused so far.
    pub fn sampled(&mut self, refused: u64, now: Time) {
        if refused > self.refused {
            self.bad += refused - self.refused;
            self.refused = refused;
            self.note_counters(
                "counters that cannot be right: they have stepped back, stand still or have jumped"
                    .to_string(),
            );
        } else {
            self.samples += 1;
            if self.acts_as == Acts::ByRates {
                // A law that limits no link has said so.
                self.set_at = Some(now);
            }
            self.recovered();
        }
    }

    /// There was no sample, for this reason.
    pub fn fail(&mut self, fault: &Fault) {
        let counted = match fault {
            Fault::Unread(_) => &mut self.unread,
            Fault::Wrong(_) => &mut self.bad,
        };
        *counted += 1;
        self.note_counters(fault.reason().to_string());
    }

    /// Notes why there is no sample, unless the program is not there, which is the reason that matters then.
    fn note_counters(&mut self, problem: String) {
        if self.attached.is_some() {
            self.note(problem);
        }
    }

    /// Notes why there is no sample; a reason is logged once.
    fn note(&mut self, problem: String) {
        if self.fault.as_ref() != Some(&problem) {
            self.changes += 1;
            if self.changes <= LOGGED || self.changes.is_multiple_of(LOGGED) {
                line(
                    Level::Warning,
                    &format!("{}: {problem} (change {} of its state)", self.name, self.changes),
                );
            }
            self.fault = Some(problem);
        }
    }

    /// Samples are right.
    pub fn recovered(&mut self) {
        if self.attached.is_some() && self.fault.take().is_some() && self.changes <= LOGGED {
            line(Level::Notice, &format!("{}: samples are right again", self.name));
        }
    }

    fn link_state(&self, link: &LinkTraffic) -> LinkState {
        let LinkTraffic { to, rate, waiting, packets, bytes, sorted, dropped } = *link;
        let number = self.neighbour(to).unwrap_or(NodeId(u32::MAX));
        let rate_bps = rate.filter(|_| self.acts).map(|rate| rate.rate.as_bps());
        LinkState {
            number: number.0,
            node: String::new(),
            rate_bps,
            waiting,
            packets,
            bytes,
            limited: sorted,
            dropped,
        }
    }

    /// The state, with the inner values of the law.
    pub fn state(&self, gauges: Vec<(&'static str, f64)>) -> RadioState {
        let (counts, links) = match &self.attached {
            None => Default::default(),
            Some((Actuator::Marks(marker), _)) => (marker.counts().unwrap_or_default(), Vec::new()),
            Some((Actuator::Rates(shaper), _)) => {
                let links = shaper.links().unwrap_or_default();
                ([sum(&links), PacketCounts::default()], links)
            }
        };
        let part = |at: usize| {
            let probability =
                if self.acts { self.set[at].numerator() as f64 / (1_u64 << 32) as f64 } else { 0.0 };
            DirectionState::new(probability, &counts[at])
        };
        let reason = || self.fault.clone().unwrap_or_else(|| "no sample yet".to_string());
        let gauges = gauges.into_iter().filter(|(_, value)| value.is_finite());
        RadioState {
            device: self.name.clone(),
            attachment: match self.acts_as {
                Acts::OnChosen(_) => self.attachment.word().to_string(),
                Acts::ByRates => BY_RATES.to_string(),
            },
            acts: self.acts,
            reason: (!self.acts).then(reason),
            samples: self.samples,
            bad_samples: self.bad,
            unread_samples: self.unread,
            // An empty sum is -0.
            gauges: gauges
                .map(|(name, value)| Gauge { name: name.to_string(), value: value + 0.0 })
                .collect(),
            neighbours: Vec::new(),
            links: links.iter().map(|link| self.link_state(link)).collect(),
            outgoing: part(0),
            incoming: part(1),
        }
    }
}

/// The packets to all neighbours together.
fn sum(links: &[LinkTraffic]) -> PacketCounts {
    let mut sum = PacketCounts::default();
    for link in links {
        sum.packets += link.packets;
        sum.bytes += link.bytes;
        sum.judged += link.sorted;
        sum.dropped += link.dropped;
    }
    sum
}
