//! Messages of agents and controllers in transit, and headers of forwarders' broadcasts: their bytes, and how far they have come.

use std::sync::Arc;

use airfair_host::{EndedMessage, MessageId, MessageSender, Outgoing};
use airfair_schemes::places::Transmit;

use crate::ids::{FlowIx, MessageIx, NodeIx, StationIx};

/// A message that has not ended.
#[derive(Debug, Clone)]
pub(crate) struct InTransit {
    /// Name of the message; none of the header of a broadcast.
    pub id: Option<MessageId>,
    pub sender: MessageSender<StationIx>,
    pub bytes: Arc<[u8]>,
    /// Nodes any number of hops away may receive it.
    pub routed: bool,
    /// How it is broadcast.
    pub transmit: Option<Transmit>,
    /// Flow and batch that the broadcast of a header serves.
    pub batch: Option<(FlowIx, u32)>,
    /// It has reached the node that it is for.
    arrived: bool,
    /// Number of agents that have it.
    receivers: usize,
}

/// All messages in transit.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    list: Vec<Option<InTransit>>,
    free: Vec<u32>,
}

impl InTransit {
    /// A message to one node, or to all neighbours of its sender's radio; `routed`: to a node any number of hops away.
    pub fn new(of: Outgoing<StationIx, NodeIx>, routed: bool) -> Self {
        let (bytes, transmit) = (of.message.bytes.into(), of.message.transmit);
        let (id, sender) = (Some(of.id), of.sender);
        Self { id, sender, bytes, routed, transmit, batch: None, arrived: false, receivers: 0 }
    }

    /// The header of a broadcast.
    pub fn header(station: StationIx, bytes: Vec<u8>, batch: Option<(FlowIx, u32)>) -> Self {
        let (sender, bytes) = (MessageSender::Agent(station), bytes.into());
        Self { id: None, sender, bytes, routed: false, transmit: None, batch, arrived: false, receivers: 0 }
    }

    /// The first bytes.
    pub fn start<const N: usize>(&self) -> [u8; N] {
        let mut start = [0; N];
        start.iter_mut().zip(&*self.bytes).for_each(|(to, from)| *to = *from);
        start
    }
}

impl Messages {
    /// Adds a message.
    pub fn add(&mut self, message: InTransit) -> MessageIx {
        if let Some(at) = self.free.pop() {
            self.list[at as usize] = Some(message);
            return MessageIx(at);
        }
        self.list.push(Some(message));
        MessageIx(self.list.len() as u32 - 1)
    }

    /// A message that has not ended.
    pub fn get(&self, message: MessageIx) -> Option<&InTransit> {
        self.list.get(message.ix())?.as_ref()
    }

    /// Name, bytes and sender of a message of an agent or a controller that has not ended.
    pub fn content(&self, message: MessageIx) -> Option<(MessageId, Arc<[u8]>, MessageSender<StationIx>)> {
        let message = self.get(message)?;
        Some((message.id?, message.bytes.clone(), message.sender))
    }

    /// The first bytes of a message; zeros after its end.
    pub fn start_of<const N: usize>(&self, message: MessageIx) -> [u8; N] {
        self.get(message).map_or([0; N], InTransit::start)
    }

    /// Records that an agent has a message of this name.
    pub fn count_receiver(&mut self, message: MessageIx, id: MessageId) {
        let message = self.list.get_mut(message.ix()).and_then(Option::as_mut);
        message
            .filter(|message| message.id == Some(id))
            .into_iter()
            .for_each(|message| message.receivers += 1);
    }

    /// Records that a message has reached the node that it is for.
    pub fn mark_arrived(&mut self, message: MessageIx) {
        let message = self.list.get_mut(message.ix()).and_then(Option::as_mut);
        message.into_iter().for_each(|message| message.arrived = true);
    }

    /// Ends a message. Returns its sender and its fate.
    pub fn end(&mut self, message: MessageIx) -> Option<(MessageSender<StationIx>, EndedMessage)> {
        let InTransit { sender, routed, arrived, receivers, .. } = self.list.get_mut(message.ix())?.take()?;
        self.free.push(message.0);
        Some((sender, EndedMessage { receivers, routed, arrived }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airfair_schemes::places::{Destination, Message, NodeId};

    fn message(number: u64, transmit: Option<Transmit>) -> InTransit {
        let message =
            Message { to: Destination::Broadcast, bytes: vec![7, number as u8], ahead: false, transmit };
        let id = MessageId { origin: NodeId(4), number };
        InTransit::new(
            Outgoing { id, node: NodeIx(0), sender: MessageSender::Agent(StationIx(4)), message },
            false,
        )
    }

    #[test]
    fn a_message_ends_once_with_what_it_has_reached() {
        let mut messages = Messages::default();
        let (one, other) = (messages.add(message(1, None)), messages.add(message(2, None)));
        let ids = [1, 2].map(|number| MessageId { origin: NodeId(4), number });
        messages.count_receiver(one, ids[0]);
        messages.count_receiver(one, ids[0]);
        messages.count_receiver(one, ids[1]);
        messages.mark_arrived(other);
        assert_eq!((messages.start_of(one), messages.start_of(other)), ([7, 1, 0], [7]));
        let ended = |receivers, arrived| {
            Some((MessageSender::Agent(StationIx(4)), EndedMessage { receivers, routed: false, arrived }))
        };
        assert_eq!((messages.end(one), messages.end(other)), (ended(2, false), ended(0, true)));
        assert_eq!((messages.end(one), messages.start_of(one)), (None, [0; 2]), "it has ended");
    }

    #[test]
    fn a_free_place_is_reused_without_its_old_state() {
        let mut messages = Messages::default();
        let old = messages.add(message(1, Some(Transmit::default())));
        messages.mark_arrived(old);
        assert!(messages.get(old).and_then(|message| message.transmit).is_some());
        messages.end(old);
        let new = messages.add(message(2, None));
        assert_eq!(new, old);
        assert!(messages.get(new).and_then(|message| message.transmit).is_none());
        let fate = messages.end(new).map(|(_, ended)| ended);
        assert_eq!(fate, Some(EndedMessage { receivers: 0, routed: false, arrived: false }));
        assert_eq!(messages.end(MessageIx(9)), None);
    }
}
