//! Flows whose static routes pass a node: knowledge of the simulator, of which agents learn how many are being set up.

use crate::ids::{FlowIx, NodeIx, Table};

/// Flows by node.
#[derive(Debug, Default)]
pub(crate) struct Passing(Table<NodeIx, Vec<FlowIx>>);

impl Passing {
    /// Registers a flow at a node that its route passes. All calls for a flow follow one another.
    pub fn add(&mut self, node: NodeIx, flow: FlowIx) {
        while self.0.len() <= node.ix() {
            self.0.push(Vec::new());
        }
        if self.0[node].last() != Some(&flow) {
            self.0[node].push(flow);
        }
    }

    /// Flows that pass a node.
    pub fn at(&self, node: NodeIx) -> &[FlowIx] {
        self.0.get(node).map_or(&[], |flows| flows)
    }
}
