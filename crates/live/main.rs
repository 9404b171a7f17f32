//! The program `airfaird`.
fn main() {}
