//! From the tables that were read to the specification of a world, with every default filled in and every reference between blocks checked.

pub(crate) mod blocks;
pub(crate) mod categories;
mod channels;
pub(crate) mod complete_form;
pub(crate) mod csv;
pub(crate) mod file_traffic;
pub(crate) mod file_traffic_csv;
pub(crate) mod flows;
pub(crate) mod gain_changes_csv;
pub(crate) mod movement;
pub(crate) mod movement_file;
pub(crate) mod named_file;
pub(crate) mod nodes;
pub(crate) mod propagation;
pub(crate) mod radio;
pub(crate) mod routing;
pub(crate) mod tcp;
pub(crate) mod traffic;
pub(crate) mod world;
