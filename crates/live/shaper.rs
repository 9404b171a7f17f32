//! The queueing discipline at a device that gives each neighbour its rate: classes of HTB ([`crate::netlink::Classes`]), into which a
//! program in the kernel (`bpf/links.bpf.c`) sorts packets by the hardware address of their next hop.
//!
//! The program compares a deadline with the boot clock: without the daemon packets go into no class, and leave at once. What the kernel
//! keeps after that the keeper removes.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use airfair_schemes::places::LinkRate;
use airfair_units::{Rate, Time};
use aya::Ebpf;
use aya::maps::{Array, MapData, PerCpuArray};
use aya::programs::TcAttachType;
use aya::programs::tc::{NlOptions, TcAttachOptions, TcHandle};
use rustix::time::Timespec;

use crate::flow_table::FlowTable;
use crate::kernel::{WITHOUT_PROGRAM, checked, fill_messages, flow_table, load, map, refused, text};
use crate::netlink::{Classes, MAJOR, MOST_CLASSES, MOST_OVERHEAD};
use crate::qdisc::{index_of, is_ours_at_root};
use crate::shaping::{Arrivals, LinkTraffic, MacAddress, RateActuator};

/// The compiled program.
#[cfg(not(without_program))]
static PROGRAM: &[u8] = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/links.bpf.o"));

/// None: clang was not there when the daemon was built.
#[cfg(without_program)]
static PROGRAM: &[u8] = &[];

/// The name of the program in it.
const NAME: &str = "airfair_links";

/// Weight of what came before in the sums of batches, packets and bytes, with each reading.
const BATCHES_KEPT: f64 = 0.3;

/// A link that is set.
#[derive(Debug, Clone, Copy)]
struct Link {
    /// The number of its counters and, plus one, of its class.
    index: u32,
    /// The place in the program's table of links.
    slot: u32,
    rate: Option<LinkRate>,
    /// The class has been made.
    has_class: bool,
    /// Counts that were read last, since those of the kernel were another neighbour's, too.
    counted: Counts,
    /// Those at the beginning.
    begun: Counts,
    /// Batches, packets and bytes of late.
    late: [f64; 3],
}

impl Link {
    /// The rate as the kernel is to charge it: a batch has one overhead there, which has a limit.
    fn charged(&self, rate: LinkRate) -> LinkRate {
        let [batches, packets, bytes] = self.late;
        let mean = |of: f64| of / batches.max(f64::MIN_POSITIVE);
        let (packets, bytes) = if batches > 0.0 { (mean(packets), mean(bytes)) } else { (1.0, 0.0) };
        let overhead = f64::from(rate.overhead) * packets;
        let most = f64::from(MOST_OVERHEAD);
        if overhead <= most {
            return LinkRate { overhead: overhead as u32, ..rate };
        }
        // What of the overhead is too much for the kernel lowers the rate.
        let part = (bytes + most) / (bytes + overhead);
        let lower = (rate.rate.as_bps() as f64 * part) as u64;
        LinkRate { rate: Rate(lower.max(1)), overhead: MOST_OVERHEAD, ..rate }
    }
}

/// Batches, packets, bytes, and packets that were sorted.
type Counts = [u64; 4];

/// Classes and program of one device. They are removed when it is dropped.
pub struct KernelShaper {
    device: String,
    classes: RefCell<Classes>,
    links: BTreeMap<MacAddress, Link>,
    slots: Array<MapData, [u32; 4]>,
    counts: PerCpuArray<MapData, Counts>,
    flows: FlowTable,
    until: Array<MapData, u64>,
    // Holds the program and its filter.
    loaded: Option<Ebpf>,
}

impl fmt::Debug for KernelShaper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelShaper").field("device", &self.device).field("links", &self.links).finish()
    }
}

impl KernelShaper {
    /// Puts the discipline at the root of a device of this process's network namespace, and the program at it. No packet is held up until
    /// [`RateActuator::set`] and [`RateActuator::hold`]. `port`: the UDP port of the daemon's messages, which are never held up.
    ///
    /// # Errors
    /// The daemon was built without the program, another discipline stands at the root, the kernel refuses.
    pub fn attach(device: &str, port: u16) -> Result<Self, String> {
        if PROGRAM.is_empty() {
            return Err(WITHOUT_PROGRAM.to_string());
        }
        let index = index_of(device).ok_or_else(|| format!("{device}: no such device"))?;
        let mut loaded = load(PROGRAM)?;
        let mut classes = Classes::open(device, index).map_err(|error| error.to_string())?;
        // That of a daemon that was killed with its keeper.
        classes.clear(pause);
        classes.make()?;
        let attached = attach(&mut loaded, device);
        if let Err(problem) = attached {
            classes.clear(pause);
            return Err(format!("{device}: {problem}"));
        }
        let slots = map(&mut loaded, "links").and_then(|map| Array::try_from(map).map_err(text))?;
        let counts =
            map(&mut loaded, "link_counts").and_then(|map| PerCpuArray::try_from(map).map_err(text))?;
        let flows = flow_table(&mut loaded)?;
        let until = map(&mut loaded, "until").and_then(|map| Array::try_from(map).map_err(text))?;
        fill_messages(&mut loaded, port)?;
        let (device, links, classes) = (device.to_string(), BTreeMap::new(), RefCell::new(classes));
        Ok(Self { device, classes, links, slots, counts, flows, until, loaded: Some(loaded) })
    }

