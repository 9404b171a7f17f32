//! Nodes above the MAC and the wires.
//!
//! | file | contents |
//! |---|---|
//! | `backpressure` | what a node's own sources may have waiting, and who of them waits for room |

pub(crate) mod backpressure;
