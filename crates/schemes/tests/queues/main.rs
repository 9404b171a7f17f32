//! The queues and AQMs against numbers worked by hand and against the theory of their papers.

mod codel;
mod fq_codel;
mod red;

use airfair_schemes::places::{
    Aqm, Context, Ecn, FlowId, Interface, NodeId, Packet, PacketClass, PacketId, Queue, QueueView,
};
use airfair_schemes::{ParamValue, Params, find};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Span, Time};

/// What a host owns: the present, the random stream and the box for effects.
struct Host<E> {
    now: Time,
    random: Stream,
    out: E,
}

impl<E: Default> Host<E> {
    fn new(seed: u64) -> Self {
        Self { now: Time::ZERO, random: Stream::new(seed, "queues", Purpose::Queue), out: E::default() }
    }

    fn context(&mut self) -> Context<'_, E> {
        Context { now: self.now, random: &mut self.random, out: &mut self.out }
    }

    fn context_at(&mut self, ns: u64) -> Context<'_, E> {
        self.now = Time(ns);
        self.context()
    }
}

fn set(values: &[(&str, ParamValue)]) -> Params {
    Params(values.iter().map(|&(name, value)| (name.to_string(), value)).collect())
}

fn number(value: f64) -> ParamValue {
    ParamValue::Number(value)
}

fn integer(value: u64) -> ParamValue {
    ParamValue::Integer(value)
}

fn flag(value: bool) -> ParamValue {
    ParamValue::Flag(value)
}

fn millis(value: u64) -> ParamValue {
    ParamValue::Span(Span::from_millis(value))
}

fn bytes(value: u64) -> ParamValue {
    ParamValue::Bytes(Bytes(value))
}

fn aqm(name: &str, params: &Params) -> Box<dyn Aqm> {
    let scheme = (find(name).unwrap().build)(params).unwrap();
    scheme.aqm(&Interface::radio(50)).expect("the scheme has an AQM")
}

fn queue(name: &str, params: &Params, limit_packets: u32) -> Box<dyn Queue> {
    (find(name).unwrap().build)(params).unwrap().queue(&Interface::radio(limit_packets))
}

/// The name of the parameter that is refused, and why.
fn refusal(scheme: &str, values: &[(&str, ParamValue)]) -> Option<(&'static str, String)> {
    (find(scheme).unwrap().build)(&set(values)).err().map(|e| (e.name, e.problem))
}

fn packet(id: u32, flow: u32, bytes: u32, enqueued: Time) -> Packet {
    Packet {
        id: PacketId(id),
        flow: FlowId(flow),
        destination: NodeId(9),
        next_hop: NodeId(9),
        bytes,
        class: PacketClass::Data,
        ecn: Ecn::NotEct,
        enqueued,
    }
}

fn view(packets: u32, bytes: u64) -> QueueView {
    QueueView { packets, bytes, limit_packets: 1000 }
}

/// The defaults that the documentation shows are the ones that hold, and every parameter is of its kind.
#[test]
fn documented_defaults_are_accepted_and_other_kinds_refused() {
    use airfair_schemes::ParamKind;
    use airfair_units::Quantity;
    for name in ["red", "codel", "fq-codel"] {
        let entry = find(name).unwrap();
        for doc in entry.params.iter() {
            let value = match doc.kind {
                ParamKind::Span => ParamValue::Span(Span::parse(doc.default).unwrap()),
                ParamKind::Bytes => ParamValue::Bytes(Bytes::parse(doc.default).unwrap()),
                ParamKind::Number => number(doc.default.parse().unwrap()),
                ParamKind::Integer => integer(doc.default.parse().unwrap()),
                ParamKind::Flag => flag(doc.default.parse().unwrap()),
                ParamKind::Rate | ParamKind::Choice(_) => unreachable!("no queue has one"),
            };
            assert_eq!(refusal(name, &[(doc.name, value)]), None);
            let rate = ParamValue::Rate(airfair_units::Rate(1));
            assert_eq!(refusal(name, &[(doc.name, rate)]).map(|r| r.0), Some(doc.name));
        }
    }
}
