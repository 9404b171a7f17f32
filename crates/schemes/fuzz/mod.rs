//! Drives what reads bytes of others (agents, forwarders, controllers, a queue or a hop with headers, both ends of a flow) with forged and
//! mutated messages. Any bytes are a course of events; only a violated guarantee of this crate panics.
//!
//! The guarantees: nothing panics; a call has a bounded number of effects and does bounded work; a queue returns each packet once; no gauge
//! is infinite (NaN: there is no value now). Allocations of a call are counted by who drives.
//!
//! | file | contents |
//! |---|---|
//! | `agents` | agents, and stations that forward |
//! | `controllers` | a controller and forged reports |
//! | `queues` | a queue and any headers |
//! | `ends` | source and receiver of a flow |
//! | `hops` | the hop of an interface, and any headers |
//! | `forged` | messages: forged, seen and mutated |
//! | `timers` | timers that have been set |

mod agents;
mod controllers;
mod ends;
mod forged;
mod hops;
mod queues;
mod timers;

use alloc::boxed::Box;

use airfair_units::Span;
use airfair_units::fuzz::Input;

use crate::{Params, Scheme, find};

pub use agents::Agents;
pub use controllers::Controllers;
pub use ends::Ends;
pub use hops::Hops;
pub use queues::Queues;

/// Nodes of a scene: 1 is under attack, 2 is honest, any may be forged.
const NODES: u32 = 9;
/// Most effects of a kind that one call may have.
const MOST_EFFECTS: usize = 512;

/// A part of a scheme under attack. Each step is one event.
pub trait Target {
    /// The next event, chosen by the input.
    fn step(&mut self, input: &mut Input<'_>);

    /// Entries looked at so far, if the part counts them.
    fn work(&self) -> u64 {
        0
    }
}

/// Drives a part of a scheme to the end of the input.
pub fn run(target: &mut dyn Target, data: &[u8]) {
    let mut input = Input::new(data);
    while !input.is_empty() {
        target.step(&mut input);
    }
}

/// The scheme of this name with its defaults.
///
/// # Panics
/// There is none.
#[must_use]
pub fn scheme(name: &str) -> Box<dyn Scheme> {
    let entry = find(name).expect("a scheme of the registry");
    (entry.build)(&Params::default()).expect("the defaults are right")
}

/// The scheme of this name as an operator has it.
///
/// # Panics
/// There is none.
#[must_use]
pub fn default_scheme(name: &str) -> Box<dyn Scheme> {
    let entry = find(name).expect("a scheme of the registry");
    (entry.build)(&entry.defaults()).expect("the defaults are right")
}

/// A node: mostly one of the scene, sometimes any.
fn node(input: &mut Input<'_>) -> u32 {
    if input.byte() < 220 { 1 + u32::from(input.byte()) % NODES } else { input.word() }
}

/// Time passes: mostly little.
fn wait(input: &mut Input<'_>) -> Span {
    Span(match input.byte() % 16 {
        0 => u64::from(input.word()) * 4,
        1..=4 => u64::from(input.word()) / 4,
        5..=8 => 0,
        _ => u64::from(input.word()) / 1000,
    })
}

fn check(gauges: &[(&'static str, f64)]) {
    assert!(gauges.iter().all(|(_, value)| !value.is_infinite()), "{gauges:?}");
}

/// Any bytes as a course of events for a scheme's agents, NRED's NCNs, DiffQ's calls, and MORE's and ExOR's broadcasts among them.
pub fn fuzz_agents(name: &str, data: &[u8]) {
    Agents::new(&*default_scheme(name)).iter_mut().for_each(|agents| run(agents, data));
}

/// Any bytes as a course of events for C3L's controller.
pub fn fuzz_controller(data: &[u8]) {
    Controllers::new(&*scheme("c3l")).iter_mut().for_each(|controller| run(controller, data));
}

/// Any bytes as a course of events for DiffQ's queue.
pub fn fuzz_queue(data: &[u8]) {
    run(&mut Queues::new(&*scheme("diffq")), data);
}

/// Any bytes as a course of events for a scheme's source and receiver over UDP.
pub fn fuzz_ends(name: &str, data: &[u8]) {
    Ends::new(&*default_scheme(name)).iter_mut().for_each(|ends| run(ends, data));
}

/// Any bytes as a course of events for a scheme's hop at a radio.
pub fn fuzz_hop(name: &str, data: &[u8]) {
    Hops::new(&*default_scheme(name)).iter_mut().for_each(|hop| run(hop, data));
}
