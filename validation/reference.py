"""Published numbers and numbers of the peer simulators, each with its source. Numbers only; nothing is
computed here."""

from __future__ import annotations

from dataclasses import dataclass

BIANCHI_2000 = "Bianchi, IEEE JSAC 18(3), 2000, parameters of its Table II"
NS3_TABLES = "ns-3 src/wifi/examples, numbers only"
PEERS = "ns-2.35/ns-3.37, Debian packages, run for this project, November 2026"
SLOT_EXACT = "a second slot-exact model, endless retries, 120,000 busy periods"
STANDARD = "ns-3 src/wifi/test, numbers only; IEEE 802.11-2016, clauses 16 and 17"

FRAME_US: tuple[tuple[str, int, int], ...] = (
    ("DsssRate1Mbps", 14, 304),
    ("DsssRate1Mbps", 1023, 8376),
    ("DsssRate1Mbps", 1026, 8400),
    ("DsssRate2Mbps", 1023, 4284),
    ("DsssRate5_5Mbps", 1023, 1680),
    ("DsssRate5_5Mbps", 1024, 1682),
    ("DsssRate5_5Mbps", 1025, 1683),
    ("DsssRate5_5Mbps", 1026, 1685),
    ("DsssRate11Mbps", 14, 203),
    ("DsssRate11Mbps", 76, 248),
    ("DsssRate11Mbps", 1023, 936),
    ("DsssRate11Mbps", 1024, 937),
    ("DsssRate11Mbps", 1026, 939),
    ("DsssRate11Mbps", 1536, 1310),
    ("OfdmRate54Mbps", 14, 24),
    ("OfdmRate54Mbps", 76, 32),
    ("OfdmRate54Mbps", 1536, 248),
)
"""Mode, size of the frame in bytes (FCS included), duration in us with the long preamble. Source:
STANDARD."""


@dataclass(frozen=True)
class Normalised:
    """Normalised saturation throughput of Bianchi's example, basic access and RTS/CTS."""

    window: int
    stages: int
    n: int
    basic: float
    rts: float


BIANCHI_2000_ROWS: tuple[Normalised, ...] = (
    Normalised(32, 3, 5, 0.8097, 0.8342),
    Normalised(32, 3, 10, 0.7532, 0.8371),
    Normalised(32, 3, 20, 0.6788, 0.8356),
    Normalised(32, 3, 50, 0.5529, 0.8270),
    Normalised(32, 5, 5, 0.8102, 0.8342),
    Normalised(32, 5, 10, 0.7579, 0.8370),
    Normalised(32, 5, 20, 0.6975, 0.8362),
    Normalised(32, 5, 50, 0.6109, 0.8317),
    Normalised(128, 3, 5, 0.8250, 0.7979),
    Normalised(128, 3, 10, 0.8263, 0.8217),
    Normalised(128, 3, 20, 0.7981, 0.8327),
    Normalised(128, 3, 50, 0.7252, 0.8363),
    Normalised(16, 6, 5, 0.7675, 0.8382),
    Normalised(16, 6, 10, 0.7056, 0.8369),
    Normalised(16, 6, 20, 0.6457, 0.8340),
    Normalised(16, 6, 50, 0.5640, 0.8280),
)
"""Source: BIANCHI_2000 (an exact solution of the paper's equations, four digits)."""

BIANCHI_2000_MAXIMUM: tuple[tuple[int, float, float], ...] = (
    (5, 0.8328, 0.8385),
    (10, 0.8283, 0.8373),
    (50, 0.8248, 0.8363),
)
"""n, largest normalised throughput over all attempt probabilities, basic and RTS/CTS. Source:
BIANCHI_2000."""

BIANCHI_2000_K = 9.334
"""The paper's K for basic access. Source: BIANCHI_2000."""

TABLE_N: tuple[int, ...] = (5, 10, 15, 20, 25, 30, 35, 40, 45, 50)
"""Numbers of stations of BIANCHI_DIFS."""

