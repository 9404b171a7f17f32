//! The keys of `[aodv]`: the parameters of RFC 3561 section 10 and our own, with the defaults and checks that depend on several.

use airfair_routing::aodv::{AodvConfig, Base};
use airfair_units::Span;

use super::warn_of_unused;
use crate::declare::field::{Field, LONGEST};
use crate::declare::table::table;
use crate::text::error::Cx;
use crate::text::location::Path;

const TIMES: std::ops::RangeInclusive<Span> = Span(1_000_000)..=LONGEST;

table! {
    /// Parameters of `[routing]` with `protocol = "aodv"` (RFC 3561); the RFC has their names in capitals.
    struct AodvTable {
        /// How long a route is valid after its last use.
        active_route_timeout: Span = default(Span::from_secs(3)), in TIMES;
        /// Hello messages of a neighbour that may be missed before its link counts as broken.
        allowed_hello_loss: u32 = default(2), in 1..=1000;
        /// How long requests of a neighbour that a reply did not reach are ignored.
        blacklist_timeout: Span = computed("rreq_retries times net_traversal_time"), in Span::ZERO..=LONGEST;
        /// How long an invalid route is remembered.
        delete_period: Span = computed("5 times the larger of active_route_timeout and hello_interval"), in TIMES;
        /// Time between Hello messages.
        hello_interval: Span = default(Span::from_secs(1)), in TIMES;
        /// Hops that are added to the reach of a request that repairs a route.
        local_add_ttl: u8 = default(2);
        /// A route is repaired where it broke if its destination was at most this many hops away.
        max_repair_ttl: u8 = computed("0.3 times net_diameter, rounded down");
        /// Lifetime of a route in replies of its destination.
        my_route_timeout: Span = computed("twice active_route_timeout"), in TIMES;
        /// Most hops of the network: reach of the widest requests.
        net_diameter: u8 = default(35), in 1..=u8::MAX;
        /// How long the answer to the first of the widest requests is awaited; the time doubles with each further request.
        net_traversal_time: Span = computed("2 times net_diameter times node_traversal_time"), in TIMES;
        /// How long the acknowledgement of a reply is awaited.
        next_hop_wait: Span = computed("node_traversal_time and 10 ms"), in TIMES;
        /// Estimate of the time that a packet takes for a hop, queueing included.
        node_traversal_time: Span = default(Span::from_millis(40)), in TIMES;
        /// How long a request is remembered, so that it is not handled twice.
        path_discovery_time: Span = computed("twice net_traversal_time"), in TIMES;
        /// Most route errors of a node in a second.
        rerr_ratelimit: u32 = default(10), in 1..=1_000_000;
        /// Further requests of the widest reach after the first.
        rreq_retries: u32 = default(2), in 0..=32;
        /// Most requests of a node in a second, forwarded ones not counted.
        rreq_ratelimit: u32 = default(10), in 1..=1_000_000;
        /// Hops that are added to the reach of a request to get how long its answer is awaited: 2 node_traversal_time
        /// (reach + timeout_buffer).
        timeout_buffer: u8 = default(2);
        /// Reach of the first request for a destination, in hops.
        ttl_start: u8 = default(1), in 1..=u8::MAX;
        /// Hops that each further request adds to the reach.
        ttl_increment: u8 = default(2), in 1..=u8::MAX;
        /// A request beyond this reach has the reach net_diameter.
        ttl_threshold: u8 = default(7);
        /// Only the destination answers requests (flag D).
        destination_only: bool = default(false);
        /// A node that answers for a destination notifies the destination of the route back (flag G).
        gratuitous_reply: bool = default(true);
        /// A packet that the MAC drops after its last attempt breaks the link.
        link_layer_feedback: bool = default(true);
        /// Nodes on routes in use send Hello messages, and a link breaks when those of a neighbour are missing.
        hello: bool = default(false);
        /// Routes are repaired where they break, within max_repair_ttl.
        local_repair: bool = default(false);
        /// Replies request acknowledgements (flag A). With link_layer_feedback the MAC gives the same information.
        reply_acknowledgement: bool = default(false);
        /// A broadcast is forwarded after a random part of this time (RFC 5148), so that neighbours do not send at once.
        broadcast_jitter: Span = default(Span::from_millis(10)), in Span::ZERO..=LONGEST;
        /// Most packets of a node that wait for routes; more are dropped, the oldest first.
        buffer_packets: u32 = default(64), in 1..=1_000_000;
        /// A packet that has waited this long for a route is dropped.
        buffer_time: Span = default(Span::from_secs(30)), in TIMES;
        /// Packets queued for a neighbour are dropped when the link to it breaks, as in ns-2 and QualNet.
        drop_queued: bool = default(true);
    }
}

