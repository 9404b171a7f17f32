//! The scheme at each radio: the parts that are there, what is estimated, what is refused.

use airfair_host::Capabilities;
use airfair_schemes::places::{Aqm, Capability, Interface, NodeId, Probability};
use airfair_schemes::{ParamValue, Scheme};
use airfair_units::{Rate, Span};

use crate::config::{Config, LoadConfig, PRESET, RadioConfig};
use crate::kernel::Attachment;
use crate::load::{DeviceCounters, EmulatedCounters, FileCounters, LoadSource, SurveyCounters, offered};
use crate::marker::{Action, HOLDS};

/// A scheme at the radios of a node.
pub struct Plan {
    /// The scheme.
    pub scheme: Box<dyn Scheme>,
    /// The number of the node in messages, by its name.
    pub id: NodeId,
    /// The radios, by the names of their devices.
    pub radios: Vec<PlannedRadio>,
}

/// A radio with the parts that it gets.
pub struct PlannedRadio {
    /// The name of the device.
    pub device: String,
    /// The radio as the scheme sees it.
    pub at: Interface,
    /// Where its counters come from.
    pub source: Box<dyn LoadSource>,
    /// The part that acts on packets.
    pub acts: Acts,
    /// The scheme's AQM, of a scheme that treats flows apart: it knows their factors.
    pub aqm: Option<Box<dyn Aqm>>,
    /// The rate of its data frames.
    pub rate: Rate,
    /// The time of a packet beside its own bits, as it is configured; none: as the standard has it.
    pub overhead: Option<Span>,
    /// The attachment of the program in the kernel.
    pub attachment: Attachment,
    /// The largest probability that is carried out.
    pub most_probability: Probability,
    /// The least rate of a link, as a part of that of the radio.
    pub least_share: f64,
    /// Capabilities that the scheme wants and that are estimated.
    pub estimated: Vec<Capability>,
}

/// The part of a daemon that acts on packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acts {
    /// Packets that are chosen are marked or dropped.
    OnChosen(Action),
    /// Packets to each neighbour leave at a rate.
    ByRates,
}

impl Plan {
    /// The plan of a configuration.
    ///
    /// # Errors
    /// Each capability that the scheme wants and a radio lacks, with the parameters after which it does not.
    pub fn new(config: &Config) -> Result<Self, Vec<String>> {
        let scheme = config.build().map_err(|problem| vec![problem])?;
        let (mut radios, mut problems) = (Vec::new(), Vec::new());
        for (device, radio) in &config.radios {
            let source = source(device, radio);
            let offers = offered(&*source, config.messages.is_some(), config.radios.len() == 1);
            let at = Interface { access_point: radio.access_point, rate: radio.rate, ..Interface::radio(0) };
            let wants = scheme.wants(&at);
            problems.extend(
                offers.missing(&wants).into_iter().map(|lack| refusal(config, (device, &at), &offers, lack)),
            );
            if scheme.agent(&at).is_none() {
                problems.push(no_agent(config, device, radio));
            }
            radios.push(PlannedRadio {
                device: device.clone(),
                at,
                source,
                acts: acts(config),
                aqm: if wants.has(Capability::FlowUse) { scheme.aqm(&at) } else { None },
                rate: radio.rate,
                overhead: radio.overhead,
                attachment: radio.attach.unwrap_or_else(Attachment::best),
                most_probability: radio.most_probability,
                least_share: radio.least_share,
                estimated: offers.estimated(&wants),
            });
        }
        let id = NodeId(airfair_host::scheme_ids::of_names(&[&config.node])[0]);
        if problems.is_empty() { Ok(Self { scheme, id, radios }) } else { Err(problems) }
    }

