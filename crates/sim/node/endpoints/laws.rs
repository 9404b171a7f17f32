//! Sources of a run's flows: one scheme for each law and set of parameters, shared by the flows that use it.

use airfair_schemes::places::{Capability, HeaderKind, Interface, Source, UdpEnds};
use airfair_schemes::{Carrier, Params, Registry, Scheme};
use airfair_units::Bytes;

use crate::spec::{FlowSpec, Traffic, Transport, WorldSpec};

/// Index of a law.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LawId(usize);

impl LawId {
    /// The law of the run's scheme.
    pub const OF_RUN: Self = Self(0);
}

/// The law of a flow, and the transport that carries the flow under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FlowLaw {
    pub id: LawId,
    pub carrier: Carrier,
}

/// The transport protocol that a flow names.
pub(crate) const fn carrier(transport: &Transport) -> Carrier {
    match transport {
        Transport::Udp | Transport::PlainUdp | Transport::ControlledUdp { .. } => Carrier::Udp,
        Transport::Rate { .. } => Carrier::Rate,
        Transport::Tcp { .. } => Carrier::Tcp,
    }
}

/// The transports for which a scheme has sources.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Carriers {
    tcp: bool,
    udp: bool,
    rate: bool,
}

impl Carriers {
    pub(crate) fn of(run: &dyn Scheme) -> Self {
        Self { tcp: run.source().is_some(), udp: run.udp().is_some(), rate: run.rate().is_some() }
    }

    /// The transport by which the scheme carries a flow that names one and leaves its law to the run; `None`: it has no source for it.
    /// Flows over TCP without files may be carried by the transport with a rate.
    pub(crate) fn carry(self, flow: &FlowSpec) -> Option<Carrier> {
        match carrier(&flow.transport) {
            Carrier::Tcp if self.tcp => Some(Carrier::Tcp),
            Carrier::Tcp => (self.rate && !flow.traffic.has_files()).then_some(Carrier::Rate),
            Carrier::Udp => self.udp.then_some(Carrier::Udp),
            Carrier::Rate => self.rate.then_some(Carrier::Rate),
        }
    }
}

/// Most payload of a datagram that stands for a segment of TCP, bytes: with every header it is an IP packet.
const LARGEST_CARRIED: u32 = 65_400;

/// The traffic of a flow as packets: over the transport with a rate an application without an end hands over full datagrams, and the data
/// of one over TCP are cut to segments.
pub(crate) fn packets(flow: &FlowSpec, by: Carrier) -> Traffic {
    let mut traffic = flow.traffic.clone();
    let (payload, most) = match &flow.transport {
        Transport::Rate { payload, .. } => (*payload, Bytes(u64::MAX)),
        Transport::Tcp { config, .. } => {
            let mss = Bytes(u64::from(config.mss.min(LARGEST_CARRIED)));
            (mss, mss)
        }
        Transport::Udp | Transport::PlainUdp | Transport::ControlledUdp { .. } => return traffic,
    };
    match &mut traffic {
        _ if by != Carrier::Rate => {}
        Traffic::Endless => return Traffic::Saturating { packet: payload },
        Traffic::Saturating { packet }
        | Traffic::ConstantRate { packet, .. }
        | Traffic::Poisson { packet, .. } => *packet = (*packet).min(most),
        Traffic::File { .. } | Traffic::Web { .. } | Traffic::Arrivals { .. } | Traffic::List { .. } => {}
    }
    traffic
}

/// The schemes that make sources.
#[derive(Default)]
pub(crate) struct Laws(Vec<Box<dyn Scheme>>);

/// The scheme that a flow names, with its parameters.
fn named(flow: &FlowSpec) -> Option<(&str, &Params, bool)> {
    match &flow.transport {
        Transport::Udp | Transport::PlainUdp => None,
        Transport::ControlledUdp { law, params, pinned }
        | Transport::Rate { law, params, pinned, .. }
        | Transport::Tcp { law, params, pinned, .. } => Some((law, params, *pinned)),
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
    ) -> Result<(Self, Vec<Option<FlowLaw>>), String> {
        let carriers = Carriers::of(&*run);
        let mut laws: Vec<Box<dyn Scheme>> = vec![run];
        let mut known: Vec<(&str, &Params, Carrier, LawId)> = Vec::new();
        let mut ids = Vec::with_capacity(spec.flows.len());
        for flow in &spec.flows {
            if flow.transport == Transport::PlainUdp {
                ids.push(None);
                continue;
            }
            let of_run = carriers.carry(flow).map(|carrier| FlowLaw { id: LawId::OF_RUN, carrier });
            let carrier = carrier(&flow.transport);
            let named = named(flow);
            let pinned = named.is_some_and(|(_, _, pinned)| pinned);
            let (Some((law, params, _)), None) = (named, of_run.filter(|_| !pinned)) else {
                ids.push(of_run);
                continue;
            };
            if let Some(&(.., id)) = known.iter().find(|k| (k.0, k.1, k.2) == (law, params, carrier)) {
                ids.push(Some(FlowLaw { id, carrier }));
                continue;
            }
            let entry =
                schemes.find(law).ok_or_else(|| format!("flow {}: no such scheme: {law}", flow.id))?;
            let scheme = (entry.build)(params).map_err(|e| format!("flow {}: {law}.{e}", flow.id))?;
            let (has, lacks) = match carrier {
                Carrier::Tcp => (scheme.source().is_some(), "window law"),
                Carrier::Udp => (scheme.udp().is_some(), "source for UDP"),
                Carrier::Rate => (scheme.rate().is_some(), "source for the transport with a rate"),
            };
            if !has {
                return Err(format!("flow {}: {law} has no {lacks}", flow.id));
            }
            let id = LawId(laws.len());
            laws.push(scheme);
            known.push((law, params, carrier, id));
            ids.push(Some(FlowLaw { id, carrier }));
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

    /// The header of the packets of a flow with a law.
    pub(crate) fn header(&self, law: FlowLaw) -> Option<&'static HeaderKind> {
        let source = match law.carrier {
            Carrier::Tcp => self.source(law.id),
            Carrier::Udp | Carrier::Rate => self.ends(law).map(|ends| ends.source),
        };
        source?.header()
    }

    /// Creates both ends of a flow over UDP, or over the transport with a rate; `None` over TCP.
    pub(crate) fn ends(&self, law: FlowLaw) -> Option<UdpEnds> {
        let scheme = self.0.get(law.id.0)?;
        match law.carrier {
            Carrier::Tcp => None,
            Carrier::Udp => scheme.udp(),
            Carrier::Rate => scheme.rate(),
        }
    }
}
