//! Messages in datagrams of netlink, and the replies to one request: one message, or a dump of several parts.

use netlink_packet_core::{NLM_F_DUMP_INTR, NetlinkBuffer};

use super::attributes::{Malformed, attributes};
use super::numbers::{NLM_F_ACK_TLVS, NLM_F_CAPPED, NLMSGERR_ATTR_MSG};

/// Bytes of the header of a message.
const HEADER: usize = 16;

/// Message types of all protocols (`linux/netlink.h`).
const NLMSG_NOOP: u16 = 1;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const NLMSG_OVERRUN: u16 = 4;

/// Most messages of a reply. An access point has at most 2007 stations, and the bands of Wi-Fi have some 100 channels.
pub(crate) const MOST_MESSAGES: usize = 4096;

/// Most bytes of a reply, of which only decoded values are kept.
pub(crate) const MOST_BYTES: usize = 16 << 20;

/// Longest text of the kernel about an error, in characters.
const LONGEST_TEXT: usize = 200;

/// A message of a datagram.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message<'a> {
    pub kind: u16,
    pub flags: u16,
    pub sequence: u32,
    pub payload: &'a [u8],
}

/// The messages in a datagram. The first that does not fit is an error, and the last item.
pub(crate) fn messages(datagram: &[u8]) -> impl Iterator<Item = Result<Message<'_>, Malformed>> {
    let mut rest = datagram;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let all = std::mem::take(&mut rest);
        let malformed = || Malformed("a message does not fit into its datagram");
        let Ok(header) = NetlinkBuffer::new_checked(all) else { return Some(Err(malformed())) };
        let length = header.length() as usize;
        let Some(payload) = all.get(HEADER..length) else { return Some(Err(malformed())) };
        rest = all.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(Ok(Message {
            kind: header.message_type(),
            flags: header.flags(),
            sequence: header.sequence_number(),
            payload,
        }))
    })
}

/// A reason for which a request has no whole reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// An error number of the kernel, with a text if it has one.
    Kernel { errno: i32, text: String },
    /// The reply is malformed.
    Malformed(Malformed),
    /// The reply has more messages or bytes than one can have.
    TooLong,
    /// Entries were added or removed while they were dumped.
    Interrupted,
    /// No message within the time-out.
    TimeOut,
    /// The call of the operating system that failed, and its error number.
    Socket { call: &'static str, errno: i32 },
}

impl From<Malformed> for Failure {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

/// The reply to one request, as far as it has been received.
#[derive(Debug)]
pub(crate) struct Reply {
    sequence: u32,
    kind: u16,
    is_dump: bool,
    messages: usize,
    bytes: usize,
    is_interrupted: bool,
}

impl Reply {
    /// Of messages of this type to the request with this sequence number.
    pub const fn new(sequence: u32, kind: u16, is_dump: bool) -> Self {
        Self { sequence, kind, is_dump, messages: 0, bytes: 0, is_interrupted: false }
    }

    /// Takes a datagram and hands each payload of the reply on; true if the reply is complete. Messages of other types or sequence numbers
    /// are skipped, and count towards the limits.
    pub fn take(
        &mut self,
        datagram: &[u8],
        each: &mut dyn FnMut(&[u8]) -> Result<(), Malformed>,
    ) -> Result<bool, Failure> {
        self.bytes = self.bytes.saturating_add(datagram.len());
        if datagram.is_empty() {
            self.count()?;
        }
        for message in messages(datagram) {
            let message = message?;
            self.count()?;
            if message.sequence != self.sequence {
                continue;
            }
            self.is_interrupted |= message.flags & NLM_F_DUMP_INTR != 0;
            match message.kind {
                NLMSG_NOOP => {}
                NLMSG_ERROR => return acknowledged(&message).map(|()| true),
                NLMSG_DONE => {
                    done(&message)?;
                    return if self.is_interrupted { Err(Failure::Interrupted) } else { Ok(true) };
                }
                NLMSG_OVERRUN => return Err(Malformed("data was lost").into()),
                kind if kind == self.kind => {
                    each(message.payload)?;
                    if !self.is_dump {
                        return Ok(true);
                    }
                }
                _ => {}
            }
        }
        Ok(false)
    }

    fn count(&mut self) -> Result<(), Failure> {
        self.messages += 1;
        let fits = self.messages <= MOST_MESSAGES && self.bytes <= MOST_BYTES;
        if fits { Ok(()) } else { Err(Failure::TooLong) }
    }
}

/// Error numbers are at most 4095 (`linux/err.h`).
fn failure(code: i32, extended: Option<&[u8]>) -> Result<(), Failure> {
    match code {
        0 => Ok(()),
        -4095..0 => Err(Failure::Kernel { errno: -code, text: extended.map(text).unwrap_or_default() }),
        _ => Err(Malformed("an error has a number that no error has").into()),
    }
}

/// The text of the kernel among the attributes of an error, empty if there is none.
fn text(extended: &[u8]) -> String {
    let attributes = attributes(extended).map_while(Result::ok);
    let mut messages = attributes.filter(|attribute| attribute.kind == NLMSGERR_ATTR_MSG);
    let text = messages.next().and_then(|message| message.text().ok()).unwrap_or_default();
    text.chars().filter(|character| !character.is_control()).take(LONGEST_TEXT).collect()
}

/// `NLMSG_ERROR`: a code, the header of the request, the rest of it unless it is capped, and attributes.
fn acknowledged(message: &Message<'_>) -> Result<(), Failure> {
    let code = message.payload.first_chunk().ok_or(Malformed("an error is too short"))?;
    let extended = || {
        let request = message.payload.get(4..)?;
        let header = u32::from_ne_bytes(*request.first_chunk()?) as usize;
        let length = if message.flags & NLM_F_CAPPED == 0 { header.max(HEADER) } else { HEADER };
        request.get(length.checked_next_multiple_of(4)?..)
    };
    let has_attributes = message.flags & NLM_F_ACK_TLVS != 0;
    failure(i32::from_ne_bytes(*code), if has_attributes { extended() } else { None })
}

/// `NLMSG_DONE`: a code, which is how a dump that the driver refuses ends; attributes may follow.
fn done(message: &Message<'_>) -> Result<(), Failure> {
    let Some(code) = message.payload.first_chunk() else { return Ok(()) };
    let code = i32::from_ne_bytes(*code);
    let extended = message.payload.get(4..).filter(|_| message.flags & NLM_F_ACK_TLVS != 0);
    // A dump may end with the length of its last part instead of 0.
    if code > 0 { Ok(()) } else { failure(code, extended) }
}
