//! Flows of a scheme beside those of the first one: how many gain and lose, and whether the whole has collapsed.
//!
//! Means over packets and sums over flows can rise while most flows lose; these are counts of flows, each of which counts once.

use std::cmp::Ordering;

use serde::Serialize;

use crate::summary::{Estimate, FlowRow, Numbers};

/// A smaller change, as a part of the larger of both means, is none.
const LEAST_CHANGE: f64 = 0.05;

/// A total below this part of the first scheme's is a collapse, unless half of the flows win: then a few had too much.
const COLLAPSE: f64 = 0.5;

/// Flows by what has become of one of their numbers.
#[derive(Default)]
struct Changes {
    more: usize,
    less: usize,
    same: usize,
}

impl Changes {
    /// Of the flows that have the number under both schemes in some run.
    fn of(flows: &[FlowRow<'_>], name: &str) -> Self {
        let mut all = Self::default();
        for flow in flows {
            match change(&flow.numbers, &flow.difference, name) {
                Some(Ordering::Greater) => all.more += 1,
                Some(Ordering::Less) => all.less += 1,
                Some(Ordering::Equal) => all.same += 1,
                None => {}
            }
        }
        all
    }
}

/// How a number has changed: equal where the change is small, where its interval holds zero, or where of several seeds a single one has
/// the number under both schemes, so that there is no interval. With one seed in all every change counts.
fn change(numbers: &Numbers, difference: &Numbers, name: &str) -> Option<Ordering> {
    let (now, by) = (estimate(numbers, name)?, estimate(difference, name)?);
    let size = by.mean.abs();
    let is_clear = by.ci95.map_or(by.runs.is_none(), |half| size > half);
    let before = now.mean - by.mean;
    let least = LEAST_CHANGE * now.mean.abs().max(before.abs());
    let order = by.mean.total_cmp(&0.0);
    Some(if is_clear && size > least { order } else { Ordering::Equal })
}

fn estimate(numbers: &Numbers, name: &str) -> Option<Estimate> {
    *numbers.get(name)?
}

/// The flows of a row beside those of the first row, goodputs and mean delays.
#[derive(Serialize)]
pub(crate) struct BesideRow {
    won: usize,
    lost: usize,
    even: usize,
    delay_fell: usize,
    delay_rose: usize,
    delay_even: usize,
    /// Part of the first row's total; none where that is zero.
    total_share: Option<f64>,
    collapsed: bool,
}

impl BesideRow {
    /// `flows` and the numbers of the whole, both with differences to the first row.
    pub fn of(flows: &[FlowRow<'_>], numbers: &Numbers, difference: &Numbers) -> Self {
        const TOTAL: &str = "aggregate_goodput_bps";
        let (goodput, delay) = (Changes::of(flows, "goodput_bps"), Changes::of(flows, "mean_delay_s"));
        let total_share = estimate(numbers, TOTAL).zip(estimate(difference, TOTAL)).and_then(|(now, by)| {
            let before = now.mean - by.mean;
            (before > 0.0).then(|| now.mean / before)
        });
        let falls = change(numbers, difference, TOTAL) == Some(Ordering::Less);
        let few_win = 2 * goodput.more < goodput.more + goodput.less + goodput.same;
        Self {
            won: goodput.more,
            lost: goodput.less,
            even: goodput.same,
            delay_fell: delay.less,
            delay_rose: delay.more,
            delay_even: delay.same,
            total_share,
            collapsed: falls && few_win && total_share.is_some_and(|share| share < COLLAPSE),
        }
    }
}
