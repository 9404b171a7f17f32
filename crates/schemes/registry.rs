//! The table of schemes: name, paper, places, parameters and constructor of each.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Deref;

use crate::diffq::scheduler::Parts;
use crate::params::{PRESET_KEY, ParamDoc, ParamError, ParamKind, ParamValue, Params, Preset};
use crate::places::{Interface, OutputQueue};
use crate::scheme::{AqmScheme, Scheme, SourceScheme};
use crate::{
    airtime, atp, bbr, c3l, codel, cubic, diffq, exact, exor, faulty, few, fq_codel, lbm, more, newreno,
    nred, qfcp, rcp, red, reno, tfrc, vegas, xcp, xcp_b,
};

/// The result of a constructor; an error for a parameter that the scheme cannot use.
pub type Built = Result<Box<dyn Scheme>, ParamError>;

/// The constructor of a scheme: called as `(entry.build)(&params)`.
#[derive(Clone)]
pub enum Build {
    /// A function, as for all built-in schemes: the table needs no start-up.
    Function(fn(&Params) -> Built),
    /// A closure with state, such as a definition in Python.
    Closure(Arc<dyn Fn(&Params) -> Built + Send + Sync>),
}

impl Deref for Build {
    type Target = dyn Fn(&Params) -> Built + Send + Sync;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Function(build) => build,
            Self::Closure(build) => &**build,
        }
    }
}

/// The transport protocol of a flow, as far as it decides which source the flow has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// TCP: the source is a window law ([`Scheme::source`]).
    Tcp,
    /// UDP: the source paces packets ([`Scheme::udp`]).
    Udp,
    /// The transport with a rate: the source paces packets, and those that are lost are sent again ([`Scheme::rate`]).
    Rate,
}

/// A line of the table.
#[derive(Clone)]
pub struct SchemeEntry {
    /// The name of the scheme: lower-case letters, digits and hyphens.
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// The source of the scheme, such as a paper.
    pub source: &'static str,
    /// The places that the scheme fills, of [`PLACES`].
    pub places: Cow<'static, [&'static str]>,
    /// The transport protocols for which the place "source" is filled; irrelevant without that place.
    pub carriers: &'static [Carrier],
    /// The declarations of its parameters.
    pub params: Cow<'static, [ParamDoc]>,
    /// Named sets of values of its parameters.
    pub presets: &'static [Preset],
    /// Keys of a scenario that the scheme sets for its own runs, where it could not run, or had no effect, without them.
    pub brings: &'static [Bring],
    /// The constructor.
    pub build: Build,
}

/// A key of a scenario that a scheme sets for its own runs, if the key has its default value and the network lacks something that the
/// scheme wants: what a file chooses stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bring {
    /// The path of the key, as of `--set`.
    pub key: &'static str,
    /// The default value of the key, as TOML.
    pub instead_of: &'static str,
    /// The value that the scheme needs, as TOML.
    pub value: &'static str,
}

/// The eight access categories that carry DiffQ's levels.
const LEVELS: Bring = Bring { key: "radio.categories", instead_of: "\"dcf\"", value: "\"diffq\"" };

/// The keys of DiffQ and its variants.
const DIFFQ: &[Bring] = &[LEVELS];

/// Packets that can be marked: a scheme that drops none has no effect on others.
const ECN: Bring = Bring { key: "tcp.ecn", instead_of: "false", value: "true" };

