//! Sources of a run's flows: one scheme for each law and set of parameters, shared by the flows that use it.

use airfair_schemes::places::{Capability, HeaderKind, Interface, Source, UdpEnds};
use airfair_schemes::{Params, Registry, Scheme};

use crate::spec::{FlowSpec, Transport, WorldSpec};

/// Index of a law.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LawId(usize);

/// The schemes that make sources.
#[derive(Default)]
pub(crate) struct Laws(Vec<Box<dyn Scheme>>);

/// The scheme that a flow names, with its parameters.
fn named(flow: &FlowSpec) -> Option<(&str, &Params, bool)> {
    match &flow.transport {
        Transport::Udp | Transport::PlainUdp => None,
        Transport::ControlledUdp { law, params, pinned } | Transport::Tcp { law, params, pinned, .. } => {
            Some((law, params, *pinned))
        }
    }
}

impl Laws {
    /// The laws of all flows: each flow's own, unless the run's scheme has a source for its transport and the flow's law is not pinned;
    /// none for a flow over UDP that no scheme controls, or that names none. `run` is the run's scheme; the others are looked up in
    /// `schemes`.
    pub(crate) fn new(
        spec: &WorldSpec,
        run: Box<dyn Scheme>,
        schemes: &Registry,
    ) -> Result<(Self, Vec<Option<LawId>>), String> {
        let of_run = |tcp: bool| if tcp { run.source().is_some() } else { run.udp().is_some() };
        let of_run = [false, true].map(|tcp| of_run(tcp).then_some(LawId(0)));
        let mut laws: Vec<Box<dyn Scheme>> = vec![run];
        let mut known: Vec<(&str, &Params, bool, LawId)> = Vec::new();
        let mut ids = Vec::with_capacity(spec.flows.len());
        for flow in &spec.flows {
            if flow.transport == Transport::PlainUdp {
                ids.push(None);
                continue;
            }
            let tcp = matches!(flow.transport, Transport::Tcp { .. });
            let named = named(flow);
            let pinned = named.is_some_and(|(_, _, pinned)| pinned);
            let (Some((law, params, _)), None) = (named, of_run[usize::from(tcp)].filter(|_| !pinned)) else {
                ids.push(of_run[usize::from(tcp)]);
                continue;
            };
            if let Some(&(.., id)) = known.iter().find(|k| (k.0, k.1, k.2) == (law, params, tcp)) {
                ids.push(Some(id));
                continue;
            }
            let entry =
                schemes.find(law).ok_or_else(|| format!("flow {}: no such scheme: {law}", flow.id))?;
            let scheme = (entry.build)(params).map_err(|e| format!("flow {}: {law}.{e}", flow.id))?;
            if tcp && scheme.source().is_none() {
                return Err(format!("flow {}: {law} has no window law", flow.id));
            }
            if !tcp && scheme.udp().is_none() {
                return Err(format!("flow {}: {law} has no source for UDP", flow.id));
            }
            let id = LawId(laws.len());
            laws.push(scheme);
            known.push((law, params, tcp, id));
            ids.push(Some(id));
        }
        Ok((Self(laws), ids))
    }

    /// True if a law reads the backlog of its node's queue.
    pub(crate) fn reads_own_queue(&self, id: LawId) -> bool {
        self.0.get(id.0).is_some_and(|scheme| {
            Interface::all_kinds().iter().any(|at| scheme.wants(at).has(Capability::OwnQueue))
        })
    }

    /// Creates a source of a law over TCP.
    pub(crate) fn source(&self, id: LawId) -> Option<Box<dyn Source>> {
        self.0.get(id.0)?.source()
    }

    /// The header of a law's packets over TCP or UDP.
    pub(crate) fn header(&self, id: LawId, tcp: bool) -> Option<&'static HeaderKind> {
        let source = if tcp { self.source(id) } else { self.udp(id).map(|ends| ends.source) };
        source?.header()
    }

    /// Creates both ends of a flow over UDP.
    pub(crate) fn udp(&self, id: LawId) -> Option<UdpEnds> {
        self.0.get(id.0)?.udp()
    }
}
