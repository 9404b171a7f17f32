//! Schemes, packets and readings for the tests of the daemon.

use airfair_schemes::places::{Ecn, FlowId, NodeId, Packet, PacketClass, PacketId};
use airfair_schemes::{ParamValue, Params, Scheme, find};
use airfair_units::Time;

use super::{Daemon, Me};

pub fn scheme(name: &str, params: &[(&str, ParamValue)]) -> Box<dyn Scheme> {
    let params = params.iter().map(|&(name, value)| (name.to_string(), value)).collect();
    (find(name).unwrap().build)(&Params(params)).unwrap()
}

pub const fn ms(time: u64) -> Time {
    Time(time * 1_000_000)
}

pub const FLOW: FlowId = FlowId(5);

/// A packet of 1500 bytes for a next hop and a destination.
pub fn packet(id: u32, (next_hop, destination): (NodeId, NodeId), ecn: Ecn) -> Packet {
    let (id, bytes, class, enqueued) = (PacketId(id), 1500, PacketClass::Data, Time::ZERO);
    Packet { id, flow: FLOW, destination, next_hop, bytes, class, ecn, labelled: true, enqueued }
}

pub fn near(value: f64, expected: f64, part: f64) {
    assert!((value - expected).abs() <= part * expected, "{value}, not {expected}");
}

impl Daemon {
    /// An inner value of the agent.
    pub fn gauge(&self, name: &str) -> f64 {
        let gauges = self.hosts.agents.gauges(Me(0));
        gauges.iter().find(|gauge| gauge.0 == name).unwrap().1
    }

    /// Samples that the agent has not had, since the counters were wrong.
    pub fn bad_samples(&self) -> u64 {
        self.hosts.agents.bad_samples(Me(0))
    }
}
