//! §III-E: division of a link's share among its flows.

use airfair_schemes::c3l::shares::{Requirement, Shares, SharesConfig, divide};
use airfair_schemes::places::FlowId;
use airfair_units::{Rate, Span};
use proptest::prelude::*;

use super::at;
use Requirement::{Finite, Infinite};

fn shares(link: u64, delta: u64, requirements: &[Requirement]) -> Vec<u64> {
    let mut shares = Vec::new();
    divide(Rate(link), Rate(delta), requirements.iter().copied(), &mut shares);
    shares.into_iter().map(|share| share.0).collect()
}

/// 1000 kbit/s, δ = 50: an even part is 250, and 100 < 250 - 50: 150. Then 850/3 = 283 and 230 < 233: 280. Then 570/2 = 285: 240 is not
/// below 235, so 285, and 285.
#[test]
fn flows_in_the_order_of_their_rates() {
    let flows = [Finite(Rate(100)), Finite(Rate(230)), Finite(Rate(240)), Infinite];
    assert_eq!(shares(1000, 50, &flows), [150, 280, 285, 285]);
    // Exactly an even part less δ: f_s + δ is the even part.
    assert_eq!(shares(1000, 50, &[Finite(Rate(450)), Infinite]), [500, 500]);
    assert_eq!(shares(1000, 50, &[Finite(Rate(449)), Infinite]), [499, 501]);
    assert_eq!(shares(1000, 50, &[Finite(Rate(451)), Infinite]), [500, 500]);
    assert_eq!(shares(1000, 50, &[Infinite; 3]), [333, 333, 334]);
    assert_eq!(shares(1000, 50, &[Finite(Rate(0)); 2]), [50, 50]);
    // δ above an even part: even parts.
    assert_eq!(shares(90, 50, &[Finite(Rate(0)), Infinite]), [45, 45]);
    assert_eq!(shares(0, 0, &[Finite(Rate(5)), Infinite]), [0, 0]);
    assert_eq!(shares(7, 1, &[]), [0; 0]);
    assert_eq!(
        shares(u64::MAX, u64::MAX, &[Finite(Rate(u64::MAX)), Infinite]),
        [u64::MAX / 2, u64::MAX / 2 + 1]
    );
}

/// With a share of 500 and δ = 50: finite while 25 or more are left, infinite above; with `consumed` = 0 only if all of δ is left, with 1
/// as long as anything is.
#[test]
fn a_flow_that_uses_delta_is_infinite() {
    let of = |rate, consumed| Requirement::of(Rate(rate), Rate(500), Rate(50), consumed);
    assert_eq!(
        [0, 449, 450, 475].map(|rate| of(rate, 0.5)),
        [0, 449, 450, 475].map(|rate| Finite(Rate(rate)))
    );
    assert_eq!([476, 500, 900].map(|rate| of(rate, 0.5)), [Infinite; 3]);
    assert_eq!([450, 451].map(|rate| of(rate, 0.0)), [Finite(Rate(450)), Infinite]);
    assert_eq!([499, 500].map(|rate| of(rate, 1.0)), [Finite(Rate(499)), Infinite]);
    for (share, delta) in [(49, 50), (500, 0), (0, 0)] {
        assert_eq!(Requirement::of(Rate(0), Rate(share), Rate(delta), 0.5), Infinite);
    }
    assert_eq!(Requirement::of(Rate(0), Rate(50), Rate(50), 0.5), Finite(Rate(0)));
    assert_eq!(Requirement::of(Rate(0), Rate(50), Rate(50), f64::NAN), Finite(Rate(0)));
}

/// A flow is judged at each division.
const AT_ONCE: SharesConfig =
    SharesConfig { delta: 0.05, consumed: 0.5, settle: Span::ZERO, most: 1024, expiry: Span::from_secs(8) };

const A: FlowId = FlowId(1);
const B: FlowId = FlowId(2);

struct Sender {
    shares: Shares,
    round: u64,
}

