//! The contract of `places::Queue` with labelled packets: random operations and news, against a model that knows each packet.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use airfair_schemes::ParamValue::{Choice, Integer, Span as Length};
use airfair_schemes::places::{
    DropReason, Enqueued, Head, Header, Heard, NodeId, Packet, PacketClass, PacketId,
};
use airfair_units::{Span, Time};
use proptest::prelude::*;

use super::{Node, labelled, plain};

const DEPTH: u32 = 6;
const LIMIT: u32 = 4;
/// Room for what all neighbours say of all destinations.
const SIZES: usize = 24;
const EXPIRY: Span = Span::from_millis(50);

#[derive(Debug, Clone)]
enum Operation {
    Enqueue {
        destination: u32,
        next_hop: u32,
        bytes: u32,
        ack: bool,
    },
    Plain {
        bytes: u32,
    },
    Peek,
    /// There is no room for what is named, once or several times.
    PassOver(usize),
    Commit,
    /// The radio finishes one of the packets that it holds.
    Finish(prop::sample::Index),
    /// It finishes a packet that is not there.
    FinishOther(u32),
    /// A frame with any trailer.
    Hear {
        from: u32,
        destination: u32,
        header: [u32; 4],
    },
    /// New routes: the next hops to destinations 0..4, 0 for none.
    Routes([u32; 4]),
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        8 => (0u32..4, 10u32..13, 1u32..2000, any::<bool>()).prop_map(|(destination, next_hop, bytes, ack)| {
            Operation::Enqueue { destination, next_hop, bytes, ack }
        }),
        2 => (1u32..2000).prop_map(|bytes| Operation::Plain { bytes }),
        2 => Just(Operation::Peek),
        2 => (1usize..12).prop_map(Operation::PassOver),
        6 => Just(Operation::Commit),
        5 => any::<prop::sample::Index>().prop_map(Operation::Finish),
        1 => any::<u32>().prop_map(Operation::FinishOther),
        // Half of the sizes are within the limit of a queue, or nearly.
        4 => (10u32..16, 0u32..4, any::<[u32; 4]>(), prop_oneof![Just(u32::MAX), Just(7)]).prop_map(
            |(from, destination, [first, second, third, fourth], mask)| {
                Operation::Hear { from, destination, header: [first & mask, second, third, fourth] }
            }
        ),
        1 => proptest::array::uniform4(prop_oneof![Just(0u32), 10u32..13]).prop_map(Operation::Routes),
    ]
}

/// A scheme and its parameters that decide what leaves.
#[derive(Debug, Clone, Copy)]
struct Variant {
    scheme: &'static str,
    serve: &'static str,
    acks: &'static str,
    order: &'static str,
    announced: &'static str,
    levels: u8,
    in_radio: usize,
}

impl Variant {
    /// Queues wait where their differential is not above 0.
    fn holds(&self) -> bool {
        self.serve == "positive" && self.scheme != "diffq-rc"
    }

    fn has_levels(&self) -> bool {
        !self.scheme.starts_with("diffq-rc")
    }

    /// A level of acknowledgements of its own.
    fn acks_are(&self, level: &str) -> bool {
        self.has_levels() && self.acks == level
    }
}

fn variant() -> impl Strategy<Value = Variant> {
    let which = prop::sample::select(vec!["diffq", "diffq-rc-sched", "diffq-rc", "diffq-occupancy"]);
    let serve = prop::sample::select(vec!["always", "positive"]);
    let acks = prop::sample::select(vec!["differential", "lowest", "highest"]);
    let order = prop::sample::select(vec!["differential", "priority"]);
    let announced = prop::sample::select(vec!["after", "before"]);
    (which, serve, acks, order, announced, 1u8..=8, 1usize..=4).prop_map(
        |(scheme, serve, acks, order, announced, levels, in_radio)| Variant {
            scheme,
            serve,
            acks,
            order,
            announced,
            levels,
            in_radio,
        },
    )
}

