//! Authentication of messages: what is heard, what is refused, what an attacker can use up.
#![cfg(target_os = "linux")]

mod air;
mod challenges;
mod exchange;
mod hostile;
mod keys;
mod limits;
mod replay;
