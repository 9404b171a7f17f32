//! Open TCP connections: a slab of places that are reused.

use airfair_host::{Echo, HeaderId, Slot};
use airfair_schemes::places::FlowId;
use airfair_transport::{Receiver, Sender};
use airfair_units::Time;

use crate::ids::{ConnectionRef, FlowIx, NodeIx};
use crate::packet::NO_FLOW;

/// An open connection with both its ends.
pub(crate) struct Connection {
    /// Sender with its law's random stream and timers; its rank is that of the flow.
    pub sender: Slot<Sender>,
    pub receiver: Receiver,
    pub flow: FlowIx,
    /// Node of the sender.
    pub from: NodeIx,
    /// See [`Packet::scheme_flow`](crate::packet::Packet::scheme_flow) and [`Payload::Tcp`](crate::packet::Payload::Tcp).
    pub scheme_flow: FlowId,
    pub opening: u32,
    /// Number of the connection within its flow, from 0.
    pub number: u64,
    /// Time at which the application requested it.
    pub opened: Time,
    /// Size of its file, bytes; `None`: unlimited.
    pub size: Option<u64>,
    /// Due times of the pending timer events.
    pub sender_armed: Time,
    pub receiver_armed: Time,
    /// Header that its packets carry, and the receiver's echo of received headers.
    pub header: HeaderId,
    pub echo: Echo,
    /// True if its law has found routers that do not support its scheme.
    pub fell_back: bool,
}

/// A place in the slab: its connection, if open, and the generation of references to that connection.
#[derive(Default)]
struct Place {
    generation: u32,
    connection: Option<Box<Connection>>,
}

/// All open connections.
#[derive(Default)]
pub(crate) struct Connections {
    places: Vec<Place>,
    free: Vec<u32>,
}

impl Connection {
    pub(crate) fn new((sender, receiver): (Slot<Sender>, Receiver), (flow, from): (FlowIx, NodeIx)) -> Self {
        Self {
            sender,
            receiver,
            flow,
            from,
            scheme_flow: FlowId(NO_FLOW),
            opening: NO_FLOW,
            number: 0,
            opened: Time::ZERO,
            size: None,
            sender_armed: Time::NEVER,
            receiver_armed: Time::NEVER,
            header: HeaderId::NONE,
            echo: Echo::default(),
            fell_back: false,
        }
    }
}

/// Numbers of reasons for which a sender has reduced its rate: time-outs, losses indicated by acknowledgements, marks.
pub(crate) fn reasons(sender: &Sender) -> [u64; 3] {
    let stats = sender.stats();
    [stats.timeouts, stats.fast_recoveries, stats.ecn_reductions]
}

impl Connections {
    pub(crate) fn add(&mut self, connection: Box<Connection>) -> ConnectionRef {
        let number = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place::default());
            (self.places.len() - 1) as u32
        });
        let place = &mut self.places[number as usize];
        place.connection = Some(connection);
        ConnectionRef { place: number, generation: place.generation }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: ConnectionRef) -> Option<&mut Connection> {
        let place = self.places.get_mut(id.place as usize)?;
        if place.generation == id.generation { place.connection.as_deref_mut() } else { None }
    }

    #[inline]
    pub(crate) fn get(&self, id: ConnectionRef) -> Option<&Connection> {
        let place = self.places.get(id.place as usize)?;
        if place.generation == id.generation { place.connection.as_deref() } else { None }
    }

    pub(crate) fn remove(&mut self, id: ConnectionRef) -> Option<Box<Connection>> {
        let place =
            self.places.get_mut(id.place as usize).filter(|place| place.generation == id.generation)?;
        let connection = place.connection.take()?;
        place.generation = place.generation.wrapping_add(1);
        self.free.push(id.place);
        Some(connection)
    }

    /// Open connections.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Connection> {
        self.places.iter().filter_map(|place| place.connection.as_deref())
    }

    /// Number of open connections, and the largest number that were open at once (each has had a place).
    pub(crate) fn count(&self) -> (u64, u64) {
        ((self.places.len() - self.free.len()) as u64, self.places.len() as u64)
    }
}
