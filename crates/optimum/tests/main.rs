//! Cliques, rates and schedules, compared with counts and rates that are known.

mod cliques;
mod families;
mod incremental;
mod maxmin;
mod networks;
mod problem;
mod proportional;
mod schedule;
