//! The yardstick: the best rates that the air allows, beside which schemes are judged.
//!
//! From a world that has not yet run: the links that flows use (`links`), which of them cannot be used at the same time (`pairs`), and what
//! contention costs (`contention`). The maximal cliques of the conflict graph share the time of the air; `rates` computes max-min and
//! proportionally fair rates under these constraints. `docs/how-to/optimum.md` states the model.
//!
//! The model sees the network at the start of the run, all flows that are measured active, packets of full size, and no losses but those of
//! a silent air.

mod contention;
mod hidden;
mod links;
mod pairs;
mod rates;

use airfair_optimum::{ConflictGraph, Stopped, lists_all_until, maximal_cliques_until};

pub use contention::{Access, Contention, Tries};
pub use hidden::{HiddenSender, saturated};
pub use links::{FlowUse, Links, RadioLink, RadioUse, Wire, WireUse};
pub use pairs::Causes;
pub use rates::{Bound, Rates, Schedule};

use crate::air::Air;
use crate::ids::StationIx;
use crate::node::Network;
use crate::record::Names;
use crate::spec::{RoutingSpec, WorldSpec};
use hidden::HiddenFactors;
use pairs::Reception;

/// Why there is no optimum: a sentence for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmodelled(pub String);

/// Why a computation gives no optimum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoOptimum {
    /// The model does not apply.
    Unmodelled(Unmodelled),
    /// There are more links or cliques than the caller allows.
    OverLimit(Unmodelled),
    /// The caller wanted no more of it.
    Stopped,
}

impl From<Unmodelled> for NoOptimum {
    fn from(reason: Unmodelled) -> Self {
        Self::Unmodelled(reason)
    }
}

impl From<Stopped> for NoOptimum {
    fn from(Stopped: Stopped) -> Self {
        Self::Stopped
    }
}

/// Factor by which an inhibitor's air time counts in a clique of the link that it inhibits: C3L's W_FACTOR (section III-D). Where the
/// sender of an inhibited link does not hear the inhibitor, its attempts fail for longer than the inhibitor is active.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InhibitorFactors {
    /// A handshake of the inhibited link that has succeeded stops the inhibitor: its sender hears the CTS of the inhibited link, or its
    /// data are lost meanwhile, so that its own handshakes fail.
    pub near: f64,
    /// The inhibitor does not notice the inhibited link.
    pub far: f64,
    /// Two links without RTS inhibit each other, each by its data; by default what two such senders carry (`hidden`).
    pub mutual: Option<f64>,
}

impl Default for InhibitorFactors {
    /// Measured in the scene of C3L's figure 5 (802.11b, 2 Mbit/s, 1000 B) up to half of the load: 1.38 with RTS/CTS and the inhibitor in
    /// reception range of the inhibited receiver, 1.75 with the inhibitor farther away; 1.85 without RTS. The paper's figure 7 has 1.7.
    fn default() -> Self {
        Self { near: 1.38, far: 1.75, mutual: None }
    }
}

/// The rates to compute, and the assumptions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OptimumSpec {
    /// Most cliques that are listed.
    pub clique_limit: usize,
    /// Factors of inhibitors.
    pub factors: InhibitorFactors,
    /// True if proportionally fair rates are wanted: of thousands of cliques they cost most.
    pub proportional: bool,
    /// True if rates under some of the cliques are of no use: more cliques than the limit are an error, and no rates are computed.
    pub only_complete: bool,
    /// Most radio links that flows may use: the work grows with their square.
    pub link_limit: usize,
}

impl Default for OptimumSpec {
    fn default() -> Self {
        Self {
            clique_limit: airfair_optimum::DEFAULT_LIMIT,
            factors: InhibitorFactors::default(),
            proportional: true,
            only_complete: false,
            link_limit: usize::MAX,
        }
    }
}

/// Two radio links that conflict, as places in the list of links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conflict {
    /// The links, the first place below the second.
    pub links: [usize; 2],
    /// The reasons.
    pub causes: Causes,
}

/// A link whose attempts fail while another link is used, without its sender noticing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inhibition {
    /// The inhibited link.
    pub link: usize,
    /// The inhibitor.
    pub by: usize,
    /// Factor of the inhibitor's air time.
    pub factor: f64,
}

/// A link whose data fail under several other links together, none of which conflicts with the link or with another one of them. Cliques do
/// not know such interference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdditiveInterference {
    /// The link.
    pub link: usize,
    /// The other links.
    pub by: Vec<usize>,
}

/// A maximal clique of the conflict graph: links of which one can be used at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clique {
    /// The links, ascending.
    pub links: Vec<usize>,
    /// Number of stations that send over these links, and so contend.
    pub senders: usize,
}

/// The optimum of a network, and what it follows from. All lists are in the order of names; places are those of [`Links`].
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum {
    /// Links and flows.
    pub links: Links,
    /// Pairs of radio links that conflict.
    pub conflicts: Vec<Conflict>,
    /// Inhibited links.
    pub inhibitions: Vec<Inhibition>,
    /// Interference that pairs do not show.
    pub additive: Vec<AdditiveInterference>,
    /// The cliques.
    pub cliques: Vec<Clique>,
    /// True if these are all maximal cliques. Otherwise the rates are those under the constraints of these cliques: the least of the
    /// max-min rates and the sum of logarithms of the proportional rates are upper bounds.
    pub complete: bool,
    /// Rates where an inhibitor's air time counts as it is.
    pub plain: Rates,
    /// Rates where it counts with its factor; none without inhibited links.
    pub weighted: Option<Rates>,
    /// The rates that a schedule of at most 12 links can reach.
    pub schedule: Option<Schedule>,
}

