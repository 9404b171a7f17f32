//! Parameters of RFC 3561 section 10, and further ones of this implementation.

use airfair_units::Span;

/// All parameters of AODV. Names that the RFC writes in capitals are in small letters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AodvConfig {
    /// Lifetime of a route after its last use.
    pub active_route_timeout: Span,
    /// Number of a neighbour's Hello messages that may be missed before its link counts as broken.
    pub allowed_hello_loss: u32,
    /// Time for which requests of a neighbour are ignored after a reply to it failed.
    pub blacklist_timeout: Span,
    /// Time for which an invalid route is remembered.
    pub delete_period: Span,
    /// Time between Hello messages.
    pub hello_interval: Span,
    /// Added to the time to live of a request that repairs a route.
    pub local_add_ttl: u8,
    /// A route is repaired where it broke if its destination was at most this many hops away.
    pub max_repair_ttl: u8,
    /// Lifetime of a route in replies of its destination.
    pub my_route_timeout: Span,
    /// Largest number of hops in the network: time to live of the widest requests.
    pub net_diameter: u8,
    /// Time for which the reply to a widest request is awaited.
    pub net_traversal_time: Span,
    /// Time for which the acknowledgement of a reply is awaited.
    pub next_hop_wait: Span,
    /// Estimate of the time for a hop, queueing included.
    pub node_traversal_time: Span,
    /// Time for which a request is remembered, so that it is not handled twice.
    pub path_discovery_time: Span,
    /// Largest number of route errors per second.
    pub rerr_ratelimit: u32,
    /// Number of repetitions of the widest request.
    pub rreq_retries: u32,
    /// Largest number of requests per second that the node originates; forwarded ones are not counted.
    pub rreq_ratelimit: u32,
    /// Hops that are added to a ring's traversal time.
    pub timeout_buffer: u8,
    /// Time to live of the first request for a destination.
    pub ttl_start: u8,
    /// Increment of the time to live of each further request.
    pub ttl_increment: u8,
    /// Largest time to live before `net_diameter` is used.
    pub ttl_threshold: u8,
    /// True if only the destination may reply (flag D).
    pub destination_only: bool,
    /// True if a node that replies for a destination notifies the destination too (flag G).
    pub gratuitous_reply: bool,
    /// True if a packet given up by the link layer breaks its link.
    pub link_layer_feedback: bool,
    /// True if Hello messages are sent and expected.
    pub hello: bool,
    /// True if routes are repaired where they break.
    pub local_repair: bool,
    /// True if replies request acknowledgements (flag A).
    pub reply_acknowledgement: bool,
    /// Largest random delay of a forwarded broadcast (RFC 5148).
    pub broadcast_jitter: Span,
    /// Largest number of packets that wait for routes.
    pub buffer_packets: u32,
    /// Largest time for which a packet waits for a route.
    pub buffer_time: Span,
    /// True if packets queued for a neighbour are dropped when a packet given up by the link layer breaks the link to it.
    pub drop_queued: bool,
}

/// Parameters from which others are derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Base {
    /// See [`AodvConfig::active_route_timeout`].
    pub active_route_timeout: Span,
    /// See [`AodvConfig::hello_interval`].
    pub hello_interval: Span,
    /// See [`AodvConfig::net_diameter`].
    pub net_diameter: u8,
    /// See [`AodvConfig::node_traversal_time`].
    pub node_traversal_time: Span,
    /// See [`AodvConfig::rreq_retries`].
    pub rreq_retries: u32,
}

impl Default for Base {
    fn default() -> Self {
        Self {
            active_route_timeout: Span::from_secs(3),
            hello_interval: Span::from_secs(1),
            net_diameter: 35,
            node_traversal_time: Span::from_millis(40),
            rreq_retries: 2,
        }
    }
}

impl From<Base> for AodvConfig {
    fn from(base: Base) -> Self {
        let net_traversal_time = times(base.node_traversal_time, 2 * u64::from(base.net_diameter));
        let mut config = Self {
            active_route_timeout: base.active_route_timeout,
            allowed_hello_loss: 2,
            blacklist_timeout: Span::ZERO,
            // K in the RFC is 5.
            delete_period: times(base.active_route_timeout.max(base.hello_interval), 5),
            hello_interval: base.hello_interval,
            local_add_ttl: 2,
            max_repair_ttl: (u32::from(base.net_diameter) * 3 / 10) as u8,
            my_route_timeout: times(base.active_route_timeout, 2),
            net_diameter: base.net_diameter,
            net_traversal_time,
            next_hop_wait: Span(base.node_traversal_time.0.saturating_add(Span::from_millis(10).0)),
            node_traversal_time: base.node_traversal_time,
            path_discovery_time: Span::ZERO,
            rerr_ratelimit: 10,
            rreq_retries: base.rreq_retries,
            rreq_ratelimit: 10,
            timeout_buffer: 2,
            ttl_start: 1,
            ttl_increment: 2,
            ttl_threshold: 7,
            destination_only: false,
            gratuitous_reply: true,
            link_layer_feedback: true,
            hello: false,
            local_repair: false,
            reply_acknowledgement: false,
            broadcast_jitter: Span::from_millis(10),
            buffer_packets: 64,
            buffer_time: Span::from_secs(30),
            drop_queued: true,
        };
        config.rederive();
        config
    }
}

impl Default for AodvConfig {
    fn default() -> Self {
        Base::default().into()
    }
}

impl AodvConfig {
    /// Sets the parameters that depend on `net_traversal_time`.
    pub fn rederive(&mut self) {
        self.blacklist_timeout = times(self.net_traversal_time, self.rreq_retries.into());
        self.path_discovery_time = times(self.net_traversal_time, 2);
    }

    /// Time for which the reply to a request with this time to live is awaited (RING_TRAVERSAL_TIME).
    #[must_use]
    pub fn ring_traversal_time(&self, ttl: u8) -> Span {
        times(self.node_traversal_time, 2 * (u64::from(ttl) + u64::from(self.timeout_buffer)))
    }

    /// Time after which a neighbour that sends Hello messages counts as lost.
    #[must_use]
    pub fn allowed_silence(&self) -> Span {
        times(self.hello_interval, self.allowed_hello_loss.into())
    }
}

/// A multiple of a time.
pub(super) const fn times(span: Span, n: u64) -> Span {
    Span(span.0.saturating_mul(n))
}