impl SchemeEntry {
    /// A line of the table.
    pub fn new(
        name: &'static str,
        about: &'static str,
        source: &'static str,
        places: &'static [&'static str],
        params: &'static [ParamDoc],
        build: impl Fn(&Params) -> Built + Send + Sync + 'static,
    ) -> Self {
        let (places, params) = (Cow::Borrowed(places), Cow::Borrowed(params));
        let carriers = &[Carrier::Tcp];
        let build = Build::Closure(Arc::new(build));
        Self { name, about, source, places, carriers, params, presets: &[], brings: &[], build }
    }

    /// The line, for a scheme whose sources are for flows over these transport protocols; without this call for TCP.
    #[must_use]
    pub const fn over(mut self, carriers: &'static [Carrier]) -> Self {
        self.carriers = carriers;
        self
    }

    /// The line, for a scheme with presets.
    #[must_use]
    pub const fn with_presets(mut self, presets: &'static [Preset]) -> Self {
        self.presets = presets;
        self
    }

    /// The line, for a scheme that sets these keys of a scenario for its own runs.
    #[must_use]
    pub const fn bringing(mut self, keys: &'static [Bring]) -> Self {
        self.brings = keys;
        self
    }

    /// The values of the parameters in a preset of this name; `None` if there is none.
    #[must_use]
    pub fn preset(&self, name: &str) -> Option<Params> {
        let preset = self.presets.iter().find(|preset| preset.name == name);
        if preset.is_none() && name != Preset::DEFAULT {
            return None;
        }
        let value = |doc: &ParamDoc| preset.and_then(|preset| preset.value(doc.name)).unwrap_or(doc.default);
        Some(Params(self.params.iter().map(|doc| (doc.name.to_string(), value(doc))).collect()))
    }

    /// The values of the parameters for a user who names no preset.
    #[must_use]
    pub fn defaults(&self) -> Params {
        self.preset(Preset::DEFAULT).unwrap_or_default()
    }

    /// The names of its presets, the default one first.
    pub fn preset_names(&self) -> impl Iterator<Item = &'static str> {
        let others = self.presets.iter().map(|preset| preset.name).filter(|name| *name != Preset::DEFAULT);
        core::iter::once(Preset::DEFAULT).chain(others)
    }

    /// True if the scheme has a source for flows over this transport protocol.
    #[must_use]
    pub fn has_source(&self, carrier: Carrier) -> bool {
        self.places.contains(&"source") && self.carriers.contains(&carrier)
    }

    /// A line of the table as a constant.
    const fn built_in_entry(
        name: &'static str,
        about: &'static str,
        source: &'static str,
        places: &'static [&'static str],
        params: &'static [ParamDoc],
        build: fn(&Params) -> Built,
    ) -> Self {
        let (places, params) = (Cow::Borrowed(places), Cow::Borrowed(params));
        let carriers = &[Carrier::Tcp];
        let build = Build::Function(build);
        Self { name, about, source, places, carriers, params, presets: &[], brings: &[], build }
    }
}

/// The places that a scheme may fill.
pub const PLACES: [&str; 8] =
    ["source", "receiver", "queue", "aqm", "hop", "agent", "forwarder", "controller"];

struct DropTailScheme;
impl Scheme for DropTailScheme {}

struct FqCoDelScheme(fq_codel::FqCoDel);

impl Scheme for FqCoDelScheme {
    fn queue(&self, interface: &Interface) -> OutputQueue {
        OutputQueue::plain(self.0.for_limit(interface.limit_packets))
    }
}