BIANCHI_DIFS: dict[str, tuple[float, ...]] = {
    "DsssRate1Mbps": (0.8437, 0.7861, 0.7496, 0.7226, 0.7016, 0.6847, 0.6686, 0.6549, 0.6435, 0.6336),
    "DsssRate2Mbps": (1.6228, 1.5168, 1.4482, 1.3972, 1.3574, 1.3253, 1.2947, 1.2687, 1.2469, 1.2279),
    "DsssRate5_5Mbps": (3.8896, 3.6707, 3.5203, 3.4063, 3.3161, 3.2429, 3.1729, 3.1128, 3.0625, 3.0184),
    "DsssRate11Mbps": (6.4734, 6.1774, 5.9553, 5.7819, 5.6429, 5.5289, 5.4191, 5.3243, 5.2446, 5.1745),
    "OfdmRate6Mbps": (4.7087, 4.3453, 4.1397, 3.9899, 3.8802, 3.7824, 3.6961, 3.6276, 3.5712, 3.5071),
    "OfdmRate9Mbps": (6.8586, 6.3431, 6.0489, 5.834, 5.6762, 5.5355, 5.411, 5.3122, 5.2307, 5.138),
    "OfdmRate12Mbps": (8.9515, 8.2901, 7.9102, 7.6319, 7.4274, 7.2447, 7.0829, 6.9544, 6.8485, 6.7278),
    "OfdmRate18Mbps": (
        12.7822,
        11.8801,
        11.3543,
        10.9668,
        10.6809,
        10.4249,
        10.1978,
        10.0171,
        9.8679,
        9.6978,
    ),
    "OfdmRate24Mbps": (
        16.247,
        15.1426,
        14.4904,
        14.0072,
        13.6496,
        13.3288,
        13.0436,
        12.8164,
        12.6286,
        12.4144,
    ),
    "OfdmRate36Mbps": (
        22.3164,
        20.9147,
        20.0649,
        19.4289,
        18.9552,
        18.5284,
        18.1476,
        17.8434,
        17.5915,
        17.3036,
    ),
    "OfdmRate48Mbps": (
        27.2963,
        25.6987,
        24.7069,
        23.9578,
        23.3965,
        22.8891,
        22.435,
        22.0713,
        21.7696,
        21.4243,
    ),
    "OfdmRate54Mbps": (
        29.8324,
        28.1519,
        27.0948,
        26.2925,
        25.6896,
        25.1434,
        24.6539,
        24.2613,
        23.9353,
        23.5618,
    ),
}
"""Mode: throughput in Mbit/s at each of TABLE_N, basic access, DIFS after a collision. Source: NS3_TABLES."""

EIFS_N: tuple[int, ...] = (5, 10, 20, 30, 50)
"""Numbers of stations of BIANCHI_EIFS."""

BIANCHI_EIFS: dict[str, tuple[float, ...]] = {
    "DsssRate1Mbps": (0.8418, 0.7831, 0.7186, 0.6802, 0.6285),
    "DsssRate2Mbps": (1.6170, 1.5075, 1.3849, 1.3115, 1.2124),
    "DsssRate5_5Mbps": (3.8565, 3.6170, 3.3339, 3.1613, 2.9266),
    "DsssRate11Mbps": (6.3821, 6.0269, 5.5765, 5.2958, 4.9103),
    "OfdmRate6Mbps": (4.6899, 4.3197, 3.9589, 3.7490, 3.4711),
    "OfdmRate24Mbps": (16.0836, 14.9153, 13.7300, 13.0281, 12.0889),
    "OfdmRate54Mbps": (29.2861, 27.3763, 25.3325, 24.0944, 22.4162),
}
"""Mode: throughput in Mbit/s at each of EIFS_N, basic access, EIFS (ACK at the response rate) after a
collision. Source: NS3_TABLES."""

COLLISION_N: tuple[int, ...] = (2, 5, 10, 20, 30, 50)
"""Numbers of stations of COLLISION_PROBABILITY."""

COLLISION_PROBABILITY: dict[str, tuple[float, ...]] = {
    "802.11b": (0.060, 0.180, 0.287, 0.394, 0.449, 0.524),
    "802.11a": (0.110, 0.264, 0.364, 0.459, 0.509, 0.573),
}
"""Probability that an attempt collides, at each of COLLISION_N. Source: SLOT_EXACT."""


@dataclass(frozen=True)
class Saturation:
    """One ns-3 run of a saturated cell with one more receiver in the centre, 1500 B of UDP payload, one seed.

    `attempts` is no output of ns-3: it is rebuilt from the printed probability and the goodput (the fraction
    of whole numbers that gives both over whole seconds), and tells how much chance there is in the
    probability.
    """

    mode: str
    n: int
    rts: bool
    goodput_mbps: float
    collision_probability: float
    attempts: int


