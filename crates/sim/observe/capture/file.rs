//! Blocks of a capture file: packets of a node's interfaces in order of time.

use std::collections::BTreeSet;

use airfair_wire::pcapng::{Block, Data, Direction, Interface, LinkType, Names as NamesBlock};
use airfair_wire::pcapng::{Packet, Section, Text};

use super::addresses::Addresses;
use crate::ids::NodeIx;
use crate::record::Names;

/// Application name in the files.
const APPLICATION: &str = concat!("Airfair ", env!("CARGO_PKG_VERSION"));

/// A packet that an interface has sent or received.
#[derive(Debug)]
pub(super) struct Captured {
    pub time: u64,
    pub interface: u32,
    /// Bytes that are stored.
    pub data: Vec<u8>,
    /// Full length of the packet, bytes.
    pub original_len: u32,
    pub sent: bool,
    pub bad: bool,
    /// Nodes whose IP addresses it contains.
    pub nodes: Option<[NodeIx; 2]>,
}

/// Capture file of a node.
#[derive(Debug)]
pub(super) struct File {
    pub node: NodeIx,
    interfaces: u32,
    blocks: Vec<u8>,
    /// Packets to be written later, unordered.
    pending: Vec<Captured>,
    /// Nodes whose names are written already.
    named: BTreeSet<NodeIx>,
}

/// A text for a file, truncated if it is too long.
fn text(text: &str) -> Text<'_> {
    let end = text.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|&end| end <= 1024).last();
    Text::new(&text[..end.unwrap_or(0)]).unwrap_or_default()
}

impl File {
    pub(super) fn new(node: NodeIx) -> Self {
        let mut file =
            Self { node, interfaces: 0, blocks: Vec::new(), pending: Vec::new(), named: BTreeSet::new() };
        file.write(&Block::Section(Section { application: text(APPLICATION) }));
        file
    }

    /// Adds an interface and returns its number. Must be called before the first packet.
    pub(super) fn add_interface(
        &mut self,
        link_type: LinkType,
        snap_len: u32,
        node: &str,
        target: &str,
    ) -> u32 {
        let name = format!("{node}:{target}");
        let what = if link_type == LinkType::RADIOTAP { "radio" } else { "wire to" };
        let description = format!("node {node}, {what} {target}");
        self.write(&Block::Interface(Interface {
            link_type,
            snap_len,
            name: text(&name),
            description: text(&description),
        }));
        self.interfaces += 1;
        self.interfaces - 1
    }

    pub(super) fn push(&mut self, captured: Captured) {
        self.pending.push(captured);
    }

    /// Writes the packets before `horizon`, of which all are known.
    pub(super) fn write_before(&mut self, horizon: u64, addresses: &Addresses, names: &Names) {
        if self.pending.iter().all(|captured| captured.time >= horizon) {
            return;
        }
        self.pending.sort_by_key(|captured| captured.time);
        let young = self.pending.split_off(self.pending.partition_point(|captured| captured.time < horizon));
        for captured in std::mem::replace(&mut self.pending, young) {
            self.name(&captured, addresses, names);
            let Some(data) = Data::new(&captured.data) else { continue };
            self.write(&Block::Packet(Packet {
                interface: captured.interface,
                time_ns: captured.time,
                original_len: captured.original_len,
                data,
                direction: if captured.sent { Direction::Outbound } else { Direction::Inbound },
                crc_error: captured.bad,
            }));
        }
    }

    /// Writes the names of nodes that a packet contains for the first time.
    fn name(&mut self, captured: &Captured, addresses: &Addresses, names: &Names) {
        let nodes = captured.nodes.into_iter().flatten().filter(|node| node.ix() < names.nodes.len());
        let fresh: Vec<NodeIx> = nodes.filter(|&node| self.named.insert(node)).collect();
        if !fresh.is_empty() {
            let named = fresh.iter().map(|&node| (addresses.ip(node), text(&names.nodes[node.ix()])));
            self.write(&Block::Names(NamesBlock { ipv4: named.collect() }));
        }
    }

    fn write(&mut self, block: &Block<'_>) {
        let at = self.blocks.len();
        self.blocks.resize(at + block.wire_len(), 0);
        block.encode(&mut self.blocks[at..]).expect("the buffer is as long as the block");
    }

    /// Blocks written since the last call, if they have at least `least` bytes.
    pub(super) fn take(&mut self, least: usize) -> Option<Vec<u8>> {
        (self.blocks.len() >= least.max(1)).then(|| std::mem::take(&mut self.blocks))
    }
}
