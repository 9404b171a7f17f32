//! Defaults that depend on a choice: what each standard, each radio profile and each TCP profile brings.

pub(crate) mod categories;
pub(crate) mod radio_profile;
pub(crate) mod standard;
pub(crate) mod tcp_profile;
