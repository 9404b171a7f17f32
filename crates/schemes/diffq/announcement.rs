//! Sizes by a broadcast of their own instead of by overhearing (ours): what the trailer saves.
//!
//! Radios that pass up only what is addressed to them cannot overhear. A node then broadcasts the sizes of its destination queues every
//! `announcement_interval`, those of queues that have become empty once; the message costs air at the rate of broadcasts and comes late.

use alloc::vec;
use alloc::vec::Vec;

use airfair_wire::diffq::Sizes;

use crate::places::{AgentContext, Destination, Message, NodeId, Setting};

/// Sends a node's sizes and receives those of its neighbours.
#[derive(Debug, Clone, Default)]
pub(super) struct Announcer {
    /// Destinations of the last message whose sizes were not 0.
    told: Vec<NodeId>,
}

impl Announcer {
    /// Tells the sizes of the node's queues, by destination.
    pub(super) fn announce(&mut self, sizes: &[(NodeId, u32)], context: &mut AgentContext<'_>) {
        let emptied = self.told.iter().filter(|&&told| sizes.iter().all(|size| size.0 != told));
        let sizes_now = sizes.iter().map(|&(to, size)| (to.0, u16::try_from(size).unwrap_or(u16::MAX)));
        let message = Sizes::new(sizes_now.chain(emptied.map(|to| (to.0, 0))));
        self.told.clear();
        self.told.extend(sizes.iter().map(|size| size.0));
        if message.iter().next().is_none() {
            return;
        }
        let mut bytes = vec![0; message.wire_len()];
        if message.encode(&mut bytes).is_ok() {
            context.out.messages.push(Message {
                to: Destination::Broadcast,
                bytes,
                ahead: true,
                transmit: None,
            });
        }
    }

    /// A message has come from a neighbour.
    pub(super) fn hear(&self, from: NodeId, bytes: &[u8], context: &mut AgentContext<'_>) {
        let Ok((sizes, [])) = Sizes::decode(bytes) else { return };
        let settings = sizes.iter().map(|(destination, packets)| Setting::Backlog {
            neighbour: from,
            destination: NodeId(destination),
            packets: packets.into(),
        });
        context.out.settings.extend(settings);
    }
}