NS3_SATURATION: tuple[Saturation, ...] = (
    Saturation("DsssRate11Mbps", 1, False, 5.9988, 0.0, 0),
    Saturation("DsssRate11Mbps", 1, True, 4.4868, 0.0, 0),
    Saturation("DsssRate11Mbps", 2, False, 6.2568, 0.05917373264, 5543),
    Saturation("DsssRate11Mbps", 2, True, 4.6788, 0.06070826307, 4151),
    Saturation("DsssRate11Mbps", 5, False, 6.2448, 0.1628879241, 6219),
    Saturation("DsssRate11Mbps", 5, True, 4.7748, 0.1763610019, 4831),
    Saturation("DsssRate11Mbps", 10, False, 5.9196, 0.2835148874, 6885),
    Saturation("DsssRate11Mbps", 10, True, 4.7616, 0.285045045, 5550),
    Saturation("DsssRate11Mbps", 20, False, 5.534, 0.3941318152, 4567),
    Saturation("DsssRate11Mbps", 20, True, 4.712, 0.3893208917, 3858),
    Saturation("DsssRate11Mbps", 30, False, 5.318, 0.4531796666, 4859),
    Saturation("DsssRate11Mbps", 30, True, 4.672, 0.4381914382, 4158),
    Saturation("DsssRate11Mbps", 50, False, 4.94, 0.5330812854, 5290),
    Saturation("DsssRate11Mbps", 50, True, 4.582, 0.5255746531, 4829),
    Saturation("OfdmRate6Mbps", 1, False, 5.2815, 0.0, 0),
    Saturation("OfdmRate54Mbps", 1, False, 29.901, 0.0, 0),
    Saturation("OfdmRate6Mbps", 1, True, 4.9995, 0.0, 0),
    Saturation("OfdmRate54Mbps", 1, True, 24.501, 0.0, 0),
    Saturation("OfdmRate6Mbps", 10, False, 4.3005, 0.3597588209, 4478),
    Saturation("OfdmRate54Mbps", 10, False, 27.282, 0.3705959715, 14447),
    Saturation("OfdmRate6Mbps", 10, True, 5.0385, 0.3663459725, 5301),
    Saturation("OfdmRate54Mbps", 10, True, 25.848, 0.3610678532, 13485),
)
"""MPDU of 1564 bytes; control at 1 (802.11b), 6 (802.11a at 6) and 24 Mbit/s (802.11a at 54); retry limit 7.
Source: PEERS."""

CHAIN_HOPS: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8)
"""Hops of the rows of the chains: 200 m spacing, 250 m reception, 550 m sense, RTS/CTS, data 2, control 1
Mbit/s."""

CHAIN_UDP_KBPS: dict[str, tuple[int, ...]] = {
    "ns-2": (1548, 771, 506, 369, 220, 226, 231, 222),
    "ns-3": (1541, 782, 511, 394, 358, 358, 356, 352),
}
"""Goodput of one saturating UDP flow of 1500 B payload over each of CHAIN_HOPS, kbit/s. Source: PEERS."""

HIDDEN_WINNER_UNANSWERED = 0.063
"""Share of the winner's RTS that get no CTS in ns-2, TCP over two hidden links of 350 m (367 m reception,
670 m sense): 6.1, 6.4 and 6.6 % in three runs of 120 s in which one flow took more than 90 %. Source:
PEERS."""

CHAIN_UDP_LONG_HOPS: tuple[int, ...] = (5, 6, 7, 8)
"""Hops of the rows below."""

CHAIN_UDP_LONG_KBPS: dict[int, tuple[float, ...]] = {
    1500: (221.4, 228.1, 231.6, 220.8),
    512: (191.0, 188.5, 176.6, 172.3),
}
"""Bytes of payload: goodput of one saturating UDP flow over each of CHAIN_UDP_LONG_HOPS in ns-2, kbit/s,
means of six seeds of 250 s (standard errors 0.4 to 1.7). Source: PEERS (python -m peers.repeat --seeds 6 ns
peers/ns2/chain.tcl -hops 5 -payload 1500 -warmup 20 -duration 250 -seed SEED)."""

