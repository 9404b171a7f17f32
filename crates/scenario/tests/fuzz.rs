//! The fuzz entry with tens of thousands of inputs: mutations of the examples and of the files with mistakes, and random bytes.

use std::path::PathBuf;

use airfair_scenario::fuzz::{
    fuzz_file_list, fuzz_gain_changes, fuzz_import, fuzz_import_as, fuzz_movement_file, fuzz_scenario,
};
use airfair_scenario::import::Format;

const INPUTS: usize = 40_000;

/// Fragments that lead mutations into the reader's branches.
const TOKENS: [&str; 57] = [
    "\"",
    "[",
    "]",
    "{",
    "}",
    "=",
    ".",
    ",",
    "\n",
    "#",
    "\\",
    "'",
    "0",
    "-",
    "1e999",
    "nan",
    "inf",
    "-0.0",
    "99999999999",
    "0x7f",
    "\"0 m\"",
    "\"1e-300 m\"",
    "\"-1 dBm\"",
    "\"1e308 km\"",
    "\"\"",
    "true",
    "[[node]]\n",
    "[[flow]]\n",
    "[radio]\n",
    "[radios.x]\n",
    "id = \"a\"\n",
    "kind = \"random\"\n",
    "kind = \"building\"\nfloors = 2\nrows = 2\ncolumns = 3\nroom = [\"5 m\", \"4 m\"]\n",
    "count = 3\n",
    "area = [\"1 m\", \"9 km\"]\n",
    "#--set radio.channel=6\n",
    "#--set flow.left.to=2\n",
    "#--set nodes.count=4\n",
    "\u{7f}",
    "\u{1F4E1}",
    "model = \"matrix\"",
    "[tcp]\n",
    "profile = \"ns-2\"\n",
    "transport = \"tcp-cubic\"\n",
    "tcp = { window_scale = 3 }\n",
    "receive_window = \"9 segments\"\n",
    "sack = false\n",
    "max_rto = \"1 s\"\n",
    "kind = \"ftp\"",
    "kind = \"list\", files = [[\"0 s\", \"1 B\"]]",
    "kind = \"arrivals\", size = \"1 kB\", load = 0.5, capacity = \"1 Mbit/s\"",
    "distribution = \"pareto\"",
    "#--set flow.left.tcp.mss=100 B\n",
    "movement = { waypoints = [{ to = [\"9 m\", \"0 m\"], speed = \"3 m/s\" }] }\n",
    "movement = { repeat = true, waypoints = [{ to = [\"9 m\", \"0 m\"], speed = \"3 m/s\", pause = \"1 s\" }] }\n",
    "{ at = \"1 s\", to = [\"1 m\", \"2 m\", \"3 m\"], arrive = \"2 s\" }, ",
    "[movement]\nrefresh_interval = \"1 s\"\n",
];
/// Fragments of a list of files.
const LIST_TOKENS: [&str; 16] = [
    "\n",
    "\r\n",
    ",",
    "\"",
    "0",
    "1e3",
    "-1",
    "nan",
    "31536000",
    "1000000000000000",
    "0.1234567891",
    " ",
    "\u{feff}",
    "start_s,bytes\n",
    "\u{0}",
    "1,1\n",
];

/// Fragments of changes of a gain.
const CHANGE_TOKENS: [&str; 16] = [
    "\n",
    "\r\n",
    ",",
    "\"",
    "0",
    "1e-9",
    "-0",
    "nan",
    "-300",
    "60.5",
    "31536000",
    "-1e-320",
    " ",
    "\u{feff}",
    "at_s,gain_db\n",
    "9e6,-70\n",
];

