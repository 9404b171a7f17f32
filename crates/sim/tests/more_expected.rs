//! MORE on a link, a line, a diamond and a mesh: broadcasts for each packet until the destination decodes, beside two expectations: the sum
//! of z, which is the law of large batches, and a play of the protocol without a MAC. Both need a world without collisions: all nodes sense
//! each other, one flow, and contention windows so large that two nodes hardly ever choose one slot.

use crate::support::{dot11b, flow, node, saturating, world};
use airfair_schemes::more::forwarders::{Forwarder, forwarders};
use airfair_schemes::opportunistic::expected::{Expected, Pruning};
use airfair_schemes::opportunistic::losses::Losses;
use airfair_schemes::places::NodeId;
use airfair_schemes::{ParamValue, Params, find};
use airfair_sim::World;
use airfair_sim::engine::drive;
use airfair_units::random::{Purpose, Stream};

/// A network: each node with its place and the part of all frames that it loses, source first, destination last. Nodes at most 250 m apart
/// hear each other.
struct Scene {
    name: &'static str,
    nodes: &'static [(f64, f64, f64)],
}

const SCENES: [Scene; 4] = [
    Scene { name: "link", nodes: &[(0.0, 0.0, 0.0), (200.0, 0.0, 0.4)] },
    Scene { name: "line of three", nodes: &[(0.0, 0.0, 0.3), (200.0, 0.0, 0.3), (400.0, 0.0, 0.3)] },
    // Two relays, which do not hear each other.
    Scene {
        name: "diamond",
        nodes: &[(0.0, 0.0, 0.3), (150.0, 130.0, 0.5), (150.0, -130.0, 0.4), (300.0, 0.0, 0.2)],
    },
    // Two rows of three; neighbours hear each other, and those by a diagonal.
    Scene {
        name: "mesh of 2 x 3",
        nodes: &[
            (0.0, 0.0, 0.3),
            (170.0, 0.0, 0.4),
            (0.0, 170.0, 0.5),
            (170.0, 170.0, 0.3),
            (340.0, 0.0, 0.5),
            (340.0, 170.0, 0.2),
        ],
    },
];

impl Scene {
    fn last(&self) -> usize {
        self.nodes.len() - 1
    }

    fn losses(&self) -> Losses {
        let mut losses = Losses::new((0..self.nodes.len() as u32).map(NodeId));
        for (a, from) in (0..).zip(self.nodes) {
            for (b, to) in (0..).zip(self.nodes) {
                let squared = (from.0 - to.0) * (from.0 - to.0) + (from.1 - to.1) * (from.1 - to.1);
                if a != b && squared < 250.0 * 250.0 {
                    losses.set_delivery(NodeId(a), NodeId(b), 1.0 - to.2);
                }
            }
        }
        losses
    }

    fn expected(&self) -> Expected {
        let ends = [0, self.last() as u32].map(NodeId);
        Expected::new(&self.losses(), ends[0], ends[1], &Pruning::default()).unwrap()
    }

    /// Broadcasts for each packet until its batch is decoded, in a world whose source sends for so long; of the last batch those for each
    /// packet that has come so far.
    fn measured(&self, natives: u64, seconds: u64) -> f64 {
        let mut spec = world(dot11b(250.0, 5000.0), seconds);
        spec.radios.clear();
        for (i, &(x, y, loss)) in self.nodes.iter().enumerate() {
            let mut radio = dot11b(250.0, 5000.0);
            radio.name = i.to_string();
            radio.phy.frame_loss = loss;
            (radio.mac.cw_min, radio.mac.cw_max) = (1023, 1023);
            radio.mac.local_limit = None;
            spec.radios.push(radio);
            let at = node(&mut spec, &i.to_string(), x, y);
            spec.nodes[at].radios = vec![i];
        }
        flow(&mut spec, "f", 0, self.last(), saturating(1000));
        let set = Params([("batch".to_string(), ParamValue::Integer(natives))].into());
        let scheme = (find("more").unwrap().build)(&set).unwrap();
        let mut world = World::new(&spec, "more", scheme, 1).unwrap();
        drive::to_end(&mut world);
        let made = world.result().flows[0].forwarding.unwrap();
        assert!(made.innovative >= made.batches * natives && made.batches > 10, "{made:?}");
        made.broadcasts as f64 / made.innovative as f64
    }
}

/// Numbers modulo a prime, in which the play codes: a packet is new as often as in GF(2^8), but for one in thousands.
const PRIME: u32 = 257;

/// The vectors that a node holds of a batch, by the place of their first number that is not 0, which is 1.
struct Held {
    rows: Vec<Option<Vec<u32>>>,
    rank: usize,
}

impl Held {
    fn nothing(natives: usize) -> Self {
        Self { rows: vec![None; natives], rank: 0 }
    }

