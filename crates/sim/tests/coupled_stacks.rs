//! A driver that carries bytes between three stacks through a world: each node of a chain has a toy stack of its own, which makes, reads
//! and passes on IP packets. The world has no bytes: it says where a packet arrives, and whether it was marked.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::support::datagrams::{address, datagram, number_of, one_hop_less};
use crate::support::wires::built;
use crate::support::{chain, dot11b, saturating};
use airfair_schemes::ParamValue;
use airfair_schemes::places::{Ecn, FlowId};
use airfair_sim::engine::drive::{Clock, Coupling, Wake, coupled};
use airfair_sim::ids::{NodeIx, PortIx};
use airfair_sim::{Egress, Fate, Injection, World};
use airfair_units::Time;
use airfair_wire::five_tuple::Class;
use airfair_wire::{EtherType, FiveTuple, Ip, Ipv4, ip};

/// Packets that stacks have sent and no world has taken yet, by time and number, with the node that sends them.
type Sent = Rc<RefCell<BTreeMap<(Time, u64), (u32, Vec<u8>)>>>;

/// The stacks, and the packets that are in the world, whose bytes are here.
struct Stacks {
    radios: Vec<PortIx>,
    sent: Sent,
    inside: BTreeMap<u64, Vec<u8>>,
    tags: u64,
    delivered: Vec<Vec<u8>>,
    lost: Vec<(&'static str, u32)>,
    marked: BTreeSet<u32>,
    arrivals: u64,
}

impl Coupling<World> for Stacks {
    fn enter(&mut self, world: &mut World) -> bool {
        while let Some(first) = self.sent.borrow_mut().first_entry().filter(|e| e.key().0 <= world.now()) {
            let (node, bytes) = first.remove();
            let ip = Ip::decode(EtherType::IPV4, &bytes).unwrap().unwrap();
            let ends = Ipv4::decode(&bytes).unwrap().0;
            let [from, to] = [ends.source, ends.destination].map(|address| u32::from(address.octets()[3]));
            let next = if to > node { node + 1 } else { node - 1 };
            let packet = Injection {
                flow: FlowId(FiveTuple::new(&ip).flow(1)),
                class: Class::new(&ip).into(),
                ecn: ip.ecn.into(),
                dscp: ip.dscp.get(),
                ..Injection::new(NodeIx(from), NodeIx(to), bytes.len() as u32, self.tags)
            };
            let packet = packet.at_port(self.radios[node as usize], Some(NodeIx(next)));
            world.inject(packet, world.now()).unwrap();
            self.inside.insert(self.tags, bytes);
            self.tags += 1;
        }
        true
    }

    fn leave(&mut self, world: &mut World, arrived: &mut dyn FnMut(Time)) {
        for Egress { at, tag, node, port, ecn, fate, last, .. } in world.drain_outputs() {
            let mut bytes = self.inside.remove(&tag).expect("a packet that is in the world");
            assert!(last, "none is a broadcast");
            if ecn == Ecn::Ce {
                self.marked.insert(number_of(&bytes));
                assert_eq!(ip::set_ce(EtherType::IPV4, &mut bytes), Ok(true));
            }
            match fate {
                Fate::Arrived => {
                    assert_eq!(port, Some(self.radios[node.ix()]));
                    arrived(at);
                    self.arrivals += 1;
                    self.receive(node.0, bytes, world.now());
                }
                Fate::Dropped(reason) => self.lost.push((reason, number_of(&bytes))),
                Fate::Ended => unreachable!("none is a broadcast"),
            }
        }
    }
}

impl Stacks {
    /// A packet reaches a stack, which keeps it or passes it on with one hop less to live.
    fn receive(&mut self, node: u32, mut bytes: Vec<u8>, now: Time) {
        let (header, _) = Ipv4::decode(&bytes).expect("a right checksum");
        if header.destination == address(node) {
            return self.delivered.push(bytes);
        }
        one_hop_less(&mut bytes);
        self.sent.borrow_mut().insert((now, 550 + self.arrivals), (node, bytes));
    }
}

/// A clock that no computer is too slow for; what stacks have sent wakes it.
struct Virtual(Time, Sent);

impl Clock for Virtual {
    fn now(&mut self) -> Time {
        self.0
    }

    fn wait(&mut self, until: Time) -> Wake {
        let first = self.1.borrow().first_key_value().map(|(&(at, _), _)| at);
        let input = first.filter(|&at| at <= until);
        self.0 = self.0.max(input.unwrap_or(until));
        if input.is_some() { Wake::Input } else { Wake::Due }
    }
}

/// 500 packets a second, more than two hops carry, and 50 back. RED marks packets that have ECN and drops others, up to a mean of 40.
#[test]
fn bytes_travel_between_three_stacks() {
    let mut spec = chain(dot11b(250.0, 550.0), 2, 200.0, saturating(500), 4);
    spec.flows.clear();
    let number = |name, value| (name, ParamValue::Number(value));
    let red = [("ecn", ParamValue::Flag(true)), number("weight", 0.05), number("max_th", 40.0)];
    let mut world = World::new(&spec, "red", built("red", &red), 1).unwrap();
    let sent = Sent::default();
    for number in 0..550 {
        let at = if number < 500 { 2 * number } else { 20 * (number - 500) };
        let packet = datagram(number, false, 64);
        sent.borrow_mut().insert((Time(u64::from(at) * 1_000_000), number.into()), packet);
    }
    let radios = (0..3).map(|node| world.ports_of(NodeIx(node))[0].0).collect();
    let (inside, marked, delivered, lost) = (BTreeMap::new(), BTreeSet::new(), vec![], vec![]);
    let mut stacks =
        Stacks { radios, sent: sent.clone(), inside, tags: 0, delivered, lost, marked, arrivals: 0 };
    let lateness = coupled(&mut world, &mut Virtual(Time::ZERO, sent), &mut stacks);
    // Nothing is left; every packet is in one place; each hop was a way of its own through the world.
    assert!(stacks.inside.is_empty() && stacks.sent.borrow().is_empty());
    let numbers = stacks.delivered.iter().map(|bytes| number_of(bytes));
    let mut numbers: Vec<_> = numbers.chain(stacks.lost.iter().map(|lost| lost.1)).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..550).collect::<Vec<_>>());
    let result = world.result();
    assert_eq!((result.ends.made, result.ends.delivered), (stacks.tags, stacks.arrivals));
    assert_eq!((lateness.steps(), lateness.worst().0), (stacks.arrivals, 0));
    // The bytes are those that were sent, after one stack; a header of a marked packet is as if it had been made so.
    for bytes in &stacks.delivered {
        let number = number_of(bytes);
        assert_eq!(*bytes, datagram(number, stacks.marked.contains(&number), 63).1, "packet {number}");
    }
    let (kept, dropped) = (stacks.delivered.len(), stacks.lost.len());
    let marked = stacks.delivered.iter().filter(|bytes| stacks.marked.contains(&number_of(bytes))).count();
    assert!(kept > 300 && dropped > 20 && marked > 20, "{kept}, {dropped}, {marked}");
    assert!(result.marks["red-early"] >= stacks.marked.len() as u64);
    assert!(stacks.marked.iter().all(|number| number % 3 > 0), "packets without ECN are not marked");
    let early = stacks.lost.iter().filter(|lost| lost.0 == "red-early");
    assert!(early.clone().count() > 10 && early.clone().all(|lost| lost.1 % 3 == 0), "others are");
}
