//! Routing protocols as state machines: packets, messages and times are handed in, decisions are handed back. No clock, no socket, no
//! simulator, so that one implementation serves a simulated node and a real one.

#![no_std]

extern crate alloc;

pub mod aodv;
