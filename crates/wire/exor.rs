//! ExOR's header, in front of every packet of a batch. The paper names its fields [Biswas, Morris, §3]; this layout is ours.
//!
//! All numbers are in network byte order. Ranks count from the destination, whose rank is 0, to the source.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, EncodeError, Expected, Header};
use crate::flow::Flow;

const VERSION: u8 = 0x11;

/// The nodes of a flow by rank where they stand in a header: destination, forwarders, source. There are two at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodesView<'a>(&'a [[u8; 4]]);

impl<'a> NodesView<'a> {
    /// Number of nodes.
    #[expect(clippy::len_without_is_empty, reason = "A list is never empty.")]
    pub const fn len(self) -> usize {
        self.0.len()
    }

    /// The nodes.
    pub fn iter(self) -> impl ExactSizeIterator<Item = u32> + use<'a> {
        self.0.iter().map(|&node| u32::from_be_bytes(node))
    }

    /// The node of a rank.
    pub fn get(self, rank: u8) -> Option<u32> {
        self.0.get(usize::from(rank)).map(|&node| u32::from_be_bytes(node))
    }

    /// The rank of a node; none where it is not in the list.
    pub fn rank(self, node: u32) -> Option<u8> {
        self.iter().position(|each| each == node).map(|rank| rank as u8)
    }

    /// The flow of this number between the ends of the list.
    pub fn flow(self, flow: u32) -> Flow {
        let [destination, source] = [self.0[0], self.0[self.0.len() - 1]].map(u32::from_be_bytes);
        Flow { flow, source, destination }
    }

    /// A list of its own.
    pub fn shared(self) -> Nodes {
        Nodes(self.0.into())
    }
}

/// The nodes of a flow by rank, as they stand in a header; a copy shares the list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Nodes(Arc<[[u8; 4]]>);

impl Nodes {
    /// The longest list.
    pub const MOST: usize = 64;

    /// A list; `None` for fewer than two nodes, or more than [`Self::MOST`].
    pub fn new(nodes: &[u32]) -> Option<Self> {
        let bytes = || Self(nodes.iter().map(|node| node.to_be_bytes()).collect());
        (2..=Self::MOST).contains(&nodes.len()).then(bytes)
    }

    /// The list.
    pub fn view(&self) -> NodesView<'_> {
        NodesView(&self.0)
    }
}

/// For each packet of a batch the lowest rank of those that are known to hold it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BatchMap(Vec<u8>);

impl BatchMap {
    /// The most packets of a batch.
    pub const MOST: usize = 100;

    /// A map; `None` for no packets, or more than [`Self::MOST`].
    pub fn new(ranks: Vec<u8>) -> Option<Self> {
        (1..=Self::MOST).contains(&ranks.len()).then_some(Self(ranks))
    }

    /// The ranks.
    pub fn ranks(&self) -> &[u8] {
        &self.0
    }

    /// The ranks, to be changed.
    pub fn ranks_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

/// A place in what a node sends in its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fragment {
    /// Packets that have been sent before in this turn.
    pub number: u8,
    /// Packets of the turn.
    pub size: u8,
}

/// The fields that all packets of a node's turn have in common, but for the number in the turn.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Head {
    /// The flow, a number that its source has chosen.
    pub flow: u32,
    /// Counts the batches of the flow.
    pub batch: u32,
    /// Rank of the sender.
    pub rank: u8,
    /// Where the packet stands in the sender's turn.
    pub fragment: Fragment,
    /// The nodes.
    pub nodes: Nodes,
}

impl Head {
    /// The flow: its number, and the ends of the list.
    pub fn flow(&self) -> Flow {
        self.nodes.view().flow(self.flow)
    }
}

/// ExOR's header: 15 bytes, 4 for each node and one for each packet of the batch.
///
/// | bytes | field |
/// |---|---|
/// | 1 | 0x11 |
/// | 4 | flow |
/// | 4 | batch |
/// | 1 | packets of the batch, 1 to 100 |
/// | 1 | number of the packet; 255: only the map is sent |
/// | 1 | rank of the sender |
/// | 1 | number in the fragment |
/// | 1 | size of the fragment |
/// | 1 | number of nodes, 2 to 64 |
/// | 4 each | node, from the destination to the source |
/// | 1 each | rank of the best node that holds a packet |
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Exor {
    /// Flow, batch, sender.
    pub head: Head,
    packet: Option<u8>,
    map: BatchMap,
}

/// No packet.
const MAP_ONLY: u8 = 255;

