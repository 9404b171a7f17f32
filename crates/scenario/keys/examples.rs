//! Examples of the reference, one for each section. One after the other they are a scenario, and a test reads it.

pub(crate) const RUN: &str = r#"name = "village"
description = "Houses along a road share one uplink."
duration = "60 s"
warmup = "10 s"                          # not counted
scheme = "red"
"#;

pub(crate) const RADIOS: &str = r#"[radio]                                  # of every node that does not say otherwise
standard = "802.11g"
data_rate = "24 Mbit/s"
rts_threshold = "500 B"                  # RTS and CTS before frames of more than this
queue_packets = 100
propagation = { model = "two-ray", range = "250 m", carrier_sense = "550 m" }

[radios.backhaul]                        # another kind; what it does not write it takes from [radio]
channel = 6
tx_power = "24 dBm"
propagation = { model = "matrix" }       # gains are measured, see [[gain]]
"#;

pub(crate) const NODES: &str = r#"[[node]]
id = "mast"
position = ["0 m", "60 m"]
radios = ["default", "backhaul"]

[[node]]
id = "tower"
radios = ["backhaul"]                    # needs no position: its only gains are measured

[[node]]
id = "tractor"                           # up and down a field
position = ["0 m", "150 m"]
movement = { repeat = true, waypoints = [
  { to = ["300 m", "150 m"], speed = "3 m/s", pause = "20 s" },
  { to = ["0 m", "150 m"], speed = "3 m/s", pause = "20 s" },
] }

[[node]]
id = "server"
radios = []                              # wired only

[nodes]                                  # houses 0 to 5, beside those that are written out
kind = "chain"
count = 6
spacing = "120 m"
prefix = "house-"

[movement]                               # how often the simulator looks where a moving node is
refresh_interval = "200 ms"
"#;

pub(crate) const LINKS: &str = r#"[[link]]
ends = ["tower", "server"]
rate = "100 Mbit/s"
delay = "8 ms"
rate_changes = [{ at = "30 s", rate = "50 Mbit/s" }, { at = "40 s", rate = "100 Mbit/s" }]

[[gain]]
from = "mast"
to = "tower"
gain = "-92 dB"
both = true
"#;

pub(crate) const CONTROLLERS: &str = r#"[[controller]]
node = "tower"
stop = "30 s"

[[controller]]
node = "server"
start = "30 s"
"#;

pub(crate) const FLOWS: &str = r#"[[flow]]
id = "update"
from = "server"
to = "house-3"
transport = "tcp"
traffic = { kind = "ftp", start = "5 s" }

[[flow]]
id = "backup"
from = "house-1"
to = "server"
transport = "tcp-cubic"                  # this law, unless the run's scheme has one
tcp = { window_limit = "64 segments" }   # and this limit; the rest is that of [tcp]
stop = "50 s"
traffic = { kind = "saturating", packet = "1460 B" }

[flows]                                  # four more, between nodes that are drawn
kind = "random"
count = 4
seed = 7
traffic = { kind = "poisson", rate = "40 kbit/s", packet = "200 B" }
"#;

pub(crate) const TRAFFIC: &str = r#"[[flow]]
id = "call"
from = "house-0"
to = "server"
traffic = { kind = "constant", rate = "64 kbit/s", packet = "160 B" }

[[flow]]
id = "pages"
from = "server"
to = "house-2"
transport = "tcp"
traffic = { kind = "web", size = "80 kB", distribution = "pareto", pause = "3 s" }

[[flow]]
id = "visitors"
from = "server"
to = "house-4"
transport = "tcp"
traffic = { kind = "arrivals", load = 0.05, capacity = "24 Mbit/s", size = "20 kB" }

[[flow]]
id = "meter"
from = "house-5"
to = "server"
transport = "tcp"
traffic = { kind = "list", files = [["1 s", "2 kB"], ["31 s", "2 kB"]] }
"#;

pub(crate) const TCP: &str = r#"[tcp]
profile = "linux"                        # then what differs from it
initial_window = "4 segments"
delayed_ack = { segments = 2, timeout = "40 ms" }
min_rto = "200 ms"
"#;

pub(crate) const NETWORK: &str = r#"[routing]
metric = "etx"

[arp]
prefilled = false

[headers]
wired = "38 B"                           # Ethernet with its gap and preamble
"#;

pub(crate) const SCHEMES: &str = r#"[schemes.red]                            # also: --set red.max_p=0.1
max_p = 0.1
gentle = true
"#;

pub(crate) const READINGS: &str = r#"[schemes.nred]                           # also: --set nred.obey_own=true
obey_own = true
"#;
