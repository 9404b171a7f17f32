//! Lists that are indexed by one type of index only.

use alloc::vec::Vec;
use core::marker::PhantomData;
use core::ops::{Index, IndexMut};

/// An index into a [`Table`]: a place in a flat list, valid as long as the list.
pub trait Ix: Copy {
    /// The index of a place.
    fn of(place: usize) -> Self;
    /// The place in a list.
    fn ix(self) -> usize;
}

/// Defines types of indices: numbers of 32 bits, each with its documentation.
#[macro_export]
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

        impl $crate::Ix for $name {
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
    /// Index of a controller of a scheme: one at a node for a time.
    ControllerIx
}

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
    pub fn iter(&self) -> core::slice::Iter<'_, T> {
        self.rows.iter()
    }

    /// All rows in order.
    pub fn iter_mut(&mut self) -> core::slice::IterMut<'_, T> {
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
    type IntoIter = core::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.rows.iter()
    }
}