CHAIN_TCP_KBPS: dict[str, tuple[int, ...]] = {
    "ns-2": (1228, 619, 410, 289, 254, 232, 221, 212),
    "ns-3": (1239, 625, 401, 329, 296, 282, 281, 277),
}
"""The same for one TCP NewReno flow, MSS 1460; ns-3 with SACK, means of five seeds of 120 s (an earlier
single run at five hops gave 248). Source: PEERS (python -m peers.repeat --seeds 5 peers/ns3/build/mesh
--scenario=chain --transport=tcp --duration=120 --hops=5 --seed=SEED)."""

CHAIN_TCP_NS3_HALF_WIDTH_KBPS: tuple[float, ...] = (2.1, 0.3, 1.6, 1.7, 3.1, 2.7, 2.6, 3.8)
"""Half the 95 % interval of ns-3's TCP row. Source: PEERS."""

CHAIN_TCP_SD_KBPS: tuple[float, ...] = (2.1, 0.4, 1.7, 2.1, 1.0, 2.1, 2.1, 2.2)
"""Standard deviation of ns-2's TCP row over 3 seeds. Source: PEERS."""

CHAIN_OFFERED_KBPS: dict[int, tuple[tuple[int, int], ...]] = {
    4: ((300, 298), (400, 369), (1000, 369)),
    8: ((250, 251), (300, 298), (350, 269), (400, 250), (1000, 212)),
}
"""Hops: pairs of offered load and goodput of one UDP flow in ns-2, kbit/s. Source: PEERS."""

NS2_HOP_US = 7734
"""One packet over one hop of ns-2's chain, by hand, us. Source: PEERS."""

NS2_HOP_KBPS = 1551.6
"""The hop's goodput, kbit/s. Source: PEERS."""

STUDENT_T: tuple[tuple[float, int, float], ...] = (
    (0.975, 4, 2.776),
    (0.975, 19, 2.093),
    (0.995, 1, 63.657),
    (0.995, 9, 3.250),
    (0.995, 19, 2.861),
    (0.995, 29, 2.756),
    (0.995, 120, 2.617),
)
"""Probability, degrees of freedom, quantile of Student's t. Source: any printed table."""

GRID_TCP_NS2_KBPS = 1840.0
"""20 TCP flows over the grid of 64 nodes, ns-2 with frozen DSDV and empty ARP tables: total, five seeds,
standard deviation 84. Source: PEERS."""

GRID_TCP_NS2_JAIN = 0.221
"""Jain's index there, mean over the seeds. Source: PEERS."""

GRID_TCP_NS2_STATIC_KBPS: tuple[tuple[int, ...], ...] = (
    (181, 14, 64, 65, 24, 8, 1, 10, 16, 32, 35, 29, 90, 824, 53, 354, 20, 29, 67, 1),
    (169, 5, 53, 44, 5, 4, 1, 4, 23, 28, 25, 69, 113, 749, 39, 476, 61, 32, 63, 0),
    (169, 17, 82, 36, 11, 12, 0, 21, 12, 23, 30, 61, 101, 770, 43, 479, 21, 27, 63, 0),
    (174, 5, 61, 30, 26, 5, 2, 13, 30, 34, 20, 47, 103, 750, 36, 465, 38, 31, 80, 0),
    (160, 22, 59, 34, 18, 5, 1, 18, 26, 29, 43, 55, 92, 749, 49, 484, 26, 21, 54, 1),
)
"""The same in ns-2 with static routes whose ties go to the lowest node number, and no ARP: goodput of each
flow, seeds 1 to 5. Source: PEERS (peers/ns2/grid64.tcl -transport tcp)."""

GRID_TCP_NS2_DSDV_KBPS: tuple[tuple[int, ...], ...] = (
    (108, 5, 181, 9, 92, 11, 4, 18, 11, 14, 7, 2, 41, 521, 67, 706, 10, 6, 87, 15),
    (26, 9, 273, 104, 92, 2, 127, 39, 1, 11, 1, 7, 57, 427, 3, 465, 44, 1, 48, 62),
    (17, 5, 312, 114, 71, 0, 163, 16, 19, 0, 9, 0, 132, 464, 35, 548, 10, 6, 11, 2),
)
"""The same with frozen DSDV, which breaks ties by chance, seeds 1 to 3. Source: PEERS."""


@dataclass(frozen=True)
class Unfairness:
    """TCP flows in the geometry of the NRED paper in ns-2: means over ten seeds."""

    name: str
    flows_kbps: tuple[float, ...]
    total_kbps: float
    jain: float
    winner: float | None
    """The winner's share, where it was noted."""


