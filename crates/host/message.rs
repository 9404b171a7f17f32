//! Messages of agents in transit: each receiver handles each of them once, however often its frame is sent.

use alloc::vec::Vec;

/// Index of a message in transit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageIx(pub u32);

#[derive(Debug, Clone, Default)]
struct InTransit {
    bytes: Vec<u8>,
    sender: u32,
    heard: Vec<u32>,
}

/// All messages in transit. Senders and receivers are numbers of the caller's.
#[derive(Debug, Clone, Default)]
pub struct Messages {
    list: Vec<InTransit>,
    free: Vec<u32>,
}

impl Messages {
    /// Adds a message that leaves its sender.
    pub fn add(&mut self, sender: u32, bytes: Vec<u8>) -> MessageIx {
        let message = InTransit { bytes, sender, heard: Vec::new() };
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

    /// Ends a message. Returns its sender and the number of nodes that have received it.
    pub fn end(&mut self, message: MessageIx) -> Option<(u32, usize)> {
        let ended = core::mem::take(self.list.get_mut(message.0 as usize)?);
        self.free.push(message.0);
        Some((ended.sender, ended.heard.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn each_node_receives_a_message_once() {
        let mut messages = Messages::default();
        let (one, two) = (messages.add(4, vec![1, 2]), messages.add(5, vec![3]));
        let hearers = [7, 8, 7, 7, 8, 9];
        let first = hearers.map(|hearer| messages.mark_received(one, hearer));
        assert_eq!(first, [true, true, false, false, false, true]);
        assert!(messages.mark_received(two, 7), "another message");
        assert_eq!((messages.bytes(one), messages.bytes(two)), (&[1, 2][..], &[3][..]));
        assert_eq!((messages.end(one), messages.end(two)), (Some((4, 3)), Some((5, 1))));
    }

    #[test]
    fn a_free_place_is_reused_without_its_old_state() {
        let mut messages = Messages::default();
        let old = messages.add(1, vec![1]);
        assert!(messages.mark_received(old, 2));
        messages.end(old);
        assert_eq!(messages.bytes(old), []);
        let new = messages.add(3, vec![2]);
        assert_eq!(new, old);
        assert!(messages.mark_received(new, 2));
        assert_eq!(messages.end(MessageIx(9)), None);
    }
}