/// Fragments of maps.
const MAP_TOKENS: [&str; 52] = [
    "\"link_info\": {\"10.1.0.1\": {\"hostname\": \"a\", \"linkType\": \"RF\", \"signal\": -70}}",
    "\"api_version\": \"2.0\", \"node\": \"a\", ",
    "\"batadv\": {\"nodes\": [], \"links\": []}",
    "\"nodeinfo\": {\"node_id\": \"a\"}",
    "\"rows\": [{\"_id\": \"a\", \"aliases\": {\"b\": 1}, \"links\": {\"c\": {}}}]",
    "\"topology_id\": \"ipv6_0\", \"dualstack_id\": \"a\"",
    "\n{\"primary\": \"a\"}\n{\"secondary\": \"a\", \"of\": \"a\"}\n",
    "\n{\"router\": \"a\", \"neighbor\": \"b\", \"label\": \"1.5\"}\n",
    "set ns [new Simulator]\n",
    "$n0 set X_ 5; $n1 set X_ 1e300\n",
    "set udp0 [new Agent/UDP]\n$ns connect $udp0 $null0\n$ns at 1 \"$cbr0 start\"\n",
    "set tcp_(0) [$ns_ create-connection TCP $node_(1) TCPSink $node_(0) 0]\n",
    "{",
    "}",
    "[",
    "]",
    "\"",
    ":",
    ",",
    "<",
    ">",
    "/>",
    "\n",
    "\t",
    " ",
    "0",
    "-1",
    "1e999",
    "1e-999",
    "4096",
    "NaN",
    "null",
    "\"nan\"",
    "true",
    "91.0",
    "-74.0",
    "\"id\": \"a\",",
    "\"links\": [",
    "\"nodes\": [",
    "\"source\": \"m0\",",
    "\"target\": \"m1\",",
    "\"type\": \"wifi\",",
    "<node id=\"n1\"/>",
    "<edge source=\"n0\" target=\"n1\"/>",
    "<data key=\"d4\">2</data>",
    "Table: Topology\n",
    "Table: MID\n",
    "$node_(1) set X_ 5\n",
    "   2 |  -61\n",
    "\u{0}",
    "\u{1F4E1}",
    "\u{feff}",
];

struct Stream(u64);

impl Stream {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

fn corpus(folders: &[&str]) -> Vec<Vec<u8>> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in folders {
        let entries = std::fs::read_dir(here.join(folder)).unwrap().map(|e| e.unwrap().path());
        files.extend(entries.filter(|p| p.extension().is_some_and(|e| e == "toml")));
    }
    files.sort();
    files.iter().map(|p| std::fs::read(p).unwrap()).collect()
}

