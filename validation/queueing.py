"""Queues with a known answer, and the interval with which a simulation is compared with it.

Sources: L. Kleinrock, "Queueing Systems", vol. 1 (1975), chapters 3 (M/M/1) and 5 (Pollaczek-Khinchine mean
value formula); A. M. Law, "Simulation Modeling and Analysis" (batch means).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


def mg1_wait(arrival_rate: float, service_mean: float, service_scv: float) -> float:
    """Mean time in the queue, service not included, of M/G/1 (Pollaczek-Khinchine). Rates per second, times
    in seconds.

    `service_scv` is the squared coefficient of variation of the service time: 1 exponential, 0 constant.
    """
    load = arrival_rate * service_mean
    if not 0 <= load < 1:
        raise ValueError(f"load must lie in [0, 1), not {load:g}")
    return load * service_mean * (1 + service_scv) / (2 * (1 - load))


def mm1_wait(arrival_rate: float, service_rate: float) -> float:
    """Mean waiting time of M/M/1, service not included: load / (service rate - arrival rate)."""
    return mg1_wait(arrival_rate, 1 / service_rate, 1.0)


def md1_wait(arrival_rate: float, service_rate: float) -> float:
    """Mean waiting time of M/D/1, service not included: half of M/M/1's."""
    return mg1_wait(arrival_rate, 1 / service_rate, 0.0)


@dataclass(frozen=True)
class Mean:
    """A mean, and the half-width of its symmetric confidence interval."""

    mean: float
    half_width: float


@dataclass(frozen=True)
class Interval(Mean):
    """The mean of a correlated series."""

    batches: int

    def contains(self, value: float) -> bool:
        """True if `value` lies inside."""
        return abs(value - self.mean) <= self.half_width


def batch_means(
    values: Sequence[float] | NDArray[np.float64], *, batches: int = 30, confidence: float = 0.99
) -> Interval:
    """Confidence interval of the mean of a correlated, stationary series, warm-up already cut off.

    The series is cut into `batches` equal parts whose means are treated as independent (Student's t). Trust
    it where a batch is much longer than the series' correlation. What does not fill the last batch is left
    out at the front.
    """
    series = np.asarray(values, dtype=np.float64)
    size = series.size // batches
    if batches < 2 or size < 1:
        raise ValueError(f"{series.size} values do not make {batches} batches")
    means = series[series.size - size * batches :].reshape(batches, size).mean(axis=1)
    half_width = (
        student_t_quantile((1 + confidence) / 2, batches - 1) * float(means.std(ddof=1)) / math.sqrt(batches)
    )
    return Interval(float(means.mean()), half_width, batches)


def student_t_quantile(probability: float, freedom: float) -> float:
    """The value that Student's t with `freedom` degrees stays below with `probability`. Relative error below
    1e-9."""
    if not 0 < probability < 1 or freedom <= 0:
        raise ValueError(f"need 0 < probability < 1 and freedom > 0, got {probability}, {freedom}")
    if probability < 0.5:
        return -student_t_quantile(1 - probability, freedom)
    low, high = 0.0, 1.0
    while _student_t_below(high, freedom) < probability:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        if _student_t_below(middle, freedom) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _student_t_below(value: float, freedom: float) -> float:
    """P(T <= value) for value >= 0, over the regularised incomplete beta function."""
    return 1 - _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + value * value)) / 2


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Regularised incomplete beta function I_x(a, b), by its continued fraction (Abramowitz and Stegun
    26.5.8)."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, 1 - x)
    scale = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    # Lentz's method; the denominators cannot vanish on this side of the mean.
    fraction, numerator, denominator = 1.0, 1.0, 0.0
    for term in range(1000):
        half = term // 2
        if term == 0:
            coefficient = 1.0
        elif term % 2 == 0:
            coefficient = half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
        else:
            coefficient = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        denominator = 1 / (1 + coefficient * denominator)
        numerator = 1 + coefficient / numerator
        step = numerator * denominator
        fraction *= step
        if term > 0 and abs(step - 1) < 1e-15:
            break
    return scale * (fraction - 1) / a


def lindley_waits(interarrivals: NDArray[np.float64], services: NDArray[np.float64]) -> NDArray[np.float64]:
    """Waiting time of each customer of a single first-come-first-served server, the first finding it empty.

    Lindley's recursion w' = max(0, w + s - a), written with a running minimum. `interarrivals[i]` lies
    between customers i and i+1.
    """
    walk = np.concatenate(([0.0], np.cumsum(services[:-1] - interarrivals[: services.size - 1])))
    waits: NDArray[np.float64] = walk - np.minimum.accumulate(walk)
    return waits
