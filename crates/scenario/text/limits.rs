//! How large a scenario may be.

/// How large a scenario may be. The complete form of the largest scenario of usual names still fits in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of a file.
    pub file_bytes: u64,
    /// Most nodes, written and generated.
    pub nodes: u64,
    /// Most flows, written and drawn.
    pub flows: u64,
    /// Most files in the lists of all flows.
    pub listed: u64,
    /// Most changes of all measured gains.
    pub gain_changes: u64,
    /// Most waypoints of all nodes.
    pub waypoints: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 16 << 20,
            nodes: 100_000,
            flows: 20_000,
            listed: 200_000,
            gain_changes: 200_000,
            waypoints: 200_000,
        }
    }
}

/// The fault of a file of more than `most` bytes.
pub(crate) fn too_large(most: u64) -> String {
    format!("larger than {most} bytes")
}
