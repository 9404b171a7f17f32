//! C3L: a controller assigns every link its share of the air; nodes divide it among flows.
//!
//! Source: Raniwala, De, Sharma, Krishnan, Chiueh, "Globally Fair Radio Resource Allocation for Wireless Mesh Networks". Places: an agent
//! at each node (discovery, profile, shares), the hop (stamp), the source (rate), the controller. Here are its laws as functions and state
//! machines over values; what calls them is not in this folder yet.
//!
//! | symbol | here | unit |
//! |---|---|---|
//! | C_max | 1; a link's goodput alone is 1 by `cost` | part of the time of the air; bit/s |
//! | C_est, Cap_cid | `capacity::Estimate::capacity` | part of C_max |
//! | δ_i, δ_r | `capacity::Config::increment`, `capacity::Estimate::decrement` | part of C_max |
//! | O_nid, r_nid | `capacity::LinkRound::{assigned, transmissions}` | bit/s, transmissions of a packet |
//! | Chnl, Estimate_Channel_Usage | `capacity::Capacities::usage` | seconds per second |
//! | W_FACTOR, Hidden | `capacity::Config::w_factor`, `topology::Topology::hidden` | – |
//! | C_alloc, C_residual, n_unasn | `shares::divide`: `link`, `residual`, `unassigned` | bit/s, flows |
//! | f_s, δ (III-E) | `shares::Requirement`, `shares::Config::delta` | bit/s, part of the link's share |
//!
//! | file | contents |
//! |---|---|
//! | `discovery` | §III-B, at a node: who is heard |
//! | `topology` | §III-B, at the controller: conflict graph, cliques, inhibited links |
//! | `profile` | §III-A, at the controller: routes of flows |
//! | `allocation` | §III-C, shares of links |
//! | `capacity` | §III-D, Algorithm 1 |
//! | `round` | figure 6, a round of the controller: these together |
//! | `shares` | §III-E, shares of flows |
//! | `local` | §III-A, reaction to a queue; figure 12, estimates without a controller |
//! | `controllers` | which controller a node reports to (ours) |
//!
//! Readings that no single file owns:
//! - C_max is what a lone link delivers at its rate when it is saturated, not the rate of its frames. A clique is therefore a second of air
//!   per second, of which a link takes 1/C for each bit: links of different rates can be in one clique (the paper has one rate).
//! - No result depends on the order of nodes, links, flows or reports: where numbers are equal, names decide.
//! - All that is learnt from messages expires, and every table has a limit.

pub mod allocation;
pub mod capacity;
pub mod controllers;
pub mod discovery;
pub mod local;
pub mod profile;
pub mod round;
pub mod shares;
pub mod topology;
