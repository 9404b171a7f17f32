//! What is counted, and what a run's numbers say: values that know no world. No files here.

pub mod delays;
pub mod files;
pub mod samples;
pub mod statistics;
pub mod summary;
