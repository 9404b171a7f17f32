"""The base class of schemes, and their registration."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar, Self, TypeVar

from .. import _core
from .._core import InputError
from .params import Param, ParamError
from .places import Agent, Aqm, Controller, Forwarder, Queue, Source

registered: list[type[Scheme]] = []
"""The registered classes, in order."""

PLACES = ("source", "queue", "aqm", "agent", "forwarder", "controller")
"""The places that a scheme in Python may fill: one factory each."""

NOT_IN_PYTHON = ("udp", "receiver")
"""Places that only schemes in Rust fill, refused by name."""


class Scheme:
    """A complete way of controlling congestion: parameters, and a factory for each place that it fills.

    Each world builds its own; the factories are called once for each interface or connection. The first
    paragraph of the docstring is the description of the scheme.
    """

    name: ClassVar[str]
    """The scheme's name everywhere: lower-case letters, digits, hyphens."""
    origin: ClassVar[str]
    """The scheme's source: a paper, an RFC."""
    sample_interval: int = 0
    """Interval of the samples of agents, ns; 0: none."""
    samples_links: bool = False
    """True if samples have links and flows."""
    overhears: bool = False
    """True if agents receive messages for other nodes."""
    knows_ratios: bool = False
    """True if forwarders are told how many broadcasts arrive between all nodes: no real node knows."""
    levels: int = 1
    """Levels that `Forwarder.ready` may answer, 1 to 8; at most the categories of the radios."""

    def check(self) -> None:
        """Raise `ParamError` for parameters that contradict each other. Ranges are checked before."""

    def queue(self, limit_packets: int) -> Queue:
        """The queue of an interface that takes so many packets; without this, drop-tail."""
        raise NotImplementedError

    def aqm(self) -> Aqm:
        """The AQM beside it; without this, none."""
        raise NotImplementedError

    def agent(self) -> Agent:
        """The agent of a radio; without this, none."""
        raise NotImplementedError

    def forwarder(self) -> Forwarder:
        """The agent of a radio that carries flows over UDP; without this, routes carry them."""
        raise NotImplementedError

    def controller(self) -> Controller:
        """The controller of the network; without this, none."""
        raise NotImplementedError

    def source(self) -> Source:
        """The law of a connection; without this, a flow keeps its own."""
        raise NotImplementedError

    @classmethod
    def _build(cls, values: dict[str, Any]) -> Self | tuple[str, str]:
        """Called by the simulator: an instance with these values, or the parameter that is wrong and why."""
        scheme = cls()
        vars(scheme).update(values)
        try:
            scheme.check()
        except ParamError as error:
            if error.name not in values:
                raise
            return error.name, error.problem
        return scheme


S = TypeVar("S", bound=type[Scheme])


def register(scheme: S) -> S:
    """Make a scheme known in this process, by its name: to scenarios, `run`, `compare`, `schemes`.

    Returns the class, so that it serves as a decorator. It is built once with its defaults to see that it
    works. Registering a name again replaces the earlier class; names of built-in schemes are refused.
    Raises `InputError`, and the exception of the class when it is built.
    """
    if not (isinstance(scheme, type) and issubclass(scheme, Scheme)):
        raise InputError(f"{scheme!r}: expected a class made from airfair.Scheme")
    what = scheme.__qualname__
    texts = {}
    for key in ("name", "origin"):
        text = getattr(scheme, key, None)
        if not isinstance(text, str) or not text:
            raise InputError(f"{what}.{key}: {text!r}; expected a text")
        texts[key] = text
    about = " ".join((inspect.cleandoc(scheme.__doc__ or "").split("\n\n")[0]).split())
    if not about:
        raise InputError(f"{what}: expected a docstring that says in one line what the scheme does")
    for place in NOT_IN_PYTHON:
        if hasattr(scheme, place):
            raise InputError(
                f"{what}.{place}: schemes in Python have no ends over UDP; "
                "expected a source, which serves TCP"
            )
    places = [place for place in PLACES if getattr(scheme, place) is not getattr(Scheme, place)]
    if not places:
        raise InputError(f"{what}: expected at least one of the methods {', '.join(PLACES)}")
    if "forwarder" in places:
        if "agent" in places:
            raise InputError(f"{what}: a forwarder is its radio's agent, too; expected one of the two")
        places.append("agent")
    members = {name: value for base in reversed(scheme.__mro__) for name, value in vars(base).items()}
    declared = [
        (name, p.kind, p.default, p.low, p.high, p.doc) for name, p in members.items() if isinstance(p, Param)
    ]
    _core.register_scheme(scheme, texts["name"], about, texts["origin"], places, declared)
    registered.append(scheme)
    return scheme
