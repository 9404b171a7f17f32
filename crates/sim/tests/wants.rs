//! A scheme that needs more than a simulated interface offers is refused before the run starts, by name.

use crate::support::wires::built;
use crate::support::wires::{link, wired};
use crate::support::{chain, diffq_levels, dot11b, saturating, with_edca};
use airfair_schemes::Scheme;
use airfair_schemes::places::{Capability, Interface, Medium, Priority, Wants};
use airfair_sim::World;
use airfair_sim::spec::WorldSpec;
use airfair_units::Span;

/// A scheme that needs a capability at interfaces of one kind.
struct Greedy(Medium, Wants);

impl Scheme for Greedy {
    fn wants(&self, interface: &Interface) -> Wants {
        if interface.medium == self.0 { self.1 } else { Wants::NONE }
    }
}

/// Two radios, at nodes 0 and 1, and a wire from 1 to a third node: both of its ends are interfaces.
fn scene() -> WorldSpec {
    let mut spec = chain(dot11b(250.0, 550.0), 1, 100.0, saturating(500), 1);
    let other = wired(&mut spec, "a");
    spec.links.push(link((1, other), 10, Span::from_millis(1), 20));
    spec
}

fn refusal(medium: Medium, wants: Wants) -> Option<String> {
    World::new(&scene(), "greedy", Box::new(Greedy(medium, wants)), 1).err()
}

#[test]
fn what_is_wanted_and_not_offered_is_refused_by_name() {
    let all = Wants::of(Capability::ALL).samples_every(Span::from_millis(1));
    assert_eq!(refusal(Medium::Radio, all), None);
    let expected = "node 1: scheme greedy needs capabilities that its wire does not offer: samples of counters, times \
                    of the radio's states, times reserved by the NAV, flows that are being set up, packets and bytes of the whole radio, times of packets in the queue and at the \
                    radio, packets by neighbour and by flow, nodes that its frames reach, the time for a packet while no other station sends, overheard messages, rates and powers of messages, received packets, headers of overheard packets, ends of \
                    transmissions, times of access to the medium, changes of routes, sizes of queues by destination, the only radio of its node, \
                    delivery ratios between all nodes";
    assert_eq!(refusal(Medium::Wire, all).as_deref(), Some(expected));
    let urgent = Wants::NONE.priorities_to(Priority(1));
    let expected = "node 0: scheme greedy needs capabilities that its radio does not offer: priorities of packets (of 2 levels, and \
                    the radio has categories for 1); expected radio.categories = \"diffq\", which has 8 (in a comparison for this \
                    scheme alone: SCHEME[radio.categories=diffq]), or a list of 2 or more, or a smaller `levels` of the scheme";
    assert_eq!(refusal(Medium::Radio, urgent).as_deref(), Some(expected));
    let few = Wants::of(&[Capability::Departures, Capability::OwnQueue, Capability::Ecn]);
    assert_eq!(refusal(Medium::Wire, few), None);
}

/// The built-in schemes need only offered capabilities, wherever they are placed; DiffQ has eight priorities.
#[test]
fn the_trees_schemes_are_accepted() {
    let mut spec = scene();
    spec.radios[0] = with_edca(dot11b(250.0, 550.0), diffq_levels());
    for entry in airfair_schemes::registry() {
        let world = World::new(&spec, entry.name, built(entry.name, &[]), 1);
        assert_eq!(world.err(), None, "{}", entry.name);
    }
}
