//! NRED and LBM: an agent sets the probability with which the AQM drops or marks. Against arithmetic by hand.

use airfair_host::{Addressee, Capabilities, InterfaceCounters};
use airfair_schemes::ParamValue;
use airfair_schemes::places::{Capability, Destination, Direction, Ecn, NodeId, Setting, Verdict};
use airfair_wire::nred::Ncn;

use super::Daemon;
use super::driver::PEER;
use super::support::{ms, near, packet, scheme};

const BOTH: [Direction; 2] = [Direction::Outgoing, Direction::Incoming];

impl Daemon {
    /// The probabilities of outgoing and incoming packets that the agent has set last.
    fn probabilities(&self) -> [f64; 2] {
        [Direction::Outgoing, Direction::Incoming].map(|side| {
            let of = |setting: &Setting| match *setting {
                Setting::Probability(direction, p) if direction == side => Some(p.numerator()),
                _ => None,
            };
            self.set.iter().rev().find_map(of).unwrap() as f64 / 4_294_967_296.0
        })
    }

    /// How many of 20,000 packets in a direction the interface drops, and marks.
    fn judged(&mut self, direction: Direction, ecn: Ecn) -> (u32, u32) {
        let (mut dropped, mut marked) = (0, 0);
        for id in 0..20_000 {
            let packet = packet(id, (PEER, NodeId(3)), ecn);
            let verdict = match direction {
                Direction::Outgoing => self.arrive(packet, Default::default()),
                Direction::Incoming => self.come_in(&packet),
            };
            match verdict {
                Verdict::Drop(_) => dropped += 1,
                Verdict::Mark(_) => marked += 1,
                Verdict::Pass | Verdict::Echo(_) => {}
            }
        }
        (dropped, marked)
    }
}

/// Sections 5.1 to 5.3 of the paper. W/C is 2 Mbit/s in packets of 1030 B. A busy channel is busy for 0.96 of the time and this node sends
/// for 0.3 of it, and receives frames for itself for 0.09 of it, so that avg = 0.96 W/C, p_b = 0.14 (avg - 100) / (240 - 100), the share of
/// outgoing packets is p_b 0.3 / 0.96, and that of incoming ones p_b 0.09 / 0.96.
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
    assert_eq!((daemon.probabilities(), daemon.sent.len()), ([0.0; 2], 0));
    for direction in BOTH {
        assert_eq!(daemon.judged(direction, Ecn::NotEct), (0, 0));
    }
    let mut before = 0.0;
    for second in [5, 6, 8, 10] {
        daemon.run(ms(1000 * second));
        assert!(daemon.probabilities()[0] > before, "after {second} s");
        before = daemon.probabilities()[0];
    }
    let full = 2e6 / (8.0 * 1030.0);
    let p_b = 0.14 * (0.96 * full - 100.0) / 140.0;
    let shares = [p_b * 0.3 / 0.96, p_b * 0.09 / 0.96];
    near(daemon.gauge("avg"), 0.96 * full, 1e-5);
    for ((direction, share), set) in BOTH.into_iter().zip(shares).zip(daemon.probabilities()) {
        near(set, share, 1e-5);
        // Algorithm 5.2: from one drop to the next there are 1 to 1/p - 1 packets, all equally likely: 1/(2p) in the mean.
        let (dropped, marked) = daemon.judged(direction, Ecn::NotEct);
        near(f64::from(dropped), 2.0 * share * 20_000.0, 0.06);
        assert_eq!(marked, 0);
    }
    // Its neighbours learn of it, by bytes.
    let told = &daemon.sent.last().unwrap().message;
    let (ncn, _) = Ncn::decode(&told.bytes).unwrap();
    assert_eq!((told.to, ncn.lifetime_ms), (Destination::Neighbour(PEER), 2000));
    near(f64::from(ncn.normalized) / f64::from(u32::MAX), p_b / (0.96 * full), 1e-5);
    // The new beginning, three rows that stand still, and the one after, which has four intervals in one.
    assert_eq!(daemon.bad_samples(), 5);
}

