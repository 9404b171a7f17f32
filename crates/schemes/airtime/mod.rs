//! The airtime allocator: each pair of neighbours that exchange packets has a share of the time of the air, and its queues keep to it.
//!
//! A. Jang, K. Psounis, R. Govindan, "Simple yet efficient, transparent airtime allocation for TCP in wireless mesh networks", CoNEXT
//! 2010. Neither TCP nor the MAC change. It fills two places: an [`Agent`] beside each radio interface, which counts and tells its
//! neighbours, and a [`Queue`](crate::places::Queue) at it, which gives the packets for each neighbour a rate.
//!
//! | file | what |
//! |---|---|
//! | `neighbourhood` | the links that neighbours announce, and those around a link |
//! | `allocation` | the shares of pairs, and what they lend |
//! | `usage` | the use of the node's own links, from counters |
//! | `agent` | all put together beside an interface |
//! | `queue` | a queue for each neighbour with a rate, and in it one for each flow |
//! | `presets` | the law of the abstract, and what an operator should take |
//!
//! No full text of the paper could be read: its abstract says that each active pair of neighbours in a neighbourhood has an explicit share
//! of the air's time, that unused time is handed on, and that air lost to outside interference is subtracted. The law below is made of
//! that; numbers are ours:
//! - **Pairs.** A pair is two neighbours of which one sends to the other. Both directions take of one share, so that acknowledgements need
//!   no share of their own. Each end limits what it sends: to the share less what the other end uses, but not to less than half of it; or
//!   with shares by flows, if both ends have data to send, to its part of them.
//! - **Around a link** are the pairs with an end at one of its nodes or at a neighbour of these: their frames can collide.
//! - **The share** of a pair is `(1 - outside) / A`, where `A` counts the pairs around it. `outside` is the time in which the air is busy
//!   and which their announced use does not explain.
//! - **By flows** (`weight`): a pair counts as often as flows pass it, so that the flows have equal shares and not the links.
//! - **Spoiled pairs** (`spoiled`): frames are spoiled from farther away than they are decoded. A pair whose frames need many attempts
//!   counts one hop farther than others.
//! - **Lending**: a pair that has used less than 90 % of its share for three periods and has nothing waiting lends what it does not use to
//!   all; it gets its share back as soon as it uses it.
//! - **Relief** (`relief`): a pair that cannot use its share, because its packets wait or its frames are lost, is short of air. Pairs
//!   around it that have more give way, a small part in each period, and grow again when nobody is short. Counting alone leaves flows
//!   starving whose frames hidden nodes spoil: there the shares that are counted add up to more than the air carries.
//! - **Rates**: the agent turns a share into a rate of packets with an overhead ([`LinkRate`](crate::places::LinkRate)), by the time of a
//!   lone exchange and the attempts that packets of the link need. A kernel can carry that out.

mod agent;
mod allocation;
mod neighbourhood;
mod presets;
mod queue;
mod usage;

pub use agent::AirtimeAgent;
pub use allocation::{Pair, level};
pub use neighbourhood::Neighbourhood;
pub use presets::PRESETS;
pub use queue::AirtimeQueue;

use alloc::boxed::Box;

use airfair_units::Span;

use crate::params::{ParamError, Params};
use crate::places::{Agent, Capability, Interface, Medium, OutputQueue, Wants};
use crate::scheme::Scheme;
use crate::{params, words};

words! {
    /// The weight of a pair in the division of the air.
    pub enum Weight {
        /// Each pair as much, as in the abstract.
        Pairs = "pairs",
        /// As often as flows pass it.
        Flows = "flows",
    }
}

params! {
    /// The parameters of the airtime allocator.
    pub struct Airtime {
        /// interval of announcements and of new shares; ours
        operator period: Span = Span::from_secs(1), in Span::from_millis(500)..=Span::from_secs(2);
        /// depth of a token bucket, time of the air: two turns of 20 ms; ours
        operator depth: Span = Span::from_millis(40), in Span::from_millis(1)..=Span::from_secs(1);
        /// how long an announcement holds; at least the period
        operator lifetime: Span = Span::from_secs(5), in Span::from_millis(50)..=Span::from_secs(600);
        /// how long after its last packet a link, or a flow on it, counts: TCP is silent between its time-outs
        operator memory: Span = Span::from_secs(20), in Span::from_millis(50)..=Span::from_secs(600);
        /// how much a pair counts: each as much, or as often as flows pass it
        reading weight: Weight = Weight::Pairs;
        /// a packet that needs several attempts takes as many times of its share
        reading charges_retries: bool = true;
        /// part of its share that a pair gives up in a period in which one around it is short of air and uses less; 0: none
        reading relief: f64 = 0.0, in 0.0..=1.0;
        /// with relief: least part of the counted share that a pair keeps
        reading least: f64 = 0.6, in 0.01..=1.0;
        /// pairs one hop farther away count, too, if their frames need many attempts: frames are spoiled from farther away than heard
        reading spoiled: bool = false;
    }
}

impl Airtime {
    /// Reads the parameters.
    ///
    /// # Errors
    /// A parameter out of its range, a lifetime below the period.
    pub fn from_params(params: &Params) -> Result<Self, ParamError> {
        let airtime = Self::read(params)?;
        if airtime.lifetime < airtime.period {
            return Err(ParamError::above("period", "lifetime"));
        }
        Ok(airtime)
    }
}

impl Scheme for Airtime {
    fn queue(&self, interface: &Interface) -> OutputQueue {
        match interface.medium {
            Medium::Radio => OutputQueue::waiting(AirtimeQueue::new(interface.limit_packets)),
            Medium::Wire => OutputQueue::plain(crate::droptail::DropTail::new(interface.limit_packets)),
        }
    }

    fn agent(&self, interface: &Interface) -> Option<Box<dyn Agent>> {
        interface.is_radio().then(|| Box::new(AirtimeAgent::new(*self)) as Box<dyn Agent>)
    }

    fn wants(&self, interface: &Interface) -> Wants {
        match interface.medium {
            Medium::Radio => Wants::of(&[
                Capability::Airtime,
                Capability::Links,
                Capability::Exchange,
                Capability::Backlogs,
            ])
            .samples_every(self.period),
            Medium::Wire => Wants::NONE,
        }
    }
}