/// The content of a queue by its definition.
#[derive(Default)]
struct Model {
    queues: BTreeMap<u32, VecDeque<Packet>>,
    /// Next hop by destination, of the newest packet or of the routes that have changed since; only of queues with packets.
    routes: BTreeMap<u32, Option<NodeId>>,
    plain: VecDeque<Packet>,
    in_radio: Vec<PacketId>,
    /// Size and time by neighbour and destination.
    heard: BTreeMap<(u32, u32), (u32, u64)>,
}

impl Model {
    fn stored(&self) -> impl Iterator<Item = &Packet> {
        self.queues.values().flatten().chain(&self.plain)
    }

    /// The first packet of each destination with a route, if the radio has room.
    fn first(&self, of: &Variant) -> Vec<Packet> {
        if self.in_radio.len() >= of.in_radio {
            return vec![];
        }
        let routed = |(destination, queue): (&u32, &VecDeque<Packet>)| {
            Some(Packet { next_hop: self.routes[destination]?, ..*queue.front()? })
        };
        self.queues.iter().filter_map(routed).collect()
    }

    /// True if a packet waits until the next hop's queue is shorter.
    fn is_held(&self, packet: &Packet, of: &Variant, now: u64) -> bool {
        let exempt = packet.class == PacketClass::Ack && of.acks_are("highest");
        of.holds() && self.differential(packet, now) <= 0 && !exempt
    }

    /// The packets that may leave now, and the first plain one.
    fn heads(&self, of: &Variant, now: u64) -> Vec<Packet> {
        let first = self.first(of).into_iter().filter(|packet| !self.is_held(packet, of, now));
        first.chain(self.plain.front().copied()).collect()
    }

    /// The time at which what is known of the next hop of a packet that is held is out of date.
    fn wakes_at(&self, of: &Variant, now: u64) -> Option<Time> {
        let held = self.first(of).into_iter().filter(|packet| self.is_held(packet, of, now));
        let heard = |packet: Packet| self.heard[&(packet.next_hop.0, packet.destination.0)].1;
        held.map(heard).min().map(|heard| Time(heard) + EXPIRY)
    }

    /// |Q_i(d)| - |Q_j(d)| for a packet's destination and its next hop.
    fn differential(&self, packet: &Packet, now: u64) -> i64 {
        let (destination, next_hop) = (packet.destination.0, packet.next_hop.0);
        let known =
            self.heard.get(&(next_hop, destination)).filter(|heard| now - heard.1 < EXPIRY.as_nanos());
        self.queues[&destination].len() as i64 - known.map_or(0, |heard| i64::from(heard.0))
    }

    fn remove(&mut self, packet: &Packet) -> Option<Packet> {
        if !packet.labelled {
            return self.plain.pop_front();
        }
        let destination = packet.destination.0;
        let queue = self.queues.get_mut(&destination)?;
        let gone = queue.pop_front();
        if queue.is_empty() {
            self.queues.remove(&destination);
            self.routes.remove(&destination);
        }
        self.in_radio.extend(gone.map(|packet| packet.id));
        gone
    }
}

/// The mark that distinguishes heads which share a place in the radio: the level of labelled packets.
fn kind(head: &Head) -> Option<u8> {
    head.packet.labelled.then_some(head.priority.0)
}