fn mutate(data: &mut Vec<u8>, other: &[u8], stream: &mut Stream) {
    let at = stream.below(data.len() + 1);
    match stream.below(8) {
        0 if at < data.len() => data[at] ^= 1 << stream.below(8),
        1 => {
            let end = (at + stream.below(20)).min(data.len());
            data.drain(at..end);
        }
        2 | 3 => {
            let token = TOKENS[stream.below(TOKENS.len())];
            data.splice(at..at, token.bytes());
        }
        4 => {
            // A line is removed, doubled or moved.
            let mut lines: Vec<Vec<u8>> = data.split(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
            let (from, to) = (stream.below(lines.len()), stream.below(lines.len()));
            match stream.below(3) {
                0 => drop(lines.remove(from)),
                1 => lines.insert(to, lines[from].clone()),
                _ => lines.swap(from, to),
            }
            *data = lines.join(&b'\n');
        }
        5 => {
            let (start, end) = (stream.below(other.len()), stream.below(other.len()));
            data.splice(at..at, other[start.min(end)..start.max(end)].iter().copied());
        }
        6 => {
            // A digit changes.
            let digits: Vec<usize> = (0..data.len()).filter(|&i| data[i].is_ascii_digit()).collect();
            if let Some(&i) = digits.get(stream.below(digits.len())) {
                data[i] = b'0' + stream.below(10) as u8;
            }
        }
        _ => data.truncate(at),
    }
}

#[test]
fn no_input_panics_and_complete_forms_read_back() {
    let (examples, all) = (corpus(&["../../scenarios"]), corpus(&["../../scenarios", "tests/bad"]));
    let mut stream = Stream(2026);
    for i in 0..INPUTS {
        let data = if i % 20 == 0 {
            (0..stream.below(200)).map(|_| stream.next() as u8).collect()
        } else {
            // Mutations of input that was accepted find more than mutations of refused input.
            let from = if i % 3 == 0 { &all } else { &examples };
            let mut data = from[stream.below(from.len())].clone();
            let other = &all[stream.below(all.len())];
            for _ in 0..=stream.below(1 + i % 4) {
                mutate(&mut data, other, &mut stream);
            }
            data
        };
        fuzz_scenario(&data);
    }
}

#[test]
fn no_list_panics_and_lists_read_back() {
    let mut stream = Stream(2027);
    for _ in 0..INPUTS {
        let mut data = b"start_s,bytes\n".to_vec();
        for _ in 0..stream.below(6) {
            let moment = stream.next() % 31_536_000_000_000_000;
            let decimals = format!("{}.{:09}", moment / 1_000_000_000, moment % 1_000_000_000);
            let start = if stream.below(2) == 0 { decimals } else { stream.below(9).to_string() };
            data.extend(format!("{start},{}\n", 1 + stream.next() % 1_000_000).bytes());
        }
        for _ in 0..stream.below(3) {
            let at = stream.below(data.len() + 1);
            match stream.below(3) {
                0 if at < data.len() => data[at] ^= 1 << stream.below(8),
                1 => data.truncate(at),
                _ => drop(data.splice(at..at, LIST_TOKENS[stream.below(LIST_TOKENS.len())].bytes())),
            }
        }
        fuzz_file_list(&data);
    }
}

#[test]
fn no_changes_panic_and_changes_read_back() {
    let mut stream = Stream(2030);
    for _ in 0..INPUTS {
        let mut data = b"at_s,gain_db\n".to_vec();
        let mut at = 0;
        for _ in 0..stream.below(6) {
            // From some nanoseconds to some months, so that most lists are in order.
            at += stream.next() >> (12 + stream.below(50));
            let gain = stream.next() as f64 / u64::MAX as f64 * 360.0 - 300.0;
            let gain = if stream.below(2) == 0 { gain.to_string() } else { format!("{gain:.0}") };
            data.extend(format!("{}.{:09},{gain}\n", at / 1_000_000_000, at % 1_000_000_000).bytes());
        }
        for _ in 0..stream.below(3) {
            let at = stream.below(data.len() + 1);
            match stream.below(3) {
                0 if at < data.len() => data[at] ^= 1 << stream.below(8),
                1 => data.truncate(at),
                _ => drop(data.splice(at..at, CHANGE_TOKENS[stream.below(CHANGE_TOKENS.len())].bytes())),
            }
        }
        fuzz_gain_changes(&data);
    }
}

#[test]
fn no_movement_file_panics_and_ways_read() {
    let tokens = ["-", "e9", "nan", ".", " ", "\n", "0", "$god_ x\n", "#3D\n", "\"", "1e-12", "99999999"];
    let mut stream = Stream(2029);
    for i in 0..INPUTS / 2 {
        let mut text = String::new();
        for node in 0..1 + stream.below(3) {
            let mut number = || stream.next() as f64 / 3e16;
            if i % 2 == 0 {
                text += &format!("$node_({node}) set X_ {}\n$node_({node}) set Y_ {}\n", number(), number());
                for _ in 0..3 {
                    let (at, x, y, speed) = (number(), number(), number(), number());
                    text += &format!("$ns_ at {at} \"$node_({node}) setdest {x} {y} {speed}\"\n");
                }
            } else {
                let mut at = 0.0;
                for _ in 0..3 {
                    text += &format!("{at} {} {} ", number(), number());
                    at += number().floor();
                }
                text.push('\n');
            }
        }
        let mut data = text.into_bytes();
        for _ in 0..stream.below(4) {
            let at = stream.below(data.len() + 1);
            match stream.below(3) {
                0 if at < data.len() => data[at] ^= 1 << stream.below(8),
                1 => data.truncate(at),
                _ => drop(data.splice(at..at, tokens[stream.below(tokens.len())].bytes())),
            }
        }
        fuzz_movement_file(&data);
    }
}

/// The maps of the tests of the importers, each with all of its parts.
fn maps() -> Vec<Vec<u8>> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/import");
    let mut files: Vec<PathBuf> = ["", "nycmesh", "meshviewer-parts", "ffmap", "cases", "cases/ffmap"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(here.join(folder)).unwrap().map(|e| e.unwrap().path()))
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    files.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

#[test]
fn no_map_panics_and_what_is_imported_reads() {
    let maps = maps();
    let formats = Format::NAMES.map(|(_, format)| format);
    let mut stream = Stream(2028);
    for i in 0..INPUTS / 10 {
        let mut data = maps[stream.below(maps.len())].clone();
        for _ in 0..=stream.below(1 + i % 4) {
            let at = stream.below(data.len() + 1);
            if stream.below(2) == 0 {
                let token = MAP_TOKENS[stream.below(MAP_TOKENS.len())];
                data.splice(at..at, token.bytes());
            } else {
                let other = &maps[stream.below(maps.len())];
                mutate(&mut data, other, &mut stream);
            }
        }
        fuzz_import(&data);
        if i % 4 == 0 {
            fuzz_import_as(formats[stream.below(formats.len())], &data);
        }
    }
}

#[test]
fn deep_and_long_maps_end_quickly() {
    let rows = |row: &str, n: usize| row.repeat(n);
    // Each node is an alias of the one before.
    let chain = |n: usize| -> String {
        let pair = |i| format!("{{\"ip\": \"{i}\", \"aliases\": [{{\"ip\": \"{}\"}}]}},", i + 1);
        (0..n).map(pair).collect()
    };
    for text in [
        "[".repeat(100_000),
        "{\"nodes\":".repeat(50_000),
        "<graphml>".repeat(50_000),
        format!("<graphml>{}</graphml>", "<graph>".repeat(60_000) + &"</graph>".repeat(60_000)),
        format!("{{\"nodes\": [], \"links\": [{}1]}}", rows("{\"source\": \"a\"},", 40_000)),
        format!("{{\"rows\": [{}1]}}", rows("{\"id\": \"a\"},", 40_000)),
        format!("Table: Topology\nDest\n{}", rows("a b 1 1 1\n", 60_000)),
        format!("Tx\\Rx {}\n a |{}", rows(" x", 5000), rows(" -1", 100_000)),
        rows("$node_(1) set X_ 1\n", 40_000),
        rows("{\"router\": \"a\", \"neighbor\": \"b\", \"label\": 1}\n", 20_000),
        rows("{\"secondary\": \"a\", \"of\": \"b\"}\n", 20_000),
        format!(
            "{{\"topology\": [{{\"lastHopIP\": \"a\", \"destinationIP\": \"b\"}}], \"mid\": [{}1]}}",
            chain(8000)
        ),
        format!("set ns [new Simulator]\n$n0 set X_ 1\n{}", rows("$ns connect $a $b;", 50_000)),
        format!("set ns [new Simulator]\n$n0 set X_ 1\n{}", rows("[", 400_000)),
        format!(
            "set ns [new Simulator]\n$n0 set X_ 1\n{}",
            rows("set a [new Agent/TCP]\n$a set b c\n", 20_000)
        ),
        rows("0 1 2 ", 100_000),
        rows("0 1 2\n", 100_000),
    ] {
        fuzz_import(text.as_bytes());
        for (_, format) in Format::NAMES {
            fuzz_import_as(format, text.as_bytes());
        }
    }
}

#[test]
fn deep_and_long_inputs_end_quickly() {
    for text in [
        "[".repeat(100_000),
        "a = ".to_string() + &"[".repeat(100_000),
        "a.".repeat(100_000) + "b = 1",
        "a = ".to_string() + &"{ a = ".repeat(100_000),
        format!("[{}]", "a.".repeat(50_000) + "a"),
        "[[flow]]\n".repeat(50_000),
        "[[node]]\nid = \"n\"\n".repeat(30_000),
        (0..20_000).map(|i| format!("[[flow]]\nid = \"f{i}\"\nfrom = \"x\"\nto = \"y\"\n")).collect(),
        (0..50_000).map(|i| format!("k{i} = 1\n")).collect(),
        "\"".repeat(500_000),
        "#--set a.b=1\n".repeat(30_000),
    ] {
        fuzz_scenario(text.as_bytes());
    }
}
