//! What is counted, and what a run's numbers say. No files here.

pub mod delays;
pub mod files;
pub mod series;
pub mod statistics;
pub mod summary;
pub mod trace;