/// Section 5.2: a neighbour's notification, sent to another node and overheard, sets the shares of the averages until its lifetime ends;
/// the node's own are for others.
#[test]
fn nred_obeys_its_neighbours() {
    let offered = Capabilities::DRIVER.estimating(&[Capability::NavTime]);
    let mut daemon =
        Daemon::start(&*scheme("nred", &[("set_up", ParamValue::Flag(false))]), &offered).unwrap();
    daemon.run(ms(9_000));
    assert_eq!(daemon.probabilities(), [0.0; 2]);
    assert!(!daemon.sent.is_empty());
    let ncn = Ncn { normalized: u32::MAX / 500, lifetime_ms: 500 };
    let mut bytes = vec![0; Ncn::wire_len()];
    ncn.encode(&mut bytes).unwrap();
    daemon.message((PEER, 1), &bytes, Addressee::Other);
    // W/C by the parts of the time.
    let averages = [0.3, 0.09].map(|part| part * 2e6 / (8.0 * 1030.0));
    for ((set, average), gauge) in daemon.probabilities().into_iter().zip(averages).zip(["avg_tx", "avg_rx"])
    {
        near(daemon.gauge(gauge), average, 1e-4);
        near(set, average / 500.0, 1e-4);
    }
    daemon.run(ms(9_400));
    assert!(daemon.probabilities().iter().all(|&set| set > 0.0));
    daemon.run(ms(9_600));
    assert_eq!(daemon.probabilities(), [0.0; 2]);
}

/// Section 2.2: a packet is marked with the probability rho - rho_0, rho_0 being 0.2. 30 kB are sent and 9 kB received in 100 ms, of the
/// 137.5 kB that 11 Mbit/s carry.
#[test]
fn lbm_marks_by_the_load() {
    let mut daemon = Daemon::start(&*scheme("lbm", &[]), &Capabilities::DRIVER).unwrap();
    daemon.run(ms(3_000));
    for direction in BOTH {
        assert_eq!(daemon.judged(direction, Ecn::Ect), (0, 0));
    }
    daemon.run(ms(10_000));
    near(daemon.gauge("rho"), 39.0 / 137.5, 1e-9);
    let p = 39.0 / 137.5 - 0.2;
    for (direction, set) in BOTH.into_iter().zip(daemon.probabilities()) {
        near(set, p, 1e-6);
        assert_eq!(daemon.judged(direction, Ecn::NotEct), (0, 0));
        let (dropped, marked) = daemon.judged(direction, Ecn::Ect);
        // Four standard deviations of 20,000 draws.
        near(f64::from(marked), p * 20_000.0, 0.1);
        assert_eq!(dropped, 0);
    }
    assert_eq!(daemon.bad_samples(), 3);
}

/// min{}: with alpha = 20 the probability would be 1.67, and every packet that can be marked is.
#[test]
fn lbm_marks_no_more_than_all() {
    let mut daemon =
        Daemon::start(&*scheme("lbm", &[("alpha", ParamValue::Number(20.0))]), &Capabilities::DRIVER)
            .unwrap();
    daemon.run(ms(10_000));
    assert_eq!(daemon.probabilities(), [1.0; 2]);
    for direction in BOTH {
        assert_eq!(daemon.judged(direction, Ecn::Ect), (0, 20_000));
        assert_eq!(daemon.judged(direction, Ecn::NotEct), (0, 0));
    }
}

/// A driver that counts packets and no times of its states has samples, by which LBM marks; NRED is refused there.
#[test]
fn a_driver_without_airtimes_carries_lbm() {
    let offered = Capabilities::DRIVER.without_if(true, Capability::Airtime);
    let refused = Daemon::start(&*scheme("nred", &[]), &offered).err().unwrap();
    assert_eq!(refused, [Capability::Airtime, Capability::NavTime, Capability::SetUp]);
    let mut daemon = Daemon::start(&*scheme("lbm", &[]), &offered).unwrap();
    let rows: Vec<_> = daemon.rows.collect();
    let without = |(counters, link)| (InterfaceCounters { airtime: None, ..counters }, link);
    daemon.rows = rows.into_iter().map(without).collect::<Vec<_>>().into_iter();
    daemon.run(ms(10_000));
    near(daemon.gauge("rho"), 39.0 / 137.5, 1e-9);
    daemon.probabilities().iter().for_each(|&set| near(set, 39.0 / 137.5 - 0.2, 1e-6));
}