impl Sender {
    fn new(config: SharesConfig) -> Self {
        Self { shares: Shares::new(config), round: 0 }
    }

    /// A second in which A and B send at these rates, at the end of which the link has 1000 kbit/s to divide.
    fn round(&mut self, a: u64, b: u64) -> [u64; 2] {
        self.round += 1;
        self.shares.sent(A, Rate(a), at(self.round * 1000));
        self.shares.sent(B, Rate(b), at(self.round * 1000));
        self.shares.divide(Rate(1000), at(self.round * 1000));
        [A, B].map(|flow| self.shares.share(flow).unwrap().0)
    }
}

/// A asks for 200: first both get 500; A leaves 300 and gets 250, B the rest. It uses 200 of 250: that stays. Then it sends 250, all of its
/// share: infinite, and even parts; then 300 of 500: finite with 300; then 200 again.
#[test]
fn a_finite_flow_grows_by_delta() {
    let mut sender = Sender::new(AT_ONCE);
    assert_eq!(sender.shares.share(A), None);
    assert_eq!(sender.round(0, 0), [500, 500], "nothing is known of either");
    assert_eq!(sender.shares.demand(A), None);
    assert_eq!(sender.round(200, 500), [250, 750]);
    assert_eq!((sender.shares.demand(A), sender.shares.demand(B)), (Some(Rate(250)), None));
    assert_eq!(sender.round(200, 750), [250, 750]);
    assert_eq!(sender.round(250, 750), [500, 500], "A has used δ");
    assert_eq!(sender.round(300, 500), [350, 650]);
    assert_eq!(sender.round(200, 650), [250, 750]);
    assert_eq!(sender.shares.flows().collect::<Vec<_>>(), [(A, Rate(200)), (B, Rate(650))]);
    // B is the slower now; both are finite, and nobody gets the rest.
    assert_eq!(sender.round(200, 100), [250, 150]);
    // A has used none of its δ, B all of it: 750 for B.
    assert_eq!(sender.round(200, 150), [250, 750]);
}

/// The second decision is measured with the δ that the share was made with: 5 % of 1000, also when the link has 100 afterwards.
#[test]
fn delta_is_that_of_the_last_division() {
    let mut shares = Shares::new(AT_ONCE);
    shares.sent(A, Rate(100), at(0));
    shares.divide(Rate(1000), at(0));
    // A uses 990 of 1000: more than half of 50 is used, so A is infinite. With δ = 5 it would be finite.
    shares.sent(A, Rate(990), at(0));
    shares.divide(Rate(100), at(0));
    assert_eq!((shares.share(A), shares.demand(A)), (Some(Rate(100)), None));
    shares.sent(A, Rate(97), at(0));
    shares.divide(Rate(1000), at(0));
    assert_eq!(
        (shares.share(A), shares.demand(A)),
        (Some(Rate(147)), Some(Rate(147))),
        "97 of 100, δ = 5: finite"
    );
}

/// Divisions without a measurement between them judge nobody: A sent 500 when it had 500, which is all, and stays infinite when it gets
/// 1000.
#[test]
fn a_flow_is_judged_by_a_new_measurement() {
    let mut shares = Shares::new(AT_ONCE);
    shares.sent(A, Rate(500), at(0));
    shares.sent(B, Rate(500), at(0));
    shares.divide(Rate(1000), at(0));
    shares.divide(Rate(2000), at(0));
    assert_eq!((shares.share(A), shares.share(B)), (Some(Rate(1000)), Some(Rate(1000))));
    shares.sent(A, Rate(500), at(0));
    shares.divide(Rate(2000), at(0));
    assert_eq!((shares.share(A), shares.share(B)), (Some(Rate(600)), Some(Rate(1400))));
    // A finite flow stays finite.
    shares.divide(Rate(1000), at(0));
    assert_eq!((shares.share(A), shares.demand(A)), (Some(Rate(500)), Some(Rate(550))));
    shares.divide(Rate(2000), at(0));
    assert_eq!((shares.share(A), shares.demand(A)), (Some(Rate(600)), Some(Rate(600))));
}

