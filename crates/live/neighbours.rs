//! The neighbours of a node: hellos, their addresses, and the messages of schemes.
//!
//! Each daemon sends a hello to everyone at each radio. Whoever has been heard at a radio within [`Neighbours::PRESENT`] is a neighbour
//! there. The payload of an authentic packet ([`crate::messages`]) is one of these:
//!
//! | first byte | rest |
//! |---|---|
//! | 0, a hello | the hardware address of the radio, 6 bytes, then the name of the node, at most 64 bytes of UTF-8 |
//! | 1, a message of the scheme | its number at its sender, 8 bytes in network order, then the scheme's own bytes |

use std::collections::BTreeMap;

use airfair_host::{Addressee, MessageId};
use airfair_schemes::places::{Destination, NodeId};
use airfair_units::random::Stream;
use airfair_units::{Span, Time};

use crate::messages::{LARGEST_PACKET, Opened, Reason, Session};
use crate::messenger::{Address, Messenger};
use crate::shaping::MacAddress;

/// Kinds of payloads.
const HELLO: u8 = 0;
const OF_SCHEME: u8 = 1;

/// Interval of hellos of a node that hears no neighbour.
const HURRY: Span = Span::from_millis(500);

/// Most bytes of a node's name.
const LONGEST_NAME: usize = 64;

/// Packets that are read at once: samples and settings have their turn then.
const AT_ONCE: usize = 64;

/// A message of a scheme that has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemeMessage {
    /// The radio.
    pub radio: usize,
    /// The sender and the message's number there.
    pub id: MessageId,
    /// For whom it is.
    pub to: Addressee,
    /// The scheme's bytes.
    pub bytes: Vec<u8>,
}

/// A neighbour at a radio.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbour {
    /// The number of the node.
    pub id: NodeId,
    /// The name of the node; empty until a hello has come.
    pub name: String,
    /// Time of its last authentic packet.
    pub heard: Time,
    /// The hardware address of its radio, by which packets name it as their next hop; none until a hello has come.
    pub radio: Option<MacAddress>,
    address: Address,
}

/// The neighbours at all radios of a node.
#[derive(Debug)]
pub struct Neighbours {
    session: Session,
    name: String,
    radios: Vec<AtRadio>,
    hello: Span,
    random: Stream,
    next_hello: Time,
    counts: MessageCounts,
}

#[derive(Debug)]
struct AtRadio {
    messenger: Box<dyn Messenger>,
    neighbours: BTreeMap<NodeId, Neighbour>,
    /// The list has changed since it was asked for.
    changed: bool,
}

/// Messages of the scheme, and hellos.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MessageCounts {
    /// Packets sent, hellos included.
    pub sent: u64,
    /// Packets that the kernel did not send.
    pub unsent: u64,
    /// Messages of the scheme received.
    pub received: u64,
}

impl AtRadio {
    /// Takes the hardware address that a neighbour has stated, unless it is none of a station, this radio's own, or that of another
    /// neighbour, which had it first.
    fn take_address(&mut self, id: NodeId, address: MacAddress) {
        let is_station = address[0] & 1 == 0 && address != [0; 6];
        let is_free = self.neighbours.values().all(|other| other.id == id || other.radio != Some(address));
        if !is_station || address == self.messenger.hardware_address() || !is_free {
            return;
        }
        if let Some(neighbour) = self.neighbours.get_mut(&id) {
            neighbour.radio = Some(address);
        }
    }
}

impl Neighbours {
    /// A neighbour is there for this many intervals of hellos after its last packet. Many: where flows starve, hellos are lost for long,
    /// and a node that has lost sight of its neighbours would no longer notify them.
    pub const PRESENT: u64 = 15;

