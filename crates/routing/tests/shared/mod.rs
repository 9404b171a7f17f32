//! Shared by the tests of all protocols: a node with its random stream, and addresses; times are milliseconds.

use airfair_routing::{Adjacency, Context, Effect};
use airfair_units::Time;
use airfair_units::random::{Purpose, Stream};
use airfair_wire::Ipv4Addr;

pub fn at(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, number)
}

/// The last byte of an address.
pub fn last(address: Ipv4Addr) -> u8 {
    address.octets()[3]
}

pub fn hop(number: u8) -> Adjacency {
    Adjacency { neighbour: at(number), interface: 0 }
}

pub fn ms(n: u64) -> Time {
    Time(n * 1_000_000)
}

/// The state machine of a node, with its random stream.
pub struct Host<R> {
    pub routing: R,
    random: Stream,
    out: Vec<Effect>,
}

impl<R> Host<R> {
    pub fn new(number: u8, routing: R) -> Self {
        let random = Stream::new(1, &number.to_string(), Purpose::Routing);
        Self { routing, random, out: Vec::new() }
    }

    /// Calls a hook of the node: its result, and the effects.
    pub fn effects<T>(
        &mut self,
        now: Time,
        hook: impl FnOnce(&mut R, &mut Context<'_>) -> T,
    ) -> (T, Vec<Effect>) {
        let mut cx = Context { now, random: &mut self.random, out: &mut self.out };
        let result = hook(&mut self.routing, &mut cx);
        (result, std::mem::take(&mut self.out))
    }
}
