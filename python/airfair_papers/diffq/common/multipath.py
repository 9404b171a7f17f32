"""Opportunistic forwarding on the testbed of section 6.1: protocols, readings, claims over both countings.

**Protocols.** MORE, whose sources send as fast as their radios let them, and DiffQ-MORE, with DiffQ's rate of
sources, order of flows and levels (sections 4.2, 6.1). Sources always have packets, of 1400 B, in batches of
32, as in the paper.

ExOR, which the paper names, and DiffQ over it, which no paper has, are ours: in fewer readings, and their
packets count as they arrive. Another way of forwarding is an entry in `PROTOCOLS` and `PAIRS`.

**Delivery ratios** are those of the simulator for the silent network, at the data rate. The paper's come from
probes on the air, of which it gives neither rate nor size: "probes" has them at the data rate, a second each,
over ten of them, from 30 s before the flows on; what is lost to other flows counts as a bad link then.

**Routes** carry acknowledgements of batches alone: OLSR with ETX on the air (the paper's; main reading), or
static ones.

**Access.** MORE's broadcasts are at level 0 of table 1 (main reading) as all that is not DiffQ's, or, with
static routes, they have the DCF's values.

**Counting.** A flow's goodput is that of decoded batches: in a minute a flow with less than a batch, 6
kbit/s, counts as zero, and so starves. The paper does not say what its receivers count. "Innovative" counts
each packet that raises the rank of the destination's decoder, so that parts of batches count too.

**QUEUE_THRESH** has no value in the paper. DiffQ's default, D/4 = 25 packets, is that of destination queues.
MORE has no such queue: what a source is granted and has not sent is its backlog. With a threshold of 2 the
rate falls from three such packets on; with 0 it rises only while nothing waits. The law "log" and steps by
packets are the paper's and the pseudo-code's other forms. As over single paths (`testbed.py`), "slow" is an
alpha of 0.01 Mbit/s in a second; the paper gives no first rate either, and "from 11 Mbit/s" is "slow" with
the radio's, which falls to what a source can send. In "waits" flows with a differential of 0 or less wait,
with a threshold of 5.

**Controls.** MORE with sources of 100 kbit/s, without DiffQ. "Rate only": all at level 0. "Levels only": the
rate is the radio's, so that D packets wait at each source.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from airfair.claims import MAIN, Claim, number
from airfair.paper import Series

from airfair_papers.diffq.common import testbed
from airfair_papers.diffq.common.forms import Forms
from airfair_papers.diffq.common.testbed import OLSR, UDP, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COUNTS = (1, 4, 8, 16, 32)
"""Numbers of flows of figures 1 (a) and 6 to 8."""

MORE, DIFFQ_MORE = "MORE", "DiffQ-MORE"
EXOR, DIFFQ_EXOR = "ExOR", "DiffQ-ExOR"
LIMITED = "MORE, sources of 100 kbit/s"
"""A control: sources that are slow, whatever happens. A batch waits for its packets."""
PROTOCOLS: Mapping[str, Protocol] = {
    MORE: Protocol("more", UDP),
    DIFFQ_MORE: Protocol("diffq-more", UDP, own=True),
    LIMITED: Protocol(
        "more",
        (
            UDP[0],
            'flows.traffic={ kind = "constant", packet = "1400 B", rate = "100 kbit/s" }',
            "more.flush=5 s",
        ),
    ),
    EXOR: Protocol("exor", UDP),
    DIFFQ_EXOR: Protocol("diffq-exor", UDP, own=True),
}
PAIRS: Mapping[str, str] = {MORE: DIFFQ_MORE, EXOR: DIFFQ_EXOR}
"""DiffQ over each way of forwarding, and what it is compared with."""
PAPERS = (MORE,)
"""Those in the paper; of others all claims are ours."""


@dataclass(frozen=True)
class Form:
    """One reading of the points that the paper leaves open."""

    static: bool = False
    dcf: bool = False
    probes: bool = False
    values: tuple[str, ...] = ()
    """Parameters of DiffQ."""

    def of(self, protocol: Protocol) -> Form:
        """As far as it is about a protocol."""
        return replace(self, dcf=False) if protocol.own else replace(self, values=())

    def changes(self, protocol: Protocol) -> tuple[str, ...]:
        """All of a protocol in this form."""
        form = self.of(protocol)
        return (
            *(() if form.static else OLSR),
            *(("radio.categories=dcf",) if form.dcf else ()),
            *protocol.overrides,
            *((f"{protocol.scheme}.ratios=probes",) if form.probes else ()),
            *(f"{protocol.scheme}.{value}" for value in form.values),
        )


SLOW = ("alpha=100 bit/s", "rate_start=10 kbit/s")
FROM_FULL = (SLOW[0], "rate_start=11 Mbit/s")
WAITS = ("serve=positive", "threshold=5")
RATE_ONLY = ("levels=1",)
LEVELS_ONLY = ("threshold=65535", "rate_start=11 Mbit/s")
VALUES: Mapping[str, tuple[str, ...]] = {
    "threshold 2": ("threshold=2",),
    "threshold 0": ("threshold=0",),
    "log": ("law=log",),
    "by packets": ("steps=packets",),
    "slow": SLOW,
    "slow, from 11 Mbit/s": FROM_FULL,
    "waits": WAITS,
    "threshold 0, waits": ("serve=positive", "threshold=0"),
    "waits, slow": (*WAITS, *SLOW),
    "rate only": RATE_ONLY,
    "threshold 0, rate only": ("threshold=0", *RATE_ONLY),
    "levels only": LEVELS_ONLY,
}
STATIC = "static routes"
READINGS: Mapping[str, Form] = {
    MAIN: Form(),
    STATIC: Form(static=True),
    f"{STATIC}, DCF": Form(static=True, dcf=True),
    **{name: Form(values=VALUES[name]) for name in ("threshold 0", "waits, slow")},
    **{f"{STATIC}, {name}": Form(static=True, values=values) for name, values in VALUES.items()},
    f"{STATIC}, threshold 0, DCF": Form(static=True, dcf=True, values=VALUES["threshold 0"]),
    f"{STATIC}, probes": Form(static=True, probes=True),
    **{
        f"{STATIC}, probes, {name}": Form(static=True, probes=True, values=VALUES[name])
        for name in ("threshold 0", "slow, from 11 Mbit/s", "waits, slow")
    },
}
"""The first is nearest to the text. With the DCF it is MORE that has its values, not DiffQ."""

CONTROLS = tuple(f"{STATIC}, {name}" for name in ("rate only", "threshold 0, rate only", "levels only"))
JUDGED = tuple(reading for reading in READINGS if reading not in CONTROLS)
"""All but the controls."""
OF_MORE = tuple(reading for reading, form in READINGS.items() if not form.values)
"""Those that are about MORE."""
FEWER = (STATIC, f"{STATIC}, threshold 0", f"{STATIC}, waits, slow")
"""Those of what is not the paper's."""


