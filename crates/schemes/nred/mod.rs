//! NRED: nodes detect that their neighbourhood is congested, notify it, and each drops in proportion to its share of the channel.
//!
//! K. Xu, M. Gerla, L. Qi, Y. Shu, "Enhancing TCP Fairness in Ad Hoc Wireless Networks Using Neighborhood RED", MobiCom 2003.
//! It fills two places: an [`Agent`] beside each radio interface and an [`Aqm`] at it.
//!
//! | file | section | what |
//! |---|---|---|
//! | `accounting` | 5.1 | the use of the channel and this node's part of it: `avg`, `avg_tx`, `avg_rx` |
//! | `detection` | 5.2, Algorithm 5.1 | `p_b` of the neighbourhood's queue; the conditions for a notification |
//! | `notification` | 5.2 | the notifications of other nodes and their lifetime |
//! | `drop` | 5.3, Algorithm 5.2 | the local share of p_b, outgoing and incoming; the drops |
//! | `trial` | ours | whether notifications help |
//! | `agent` | 5 | all put together beside an interface |
//!
//! | symbol | here | unit | default |
//! |---|---|---|---|
//! | T_interval | `interval` | time | 100 ms |
//! | w_q | `weight` | | 0.2 |
//! | W | `bandwidth` | bit/s | 2 Mbit/s |
//! | C | `mean_packet` | bytes | 1030 B |
//! | min_th, max_th | `min_th`, `max_th` | packets/s at W, the paper's "packets" | 100, 240 |
//! | max_p | `max_p` | | 0.14 |
//! | T_NCN | `ncn_interval` | time | 1 s |
//! | lifetime | `lifetime` | time | 2 s |
//!
//! Readings where the paper is open, each a parameter where another one is worth a try:
//! - **C** is "a constant" whose "value is irrelevant". It is not: the index saturates at `U W/C`, and whether that lies below or
//!   above max_th decides whether a full channel drops 14 % or everything. The paper saw it "around 240" and took that as max_th.
//!   Here a full channel is busy for 0.988 of the time in the scene where the paper measured it (`airfair paper nred/fig6`), so
//!   1030 B puts it at 240. The index can then not exceed 242.7, and its average hardly 240: **the branch p_b = 1 is not reached** in
//!   the paper's scenes. It is with 1000 B, where a full channel has up to 250.
//! - **W** is the paper's 2 Mbit/s whatever the radio's rate is: the thresholds are shares of a full channel (0.41 and 0.99), and a
//!   radio of 11 Mbit/s fills its channel at the same shares. With W from the radio an index of 240 would be a channel that is
//!   busy for 18 % of the time.
//! - **Below min_th** Algorithm 5.1 has no branch and would keep the last value; here `p_b` and `normalizedP_b` become 0.
//! - **T_NCN and lifetime**: the paper gives the rule "at least twice" and, for one experiment, 2 s. A starved node cannot win the
//!   channel every 200 ms to renew its notification, so the lifetime is 2 s and T_NCN half of it. The paper's figures are judged with T_NCN
//!   100 ms and theta 0.3 (`python/airfair_papers/nred/common/readings.py`).
//! - **Condition (ii)**, being on the path of a flow: a packet of a flow was sent, passed on or received within `memory`
//!   (60 s: a starved TCP sender is silent for seconds between its time-outs), or the node is on the static route of a flow that has
//!   sent something of which nothing has arrived yet (`set_up`). Otherwise a receiver whose first SYN is lost in a full channel,
//!   the one that suffers most, would be silent until a SYN arrives. No node could know that nothing has arrived: the simulator
//!   provides this, without air. Packets that find a route on demand pass all nodes of the route.
//! - **Condition (iii)**, suffering: the paper compares `avg_tx + avg_rx` with "a certain threshold". Here that is `theta avg`, with theta
//!   0.5, the fair share of two.
//! - **Condition (iv)**, "in the past interval": since the last check, T_NCN ago.
//! - **The sender of an NCN** does not follow it itself ("a node has received a NCN packet"); `obey_own` is the other reading.
//! - **U_rx** counts frames for this node only (`receive_own`): it is the node's own use of the channel; broadcasts, which all
//!   neighbours receive, are their sender's. With `rx_all` every decodable frame counts.
//! - **`else count <- -1`** of Algorithm 5.2 belongs to "if p_a > 0", as in RED.
//! - **`1 - count p_b <= 0`**: `p_a` is 1.
//! - All data and all acknowledgements count and may be dropped; control packets are exempt. A packet that is passed on is judged
//!   twice, when received and when sent.
//! - **Marking** (section 8, `ecn`): a mark takes the place of a drop while the local share is below 1.
//! - An NCN leaves ahead of all packets that wait: behind the queue of a starved node it would not leave.
//! - Neighbours (§4.3, §5.2) are the 1-hop nodes: those at which a tenth of short data frames arrives (a tenth is ours).
//! - Broadcast instead of the unicast to a random neighbour (`broadcast`): the paper compares its own choice with it.

