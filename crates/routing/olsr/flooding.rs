//! Messages to the whole network: duplicates, forwarding by relays [RFC 3626 section 3.4], and datagrams that collect messages [3.5].

use alloc::vec;
use alloc::vec::Vec;

use airfair_units::{Span, Time};
use airfair_wire::olsr::{Body, Message, Other, Packet};

use super::hello::time;
use super::{KINDS, Olsr};
use crate::{Context, Effect, Received, SendRate, To};

/// Longest payload of a datagram, bytes: with IP and UDP headers a packet of 1500 bytes.
const LONGEST: usize = 1472;
/// Bytes of IP and UDP headers.
const HEADERS: usize = 28;
/// Type of the message that fills a probe up to its size: one that no specification uses, and that ends at the first hop.
const FILLING: u8 = 250;
/// Least length of a message, bytes.
const SHORTEST_MESSAGE: usize = 12;
/// Most bytes of messages that wait to leave by an interface: the air carries less in any jitter.
const MOST_WAITING: usize = 1 << 20;

/// Kind of a message that is sent, an index into [`KINDS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// HELLO.
    Hello = 0,
    /// The node's own TC.
    Tc = 1,
    /// A message of another node.
    Forwarded = 2,
}
const _: () = assert!(KINDS.len() == 3);

/// A flooded message that the node has received (duplicate tuple).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Duplicate {
    pub until: Time,
    /// True if the node has forwarded it.
    forwarded: bool,
    /// Interfaces by which it was received.
    interfaces: Vec<u32>,
}

/// Messages that wait to leave by an interface.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    messages: Vec<(Message, usize)>,
    /// Their bytes.
    bytes: usize,
    /// Time at which they leave.
    due: Time,
}

/// Messages that wait, and the number of the last packet, of one interface.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// HELLOs that are probes.
    probes: Outbox,
    others: Outbox,
    sequence: u16,
}

impl Output {
    /// Time at which the next messages leave.
    pub(super) fn deadline(&self) -> Time {
        let boxes = [&self.probes, &self.others].into_iter().filter(|list| !list.messages.is_empty());
        boxes.map(|list| list.due).min().unwrap_or(Time::NEVER)
    }
}

impl Olsr {
    /// A message of this node with the next number.
    pub(super) fn message(&mut self, body: Body, validity: Span, ttl: u8) -> Message {
        self.sequence = self.sequence.wrapping_add(1);
        let (originator, sequence) = (self.address, self.sequence);
        Message { validity: time(validity), originator, ttl, hops: 0, sequence, body }
    }

    /// Queues a message for an interface, unless too many wait. The first one that waits draws the delay of all that share its datagram.
    pub(super) fn queue(&mut self, interface: u32, message: Message, kind: Kind, cx: &mut Context<'_>) {
        let probe = kind == Kind::Hello && self.config.probes_alone();
        let Some(output) = self.outputs.get_mut(interface as usize) else { return };
        let list = if probe { &mut output.probes } else { &mut output.others };
        if list.messages.is_empty() {
            let delay = Span((cx.random.uniform() * self.config.max_jitter.0 as f64) as u64);
            (list.due, list.bytes) = (cx.now.saturating_add(delay), 0);
        }
        let bytes = list.bytes + message.wire_len();
        if bytes > MOST_WAITING {
            self.refused += 1;
            return;
        }
        list.bytes = bytes;
        list.messages.push((message, kind as usize));
    }

    /// Queues a message for every interface.
    pub(super) fn flood(&mut self, message: &Message, kind: Kind, cx: &mut Context<'_>) {
        (0..self.interfaces).for_each(|interface| self.queue(interface, message.clone(), kind, cx));
    }

    /// Sends the messages whose time has come.
    pub(super) fn send_due(&mut self, cx: &mut Context<'_>) {
        let (rate, size) = (self.config.probe_rate, self.config.probe_size as usize);
        for interface in 0..self.interfaces {
            for (probes, rate, size) in [(true, rate, size), (false, SendRate::Broadcast, 0)] {
                let Some(output) = self.outputs.get_mut(interface as usize) else { return };
                let list = if probes { &mut output.probes } else { &mut output.others };
                if list.due <= cx.now && !list.messages.is_empty() {
                    let messages = core::mem::take(&mut list.messages);
                    self.send(messages, interface, rate, size, cx);
                }
            }
        }
    }

