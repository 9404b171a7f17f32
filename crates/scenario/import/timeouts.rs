//! Links so long that answers would come after the usual time-out.

use airfair_sim::air::propagation::{coverage_class, delay_ns, distance_in};
use airfair_units::Span;

use super::draft::{link_record, shown};
use super::network::{Network, round};
use super::options::{ImportOptions, LinkModel};
use super::quality::Radio;
use super::report::count;
use crate::defaults::standard::slot;

/// How radios wait for answers over links that are longer than the usual time-out allows for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LongLinks {
    /// Slots and time-outs of this coverage class.
    Class(u8),
    /// Time-outs for each link, where no class is large enough.
    EachLink,
}

/// How radios wait for answers, in words too; none where the usual time-out fits all links.
pub(super) fn long_links(
    network: &Network,
    model: LinkModel,
    radio: &Radio,
    options: &ImportOptions,
) -> Option<(LongLinks, String)> {
    // An answer is awaited for a slot beyond the SIFS after which it is sent: a signal's way there and back.
    let slot = slot(radio.standard, false).0;
    let fits = distance_in(Span(slot.as_nanos() / 2));
    let kilometres = |metres: f64| shown(round(metres / 1000.0, 100.0));
    let (metres, why) = if model == LinkModel::Positions {
        let range = options.range.0;
        (range > fits).then(|| (range, format!("nodes hear each other over {} km", kilometres(range))))?
    } else {
        let once = |&&(a, b): &&(usize, usize)| a < b || !network.powers.contains_key(&(b, a));
        let lengths = network.powers.keys().filter(once);
        let lengths = lengths.filter_map(|&(a, b)| Some((network.length(a, b)?, a.min(b), a.max(b))));
        let far: Vec<_> = lengths.filter(|&(metres, ..)| metres > fits).collect();
        let id = |node: usize| network.nodes.get(node).map_or("", |node| &node.id);
        let ids =
            |&(_, a, b): &(f64, usize, usize)| if id(a) < id(b) { (id(a), id(b)) } else { (id(b), id(a)) };
        // Of equally long links the first by name.
        let longest = far.iter().max_by(|x, y| x.0.total_cmp(&y.0).then_with(|| ids(y).cmp(&ids(x))))?;
        let (a, b) = ids(longest);
        let is = if far.len() == 1 { "is" } else { "are" };
        let what = format!("{} {is} longer, the longest is {}", count(far.len(), "link"), link_record(a, b));
        (longest.0, format!("{what} with {} km", kilometres(longest.0)))
    };
    let needed = coverage_class(Span(2 * delay_ns(metres)), slot);
    let (choice, words) = match u8::try_from(needed) {
        Ok(class) => (
            LongLinks::Class(class),
            format!("slots and time-outs allow for the longest link (coverage_class = {class})"),
        ),
        Err(_) => (
            LongLinks::EachLink,
            "time-outs allow for the length of each link (timeout_distance)".to_string(),
        ),
    };
    Some((choice, format!("{words}: the usual ones fit {} km; {why}", kilometres(fits))))
}