static ENTRIES: [SchemeEntry; 33] = [
    SchemeEntry::built_in_entry(
        "droptail",
        "first in, first out; what arrives at a full queue is dropped",
        "baseline of all five papers",
        &["queue"],
        &[],
        |_| Ok(Box::new(DropTailScheme)),
    ),
    SchemeEntry::built_in_entry(
        "red",
        "drops or marks at random, more often the longer the average queue",
        "Floyd and Jacobson, IEEE/ACM ToN 1(4), 1993",
        &["aqm"],
        red::RedParameters::LIST,
        |params| Ok(Box::new(AqmScheme(red::Red::from_params(params)?))),
    ),
    SchemeEntry::built_in_entry(
        "nred",
        "nodes that suffer in a congested neighbourhood say so; each drops in proportion to its share of the channel",
        "Xu, Gerla, Qi and Shu, MobiCom 2003",
        &["agent", "aqm"],
        nred::Nred::LIST,
        |params| Ok(Box::new(nred::Nred::from_params(params)?)),
    )
    .with_presets(nred::PRESETS),
    SchemeEntry::built_in_entry(
        "lbm",
        "an access point marks packets of both directions at random, more often the more the air carries",
        "Siris and Triantafyllidou, ICS-FORTH",
        &["agent", "aqm"],
        lbm::Lbm::LIST,
        |params| Ok(Box::new(lbm::Lbm::from_params(params)?)),
    )
    .with_presets(lbm::PRESETS)
    .bringing(&[ECN]),
    SchemeEntry::built_in_entry(
        "qfcp",
        "routers and access points write a flow's fair rate into each packet, and senders keep to it",
        "Pu and Hamdi",
        &["source", "hop"],
        qfcp::QfcpParameters::LIST,
        |params| Ok(Box::new(qfcp::Qfcp::from_params(params)?)),
    )
    .with_presets(qfcp::PRESETS),
    SchemeEntry::built_in_entry(
        "xcp",
        "routers write into each packet by how much its flow is to change its window",
        "Katabi, Handley and Rohrs, SIGCOMM 2002",
        &["source", "hop"],
        xcp::XcpParameters::LIST,
        |params| Ok(Box::new(xcp::Xcp::from_params(params)?)),
    ),
    SchemeEntry::built_in_entry(
        "xcp-b",
        "xcp for links of unknown capacity: the speed of the queue tells what is spare",
        "Abrantes and Ricardo, ACM CCR 36(3), 2006",
        &["source", "hop"],
        xcp_b::XcpBParameters::LIST,
        |params| Ok(Box::new(xcp_b::XcpB::from_params(params)?)),
    ),
    SchemeEntry::built_in_entry(
        "rcp",
        "routers write one rate for all flows into each packet, and senders pace at it",
        "Dukkipati, Kobayashi, Zhang-Shen and McKeown, IWQoS 2005",
        &["source", "hop"],
        rcp::RcpParameters::LIST,
        |params| Ok(Box::new(rcp::Rcp::from_params(params)?)),
    ),
    SchemeEntry::built_in_entry(
        "codel",
        "drops or marks at the head of a queue that stands above a target wait for a whole interval",
        "RFC 8289",
        &["aqm"],
        codel::CoDelParameters::LIST,
        |params| Ok(Box::new(AqmScheme(codel::CoDel::from_params(params)?))),
    ),
    SchemeEntry::built_in_entry(
        "fq-codel",
        "a queue per flow in turn, flows with little to send first, with CoDel in each",
        "RFC 8290",
        &["queue"],
        fq_codel::FqCoDelParameters::LIST,
        |params| Ok(Box::new(FqCoDelScheme(fq_codel::FqCoDel::from_params(params, 0)?))),
    ),
    SchemeEntry::built_in_entry(
        "reno",
        "slow start and congestion avoidance; half the window at a loss; a partial acknowledgement ends recovery",
        "RFC 5681",
        &["source"],
        reno::Common::LIST,
        |params| Ok(Box::new(SourceScheme(reno::Reno::from_params(params)?))),
    ),
    SchemeEntry::built_in_entry(
        "newreno",
        "the window of reno; a partial acknowledgement has the next hole repaired",
        "RFC 6582",
        &["source"],
        reno::Common::LIST,
        |params| Ok(Box::new(SourceScheme(newreno::from_params(params)?))),
    ),
    SchemeEntry::built_in_entry(
        "vegas",
        "keeps one to three segments queued on the path, by the round-trip time",
        "Brakmo and Peterson, IEEE JSAC 13(8), 1995",
        &["source"],
        vegas::VegasParameters::LIST,
        |params| Ok(Box::new(SourceScheme(vegas::Vegas::from_params(params)?))),
    ),
    SchemeEntry::built_in_entry(
        "cubic",
        "the window is a cubic function of the time since the last congestion",
        "RFC 9438",
        &["source"],
        cubic::CubicParameters::LIST,
        |params| Ok(Box::new(SourceScheme(cubic::Cubic::from_params(params)?))),
    ),
    SchemeEntry::built_in_entry(
        "bbr",
        "sends at the measured rate of the bottleneck, with two bandwidth-delay products in flight at most (version 1)",
        "draft-cardwell-iccrg-bbr-congestion-control-00",
        &["source"],
        bbr::BbrParameters::LIST,
        |params| Ok(Box::new(SourceScheme(bbr::Bbr::from_params(params)?))),
    ),
    SchemeEntry::built_in_entry(
        "few",
        "newreno whose window grows by a hundredth of a segment in a round trip",
        "Nahm, Helmy and Kuo, MobiHoc 2005",
        &["source"],
        few::FewParameters::LIST,
        |params| Ok(Box::new(SourceScheme(few::from_params(params)?))),
    ),
    SchemeEntry::built_in_entry(
        "tfrc",
        "a flow over UDP sends at the rate of a TCP flow with its loss event rate and round-trip time",
        "RFC 5348",
        &["source", "receiver"],
        tfrc::TfrcParameters::LIST,
        |params| Ok(Box::new(tfrc::Tfrc::from_params(params)?)),
    )
    .over(&[Carrier::Udp]),
    SchemeEntry::built_in_entry(
        "tfrc-ecn",
        "tfrc whose loss events are marks of queues that are three quarters full; losses count for nothing",
        "Warrier, Ha, Wason and Rhee, section 6.1",
        &["source", "receiver", "aqm"],
        tfrc::EcnParameters::LIST,
        |params| Ok(Box::new(tfrc::Tfrc::with_marks(params)?)),
    )
    .over(&[Carrier::Udp]),
    SchemeEntry::built_in_entry(
        "diffq",
        "queues by destination; MAC priorities and source rates follow the difference to the next hop's queue",
        "Warrier, Ha, Wason and Rhee",
        &["source", "queue", "agent"],
        diffq::DiffQParameters::LIST,
        |params| Ok(Box::new(diffq::DiffQ::from_params(params, Parts::All)?)),
    )
    .over(&[Carrier::Tcp, Carrier::Udp])
    .with_presets(diffq::PRESETS)
    .bringing(DIFFQ),
    SchemeEntry::built_in_entry(
        "diffq-rc-sched",
        "diffq whose packets all go at level 0",
        "Warrier, Ha, Wason and Rhee, section 6.4",
        &["source", "queue", "agent"],
        diffq::DiffQParameters::LIST,
        |params| Ok(Box::new(diffq::DiffQ::from_params(params, Parts::Order)?)),
    )
    .over(&[Carrier::Tcp, Carrier::Udp])
    .with_presets(diffq::OF_VARIANTS)
    .bringing(DIFFQ),
    SchemeEntry::built_in_entry(
        "diffq-rc",
        "diffq whose queues are served in turn, at level 0: source rates alone",
        "Warrier, Ha, Wason and Rhee, section 6.4",
        &["source", "queue"],
        diffq::DiffQParameters::LIST,
        |params| Ok(Box::new(diffq::DiffQ::from_params(params, Parts::Turns)?)),
    )
    .over(&[Carrier::Tcp, Carrier::Udp])
    .with_presets(diffq::OF_VARIANTS)
    .bringing(DIFFQ),
    SchemeEntry::built_in_entry(
        "diffq-occupancy",
        "diffq whose order and priorities follow the node's own queue alone",
        "Warrier, Ha, Wason and Rhee, whose section 4.1 argues against it",
        &["source", "queue"],
        diffq::DiffQParameters::LIST,
        |params| Ok(Box::new(diffq::DiffQ::from_params(params, Parts::Occupancy)?)),
    )
    .over(&[Carrier::Tcp, Carrier::Udp])
    .with_presets(diffq::OF_VARIANTS)
    .bringing(DIFFQ),
    SchemeEntry::built_in_entry(
        "diffq-liar",
        "diffq that announces wrong sizes of its queues: what one node can do to the others",
        "none: it is for experiments",
        &["source", "queue", "agent"],
        faulty::LiarParameters::LIST,
        |params| Ok(Box::new(faulty::diffq(params)?)),
    )
    .over(&[Carrier::Tcp, Carrier::Udp])
    .with_presets(diffq::OF_VARIANTS)
    .bringing(DIFFQ),
    SchemeEntry::built_in_entry(
        "c3l",
        "a controller assigns each link its share of the air; nodes divide it among flows, and sources keep to it",
        "Raniwala, De, Sharma, Krishnan and Chiueh",
        &["source", "receiver", "hop", "agent", "controller"],
        c3l::C3lParameters::LIST,
        |params| Ok(Box::new(c3l::C3l::from_params(params)?)),
    )
    .over(&[Carrier::Tcp, Carrier::Udp, Carrier::Rate])
    .with_presets(c3l::PRESETS),
    SchemeEntry::built_in_entry(
        "c3l-faulty",
        "c3l whose reports are lost, late or wrong: what one node can do to the others",
        "none: it is for experiments",
        &["source", "receiver", "hop", "agent", "controller"],
        faulty::FaultyParameters::LIST,
        |params| Ok(Box::new(faulty::c3l(params)?)),
    )
    .over(&[Carrier::Tcp, Carrier::Udp, Carrier::Rate])
    .with_presets(c3l::OF_VARIANTS),
    SchemeEntry::built_in_entry(
        "c3l-local",
        "c3l without a controller: each node estimates the bandwidth that its flows divide",
        "Raniwala, De, Sharma, Krishnan and Chiueh, figure 12",
        &["source", "receiver", "hop", "agent"],
        c3l::LocalParameters::LIST,
        |params| Ok(Box::new(c3l::C3l::local(params)?)),
    )
    .over(&[Carrier::Tcp, Carrier::Udp, Carrier::Rate])
    .with_presets(c3l::OF_VARIANTS),
    SchemeEntry::built_in_entry(
        "airtime",
        "each pair of neighbours has a share of the air's time, and lends what it does not use",
        "Jang, Psounis and Govindan, CoNEXT 2010",
        &["queue", "agent"],
        airtime::Airtime::LIST,
        |params| Ok(Box::new(airtime::Airtime::from_params(params)?)),
    )
    .with_presets(airtime::PRESETS),
    SchemeEntry::built_in_entry(
        "atp",
        "sources are paced by the time that the slowest node of their path takes for a packet",
        "Sundaresan, Anantharaman, Hsieh and Sivakumar, MobiHoc 2003",
        &["source", "receiver", "hop"],
        atp::AtpParameters::LIST,
        |params| Ok(Box::new(atp::Atp::from_params(params)?)),
    )
    .over(&[Carrier::Rate, Carrier::Udp])
    .with_presets(atp::PRESETS),
    SchemeEntry::built_in_entry(
        "exact",
        "routers write the rate of a flow into each packet, by the bandwidth that they measure to each neighbour",
        "Chen, Nahrstedt and Vaidya, WCNC 2004",
        &["source", "receiver", "hop"],
        exact::ExactParameters::LIST,
        |params| Ok(Box::new(exact::Exact::from_params(params)?)),
    )
    .over(&[Carrier::Rate, Carrier::Udp])
    .with_presets(exact::PRESETS),
    SchemeEntry::built_in_entry(
        "more",
        "opportunistic routing: every broadcast is a random combination of a batch, and whoever hears it may send another",
        "Chachulski, Jennings, Katti and Katabi, \"Trading Structure for Randomness in Wireless Opportunistic Routing\"",
        &["agent", "forwarder"],
        more::MoreParameters::LIST,
        |params| Ok(Box::new(more::More::from_params(params)?)),
    ),
    SchemeEntry::built_in_entry(
        "diffq-more",
        "more whose sources, order and levels follow the differences between backlogs (DiffQ-MORE)",
        "Warrier, Ha, Wason and Rhee, sections 4.2 and 6.1",
        &["agent", "forwarder"],
        more::DiffQMoreParameters::LIST,
        |params| Ok(Box::new(more::More::with_diffq(params)?)),
    ),
    SchemeEntry::built_in_entry(
        "exor",
        "opportunistic routing: of those that have heard a packet of a batch the nearest to its destination sends it on, in turns",
        "Biswas and Morris, \"ExOR: Opportunistic Multi-Hop Routing for Wireless Networks\"",
        &["agent", "forwarder"],
        exor::ExorParameters::LIST,
        |params| Ok(Box::new(exor::ExOr::from_params(params)?)),
    ),
    SchemeEntry::built_in_entry(
        "diffq-exor",
        "exor whose sources, order and levels follow the differences between backlogs (no paper has it)",
        "after Warrier, Ha, Wason and Rhee, sections 4.2 and 6.1",
        &["agent", "forwarder"],
        exor::DiffQExorParameters::LIST,
        |params| Ok(Box::new(exor::ExOr::with_diffq(params)?)),
    ),
];

