//! Statistics and results of a run: values without reference to a world. No file access.

pub mod delays;
pub mod files;
pub mod samples;
pub mod statistics;
pub mod summary;