impl Exor {
    /// A header with the batch map as the sender knows it, before a packet or alone; `None` for a packet that is not in the batch.
    pub fn new(head: Head, packet: Option<u8>, map: BatchMap) -> Option<Self> {
        packet.is_none_or(|packet| usize::from(packet) < map.0.len()).then_some(Self { head, packet, map })
    }

    /// The packet's number in its batch; none where only the map is sent.
    pub const fn packet(&self) -> Option<u8> {
        self.packet
    }

    /// The batch map.
    pub const fn map(&self) -> &BatchMap {
        &self.map
    }

    /// Length on the wire, bytes.
    pub fn wire_len(&self) -> usize {
        15 + 4 * self.head.nodes.0.len() + self.map.0.len()
    }

    /// Encodes the header to the front of `buffer` and returns its length, bytes.
    ///
    /// # Errors
    /// Where `buffer` is shorter than [`Self::wire_len`].
    pub fn encode(&self, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        let Head { flow, batch, rank, fragment, nodes } = &self.head;
        let packet = self.packet.unwrap_or(MAP_ONLY);
        let writer = Writer::new(Header::Exor, buffer, self.wire_len())?
            .put([VERSION])
            .put(flow.to_be_bytes())
            .put(batch.to_be_bytes())
            .put([self.map.0.len() as u8, packet, *rank, fragment.number, fragment.size])
            .put([nodes.0.len() as u8]);
        writer.put_slice(nodes.0.as_flattened()).put_slice(&self.map.0);
        Ok(self.wire_len())
    }

    /// The header, without copies of its lists.
    pub fn view(&self) -> ExorView<'_> {
        let Self { head: Head { batch, rank, fragment, nodes, .. }, packet, map } = self;
        ExorView {
            flow: self.head.flow(),
            batch: *batch,
            rank: *rank,
            fragment: *fragment,
            nodes: nodes.view(),
            packet: *packet,
            map: &map.0,
        }
    }

    /// Decodes a header; returns the bytes that follow.
    ///
    /// # Errors
    /// Those of [`ExorView::decode`].
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let (ExorView { flow, batch, rank, fragment, nodes, packet, map }, rest) = ExorView::decode(bytes)?;
        let head = Head { flow: flow.flow, batch, rank, fragment, nodes: nodes.shared() };
        Ok((Self { head, packet, map: BatchMap(map.to_vec()) }, rest))
    }
}

/// The header of a packet where it stands: every node that hears one reads it, and few keep anything of its lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExorView<'a> {
    /// The flow.
    pub flow: Flow,
    /// Counts the batches of the flow.
    pub batch: u32,
    /// Rank of the sender.
    pub rank: u8,
    /// Where the packet stands in the sender's turn.
    pub fragment: Fragment,
    /// The nodes.
    pub nodes: NodesView<'a>,
    packet: Option<u8>,
    map: &'a [u8],
}

impl<'a> ExorView<'a> {
    /// The packet's number in its batch; none where only the map is sent.
    pub const fn packet(&self) -> Option<u8> {
        self.packet
    }

    /// The batch map: ranks of 1 to 100 packets.
    pub const fn map(&self) -> &'a [u8] {
        self.map
    }

    /// Reads a header; returns the bytes that follow.
    ///
    /// # Errors
    /// Too few bytes, another version, or a number that is out of its range.
    pub fn decode(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), DecodeError> {
        let mut reader = Reader::new(Header::Exor, bytes);
        reader.literal([VERSION], "version", "0x11")?;
        let (flow, batch) = (reader.u32_be()?, reader.u32_be()?);
        let at = reader.clone();
        let [packets, packet, rank, number, size, count] = reader.array()?;
        let few = (1..=BatchMap::MOST).contains(&packets.into()) && (2..=Nodes::MOST).contains(&count.into());
        if !few || packet != MAP_ONLY && packet >= packets {
            let expected = "1 to 100 packets, a number below that or 255, 2 to 64 nodes";
            return Err(at.fail(Expected::value("numbers", expected, &[packets, packet, count])));
        }
        reader.need(4 * usize::from(count) + usize::from(packets))?;
        let (nodes, _) = reader.slice(4 * usize::from(count))?.as_chunks();
        let (nodes, map) = (NodesView(nodes), reader.slice(packets.into())?);
        let (fragment, packet) = (Fragment { number, size }, (packet != MAP_ONLY).then_some(packet));
        let view = Self { flow: nodes.flow(flow), batch, rank, fragment, nodes, packet, map };
        Ok((view, reader.rest()))
    }
}
