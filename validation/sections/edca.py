"""Saturated access categories against ns-3 and a slot-exact model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import airfair
from airfair import Scenario

from .. import edca, edca_ns3, reference
from ..edca import DIFFQ, Category
from ..report import Context, Row, holds, within
from ..runs import parallel, seeds

TITLE = "EDCA"
ABOUT = """
Saturated stations of one or several access categories send to one receiver; all pairs have the same path
gain. Frames of 1000 bytes of payload in an MPDU of 1066 bytes, 802.11a at 24 and 6 Mbit/s, 802.11b at 11
and 1 Mbit/s, queues of 100 packets for each category, always full; 10 s (with TXOP limits 30 s, ns-3 10 s)
after a warm-up of 2 s.

**ns-3** (`peers/ns3/edca.cc`, three runs; three seeds here): total, and each category with at least a tenth
of it, within 5 % or, if that is more, three standard errors of ns-3's runs; `profile = "ns-3"`,
`edca_countdown = "standard"`, a CF-End after a TXOP where it fits. Smaller shares starve: ns-3's runs differ
among themselves by more than 5 %. ns-3's rules that decide:

- a frozen counter counts the slot boundary at the end of its AIFS too;
- no EIFS after a collision of equal powers, since nobody has locked on a frame; the senders wait for their
  ACK time-out;
- with a TXOP limit the Duration field covers the limit. In 802.11a nine frames of AC_VI leave 8 us, too few
  for a CF-End, so that all others start 8 us after the holder: this alone gives AC_VI 4 % of the total more
  in a cell with two stations of each category;
- stations that start within the 4 us of preamble detection collide.

**Slot-exact model** (`validation/edca.py`, without the simulator; it equals ns-3 in all these cells): shares
of DiffQ's eight levels within 0.01, in one station with all eight queues, in two such stations, in stations
with one level each, and in cells in which several levels get much (0 to 3, 3 to 5), under both values of
`edca_countdown`. Levels of 20 packets/s or more lie within 5 % of the model's number, those of 1 to 20, whose
runs differ, within 30 %.

