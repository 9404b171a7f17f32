//! Destination-Sequenced Distance Vector routing (Perkins and Bhagwat, "Highly dynamic Destination-Sequenced Distance-Vector routing
//! (DSDV) for mobile computers", SIGCOMM 1994).
//!
//! Every node sends its whole table to its neighbours from time to time (a full dump), and changes in between (incremental updates). Each
//! destination numbers its own updates; a route with a newer number replaces any other, one with an equal number a longer one.
//!
//! | file | contents |
//! |---|---|
//! | `table` | routes, and the sequence numbers that keep them free of loops; settling |
//! | `updates` | full dumps and incremental updates |
//! | `config` | parameters |
//!
//! docs/dsdv.md maps the rules to tests, and explains where ns-2 and ns-3 read them differently.

mod config;
mod table;
mod updates;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;

use airfair_units::{Span, Time};
use airfair_wire::Ipv4Addr;
use airfair_wire::dsdv::{PORT, Update};

use crate::buffer::{Buffer, Limits};
use crate::protocol::Definition;
use crate::sequence::is_younger;
use crate::{
    Adjacency, Context, DropReason, Effect, NodeSetup, Received, Routing, TableSize, TableState, Undelivered,
};

use table::Table;
use updates::Updates;

pub use config::DsdvConfig;
pub use table::{INFINITY, REMEMBERED, Route};

/// Bytes of a route in an update, and of the headers of IP and UDP before it.
const ENTRY_BYTES: u64 = 12;
const HEADERS_BYTES: u64 = 28;

/// Names of the kinds of messages, in the order of their counters.
const KINDS: [&str; 2] = ["full", "incremental"];

/// Routing of a node.
#[derive(Debug)]
pub struct Dsdv {
    address: Ipv4Addr,
    config: DsdvConfig,
    /// Sequence number of the node, even.
    number: u32,
    table: Table,
    /// Time of each neighbour's last update.
    heard: BTreeMap<Adjacency, Time>,
    /// Time of the next search for silent neighbours; not later than the first of them is due.
    next_expiry: Time,
    updates: Updates,
    buffer: Buffer,
    /// Broken links with routes.
    breaks: u64,
}

impl Dsdv {
    /// A node without routes.
    #[must_use]
    pub fn new(address: Ipv4Addr, config: &DsdvConfig) -> Self {
        let limits = Limits {
            packets: config.buffer_packets,
            per_destination: config.buffer_per_destination,
            time: config.buffer_time,
        };
        Self {
            address,
            config: *config,
            number: 0,
            table: Table::default(),
            heard: BTreeMap::new(),
            next_expiry: Time::NEVER,
            updates: Updates::default(),
            buffer: Buffer::new(limits),
            breaks: 0,
        }
    }

    /// All destinations with their routes, broken ones included.
    pub fn routes(&self) -> impl Iterator<Item = (Ipv4Addr, &Route)> {
        self.table.routes()
    }

    /// Breaks every route over links, and reports them at once.
    fn break_links(&mut self, hops: &BTreeSet<Adjacency>, cx: &mut Context<'_>) {
        hops.iter().for_each(|hop| _ = self.heard.remove(hop));
        let breaks = self.table.break_links(hops, cx.now);
        self.breaks += breaks;
        if breaks > 0 {
            self.schedule_update(cx.now, cx);
        }
    }

    fn expire_neighbours(&mut self, cx: &mut Context<'_>) {
        if self.next_expiry > cx.now {
            return;
        }
        let hold = self.config.hold_time();
        let is_silent = |heard: Time| heard.saturating_add(hold) <= cx.now;
        self.table.work += self.heard.len() as u64;
        let silent: BTreeSet<Adjacency> =
            self.heard.iter().filter(|&(_, &heard)| is_silent(heard)).map(|(&hop, _)| hop).collect();
        if !silent.is_empty() {
            self.break_links(&silent, cx);
        }
        self.next_expiry = self.heard.values().min().map_or(Time::NEVER, |heard| heard.saturating_add(hold));
    }

    /// Records that a neighbour was heard; false if there is no room for another one.
    fn record_reception(&mut self, from: Adjacency, now: Time) -> bool {
        if self.heard.len() >= self.config.table_limit as usize && !self.heard.contains_key(&from) {
            self.table.refused += 1;
            return false;
        }
        self.heard.insert(from, now);
        self.next_expiry = self.next_expiry.min(now.saturating_add(self.config.hold_time()));
        true
    }

    /// A newer number than the node's own is another node's report of a broken route: the node takes the next even number, and says so.
    fn defend_number(&mut self, number: u32, cx: &mut Context<'_>) {
        if is_younger(number, self.number) {
            self.number = (number | 1).wrapping_add(1);
            self.updates.own_is_news = true;
            self.schedule_update(cx.now, cx);
        }
    }
}

