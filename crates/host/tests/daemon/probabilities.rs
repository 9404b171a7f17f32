//! NRED and LBM: an agent sets the probability with which the AQM drops or marks. Against arithmetic by hand.

use airfair_host::Capabilities;
use airfair_schemes::ParamValue;
use airfair_schemes::places::{Capability, Destination, Direction, Ecn, NodeId, Setting, Verdict};
use airfair_wire::nred::Ncn;

use super::Daemon;
use super::driver::PEER;
use super::support::{ms, near, packet, scheme};

impl Daemon {
    /// The probability of outgoing packets that the agent has set last.
    fn probability(&self) -> f64 {
        let of = |setting: &Setting| match *setting {
            Setting::Probability(Direction::Outgoing, p) => Some(p.numerator() as f64 / 4_294_967_296.0),
            _ => None,
        };
        self.set.iter().rev().find_map(of).unwrap()
    }

    /// How many of 20,000 packets the interface drops, and marks.
    fn judged(&mut self, ecn: Ecn) -> (u32, u32) {
        let (mut dropped, mut marked) = (0, 0);
        for id in 0..20_000 {
            match self.arrive(packet(id, (PEER, NodeId(3)), ecn), Default::default()) {
                Verdict::Drop(_) => dropped += 1,
                Verdict::Mark(_) => marked += 1,
                Verdict::Pass | Verdict::Echo(_) => {}
            }
        }
        (dropped, marked)
    }
}

/// Sections 5.1 to 5.3 of the paper. W/C is 2 Mbit/s in packets of 1030 B. A busy channel is busy for 0.96 of the time and this node sends
/// for 0.3 of it, so that avg = 0.96 W/C, p_b = 0.14 (avg - 100) / (240 - 100), and the share of outgoing packets is p_b 0.3 / 0.96.
#[test]
fn nred_drops_where_the_channel_is_busy() {
    // The driver has no NAV, and nobody knows which flows are being set up.
    let refused = Daemon::start(&*scheme("nred", &[]), &Capabilities::DRIVER).err().unwrap();
    assert_eq!(refused, [Capability::NavTime, Capability::SetUp]);
    // Here only the gaps in the exchanges of others are reserved by the NAV, a hundredth of their time: none is an estimate.
    let offered = Capabilities::DRIVER.estimating(&[Capability::NavTime]);
    let params = ["set_up", "obey_own"].map(|name| (name, ParamValue::Flag(name == "obey_own")));
    let mut daemon = Daemon::start(&*scheme("nred", &params), &offered).unwrap();
    daemon.run(ms(3_000));
    assert_eq!((daemon.probability(), daemon.sent.len(), daemon.judged(Ecn::NotEct)), (0.0, 0, (0, 0)));
    let mut before = 0.0;
    for second in [5, 6, 8, 10] {
        daemon.run(ms(1000 * second));
        assert!(daemon.probability() > before, "after {second} s");
        before = daemon.probability();
    }
    let full = 2e6 / (8.0 * 1030.0);
    let p_b = 0.14 * (0.96 * full - 100.0) / 140.0;
    let share = p_b * 0.3 / 0.96;
    near(daemon.gauge("avg"), 0.96 * full, 1e-5);
    near(daemon.probability(), share, 1e-5);
    // Algorithm 5.2: from one drop to the next there are 1 to 1/p - 1 packets, all equally likely: 1/(2p) in the mean.
    let (dropped, marked) = daemon.judged(Ecn::NotEct);
    near(f64::from(dropped), 2.0 * share * 20_000.0, 0.06);
    assert_eq!(marked, 0);
    // Its neighbours learn of it, by bytes.
    let told = &daemon.sent.last().unwrap().message;
    let (ncn, _) = Ncn::decode(&told.bytes).unwrap();
    assert_eq!((told.to, ncn.lifetime_ms), (Destination::Neighbour(PEER), 2000));
    near(f64::from(ncn.normalized) / f64::from(u32::MAX), p_b / (0.96 * full), 1e-5);
    // The new beginning, three rows that stand still, and the one after, which has four intervals in one.
    assert_eq!(daemon.bad_samples(), 5);
}

/// Section 2.2: a packet is marked with the probability rho - rho_0, rho_0 being 0.2. 30 kB are sent and 9 kB received in 100 ms, of the
/// 137.5 kB that 11 Mbit/s carry.
#[test]
fn lbm_marks_by_the_load() {
    let mut daemon = Daemon::start(&*scheme("lbm", &[]), &Capabilities::DRIVER).unwrap();
    daemon.run(ms(3_000));
    assert_eq!((daemon.probability(), daemon.judged(Ecn::Ect)), (0.0, (0, 0)));
    daemon.run(ms(10_000));
    near(daemon.gauge("rho"), 39.0 / 137.5, 1e-9);
    let p = 39.0 / 137.5 - 0.2;
    near(daemon.probability(), p, 1e-6);
    assert_eq!(daemon.judged(Ecn::NotEct), (0, 0));
    let (dropped, marked) = daemon.judged(Ecn::Ect);
    // Four standard deviations of 20,000 draws.
    near(f64::from(marked), p * 20_000.0, 0.1);
    assert_eq!(dropped, 0);
    assert_eq!(daemon.bad_samples(), 3);
}
