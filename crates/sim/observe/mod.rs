//! Looking at a run. Nothing here changes what happens.
//!
//! | part | contents |
//! |---|---|
//! | `trace` | records in words |
//! | `capture` | frames as bytes and as rows |
//! | `explain` | why a flow gets what it gets |
//! | `series` | counters at the end of each interval |
//! | `windows` | fairness of windows of time |

pub mod capture;
pub mod explain;
pub mod series;
mod trace;
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
