//! Schemes, packets and readings for the tests of the daemon.

use airfair_host::{Addressee, MessageId, Received, agents};
use airfair_schemes::places::{
    Ecn, FlowId, Head, Header, NodeId, Packet, PacketClass, PacketId, QueueEffects,
};
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
    Packet { id, flow: FLOW, destination, next_hop, bytes, class, ecn, labelled: true, own: false, enqueued }
}

pub fn near(value: f64, expected: f64, part: f64) {
    assert!((value - expected).abs() <= part * expected, "{value}, not {expected}");
}

impl Daemon {
    /// A message of another node that reaches this one as bytes.
    pub fn message(&mut self, (origin, number): (NodeId, u64), bytes: &[u8], to: Addressee) {
        let id = MessageId { origin, number };
        let received = Received { id, bytes, to, own_frame: to == Addressee::Me, sender: None };
        assert!(agents::message(self, Me(0), &received, self.now));
    }

    /// The packet that the radio takes, with its priority, and the bytes of the header that its queue has written.
    pub fn transmit(&mut self) -> Option<(Head, Vec<u8>)> {
        let priority = self.pipeline.head(self.now, &mut QueueEffects::default())?.priority;
        let packet = self.pipeline.pop(self.now, &mut QueueEffects::default())?;
        let (kind, mut header) = (self.pipeline.queue_header(), Header::default());
        self.pipeline.stamp(&packet, (kind, Some(&mut header)), &self.kinds, self.now);
        let mut bytes = vec![0; self.kinds.wire_len(kind) as usize];
        self.kinds.encode(kind, &header, &mut bytes);
        Some((Head { packet, priority }, bytes))
    }

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
