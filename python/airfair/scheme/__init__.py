"""Schemes written in Python: slow, but packet by packet equal to the same law in Rust.

    from airfair.scheme import Aqm, Context, Drop, Packet, QueueView, Scheme, integer, register

    class Cap(Aqm):
        def __init__(self, most: int) -> None:
            self.most = most

        def on_enqueue(self, packet: Packet, queue: QueueView, context: Context) -> Drop | None:
            return Drop("cap") if queue.packets >= self.most else None

    @register
    class CapScheme(Scheme):
        "keeps every queue short"
        name = "cap"
        origin = "an example"
        most = integer(10, "longest queue, packets", low=1, high=1000)

        def aqm(self) -> Aqm:
            return Cap(self.most)

From then on this process knows "cap" as it knows "red". Times are nanoseconds, sizes bytes, rates bit/s.
`docs/how-to/schemes.md` has the rules.
"""

from .._core import Context, Random
from .facts import (
    Acked,
    AgentSetup,
    Airtime,
    Allowance,
    AnswerSample,
    Cause,
    Congestion,
    ControllerSetup,
    Displaced,
    Drop,
    FlowSample,
    FlowSetup,
    HeardBroadcast,
    Idle,
    LinkSample,
    Made,
    Mark,
    NativePacket,
    NodeSample,
    Packet,
    QueueView,
    RateSample,
    Sent,
    Spurious,
)
from .files import load_schemes, loaded
from .params import Param, ParamError, flag, integer, number, rate, size, time
from .places import Agent, Aqm, Controller, Forwarder, Queue, Source
from .register import Scheme, register

__all__ = [
    "Acked",
    "Agent",
    "AgentSetup",
    "Airtime",
    "Allowance",
    "AnswerSample",
    "Aqm",
    "Cause",
    "Congestion",
    "Context",
    "Controller",
    "ControllerSetup",
    "Displaced",
    "Drop",
    "FlowSample",
    "FlowSetup",
    "Forwarder",
    "HeardBroadcast",
    "Idle",
    "LinkSample",
    "Made",
    "Mark",
    "NativePacket",
    "NodeSample",
    "Packet",
    "Param",
    "ParamError",
    "Queue",
    "QueueView",
    "Random",
    "RateSample",
    "Scheme",
    "Sent",
    "Source",
    "Spurious",
    "flag",
    "integer",
    "load_schemes",
    "loaded",
    "number",
    "rate",
    "register",
    "size",
    "time",
]