/// 2 s after its first share, and after each rise by more than a half of δ, 26 of 51: not before.
#[test]
fn a_flow_is_not_judged_before_its_source_knows() {
    let mut shares = Shares::new(SharesConfig { delta: 0.05, ..SharesConfig::default() });
    let mut second = |ms: u64, rate: u64, link: u64| {
        shares.sent(A, Rate(rate), at(ms));
        shares.divide(Rate(link), at(ms));
        shares.demand(A).map(|demand| demand.0)
    };
    assert_eq!([0, 1000, 1999].map(|ms| second(ms, 100, 1000)), [None; 3]);
    assert_eq!(second(2000, 100, 1000), Some(150));
    assert_eq!(second(3000, 975, 1000), None, "more than its 150");
    let mut shares = Shares::new(SharesConfig { delta: 0.05, ..SharesConfig::default() });
    let mut second = |ms: u64, rate: u64, link: u64| {
        shares.sent(A, Rate(rate), at(ms));
        shares.divide(Rate(link), at(ms));
        shares.demand(A).is_some()
    };
    for (ms, rate, link, finite) in [
        (0, 100, 1000, false),
        (2000, 1000, 1000, false),
        (3000, 1000, 1026, false),
        (4000, 100, 1026, true),
        (5000, 1026, 1026, false),
        (6000, 1026, 1053, false),
        (7000, 100, 1053, false),
        (7999, 100, 1053, false),
        (8000, 100, 1053, true),
    ] {
        assert_eq!(second(ms, rate, link), finite, "{ms}");
    }
}

/// Two greedy sources that learn of their shares a second later. At 4 s the link has 1500 instead of 1000. Judged at once, each looks
/// finite with its old rate every other second, and has δ more than that; otherwise both send 750 from when they know.
#[test]
fn a_larger_share_is_used_when_sources_know_of_it() {
    let after = |config: SharesConfig| {
        let mut shares = Shares::new(config);
        let (mut sends, mut knows, mut sent) = ([100; 2], [100; 2], Vec::new());
        for second in 0..10_u64 {
            for (flow, rate) in [A, B].into_iter().zip(sends) {
                shares.sent(flow, Rate(rate), at(1000 * second));
            }
            shares.divide(Rate(if second < 4 { 1000 } else { 1500 }), at(1000 * second));
            assert_eq!(sends[0], sends[1]);
            sent.push(sends[0]);
            sends = knows;
            knows = [A, B].map(|flow| shares.share(flow).unwrap().0);
        }
        sent
    };
    assert_eq!(after(SharesConfig::default()), [100, 100, 500, 500, 500, 500, 750, 750, 750, 750]);
    assert_eq!(after(AT_ONCE), [100, 100, 500, 150, 500, 200, 750, 275, 750, 350]);
}

/// A flow is forgotten 8 s after it last sent; one that reports a rate of 0 has not sent.
#[test]
fn silent_flows_are_forgotten() {
    let mut shares = Shares::new(SharesConfig::default());
    shares.sent(A, Rate(10), at(0));
    shares.sent(B, Rate(10), at(1000));
    shares.sent(A, Rate(0), at(5000));
    shares.divide(Rate(1000), at(7999));
    assert_eq!((shares.share(A), shares.share(B)), (Some(Rate(500)), Some(Rate(500))));
    shares.divide(Rate(1000), at(8000));
    assert_eq!((shares.share(A), shares.demand(A), shares.flows().len()), (None, None, 1));
    shares.sent(B, Rate(10), at(8000));
    shares.divide(Rate(1000), at(15_999));
    assert_eq!(shares.flows().len(), 1);
}

