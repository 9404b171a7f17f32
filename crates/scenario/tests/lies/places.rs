//! Scenes, each with the node that lies.

use std::path::PathBuf;

use airfair_scenario::{Scenario, read};
use airfair_schemes::Params;
use airfair_schemes::find;
use airfair_sim::World;
use airfair_sim::ids::NodeIx;
use airfair_sim::spec::WorldSpec;
use airfair_units::Span;

/// In place of the liar's name: no node has it.
const NOBODY: &str = "";

/// A scene with a liar.
pub struct Place {
    pub name: &'static str,
    pub liar: &'static str,
    pub spec: WorldSpec,
    /// The flows that neither begin nor end at the liar, nor pass it.
    pub others: Vec<usize>,
}

/// Two nodes of `three-pairs` with one transfer, and a third one without traffic, which hears both.
const LONE_PAIR: &str = r#"
name = "lone-pair"
duration = "60 s"
warmup = "10 s"
[radio]
standard = "802.11b"
data_rate = "2 Mbit/s"
basic_rates = ["1 Mbit/s"]
rts_threshold = "0 B"
queue_packets = 66
tx_power = "24.5 dBm"
propagation = { model = "two-ray", frequency = "914 MHz", range = "367 m", carrier_sense = "670 m" }
[[node]]
id = "a"
position = ["0 m", "0 m"]
[[node]]
id = "b"
position = ["200 m", "0 m"]
[[node]]
id = "by"
position = ["100 m", "100 m"]
[[flow]]
id = "lone"
from = "a"
to = "b"
transport = "tcp"
traffic = { kind = "ftp" }
"#;

/// A node without traffic which hears all three pairs.
const BYSTANDER: &str = "\n[[node]]\nid = \"by\"\nposition = [\"350 m\", \"100 m\"]\n";

impl Place {
    fn new(name: &'static str, liar: &'static str, scenario: Scenario) -> Self {
        let mut spec = scenario.spec;
        spec.duration = Span::from_secs(60);
        spec.warmup = Span::from_secs(10);
        let scheme = (find("droptail").expect("a scheme").build)(&Params::default()).expect("built");
        let world = World::new(&spec, "droptail", scheme, 1).expect("a world");
        let at = spec.nodes.iter().position(|node| node.id == liar);
        let paths = world.paths().into_iter().enumerate();
        let passes = |node: &NodeIx| Some(node.ix()) == at;
        let free = paths.filter(|(_, path)| path.as_ref().is_some_and(|path| !path.iter().any(passes)));
        let others = free.map(|(flow, _)| flow).collect();
        Self { name, liar, spec, others }
    }

    /// A file of `scenarios/`, with more at its end.
    fn of_file(name: &'static str, file: &str, more: &str, liar: &'static str) -> Self {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        let text = std::fs::read_to_string(root.join(file)).expect("a file") + more;
        Self::new(name, liar, read(&text, file, &[]).expect("a scenario"))
    }

    pub fn lone_pair() -> Self {
        Self::new("lone pair", "by", read(LONE_PAIR, "lone-pair.toml", &[]).expect("a scenario"))
    }

    /// A bystander among three pairs.
    pub fn three_pairs() -> Self {
        Self::of_file("three pairs", "three-pairs.toml", BYSTANDER, "by")
    }

    /// Runs take so many seconds, of which the first quarter does not count.
    pub fn shorten(&mut self, seconds: u64) {
        self.spec.duration = Span::from_secs(seconds);
        self.spec.warmup = Span::from_millis(250 * seconds);
    }

    pub fn all() -> Vec<Self> {
        let file = |name, file: &str, liar| Self::of_file(name, file, "", liar);
        vec![
            Self::lone_pair(),
            Self::three_pairs(),
            file("three pairs", "three-pairs.toml", "a1"),
            file("three pairs", "three-pairs.toml", "a2"),
            file("three pairs", "three-pairs.toml", "b2"),
            file("hidden", "hidden-terminal.toml", "2"),
            file("hidden", "hidden-terminal.toml", "3"),
            file("gateway", "gateway.toml", "B"),
            file("chain", "chain-cross.toml", "9"),
            file("chain", "chain-cross.toml", "3"),
            file("stack", "stack.toml", "5"),
            file("cell", "access-point.toml", "sta1"),
            file("four gateways", "suite/four-gateways.toml", "15"),
            file("four gateways", "suite/four-gateways.toml", "7"),
        ]
    }

    /// Scenes in which nobody lies, for the price of a bound.
    pub fn honest() -> Vec<Self> {
        let files = [
            ("three-pairs", "three-pairs.toml"),
            ("exposed-terminal", "exposed-terminal.toml"),
            ("gateway", "gateway.toml"),
            ("chain-cross", "chain-cross.toml"),
            ("stack", "stack.toml"),
            ("diamond", "diamond.toml"),
            ("half-diamond", "half-diamond.toml"),
            ("access-point", "access-point.toml"),
            ("four-gateways", "suite/four-gateways.toml"),
            ("grid-64-tcp", "grid-64-tcp.toml"),
        ];
        files.into_iter().map(|(name, file)| Self::of_file(name, file, "", NOBODY)).collect()
    }

    /// The name with the liar.
    pub fn words(&self) -> String {
        format!("{} {}", self.name, self.liar)
    }
}
