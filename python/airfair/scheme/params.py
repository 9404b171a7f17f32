"""Parameters of schemes: declared in the class, set in scenarios and with `--set`, read from the instance."""

from __future__ import annotations

from typing import Any, Generic, Literal, Self, TypeVar, overload

from .._core import InputError

T = TypeVar("T")

Kind = Literal["number", "integer", "flag", "time", "rate", "size"]


class ParamError(InputError):
    """A value that is in its range but does not fit the others: raised by `Scheme.check`."""

    def __init__(self, name: str, problem: str) -> None:
        """Name the parameter; say what is wrong and what was expected."""
        super().__init__(f"{name}: {problem}")
        self.name = name
        self.problem = problem


class Param(Generic[T]):
    """A parameter of a scheme, declared in its class; an instance has the value."""

    def __init__(self, kind: Kind, default: str, low: str, high: str, doc: str) -> None:
        """Use `number`, `integer`, `flag`, `time`, `rate` or `size`."""
        self.kind = kind
        self.default = default
        self.low = low
        self.high = high
        self.doc = doc
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> Self | T:
        if instance is None:
            return self
        try:
            value: T = instance.__dict__[self.name]
        except KeyError:
            raise AttributeError(f"{self.name}: set when the simulator builds the scheme") from None
        return value

    def __set__(self, instance: object, value: Any) -> None:  # noqa: ANN401 - refused
        raise AttributeError(f"{self.name}: a parameter does not change")


def number(default: float, doc: str, *, low: float, high: float) -> Param[float]:
    """A real number from `low` to `high`."""
    return Param("number", str(default), str(low), str(high), doc)


def integer(default: int, doc: str, *, low: int, high: int) -> Param[int]:
    """A whole number from `low` to `high`, none below 0."""
    return Param("integer", str(default), str(low), str(high), doc)


def flag(default: bool, doc: str) -> Param[bool]:
    """True or false."""
    return Param("flag", str(default).lower(), "false", "true", doc)


def time(default: str, doc: str, *, low: str, high: str) -> Param[int]:
    """A time, written with its unit ("4 ms"); the value is in nanoseconds."""
    return Param("time", default, low, high, doc)


def rate(default: str, doc: str, *, low: str, high: str) -> Param[int]:
    """A rate, written with its unit ("2 Mbit/s"); the value is in bit/s."""
    return Param("rate", default, low, high, doc)


def size(default: str, doc: str, *, low: str, high: str) -> Param[int]:
    """A size, written with its unit ("1500 B"); the value is in bytes."""
    return Param("size", default, low, high, doc)
