//! Host of schemes: the part of a node that runs a scheme and is no simulator. Emulation and a daemon can use the same code.
//!
//! A host owns the state machines of schemes and calls their hooks in the order of the contract ([`airfair_schemes::places`]). On the
//! way of a packet ([`Pipeline`], [`UdpSource`], [`UdpReceiver`]) the effects are returned as values: verdicts, reports, and
//! [`Firing`]s, which the caller schedules. What agents, controllers and forwarders ask for is carried out by a network, any [`Net`]:
//! the functions of [`agents`], [`controllers`] and [`forwarders`] take one as their first argument. Time, randomness and packets are
//! arguments.
//!
//! | part | contents |
//! |---|---|
//! | [`Net`] | the network under the hosts: messages, counters, neighbours |
//! | [`Hosts`] | the state of all hosts of a network: of one node in a daemon, of all nodes in a simulator |
//! | [`agents`] | agents at radios: samples, timers, messages, settings |
//! | [`controllers`] | controllers at nodes, and the messages that reach them |
//! | [`forwarders`] | agents that carry flows by broadcasts: packets at their sources, turns at a radio |
//! | [`LinkMeters`], [`UseMeters`], [`MessageFrames`] | counters of links and flows, times of packets, frames of messages |
//! | [`Slot`] | a state machine with its random stream, rank and timers |
//! | [`Pipeline`] | queue, AQM and hop of an output interface: arrival, dequeuing, departure, reception |
//! | [`AgentSlot`], [`ControllerSlot`] | one agent, one controller |
//! | [`UdpSource`], [`UdpReceiver`] | both ends of a flow over UDP: pacing, reports |
//! | [`HeaderKinds`], [`Echo`] | headers of explicit-rate schemes: the kind of each packet's header, the receiver's echo |
//! | [`Capabilities`] | capabilities of a network, compared with a scheme's needs |
//! | [`OnDriver`] | the capabilities of a typical host on real interfaces, and where each comes from |
//! | [`scheme_ids`] | numbers of nodes and flows for schemes, by name |

#![no_std]

extern crate alloc;

mod agent;
mod capability;
mod controller;
mod driver;
mod header;
mod hosts;
mod interface;
mod message_frames;
mod sample;
pub mod scheme_ids;
mod seen;
mod slot;
mod table;
mod udp;

pub use agent::{AgentSlot, EndedMessage, MessageCounts};
pub use capability::{Capabilities, Offer};
pub use controller::ControllerSlot;
pub use driver::{Fit, OnDriver, Origin};
pub use header::{Echo, HeaderId, HeaderKinds, HeaderRef};
pub use hosts::agents::{Addressee, Agents, Received};
pub use hosts::controllers::{ControllerCounts, Controllers};
pub use hosts::forwarders::{ForwardCounts, Forwarders};
pub use hosts::link_meters::{ArrivedPacket, FinishedPacket, LinkMeters};
pub use hosts::use_meters::{LinkTotals, UseMeters};
pub use hosts::{HostEvent, Hosts, MessageSender, Meters, Net, Outgoing, agents, controllers, forwarders};
pub use interface::{Dequeued, Pipeline};
pub use message_frames::{ControlTraffic, MessageFrames, SentPacket};
pub use sample::{InterfaceCounters, LinkCounters};
pub use seen::{MessageId, Seen};
pub use slot::{Firing, Slot, Timed, Timers};
pub use table::{ControllerIx, Ix, Table};
pub use udp::{ReportCounts, UdpReceiver, UdpSource};