    /// A node with these radios. `hello`: interval of its hellos.
    #[must_use]
    pub fn new(
        session: Session,
        name: &str,
        messengers: Vec<Box<dyn Messenger>>,
        hello: Span,
        (random, now): (Stream, Time),
    ) -> Self {
        let at = |messenger| AtRadio { messenger, neighbours: BTreeMap::new(), changed: false };
        let end = (0..=name.len().min(LONGEST_NAME)).rev().find(|&end| name.is_char_boundary(end));
        let name = name[..end.unwrap_or(0)].to_string();
        let radios = messengers.into_iter().map(at).collect();
        Self { session, name, radios, hello, random, next_hello: now, counts: MessageCounts::default() }
    }

    /// Descriptors that are readable when a packet has come, radio by radio.
    pub fn watched(&self) -> impl Iterator<Item = std::os::fd::BorrowedFd<'_>> {
        self.radios.iter().map(|radio| radio.messenger.watched())
    }

    /// Time of the next hello.
    #[must_use]
    pub const fn next_hello(&self) -> Time {
        self.next_hello
    }

    /// Sends a hello if it is due, and forgets neighbours that have gone.
    pub fn step(&mut self, now: Time) {
        let present = Span(Self::PRESENT * self.hello.0);
        for radio in &mut self.radios {
            let before = radio.neighbours.len();
            radio.neighbours.retain(|_, neighbour| now.since(neighbour.heard) <= present);
            radio.changed |= radio.neighbours.len() != before;
        }
        if now < self.next_hello {
            return;
        }
        // A node without neighbours hurries: soon its flows may leave no air for the exchange by which it is heard.
        let lonely = self.radios.iter().any(|radio| radio.neighbours.is_empty());
        let interval = if lonely { self.hello.min(HURRY) } else { self.hello };
        // No two nodes in step: three quarters to five quarters of the interval.
        let part = 0.75 + 0.5 * self.random.uniform();
        self.next_hello = now.saturating_add(Span((interval.0 as f64 * part) as u64));
        for radio in 0..self.radios.len() {
            let messenger = &mut self.radios[radio].messenger;
            messenger.refresh();
            let own = messenger.hardware_address();
            let hello = [&[HELLO][..], &own, self.name.as_bytes()].concat();
            self.send_payload(radio, None, &hello);
        }
    }

    /// Sends a message of the scheme. False if its receiver is no neighbour: a message over several hops is not carried.
    pub fn send(&mut self, radio: usize, to: Destination, number: u64, bytes: &[u8]) -> bool {
        let payload = [&[OF_SCHEME][..], &number.to_be_bytes(), bytes].concat();
        match to {
            Destination::Broadcast => self.send_payload(radio, None, &payload),
            Destination::Neighbour(id) if self.radios[radio].neighbours.contains_key(&id) => {
                self.send_payload(radio, Some(id), &payload);
            }
            Destination::Neighbour(_) | Destination::Node(_) => return false,
        }
        true
    }

    fn send_payload(&mut self, radio: usize, to: Option<NodeId>, payload: &[u8]) {
        let Ok(packet) = self.session.seal(to, payload) else { return };
        let radio = &mut self.radios[radio];
        let address = to.and_then(|to| radio.neighbours.get(&to)).map(|neighbour| neighbour.address);
        let counted = if radio.messenger.send(address.as_ref(), &packet) {
            &mut self.counts.sent
        } else {
            &mut self.counts.unsent
        };
        *counted += 1;
    }

    /// Receives what has come, up to a number of packets at a radio. Returns the messages of the scheme.
    pub fn receive(&mut self, me: NodeId, now: Time) -> Vec<SchemeMessage> {
        let mut found = Vec::new();
        let mut buffer = [0; LARGEST_PACKET + 1];
        for number in 0..self.radios.len() {
            for _ in 0..AT_ONCE {
                let Some((length, from)) = self.radios[number].messenger.receive(&mut buffer) else { break };
                match self.session.open(&buffer[..length], now) {
                    Opened::Message { from: id, to, payload, .. } => {
                        let neighbours = &mut self.radios[number];
                        let new =
                            Neighbour { id, name: String::new(), heard: now, radio: None, address: from };
                        let known = neighbours.neighbours.entry(id).or_insert_with(|| {
                            neighbours.changed = true;
                            new
                        });
                        (known.heard, known.address) = (now, from);
                        match payload.split_first() {
                            Some((&HELLO, rest)) => {
                                let Some((&address, name)) = rest.split_first_chunk() else { continue };
                                known.name = printable(name);
                                neighbours.take_address(id, address);
                            }
                            Some((&OF_SCHEME, rest)) => {
                                let Some((of, bytes)) = rest.split_first_chunk() else { continue };
                                let to = match to {
                                    None => Addressee::Everyone,
                                    Some(to) if to == me => Addressee::Me,
                                    Some(_) => Addressee::Other,
                                };
                                let id = MessageId { origin: id, number: u64::from_be_bytes(*of) };
                                self.counts.received += 1;
                                found.push(SchemeMessage { radio: number, id, to, bytes: bytes.to_vec() });
                            }
                            _ => {}
                        }
                    }
                    Opened::Reply(packet) => _ = self.radios[number].messenger.send(Some(&from), &packet),
                    Opened::Nothing(_) => {}
                }
            }
        }
        found
    }

    /// The neighbours of a radio by number, if they have changed since the last call.
    pub fn changed(&mut self, radio: usize) -> Option<Vec<NodeId>> {
        let of = &mut self.radios[radio];
        std::mem::take(&mut of.changed).then(|| of.neighbours.keys().copied().collect())
    }

    /// Another socket for a radio, whose device is a new one.
    pub fn replace(&mut self, radio: usize, messenger: Box<dyn Messenger>) {
        self.radios[radio].messenger = messenger;
    }

    /// Packets of other nodes that have this one's name.
    #[must_use]
    pub fn own_names(&self) -> u64 {
        self.session.counts().of(Reason::OwnName)
    }

    /// Lets the next calls of [`Neighbours::changed`] list all: for new agents.
    pub fn present_again(&mut self) {
        self.radios.iter_mut().for_each(|radio| radio.changed = true);
    }

    /// The neighbours of a radio.
    pub fn at(&self, radio: usize) -> impl Iterator<Item = &Neighbour> {
        self.radios[radio].neighbours.values()
    }

    /// Numbers of messages.
    #[must_use]
    pub const fn counts(&self) -> MessageCounts {
        self.counts
    }

    /// Authentication: its counts by name, and new keys.
    pub const fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    /// Counts of the authentication, by name.
    pub fn authentication(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = self.session.counts();
        counts.all().collect::<Vec<_>>().into_iter()
    }
}