/// The schemes that a reader and a world know: the built-in ones and those that a program adds.
#[derive(Clone)]
pub struct Registry(Cow<'static, [SchemeEntry]>);

static BUILT_IN: Registry = Registry(Cow::Borrowed(&ENTRIES));

impl Registry {
    /// The built-in schemes.
    #[must_use]
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// These schemes and one more, which is checked first: it is built once with its defaults.
    ///
    /// # Errors
    /// The problem of the entry.
    pub fn with(mut self, entry: SchemeEntry) -> Result<Self, String> {
        check(&entry).map_err(|problem| format!("scheme \"{}\": {problem}", entry.name))?;
        if self.find(entry.name).is_some() {
            return Err(format!("scheme \"{}\": there is one of this name", entry.name));
        }
        self.0.to_mut().push(entry);
        Ok(self)
    }

    /// These schemes and one more, for an entry that [`Registry::with`] has accepted before.
    #[must_use]
    pub fn with_accepted(mut self, entry: SchemeEntry) -> Self {
        self.0.to_mut().push(entry);
        self
    }

    /// The scheme of this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&SchemeEntry> {
        self.0.iter().find(|e| e.name == name)
    }

    /// Every scheme, in the order in which they are shown.
    #[must_use]
    pub fn entries(&self) -> &[SchemeEntry] {
        &self.0
    }
}