impl Definition for DsdvConfig {
    const NAME: &'static str = "DSDV";
    const UDP_PORT: u16 = PORT;
    const KINDS: &'static [&'static str] = &KINDS;
    const IS_PROACTIVE: bool = true;

    fn table_limit(&self) -> Option<u32> {
        Some(self.table_limit)
    }

    /// Each datagram has 28 bytes of headers, and begins with the node's own row.
    fn table_size(&self, nodes: u64) -> Option<TableSize> {
        let others = nodes.saturating_sub(1);
        let datagrams = others.div_ceil(Update::MOST as u64 - 1).max(1);
        let bytes = ENTRY_BYTES * (others + datagrams) + HEADERS_BYTES * datagrams;
        Some(TableSize { bytes, every: Span(self.period.0.saturating_add(self.period_jitter.0)) })
    }

    fn content(_datagram: &[u8], _to_all: bool) -> &'static str {
        "dsdv-update"
    }

    fn node(&self, node: &NodeSetup) -> Box<dyn Routing> {
        Box::new(Dsdv::new(node.address, self))
    }
}

impl Routing for Dsdv {
    fn originate(&mut self, packet: u64, destination: Ipv4Addr, cx: &mut Context<'_>) -> Option<Adjacency> {
        let hop = self.next_hop(destination, cx.now);
        if hop.is_none()
            && let Some(packet) = self.buffer.add(packet, destination, cx.now)
        {
            cx.out.push(Effect::Drop { packet, reason: DropReason::BufferFull });
        }
        hop
    }

    /// Without a route the packet is dropped: only a node's own packets wait.
    fn relay(
        &mut self,
        packet: u64,
        ends: [Ipv4Addr; 2],
        _: Adjacency,
        cx: &mut Context<'_>,
    ) -> Option<Adjacency> {
        let hop = self.next_hop(ends[1], cx.now);
        if hop.is_none() {
            cx.out.push(Effect::Drop { packet, reason: DropReason::NoRoute });
        }
        hop
    }

    /// Invalid bytes are ignored, as is a part of an entry at the end.
    fn on_message(&mut self, bytes: &[u8], received: Received, cx: &mut Context<'_>) {
        let Ok((update, _)) = Update::decode(bytes) else { return };
        if received.from.neighbour == self.address {
            return;
        }
        self.table.moved.clear();
        if !self.record_reception(received.from, cx.now) {
            return;
        }
        for entry in update.entries() {
            if entry.destination == self.address {
                self.defend_number(entry.number, cx);
            } else if self.table.offer(&entry, received.from, cx.now, &self.config) {
                for packet in self.released(entry.destination) {
                    cx.out.push(Effect::Forward { packet, hop: received.from });
                }
            }
        }
        self.schedule_update(self.table.next_trigger(), cx);
    }

    /// Without effect unless `link_layer_feedback` is set: the link breaks.
    fn on_undelivered(&mut self, neighbour: Adjacency, _: Undelivered<'_>, cx: &mut Context<'_>) {
        if self.config.link_layer_feedback {
            self.table.moved.clear();
            self.break_links(&BTreeSet::from([neighbour]), cx);
        }
    }

    fn on_timer(&mut self, cx: &mut Context<'_>) {
        self.table.moved.clear();
        while let Some(packet) = self.buffer.expired(cx.now) {
            cx.out.push(Effect::Drop { packet, reason: DropReason::BufferTime });
        }
        self.expire_neighbours(cx);
        self.send_updates(cx);
    }

    fn deadline(&self) -> Time {
        self.buffer.deadline().min(self.next_expiry).min(self.updates.deadline())
    }

    fn next_hop(&self, destination: Ipv4Addr, _: Time) -> Option<Adjacency> {
        self.table.valid(destination).map(|route| route.hop)
    }

    fn table(&self) -> TableState {
        TableState { revision: self.table.revision, lost: self.table.lost }
    }

    fn moved(&self) -> &[Ipv4Addr] {
        &self.table.moved
    }

    fn work(&self) -> u64 {
        self.table.work
    }

    fn waiting(&self) -> Vec<u64> {
        self.buffer.packets().collect()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("breaks", self.breaks), ("refused", self.table.refused)]
    }
}

impl Dsdv {
    /// Packets that have waited for a route that exists now.
    fn released(&mut self, destination: Ipv4Addr) -> Vec<u64> {
        if self.table.valid(destination).is_some() {
            self.buffer.take_waiting_for(destination)
        } else {
            Vec::new()
        }
    }
}