//!
//! Ours, because measured (`docs/schemes/nred.md`); each is off by default:
//! - **A silence** (`silence`, `recovery`) as a fifth condition: a share below theta is the rule in a cell of many stations and on the
//!   way of a slow flow, and a sign of starvation only where flows fall silent, as TCP does between its time-outs.
//! - **A spared part** (`spare`): drops in proportion to the whole share go on when the neighbours have become equal; drops in
//!   proportion to the part above the spared one end there.
//! - **Flows apart** (`evenness`): a relay that drops all flows alike drops those of the sufferer too. The use of a flow counts once where
//!   it is passed on. A window of use ends whenever the agent sets probabilities.
//! - **Trials** (`trial`, `enough`, `rest`): where notifications do not help, the node rests.
//! - **The share in the long run** (`lasting`, `little`): a flow that has most of the air falls silent, too, when a timer expires. Only a
//!   node that has had little for some time suffers.
//! - **Cells** (`cell`): the flows of a cell pass its access point, sufferers' and others'. There a flow is dropped by how far its use is
//!   above the mean, and one with no more than the mean is not. A silent flow counts in the mean for the time of `recovery`.
//! - **Flows without acknowledgements** (`answered`) do not slow down: dropping them frees no air for others.
//! - **Many sufferers** (`most_sufferers`): the neighbourhood is overloaded, not unfair; drops only lower the total, and so do
//!   notifications. A departure from §5.2 (iii) and (iv): two neighbours that suffer less mute a third.
//! - **Foreign air** (`most_foreign`): an access point drops only where the air is its cell's alone; in a mesh it is a gateway, and its
//!   drops hit the flows over one hop, which give up more than those over several gain.

mod accounting;
mod agent;
mod detection;
mod drop;
mod notification;
mod presets;
mod trial;

pub use accounting::{Accounting, Shares};
pub use agent::NredAgent;
pub use detection::{Congestion, Detector};
pub use drop::{INCOMING, NredDrop, OUTGOING};
pub use notification::Heard;
pub use presets::PRESETS;
pub use trial::Trial;

use alloc::boxed::Box;

use airfair_units::{Bytes, Rate, Span};

use crate::params;
use crate::params::{ParamError, Params};
use crate::places::{Agent, Aqm, Capability, Interface, Medium, Wants};
use crate::scheme::Scheme;

const SHORTEST: Span = Span::from_millis(1);
const LONGEST: Span = Span::from_secs(3600);

