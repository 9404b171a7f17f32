//! Typed indices and references. An index (`Ix`) is a place in a flat list and valid for the whole run; a reference (`Ref`) identifies an
//! object with a limited life, and is stale after the object's end.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// An index into a [`Table`].
pub trait Ix: Copy {
    /// The index of a place.
    fn of(place: usize) -> Self;
    /// The place in a list.
    fn ix(self) -> usize;
}

macro_rules! indices {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The place in a list.
            #[inline(always)]
            #[must_use]
            pub const fn ix(self) -> usize {
                self.0 as usize
            }
        }

        impl Ix for $name {
            #[inline(always)]
            fn of(place: usize) -> Self {
                Self(place as u32)
            }
            #[inline(always)]
            fn ix(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

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
    /// Index of a controller of a scheme: one at a node for a time.
    ControllerIx
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// A list that is indexed by one type of index only.
#[derive(Debug, Clone)]
pub struct Table<I, T> {
    rows: Vec<T>,
    of: PhantomData<fn(I)>,
}

impl<I, T> Default for Table<I, T> {
    fn default() -> Self {
        Self { rows: Vec::new(), of: PhantomData }
    }
}

impl<I: Ix, T> Table<I, T> {
    /// Adds a row, and returns its index.
    pub fn push(&mut self, row: T) -> I {
        self.rows.push(row);
        I::of(self.rows.len() - 1)
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True if there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The row at a place, if there is one.
    #[inline(always)]
    pub fn get(&self, at: I) -> Option<&T> {
        self.rows.get(at.ix())
    }

    /// The row at a place, if there is one.
    #[inline(always)]
    pub fn get_mut(&mut self, at: I) -> Option<&mut T> {
        self.rows.get_mut(at.ix())
    }

    /// All rows in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.rows.iter()
    }

    /// All rows in order.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.rows.iter_mut()
    }

    /// All rows in order, for loops that index them by other lists.
    #[inline(always)]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.rows
    }

    /// All indices in order.
    pub fn places(&self) -> impl ExactSizeIterator<Item = I> + use<I, T> {
        (0..self.rows.len()).map(I::of)
    }

    /// All indices with their rows, in order.
    pub fn pairs(&self) -> impl Iterator<Item = (I, &T)> {
        self.rows.iter().enumerate().map(|(at, row)| (I::of(at), row))
    }
}

impl<I: Ix, T> Index<I> for Table<I, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, at: I) -> &T {
        &self.rows[at.ix()]
    }
}

impl<I: Ix, T> IndexMut<I> for Table<I, T> {
    #[inline(always)]
    fn index_mut(&mut self, at: I) -> &mut T {
        &mut self.rows[at.ix()]
    }
}

impl<I, T> FromIterator<T> for Table<I, T> {
    fn from_iter<S: IntoIterator<Item = T>>(rows: S) -> Self {
        Self { rows: rows.into_iter().collect(), of: PhantomData }
    }
}

impl<'a, I, T> IntoIterator for &'a Table<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.rows.iter()
    }
}
