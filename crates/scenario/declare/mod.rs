//! How a key is declared: the types that a value can have, tables of keys, their documentation and JSON Schema. No key is named here.

pub(crate) mod choice;
pub(crate) mod delayed_ack;
pub(crate) mod field;
pub(crate) mod frequency;
pub(crate) mod name;
pub(crate) mod schema;
pub(crate) mod table;
pub(crate) mod window;
