//! A controller: one node hears reports, late and with gaps, and hands out shares.

use super::{ControllerContext, NodeId, Timer};

/// A central controller (C3L). A controller never blocks a node: silence means defaults.
///
/// Reports and shares are messages. When a report was written and how long a share holds stand in their bytes: messages arrive late,
/// or not at all.
pub trait Controller: Send {
    /// The run starts: timers may be set.
    fn on_start(&mut self, context: &mut ControllerContext<'_>);

    /// A report arrived.
    fn on_message(&mut self, from: NodeId, bytes: &[u8], context: &mut ControllerContext<'_>);

    /// A timer fired.
    fn on_timer(&mut self, timer: Timer, context: &mut ControllerContext<'_>);
}