fn check(of: &Variant, steps: &[(u64, Operation)]) -> Result<(), TestCaseError> {
    let name = of.scheme;
    let set = [
        ("serve", Choice(of.serve)),
        ("acks", Choice(of.acks)),
        ("order", Choice(of.order)),
        ("announced", Choice(of.announced)),
        ("levels", Integer(of.levels.into())),
        ("depth", Integer(u64::from(DEPTH))),
        ("in_radio", Integer(of.in_radio as u64)),
        ("sizes", Integer(SIZES as u64)),
        ("expiry", Length(EXPIRY)),
    ];
    let mut node = Node::with_limit(name, &set, LIMIT);
    let mut model = Model::default();
    for (i, (later, operation)) in steps.iter().enumerate() {
        node.now.0 += later;
        let id = i as u32;
        match *operation {
            Operation::Enqueue { destination, next_hop, bytes, ack } => {
                let class = if ack { PacketClass::Ack } else { PacketClass::Data };
                let packet = Packet { bytes, class, ..labelled(id, destination, next_hop) };
                let queue = model.queues.entry(destination).or_default();
                if queue.len() as u32 == DEPTH {
                    prop_assert_eq!(node.enqueue(packet), Enqueued::Refused(DropReason::QUEUE_FULL));
                } else {
                    prop_assert_eq!(node.enqueue(packet), Enqueued::Stored);
                    queue.push_back(packet);
                    model.routes.insert(destination, Some(packet.next_hop));
                }
            }
            Operation::Plain { bytes } => {
                let packet = Packet { bytes, ..plain(id) };
                if model.plain.len() as u32 == LIMIT {
                    prop_assert_eq!(node.enqueue(packet), Enqueued::Refused(DropReason::QUEUE_FULL));
                } else {
                    prop_assert_eq!(node.enqueue(packet), Enqueued::Stored);
                    model.plain.push_back(packet);
                }
            }
            Operation::Peek => {
                let head = node.peek();
                prop_assert_eq!(head, node.peek());
            }
            Operation::PassOver(times) => {
                // Each kind of head is named once, then none; `peek` repeats the last one, and begins anew after none.
                let first = node.peek();
                let mut passed: Vec<Head> = first.into_iter().collect();
                for _ in 0..times {
                    let Some(other) = node.pass_over() else {
                        let kinds: BTreeSet<_> = passed.iter().map(kind).collect();
                        let plain = model.plain.front().is_some();
                        let labelled = model.heads(of, node.now.0).iter().any(|packet| packet.labelled);
                        prop_assert_eq!(kinds.contains(&None), plain);
                        prop_assert_eq!(kinds.iter().any(Option::is_some), labelled);
                        prop_assert_eq!(node.queue.commit(), None);
                        passed = node.peek().into_iter().collect();
                        prop_assert_eq!(passed.first(), first.as_ref());
                        break;
                    };
                    prop_assert!(
                        passed.iter().all(|head| kind(head) != kind(&other)),
                        "{passed:?} {other:?}"
                    );
                    prop_assert!(model.heads(of, node.now.0).contains(&other.packet));
                    prop_assert_eq!(node.peek(), Some(other));
                    passed.push(other);
                }
                let taken = node.queue.commit();
                prop_assert_eq!(passed.last().map(|head| head.packet), taken);
                if let Some(packet) = taken {
                    let next_hop = packet.next_hop;
                    prop_assert_eq!(model.remove(&packet).map(|gone| Packet { next_hop, ..gone }), taken);
                }
            }
            Operation::Commit => {
                let head = node.peek();
                let taken = node.queue.commit();
                prop_assert_eq!(head.map(|head| head.packet), taken);
                if let Some(packet) = taken {
                    let next_hop = packet.next_hop;
                    prop_assert_eq!(model.remove(&packet).map(|gone| Packet { next_hop, ..gone }), taken);
                    if packet.labelled {
                        let mut header = Header::default();
                        node.queue.stamp(&packet, &mut header, node.now);
                        let left = model.queues.get(&packet.destination.0).map_or(0, VecDeque::len) as u32;
                        let said = left + u32::from(of.announced == "before");
                        prop_assert_eq!(header.fields[0] & 0xffff, said);
                    }
                }
            }
            Operation::Finish(which) => {
                if !model.in_radio.is_empty() {
                    node.queue.on_finished(model.in_radio.remove(which.index(model.in_radio.len())));
                }
            }
            Operation::FinishOther(other) => node.queue.on_finished(PacketId(other | 1 << 31)),
            Operation::Hear { from, destination, header } => {
                let header = Header { supported: header[3] as u8, unsupported: 0, fields: header };
                let heard = Heard { from: NodeId(from), destination: NodeId(destination), header: &header };
                node.queue.on_heard(&heard, node.now);
                let size = (header.fields[0] & 0xffff).min(DEPTH);
                model.heard.insert((from, destination), (size, node.now.0));
                prop_assert!(node.gauge("known_sizes") <= SIZES as f64);
            }
            Operation::Routes(hops) => {
                let next =
                    |destination: u32| Some(hops[destination as usize]).filter(|&hop| hop > 0).map(NodeId);
                node.queue.on_routes(&mut |destination| next(destination.0));
                model.routes.iter_mut().for_each(|(&destination, hop)| *hop = next(destination));
            }
        }
        // What peek names is one of the packets that may leave; it names none only if there is none.
        let (heads, now) = (model.heads(of, node.now.0), node.now);
        let head = node.peek();
        prop_assert_eq!(head.is_none(), heads.is_empty());
        // What is held may leave when the word that holds it expires, at the latest.
        let wakes = model.wakes_at(of, now.0);
        prop_assert_eq!(node.queue.wakes_at(now), wakes);
        if let Some(wakes) = wakes.filter(|_| head.is_none()) {
            prop_assert!(wakes > now);
            node.now = Time(wakes.0 - 1);
            prop_assert_eq!(node.peek(), None);
            node.now = wakes;
            prop_assert!(node.peek().is_some_and(|head| head.packet.labelled));
            node.now = now;
        }
        if let Some(head) = head {
            prop_assert!(heads.contains(&head.packet), "{head:?} is none of {heads:?}");
            let levels = if of.has_levels() { of.levels } else { 1 };
            prop_assert!(head.priority.0 < levels && (head.packet.labelled || head.priority.0 == 0));
            let is_ack = head.packet.class == PacketClass::Ack;
            if head.packet.labelled && is_ack && of.acks_are("highest") {
                prop_assert_eq!(head.priority.0, levels - 1);
            } else if head.packet.labelled && is_ack && of.acks_are("lowest") {
                prop_assert_eq!(head.priority.0, 0);
            } else {
                let own = model.queues.get(&head.packet.destination.0).map_or(0, VecDeque::len);
                let most = (own as u32 * u32::from(levels)).div_ceil(DEPTH).min(u32::from(levels) - 1);
                prop_assert!(!head.packet.labelled || u32::from(head.priority.0) <= most);
            }
            if name == "diffq" && of.order == "differential" && of.acks == "differential" {
                // Eq. 1 for all that may leave: the largest differential goes first, and waits for others at level 0 only.
                let differential = |packet: &Packet| model.differential(packet, node.now.0);
                let largest = heads.iter().filter(|packet| packet.labelled).map(differential).max();
                let level = |largest: i64| {
                    let scaled = largest.max(0) * i64::from(of.levels);
                    ((scaled + i64::from(DEPTH) - 1) / i64::from(DEPTH)).min(i64::from(of.levels) - 1)
                };
                if head.packet.labelled {
                    prop_assert_eq!(Some(differential(&head.packet)), largest);
                    prop_assert_eq!(i64::from(head.priority.0), level(largest.unwrap()));
                } else {
                    prop_assert!(largest.is_none_or(|largest| level(largest) == 0));
                }
            }
        }
        // Fill levels count what is stored.
        let view = node.queue.view();
        prop_assert_eq!(view.packets as usize, model.stored().count());
        prop_assert_eq!(view.bytes, model.stored().map(|packet| u64::from(packet.bytes)).sum::<u64>());
        prop_assert!(view.packets <= view.limit_packets);
        let mut shown = vec![];
        node.queue.show(&mut |packet| shown.push(packet.id));
        let mut stored: Vec<_> = model.stored().map(|packet| packet.id).collect();
        shown.sort_unstable();
        stored.sort_unstable();
        prop_assert_eq!(shown, stored);
        for destination in 0..4 {
            let queue = model.queues.get(&destination);
            let bytes: u64 = queue.into_iter().flatten().map(|packet| u64::from(packet.bytes)).sum();
            let view = node.queue.backlog_to(NodeId(destination), true);
            prop_assert_eq!((view.packets as usize, view.bytes), (queue.map_or(0, VecDeque::len), bytes));
            prop_assert_eq!(view.limit_packets, DEPTH);
        }
        let view = node.queue.backlog_to(NodeId(0), false);
        prop_assert_eq!((view.packets as usize, view.limit_packets), (model.plain.len(), LIMIT));
    }
    // Routes return, the radio finishes all, and words expire: every packet leaves once.
    node.queue.on_routes(&mut |_| Some(NodeId(10)));
    model.routes.values_mut().for_each(|hop| *hop = Some(NodeId(10)));
    model.in_radio.drain(..).for_each(|packet| node.queue.on_finished(packet));
    loop {
        if let Some((packet, _)) = node.leaves() {
            prop_assert_eq!(model.remove(&packet).map(|gone| gone.id), Some(packet.id));
            model.in_radio.drain(..).for_each(|packet| node.queue.on_finished(packet));
        } else if let Some(wakes) = node.queue.wakes_at(node.now) {
            node.now = wakes;
        } else {
            break;
        }
    }
    prop_assert_eq!(model.stored().count(), 0, "lost");
    prop_assert!(node.out.is_empty(), "the discipline itself drops nothing");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, ..ProptestConfig::default() })]

    #[test]
    fn labelled_packets_keep_the_contract(
        of in variant(),
        // Times from nothing to 30 ms, so that sizes expire.
        steps in proptest::collection::vec((0u64..30_000_000, operation()), 0..200),
    ) {
        check(&of, &steps)?;
    }
}

