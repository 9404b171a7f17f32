//! `[routing]` and `[aodv]`: defaults are those of RFC 3561 section 10, and keys that depend on others follow these.

use std::any::Any;

use airfair_routing::aodv::AodvConfig;
use airfair_routing::shortest::Metric;
use airfair_scenario::{Scenario, read};
use airfair_sim::spec::RoutingSpec;
use airfair_units::Span;

fn scenario(routing: &str) -> Scenario {
    let text = format!(
        "name = \"x\"\nduration = \"1 s\"\n[radio]\n[nodes]\nkind = \"chain\"\ncount = 3\nspacing = \"100 m\"\n\
         [flows]\nkind = \"random\"\ncount = 1\ntraffic = {{ kind = \"saturating\" }}\n{routing}"
    );
    read(&text, "x.toml", &[]).unwrap_or_else(|e| panic!("{e}"))
}

fn aodv(keys: &str) -> AodvConfig {
    match scenario(&format!("[routing]\nprotocol = \"aodv\"\n[aodv]\n{keys}")).spec.routing {
        RoutingSpec::Found(protocol) => *(&*protocol as &dyn Any).downcast_ref().unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn defaults_are_the_rfcs() {
    let protocol = aodv("");
    assert_eq!(protocol, AodvConfig::default());
    let ms = Span::from_millis;
    // The table of section 10, with K = 5 in DELETE_PERIOD.
    assert_eq!(protocol.active_route_timeout, ms(3000));
    assert_eq!(protocol.allowed_hello_loss, 2);
    assert_eq!(protocol.blacklist_timeout, ms(2 * 2800));
    assert_eq!(protocol.delete_period, ms(15_000));
    assert_eq!(protocol.hello_interval, ms(1000));
    assert_eq!((protocol.local_add_ttl, protocol.max_repair_ttl), (2, 10));
    assert_eq!(protocol.my_route_timeout, ms(6000));
    assert_eq!(protocol.net_diameter, 35);
    assert_eq!(protocol.net_traversal_time, ms(2800));
    assert_eq!(protocol.next_hop_wait, ms(50));
    assert_eq!(protocol.node_traversal_time, ms(40));
    assert_eq!(protocol.path_discovery_time, ms(5600));
    assert_eq!((protocol.rerr_ratelimit, protocol.rreq_ratelimit, protocol.rreq_retries), (10, 10, 2));
    assert_eq!(protocol.timeout_buffer, 2);
    assert_eq!((protocol.ttl_start, protocol.ttl_increment, protocol.ttl_threshold), (1, 2, 7));
}

#[test]
fn what_hangs_on_others_follows_them() {
    let ms = Span::from_millis;
    let small = aodv("net_diameter = 10\nnode_traversal_time = \"10 ms\"\nrreq_retries = 3");
    assert_eq!((small.net_traversal_time, small.path_discovery_time), (ms(200), ms(400)));
    assert_eq!((small.blacklist_timeout, small.next_hop_wait, small.max_repair_ttl), (ms(600), ms(20), 3));
    let slow = aodv("active_route_timeout = \"8 s\"");
    assert_eq!((slow.my_route_timeout, slow.delete_period), (ms(16_000), ms(40_000)));
    let told = aodv("net_traversal_time = \"1 s\"\nblacklist_timeout = \"0 s\"");
    assert_eq!((told.path_discovery_time, told.blacklist_timeout), (ms(2000), ms(0)));
    assert!(!aodv("drop_queued = false").drop_queued);
}

/// AODV uses wires as links like radio links.
#[test]
fn wires_stand_beside_it() {
    let text = "[routing]\nprotocol = \"aodv\"\n[[link]]\nends = [\"0\", \"2\"]\nrate = \"1 Mbit/s\"\n";
    assert_eq!(scenario(text).spec.links.len(), 1);
}

#[test]
fn parameters_without_the_protocol_have_no_effect() {
    let scenario = scenario("[aodv]\nttl_start = 3\n");
    assert_eq!(scenario.spec.routing, RoutingSpec::Static(Metric::Hops));
    assert_eq!(scenario.warnings, ["[aodv] has no effect: [routing] has protocol = \"static\""]);
}

/// Keys of rules that are switched off. With their default values, which the complete form has, they are no mistake.
#[test]
fn keys_without_effect_are_reported() {
    let warned = |keys: &str| {
        let found = scenario(&format!("[routing]\nprotocol = \"aodv\"\n[aodv]\n{keys}"));
        let again = read(&found.resolved, "resolved.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(again.warnings, found.warnings, "{keys}");
        found.warnings
    };
    let no_effect = |key: &str, reason: &str| format!("aodv.{key} has no effect: {reason}");
    for (key, value, reason, effective) in [
        ("hello_interval", "\"2 s\"", "hello = false", "hello = true"),
        ("allowed_hello_loss", "3", "hello = false", "hello = true"),
        ("local_add_ttl", "3", "local_repair = false", "local_repair = true"),
        ("max_repair_ttl", "3", "local_repair = false", "local_repair = true"),
        ("next_hop_wait", "\"1 s\"", "reply_acknowledgement = false", "reply_acknowledgement = true"),
        ("gratuitous_reply", "false", "destination_only = true", "destination_only = false"),
    ] {
        let off = reason.replace("hello = false", "");
        let written = format!("{key} = {value}\n");
        assert_eq!(warned(&format!("{written}{off}")), [no_effect(key, reason)]);
        assert_eq!(warned(&format!("{written}{effective}")), [""; 0]);
    }
    let feedback = "hello = true\nblacklist_timeout = \"1 s\"\ndrop_queued = false\nlink_layer_feedback";
    let reasons =
        ["link_layer_feedback = false and reply_acknowledgement = false", "link_layer_feedback = false"];
    assert_eq!(
        warned(&format!("{feedback} = false")),
        [no_effect("blacklist_timeout", reasons[0]), no_effect("drop_queued", reasons[1])]
    );
    assert_eq!(warned(&format!("{feedback} = true")), [""; 0]);
    // delete_period follows from the longer of two times.
    assert_eq!(warned("hello_interval = \"20 s\""), [""; 0]);
    let own_period = "hello_interval = \"20 s\"\ndelete_period = \"15 s\"";
    assert_eq!(warned(own_period), [no_effect("hello_interval", "hello = false")]);
}
