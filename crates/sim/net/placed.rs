//! Which scheme stands at a node's interfaces: the run's, unless the node names its own.

use std::collections::BTreeMap;

use airfair_schemes::{Registry, Scheme};

use crate::spec::WorldSpec;

/// The run's scheme and those of nodes that have their own.
pub(crate) struct Placed {
    pub run: Box<dyn Scheme>,
    own: BTreeMap<usize, Box<dyn Scheme>>,
}

impl Placed {
    /// Finds the nodes' own schemes among `schemes`.
    ///
    /// # Errors
    /// There is no such node or scheme, or the scheme refuses its parameters.
    pub(crate) fn new(spec: &WorldSpec, run: Box<dyn Scheme>, schemes: &Registry) -> Result<Self, String> {
        let mut own = BTreeMap::new();
        for placed in &spec.schemes {
            let node = spec.nodes.get(placed.node);
            let node = node.ok_or_else(|| format!("scheme {}: no such node", placed.scheme))?;
            let fail = |problem: &str| format!("node {}: {problem}", node.id);
            let entry = schemes.find(&placed.scheme);
            let entry = entry.ok_or_else(|| fail(&format!("no such scheme: {}", placed.scheme)))?;
            let built = (entry.build)(&placed.params);
            own.insert(placed.node, built.map_err(|e| fail(&format!("{}.{e}", placed.scheme)))?);
        }
        Ok(Self { run, own })
    }

    /// What stands at a node's interfaces.
    pub(crate) fn at(&self, node: usize) -> &dyn Scheme {
        self.own.get(&node).map_or(&*self.run, |scheme| &**scheme)
    }
}
