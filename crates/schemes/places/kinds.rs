//! Kinds of a scheme's messages.

/// The kinds of the messages of a scheme's agents and controllers.
#[derive(Debug, Clone, Copy)]
pub struct MessageKinds {
    /// Their names, in the order of results.
    pub names: &'static [&'static str],
    /// The place among `names` of the kind of a message that begins with these bytes; none if it is of no kind.
    pub of: fn(&[u8; 4]) -> Option<usize>,
}
