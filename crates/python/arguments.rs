//! Arguments from Python. A value of another type, or outside of its range, raises `InputError` with the argument's name, the value
//! and what was expected; a time is a text with its unit.

use std::path::PathBuf;

use airfair_units::{Quantity, Span};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::error::{SHOWN, input_error, unsuitable};

/// Declares the type of an argument: its name in Python, and what is expected of a value.
macro_rules! arguments {
    ($($type:ident($inner:ty) = $name:literal, $expected:literal;)*) => { $(
        #[doc = concat!("The argument `", $name, "`: ", $expected, ".")]
        pub(crate) struct $type(pub $inner);

        impl<'a, 'py> pyo3::FromPyObject<'a, 'py> for $type {
            type Error = pyo3::PyErr;

            fn extract(given: pyo3::Borrowed<'a, 'py, pyo3::PyAny>) -> pyo3::PyResult<Self> {
                given.extract().map(Self).map_err(|_| $crate::error::unsuitable(&given, $name, $expected))
            }
        }
    )* };
}

pub(crate) use arguments;

arguments! {
    Seed(u64) = "seed", "a whole number, 0 to 18446744073709551615";
    SchemeName(String) = "scheme", "the name of a scheme as a text";
    NodeName(String) = "node", "the id of a node as a text";
    FlowName(String) = "flow", "the id of a flow as a text";
    Source(String) = "source", "the id of a node as a text";
    Destination(String) = "destination", "the id of a node as a text";
    PacketSize(u32) = "size", "a whole number of bytes, 1 to 65535";
    Tag(u64) = "tag", "a whole number, 0 to 18446744073709551615";
    NextHop(String) = "next_hop", "the id of a node as a text, or \"*\" for all nodes that receive a broadcast";
    InterfaceNumber(usize) = "interface", "a whole number of at least 0";
    InjectedFlow(u32) = "flow", "a whole number, 0 to 4294967295";
    IsAck(bool) = "ack", "True or False";
    EcnWord(String) = "ecn", "\"not-ect\", \"ect\" or \"ce\"";
    Dscp(u8) = "dscp", "a whole number, 0 to 63";
    EtherTypeNumber(u16) = "ethertype", "a whole number, 0 to 65535";
    Toml(String) = "text", "the text of a scenario";
    Origin(String) = "origin", "a text";
    EmulationRequest(String) = "request", "a request as JSON";
    WireCheck(bool) = "wire_check", "True or False";
    AllRoutes(bool) = "routes", "True or False";
    WithProportional(bool) = "proportional", "True or False";
    OnlyComplete(bool) = "only_complete", "True or False";
    Factor(f64) = "factor", "a number from 1 to 100";
    CliqueLimit(usize) = "clique_limit", "a whole number of at least 0";
    LinkLimit(usize) = "link_limit", "a whole number of at least 0";
    Now(u64) = "now", "a whole number of nanoseconds, 0 or more";
    At(u64) = "at", "a whole number of nanoseconds, 0 or more";
    TimerNumber(u16) = "timer", "a whole number, 0 to 65535";
    PacketNumber(u32) = "packet", "the id of a packet";
    Reason(String) = "why", "a text";
    Data(Vec<u8>) = "data", "bytes";
    NodeNumber(u32) = "node", "the number of a node";
    FlowNumber(u32) = "flow", "the number of a flow";
    Number(u32) = "number", "the number of a packet";
    Batch(u32) = "batch", "the number of a batch";
    Held(u16) = "packets", "a whole number, 0 to 65535";
    OfBatch(u16) = "of", "a whole number, 0 to 65535";
    Ahead(bool) = "ahead", "True or False";
    Word(String) = "rate", "one of its words";
    MoreDb(f64) = "more_db", "a number of decibels";
    Probability(f64) = "probability", "a number from 0 to 1";
    StreamName(String) = "name", "a text";
    Bound32(u32) = "bound", "a whole number, 0 to 4294967295";
}

/// The argument `path`: the path of a file, as the system can have it.
pub(crate) struct FilePath(pub PathBuf);

impl<'a, 'py> FromPyObject<'a, 'py> for FilePath {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let path =
            given.extract::<PathBuf>().ok().filter(|path| !path.as_os_str().as_encoded_bytes().contains(&0));
        path.map(Self).ok_or_else(|| unsuitable(&given, "path", "the path of a file"))
    }
}

/// The argument `schemes`: names of schemes.
pub(crate) struct SchemeNames(pub Vec<String>);

impl<'a, 'py> FromPyObject<'a, 'py> for SchemeNames {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        given.extract().map(Self).map_err(|_| unsuitable(&given, "schemes", "a list of names of schemes"))
    }
}

/// Declares the type of a time as an argument, in nanoseconds: its name in Python.
macro_rules! times {
    ($($type:ident = $name:literal;)*) => { $(
        #[doc = concat!("The argument `", $name, "`: a time as a text with its unit, in nanoseconds.")]
        pub(crate) struct $type(pub u64);

        impl<'a, 'py> FromPyObject<'a, 'py> for $type {
            type Error = PyErr;

            fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
                time(&given, Some($name)).map(Self)
            }
        }
    )* };
}

times! {
    Start = "start";
    Until = "until";
    Interval = "interval";
    AtTime = "at";
}

/// The expected form of a time in Python, where most times are longer than the protocol's times that scenarios have.
const TIME: &str = "a time such as \"100 ms\" (ns, us, ms, s, min, h)";

/// A time as a text with its unit, such as "1.5 ms", in nanoseconds; `name` is that of the argument, if it is known.
pub(crate) fn time(given: &Bound<'_, PyAny>, name: Option<&str>) -> PyResult<u64> {
    let Ok(text) = given.extract::<String>() else {
        return Err(unsuitable(given, name.unwrap_or("time"), TIME));
    };
    Span::parse(&text).map(|span| span.0).map_err(|e| {
        let place = name.map(|name| format!("{name}: ")).unwrap_or_default();
        let shown: String = text.chars().take(SHOWN).collect();
        input_error(format!("{place}\"{shown}\": {}; expected {TIME}", e.problem))
    })
}

/// Lengths of windows, each a time as a text; one text is a list of one. Nanoseconds.
#[derive(Default)]
pub(crate) struct Windows(pub Vec<u64>);

impl<'a, 'py> FromPyObject<'a, 'py> for Windows {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        const NAME: &str = "windows";
        if given.is_instance_of::<PyString>() {
            return Ok(Self(vec![time(&given, Some(NAME))?]));
        }
        let windows = given.try_iter().map_err(|_| unsuitable(&given, NAME, "times such as \"1 s\""))?;
        windows.map(|window| time(&window?, Some(NAME))).collect::<PyResult<_>>().map(Self)
    }
}