/// A name as others may show it.
fn printable(name: &[u8]) -> String {
    let name = &name[..name.len().min(LONGEST_NAME)];
    String::from_utf8_lossy(name).chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::VecDeque;
    use std::fs::File;
    use std::net::Ipv6Addr;
    use std::os::fd::{AsFd, BorrowedFd};
    use std::rc::Rc;

    use airfair_units::random::Purpose;

    use super::*;
    use crate::messages::{Keys, Limits};

    const KEY: &str = "00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f";

    /// The packets on their way to a node, each with the number of its sender.
    type Inbox = Rc<RefCell<VecDeque<(u16, Vec<u8>)>>>;

    /// A radio by which all of the others hear a node.
    #[derive(Debug)]
    struct Radio {
        number: u16,
        address: MacAddress,
        inbox: Inbox,
        others: Vec<Inbox>,
        null: File,
    }

    impl Messenger for Radio {
        fn send(&mut self, _: Option<&Address>, bytes: &[u8]) -> bool {
            self.others.iter().for_each(|inbox| inbox.borrow_mut().push_back((self.number, bytes.to_vec())));
            true
        }

        fn receive(&mut self, buffer: &mut [u8]) -> Option<(usize, Address)> {
            let (from, bytes) = self.inbox.borrow_mut().pop_front()?;
            buffer[..bytes.len()].copy_from_slice(&bytes);
            Some((bytes.len(), Address::new(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, from), 1, 0, 0)))
        }

        fn hardware_address(&self) -> MacAddress {
            self.address
        }

        fn watched(&self) -> BorrowedFd<'_> {
            self.null.as_fd()
        }
    }

    /// Nodes with these hardware addresses that all hear one another.
    fn nodes(addresses: &[MacAddress]) -> Vec<(NodeId, Neighbours)> {
        let inboxes: Vec<Inbox> = addresses.iter().map(|_| Inbox::default()).collect();
        let node = |(number, &address): (usize, &MacAddress)| {
            let others = (0..inboxes.len()).filter(|&other| other != number);
            let others = others.map(|other| Rc::clone(&inboxes[other])).collect();
            let (inbox, null) = (Rc::clone(&inboxes[number]), File::open("/dev/null").unwrap());
            let radio = Radio { number: number as u16, address, inbox, others, null };
            let id = NodeId(number as u32);
            let mut drawn = number as u8;
            let random = move |bytes: &mut [u8]| {
                drawn = drawn.wrapping_add(37);
                bytes.fill(drawn);
            };
            let keys = Keys::parse(&format!("one {KEY}\n"), "test").unwrap();
            let session = Session::new(id, b"", keys, Limits::default(), random);
            let stream = (Stream::new(number as u64, "hellos", Purpose::Agent), Time::ZERO);
            let name = format!("node-{number}");
            (id, Neighbours::new(session, &name, vec![Box::new(radio)], Span::from_secs(1), stream))
        };
        addresses.iter().enumerate().map(node).collect()
    }

    fn let_speak(nodes: &mut [(NodeId, Neighbours)]) {
        for ms in (0..10_000).step_by(50) {
            for (id, node) in nodes.iter_mut() {
                let now = Time::ZERO.saturating_add(Span::from_millis(ms));
                node.step(now);
                node.receive(*id, now);
            }
        }
    }

    #[test]
    fn hellos_carry_names_and_hardware_addresses() {
        let mut all = nodes(&[[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]]);
        let_speak(&mut all);
        let heard: Vec<_> = all[0].1.at(0).map(|of| (of.name.as_str(), of.radio)).collect();
        assert_eq!(heard, [("node-1", Some([2, 0, 0, 0, 0, 2]))]);
    }

    /// A node that has heard of as many links as an announcement can have.
    #[test]
    fn the_largest_announcement_of_the_allocator_is_sent() {
        use airfair_wire::airtime::{Announcement, Link};
        let link = |number| Link { from: number, to: 1, ..Link::default() };
        let own = (0..100).map(|to| Link { from: 7, to, ..Link::default() });
        let said = Announcement::new(7, own, (0..100).map(link), (0..100).map(link));
        let mut bytes = vec![0; said.wire_len()];
        said.encode(&mut bytes).unwrap();
        assert_eq!(bytes.len(), 8 + 32 * 8 + 96 * 12);
        let mut all = nodes(&[[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]]);
        let_speak(&mut all);
        assert!(all[0].1.send(0, Destination::Broadcast, 1, &bytes));
        let now = Time::ZERO.saturating_add(Span::from_secs(10));
        let received = all[1].1.receive(NodeId(1), now);
        assert_eq!(received.iter().map(|message| message.bytes.as_slice()).collect::<Vec<_>>(), [bytes]);
    }

    /// The first node hears of its own address, of a group's and of none; of one address twice the first to state it has it.
    #[test]
    fn an_address_that_is_no_neighbours_own_is_not_taken() {
        let own = [2, 0, 0, 0, 0, 1];
        let (group, other) = ([3, 0, 0, 0, 0, 9], [2, 0, 0, 0, 0, 7]);
        let mut all = nodes(&[own, own, group, [0; 6], other, other]);
        let_speak(&mut all);
        let heard: Vec<_> = all[0].1.at(0).map(|of| of.radio).collect();
        assert_eq!(heard.len(), 5);
        assert_eq!(heard[..3], [None; 3]);
        assert_eq!(heard[3..].iter().flatten().count(), 1, "{heard:?}");
    }
}
