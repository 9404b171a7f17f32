"""A saturated cell against ns-3, Bianchi's model and the slot-exact model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from airfair import RunResult, Scenario, World

from .. import airtimes, bianchi, phy, reference, slots
from ..report import Context, Figure, Row, Series, within
from ..runs import lines, parallel, seeds
from .models import ACK_TIMEOUT_SLOTS

TITLE = "Saturation"
ABOUT = """
`n` saturated stations send to one receiver, and all stations hear each other equally loud. The scenes give
all pairs the same path gain by a matrix. On a circle around the receiver this would not hold among the
senders: neighbours on the circle hear each other up to 24 dB above the rest, lock on the nearer of two
colliding frames, and keep its NAV or an EIFS. With 50 stations on a circle the simulator's collision
probability is 0.51 instead of 0.535.

**ns-3's runs**: default rules. A preamble is observed for 4 us and needs 4 dB to lock, so colliding frames
of equal power are not locked on and bystanders wait DIFS. No EIFS occurs here, whatever the value of
`eifs`.

**ns-3's tables, EIFS form**: all stations wait EIFS after a collision. This requires a reception that began
and failed, so `preamble_detection = "0 s"`: the first preamble locks, the frame fails, EIFS follows.
`eifs_on_energy = true` has no such effect: it applies to energy too weak for a preamble, not to two
colliding preambles. `eifs = "response-rate"` as in the tables. Retries are endless. Colliders wait for
their ACK time-out and DIFS instead of EIFS; there is no setting for the model's common wait.

**ns-3's tables, DIFS form**: `eifs = "off"`, endless retries. In the model colliders wait DIFS like all
others; here they wait for their ACK time-out first (222 us with 802.11b, 45 us with 802.11a), and then DIFS
with the default `after_timeout = "difs"`, or not with `"immediate"`. The latter is nearer to the model's
rule, but the two or three colliders are few among the stations: over all cells the settings differ by less
than the random error of the runs. The rows have the default; two rows at the end compare the settings.

The slot-exact model simulates the colliders' later start and the same number of attempts; in it stations on
different slot grids never collide, in the simulator they do if they start within the sensing delay.
"""

SECTION = "saturation"
ENDLESS = 4_294_967_295
EIFS_RULES = {"eifs": '"response-rate"', "preamble_detection": '"0 s"', "short_retry_limit": str(ENDLESS)}
DIFS_RULES = {"eifs": '"off"', "short_retry_limit": str(ENDLESS)}
DIFS_MODES = (
    "DsssRate1Mbps",
    "DsssRate2Mbps",
    "DsssRate5_5Mbps",
    "DsssRate11Mbps",
    "OfdmRate6Mbps",
    "OfdmRate24Mbps",
    "OfdmRate54Mbps",
)
CELL_N = (5, 10, 20, 30, 50)


@dataclass(frozen=True)
class Cell:
    """A saturated cell: `overhead` are the bytes of the MPDU beside the payload, in the order UDP, IP, LLC,
    MAC."""

    mode: str
    n: int
    response_mbps: float
    overhead: tuple[int, int, int, int]
    rts: bool = False
    rules: dict[str, str] = field(default_factory=dict)

    def scenario(self, packets: int) -> Scenario:
        """Long enough for about `packets` packets at half of the data rate."""
        layer, rate = phy.phy_of(self.mode)
        duration_ms = round(packets * 1500 * 8 / (0.5 * rate * 1e6) * 1e3)
        radio = {
            "standard": f'"{layer.name}"',
            "data_rate": f'"{rate:g} Mbit/s"',
            "basic_rates": f'["{self.response_mbps:g} Mbit/s"]',
            "rts_threshold": f'"{0 if self.rts else 2347} B"',
            "propagation": '{ model = "matrix" }',
        }
        radio.update(self.rules)
        udp, ip, llc, mac = self.overhead
        head = (
            f'name = "cell"\nduration = "{duration_ms + duration_ms // 10} ms"\n'
            f'warmup = "{duration_ms // 10} ms"\n[radio]\n{lines(radio)}'
            f'[headers]\nudp = "{udp} B"\nip = "{ip} B"\nllc = "{llc} B"\nmac = "{mac} B"\n'
            '[[node]]\nid = "receiver"\n'
        )
        text = [head]
        names = ["receiver"]
        for i in range(self.n):
            name = f"s{i}"
            text.append(
                f'[[node]]\nid = "{name}"\n[[flow]]\nid = "{name}"\nfrom = "{name}"\nto = "receiver"\n'
                'traffic = { kind = "saturating", packet = "1500 B" }\n'
            )
            text += [
                f'[[gain]]\nfrom = "{name}"\nto = "{other}"\ngain = "-60 dB"\nboth = true\n'
                for other in names
            ]
            names.append(name)
        return Scenario.parse("".join(text), "saturated cell")


@dataclass(frozen=True)
class Measured:
    """The results of the runs of one cell together."""

    goodput_mbps: float
    collision_probability: float


def measure(context: Context, cells: Sequence[Cell]) -> list[Measured]:
    """All cells over some seeds."""
    packets, count = (6_000, 2) if context.quick else (12_000, 4)
    scenarios = [cell.scenario(packets) for cell in cells]
    runs = [(scenario, seed) for scenario in scenarios for seed in seeds(context, count)]
    results = parallel(context, lambda run: _before_and_after(*run), runs)
    return [_measured(cell, results[i * count : (i + 1) * count]) for i, cell in enumerate(cells)]


def _before_and_after(scenario: Scenario, seed: int) -> tuple[RunResult, RunResult]:
    """Results at the end of the warm-up, in which all stations start at once, and at the end."""
    world = World(scenario, None, seed)
    world.advance(f"{world.end_ns // 11} ns")
    before: RunResult = json.loads(world.result())
    world.advance()
    after: RunResult = json.loads(world.result())
    return before, after


def _measured(cell: Cell, results: Sequence[tuple[RunResult, RunResult]]) -> Measured:
    attempts = failed = 0
    for before, after in results:
        for early, late in zip(before["stations"], after["stations"], strict=True):
            if late["node"] == "receiver":
                continue
            first = "RTS" if cell.rts else "DATA"
            attempts += late["sent"][first] - early["sent"][first]
            failed += late["no_cts"] - early["no_cts"] + late["no_ack"] - early["no_ack"]
    goodput = sum(after["aggregate_goodput_bps"] for _, after in results) / len(results)
    return Measured(goodput / 1e6, failed / attempts)


def rows(context: Context) -> Iterable[Row]:
    """All comparisons of saturated cells."""
    yield from _ns3(context)
    yield from _eifs(context)
    yield from _difs(context)
    yield from _collisions(context)


def peer_cell(mode: str, n: int, *, rts: bool, rules: dict[str, str] | None = None) -> Cell:
    """A cell as in the project's ns-3 runs: an MPDU of 1564 bytes."""
    response = phy.peer_settings(mode).response_mbps
    return Cell(mode, n, response, (8, 20, 8, 28), rts, rules or {})