    fn read_counts(&self, index: u32) -> Result<Counts, String> {
        let mut sum = Counts::default();
        for cpu in self.counts.get(&index, 0).map_err(text)?.iter() {
            sum.iter_mut().zip(cpu).for_each(|(sum, of)| *sum += of);
        }
        Ok(sum)
    }

    /// Enters a link into the program's table.
    fn write(&mut self, to: MacAddress, (slot, index): (u32, u32), is_limited: bool) -> Result<(), String> {
        let (minor, [begin, end]) = (if is_limited { index + 1 } else { 0 }, words(to));
        // The layout of `struct link`.
        let shared = if cfg!(target_endian = "little") { minor << 16 | end } else { end << 16 | minor };
        self.slots.set(slot, [begin, shared, index, 1], 0).map_err(text)
    }

    /// Sets a neighbour and its rate.
    fn set_link(&mut self, to: MacAddress, rate: Option<LinkRate>) -> Result<(), String> {
        let Some(known) = self.links.get(&to).copied() else {
            let taken = |index: &u32| self.links.values().any(|link| link.index == *index);
            // With more neighbours than classes the others have no limit.
            let Some(index) = (0..MOST_CLASSES as u32).find(|index| !taken(index)) else { return Ok(()) };
            let is_free = |slot: &u32| self.links.values().all(|link| link.slot != *slot);
            let Some(slot) = places(to).into_iter().find(is_free) else { return Ok(()) };
            let begun = self.read_counts(index)?;
            let link =
                Link { index, slot, rate: None, has_class: false, counted: begun, begun, late: [0.0; 3] };
            self.write(to, (slot, index), false)?;
            self.links.insert(to, link);
            return if rate.is_some() { self.set_link(to, rate) } else { Ok(()) };
        };
        let mut link = known;
        if let Some(rate) = rate {
            self.classes
                .get_mut()
                .set((link.index + 1) as u16, &link.charged(rate), !link.has_class)
                .map_err(|error| error.to_string())?;
            link.has_class = true;
        }
        if rate.is_some() != known.rate.is_some() {
            self.write(to, (link.slot, link.index), rate.is_some())?;
        }
        link.rate = rate;
        self.links.insert(to, link);
        Ok(())
    }

    /// Removes neighbours that are not among these.
    fn keep(&mut self, links: &[(MacAddress, Option<LinkRate>)]) -> Result<(), String> {
        let gone: Vec<MacAddress> =
            self.links.keys().copied().filter(|to| links.iter().all(|link| link.0 != *to)).collect();
        let mut first = Ok(());
        for to in gone {
            let Some(Link { index, slot, has_class, .. }) = self.links.remove(&to) else { continue };
            first = first.and(self.slots.set(slot, [0; 4], 0).map_err(text));
            if has_class {
                let removed = self.classes.get_mut().remove((index + 1) as u16);
                first = first.and(removed.map_err(|error| error.to_string()));
            }
        }
        first
    }
}

fn attach(loaded: &mut Ebpf, device: &str) -> Result<(), String> {
    let program = checked(loaded, NAME)?;
    let root = TcAttachType::Custom(u32::from(MAJOR) << 16);
    let options = NlOptions { priority: 1, classid: Some(TcHandle::new(MAJOR, 0)), ..NlOptions::default() };
    program
        .attach_with_options(device, root, TcAttachOptions::Netlink(options))
        .map_err(|error| refused("attach", &error))?;
    Ok(())
}

/// Lets the kernel check the program, which is attached nowhere.
///
/// # Errors
/// The kernel refuses the program.
pub fn try_program() -> Result<(), String> {
    checked(&mut load(PROGRAM)?, NAME).map(|_| ())
}

/// The two words of a hardware address, as the program reads them.
fn words([a, b, c, d, e, f]: MacAddress) -> [u32; 2] {
    [u32::from_ne_bytes([a, b, c, d]), u32::from(u16::from_ne_bytes([e, f]))]
}

/// The two places of an address in the program's table of links (`link_to`).
fn places(to: MacAddress) -> [u32; 2] {
    const SLOTS: u32 = 1024;
    let mix = |hash: u32, word: u32| {
        let hash = (hash ^ word).wrapping_mul(0x9e37_79b1);
        hash ^ hash >> 15
    };
    let hash = words(to).into_iter().fold(0, mix);
    [hash % SLOTS, hash >> 10 & (SLOTS - 1)]
}

/// Removes the classes of a daemon from a device, also of one that was killed: first what waits in them leaves. True if there were some.
pub fn remove_classes(device: &str) -> bool {
    let classes = index_of(device).and_then(|index| Classes::open(device, index).ok());
    classes.is_some_and(|mut classes| classes.clear(pause))
}

