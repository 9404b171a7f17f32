"""`pytest --cpu` tells at the end what tests cost, by file, in CPU seconds: other work changes them little.

What a test's processes took is in it, as far as it waited for them; a fixture counts for the test that needs
it first.
"""

from __future__ import annotations

import os
import warnings
from collections import defaultdict
from collections.abc import Generator, Iterator

import pytest

SHOWN = 0.5
"""Cheaper files are told together."""


class Costs:
    """Reads the clock after each phase of a test; its report carries the cost to where the table is made."""

    def __init__(self) -> None:
        self.before = seconds()
        self.files: defaultdict[str, float] = defaultdict(float)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        self.before = seconds()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        now = seconds()
        vars(report)["cpu"], self.before = now - self.before, now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.files[report.nodeid.partition("::")[0]] += getattr(report, "cpu", 0.0)  # none if the worker died

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("CPU seconds")
        for file, cpu in sorted(self.files.items(), key=lambda item: -item[1]):
            if cpu >= SHOWN:
                terminalreporter.line(f"{cpu:7.1f}  {file}")
        others = sum(cpu for cpu in self.files.values() if cpu < SHOWN)
        terminalreporter.line(f"{others:7.1f}  the others")
        terminalreporter.line(f"{sum(self.files.values()):7.1f}  all")


def seconds() -> float:
    """Of this process and of those that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@pytest.fixture
def no_warnings() -> Iterator[None]:
    """Warnings of matplotlib, such as of letters that it cannot draw, are faults of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cpu", action="store_true", help="tell the CPU seconds of each file of tests")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--cpu"):
        config.pluginmanager.register(Costs())