def table_cell(mode: str, n: int, rules: dict[str, str]) -> Cell:
    """A cell as in ns-3's tables: an MPDU of 1536 bytes (802.11b) or 1534 (802.11a)."""
    settings = phy.table_settings(mode)
    extra = settings.overhead_bytes - phy.MAC_BYTES
    return Cell(mode, n, settings.response_mbps, (0, 0, extra, phy.MAC_BYTES), rules=rules)


def _name(cell: Cell) -> str:
    return f"{cell.mode}, n = {cell.n}, {'RTS/CTS' if cell.rts else 'basic'}"


def _ns3(context: Context) -> Iterator[Row]:
    cells = [peer_cell(row.mode, row.n, rts=row.rts) for row in reference.NS3_SATURATION]
    measured = measure(context, cells)
    for row, cell, ours in zip(reference.NS3_SATURATION, cells, measured, strict=True):
        yield within(
            SECTION,
            f"goodput, {_name(cell)}",
            reference.PEERS,
            expected=row.goodput_mbps,
            measured=ours.goodput_mbps,
            unit="Mbit/s",
            relative=0.03,
        )
    for cell, ours in zip(cells, measured, strict=True):
        if cell.n == 1:
            yield within(
                SECTION,
                f"one station is the sum of its airtimes, {_name(cell)}",
                "IEEE 802.11-2016, by hand",
                expected=airtimes.one_station_mbps(phy.peer_settings(cell.mode, rts=cell.rts)),
                measured=ours.goodput_mbps,
                unit="Mbit/s",
                relative=0.005,
            )
    series = []
    for rts, name in ((False, "basic"), (True, "RTS/CTS")):
        rows_of = [
            (row, ours)
            for row, ours in zip(reference.NS3_SATURATION, measured, strict=True)
            if row.mode == "DsssRate11Mbps" and row.rts == rts
        ]
        numbers = [row.n for row, _ in rows_of]
        series.append(Series(f"Airfair, {name}", numbers, [ours.goodput_mbps for _, ours in rows_of]))
        series.append(Series(f"ns-3, {name}", numbers, [row.goodput_mbps for row, _ in rows_of], "points"))
    settings = phy.peer_settings("DsssRate11Mbps")
    every = list(range(1, 51))
    solved = [bianchi.solve(settings, n).throughput_mbps for n in every]
    series.append(Series("Bianchi, EIFS after a collision, basic", every, solved, "dashed"))
    context.figure(
        Figure(
            SECTION,
            "goodput",
            "Goodput of a saturated cell, 802.11b at 11 Mbit/s, 1500 bytes of UDP payload.",
            "stations",
            "Mbit/s",
            series,
        )
    )