**AIFSN beside DCF.** Bianchi, Tinnirello and Scalia (IEEE Network 19(4), 2005) explain why EDCA's countdown
is worth about one slot: stations with AIFSN 2 and DCF's window get more than DCF stations beside them, and
those with AIFSN 3, whose AIFS is a slot longer than DIFS, about as much.
"""

SECTION = "edca"
MODEL = "slot-exact model of EDCA, 400,000 busy periods"
BIANCHI_2005 = "Bianchi, Tinnirello, Scalia, IEEE Network 19(4), 2005"
SELDOM, OFTEN = 1.0, 20.0
"""Packets per second below which a level is not judged by their number, and from which on within 5 %."""
LEAST_SHARE = 0.1
"""Categories with a smaller share of the total are not compared one by one."""
RADIO = {
    "802.11a": 'standard = "802.11a"\ndata_rate = "24 Mbit/s"\nbasic_rates = ["6 Mbit/s"]\n',
    "802.11b": 'standard = "802.11b"\ndata_rate = "11 Mbit/s"\nbasic_rates = ["1 Mbit/s"]\n',
}
OFFERED = {"802.11a": "18 Mbit/s", "802.11b": "6.2 Mbit/s"}
"""More than one category gets alone."""


@dataclass(frozen=True)
class Cell:
    """Stations with saturated categories, by index."""

    standard: str
    categories: tuple[Category, ...]
    stations: tuple[tuple[int, ...], ...]
    countdown: edca.Countdown = "standard"
    dcf_stations: int = 0
    """Stations without categories beside them, their flows "d0" and so on."""
    seconds: int = 10

    def scenario(self) -> Scenario:
        """The scenario; flows are named "station-category"."""
        table = ", ".join(
            f'{{ name = "{i}", aifsn = {c.aifsn}, cw_min = {c.cw_min}, cw_max = {c.cw_max}, '
            f'txop = "{c.txop_us} us" }}'
            for i, c in enumerate(self.categories)
        )
        dscps = ", ".join(f'{{ dscp = {i}, category = "{i}" }}' for i in range(len(self.categories)))
        common = (
            f'{RADIO[self.standard]}profile = "ns-3"\nqueue_packets = 100\nshort_retry_limit = 7\n'
            'local_limit = "off"\nbackpressure = false\npropagation = { model = "matrix" }\n'
        )
        head = (
            f'name = "edca"\nduration = "{self.seconds + 2} s"\nwarmup = "2 s"\n[radio]\n{common}'
            f'categories = [{table}]\nedca_countdown = "{self.countdown}"\ndscp_categories = [{dscps}]\n'
        )
        text = [head]
        if self.dcf_stations:
            text.append(f'[radios.dcf]\n{common}categories = "dcf"\n')
        names = ["receiver"]
        text.append('[[node]]\nid = "receiver"\n')
        for station, indices in enumerate(self.stations):
            names.append(f"s{station}")
            text.append(f'[[node]]\nid = "s{station}"\n')
            text += [self._flow(f"{station}-{c}", f"s{station}", f"dscp = {c}\n") for c in indices]
        for station in range(self.dcf_stations):
            names.append(f"d{station}")
            text.append(f'[[node]]\nid = "d{station}"\nradios = ["dcf"]\n')
            text.append(self._flow(f"d{station}", f"d{station}", ""))
        text += [
            f'[[gain]]\nfrom = "{name}"\nto = "{other}"\ngain = "-50 dB"\nboth = true\n'
            for i, name in enumerate(names)
            for other in names[:i]
        ]
        return Scenario.parse("".join(text), "EDCA cell")

    def _flow(self, name: str, station: str, more: str) -> str:
        return (
            f'[[flow]]\nid = "{name}"\nfrom = "{station}"\nto = "receiver"\n{more}traffic = {{ kind = '
            f'"constant", rate = "{OFFERED[self.standard]}", packet = "1000 B", gap_jitter = 1.0 }}\n'
        )


def measure(context: Context, cells: Sequence[Cell], count: int) -> list[list[float]]:
    """Mbit/s of each category over `count` seeds, that of DCF stations last."""
    scenarios = [cell.scenario() for cell in cells]
    runs = [(scenario, seed) for scenario in scenarios for seed in seeds(context, count)]
    results = parallel(context, lambda run: airfair.run(run[0], seed=run[1]), runs)
    found = []
    for i, cell in enumerate(cells):
        mbps = [0.0] * (len(cell.categories) + 1)
        for result in results[i * count : (i + 1) * count]:
            for flow in result["flows"]:
                category = -1 if flow["id"].startswith("d") else int(flow["id"].split("-")[1])
                mbps[category] += flow["goodput_bps"] / 1e6 / count
        found.append(mbps)
    return found


def rows(context: Context) -> Iterable[Row]:
    """All comparisons of access categories."""
    yield from _ns3(context)
    yield from _levels(context)
    yield from _beside_dcf(context)


def _ns3(context: Context) -> Iterator[Row]:
    known = edca_ns3.rows()
    if context.quick:
        known = [row for row in known if len(row.stations()) <= 4]
    # Bursts within a TXOP make shares noisy.
    cells = [
        Cell(row.standard, row.categories(), tuple(row.stations()), seconds=30 if row.limits else 10)
        for row in known
    ]
    for row, mbps in zip(known, measure(context, cells, 3), strict=True):
        yield within(
            SECTION,
            row.name,
            reference.PEERS,
            expected=row.total_mbps,
            measured=math.fsum(mbps),
            unit="Mbit/s",
            relative=0.05,
        )
        columns = zip(edca_ns3.NAMES, row.mbps, mbps, row.deviation_mbps, strict=False)
        for name, expected, measured, deviation in columns:
            if LEAST_SHARE * row.total_mbps <= expected < 0.999 * row.total_mbps:
                yield within(
                    SECTION,
                    f"{row.name}: AC_{name.upper()}",
                    reference.PEERS,
                    expected=expected,
                    measured=measured,
                    unit="Mbit/s",
                    absolute=max(0.05 * expected, 3 * deviation / math.sqrt(3)),
                )


def _levels(context: Context) -> Iterator[Row]:
    every = tuple(range(8))
    stations = {
        "one station with all levels": (every,),
        "two stations with all levels": (every, every),
        "a station of each level": tuple((level,) for level in every),
        "a station of each level, 0 to 3": ((0,), (1,), (2,), (3,)),
        "a station of each level, 3 to 5": ((3,), (4,), (5,)),
        "two stations with levels 0 to 3": ((0, 1, 2, 3),) * 2,
    }
    rules: tuple[edca.Countdown, ...] = ("standard", "dcf")
    cells = {
        (name, rule): Cell("802.11b", DIFFQ, cell, rule, seconds=60)
        for name, cell in stations.items()
        for rule in rules
    }
    found = measure(context, list(cells.values()), 2 if context.quick else 4)
    for ((name, rule), cell), mbps in zip(cells.items(), found, strict=True):
        model = edca.simulate(
            DIFFQ, cell.stations, edca.ns3_timing("802.11b"), countdown=rule, busy_periods=400_000
        )
        shares, total = model.by_category(), math.fsum(mbps)
        for level in sorted({level for station in cell.stations for level in station}):
            yield within(
                SECTION,
                f"{name}, {rule}: level {level}",
                MODEL,
                expected=float(shares[level]),
                measured=mbps[level] / total,
                absolute=0.01,
            )
            # 8000 bits of payload each.
            packets, expected = 125 * mbps[level], 125 * float(model.mbps[:, level].sum())
            if expected >= SELDOM:
                yield within(
                    SECTION,
                    f"{name}, {rule}: packets of level {level}",
                    MODEL,
                    expected=expected,
                    measured=packets,
                    unit="1/s",
                    relative=0.05 if expected >= OFTEN else 0.3,
                )


def _beside_dcf(context: Context) -> Iterator[Row]:
    """Five stations with a category beside five DCF stations of the same window."""
    cells = [
        Cell("802.11b", (Category(aifsn, 31, 1023),), ((0,),) * 5, dcf_stations=5, seconds=30)
        for aifsn in (2, 3, 4)
    ]
    ratios = [mbps[0] / mbps[1] for mbps in measure(context, cells, 3)]
    two, three, four = ratios
    yield holds(
        SECTION,
        "five EDCA stations of AIFSN 2, 3, 4 beside five DCF stations: goodput over DCF's",
        BIANCHI_2005,
        expected="above 1.1; 0.9 to 1.1; below 0.9",
        measured=f"{two:.3f}; {three:.3f}; {four:.3f}",
        ok=two > 1.1 and 0.9 < three < 1.1 and four < 0.9,
    )