UNFAIRNESS: tuple[Unfairness, ...] = (
    Unfairness("hidden", (358, 360), 718, 0.528, 0.97),
    Unfairness("exposed", (11, 707), 718, 0.516, 0.985),
    Unfairness("exposed, symmetric", (383, 373), 755, 0.822, None),
    Unfairness("three pairs, 350 m", (712, 5, 713), 1431, 0.672, None),
    Unfairness("three pairs, 200 m", (714, 5, 715), 1433, 0.671, None),
)
"""NewReno, MSS 512, queues of 66 packets, 2 Mbit/s, RTS/CTS, 120 s; kbit/s. Source: PEERS."""


@dataclass(frozen=True)
class HiddenNs3:
    """Hidden terminals with TCP in ns-3: distance from node to node, sense range, means over the seeds."""

    spacing_m: int
    sense_m: int
    total_kbps: float
    jain: float
    tolerance: float


HIDDEN_NS3: tuple[HiddenNs3, ...] = (
    HiddenNs3(300, 807, 746, 0.999, 0.05),
    HiddenNs3(350, 670, 754, 0.998, 0.10),
)
"""1 to 2 and 4 to 3 in ns-3, 367 m reception, MSS 512 and 12 B of timestamps, SACK, 110 s after 10 s, five
seeds: totals ± 1.4 and ± 1.5. An earlier run of the first, of which the settings were not kept, gave 611
kbit/s and 0.987. Source: PEERS (python -m peers.repeat --seeds 5 peers/ns3/build/mesh --scenario=hidden
--transport=tcp --seed=SEED; with --spacing=350 --sense=670 the second)."""

GRID_TCP_NS3_KBPS = 2942.0
"""20 TCP flows over the grid in ns-3, static routes, 60 s: total, three seeds (2991, 2954, 2881), ± 139. An
earlier run, of which the settings were not kept, gave 2197 and 0.322. Source: PEERS (python -m peers.repeat
--seeds 3 peers/ns3/build/mesh --scenario=grid64 --transport=tcp --flows=peers/grid-64-flows.csv
--seed=SEED)."""

GRID_TCP_NS3_JAIN = 0.300
"""Jain's index there, mean over the seeds, ± 0.025. Source: PEERS."""


@dataclass(frozen=True)
class CompletionClass:
    """Completion times of finite flows of so many packets, ns-2, seconds."""

    least: int
    most: int
    flows: int
    mean_s: float
    median_s: float
    p95_s: float


COMPLETION_CLASSES: tuple[CompletionClass, ...] = (
    CompletionClass(5, 5, 6353, 0.4679, 0.4145, 0.6714),
    CompletionClass(6, 6, 9530, 0.4727, 0.4109, 0.6860),
    CompletionClass(7, 7, 6906, 0.5768, 0.5056, 0.7192),
    CompletionClass(8, 9, 9019, 0.5923, 0.5328, 0.8483),
    CompletionClass(10, 12, 7676, 0.6134, 0.5362, 0.8572),
    CompletionClass(13, 16, 5675, 0.6623, 0.5918, 0.9340),
    CompletionClass(17, 24, 5446, 0.7413, 0.6674, 1.0295),
    CompletionClass(25, 39, 3832, 0.8228, 0.7285, 1.1920),
    CompletionClass(40, 59, 1983, 0.9208, 0.7962, 1.5992),
    CompletionClass(60, 99, 1504, 1.0427, 0.9131, 1.9312),
    CompletionClass(100, 199, 935, 1.1828, 1.0118, 2.6538),
    CompletionClass(200, 399, 365, 1.4309, 1.1383, 3.3047),
    CompletionClass(400, 999, 215, 1.7719, 1.3405, 4.7282),
    CompletionClass(1_000, 2_999, 79, 2.6736, 1.5495, 9.9172),
    CompletionClass(3_000, 9_999, 18, 6.6457, 5.7134, 16.7827),
    CompletionClass(10_000, 999_999_999, 8, 15.1442, 15.9631, 34.4420),
)
"""TCP Reno over 150 Mbit/s, round trip 100 ms, 60,000 flows, stopped at the last arrival; one run. Source:
PEERS."""

