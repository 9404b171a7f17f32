//! The queues and AQMs against numbers computed by hand and against the theory of their papers.

mod codel;
mod fq_codel;
mod red;

use airfair_schemes::places::{
    Aqm, Context, Ecn, FlowId, Interface, NodeId, Packet, PacketClass, PacketId, Queue, QueueView,
};
use airfair_schemes::{ParamValue, Params, find};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Span, Time};

/// The host's part: the present time, the random stream and the buffer of effects.
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
    (find(name).unwrap().build)(params).unwrap().queue(&Interface::radio(limit_packets)).into_discipline()
}

/// The name of the refused parameter, and the reason.
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
        labelled: false,
        own: false,
        enqueued,
    }
}

fn view(packets: u32, bytes: u64) -> QueueView {
    QueueView { packets, bytes, limit_packets: 1000 }
}

/// Every parameter of every scheme: its default is accepted, a value of another kind, or just outside of the range, is refused by name.
#[test]
fn declared_kinds_and_ranges_hold() {
    use airfair_units::Rate;
    let mut seen = 0;
    for entry in airfair_schemes::registry() {
        for doc in entry.params.iter() {
            let refused = |value| refusal(entry.name, &[(doc.name, value)]).map(|r| r.0);
            assert_eq!(refused(doc.default), None, "{}.{}", entry.name, doc.name);
            let other = if matches!(doc.default, ParamValue::Flag(_)) { number(1.0) } else { flag(true) };
            assert_eq!(refused(other), Some(doc.name));
            let Some([low, high]) = doc.range else { continue };
            for value in [outside(low, -1), outside(high, 1)].into_iter().flatten() {
                assert_eq!(refused(value), Some(doc.name), "{}.{} = {value}", entry.name, doc.name);
                seen += 1;
            }
        }
    }
    assert!(seen > 150, "{seen}");

    fn outside(end: ParamValue, step: i64) -> Option<ParamValue> {
        Some(match end {
            ParamValue::Number(v) => number(v + step as f64),
            ParamValue::Integer(v) => integer(v.checked_add_signed(step)?),
            ParamValue::Span(v) => ParamValue::Span(Span(v.0.checked_add_signed(step)?)),
            ParamValue::Rate(v) => ParamValue::Rate(Rate(v.0.checked_add_signed(step)?)),
            ParamValue::Bytes(v) => ParamValue::Bytes(Bytes(v.0.checked_add_signed(step)?)),
            ParamValue::Flag(_) | ParamValue::Choice(_) => return None,
        })
    }
}
