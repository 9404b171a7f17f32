//! The capabilities that a scheme wants of its host.

use airfair_units::Span;

use super::Priority;

/// The capabilities that a scheme wants at an interface, beside the calls that every host makes. A host calls, counts and passes up no
/// more than is wanted: the rest costs nothing. A host that does not offer a wanted capability refuses the scheme before the run starts,
/// except for `ecn`: it warns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wants {
    /// Samples of the interface's counters for the agent (`Agent::on_sample`) with this interval; zero: none.
    pub samples: Span,
    /// The use of the link in samples (`NodeSample::link`).
    pub link_use: bool,
    /// Links and flows in samples (`NodeSample::links`, `NodeSample::flows`).
    pub links: bool,
    /// Messages for other nodes (`Agent::on_message` with `to_me` false).
    pub overheard: bool,
    /// Packets that came in through the interface, to keep or to pass on (`Aqm::on_receive`, `Hop::on_receive`).
    pub received: bool,
    /// Headers in frames that the interface receives or overhears: those of its queue's kind for the queue (`LabelledQueue::on_heard`),
    /// those of the kind that its agent names (`Agent::hears`) for the agent (`Agent::on_header`). Every station that can decode a data
    /// frame then handles it.
    pub heard_headers: bool,
    /// Ends of transmissions of packets that have left the queue (`LabelledQueue::on_finished`). One queue then serves all access
    /// categories of a radio, since it counts what the radio holds.
    pub finished: bool,
    /// Packets that the link has finished, with the times for which they were the MAC's first (`Hop::on_finished`).
    pub access_times: bool,
    /// Changes of routes (`LabelledQueue::on_routes`). The host then drops no packet because its next hop has changed since it was stored.
    pub routes: bool,
    /// Sizes of the queue by destination for the agent, at each sample (`Agent::on_backlogs`, `LabelledQueue::backlogs`). One queue then
    /// serves all access categories of a radio, since a size has no category.
    pub backlogs: bool,
    /// Departures from the queue, each at its time (`Hop::on_departure`). A host may compute departures ahead where they are not wanted.
    pub departures: bool,
    /// The law of the scheme reads the backlog of the node's own queue (DiffQ): the queue has to fill, so flows of the node are not
    /// limited to a part of it.
    pub own_queue: bool,
    /// Flows that use ECN: the scheme leaves packets that cannot be marked alone. A host without such flows says that the scheme
    /// does nothing.
    pub ecn: bool,
    /// No other radio of the node has the scheme: its agents speak in the name of the node.
    pub lone_radio: bool,
    /// Delivery ratios between all nodes (`Forwarder::on_delivery_ratios`), which a real network does not know so exactly.
    pub delivery_ratios: bool,
    /// The highest priority that the queue gives to a packet (`Head::priority`).
    pub priority: Priority,
}