SHORT_FLOWS_MEAN_S = 0.643
"""Mean completion time of all finished flows. Source: PEERS."""

COMPLETION_NS2: tuple[CompletionClass, ...] = (
    CompletionClass(5, 5, 6353, 0.4328, 0.3689, 0.5466),
    CompletionClass(6, 6, 9527, 0.4367, 0.3680, 0.5475),
    CompletionClass(7, 7, 6898, 0.5635, 0.4933, 0.7213),
    CompletionClass(8, 9, 9014, 0.5594, 0.4904, 0.7229),
    CompletionClass(10, 12, 7675, 0.5669, 0.4911, 0.7242),
    CompletionClass(13, 16, 5669, 0.6268, 0.5478, 0.8778),
    CompletionClass(17, 24, 5443, 0.7045, 0.6188, 0.9061),
    CompletionClass(25, 39, 3829, 0.7730, 0.6758, 1.1027),
    CompletionClass(40, 59, 1984, 0.8687, 0.7396, 1.4558),
    CompletionClass(60, 99, 1504, 0.9866, 0.8559, 1.8874),
    CompletionClass(100, 199, 934, 1.1528, 0.9486, 2.7397),
    CompletionClass(200, 399, 364, 1.3561, 1.0888, 3.2229),
    CompletionClass(400, 999, 213, 1.7092, 1.2438, 4.8302),
    CompletionClass(1_000, 2_999, 79, 2.8574, 1.4924, 10.1724),
    CompletionClass(3_000, 9_999, 18, 6.5096, 4.2231, 19.7599),
    CompletionClass(10_000, 999_999_999, 8, 15.4807, 14.9748, 30.2937),
)
"""The same, means over ten seeds (they set the phase of the senders' clocks), each transfer with a window of
two segments at first. Source: PEERS (peers/ns2/short_flows.tcl -end 0, transfers that were done in time)."""

COMPLETION_NS2_DRAINED: tuple[CompletionClass, ...] = (
    CompletionClass(5, 5, 6387, 0.4363, 0.3695, 0.5476),
    CompletionClass(6, 6, 9595, 0.4406, 0.3687, 0.5487),
    CompletionClass(7, 7, 6946, 0.5682, 0.4943, 0.7232),
    CompletionClass(8, 9, 9085, 0.5640, 0.4915, 0.7249),
    CompletionClass(10, 12, 7736, 0.5715, 0.4922, 0.7260),
    CompletionClass(13, 16, 5716, 0.6321, 0.5486, 0.8826),
    CompletionClass(17, 24, 5491, 0.7078, 0.6201, 0.9096),
    CompletionClass(25, 39, 3873, 0.7777, 0.6774, 1.1358),
    CompletionClass(40, 59, 2004, 0.8721, 0.7416, 1.5297),
    CompletionClass(60, 99, 1522, 0.9939, 0.8583, 2.0148),
    CompletionClass(100, 199, 946, 1.1570, 0.9505, 2.7768),
    CompletionClass(200, 399, 368, 1.3705, 1.0910, 3.2620),
    CompletionClass(400, 999, 221, 1.7400, 1.2543, 4.8718),
    CompletionClass(1_000, 2_999, 80, 2.8589, 1.4884, 9.7408),
    CompletionClass(3_000, 9_999, 18, 6.5096, 4.2231, 19.7599),
    CompletionClass(10_000, 999_999_999, 12, 15.3281, 14.7622, 31.4101),
)
"""The same until the last transfer was done. Source: PEERS (peers/ns2/short_flows.tcl -end 0)."""

COMPLETION_NS2_MEANS_S: tuple[float, ...] = (
    0.5991,
    0.5949,
    0.6157,
    0.6028,
    0.6095,
    0.6113,
    0.6188,
    0.6035,
    0.6255,
    0.5936,
)
"""Mean completion time of all that were done at the last arrival, by seed. Source: as COMPLETION_NS2."""

COMPLETION_NS2_DRAINED_MEAN_S = 0.6132
"""The same of all 60,000, mean over the seeds. Source: as COMPLETION_NS2_DRAINED."""

