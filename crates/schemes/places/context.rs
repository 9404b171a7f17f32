//! The context of a hook: the present time, the random stream of the place, and the effects.

use airfair_units::Time;
use airfair_units::random::Stream;

use super::effects::{
    AgentEffects, AqmEffects, ControllerEffects, ForwarderEffects, HopEffects, QueueEffects, ReceiverEffects,
    SourceEffects,
};

/// The last argument of hooks that need time, randomness or effects. `E` holds the effects that the hook's place has: an effect of
/// another place does not compile.
///
/// A source sets timers:
///
/// ```
/// use airfair_schemes::places::{SourceContext, Timer};
///
/// fn hook(context: &mut SourceContext<'_>) {
///     context.out.timers.push((Timer(1), context.now));
/// }
/// ```
///
/// An AQM sets no timer, sends no message and changes no setting:
///
/// ```compile_fail,E0609
/// use airfair_schemes::places::{AqmContext, Timer};
///
/// fn hook(context: &mut AqmContext<'_>) {
///     context.out.timers.push((Timer(1), context.now));
/// }
/// ```
///
/// ```compile_fail,E0609
/// use airfair_schemes::places::{AqmContext, Destination, Message};
///
/// fn hook(context: &mut AqmContext<'_>) {
///     context.out.messages.push(Message { to: Destination::Broadcast, bytes: vec![1; 8], ahead: true, transmit: None });
/// }
/// ```
///
/// ```compile_fail,E0609
/// use airfair_schemes::places::{AqmContext, Direction, Probability, Setting};
///
/// fn hook(context: &mut AqmContext<'_>) {
///     context.out.settings.push(Setting::Probability(Direction::Outgoing, Probability::ONE));
/// }
/// ```
///
/// Only a queue drops or marks packets beside its answers:
///
/// ```
/// use airfair_schemes::places::{DropReason, PacketId, QueueContext};
///
/// fn hook(context: &mut QueueContext<'_>) {
///     context.out.dropped.push((PacketId(0), DropReason("old")));
/// }
/// ```
///
/// ```compile_fail,E0609
/// use airfair_schemes::places::{AgentContext, DropReason, PacketId};
///
/// fn hook(context: &mut AgentContext<'_>) {
///     context.out.dropped.push((PacketId(0), DropReason("old")));
/// }
/// ```
///
/// ```compile_fail,E0609
/// use airfair_schemes::places::{HopContext, DropReason, PacketId};
///
/// fn hook(context: &mut HopContext<'_>) {
///     context.out.dropped.push((PacketId(0), DropReason("old")));
/// }
/// ```
///
/// A queue, a hop and a source send no message:
///
/// ```compile_fail,E0609
/// use airfair_schemes::places::{Destination, Message, QueueContext};
///
/// fn hook(context: &mut QueueContext<'_>) {
///     context.out.messages.push(Message { to: Destination::Broadcast, bytes: vec![1; 8], ahead: true, transmit: None });
/// }
/// ```
///
/// ```compile_fail,E0609
/// use airfair_schemes::places::{Destination, HopContext, Message};
///
/// fn hook(context: &mut HopContext<'_>) {
///     context.out.messages.push(Message { to: Destination::Broadcast, bytes: vec![1; 8], ahead: true, transmit: None });
/// }
/// ```
///
/// ```compile_fail,E0609
/// use airfair_schemes::places::{Destination, Message, SourceContext};
///
/// fn hook(context: &mut SourceContext<'_>) {
///     context.out.messages.push(Message { to: Destination::Broadcast, bytes: vec![1; 8], ahead: true, transmit: None });
/// }
/// ```
pub struct Context<'a, E> {
    /// The present time.
    pub now: Time,
    /// The scheme's own random stream at this place.
    pub random: &'a mut Stream,
    /// The effects of the hook, which its caller applies.
    pub out: &'a mut E,
}

/// Context of a source's hooks.
pub type SourceContext<'a> = Context<'a, SourceEffects>;
/// Context of a receiver's hooks.
pub type ReceiverContext<'a> = Context<'a, ReceiverEffects>;
/// Context of a queue's hooks.
pub type QueueContext<'a> = Context<'a, QueueEffects>;
/// Context of an AQM's hooks.
pub type AqmContext<'a> = Context<'a, AqmEffects>;
/// Context of a hop's hooks.
pub type HopContext<'a> = Context<'a, HopEffects>;
/// Context of an agent's hooks.
pub type AgentContext<'a> = Context<'a, AgentEffects>;
/// Context of a forwarder's hooks.
pub type ForwarderContext<'a> = Context<'a, ForwarderEffects>;
/// Context of a controller's hooks.
pub type ControllerContext<'a> = Context<'a, ControllerEffects>;
