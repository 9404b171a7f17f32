//! The page with the tables.

use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::path::Path;

use super::hosted::{Bounds, Lie};
use super::places::Place;
use super::{AIRTIME, AIRTIME_PAPER, Cost, NRED, Victim, goodputs};

const SEEDS: RangeInclusive<u64> = 1..=3;
/// Seeds of honest runs that are compared with those of `SEEDS`: the effect of chance alone.
const OTHER_SEEDS: RangeInclusive<u64> = 11..=13;
/// Seeds of the price of a bound.
const PRICE_SEEDS: RangeInclusive<u64> = 1..=5;

/// Columns of a page.
const WIDTH: usize = 120;

/// The bounds of the tables of lies.
const MOST_PROBABILITY: f64 = 0.05;
const LEAST_SHARE: f64 = 0.05;

/// Values of the bounds that are compared.
const PROBABILITIES: [f64; 6] = [1.0, 0.2, 0.1, 0.05, 0.02, 0.01];
const SHARES: [f64; 6] = [0.0, 0.05, 0.1, 0.2, 0.3, 0.5];

/// Places at which the bounds are compared.
const COMPARED: [&str; 5] = ["lone pair by", "three pairs by", "gateway B", "chain 9", "cell sta1"];

type OfCost = fn(&Cost) -> f64;
const TOTAL: OfCost = |cost| cost.total;
const FLOW: OfCost = |cost| cost.flow;

/// The costs of each lie at each place.
struct Measured {
    /// By lie, and in it by place.
    costs: Vec<Vec<Cost>>,
    /// Of no lie, with other seeds.
    control: Vec<Cost>,
    /// Of drop-tail.
    droptail: Vec<Cost>,
}

impl Measured {
    fn new(victim: Victim, bounds: Bounds, places: &[Place]) -> Self {
        let honest = |seeds: RangeInclusive<u64>| {
            let at = places.iter().map(|place| goodputs(place, Some(victim), bounds, None, seeds.clone()));
            at.collect::<Vec<_>>()
        };
        let base = honest(SEEDS);
        let costs = |found: Vec<Vec<f64>>| {
            base.iter().zip(&found).map(|(honest, found)| Cost::of(honest, found)).collect::<Vec<_>>()
        };
        let lied = |lie: &'static Lie| {
            let at = places.iter().map(|place| goodputs(place, Some(victim), bounds, Some(lie), SEEDS));
            costs(at.collect())
        };
        let droptail = places.iter().map(|place| goodputs(place, None, Bounds::NONE, None, SEEDS));
        Self {
            costs: victim.lies.iter().map(lied).collect(),
            control: costs(honest(OTHER_SEEDS)),
            droptail: costs(droptail.collect()),
        }
    }

    /// The largest cost of all lies, with the lie and the place.
    fn worst(&self, of: OfCost) -> (f64, usize, usize) {
        let by_lie = self.costs.iter().enumerate().map(|(lie, costs)| {
            let (cost, place) = most(costs, of);
            (cost, lie, place)
        });
        by_lie.max_by(|one, other| one.0.total_cmp(&other.0)).expect("a lie")
    }

    /// The largest cost of all lies at a place.
    fn worst_at(&self, place: usize, of: OfCost) -> f64 {
        self.costs.iter().map(|costs| of(&costs[place])).fold(f64::NEG_INFINITY, f64::max)
    }
}

/// The largest cost, and its place.
fn most(costs: &[Cost], of: OfCost) -> (f64, usize) {
    let all = costs.iter().map(of).enumerate().map(|(place, cost)| (cost, place));
    all.max_by(|one, other| one.0.total_cmp(&other.0)).expect("a place")
}

fn percent(part: f64) -> String {
    // No minus before a zero.
    format!("{:.0}", (100.0 * part).round() + 0.0)
}

/// Adds a row of a table.
fn row(page: &mut String, cells: impl IntoIterator<Item = String>) {
    for cell in cells {
        let _ = write!(page, "| {cell} ");
    }
    page.push_str("|\n");
}

fn head(page: &mut String, cells: &[&str]) {
    row(page, cells.iter().map(ToString::to_string));
    page.push_str(&"|---".repeat(cells.len()));
    page.push_str("|\n");
}

