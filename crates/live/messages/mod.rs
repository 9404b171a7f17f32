//! Authentication of messages between the daemons of neighbours in a mesh: who has sent a packet, that nobody has changed it, and that it
//! is not a recorded one. State machines without sockets and clocks: bytes, times and randomness are handed in.
//!
//! After RFC 8967 (MAC authentication for the Babel routing protocol): nodes share keys; each packet carries an index, drawn at random
//! when its sender starts, and a counter; a node that meets an unknown index asks its sender to repeat a nonce (section 4.3.1) and hears
//! it from then on. So a node that restarts needs neither a clock nor a disk, and is heard again after one round trip. After RFC 9467,
//! packets may come in another order than they were sent: of each neighbour the last 128 counters are remembered. The MAC is HMAC-SHA256
//! (RFC 2104, FIPS 180-4), of which the first 128 bits are sent.
//!
//! # Packet
//!
//! At most 1400 bytes; all numbers are in network byte order.
//!
//! | offset | bytes | field |
//! |-------:|------:|-------|
//! | 0      | 3     | `AFM` |
//! | 3      | 1     | version: 1 |
//! | 4      | 1     | kind: 1 message, 2 challenge, 3 reply to a challenge |
//! | 5      | 1     | scope: 0 to everyone (messages only), 1 to one node |
//! | 6      | 2     | length of the payload, bytes |
//! | 8      | 4     | tag of the key: the start of the SHA-256 of its name |
//! | 12     | 4     | sender |
//! | 16     | 4     | addressee; 0 in a packet to everyone |
//! | 20     | 8     | index of the sender |
//! | 28     | 8     | counter: one more for each packet of that index |
//! | 36     | n     | payload, at most 1348 bytes |
//! | 36 + n | 16    | MAC over a pseudo header and all bytes before |
//!
//! The pseudo header is the text `airfair message 1`, the length of the name of the network as one byte, and that name. It is not sent.
//!
//! The payload of a challenge is a nonce of 16 bytes. That of a reply is the nonce of the challenge; 16 further bytes are a challenge in
//! the other direction, so that two nodes that do not hear each other yet need three packets, not four.
//!
//! # Where this differs from RFC 8967
//!
//! - Packets name their sender; it is not the address from which they come. Kinds of packets take the place of TLVs.
//! - One MAC a packet, by the first key; its tag spares trying all keys. All keys verify: a key is replaced without a gap by adding the
//!   new one as second everywhere, moving it to the front everywhere, and removing the old one.
//! - Counters have 64 bits. At the end of them a node draws a new index, as it does when it receives an authentic packet of its own name
//!   and index that it has not sent (a start with the randomness of an earlier start).
//! - A nonce is used for the challenges of 10 s and accepted for 30 s: replies of a node that starves come late, and challenges do not wait
//!   for them.
//! - The counters before a reply are taken for received.
//! - A counter that was received already, or is older than the window, is refused before the MAC is computed.
//! - A neighbour is forgotten when [`Limits::forgotten`] has passed since the last packet of it that was accepted (section 4.4 there asks
//!   for a finite time). A node that draws the index of its former start is refused as a replay until then.
//!
//! # Bounds on work
//!
//! Nothing is computed, kept or sent for a packet that is malformed, names an unknown key or repeats a counter. MACs are computed for at
//! most [`Limits::per_second`] packets a second, of which
//!
//! - half belongs to neighbours that are heard, in equal parts, for packets with their index and a counter that was not received yet;
//! - a quarter to nodes that are challenged, in equal parts, for replies with the nonce (8 a second each by default);
//! - a quarter to all other packets.
//!
//! Each part holds at most what it gets in a second. Only authentic packets change a table, and only a reply to a nonce of this node
//! makes a neighbour of a sender. Authentic messages have a limit for each neighbour, [`Limits::messages`].
//!
//! # What an attacker can still do
//!
//! - Without a key and out of reach of the radio: nothing to neighbours that are heard. A flood of packets with a right tag uses up the
//!   third part above: nodes that start or come into reach then need more attempts until their first packet is verified.
//! - Without a key, but overhearing packets: to forge packets with the index of a neighbour and future counters, or replies with the nonce
//!   of a challenge. They are refused, but use up the part of that node, so that packets of it are lost; those of others are not. A
//!   transmission that jams the radio does more.
//! - To suppress a packet and to deliver it later, as long as fewer than 128 later ones were received: order and age of messages are for
//!   their receiver to judge. To suppress a reply and deliver it up to 30 s later: the index of a start that has
//!   ended is proven then, and what it has sent since the reply can be delivered, until the node is challenged for its new index.
//! - To send recorded packets of an earlier start: they lead to at most one challenge each 300 ms and 10 replies a second for each sender,
//!   to the address from which they seem to come. A caller should take packets from addresses on the link only. Recorded challenges may
//!   come before those of a neighbour that starts, which then is not answered at once. Recorded packets of more senders than there are
//!   places for challenged nodes delay the challenges of new ones.
//! - With a key: to send messages in the name of any node, and to fill the table with names, so that new nodes are neither challenged nor
//!   answered. Keys are shared, as in RFC 8967.
//! - To read: nothing is encrypted.

mod access;
mod bucket;
mod counts;
mod keys;
mod mac;
mod packet;
mod session;
mod table;
mod window;

pub use counts::{Counts, Reason};
pub use keys::{KeyError, Keys};
pub use packet::{LARGEST_PACKET, LARGEST_PAYLOAD};
pub use session::{Heard, Limits, Opened, Session, TooLong};