def of_plain(plain: str) -> Sequence[str]:
    """The readings of a way of forwarding."""
    return OF_MORE if plain in PAPERS else FEWER[:1]


def judged(plain: str) -> Sequence[str]:
    """The readings in which DiffQ over it is judged."""
    return JUDGED if plain in PAPERS else FEWER


INNOVATIVE = "innovative"
"""A suffix of a reading that counts innovative packets, and to the numbers that do."""


FORMS = Forms(PROTOCOLS, READINGS, COUNTS)
told, name, series = FORMS.told, FORMS.name, FORMS.series


def pairs_series(counts: Sequence[int] = COUNTS) -> tuple[Series, ...]:
    """Each way of forwarding, and DiffQ over it, in all readings."""
    return tuple(
        one
        for plain, own in PAIRS.items()
        for one in series(
            {plain: of_plain(plain), own: tuple(READINGS) if plain in PAPERS else FEWER}, counts
        )
    )


def counted(statistic: str, *, innovative: bool) -> str:
    """The name of a number in one of the countings."""
    return testbed.innovative(statistic) if innovative else statistic


def claims(
    text: str,
    where: str,
    series: tuple[str, int],
    statistic: str,
    comparison: Literal["above", "below"],
    *,
    value: float = 0.0,
    than: tuple[str, int] | None = None,
    factor: float = 1.0,
    baseline: str | None = None,
    readings: Sequence[str] = JUDGED,
    ours: bool = False,
) -> list[Claim]:
    """A number of a protocol with so many flows is above (below) `value`, or so many times that of another,
    in each reading and, of MORE, counting. The same numbers of flows are compared set by set. `baseline`: a
    protocol with as many flows where it must be false; a ratio to the baseline itself has none."""
    protocol, count = series
    found = []
    for reading in readings:
        for innovative in (False, True) if protocol in (MORE, DIFFQ_MORE, LIMITED) else (False,):
            of = number(counted(statistic, innovative=innovative))
            found.append(
                Claim(
                    text=text,
                    where=where,
                    source="ours" if ours else "paper",
                    series=name(protocol, count, reading),
                    baseline=None if baseline is None else name(baseline, count, reading),
                    statistic=of,
                    comparison=comparison,
                    value=value,
                    bound=of if than else None,
                    bound_series=name(*than, reading) if than else None,
                    factor=factor if than else 1.0,
                    paired=than is not None and than[1] == count,
                    reading=f"{reading}, {INNOVATIVE}" if innovative else reading,
                    about=("radio.categories",) if baseline is not None else (),
                )
            )
    return found
