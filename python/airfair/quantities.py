"""Numbers of results in words: rates, times and shares with their units and intervals."""

from __future__ import annotations

import math
from collections.abc import Callable

from .results import Estimate


def plural(count: int, noun: str) -> str:
    """The noun, as many of it need it."""
    return noun if count == 1 else f"{noun}s"


def rate(bps: float, *, sign: bool = False) -> str:
    """A rate in kbit/s, with as many decimals as it needs to show three digits."""
    return f"{_kbit(bps, _decimals(bps), sign)} kbit/s"


def rate_of(estimate: Estimate, *, sign: bool = False) -> str:
    """A mean rate and its interval, in kbit/s."""
    if estimate["ci95"] is None:
        return rate(estimate["mean"], sign=sign)
    decimals = _decimals(max(abs(estimate["mean"]), estimate["ci95"]))
    return f"{_kbit(estimate['mean'], decimals, sign)} ± {_kbit(estimate['ci95'], decimals)} kbit/s"


def time(seconds: float | None) -> str:
    """A time with three digits, in the largest unit of which it has at least one."""
    if not seconds:
        return "-" if seconds is None else "0 ms"
    units = (("s", 1.0), ("ms", 1e3))
    scaled = ((digits(seconds * factor), unit) for unit, factor in units)
    return " ".join(next((pair for pair in scaled if float(pair[0]) >= 1), (digits(seconds * 1e6), "us")))


def time_of(estimate: Estimate, *, sign: bool = False) -> str:
    """A mean time and its interval, with three digits of the larger."""
    most = max(abs(estimate["mean"]), estimate["ci95"] or 0.0)
    unit, factor = ("s", 1.0) if most >= 1 else ("ms", 1e3)
    return f"{_scaled(estimate, factor, sign)} {unit}"


def percent(share: float | None) -> str:
    """A share with three digits, or a dash."""
    return "-" if share is None else f"{100 * share:.3g} %"


def percent_of(estimate: Estimate, *, sign: bool = False) -> str:
    """A mean share and its interval, as percentages."""
    return f"{_scaled(estimate, 100.0, sign)} %"


def number_of(estimate: Estimate, decimals: int, *, sign: bool = False) -> str:
    """A mean and its interval."""
    plus = "+" if sign else ""
    mean = f"{estimate['mean']:{plus}.{decimals}f}"
    return mean if estimate["ci95"] is None else f"{mean} ± {estimate['ci95']:.{decimals}f}"


def significant(estimate: Estimate, *, sign: bool = False) -> str:
    """A mean with three digits, and its interval with as many decimals."""
    size = abs(estimate["mean"])
    decimals = 3 if size == 0 or math.isnan(size) else min(6, max(0, 2 - math.floor(math.log10(size))))
    return number_of(estimate, decimals, sign=sign)


def digits(value: float) -> str:
    """A number with three digits, without an exponent."""
    return f"{float(f'{value:.3g}'):g}"


def dash_or(estimate: Estimate | None, show: Callable[[Estimate], str]) -> str:
    """An estimate in words; a dash for none."""
    if estimate is None:
        return "-"
    runs = f" ({estimate['runs']} {plural(estimate['runs'], 'run')})" if "runs" in estimate else ""
    return show(estimate) + runs


def _scaled(estimate: Estimate, factor: float, sign: bool) -> str:
    """Both numbers times the factor, with the decimals that show three digits of the larger."""
    ci95 = estimate["ci95"]
    scaled: Estimate = {"mean": estimate["mean"] * factor, "ci95": None if ci95 is None else ci95 * factor}
    most = max(abs(scaled["mean"]), scaled["ci95"] or 0.0)
    decimals = 0 if most == 0 else min(3, max(0, 2 - math.floor(math.log10(most))))
    return number_of(scaled, decimals, sign=sign)


def _kbit(bps: float, decimals: int, sign: bool = False) -> str:
    return f"{bps / 1000:{'+' if sign else ''}.{decimals}f}"


def _decimals(bps: float) -> int:
    if bps == 0:
        return 0
    return min(3, max(0, 2 - math.floor(math.log10(abs(bps) / 1000))))


def part(share: float) -> str:
    """A part of a whole with two digits, so that half a per cent is not 0 or 1 %."""
    shown = f"{100 * share:.0f}" if share >= 0.0995 else f"{100 * share:.2g}"
    return f"{shown} %"