/// The sentence with the numbers of a scheme.
fn number(page: &mut String, places: &[Place], name: &str, lies: &[Lie], measured: &Measured) {
    let [(all, lie, place), (flow, flow_lie, flow_place)] = [TOTAL, FLOW].map(|of| measured.worst(of));
    let text = format!(
        "- **{name}**: the worst of {} lies costs the others **{} % of their total** (\"{}\", {}), and the flow that is hit \
         worst **{} %** (\"{}\", {}).",
        lies.len(),
        percent(all),
        lies[lie].name,
        places[place].words(),
        percent(flow),
        lies[flow_lie].name,
        places[flow_place].words(),
    );
    let mut length = 0;
    for word in text.split(' ') {
        if length + word.len() >= WIDTH {
            page.push_str("\n ");
            length = 1;
        }
        let gap = if length == 0 { "" } else { " " };
        let _ = write!(page, "{gap}{word}");
        length += gap.len() + word.len();
    }
    page.push('\n');
}

/// A row for each lie: the worst place, and the numbers of other measurements at their worst places.
fn lies(page: &mut String, places: &[Place], lies: &[Lie], bounded: &Measured, others: &[(&str, &Measured)]) {
    let titles = ["lie", "all others, %", "worst flow, %"].into_iter().chain(others.iter().map(|of| of.0));
    head(page, &titles.collect::<Vec<_>>());
    let mut add = |name: &str, of: &dyn Fn(&Measured) -> Vec<Cost>| {
        let costs = of(bounded);
        let worst = [TOTAL, FLOW].map(|by| {
            let (cost, place) = most(&costs, by);
            format!("{}, {}", percent(cost), places[place].words())
        });
        let more = others.iter().map(|(_, measured)| {
            let costs = of(measured);
            [TOTAL, FLOW].map(|by| percent(most(&costs, by).0)).join(", ")
        });
        row(page, [name.to_string()].into_iter().chain(worst).chain(more));
    };
    for (number, lie) in lies.iter().enumerate() {
        add(lie.name, &|measured| measured.costs[number].clone());
    }
    add("*no lie, other seeds*", &|measured| measured.control.clone());
}

/// A row for each value of a bound: the worst of all lies at some places.
fn bounds(page: &mut String, victim: Victim, values: &[f64], bound: impl Fn(f64) -> Bounds) {
    let places: Vec<Place> =
        Place::all().into_iter().filter(|place| COMPARED.contains(&place.words().as_str())).collect();
    let words: Vec<String> = places.iter().map(Place::words).collect();
    head(page, &["bound"].into_iter().chain(words.iter().map(String::as_str)).collect::<Vec<_>>());
    for &value in values {
        let measured = Measured::new(victim, bound(value), &places);
        let at = |place| [TOTAL, FLOW].map(|of| percent(measured.worst_at(place, of))).join(", ");
        row(page, [value.to_string()].into_iter().chain((0..places.len()).map(at)));
    }
    page.push('\n');
}

/// A row for each scene in which nobody lies: the least flow and the total by the value of a bound, kbit/s.
fn prices(page: &mut String, victim: Victim, values: &[f64], bound: impl Fn(f64) -> Bounds) {
    let words: Vec<String> = values.iter().map(ToString::to_string).collect();
    let titles = ["scene"].into_iter().chain(words.iter().map(String::as_str)).chain(["drop-tail"]);
    head(page, &titles.collect::<Vec<_>>());
    for place in Place::honest() {
        let bounded = values.iter().map(|&value| (Some(victim), bound(value)));
        let cells = bounded.chain([(None, Bounds::NONE)]).map(|(victim, bounds)| {
            let rates = goodputs(&place, victim, bounds, None, PRICE_SEEDS);
            let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
            format!("{:.0}, {:.0}", least / 1e3, rates.iter().sum::<f64>() / 1e3)
        });
        row(page, [place.name.to_string()].into_iter().chain(cells));
    }
    page.push('\n');
}

const ABOUT: &str = "\
# Lies of a compromised node

