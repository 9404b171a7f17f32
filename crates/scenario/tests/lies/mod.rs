//! A compromised node: lies that are authentic, and what each costs the others. The page `docs/validation-lies.md` is written by the test
//! that is ignored (`make validate-lies`).

mod airtime;
mod hosted;
mod nred;
mod page;
mod places;

use airfair_schemes::Params;
use airfair_schemes::find;
use airfair_schemes::places::NodeId;
use airfair_sim::World;
use airfair_sim::engine::drive;
use airfair_units::random::{Stream, name_hash};

use hosted::{Bounds, Hosted, Liar, Lie, Said};
use places::Place;

/// The messages of a lie.
type Says = fn(&Liar, &mut Stream) -> Vec<Said>;

/// A scheme with one of its presets, and the lies to it.
#[derive(Clone, Copy)]
struct Victim {
    scheme: &'static str,
    preset: &'static str,
    lies: &'static [Lie],
}

const NRED: Victim = Victim { scheme: "nred", preset: "live", lies: nred::LIES };
const AIRTIME: Victim = Victim { scheme: "airtime", preset: "default", lies: airtime::LIES };
const AIRTIME_PAPER: Victim = Victim { scheme: "airtime", preset: "paper", lies: airtime::LIES };

impl Victim {
    fn params(&self) -> Params {
        find(self.scheme).expect("a scheme").preset(self.preset).expect("a preset")
    }
}

/// Mean goodputs over the seeds of the flows that neither begin nor end at the liar, nor pass it, bit/s.
fn goodputs(
    place: &Place,
    victim: Option<Victim>,
    bounds: Bounds,
    lie: Option<&'static Lie>,
    seeds: std::ops::RangeInclusive<u64>,
) -> Vec<f64> {
    let count = seeds.clone().count() as f64;
    let mut means = vec![0.0; place.others.len()];
    for seed in seeds {
        let name = victim.map_or("droptail", |victim| victim.scheme);
        let params = victim.map_or_else(Params::default, |victim| victim.params());
        let inner = (find(name).expect("a scheme").build)(&params).expect("good parameters");
        let liar = lie.map(|lie| (NodeId(name_hash(place.liar) as u32 & 0x7fff_ffff), lie));
        let scheme = Box::new(Hosted { inner, bounds, liar });
        let mut world = World::new(&place.spec, name, scheme, seed).expect("a world");
        drive::to_end(&mut world);
        let result = world.result();
        for (mean, &flow) in means.iter_mut().zip(&place.others) {
            *mean += result.flows[flow].goodput_bps / count;
        }
    }
    means
}

/// Parts of goodput that others have lost.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Cost {
    /// Of their total.
    total: f64,
    /// Of the flow that has lost the largest part.
    flow: f64,
}

/// Flows with less than this part of the mean of the others' honest goodput are too small to be judged alone.
const SMALL: f64 = 0.1;

impl Cost {
    fn of(honest: &[f64], lied: &[f64]) -> Self {
        let sum = |rates: &[f64]| rates.iter().sum::<f64>();
        let least = SMALL * sum(honest) / honest.len() as f64;
        let judged = honest.iter().zip(lied).filter(|&(&honest, _)| honest > least);
        let flow = judged.map(|(honest, lied)| 1.0 - lied / honest).fold(f64::NEG_INFINITY, f64::max);
        Self { total: 1.0 - sum(lied) / sum(honest), flow }
    }
}

/// One lie to each scheme beside a lone transfer: whatever it says, what the bound leaves remains.
#[test]
fn no_lie_takes_more_than_the_bound_leaves() {
    let mut place = Place::lone_pair();
    place.shorten(12);
    let lied = |victim: Victim, name: &str, bounds| {
        let lie = victim.lies.iter().find(|lie| lie.name == name).expect("a lie");
        let honest = goodputs(&place, Some(victim), bounds, None, 1..=1)[0];
        goodputs(&place, Some(victim), bounds, Some(lie), 1..=1)[0] / honest
    };
    let many = "32 invented links, 255 flows each";
    let [free, bounded] =
        [0.0, 0.2].map(|least_share| lied(AIRTIME, many, Bounds { least_share, ..Bounds::NONE }));
    assert!(free < 0.02, "{free}");
    assert!((0.2..0.25).contains(&bounded), "{bounded}");
    let [free, bounded] = [1.0, 0.01].map(|most_probability| {
        lied(NRED, "the largest notification", Bounds { most_probability, ..Bounds::NONE })
    });
    assert!(free < 0.02, "{free}");
    assert!((0.4..1.0).contains(&bounded), "{bounded}");
}

/// Bounds that allow everything, and a node that lies not, change nothing.
#[test]
fn a_hosted_scheme_is_the_scheme() {
    let mut place = Place::three_pairs();
    place.shorten(5);
    for victim in [NRED, AIRTIME] {
        let inner = (find(victim.scheme).expect("a scheme").build)(&victim.params()).expect("built");
        let mut world = World::new(&place.spec, victim.scheme, inner, 1).expect("a world");
        drive::to_end(&mut world);
        let flows = world.result().flows;
        let plain: Vec<f64> = place.others.iter().map(|&flow| flows[flow].goodput_bps).collect();
        assert_eq!(goodputs(&place, Some(victim), Bounds::NONE, None, 1..=1), plain, "{}", victim.scheme);
    }
}

/// Writes the page.
#[test]
#[ignore = "a quarter of an hour: make validate-lies"]
fn the_page_of_lies() {
    page::write();
}
