//! The text of a scenario: TOML as a tree of values with their locations, the errors that name them, overrides, edits in place.

pub(crate) mod document;
pub(crate) mod edit;
pub(crate) mod error;
pub(crate) mod limits;
pub(crate) mod location;
pub(crate) mod nearest;
pub(crate) mod overrides;
pub(crate) mod source;
pub(crate) mod tree;