Written by `make validate-lies`; do not edit. One node of a mesh is compromised: it has the keys, so its messages are
authentic, in its own name and in any other. It has the scheme's real agent with the same samples; what that agent says
is kept back, and lies are sent in its place. The other nodes are honest, and a daemon bounds what any message can do:
with NRED no drop probability above `most_probability` is carried out, with the airtime allocator no link is limited to
less than `least_share` of the time of the air. LBM has no messages.

**Cost**: 1 - (goodput with the lie)/(goodput with an honest node), with the same bound, of the flows that neither begin
nor end at the liar, nor pass it: of their total, and of the flow that loses the largest part (of those with more than a
tenth of the mean). Means of three seeds, 60 s of which the first 10 do not count. Below 0: the others gain.
";

const READING: &str = "
A flow that is hit worst may have lost no more than what the scheme had given it: without any scheme (drop-tail) it has
as little, see the places. Costs of floods of noise are those of the air that their messages take: any radio can do
that. \"Own limits ignored\": the liar, besides, sends as if there were no scheme. The last row of a table of lies is
chance alone: honest runs with other seeds. No lie crashed or stopped a run.
";

/// Writes the page.
pub fn write() {
    let most = |most_probability: f64| Bounds { most_probability, ..Bounds::NONE };
    let least = |least_share: f64| Bounds { least_share, ..Bounds::NONE };
    let places = Place::all();
    let measure = |victim, bounds| Measured::new(victim, bounds, &places);
    let nred = [measure(NRED, most(MOST_PROBABILITY)), measure(NRED, Bounds::NONE)];
    let airtime = [measure(AIRTIME, least(LEAST_SHARE)), measure(AIRTIME, Bounds::NONE)];
    let paper = [measure(AIRTIME_PAPER, least(LEAST_SHARE)), measure(AIRTIME_PAPER, Bounds::NONE)];

    let mut page = format!("{ABOUT}\n");
    let nred_name = format!("NRED, preset `live`, `most_probability` {MOST_PROBABILITY}");
    number(&mut page, &places, &nred_name, NRED.lies, &nred[0]);
    for (victim, measured) in [(AIRTIME, &airtime[0]), (AIRTIME_PAPER, &paper[0])] {
        let name = format!("airtime, preset `{}`, `least_share` {LEAST_SHARE}", victim.preset);
        number(&mut page, &places, &name, victim.lies, measured);
    }
    page.push_str(READING);

    page.push_str(
        "\n## Places\n\nA scene with the node that lies (`by`: a node without traffic between the others), the flows that count, \
         and what\nplain drop-tail costs them beside the scheme with an honest node: all, worst flow, %.\n\n",
    );
    head(&mut page, &["place", "flows", "for NRED", "for airtime", "for airtime, `paper`"]);
    for (at, place) in places.iter().enumerate() {
        let droptail = [&nred[0], &airtime[0], &paper[0]].map(|measured| {
            let cost = measured.droptail[at];
            format!("{}, {}", percent(cost.total), percent(cost.flow))
        });
        row(&mut page, [place.words(), place.others.len().to_string()].into_iter().chain(droptail));
    }
    page.push_str("\n## Lies to NRED\n\nEach with the place where it costs most.\n\n");
    lies(&mut page, &places, NRED.lies, &nred[0], &[("unbounded", &nred[1])]);
    page.push_str("\n## Lies to the airtime allocator\n\n");
    let others = [("unbounded", &airtime[1]), ("`paper`", &paper[0]), ("`paper`, unbounded", &paper[1])];
    lies(&mut page, &places, AIRTIME.lies, &airtime[0], &others);

    page.push_str(
        "\n## The bounds\n\nThe worst of all lies at some places (all, worst flow, %), by the value of the bound; and what the \
         bound does to meshes\nin which nobody lies: the least flow and the total, kbit/s, five seeds.\n\n\
         NRED, `most_probability`:\n\n",
    );
    bounds(&mut page, NRED, &PROBABILITIES, most);
    prices(&mut page, NRED, &PROBABILITIES, most);
    for victim in [AIRTIME, AIRTIME_PAPER] {
        let _ = writeln!(page, "The airtime allocator, preset `{}`, `least_share`:\n", victim.preset);
        bounds(&mut page, victim, &SHARES, least);
        prices(&mut page, victim, &SHARES, least);
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/validation-lies.md");
    std::fs::write(file, format!("{}\n", page.trim_end())).expect("written");
}
