//! Typed indices and references. An index (`Ix`) is a place in a flat list and valid for the whole run; a reference (`Ref`) identifies an
//! object with a limited life, and is stale after the object's end.

use airfair_host::indices;
pub use airfair_host::{ControllerIx, Ix, Table};

indices! {
    /// Index of a station, which is one radio interface of a node.
    StationIx
    /// Index of a node.
    NodeIx
    /// Index of a port, which is one output interface of a node, a station or one direction of a wired link.
    PortIx
    /// Index of a flow.
    FlowIx
    /// Index of a wire, which is one direction of a wired link.
    WireIx
    /// Index of a message of an agent or a controller, or of the header of a forwarder's broadcast. Its place is reused after its end.
    MessageIx
    /// Index of a packet from outside. Its place is reused after its last copy has left.
    ForeignIx
    /// Index of a message of a routing protocol. Its place is reused after the message has ended.
    RoutingIx
    /// Index of a frame on the air. Its place is reused after the last hearer has processed its end.
    FrameIx
}

impl NodeIx {
    /// The destination of a packet to all neighbours.
    pub const EVERYONE: Self = Self(u32::MAX);
}

/// The link that a port sends by: a station or one direction of a wired link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkRef {
    /// A radio interface.
    Station(StationIx),
    /// One direction of a wired link.
    Wire(WireIx),
}

/// Reference to a connection: its place and the place's generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionRef {
    /// Place in the list of connections.
    pub place: u32,
    /// Generation: counts the connections that have used the place.
    pub generation: u32,
}

impl ConnectionRef {
    /// Reference to no connection.
    pub const NONE: Self = Self { place: u32::MAX, generation: 0 };
}

/// Reference to a packet: place and generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct PacketRef(pub u64);

/// Reference to a copy of a packet: place and generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct CopyRef(pub u64);

macro_rules! references {
    ($($name:ident)*) => {$(
        impl $name {
            /// Reference to nothing.
            pub const NONE: Self = Self(u64::MAX);

            /// Reference to the object at a place with this generation.
            #[inline(always)]
            pub(crate) const fn new(place: u32, generation: u32) -> Self {
                Self((generation as u64) << 32 | place as u64)
            }
            /// Place in the list.
            #[inline(always)]
            pub(crate) const fn place(self) -> usize {
                self.0 as u32 as usize
            }
            /// Generation: counts the objects that have used the place.
            #[inline(always)]
            pub(crate) const fn generation(self) -> u32 {
                (self.0 >> 32) as u32
            }
        }
    )*};
}

references! { PacketRef CopyRef }
