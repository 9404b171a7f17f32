//! The keys of each block of a scenario, declared: what the reader accepts, and the reference made from it.

pub(crate) mod examples;
pub(crate) mod file_traffic;
pub(crate) mod inherit;
pub(crate) mod network;
pub(crate) mod propagation;
pub(crate) mod radio;
pub(crate) mod reference;
pub(crate) mod routing;
pub(crate) mod scheme_name;
pub(crate) mod tcp;
pub(crate) mod traffic;
pub(crate) mod transport;