    /// Sends messages by an interface in as few datagrams as possible, each of at least `size` bytes as an IP packet.
    fn send(
        &mut self,
        messages: Vec<(Message, usize)>,
        interface: u32,
        rate: SendRate,
        size: usize,
        cx: &mut Context<'_>,
    ) {
        let mut parts: Vec<(usize, Vec<Message>, Vec<usize>)> = Vec::new();
        for (message, kind) in messages {
            let len = message.wire_len();
            match parts.last_mut() {
                Some((total, list, kinds)) if Packet::len_with(*total + len) <= LONGEST => {
                    *total += len;
                    list.push(message);
                    kinds.push(kind);
                }
                _ => parts.push((len, vec![message], vec![kind])),
            }
        }
        for (len, mut messages, kinds) in parts {
            let missing = size.saturating_sub(HEADERS + Packet::len_with(len));
            let zeros = vec![0; missing.saturating_sub(SHORTEST_MESSAGE)];
            if missing > 0
                && let Some(other) = Other::new(FILLING, zeros)
            {
                messages.push(self.message(Body::Other(other), Span::ZERO, 1));
            }
            let Some(output) = self.outputs.get_mut(interface as usize) else { return };
            output.sequence = output.sequence.wrapping_add(1);
            let Some(packet) = Packet::new(output.sequence, messages) else { continue };
            let mut bytes = vec![0; packet.wire_len()];
            let written = packet.encode(&mut bytes);
            debug_assert_eq!(written, Ok(bytes.len()));
            cx.out.push(Effect::Send { bytes, kinds, to: To::Interface(interface), ttl: 1, rate });
        }
    }

    /// True if a message of another node is received for the first time.
    pub(super) fn is_new(&self, message: &Message, now: Time) -> bool {
        let known = self.duplicates.get(&(message.originator, message.sequence));
        known.is_none_or(|duplicate| duplicate.until <= now)
    }

    /// Removes duplicates that have ended: now and then, since those that remain for a while only take room.
    pub(super) fn forget_duplicates(&mut self, now: Time) {
        if self.forget_at > now {
            return;
        }
        self.work += self.duplicates.len() as u64;
        self.duplicates.retain(|_, known| known.until > now);
        self.forget_at = now.saturating_add(Span(self.config.duplicate_hold.0 / 8));
    }

    /// The default forwarding algorithm, for a message of a symmetric neighbour [RFC 3626 section 3.4.1]. A message that the table has no
    /// room for is not forwarded, since it might come back.
    pub(super) fn forward(&mut self, message: Message, received: Received, cx: &mut Context<'_>) {
        self.work += 1;
        let (key, interface) = ((message.originator, message.sequence), received.from.interface);
        let new = self.is_new(&message, cx.now);
        if new {
            let limit = self.config.table_limit as usize;
            if self.duplicates.len() >= limit {
                self.forget_duplicates(cx.now);
            }
            if self.duplicates.len() >= limit {
                self.refused += 1;
                return;
            }
            let until = cx.now;
            self.duplicates.insert(key, Duplicate { until, forwarded: false, interfaces: Vec::new() });
        }
        let Some(duplicate) = self.duplicates.get_mut(&key) else { return };
        if duplicate.forwarded || duplicate.interfaces.contains(&interface) {
            return;
        }
        let selector = self.selectors.get(&received.from.neighbour).is_some_and(|&until| until > cx.now);
        duplicate.until = cx.now.saturating_add(self.config.duplicate_hold);
        duplicate.interfaces.push(interface);
        duplicate.forwarded = selector && message.ttl > 1;
        if duplicate.forwarded {
            let (ttl, hops) = (message.ttl - 1, message.hops.saturating_add(1));
            self.flood(&Message { ttl, hops, ..message }, Kind::Forwarded, cx);
        }
    }
}
