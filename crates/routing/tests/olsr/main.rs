//! Rules of RFC 3626 with scripts computed by hand, and networks of state machines; docs/olsr.md maps rules to tests.

mod etx;
mod flooding;
mod hello;
mod hostile;
mod limits;
mod links;
mod networks;
mod relays;
#[path = "../shared/mod.rs"]
mod shared;
mod support;
mod table;
mod topology;
