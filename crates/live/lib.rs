//! Schemes of the simulator on Linux nodes: a daemon that measures, exchanges messages, and sets what the kernel does with packets.
#![cfg(target_os = "linux")]

pub mod netlink;