proptest! {
    /// Two nodes to which the same happens, one of which also hears garbage of nodes that are no next hops: the same packets leave in the
    /// same order, at the same levels.
    #[test]
    fn what_does_not_concern_a_queue_changes_nothing(
        steps in proptest::collection::vec((0u64..30_000_000, operation()), 0..100),
        garbage in proptest::collection::vec((any::<u32>(), any::<u32>(), any::<[u32; 4]>()), 1..20),
    ) {
        // A table with room for everything.
        let set = [("depth", Integer(6)), ("sizes", Integer(4096))];
        let left = |garbage: &[(u32, u32, [u32; 4])]| {
            let (mut node, mut left) = (Node::with_limit("diffq", &set, LIMIT), vec![]);
            for (i, (later, operation)) in steps.iter().enumerate() {
                node.now.0 += later;
                for &(from, destination, fields) in garbage {
                    // No next hop of the operations.
                    let from = NodeId(from | 1 << 20);
                    let header = Header { fields, ..Header::default() };
                    let heard = Heard { from, destination: NodeId(destination), header: &header };
                    node.queue.on_heard(&heard, node.now);
                }
                match *operation {
                    Operation::Enqueue { destination, next_hop, bytes, .. } => {
                        let packet = Packet { bytes, ..labelled(i as u32, destination, next_hop) };
                        node.enqueue(packet);
                    }
                    Operation::Plain { .. } => {
                        node.enqueue(plain(i as u32));
                    }
                    Operation::Hear { from, destination, header } => {
                        node.hears(from, destination, header[0] as u16 % 8);
                    }
                    _ => {
                        let gone = node.leaves();
                        gone.iter().for_each(|(packet, _)| node.queue.on_finished(packet.id));
                        left.push(gone);
                    }
                }
            }
            left
        };
        prop_assert_eq!(left(&[]), left(&garbage));
    }
}