/// Checks the rules for entries, so that no reader of the table has to.
fn check(entry: &SchemeEntry) -> Result<(), String> {
    if !is_name(entry.name, '-') {
        return Err("expected a name of lower-case letters, digits and hyphens, a letter first".to_string());
    }
    if let Some(place) = entry.places.iter().find(|place| !PLACES.contains(place)) {
        return Err(format!("\"{place}\": no such place; expected one of {}", PLACES.join(", ")));
    }
    for (i, param) in entry.params.iter().enumerate() {
        if !is_name(param.name, '_') {
            let expected = "expected a name of lower-case letters, digits and underscores, a letter first";
            return Err(format!("parameter \"{}\": {expected}", param.name));
        }
        if entry.params[..i].iter().any(|other| other.name == param.name) {
            return Err(format!("parameter \"{}\" stands twice", param.name));
        }
        if let Err(error) = param.check(param.default) {
            return Err(format!(
                "parameter \"{}\": its default {}: {}",
                param.name, param.default, error.problem
            ));
        }
    }
    check_presets(entry)?;
    let scheme = (entry.build)(&Params::default()).map_err(|e| format!("with its defaults: {e}"))?;
    let somewhere = |fills: &dyn Fn(&Interface) -> bool| Interface::all_kinds().iter().any(fills);
    let udp = scheme.udp();
    // Words may add places: DiffQ has an agent where its sizes are broadcast.
    let with_words = entry.params.iter().flat_map(|param| {
        let words = if let ParamKind::Choice(words) = param.kind { words } else { &[] };
        words.iter().map(|word| Params([(param.name.to_string(), ParamValue::Choice(word))].into()))
    });
    let others: Vec<_> = with_words.filter_map(|params| (entry.build)(&params).ok()).collect();
    let some =
        |fills: &dyn Fn(&dyn Scheme) -> bool| fills(&*scheme) || others.iter().any(|other| fills(&**other));
    let at_some =
        |fills: &dyn Fn(&dyn Scheme, &Interface) -> bool| some(&|scheme| somewhere(&|at| fills(scheme, at)));
    let filled = [
        ("source", some(&|scheme| scheme.source().is_some() || scheme.udp().is_some())),
        ("receiver", some(&|scheme| scheme.udp().is_some_and(|ends| ends.receiver.is_some()))),
        ("aqm", at_some(&|scheme, at| scheme.aqm(at).is_some())),
        ("hop", at_some(&|scheme, at| scheme.hop(at).is_some())),
        ("agent", at_some(&|scheme, at| scheme.agent(at).is_some())),
        ("controller", some(&|scheme| scheme.controller().is_some())),
    ];
    for (place, fills) in filled {
        match (entry.places.contains(&place), fills) {
            (true, false) => {
                return Err(format!("it says that it fills the place \"{place}\", but makes nothing for it"));
            }
            (false, true) => return Err(format!("it fills the place \"{place}\", but does not say so")),
            _ => {}
        }
    }
    for (carrier, fills) in [(Carrier::Tcp, scheme.source().is_some()), (Carrier::Udp, udp.is_some())] {
        if entry.has_source(carrier) != fills {
            let does = if fills { "has" } else { "has not" };
            return Err(format!("it {does} a source over {carrier:?}, and does not say so"));
        }
    }
    Ok(())
}