    fn add(&mut self, mut vector: Vec<u32>) {
        for place in 0..vector.len() {
            let lead = vector[place];
            if lead == 0 {
                continue;
            }
            if let Some(row) = &self.rows[place] {
                let times = PRIME - lead;
                for (to, from) in vector[place..].iter_mut().zip(&row[place..]) {
                    *to = (*to + times * from) % PRIME;
                }
            } else {
                // By Fermat the power of p - 2 = 255 is the inverse.
                let inverse = (0..8)
                    .fold((1, lead), |(product, power), _| (product * power % PRIME, power * power % PRIME));
                vector.iter_mut().for_each(|number| *number = *number * inverse.0 % PRIME);
                self.rows[place] = Some(vector);
                self.rank += 1;
                return;
            }
        }
    }

    fn combination(&self, random: &mut Stream) -> Vec<u32> {
        // Terms are below 2^17, and there are 255 at most.
        let mut sum = vec![0; self.rows.len()];
        for row in self.rows.iter().flatten() {
            let times = random.below(PRIME);
            for (to, from) in sum.iter_mut().zip(row) {
                *to += times * from;
            }
        }
        sum.iter_mut().for_each(|number| *number %= PRIME);
        sum
    }
}

/// Broadcasts of one batch until the destination has it. Those that may send, the source always and a forwarder with credit, take turns by
/// back-offs, as at a MAC that is fair and never has two that choose one slot.
fn play(scene: &Scene, natives: usize, list: &[Forwarder], random: &mut Stream) -> u32 {
    let losses = scene.losses();
    // From the destination to the source.
    let ends = [0, scene.last() as u32].map(NodeId);
    let order: Vec<NodeId> =
        [ends[1]].into_iter().chain(list.iter().map(|forwarder| forwarder.node)).chain([ends[0]]).collect();
    let source = order.len() - 1;
    let mut held: Vec<Held> = order.iter().map(|_| Held::nothing(natives)).collect();
    let mut credit = vec![0.0; order.len()];
    let mut slots: Vec<u32> = order.iter().map(|_| random.below(1024)).collect();
    let mut sent = 0;
    while held[0].rank < natives {
        let may = |place: usize| place == source || credit[place] > 0.0 && held[place].rank > 0;
        let next = (1..=source).filter(|&place| may(place)).min_by_key(|&place| slots[place]).unwrap();
        let passed = slots[next];
        for place in (1..=source).filter(|&place| may(place)) {
            slots[place] -= passed;
        }
        slots[next] = random.below(1024);
        sent += 1;
        let packet = if next == source {
            (0..natives).map(|_| random.below(PRIME)).collect()
        } else {
            credit[next] -= 1.0;
            held[next].combination(random)
        };
        for to in (0..source).filter(|&to| to != next) {
            if random.uniform() >= losses.loss(order[next], order[to]) {
                held[to].add(packet.clone());
                if to > 0 && next > to {
                    credit[to] += list[to - 1].credit;
                }
            }
        }
    }
    sent
}

/// Transmissions of a world and of a play, as parts of the sum of z.
fn compare(scene: &Scene, natives: u64, seconds: u64, plays: u32) -> [f64; 2] {
    let expected = scene.expected();
    let list = forwarders(&scene.losses(), &expected);
    let measured = scene.measured(natives, seconds);
    let mut random = Stream::new(natives, scene.name, Purpose::Reception);
    let sent: u32 = (0..plays).map(|_| play(scene, natives as usize, &list, &mut random)).sum();
    let played = f64::from(sent) / (u64::from(plays) * natives) as f64;
    let parts = [measured, played].map(|value| value / expected.cost());
    let gap = measured / played - 1.0;
    println!(
        "{}, K = {natives}: z {:.3}, world {measured:.3}, play {played:.3}",
        scene.name,
        expected.cost()
    );
    assert!(gap.abs() < 0.03, "{}, K = {natives}: {measured:.3} {played:.3}", scene.name);
    parts
}

/// Both agree within 3 %; with batches of 32 they are up to 13 % above z, and the nearer the larger the batches.
#[test]
fn broadcasts_are_those_of_two_expectations() {
    for scene in &SCENES {
        let [world, play] = compare(scene, 32, 60, 300);
        let most = if scene.nodes.len() == 2 { 1.03 } else { 1.14 };
        assert!(
            (0.97..most).contains(&world) && (0.97..most).contains(&play),
            "{} {world} {play}",
            scene.name
        );
    }
    let [small, medium, large] = [(32, 60, 300), (128, 60, 30), (255, 60, 10)]
        .map(|(k, s, plays)| compare(&SCENES[2], k, s, plays)[0]);
    assert!(1.0 < large && large < medium && medium < small, "{small} {medium} {large}");
}

/// The table of `docs/schemes/more.md`: with `--nocapture` its numbers are printed.
#[test]
#[ignore = "a minute"]
fn all_scenes_with_batches_of_three_sizes() {
    for scene in &SCENES {
        let [small, medium, large] = [(32, 120, 400), (128, 240, 60), (255, 480, 16)]
            .map(|(k, s, plays)| compare(scene, k, s, plays)[0]);
        let falls = scene.nodes.len() == 2 || (medium < small && large < medium);
        assert!(falls && large < 1.05, "{}: {small} {medium} {large}", scene.name);
    }
}
