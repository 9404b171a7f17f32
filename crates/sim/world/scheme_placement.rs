//! Placement of schemes: at each node's interfaces the run's scheme, unless the node has its own. The interface must offer what the scheme
//! needs.

use std::collections::{BTreeMap, BTreeSet};

use airfair_host::Capabilities;
use airfair_schemes::places::{Capability, Interface, Medium, MessageKinds, Priority};
use airfair_schemes::{Registry, Scheme};

use crate::names::natural_cmp;
use crate::spec::WorldSpec;

/// The run's scheme, and the schemes of nodes that have their own.
pub(crate) struct SchemePlacement {
    pub run: Box<dyn Scheme>,
    own: BTreeMap<usize, Box<dyn Scheme>>,
    /// Nodes with wired links.
    wired: BTreeSet<usize>,
}

/// The capabilities that a simulated interface of this kind may offer to a scheme: all exactly, since a simulator knows the truth.
#[must_use]
pub const fn offered(medium: Medium) -> &'static [Capability] {
    match medium {
        Medium::Radio => Capability::ALL,
        Medium::Wire => &[
            Capability::Departures,
            Capability::OwnQueue,
            Capability::FlowUse,
            Capability::Echo,
            Capability::Ecn,
        ],
    }
}

/// The capabilities that a simulated interface offers to a scheme; `categories`: access categories of its radio; `radios`: those of its
/// node.
fn offers(medium: Medium, categories: usize, radios: usize) -> Capabilities {
    let highest = Priority(categories.saturating_sub(1).min(usize::from(u8::MAX)) as u8);
    Capabilities::exactly(offered(medium))
        .without_if(radios > 1, Capability::LoneRadio)
        .priorities_to(highest)
}

/// The sentence about the capabilities that an interface lacks of those that a scheme wants, each once; `radios`: those of its node.
fn refusal(name: &str, (medium, radios): (Medium, usize), missing: &[Capability]) -> String {
    let is_radio = medium == Medium::Radio;
    let lone = is_radio && missing.contains(&Capability::LoneRadio);
    let one_radio = lone.then(|| format!("{name} runs at nodes with one radio; this node has {radios}"));
    let words: Vec<_> = missing
        .iter()
        .filter(|&&capability| !(lone && capability == Capability::LoneRadio))
        .map(|capability| capability.words())
        .collect();
    let what = if is_radio { "radio" } else { "wire" };
    let others = (!words.is_empty())
        .then(|| format!("{name} needs capabilities that its {what} does not offer: {}", words.join(", ")));
    one_radio.into_iter().chain(others).collect::<Vec<_>>().join("; ")
}

/// Advice where a scheme gives more priorities than a radio has categories; empty where it does not.
fn few_categories(wanted: Priority, categories: usize) -> String {
    let needed = usize::from(wanted.0) + 1;
    if needed <= categories {
        return String::new();
    }
    format!(
        " (of {needed} levels, and the radio has categories for {categories}); expected radio.categories = \"diffq\", which has 8 (in a \
         comparison for this scheme alone: SCHEME[radio.categories=diffq]), or a list of {needed} or more, or a smaller `levels` of the \
         scheme"
    )
}

impl SchemePlacement {
    /// Creates the nodes' own schemes from `schemes`.
    ///
    /// # Errors
    /// There is no such node or scheme, or the scheme rejects its parameters.
    pub(crate) fn new(spec: &WorldSpec, run: Box<dyn Scheme>, schemes: &Registry) -> Result<Self, String> {
        let mut own = BTreeMap::new();
        for placed in &spec.schemes {
            let node = spec.nodes.get(placed.node);
            let node = node.ok_or_else(|| format!("scheme {}: no such node", placed.scheme))?;
            let fail = |problem: &str| format!("node {}: {problem}", node.id);
            let entry = schemes.find(&placed.scheme);
            let entry = entry.ok_or_else(|| fail(&format!("no such scheme: {}", placed.scheme)))?;
            let built = (entry.build)(&placed.params);
            own.insert(placed.node, built.map_err(|e| fail(&format!("{}.{e}", placed.scheme)))?);
        }
        Ok(Self { run, own, wired: spec.links.iter().flat_map(|link| link.ends).collect() })
    }

    /// The scheme of a node's interfaces.
    pub(crate) fn at(&self, node: usize) -> &dyn Scheme {
        self.own.get(&node).map_or(&*self.run, |scheme| &**scheme)
    }

    /// Kinds of messages: of the run's scheme, or else of the nodes' own schemes, unless these name different ones.
    pub(crate) fn message_kinds(&self) -> Option<MessageKinds> {
        let mut own = self.own.values().filter_map(|scheme| scheme.message_kinds());
        self.run.message_kinds().or_else(|| {
            let first = own.next()?;
            own.all(|other| other.names == first.names).then_some(first)
        })
    }

    /// Description of a node's radio of this kind for schemes.
    pub(crate) fn radio(&self, spec: &WorldSpec, node: usize, radio: usize) -> Interface {
        let (access_point, radio) = (self.wired.contains(&node), &spec.radios[radio]);
        let (rate, limit_packets) = (radio.phy.data_rate, radio.queue.packets);
        let categories = radio.mac.edca.as_ref().map_or(1, |edca| edca.categories.len() as u8);
        Interface { medium: Medium::Radio, access_point, rate, limit_packets, categories }
    }

    /// Description of a node's end of a link for schemes.
    pub(crate) fn wire(&self, spec: &WorldSpec, node: usize, link: usize) -> Interface {
        let access_point = !spec.nodes[node].radios.is_empty();
        let link = &spec.links[link];
        let (rate, limit_packets) = (link.rate, link.queue.packets);
        Interface { medium: Medium::Wire, access_point, rate, limit_packets, categories: 1 }
    }

    /// Refuses a scheme that needs more than an interface offers.
    ///
    /// # Errors
    /// Names the node, the scheme, and the missing capability.
    pub(crate) fn check(&self, spec: &WorldSpec, name: &str) -> Result<(), String> {
        let radios = spec.nodes.iter().enumerate().flat_map(|(node, n)| {
            n.radios.iter().map(move |&radio| {
                let edca = spec.radios[radio].mac.edca.as_ref();
                let categories = edca.map_or(1, |edca| edca.categories.len());
                (node, self.radio(spec, node, radio), categories)
            })
        });
        let wires =
            spec.links.iter().enumerate().flat_map(|(link, l)| {
                l.ends.into_iter().map(move |node| (node, self.wire(spec, node, link), 1))
            });
        let refused = radios.chain(wires).filter_map(|(node, at, categories)| {
            let wanted = self.at(node).wants(&at);
            let radios = spec.nodes[node].radios.len();
            let missing = offers(at.medium, categories, radios).missing(&wanted);
            let own = spec.schemes.iter().find(|placed| placed.node == node);
            let name = own.map_or(name, |placed| &placed.scheme);
            (!missing.is_empty()).then(|| {
                let node = &spec.nodes[node].id;
                let refused = refusal(name, (at.medium, radios), &missing);
                // Priorities are the last capability.
                let advice = few_categories(wanted.priority(), categories);
                format!("node {node}: scheme {refused}{advice}")
            })
        });
        refused.min_by(|a, b| natural_cmp(a, b)).map_or(Ok(()), Err)
    }
}