impl AodvTable {
    /// Fills in the defaults that depend on other keys.
    pub fn config(&mut self, cx: &mut Cx<'_>) -> AodvConfig {
        let base = Base {
            active_route_timeout: self.active_route_timeout,
            hello_interval: self.hello_interval,
            net_diameter: self.net_diameter,
            node_traversal_time: self.node_traversal_time,
            rreq_retries: self.rreq_retries,
        };
        let mut rfc = AodvConfig::from(base);
        let without_hello = Base { hello_interval: Base::default().hello_interval, ..base };
        let hello_decides = rfc.delete_period != AodvConfig::from(without_hello).delete_period;
        // Further defaults depend on this derived one.
        rfc.net_traversal_time = *self.net_traversal_time.get_or_insert(rfc.net_traversal_time);
        rfc.rederive();
        let protocol = AodvConfig {
            allowed_hello_loss: self.allowed_hello_loss,
            blacklist_timeout: *self.blacklist_timeout.get_or_insert(rfc.blacklist_timeout),
            delete_period: *self.delete_period.get_or_insert(rfc.delete_period),
            local_add_ttl: self.local_add_ttl,
            max_repair_ttl: *self.max_repair_ttl.get_or_insert(rfc.max_repair_ttl),
            my_route_timeout: *self.my_route_timeout.get_or_insert(rfc.my_route_timeout),
            next_hop_wait: *self.next_hop_wait.get_or_insert(rfc.next_hop_wait),
            path_discovery_time: *self.path_discovery_time.get_or_insert(rfc.path_discovery_time),
            rerr_ratelimit: self.rerr_ratelimit,
            rreq_ratelimit: self.rreq_ratelimit,
            timeout_buffer: self.timeout_buffer,
            ttl_start: self.ttl_start,
            ttl_increment: self.ttl_increment,
            ttl_threshold: self.ttl_threshold,
            destination_only: self.destination_only,
            gratuitous_reply: self.gratuitous_reply,
            link_layer_feedback: self.link_layer_feedback,
            hello: self.hello,
            local_repair: self.local_repair,
            reply_acknowledgement: self.reply_acknowledgement,
            broadcast_jitter: self.broadcast_jitter,
            buffer_packets: self.buffer_packets,
            buffer_time: self.buffer_time,
            drop_queued: self.drop_queued,
            ..rfc
        };
        self.check(&protocol, cx);
        self.warn_of_unused(&protocol, &rfc, hello_decides, cx);
        protocol
    }

    /// Warns of keys of rules that are switched off. `rfc`: the parameters as they follow from others; `hello_decides`: its `delete_period`
    /// follows from `hello_interval`.
    fn warn_of_unused(&self, config: &AodvConfig, rfc: &AodvConfig, hello_decides: bool, cx: &mut Cx<'_>) {
        let usual = AodvConfig::default();
        let no_hello = !self.hello;
        let deletes = hello_decides && config.delete_period == rfc.delete_period;
        let interval = self.hello_interval != usual.hello_interval && !deletes;
        let no_failures = !self.link_layer_feedback && !self.reply_acknowledgement;
        let unused = [
            ("hello_interval", no_hello && interval, "hello = false"),
            (
                "allowed_hello_loss",
                no_hello && self.allowed_hello_loss != usual.allowed_hello_loss,
                "hello = false",
            ),
            (
                "local_add_ttl",
                !self.local_repair && self.local_add_ttl != usual.local_add_ttl,
                "local_repair = false",
            ),
            (
                "max_repair_ttl",
                !self.local_repair && config.max_repair_ttl != rfc.max_repair_ttl,
                "local_repair = false",
            ),
            (
                "next_hop_wait",
                !self.reply_acknowledgement && config.next_hop_wait != rfc.next_hop_wait,
                "reply_acknowledgement = false",
            ),
            (
                "blacklist_timeout",
                no_failures && config.blacklist_timeout != rfc.blacklist_timeout,
                "link_layer_feedback = false and reply_acknowledgement = false",
            ),
            (
                "drop_queued",
                !self.link_layer_feedback && self.drop_queued != usual.drop_queued,
                "link_layer_feedback = false",
            ),
            (
                "gratuitous_reply",
                self.destination_only && self.gratuitous_reply != usual.gratuitous_reply,
                "destination_only = true",
            ),
        ];
        warn_of_unused("aodv", &unused, cx);
    }

    /// Refuses values with which a node would forget a sequence number that other nodes still use, since routes could then loop.
    fn check(&self, config: &AodvConfig, cx: &mut Cx<'_>) {
        let path = Path::ROOT.child("aodv");
        let least = config.active_route_timeout.max(config.my_route_timeout);
        if config.delete_period < least {
            cx.error(self.locations.of("delete_period"), &path.child("delete_period"), || {
                format!(
                    "{}: routes would be forgotten while others use them; expected at least active_route_timeout and \
                     my_route_timeout, {}",
                    config.delete_period.write(),
                    least.write()
                )
            });
        }
        if !config.link_layer_feedback && !config.hello {
            cx.error(self.locations.of("link_layer_feedback"), &path.child("link_layer_feedback"), || {
                "false: no broken link would ever be noticed; expected true, or hello = true".to_string()
            });
        }
    }
}
