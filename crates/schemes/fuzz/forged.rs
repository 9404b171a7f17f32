//! Messages of attackers: forged ones, and those that have been seen, mutated.

use alloc::vec;
use alloc::vec::Vec;

use airfair_units::fuzz::Input;
use airfair_wire::c3l::{
    Alive, Allocation, AllocationHead, AnswerReport, FlowReport, Hello, LinkReport, Message as C3lMessage,
    Neighbour, Report, ReportHead, Share, Word,
};
use airfair_wire::diffq::Call;
use airfair_wire::nred::Ncn;

use super::node;

/// Messages that are kept to be mutated.
const CORPUS: usize = 200;

/// A forged message: of C3L, an NCN, or a call of DiffQ.
pub(super) fn forged(input: &mut Input<'_>) -> Vec<u8> {
    let (from, round) = (node(input), u16::from(input.byte()));
    let many = if input.byte() < 240 { 8 } else { 255 };
    let message = match input.byte() % 7 {
        0 => {
            let alive = |input: &mut Input<'_>| Alive {
                controller: node(input),
                freshness: input.word(),
                hops: input.byte(),
            };
            let controllers: Vec<Alive> = (0..input.byte() % 9).map(|_| alive(input)).collect();
            C3lMessage::Hello(Hello::new(input.flag(), round, from, controllers.into_iter()))
        }
        1 => C3lMessage::Word(Word { controller: from, freshness: input.word() }),
        2 => {
            let head = AllocationHead {
                controller: from,
                node: node(input),
                round,
                version: input.byte().into(),
                valid_ms: input.word(),
            };
            let count = input.below(many);
            let shares: Vec<Share> =
                (0..count).map(|_| Share { next_hop: node(input), share: input.word() }).collect();
            let mut parts = Allocation::parts(head, &shares);
            let at = input.below(parts.len());
            C3lMessage::Allocation(parts.swap_remove(at))
        }
        3 | 4 => {
            let counts = [(); 4].map(|()| input.below(many));
            let links: Vec<LinkReport> = (0..counts[0])
                .map(|_| LinkReport {
                    next_hop: node(input),
                    capacity: input.word(),
                    used: input.word(),
                    transmissions: input.byte().into(),
                    overloaded: input.flag(),
                    lost: input.byte() >> 1,
                })
                .collect();
            let flows: Vec<FlowReport> = (0..counts[1])
                .map(|_| FlowReport {
                    flow: node(input),
                    next_hop: node(input),
                    rate: input.word(),
                    demand: if input.flag() { u32::MAX } else { input.word() },
                })
                .collect();
            let heard: Vec<Neighbour> = (0..counts[2])
                .map(|_| Neighbour { node: node(input), hellos: input.byte(), probes: input.byte() })
                .collect();
            let head = ReportHead { node: from, number: round, version: input.byte().into() };
            let answers: Vec<AnswerReport> = (0..counts[3])
                .map(|_| AnswerReport { flow: node(input), next_hop: node(input), time: input.word() })
                .collect();
            let listed = input.flag().then_some(&heard[..]);
            let mut parts = Report::parts_with_answers(head, &links, &flows, &answers, listed);
            let at = input.below(parts.len());
            C3lMessage::Report(parts.swap_remove(at))
        }
        5 => {
            let call = Call { node: from };
            let mut bytes = vec![0; Call::WIRE_LEN];
            return call.encode(&mut bytes).map_or_else(|_| Vec::new(), |_| bytes);
        }
        _ => {
            let ncn = Ncn { normalized: input.word(), lifetime_ms: input.word() as u16 };
            let mut bytes = vec![0; Ncn::wire_len()];
            return ncn.encode(&mut bytes).map_or_else(|_| Vec::new(), |_| bytes);
        }
    };
    let mut bytes = vec![0; message.wire_len()];
    message.encode(&mut bytes).map_or_else(|_| Vec::new(), |_| bytes)
}

/// Messages that have been seen.
#[derive(Default)]
pub(super) struct Corpus {
    messages: Vec<Vec<u8>>,
    next: usize,
}

impl Corpus {
    pub(super) fn add(&mut self, bytes: Vec<u8>) {
        if self.messages.len() < CORPUS {
            self.messages.push(bytes);
        } else {
            self.messages[self.next % CORPUS] = bytes;
            self.next += 1;
        }
    }

    pub(super) fn draw(&self, input: &mut Input<'_>) -> Vec<u8> {
        let mut bytes = input.of(&self.messages).cloned().unwrap_or_default();
        let other = input.of(&self.messages).cloned().unwrap_or_default();
        input.mutate(&mut bytes, &other);
        bytes
    }
}
