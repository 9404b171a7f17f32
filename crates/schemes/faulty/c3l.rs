//! `c3l-faulty`: reports to a controller that are lost or late, or tell of flows and of overload that there are not.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use airfair_units::Span;
use airfair_wire::c3l::{
    AnswerReport, FlowReport, Kind, LinkReport, Message as WireMessage, Neighbour, Report,
};

use super::{FalseMessages, Faults, Faulty};
use crate::c3l::{C3l, C3lParameters};
use crate::params;
use crate::params::{ParamError, Params};
use crate::places::Message;

const HOUR: Span = Span::from_secs(3600);

params! {
    /// The parameters of `c3l-faulty`.
    pub(crate) struct FaultyParameters {
        ..right: C3lParameters;
        /// part of the node's reports that is lost before it is sent
        operator lost: f64 = 0.0, in 0.0..=1.0;
        /// longest time that a report waits before it is sent; each waits a drawn part of it
        operator late: Span = Span::ZERO, in Span::ZERO..=HOUR;
        /// invented flows that the node reports beside each of its flows
        operator more_flows: u64 = 0, in 0..=100;
        /// the node reports that each of its links is overloaded
        operator overloaded: bool = false;
    }
}

/// C3L at a node with faults.
///
/// # Errors
/// A value that is out of its range.
pub(crate) fn c3l(params: &Params) -> Result<Faulty, ParamError> {
    let FaultyParameters { right, lost, late, more_flows, overloaded } = FaultyParameters::read(params)?;
    let lies = more_flows > 0 || overloaded;
    let lie: FalseMessages = Arc::new(move |reports| falsify(reports, more_flows as u32, overloaded));
    let faults = Faults { concerns: is_report, lost, late, messages: lies.then_some(lie), header: None };
    Ok(Faulty::new(Box::new(C3l::controlled(&right)?), faults))
}

fn is_report(message: &Message) -> bool {
    message.bytes.first().is_some_and(|&first| Kind::of(first) == Some(Kind::Report))
}

/// Makes of the parts of a report, the last one first, those of a false one.
fn falsify(messages: &mut Vec<Message>, more_flows: u32, overloaded: bool) {
    let read = |message: &Message| match WireMessage::decode(&message.bytes) {
        Ok((WireMessage::Report(report), _)) => Some(report),
        _ => None,
    };
    let Some(mut parts) = messages.iter().map(read).collect::<Option<Vec<Report>>>() else { return };
    parts.sort_by_key(|part| part.part().index());
    let (Some(first), Some(Message { to, ahead, transmit, .. })) = (parts.first(), messages.first()) else {
        return;
    };
    let (to, ahead, transmit) = (*to, *ahead, *transmit);
    let overload = |link: &LinkReport| LinkReport { overloaded: link.overloaded || overloaded, ..*link };
    let links: Vec<LinkReport> = parts.iter().flat_map(|part| part.links().iter().map(overload)).collect();
    let mut flows: Vec<FlowReport> = parts.iter().flat_map(Report::flows).copied().collect();
    let invented = |flow: &FlowReport| {
        let flow = *flow;
        (1..=more_flows).map(move |more| FlowReport { flow: flow.flow ^ (more << 20), ..flow })
    };
    flows.extend(flows.iter().flat_map(invented).collect::<Vec<_>>());
    let answers: Vec<AnswerReport> = parts.iter().flat_map(Report::answers).copied().collect();
    let list: Vec<Neighbour> = parts.iter().filter_map(Report::neighbours).flatten().copied().collect();
    let listed = first.neighbours().map(|_| &list[..]);
    let parts = Report::parts_with_answers(first.head(), &links, &flows, &answers, listed);
    let written = parts.into_iter().rev().filter_map(|part| {
        let part = WireMessage::Report(part);
        let mut bytes = vec![0; part.wire_len()];
        part.encode(&mut bytes).ok().map(|_| Message { to, bytes, ahead, transmit })
    });
    *messages = written.collect();
}