    /// The plan in words, a line for each thing that the daemon does.
    #[must_use]
    pub fn lines(&self, config: &Config) -> Vec<String> {
        let mut lines =
            vec![format!("node {}: {} ({} preset)", config.node, config.scheme.name, config.preset)];
        for radio in &self.radios {
            let PlannedRadio { device, at, source, acts, attachment, estimated, .. } = radio;
            lines.push(format!(
                "{device}: {} at {}; counters from {} every {}",
                at.kind(),
                at.rate,
                source.words(),
                self.scheme.wants(at).samples(),
            ));
            let acts = match acts {
                Acts::OnChosen(action) => format!(
                    "{} packets in both directions by a program in the kernel ({})",
                    action.words(),
                    attachment.word()
                ),
                Acts::ByRates => format!(
                    "gives packets to each neighbour a rate by classes of HTB, {} of the air at least",
                    radio.least_share
                ),
            };
            lines.push(format!("{device}: {acts}; without this daemon they pass after {HOLDS}"));
            for capability in estimated {
                lines.push(format!("{device}: estimated: {}", capability.words()));
            }
        }
        lines
    }
}

fn source(device: &str, radio: &RadioConfig) -> Box<dyn LoadSource> {
    match &radio.load {
        LoadConfig::Survey => Box::new(SurveyCounters::new(device, radio.rate)),
        LoadConfig::Device => Box::new(DeviceCounters::new(device)),
        LoadConfig::Emulation => Box::new(EmulatedCounters::new(device)),
        LoadConfig::File(path) => Box::new(FileCounters::new(path.clone())),
    }
}

/// The part of the scheme that acts on packets.
fn acts(config: &Config) -> Acts {
    Acts::OnChosen(match config.scheme.name {
        "airtime" => return Acts::ByRates,
        "nred" if config.params.0.get("ecn") == Some(&ParamValue::Flag(true)) => Action::MarkOrDropSpread,
        "nred" => Action::DropSpread,
        _ => Action::Mark,
    })
}

fn no_agent(config: &Config, device: &str, radio: &RadioConfig) -> String {
    let scheme = config.scheme.name;
    if radio.access_point {
        format!("radio.{device}: {scheme} does nothing at a radio")
    } else {
        format!("radio.{device}: {scheme} acts at access points only: access_point = true")
    }
}

/// A refusal by name, with the changes of a parameter after which the capability is not missing.
fn refusal(
    config: &Config,
    (device, at): (&str, &Interface),
    offers: &Capabilities,
    lack: Capability,
) -> String {
    let scheme = config.scheme;
    let now = config.build().map_or_else(|_| Vec::new(), |built| offers.missing(&built.wants(at)));
    let mut remedies = Vec::new();
    for doc in scheme.params.iter() {
        for value in std::iter::once(doc.default).chain(doc.others()) {
            let mut params = config.params.clone();
            params.0.insert(doc.name.to_string(), value);
            let missing = (scheme.build)(&params).map(|built| offers.missing(&built.wants(at)));
            let is_remedy = |rest: &Vec<Capability>| {
                !rest.contains(&lack) && rest.iter().all(|other| now.contains(other))
            };
            if missing.as_ref().is_ok_and(is_remedy) && remedies.len() < 3 {
                remedies.push(format!("{} = {value}", doc.name));
                break;
            }
        }
    }
    let live = scheme.preset(PRESET).and_then(|params| (scheme.build)(&params).ok());
    let by_preset = live.is_some_and(|built| !offers.missing(&built.wants(at)).contains(&lack));
    let remedy = match remedies.as_slice() {
        [] if by_preset => format!("; it does without with preset = \"{PRESET}\""),
        [] if matches!(lack, Capability::Neighbours | Capability::Backlogs) => {
            "; a table [messages] has keys for that".to_string()
        }
        [] if lack == Capability::Links && config.messages.is_none() => {
            "; a table [messages] has keys for that".to_string()
        }
        [] if matches!(lack, Capability::Airtime | Capability::NavTime | Capability::Links) => {
            "; a source of counters other than \"device\" has them".to_string()
        }
        [] => String::new(),
        some => format!("; it does without with {}", some.join(", or ")),
    };
    format!("radio.{device}: {} wants {}, which this host does not have{remedy}", scheme.name, lack.words())
}
