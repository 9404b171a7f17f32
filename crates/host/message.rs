//! Messages of agents in transit: each receiver handles each of them once, however often its frame is sent.

use alloc::vec::Vec;

use airfair_schemes::places::Transmit;

/// Index of a message in transit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageIx(pub u32);

#[derive(Debug, Clone, Default)]
struct InTransit {
    bytes: Vec<u8>,
    sender: u32,
    /// Nodes any number of hops away may receive it.
    routed: bool,
    /// How it is broadcast.
    transmit: Option<Transmit>,
    /// It has reached the node that it is for.
    arrived: bool,
    heard: Vec<u32>,
}

/// A message that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndedMessage {
    /// The node that sent the message.
    pub sender: u32,
    /// Receivers that have handled it.
    pub receivers: usize,
    /// See [`Messages::add`].
    pub routed: bool,
    /// It has reached the node that it is for.
    pub arrived: bool,
}

/// All messages in transit. Senders and receivers are numbers of the caller's.
#[derive(Debug, Clone, Default)]
pub struct Messages {
    list: Vec<InTransit>,
    free: Vec<u32>,
}

impl Messages {
    /// Adds a message that leaves its sender. `routed`: it may be for a node any number of hops away.
    pub fn add(&mut self, sender: u32, bytes: Vec<u8>, routed: bool) -> MessageIx {
        let message = InTransit { bytes, sender, routed, ..InTransit::default() };
        match self.free.pop() {
            Some(at) => {
                self.list[at as usize] = message;
                MessageIx(at)
            }
            None => {
                self.list.push(message);
                MessageIx(self.list.len() as u32 - 1)
            }
        }
    }

    /// Bytes of a message; none after its end.
    #[must_use]
    pub fn bytes(&self, message: MessageIx) -> &[u8] {
        self.list.get(message.0 as usize).map_or(&[], |message| &message.bytes)
    }

    /// Takes the bytes out, so that the caller can borrow the list mutably; [`Messages::put_back`] returns them.
    pub fn take_bytes(&mut self, message: MessageIx) -> Vec<u8> {
        self.list
            .get_mut(message.0 as usize)
            .map_or_else(Vec::new, |message| core::mem::take(&mut message.bytes))
    }

    /// Returns the bytes that [`Messages::take_bytes`] has taken out.
    pub fn put_back(&mut self, message: MessageIx, bytes: Vec<u8>) {
        if let Some(message) = self.list.get_mut(message.0 as usize) {
            message.bytes = bytes;
        }
    }

    /// Records that `hearer` has received a message; true the first time.
    pub fn mark_received(&mut self, message: MessageIx, hearer: u32) -> bool {
        let Some(message) = self.list.get_mut(message.0 as usize) else { return false };
        let first = !message.heard.contains(&hearer);
        if first {
            message.heard.push(hearer);
        }
        first
    }

    /// Stores how a message is broadcast.
    pub fn set_transmit(&mut self, message: MessageIx, transmit: Option<Transmit>) {
        if let Some(message) = self.list.get_mut(message.0 as usize) {
            message.transmit = transmit;
        }
    }

    /// How a message is broadcast, if it says so.
    #[must_use]
    pub fn transmit(&self, message: MessageIx) -> Option<Transmit> {
        self.list.get(message.0 as usize)?.transmit
    }

    /// The sender of a message that has not ended.
    #[must_use]
    pub fn sender(&self, message: MessageIx) -> Option<u32> {
        self.list.get(message.0 as usize).map(|message| message.sender)
    }

    /// True if a message may be for a node any number of hops away.
    #[must_use]
    pub fn is_routed(&self, message: MessageIx) -> bool {
        self.list.get(message.0 as usize).is_some_and(|message| message.routed)
    }

    /// Records that a message has reached the node that it is for; true the first time.
    pub fn mark_arrived(&mut self, message: MessageIx) -> bool {
        let message = self.list.get_mut(message.0 as usize);
        message.is_some_and(|message| !core::mem::replace(&mut message.arrived, true))
    }

    /// Ends a message.
    pub fn end(&mut self, message: MessageIx) -> Option<EndedMessage> {
        let InTransit { sender, routed, arrived, heard, .. } =
            core::mem::take(self.list.get_mut(message.0 as usize)?);
        self.free.push(message.0);
        Some(EndedMessage { sender, receivers: heard.len(), routed, arrived })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn each_node_receives_a_message_once() {
        let mut messages = Messages::default();
        let (one, two) = (messages.add(4, vec![1, 2], false), messages.add(5, vec![3], true));
        let hearers = [7, 8, 7, 7, 8, 9];
        let first = hearers.map(|hearer| messages.mark_received(one, hearer));
        assert_eq!(first, [true, true, false, false, false, true]);
        assert!(messages.mark_received(two, 7), "another message");
        assert_eq!((messages.bytes(one), messages.bytes(two)), (&[1, 2][..], &[3][..]));
        assert_eq!([one, two].map(|message| messages.is_routed(message)), [false, true]);
        let arrived = [two, two].map(|message| messages.mark_arrived(message));
        assert_eq!(arrived, [true, false]);
        let ended =
            |sender, receivers, routed| Some(EndedMessage { sender, receivers, routed, arrived: routed });
        assert_eq!((messages.end(one), messages.end(two)), (ended(4, 3, false), ended(5, 1, true)));
    }

    #[test]
    fn a_free_place_is_reused_without_its_old_state() {
        let mut messages = Messages::default();
        let old = messages.add(1, vec![1], true);
        messages.set_transmit(old, Some(Transmit::default()));
        assert_eq!(messages.transmit(old), Some(Transmit::default()));
        assert!(messages.mark_received(old, 2) && messages.mark_arrived(old));
        messages.end(old);
        assert_eq!(messages.bytes(old), []);
        let new = messages.add(3, vec![2], true);
        assert_eq!((new, messages.transmit(new)), (old, None));
        assert!(messages.mark_received(new, 2) && messages.mark_arrived(new));
        assert_eq!(messages.end(MessageIx(9)), None);
    }
}