def _eifs(context: Context) -> Iterator[Row]:
    cells = [table_cell(mode, n, EIFS_RULES) for mode in reference.BIANCHI_EIFS for n in reference.EIFS_N]
    published = [value for values in reference.BIANCHI_EIFS.values() for value in values]
    for cell, value, ours in zip(cells, published, measure(context, cells), strict=True):
        yield within(
            SECTION,
            f"throughput, EIFS form, {_name(cell)}",
            reference.NS3_TABLES,
            expected=value,
            measured=ours.goodput_mbps,
            unit="Mbit/s",
            relative=0.03,
        )


def _difs(context: Context) -> Iterator[Row]:
    cells = [table_cell(mode, n, DIFS_RULES) for mode in DIFS_MODES for n in CELL_N]
    published = [
        dict(zip(reference.TABLE_N, reference.BIANCHI_DIFS[cell.mode], strict=True))[cell.n] for cell in cells
    ]
    measured = measure(context, cells)
    for cell, value, ours in zip(cells, published, measured, strict=True):
        yield within(
            SECTION,
            f"throughput, DIFS form, {_name(cell)}",
            reference.NS3_TABLES,
            expected=value,
            measured=ours.goodput_mbps,
            unit="Mbit/s",
            relative=0.03,
        )
    other = [table_cell(cell.mode, cell.n, DIFS_RULES | {"after_timeout": '"immediate"'}) for cell in cells]
    for name, results in (("difs", measured), ("immediate", measure(context, other))):
        differences = [
            100 * (ours.goodput_mbps / value - 1) for ours, value in zip(results, published, strict=True)
        ]
        mean = sum(abs(difference) for difference in differences) / len(differences)
        yield within(
            SECTION,
            f'DIFS form, after_timeout = "{name}", all {len(cells)} cells: largest difference '
            f"(mean of absolute values {mean:.2f} %)",
            reference.NS3_TABLES,
            expected=0,
            measured=max(differences, key=abs),
            unit="%",
            absolute=3,
        )
    for mode in ("DsssRate11Mbps", "OfdmRate54Mbps"):
        every = list(range(2, 51))
        settings = phy.table_settings(mode)
        mine = [ours.goodput_mbps for cell, ours in zip(cells, measured, strict=True) if cell.mode == mode]
        context.figure(
            Figure(
                SECTION,
                f"table-{settings.phy.name.replace('.', '')}",
                f"Saturated throughput, {mode}, basic access, DIFS after a collision.",
                "stations",
                "Mbit/s",
                [
                    Series("Bianchi", every, [bianchi.solve(settings, n).throughput_mbps for n in every]),
                    Series("ns-3 table", reference.TABLE_N, reference.BIANCHI_DIFS[mode], "points"),
                    Series("Airfair", CELL_N, mine, "points"),
                ],
            )
        )


def _collisions(context: Context) -> Iterator[Row]:
    busy_periods = 60_000 if context.quick else 300_000
    series = []
    for mode in ("DsssRate11Mbps", "OfdmRate54Mbps"):
        layer, _ = phy.phy_of(mode)
        for limit, words in ((7, "7 attempts"), (None, "endless retries")):
            rules = {"short_retry_limit": str(limit or ENDLESS)}
            cells = [peer_cell(mode, n, rts=False, rules=rules) for n in reference.COLLISION_N]
            measured = measure(context, cells)
            exact = [
                slots.simulate(
                    cell.n,
                    layer.cw_min,
                    layer.cw_max,
                    attempts_limit=limit,
                    busy_periods=busy_periods,
                    seed=context.seed,
                    sender_lag_slots=ACK_TIMEOUT_SLOTS[layer.name],
                ).collision_probability
                for cell in cells
            ]
            for cell, expected, ours in zip(cells, exact, measured, strict=True):
                yield within(
                    SECTION,
                    f"collision probability, {layer.name}, n = {cell.n}, {words}",
                    "slot-exact model, validation/slots.py",
                    expected=expected,
                    measured=ours.collision_probability,
                    absolute=0.01,
                )
            if limit:
                found = [ours.collision_probability for ours in measured]
                series.append(Series(f"{layer.name}, slot-exact", reference.COLLISION_N, exact))
                series.append(Series(f"{layer.name}, Airfair", reference.COLLISION_N, found, "points"))
    for rts in (False, True):
        those = [row for row in reference.NS3_SATURATION if row.mode == "DsssRate11Mbps" and row.rts == rts]
        probabilities = [row.collision_probability for row in those]
        name = f"802.11b, ns-3, {'RTS/CTS' if rts else 'basic'} (one short run)"
        series.append(Series(name, [row.n for row in those], probabilities, "points"))
    context.figure(
        Figure(
            SECTION,
            "collisions",
            "Probability that an attempt collides, at most 7 attempts.",
            "stations",
            "collision probability",
            series,
        )
    )
