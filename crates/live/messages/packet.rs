//! The layout of packets; see the table in the module above.

use airfair_schemes::places::NodeId;

use super::counts::Reason;
use super::mac::{Authenticator, MAC_LEN};

/// Length of the longest packet, bytes: the largest announcement of the airtime allocator fits. Those above 1400 bytes, from nodes that
/// hear of a hundred links, may travel in two fragments.
pub const LARGEST_PACKET: usize = 1500;
/// Length of the longest payload, bytes.
pub const LARGEST_PAYLOAD: usize = LARGEST_PACKET - HEADER_LEN - MAC_LEN;

const HEADER_LEN: usize = 36;
const MAGIC: [u8; 3] = *b"AFM";
const VERSION: u8 = 1;

/// Length of a nonce, bytes.
pub(super) const NONCE_LEN: usize = 16;
/// A random number that a challenged node repeats.
pub(super) type Nonce = [u8; NONCE_LEN];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Message,
    Challenge,
    Reply,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    pub(super) key: u32,
    pub(super) sender: NodeId,
    /// None: everyone.
    pub(super) to: Option<NodeId>,
    pub(super) index: u64,
    pub(super) counter: u64,
}

impl Header {
    /// The packet; the payload is at most [`LARGEST_PAYLOAD`] long.
    pub(super) fn seal(&self, payload: &[u8], authenticator: &Authenticator) -> Vec<u8> {
        let mut packet = Vec::with_capacity(HEADER_LEN + payload.len() + MAC_LEN);
        packet.extend_from_slice(&MAGIC);
        let kind = match self.kind {
            Kind::Message => 1,
            Kind::Challenge => 2,
            Kind::Reply => 3,
        };
        packet.extend_from_slice(&[VERSION, kind, u8::from(self.to.is_some())]);
        packet.extend_from_slice(&u16::try_from(payload.len()).unwrap_or(u16::MAX).to_be_bytes());
        packet.extend_from_slice(&self.key.to_be_bytes());
        packet.extend_from_slice(&self.sender.0.to_be_bytes());
        packet.extend_from_slice(&self.to.map_or(0, |to| to.0).to_be_bytes());
        packet.extend_from_slice(&self.index.to_be_bytes());
        packet.extend_from_slice(&self.counter.to_be_bytes());
        packet.extend_from_slice(payload);
        let mac = authenticator.mac(&packet);
        packet.extend_from_slice(&mac);
        packet
    }
}

/// A packet that is well formed; nothing in it is verified.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packet<'a> {
    pub(super) header: Header,
    pub(super) payload: &'a [u8],
    /// All that is authenticated.
    pub(super) signed: &'a [u8],
    pub(super) mac: &'a [u8; MAC_LEN],
}

impl<'a> Packet<'a> {
    pub(super) fn decode(bytes: &'a [u8]) -> Result<Self, Reason> {
        if bytes.len() > LARGEST_PACKET {
            return Err(Reason::Malformed);
        }
        let (signed, mac) = bytes.split_last_chunk::<MAC_LEN>().ok_or(Reason::Malformed)?;
        let (header, payload) = signed.split_first_chunk::<HEADER_LEN>().ok_or(Reason::Malformed)?;
        let (start, numbers) = header.split_first_chunk::<8>().ok_or(Reason::Malformed)?;
        let [a, b, c, version, kind, scope, length @ ..] = *start;
        if [a, b, c] != MAGIC {
            return Err(Reason::Malformed);
        }
        if version != VERSION {
            return Err(Reason::Version);
        }
        if usize::from(u16::from_be_bytes(length)) != payload.len() {
            return Err(Reason::Malformed);
        }
        let word = |at: usize| {
            numbers.get(at..).and_then(|rest| rest.first_chunk::<4>()).map(|&b| u32::from_be_bytes(b))
        };
        let long = |at: usize| {
            numbers.get(at..).and_then(|rest| rest.first_chunk::<8>()).map(|&b| u64::from_be_bytes(b))
        };
        let (Some(key), Some(sender), Some(to), Some(index), Some(counter)) =
            (word(0), word(4), word(8), long(12), long(20))
        else {
            return Err(Reason::Malformed);
        };
        let kind = match (kind, scope, payload.len()) {
            (1, 0 | 1, _) => Kind::Message,
            (2, 1, NONCE_LEN) => Kind::Challenge,
            (3, 1, length) if length == NONCE_LEN || length == 2 * NONCE_LEN => Kind::Reply,
            _ => return Err(Reason::Malformed),
        };
        let to = match (scope, to) {
            (0, 0) => None,
            (0, _) => return Err(Reason::Malformed),
            _ => Some(NodeId(to)),
        };
        let header = Header { kind, key, sender: NodeId(sender), to, index, counter };
        Ok(Self { header, payload, signed, mac })
    }

    /// The nonce that a reply repeats.
    pub(super) fn repeated(&self) -> Option<Nonce> {
        let nonce = self.payload.first_chunk().copied();
        nonce.filter(|_| self.header.kind == Kind::Reply)
    }

    /// The nonce that the sender wants repeated, in a challenge or behind a reply.
    pub(super) fn challenge(&self) -> Option<Nonce> {
        let front = match self.header.kind {
            Kind::Message => return None,
            Kind::Challenge => 0,
            Kind::Reply => NONCE_LEN,
        };
        self.payload.get(front..).and_then(|rest| rest.first_chunk()).copied()
    }
}
