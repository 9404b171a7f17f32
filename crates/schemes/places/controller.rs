//! A controller: code at one node that receives reports, late and with gaps, and distributes shares.

use super::{ControllerContext, NodeId, Timer};

/// A central controller (C3L). A controller never blocks a node: silence means defaults.
///
/// Reports and shares are messages. Their bytes hold the time of a report and the lifetime of a share: messages may arrive late,
/// or never.
pub trait Controller: Send {
    /// The run starts: timers may be set.
    fn on_start(&mut self, context: &mut ControllerContext<'_>);

    /// A report arrived.
    fn on_message(&mut self, from: NodeId, bytes: &[u8], context: &mut ControllerContext<'_>);

    /// A timer fired.
    fn on_timer(&mut self, timer: Timer, context: &mut ControllerContext<'_>);
}