/// Some milliseconds, in which packets leave.
fn pause() {
    _ = rustix::thread::nanosleep(&Timespec { tv_sec: 0, tv_nsec: 5_000_000 });
}

impl RateActuator for KernelShaper {
    fn set(&mut self, links: &[(MacAddress, Option<LinkRate>)]) -> Result<(), String> {
        // What fails at one link is no reason to leave out the others.
        let kept = self.keep(links);
        links.iter().map(|&(to, rate)| self.set_link(to, rate)).fold(kept, Result::and)
    }

    fn hold(&mut self, until: Time) -> Result<(), String> {
        self.until.set(0, until.0, 0).map_err(text)
    }

    fn take_arrivals(&mut self) -> Result<Vec<Arrivals>, String> {
        let mut found = Vec::new();
        let by_index: BTreeMap<u32, MacAddress> =
            self.links.iter().map(|(&to, link)| (link.index, to)).collect();
        let mut of_flows: BTreeMap<MacAddress, (u64, u64)> = BTreeMap::new();
        for slot in self.flows.take() {
            let Some(&to) = by_index.get(&slot.link) else { continue };
            let [data, data_bytes, answers, answer_bytes] = slot.counts.map(u64::from);
            for (answers, packets, bytes) in [(false, data, data_bytes), (true, answers, answer_bytes)] {
                if packets > 0 {
                    let sum = of_flows.entry(to).or_default();
                    *sum = (sum.0 + packets, sum.1 + bytes);
                    found.push(Arrivals { to, flow: Some(slot.flow), answers, packets, bytes });
                }
            }
        }
        let all: Vec<MacAddress> = self.links.keys().copied().collect();
        for to in all {
            let Some(link) = self.links.get(&to).copied() else { continue };
            let counted = self.read_counts(link.index)?;
            let [batches, packets, bytes, _] = difference(counted, link.counted);
            let mut link = Link { counted, ..link };
            let read = [batches, packets, bytes].map(|count| count as f64);
            link.late = std::array::from_fn(|at| BATCHES_KEPT * link.late[at] + read[at]);
            self.links.insert(to, link);
            // The rest belongs to no flow.
            let (flow_packets, flow_bytes) = of_flows.get(&to).copied().unwrap_or_default();
            let (packets, bytes) = (packets.saturating_sub(flow_packets), bytes.saturating_sub(flow_bytes));
            if packets > 0 {
                found.push(Arrivals { to, flow: None, answers: false, packets, bytes });
            }
        }
        found.sort_unstable_by_key(|of| (of.to, of.flow, of.answers));
        Ok(found)
    }

    fn has_gone(&self) -> bool {
        !is_ours_at_root(&self.device)
    }

    fn links(&self) -> Result<Vec<LinkTraffic>, String> {
        let states = self.classes.borrow_mut().states().map_err(|error| error.to_string())?;
        let of_class = |link: &Link| {
            let minor = (link.index + 1) as u16;
            let found = states.iter().find(|state| state.0 == minor && link.has_class);
            found.map(|state| state.1).unwrap_or_default()
        };
        let traffic = |(&to, link): (&MacAddress, &Link)| {
            let [_, packets, bytes, sorted] = difference(self.read_counts(link.index)?, link.begun);
            let state = of_class(link);
            let (waiting, dropped) = (state.waiting, u64::from(state.dropped));
            Ok(LinkTraffic { to, rate: link.rate, waiting, packets, bytes, sorted, dropped })
        };
        self.links.iter().map(traffic).collect()
    }
}

fn difference(later: Counts, earlier: Counts) -> Counts {
    std::array::from_fn(|at| later[at].wrapping_sub(earlier[at]))
}

impl Drop for KernelShaper {
    fn drop(&mut self) {
        _ = self.hold(Time::ZERO);
        // The filter goes with the discipline.
        self.classes.get_mut().clear(pause);
        self.loaded = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten batches of 100 packets with 100,000 bytes: a packet's 572 bytes of overhead are 5720 of a batch. Of 7000 bytes, 70,000 of a
    /// batch, the kernel takes 65,549, and the rate falls as much.
    #[test]
    fn a_batch_is_charged_with_the_overhead_of_its_packets() {
        let rate = LinkRate { rate: Rate(10_000_000), overhead: 572, burst: 2000 };
        let begun = Counts::default();
        let none =
            Link { index: 0, slot: 0, rate: None, has_class: false, counted: begun, begun, late: [0.0; 3] };
        assert_eq!(none.charged(rate), rate);
        let batches = Link { late: [10.0, 100.0, 100_000.0], ..none };
        assert_eq!(batches.charged(rate), LinkRate { overhead: 5720, ..rate });
        let lower = LinkRate { rate: Rate(9_443_625), overhead: 65_549, ..rate };
        assert_eq!(batches.charged(LinkRate { overhead: 7000, ..rate }), lower);
        let least = batches.charged(LinkRate { rate: Rate(1), overhead: u32::MAX, burst: 0 });
        assert_eq!((least.rate, least.overhead), (Rate(1), 65_549));
    }
}
