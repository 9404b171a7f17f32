//! A scheme that needs more than a simulated interface offers is refused before the run starts, by name.

use crate::support::wires::built;
use crate::support::wires::{link, wired};
use crate::support::{chain, diffq_levels, dot11b, saturating, with_edca};
use airfair_schemes::Scheme;
use airfair_schemes::places::{Interface, Medium, Priority, Wants};
use airfair_sim::World;
use airfair_sim::spec::WorldSpec;
use airfair_units::Span;

/// A scheme that needs a capability at interfaces of one kind.
struct Greedy(Medium, Wants);

impl Scheme for Greedy {
    fn wants(&self, interface: &Interface) -> Wants {
        if interface.medium == self.0 { self.1 } else { Wants::default() }
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
    let all = Wants {
        samples: Span::from_millis(1),
        link_use: true,
        links: true,
        overheard: true,
        received: true,
        heard_headers: true,
        finished: true,
        access_times: true,
        routes: true,
        backlogs: true,
        departures: true,
        own_queue: true,
        lone_radio: true,
        delivery_ratios: true,
        ecn: true,
        priority: Priority(0),
    };
    assert_eq!(refusal(Medium::Radio, all), None);
    let expected = "node 1: scheme greedy needs capabilities that its wire does not offer: samples of counters, counters of \
                    the link's traffic, counters by link and flow, overheard messages, received packets, headers of overheard packets, ends of \
                    transmissions, times of access to the medium, changes of routes, sizes of queues by destination, being the node's only radio, \
                    delivery ratios between all nodes";
    assert_eq!(refusal(Medium::Wire, all).as_deref(), Some(expected));
    let urgent = Wants { priority: Priority(1), ..Wants::default() };
    let expected = "node 0: scheme greedy needs capabilities that its radio does not offer: priorities of packets (of 2 levels, and \
                    the radio has categories for 1); expected radio.categories = \"diffq\", which has 8 (in a comparison for this \
                    scheme alone: --set SCHEME:radio.categories=diffq), or a list of 2 or more, or a smaller `levels` of the scheme";
    assert_eq!(refusal(Medium::Radio, urgent).as_deref(), Some(expected));
    let few = Wants { departures: true, own_queue: true, ecn: true, ..Wants::default() };
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
