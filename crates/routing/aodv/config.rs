//! The parameters of RFC 3561 section 10, and those that are ours.

use airfair_units::Span;

/// Every parameter of AODV. A name that the RFC has in capitals stands here in small letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// How long a route is good after its last use.
    pub active_route_timeout: Span,
    /// Hello messages of a neighbour that may be missed before its link counts as broken.
    pub allowed_hello_loss: u32,
    /// How long requests of a neighbour are ignored that did not get a reply.
    pub blacklist_timeout: Span,
    /// How long a route that has ended is remembered.
    pub delete_period: Span,
    /// Time between Hello messages.
    pub hello_interval: Span,
    /// What is added to the reach of a request that repairs a route.
    pub local_add_ttl: u8,
    /// A route is repaired where it broke if its destination was no farther than so many hops.
    pub max_repair_ttl: u8,
    /// Lifetime in replies of a destination.
    pub my_route_timeout: Span,
    /// Most hops of the network: reach of the widest requests.
    pub net_diameter: u8,
    /// How long the answer to one of the widest requests is awaited.
    pub net_traversal_time: Span,
    /// How long the acknowledgement of a reply is awaited.
    pub next_hop_wait: Span,
    /// Estimate of the time for a hop, queueing included.
    pub node_traversal_time: Span,
    /// How long a request is remembered, so that it is not handled twice.
    pub path_discovery_time: Span,
    /// Most route errors in a second.
    pub rerr_ratelimit: u32,
    /// Further requests of the widest reach after the first.
    pub rreq_retries: u32,
    /// Most requests in a second.
    pub rreq_ratelimit: u32,
    /// Hops that are added to a ring's traversal time.
    pub timeout_buffer: u8,
    /// Reach of the first request for a destination.
    pub ttl_start: u8,
    /// What each further request adds.
    pub ttl_increment: u8,
    /// Beyond this reach comes `net_diameter`.
    pub ttl_threshold: u8,
    /// Requests ask the destination alone (flag D).
    pub destination_only: bool,
    /// A node that answers for a destination tells the destination too (flag G).
    pub gratuitous_reply: bool,
    /// A packet that the link layer gives up breaks its link.
    pub link_layer_feedback: bool,
    /// Hello messages are sent and awaited.
    pub hello: bool,
    /// Routes are repaired where they break.
    pub local_repair: bool,
    /// Replies ask for acknowledgements (flag A).
    pub reply_acknowledgement: bool,
    /// Broadcasts that are passed on wait for a random part of this (RFC 5148).
    pub broadcast_jitter: Span,
    /// Most packets that wait for routes.
    pub buffer_packets: u32,
    /// How long a packet waits for a route.
    pub buffer_time: Span,
    /// What queues for a neighbour is dropped when a packet that the link layer gives up breaks the link to it.
    pub drop_queued: bool,
}

/// The parameters that others are derived from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Base {
    /// See [`Config::active_route_timeout`].
    pub active_route_timeout: Span,
    /// See [`Config::hello_interval`].
    pub hello_interval: Span,
    /// See [`Config::net_diameter`].
    pub net_diameter: u8,
    /// See [`Config::node_traversal_time`].
    pub node_traversal_time: Span,
    /// See [`Config::rreq_retries`].
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

impl From<Base> for Config {
    fn from(base: Base) -> Self {
        let net_traversal_time = times(base.node_traversal_time, 2 * u64::from(base.net_diameter));
        let mut config = Self {
            active_route_timeout: base.active_route_timeout,
            allowed_hello_loss: 2,
            blacklist_timeout: Span::ZERO,
            // K of the RFC is 5.
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

impl Default for Config {
    fn default() -> Self {
        Base::default().into()
    }
}

impl Config {
    /// Sets what hangs on `net_traversal_time`.
    pub fn rederive(&mut self) {
        self.blacklist_timeout = times(self.net_traversal_time, self.rreq_retries.into());
        self.path_discovery_time = times(self.net_traversal_time, 2);
    }

    /// How long the answer to a request of this reach is awaited (RING_TRAVERSAL_TIME).
    #[must_use]
    pub fn ring_traversal_time(&self, ttl: u8) -> Span {
        times(self.node_traversal_time, 2 * (u64::from(ttl) + u64::from(self.timeout_buffer)))
    }

    /// How long a neighbour whose Hello messages are awaited may be silent.
    #[must_use]
    pub fn allowed_silence(&self) -> Span {
        times(self.hello_interval, self.allowed_hello_loss.into())
    }
}

/// A time, several times.
pub(super) const fn times(span: Span, n: u64) -> Span {
    Span(span.0.saturating_mul(n))
}
