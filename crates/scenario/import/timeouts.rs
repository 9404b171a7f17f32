//! Links so long that answers would come after the usual time-out.

use airfair_sim::air::propagation::distance_in;
use airfair_units::Span;

use super::draft::{link_record, shown};
use super::network::{Network, round};
use super::options::{ImportOptions, LinkModel};
use super::quality::Radio;
use super::report::count;
use crate::defaults::standard::slot;

/// The assumption, in words, that time-outs allow for the length of each link; none where the usual time-out fits all links.
pub(super) fn each_link(
    network: &Network,
    model: LinkModel,
    radio: &Radio,
    options: &ImportOptions,
) -> Option<String> {
    // An answer is awaited for a slot beyond the SIFS after which it is sent: a signal's way there and back.
    let fits = distance_in(Span(slot(radio.standard, false).0.0 / 2));
    let kilometres = |metres: f64| shown(round(metres / 1000.0, 100.0));
    let why = if model == LinkModel::Positions {
        (options.range.0 > fits).then(|| format!("nodes hear each other over {} km", kilometres(options.range.0)))?
    } else {
        let both = |&(a, b): &(usize, usize)| a < b || !network.powers.contains_key(&(b, a));
        let lengths = network.powers.keys().filter(|pair| both(pair));
        let lengths = lengths.filter_map(|&(a, b)| Some((network.length(a, b)?, a.min(b), a.max(b))));
        let far: Vec<_> = lengths.filter(|&(metres, ..)| metres > fits).collect();
        let id = |node: usize| network.nodes.get(node).map_or("", |node| &node.id);
        // Of equally long links the first by name.
        let longest = far.iter().max_by(|x, y| {
            x.0.total_cmp(&y.0).then_with(|| (id(y.1), id(y.2)).cmp(&(id(x.1), id(x.2))))
        })?;
        let (metres, a, b) = *longest;
        let what = format!("{}, the longest is {}", count(far.len(), "longer link"), link_record(id(a), id(b)));
        format!("{what} with {} km", kilometres(metres))
    };
    Some(format!(
        "the time-outs of CTS and ACK allow for the length of each link (timeout_distance): the usual ones fit {} km; {why}",
        kilometres(fits)
    ))
}
