//! A device of a radio, with what acts there.

use airfair_schemes::places::{Direction, Probability};
use airfair_units::{Span, Time};

use crate::claim::Claim;
use crate::keeper::Keeper;
use crate::kernel::{Attachment, KernelMarker};
use crate::load::{Fault, LoadSource};
use crate::log::{Level, line};
use crate::marker::{Action, HOLDS, Marker, PacketCounts, Probabilities, index};
use crate::plan::PlannedRadio;
use crate::qdisc::{index_of, kind_at_clsact};
use crate::status::{DirectionState, Gauge, RadioState, word_of};

/// Changes of the state of a device's counters that are logged at once; from then on one of each so many is.
const LOGGED: u64 = 20;

/// A device of a radio.
#[derive(Debug)]
pub(crate) struct Device {
    name: String,
    attachment: Attachment,
    action: Action,
    port: u16,
    /// The largest probability that is carried out.
    most: Probability,
    pub(crate) source: Box<dyn LoadSource>,
    /// The agent has started.
    pub(crate) started: bool,
    /// The program at the device; none while the device is not there.
    attached: Option<(KernelMarker, Claim)>,
    /// The last setting of the law, and when it was made; none: the law has set nothing yet.
    set: [Probability; 2],
    set_at: Option<Time>,
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
        let PlannedRadio { device: name, source, action, attachment, most_probability: most, .. } = radio;
        let mut device = Self {
            name,
            attachment,
            action,
            port,
            most,
            source,
            started: false,
            attached: None,
            set: [Probability::ZERO; 2],
            set_at: None,
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

    /// Attaches the program; a `clsact` that is made for it is the keeper's to remove.
    fn attach(&mut self, claim: Claim, keeper: &mut Keeper) -> Result<(), String> {
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
        let marker = KernelMarker::attach(&self.name, self.attachment, self.action, self.port)?;
        self.attached = Some((marker, claim));
        Ok(())
    }

    /// Looks whether the device is still the one at which the program is, and attaches it to a new one. True if it was attached anew.
    pub fn follow(&mut self, keeper: &mut Keeper) -> bool {
        let found = index_of(&self.name);
        if let Some((_, claim)) = &self.attached {
            if found == Some(claim.index()) {
                return false;
            }
            self.attached = None;
            self.forget_setting();
            self.note("the device has gone".to_string());
        }
        if found.is_none() {
            return false;
        }
        let attached = Claim::new(&self.name).and_then(|claim| self.attach(claim, keeper));
        match attached {
            Ok(()) => {
                line(Level::Notice, &format!("{}: the device has come again", self.name));
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
        let PlannedRadio { source, action, attachment, most_probability, .. } = radio;
        (self.source, self.refused, self.most) = (source, 0, most_probability);
        if !same_law || action != self.action {
            // A probability of marks is none of drops.
            self.forget_setting();
            self.action = action;
            self.attached.iter_mut().for_each(|(marker, _)| marker.change_action(action));
        }
        self.set = self.set.map(|probability| probability.min(self.most));
        if attachment == self.attachment {
            return Ok(());
        }
        self.attachment = attachment;
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
    }

    /// The law has set a probability.
    pub fn set(&mut self, direction: Direction, probability: Probability, now: Time) {
        self.set[index(direction)] = probability.min(self.most);
        (self.set_at, self.is_new) = (Some(now), true);
    }

    /// Writes a new setting into the kernel.
    pub fn carry_out(&mut self, now: Time) {
        if std::mem::take(&mut self.is_new) {
            self.hold(now);
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
        let Some((marker, _)) = &mut self.attached else { return };
        match marker.set(Probabilities { of: self.set, until: now.saturating_add(HOLDS) }) {
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
        let nothing = Probabilities { of: [Probability::ZERO; 2], until: Time::ZERO };
        // Where this fails the setting ends by its deadline.
        self.attached.iter_mut().for_each(|(marker, _)| _ = marker.set(nothing));
    }

    /// A sample was taken; `refused`: those that the host of the agent has refused so far.
    pub fn sampled(&mut self, refused: u64) {
        if refused > self.refused {
            self.bad += refused - self.refused;
            self.refused = refused;
            self.note_counters(
                "counters that cannot be right: they have stepped back, stand still or have jumped"
                    .to_string(),
            );
        } else {
            self.samples += 1;
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

    /// The state, with the inner values of the law.
    pub fn state(&self, gauges: Vec<(&'static str, f64)>) -> RadioState {
        let counts = self.attached.as_ref().and_then(|(marker, _)| marker.counts().ok());
        let counts = counts.unwrap_or([PacketCounts::default(); 2]);
        let part = |at: usize| {
            let probability =
                if self.acts { self.set[at].numerator() as f64 / (1_u64 << 32) as f64 } else { 0.0 };
            DirectionState::new(probability, &counts[at])
        };
        let reason = || self.fault.clone().unwrap_or_else(|| "no sample yet".to_string());
        let gauges = gauges.into_iter().filter(|(_, value)| value.is_finite());
        RadioState {
            device: self.name.clone(),
            attachment: word_of(self.attachment),
            acts: self.acts,
            reason: (!self.acts).then(reason),
            samples: self.samples,
            bad_samples: self.bad,
            unread_samples: self.unread,
            gauges: gauges.map(|(name, value)| Gauge { name: name.to_string(), value }).collect(),
            neighbours: Vec::new(),
            outgoing: part(0),
            incoming: part(1),
        }
    }
}