params! {
    /// The parameters of NRED.
    pub struct Nred {
        /// T_interval, over which the radio's states are counted; section 6.1: 100 ms to 1 s
        paper interval: Span = Span::from_millis(100), in SHORTEST..=LONGEST;
        /// w_q of the moving averages; section 6.1: 0.1 to 0.4
        paper weight: f64 = 0.2, in 1e-6..=1.0;
        /// W, which with C makes the index U W/C; section 3.2 has 2 Mbit/s. The thresholds belong to W/C, not to the radio's rate
        paper bandwidth: Rate = Rate::from_mbps(2), in Rate::from_kbps(1)..=Rate::from_mbps(1_000_000);
        /// C, which turns a share of the channel into an index of a queue, U W/C; section 5.1 gives no number: 1030 B is ours, by which a
        /// saturated channel has the 240 of section 6.2
        paper mean_packet: Bytes = Bytes(1030), in Bytes(1)..=Bytes(65_535);
        /// average index from which the neighbourhood is congested; section 7
        paper min_th: f64 = 100.0, in 0.0..=1e9;
        /// average index from which p_b is 1; section 7
        paper max_th: f64 = 240.0, in 0.0..=1e9;
        /// p_b just below max_th; section 6.2: 0.1 to 0.2
        paper max_p: f64 = 0.14, in 0.0..=1.0;
        /// T_NCN, the interval between checks whether a notification is due; section 5.2 gives no number: 1 s is half of the lifetime of
        /// section 7.2
        paper ncn_interval: Span = Span::from_secs(1), in SHORTEST..=LONGEST;
        /// how long a notification holds; section 5.2: at least twice T_NCN, section 7.2: 2 s; up to 65.535 s
        paper lifetime: Span = Span::from_secs(2), in SHORTEST..=Span::from_millis(65_535);
        /// a node suffers while its share of the neighbourhood's use of the channel is below this; condition (iii) of section 5.2 says "a
        /// certain threshold": its form and 0.5 are ours
        reading theta: f64 = 0.5, in 0.0..=10.0;
        /// a node suffers only after a silence of its flows of this length; 0: by its share of the channel alone, as in the paper
        reading silence: Span = Span::ZERO, in Span::ZERO..=LONGEST;
        /// with silence: how long after one a node still counts as suffering
        reading recovery: Span = Span::from_secs(5), in SHORTEST..=LONGEST;
        /// with rest: how long a node notifies before it judges whether that helps
        reading trial: Span = Span::from_secs(10), in SHORTEST..=LONGEST;
        /// share of the neighbourhood's use of the channel that a node has to have in the mean of a trial if its notifications are to count
        /// as help
        reading enough: f64 = 0.25, in 0.0..=1.0;
        /// how long a node sends no notification after a trial that did not help, twice as long after each
        /// further one, up to 16 times; 0: it never rests
        reading rest: Span = Span::ZERO, in Span::ZERO..=LONGEST;
        /// how long a notified node drops before it judges whether others use the air; where they do not, it drops nothing for a minute,
        /// twice as long after each further time, up to 16 times; 0: it asks for no proof
        operator proof: Span = Span::ZERO, in Span::ZERO..=LONGEST;
        /// a node that has heard notifications of more neighbours than this within the time of recovery, or of rest if that is longer,
        /// drops nothing and notifies nobody
        reading most_sufferers: u64 = 1_000_000, in 0..=1_000_000;
        /// share of time in which others send to others above which an access point drops nothing; 1: it always drops
        operator most_foreign: f64 = 1.0, in 0.0..=1.0;
        /// share of the neighbourhood's queue that a node keeps: of a smaller part of its own it drops nothing
        reading spare: f64 = 0.0, in 0.0..=1.0;
        /// exponent of a flow's use of the node, as a multiple of the mean use, in its drop probability; 0: all flows have the same
        reading evenness: f64 = 0.0, in 0.0..=8.0;
        /// with lasting: share of the neighbourhood's use of the channel, in the mean of that time, from which a node does not suffer
        reading little: f64 = 0.2, in 0.0..=1.0;
        /// a node suffers only where its share has been little in the mean of about this time; 0: its present share counts alone
        reading lasting: Span = Span::ZERO, in Span::ZERO..=LONGEST;
        /// drop probability at an access point that is notified, of a flow with 2^(1/evenness) times the mean use; a flow with the mean use
        /// or less is not dropped there. 0: an access point drops like any node
        reading cell: f64 = 0.0, in 0.0..=1.0;
        /// only flows whose acknowledgements pass the node too are dropped: others would not slow down
        reading answered: bool = false;
        /// how long after its last packet a flow counts as passing through; condition (ii)
        reading memory: Span = Span::from_secs(60), in SHORTEST..=LONGEST;
        /// a flow counts as passing through all nodes of its static route while nothing of it has arrived; false: only where its packets
        /// pass; condition (ii)
        reading set_up: bool = true;
        /// marks instead of dropping where the packet can be marked; section 8
        operator ecn: bool = false;
        /// the sender of a notification follows it too; section 5.2 speaks of nodes that have received it
        reading obey_own: bool = false;
        /// U_rx counts every decodable frame, not only those for this node, whose own use of the channel section 5.1 means
        reading rx_all: bool = false;
        /// notifications are broadcast, not sent to one random neighbour: the alternative that section 5.2 rejects
        reading broadcast: bool = false;
    }
}

impl Nred {
    /// Reads the parameters.
    ///
    /// # Errors
    /// A parameter out of its range, thresholds in the wrong order, a lifetime that is too short.
    pub fn from_params(params: &Params) -> Result<Self, ParamError> {
        let nred = Self::read(params)?;
        if nred.max_th <= nred.min_th {
            return Err(ParamError::not_below("min_th", "max_th"));
        }
        if nred.lifetime < nred.ncn_interval {
            return Err(ParamError::above("ncn_interval", "lifetime"));
        }
        Ok(nred)
    }
}

impl Scheme for Nred {
    fn aqm(&self, interface: &Interface) -> Option<Box<dyn Aqm>> {
        Some(Box::new(NredDrop::new(self, interface.access_point)))
    }

    fn agent(&self, interface: &Interface) -> Option<Box<dyn Agent>> {
        Some(Box::new(NredAgent::new(*self, interface.access_point)))
    }

    fn wants(&self, interface: &Interface) -> Wants {
        match interface.medium {
            Medium::Radio => Wants::of(&[
                Capability::Airtime,
                Capability::NavTime,
                Capability::Neighbours,
                Capability::Received,
            ])
            .and_if(self.set_up, Capability::SetUp)
            .and_if(self.evenness > 0.0 || self.answered, Capability::FlowUse)
            // Of a unicast to one neighbour the others know by overhearing.
            .and_if(!self.broadcast, Capability::Overheard)
            .samples_every(self.interval),
            Medium::Wire => Wants::NONE,
        }
    }
}