COMPLETION_NS2_LEFTOVER: tuple[CompletionClass, ...] = (
    CompletionClass(5, 5, 6348, 0.4854, 0.4230, 0.6798),
    CompletionClass(6, 6, 9518, 0.4904, 0.4219, 0.6795),
    CompletionClass(7, 7, 6898, 0.5598, 0.4909, 0.7103),
    CompletionClass(8, 9, 9010, 0.6091, 0.5435, 0.8466),
    CompletionClass(10, 12, 7671, 0.6151, 0.5413, 0.8476),
    CompletionClass(13, 16, 5667, 0.6639, 0.5852, 0.9242),
    CompletionClass(17, 24, 5437, 0.7509, 0.6685, 1.0211),
    CompletionClass(25, 39, 3827, 0.8174, 0.7240, 1.1859),
    CompletionClass(40, 59, 1983, 0.9193, 0.7895, 1.5635),
    CompletionClass(60, 99, 1504, 1.0237, 0.8954, 1.9131),
    CompletionClass(100, 199, 934, 1.1884, 0.9999, 2.6992),
    CompletionClass(200, 399, 365, 1.4120, 1.1269, 3.4815),
    CompletionClass(400, 999, 214, 1.7743, 1.3166, 4.6440),
    CompletionClass(1_000, 2_999, 79, 2.5845, 1.5397, 7.9991),
    CompletionClass(3_000, 9_999, 18, 6.7326, 3.9448, 19.0578),
    CompletionClass(10_000, 999_999_999, 8, 16.6795, 13.3558, 36.3629),
)
"""As COMPLETION_NS2, three seeds, with senders that are used again as they were left: one that has once lost
a SYN begins with one segment ever after. Means of all: 0.6641, 0.6397, 0.6438 s. Source: PEERS
(peers/ns2/short_flows.tcl -end 0 -leftover 1)."""

SHORT_FLOWS_DROPS = 29_385
"""Packets that the bottleneck's queue dropped. Source: PEERS."""


@dataclass(frozen=True)
class Dumbbell:
    """Long flows over 10 Mbit/s and 40 ms in ns-3, one seed; the wait is that in the queue disc."""

    queue: str
    law: str
    flows: int
    goodput_mbps: float
    wait_ms: float
    jain: float


DUMBBELL_ROWS: tuple[Dumbbell, ...] = (
    Dumbbell("droptail", "newreno", 1, 9.641, 86.3, 1.0),
    Dumbbell("droptail", "cubic", 1, 9.64, 96.6, 1.0),
    Dumbbell("droptail", "newreno", 4, 9.64, 92.6, 0.871),
    Dumbbell("droptail", "cubic", 4, 9.64, 110.1, 0.705),
    Dumbbell("red", "newreno", 1, 9.471, 14.0, 1.0),
    Dumbbell("red", "cubic", 1, 9.641, 16.5, 1.0),
    Dumbbell("red", "newreno", 4, 9.64, 26.4, 0.979),
    Dumbbell("red", "cubic", 4, 9.64, 25.1, 0.991),
    Dumbbell("codel", "newreno", 1, 8.158, 1.4, 1.0),
    Dumbbell("codel", "cubic", 1, 9.34, 2.3, 1.0),
    Dumbbell("codel", "newreno", 4, 9.42, 6.0, 0.983),
    Dumbbell("codel", "cubic", 4, 9.618, 5.3, 0.972),
    Dumbbell("fq-codel", "newreno", 1, 8.158, 1.4, 1.0),
    Dumbbell("fq-codel", "cubic", 1, 9.34, 2.3, 1.0),
    Dumbbell("fq-codel", "newreno", 4, 9.315, 3.9, 1.0),
    Dumbbell("fq-codel", "cubic", 4, 9.606, 4.4, 0.999),
)
"""FIFO of 100 packets, RED 15/45 of 100, gentle, max_p 1/50, weight 0.002, CoDel, FQ-CoDel; a device below
keeps one packet. As given; peers/ns3/dumbbell gives each number with seed 1. Source: PEERS."""

CUBIC_RESPONSE: dict[float, tuple[tuple[float, int, int], ...]] = {
    0.1: ((1e-2, 12, 12), (1e-3, 38, 38), (1e-4, 120, 187), (1e-5, 379, 1054), (1e-6, 1200, 5926)),
    0.01: ((1e-2, 12, 12), (1e-3, 38, 38), (1e-4, 120, 120), (1e-5, 379, 379), (1e-6, 1200, 1200)),
}
"""Round trip in s: loss rate, average window in segments of Reno and of CUBIC (C = 0.4). Source: RFC 9438,
section 5.1."""