/// A flow that passes is new once, and again when it has been forgotten.
#[test]
fn a_flow_is_new_once() {
    let mut shares = Shares::new(SharesConfig::default());
    assert_eq!([0, 1, 2].map(|ms| shares.passes(A, at(ms))), [true, false, false]);
    shares.forget(A);
    assert_eq!([3, 4].map(|ms| shares.passes(A, at(ms))), [true, false]);
}

/// Two places: the third flow takes that of the one that sent longest ago, wherever it stands.
#[test]
fn the_table_has_a_limit() {
    for new in [0, 3, 9] {
        let mut shares = Shares::new(SharesConfig { most: 2, ..SharesConfig::default() });
        shares.sent(FlowId(4), Rate(1), at(0));
        shares.sent(FlowId(2), Rate(2), at(1));
        shares.sent(FlowId(new), Rate(3), at(2));
        let mut wanted = vec![(FlowId(2), Rate(2)), (FlowId(new), Rate(3))];
        wanted.sort_unstable();
        assert_eq!(shares.flows().collect::<Vec<_>>(), wanted);
    }
    let mut none = Shares::new(SharesConfig { most: 0, ..SharesConfig::default() });
    none.sent(A, Rate(1), at(0));
    assert_eq!(none.flows().len(), 0);
}

/// The remainder of a division of whole numbers goes to the last flow in the order of names.
#[test]
fn a_first_division_is_even() {
    let mut shares = Shares::new(SharesConfig { expiry: Span::from_secs(1), ..SharesConfig::default() });
    for flow in [5, 3, 8] {
        shares.sent(FlowId(flow), Rate(flow.into()), at(0));
    }
    shares.divide(Rate(100), at(0));
    assert_eq!([3, 5, 8].map(|flow| shares.share(FlowId(flow)).unwrap().0), [33, 33, 34]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// The sum never exceeds the link's share, everybody gets at most an even part of what the slower ones leave, nobody who is slower gets
    /// more; and the order in which flows are reported changes nothing.
    #[test]
    fn shares_are_within_the_link_s(
        link in 0u64..=u64::MAX,
        rounds in prop::collection::vec(prop::collection::vec(0u64..=u64::MAX, 6), 1..5),
        small in any::<bool>(),
        delta in 0.0f64..=1.0,
    ) {
        let scale = |rate: u64| if small { rate % 1_000_000 } else { rate };
        let config = SharesConfig { delta, ..SharesConfig::default() };
        let (mut forth, mut back) = (Shares::new(config), Shares::new(config));
        for rates in &rounds {
            for (flow, &rate) in rates.iter().enumerate() {
                forth.sent(FlowId(flow as u32), Rate(scale(rate)), at(0));
            }
            for (flow, &rate) in rates.iter().enumerate().rev() {
                back.sent(FlowId(flow as u32), Rate(scale(rate)), at(0));
            }
            forth.divide(Rate(scale(link)), at(0));
            back.divide(Rate(scale(link)), at(0));
            let got: Vec<u64> = (0..6).map(|flow| forth.share(FlowId(flow)).unwrap().0).collect();
            let same: Vec<u64> = (0..6).map(|flow| back.share(FlowId(flow)).unwrap().0).collect();
            prop_assert_eq!(&got, &same);
            let sum: u128 = got.iter().map(|&share| u128::from(share)).sum();
            prop_assert!(sum <= u128::from(scale(link)));
        }
    }

    /// In the order of requirements shares do not fall, and all of the link is given away if the last flow takes all.
    #[test]
    fn a_slower_flow_has_no_larger_share(
        link in 0u64..1_000_000,
        delta in 0u64..100_000,
        mut rates in prop::collection::vec(0u64..1_000_000, 1..20),
    ) {
        rates.sort_unstable();
        let mut flows: Vec<Requirement> = rates.into_iter().map(|rate| Finite(Rate(rate))).collect();
        flows.push(Infinite);
        let got = shares(link, delta, &flows);
        prop_assert!(got.windows(2).all(|pair| pair[0] <= pair[1]), "{:?}", got);
        prop_assert_eq!(got.iter().sum::<u64>(), link);
    }
}
