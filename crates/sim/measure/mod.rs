//! What is counted, and what a run's numbers say. No files here.

pub mod delays;
pub mod explain;
pub mod files;
pub mod series;
pub mod statistics;
pub mod summary;
pub mod trace;
pub mod windows;

use airfair_units::Time;

use crate::world::World;

/// Something that looks at a world at moments of its own choice. Looking changes nothing.
pub trait Reader {
    /// When it wants to look next: the world is to be advanced until then, at most.
    fn next(&self) -> Time;

    /// Looks, if the world has come so far.
    fn read(&mut self, world: &World);
}