/// The optimum of a world that has not yet run. `stop` is called again and again; once it is true the computation ends.
///
/// # Errors
/// `stop` was true, or the network has something that the model cannot describe: routes found during the run, moving nodes, gains that
/// vary, several access categories, or a link over which nothing arrives.
pub(crate) fn optimum(
    spec: &WorldSpec,
    (air, network): (&Air, &Network),
    names: &Names,
    what: &OptimumSpec,
    stop: &dyn Fn() -> bool,
) -> Result<Optimum, NoOptimum> {
    let look = || if stop() { Err(NoOptimum::Stopped) } else { Ok(()) };
    check(spec, air)?;
    let links = links::links(spec, air, network, names)?;
    if links.radio.len() > what.link_limit {
        let (found, limit) = (links.radio.len(), what.link_limit);
        let reason = format!("there is no optimum: flows use {found} links, more than {limit}");
        return Err(NoOptimum::OverLimit(Unmodelled(reason)));
    }
    let reception = Reception(air);
    let mut graph = ConflictGraph::with_vertices(links.radio.len() as u32);
    let (mut conflicts, mut inhibitions) = (Vec::new(), Vec::new());
    let mut hidden = HiddenFactors::new(air);
    for (b, second) in links.radio.iter().enumerate() {
        look()?;
        for (a, first) in links.radio[..b].iter().enumerate() {
            if air.phy(first.from).channel != air.phy(second.from).channel {
                continue;
            }
            let causes = reception.causes(first, second);
            if !causes.any() {
                continue;
            }
            // Both vertices exist, and they differ.
            let _ = graph.add_edge(a as u32, b as u32);
            conflicts.push(Conflict { links: [a, b], causes });
            let is_mutual = [[first, second], [second, first]]
                .into_iter()
                .enumerate()
                .all(|(side, [link, by])| causes.inhibits(side) && !link.rts && reception.spoils(link, by));
            let mutual = if is_mutual {
                what.factors.mutual.map(|factor| [factor; 2]).or_else(|| hidden.of([first, second]))
            } else {
                None
            };
            for (side, [link, by]) in [[a, b], [b, a]].into_iter().enumerate() {
                if causes.inhibits(side) {
                    let near = causes.cts_heard[1 - side] || causes.data_lost[1 - side];
                    let of_kind = if near { what.factors.near } else { what.factors.far };
                    let factor = mutual.map_or(of_kind, |mutual| mutual[side]);
                    inhibitions.push(Inhibition { link, by, factor });
                }
            }
        }
    }
    conflicts.sort_by_key(|conflict| conflict.links);
    inhibitions.sort_by_key(|inhibition| (inhibition.link, inhibition.by));
    let conflict = |a: usize, b: usize| graph.adjacent(a as u32, b as u32);
    let mut additive = Vec::new();
    for link in 0..links.radio.len() {
        look()?;
        if let Some(by) = reception.additive(link, &links.radio, conflict) {
            additive.push(AdditiveInterference { link, by });
        }
    }
    let listing = maximal_cliques_until(&graph, what.clique_limit, stop)?;
    look()?;
    let complete = lists_all_until(&graph, &listing, stop)?;
    if what.only_complete && !complete {
        let limit = what.clique_limit;
        let reason = format!("there is no optimum: more than {limit} sets of links that share the air");
        return Err(NoOptimum::OverLimit(Unmodelled(reason)));
    }
    let cliques: Vec<Clique> = listing
        .cliques()
        .iter()
        .map(|members| {
            let members: Vec<usize> = members.iter().map(|&link| link as usize).collect();
            let mut senders: Vec<StationIx> = members.iter().map(|&link| links.radio[link].from).collect();
            senders.sort_unstable();
            senders.dedup();
            Clique { links: members, senders: senders.len() }
        })
        .collect();
    look()?;
    let model = rates::Model { air, links: &links, cliques: &cliques, inhibitions: &inhibitions, stop };
    let plain = model.rates(false, what.proportional)?;
    let weighted = if model.has_inhibitors() { Some(model.rates(true, what.proportional)?) } else { None };
    let schedule = model.schedule(&graph);
    Ok(Optimum { links, conflicts, inhibitions, additive, cliques, complete, plain, weighted, schedule })
}

/// An error for everything that the model cannot describe.
fn check(spec: &WorldSpec, air: &Air) -> Result<(), Unmodelled> {
    let reason = if matches!(spec.routing, RoutingSpec::Found(_)) {
        "routes are found during the run; expected static routes (--set routing.protocol=static)"
    } else if !spec.movement.paths.is_empty() {
        "nodes move; expected nodes at rest"
    } else if air.gains_vary() || !spec.gain_changes.is_empty() {
        "gains vary; expected no fading and no changes of gains"
    } else if air.stations().any(|station| air.mac(station).category_count > 1) {
        "stations have several access categories; expected radio.categories = \"dcf\" (--set radio.categories=dcf)"
    } else {
        return Ok(());
    };
    Err(Unmodelled(format!("there is no optimum: {reason}")))
}
