mod support;
use support::*;
use airfair_sim::spec::*;
use airfair_units::*;

#[test]
fn cells() {
    for n in [1usize, 2, 5, 10, 20, 30, 50] {
        for rts in [false, true] {
        let mut r = dot11b(250.0, 550.0);
        if rts { r.mac.rts_threshold = Bytes(0); }
        let res = run(&cell(r, n, 1500, 20), 1);
        let att: u64 = res.stations.iter().map(|s| if rts {s.counters.sent[0]} else {s.counters.sent[2]}).sum();
        let fail: u64 = res.stations.iter().map(|s| s.counters.no_ack + s.counters.no_cts).sum();
        println!("11b n={n} rts={rts} {:.4} coll {:.4} ev {} tx {}", res.aggregate_goodput_bps()/1e6, fail as f64/att as f64, res.events, res.transmissions);
        }
    }
}
#[test]
fn chains() {
    for ns2 in [false, true] {
    for hops in 1..=8 {
        let mut r = dot11b(250.0, 550.0);
        r.phy.data_rate = Rate(2_000_000);
        r.mac.rts_threshold = Bytes(0);
        r.mac.backpressure=false;
        if ns2 {
          r.phy.lock_on = LockOn::Energy; r.phy.interference=Interference::Strongest; r.mac.eifs_on_energy=true; r.mac.nav_reset=false; r.mac.cts_needs_idle_carrier=true; r.mac.eifs_as_nav=true; r.mac.sensing_delay=Span(0); r.queue.packets=49;
          r.mac.immediate_access=false; r.mac.response_timeout = ResponseTimeout::WholeResponse;
        }
        let mut s = chain(r, hops, 200.0, Traffic::ConstantRate{rate: Rate(2_000_000), packet: Bytes(1500), gap_jitter: 1.0}, 100);
        if ns2 { s.headers.udp=0; s.headers.llc=0; s.headers.mac=34; }
        let res = run(&s, 1);
        println!("ns2={ns2} hops={hops} {:.1} {:?}", res.aggregate_goodput_bps()/1e3, res.drops);
    }}
}