/// Checks that presets name parameters, that values are in range, and that the scheme can be built with each preset.
fn check_presets(entry: &SchemeEntry) -> Result<(), String> {
    if entry.params.iter().any(|param| param.name == PRESET_KEY) {
        return Err(format!("parameter \"{PRESET_KEY}\": the key of presets; expected another name"));
    }
    for (i, preset) in entry.presets.iter().enumerate() {
        let fail = |problem: String| Err(format!("preset \"{}\": {problem}", preset.name));
        if !is_name(preset.name, '-') {
            return fail(
                "expected a name of lower-case letters, digits and hyphens, a letter first".to_string(),
            );
        }
        if entry.presets[..i].iter().any(|other| other.name == preset.name) {
            return fail("stands twice".to_string());
        }
        for (name, value) in preset.values {
            let Some(param) = entry.params.iter().find(|param| param.name == *name) else {
                return fail(format!("there is no parameter \"{name}\""));
            };
            if let Err(error) = param.check(*value) {
                return fail(format!("{name}: {value}: {}", error.problem));
            }
        }
        let values = preset.values.iter().map(|&(name, value)| (name.to_string(), value));
        if let Err(error) = (entry.build)(&Params(values.collect())) {
            return fail(error.to_string());
        }
    }
    Ok(())
}

