//! Typed indices and references. An index (`Ix`) is a place in a flat list that stays for the whole run; a reference (`Ref`) names
//! something that comes and goes, and is stale once it has gone.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// An index into a [`Table`].
pub trait Ix: Copy {
    /// The index of a place.
    fn of(place: usize) -> Self;
    /// The place.
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
    /// A station: one radio interface of a node.
    StationIx
    /// A node.
    NodeIx
    /// A port: one output interface of a node, a station or one direction of a wired link.
    PortIx
    /// A flow.
    FlowIx
    /// One direction of a wired link.
    WireIx
    /// A message of a routing protocol. Its place is used again when the message has ended.
    RoutingIx
    /// A frame on the air. Its place is used again when the last hearer has heard its end.
    FrameIx
}

impl NodeIx {
    /// The destination of a packet to all neighbours.
    pub const EVERYONE: Self = Self(u32::MAX);
}

/// What a port sends by: a station or one direction of a wired link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkRef {
    /// A station.
    Station(StationIx),
    /// A wire.
    Wire(WireIx),
}

/// A connection: its place and the place's generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionRef {
    /// Its place.
    pub slot: u32,
    /// Which of the connections that have had the place.
    pub generation: u32,
}

impl ConnectionRef {
    /// No connection.
    pub const NONE: Self = Self { slot: u32::MAX, generation: 0 };
}

/// A reference to a packet: place and generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct PacketRef(pub u64);

/// A reference to a copy of a packet: place and generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct CopyRef(pub u64);

macro_rules! references {
    ($($name:ident)*) => {$(
        impl $name {
            /// What names nothing.
            pub const NONE: Self = Self(u64::MAX);

            /// The thing at a place whose generation is this.
            #[inline(always)]
            pub(crate) const fn new(place: u32, generation: u32) -> Self {
                Self((generation as u64) << 32 | place as u64)
            }
            /// The place.
            #[inline(always)]
            pub(crate) const fn place(self) -> usize {
                self.0 as u32 as usize
            }
            /// Which of the things that have had the place.
            #[inline(always)]
            pub(crate) const fn generation(self) -> u32 {
                (self.0 >> 32) as u32
            }
        }
    )*};
}

references! { PacketRef CopyRef }

/// A list whose places are named by one type of index only.
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
    /// Adds a row, and says where.
    pub fn push(&mut self, row: T) -> I {
        self.rows.push(row);
        I::of(self.rows.len() - 1)
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no row.
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

    /// All rows in order, for loops that look them up by the places of other lists.
    #[inline(always)]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.rows
    }

    /// All places in order.
    pub fn places(&self) -> impl ExactSizeIterator<Item = I> + use<I, T> {
        (0..self.rows.len()).map(I::of)
    }

    /// All places with their rows, in order.
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
