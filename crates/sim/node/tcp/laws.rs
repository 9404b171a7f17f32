//! Window laws of a run: one scheme for each law and set of parameters, shared by the flows that use it.

use airfair_schemes::places::{Interface, Source};
use airfair_schemes::{Params, Registry, Scheme};

use crate::spec::{Transport, WorldSpec};

/// Index of a law.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LawId(usize);

/// The schemes that make sources.
#[derive(Default)]
pub(crate) struct Laws(Vec<Box<dyn Scheme>>);

impl Laws {
    /// The laws of all flows: each flow's own, unless the run's scheme has a source and the flow's law is not pinned. `run` is a second
    /// copy of the run's scheme; the others are looked up in `schemes`.
    pub(crate) fn new(
        spec: &WorldSpec,
        run: Option<Box<dyn Scheme>>,
        schemes: &Registry,
    ) -> Result<(Self, Vec<Option<LawId>>), String> {
        let mut laws: Vec<Box<dyn Scheme>> = Vec::new();
        let mut known: Vec<(&str, &Params, LawId)> = Vec::new();
        let of_run = run.map(|scheme| {
            laws.push(scheme);
            LawId(0)
        });
        let mut ids = Vec::with_capacity(spec.flows.len());
        for flow in &spec.flows {
            let Transport::Tcp { law, params, pinned, .. } = &flow.transport else {
                ids.push(None);
                continue;
            };
            if let Some(id) = of_run.filter(|_| !pinned) {
                ids.push(Some(id));
                continue;
            }
            if let Some(&(_, _, id)) = known.iter().find(|k| k.0 == law && k.1 == params) {
                ids.push(Some(id));
                continue;
            }
            let entry =
                schemes.find(law).ok_or_else(|| format!("flow {}: no such scheme: {law}", flow.id))?;
            let scheme = (entry.build)(params).map_err(|e| format!("flow {}: {law}.{e}", flow.id))?;
            if scheme.source().is_none() {
                return Err(format!("flow {}: {law} has no window law", flow.id));
            }
            let id = LawId(laws.len());
            laws.push(scheme);
            known.push((law, params, id));
            ids.push(Some(id));
        }
        Ok((Self(laws), ids))
    }

    /// True if a law reads the backlog of its node's queue.
    pub(crate) fn reads_own_queue(&self, id: LawId) -> bool {
        self.0
            .get(id.0)
            .is_some_and(|scheme| Interface::all_kinds().iter().any(|at| scheme.wants(at).own_queue))
    }

    /// Creates a source of a law.
    pub(crate) fn source(&self, id: LawId) -> Option<Box<dyn Source>> {
        self.0.get(id.0)?.source()
    }
}
