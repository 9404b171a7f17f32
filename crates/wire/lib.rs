//! Encoding and decoding of every header. No state, no clock, no socket.
//!
//! Each header is a plain value whose field types hold only values that fit into the field, so that what can be
//! constructed can be encoded, and what is encoded decodes to the same value. Headers have
//!
//! - `wire_len()`, its length on the wire in bytes: the only definition of that size;
//! - `encode(&self, &mut [u8]) -> Result<usize, EncodeError>`, which returns the bytes written and fails only
//!   where the buffer is too short;
//! - `decode(&[u8]) -> Result<(Self, &[u8]), DecodeError>`, which returns the bytes that follow (for a header
//!   with a length field: exactly its payload, without link-layer padding).
//!
//! Exceptions: [`ieee80211::Frame::decode`] reads the whole slice and returns no rest; [`pcapng::Block::decode`]
//! returns `None` at the end of the file; TCP options are part of their header.
//!
//! Whole IP packets of others, in the payload of Ethernet frames, are read and changed where they lie:
//!
//! | to | use |
//! |---|---|
//! | read a packet of either version, through IPv6's extension headers | [`Ip::decode`] |
//! | name its flow, by addresses, protocol and ports | [`FiveTuple::new`], [`FiveTuple::flow`] |
//! | distinguish data from lone acknowledgements | [`five_tuple::Class::new`] |
//! | mark congestion, set the DSCP | [`ip::set_ce`], [`ip::set_dscp`] |
//! | echo marks, grant rates in a TCP segment | [`tcp::set_ece`], [`tcp::set_scheme`] |
//!
//! These functions keep checksums right by their difference ([`checksum::updated`]), and change no byte where the
//! change is not allowed.
//!
//! No input makes a decoder panic. Reserved bits are ignored on reception and sent as zero; a value that this
//! crate does not represent is an error that names the header, the byte and what was expected.
//!
//! ```
//! use airfair_wire::{MacAddr, ieee80211::{Frame, NavDuration, Rts}};
//!
//! let rts = Rts {
//!     duration: NavDuration::new(1_234).unwrap(),
//!     receiver: MacAddr([2, 0, 0, 0, 0, 1]),
//!     transmitter: MacAddr([2, 0, 0, 0, 0, 2]),
//! };
//! let mut bytes = [0; Rts::wire_len()];
//! assert_eq!(rts.encode(&mut bytes), Ok(20));
//! assert_eq!(Frame::decode(&bytes), Ok(Frame::Rts(rts)));
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[macro_use]
mod bounded;
mod cursor;

pub mod address;
pub mod airtime;
pub mod aodv;
pub mod arp;
pub mod atp;
pub mod c3l;
pub mod checksum;
pub mod congestion;
pub mod diffq;
pub mod dsdv;
pub mod error;
pub mod ethernet;
pub mod exact;
pub mod exor;
pub mod five_tuple;
pub mod flow;
pub mod fuzz;
pub mod ieee80211;
pub mod ip;
pub mod ipv4;
pub mod ipv6;
pub mod llc;
pub mod more;
pub mod nred;
pub mod olsr;
pub mod pcapng;
pub mod probe;
mod pseudo_header;
pub mod radiotap;
pub mod rate;
mod siphash;
pub mod tcp;
pub mod udp;

pub use address::{IpAddr, Ipv4Addr, Ipv6Addr, MacAddr};
pub use arp::Arp;
pub use congestion::Congestion;
pub use error::{DecodeError, EncodeError, Expected, Header};
pub use ethernet::{EtherType, Ethernet};
pub use five_tuple::FiveTuple;
pub use flow::Flow;
pub use ip::Ip;
pub use ipv4::Ipv4;
pub use ipv6::Ipv6;
pub use llc::LlcSnap;
pub use pseudo_header::Address;
pub use radiotap::Radiotap;
pub use tcp::Tcp;
pub use udp::Udp;