fn is_name(text: &str, joint: char) -> bool {
    text.len() <= 64
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == joint)
}

/// The built-in schemes, in the order in which they are shown.
#[must_use]
pub fn registry() -> &'static [SchemeEntry] {
    Registry::built_in().entries()
}

/// The built-in scheme of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static SchemeEntry> {
    Registry::built_in().find(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::ParamRole;

    /// The error of an entry like RED's with a fault.
    fn refused(change: impl FnOnce(&mut SchemeEntry)) -> String {
        let mut entry = SchemeEntry { name: "other", ..find("red").unwrap().clone() };
        change(&mut entry);
        Registry::built_in().clone().with(entry).err().unwrap_or_default()
    }

    #[test]
    fn an_external_entry_is_checked() {
        assert_eq!(refused(|_| ()), "");
        assert_eq!(refused(|e| e.name = "red"), "scheme \"red\": there is one of this name");
        assert!(refused(|e| e.name = "My Scheme").contains("lower-case"));
        assert!(refused(|e| e.places = Cow::Borrowed(&["qeue"])).contains("\"qeue\": no such place"));
        assert!(refused(|e| e.places = Cow::Borrowed(&["source"])).contains("makes nothing for it"));
        assert!(refused(|e| e.places = Cow::Borrowed(&["queue"])).contains("does not say so"));
        let with = |param: ParamDoc| refused(|e| e.params.to_mut().push(param));
        let (number, default) = (ParamKind::Number, ParamValue::Number(1.0));
        let param = ParamDoc {
            name: "new",
            doc: "",
            role: ParamRole::Operator,
            kind: number,
            default,
            range: None,
            needs: None,
        };
        assert_eq!(with(param), "");
        assert!(with(ParamDoc { name: "min_th", ..param }).contains("stands twice"));
        assert!(with(ParamDoc { kind: ParamKind::Span, ..param }).contains("its default 1: expected a time"));
        let range = Some([ParamValue::Number(2.0), ParamValue::Number(3.0)]);
        assert!(with(ParamDoc { range, ..param }).contains("its default 1: expected a number from 2 to 3"));
        let default = ParamValue::Number(f64::NAN);
        assert!(with(ParamDoc { default, range, ..param }).contains("expected a number from 2 to 3"));
        assert!(with(ParamDoc { name: "New", ..param }).contains("lower-case"));
    }

    #[test]
    fn the_built_in_entries_pass_the_same_check() {
        for entry in registry() {
            assert_eq!(check(entry), Ok(()), "{}", entry.name);
        }
    }
}
