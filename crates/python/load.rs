//! Traffic over real sockets: the two ends of `airfair load`.

use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;

use crate::arguments::arguments;

arguments! {
    Given(Vec<(String, String)>) = "options", "pairs of an option's name and its text";
    Host(String) = "host", "the name or the address of a host as a text";
}

/// A report as JSON, and the exception of a signal that has ended the work.
type Reported = (String, Option<Py<PyBaseException>>);

#[cfg(unix)]
mod unix {
    use std::io::Write;

    use airfair_load::wait::Stop;
    use airfair_load::{ReceiveOptions, Receiver, SendOptions, send};
    use pyo3::prelude::*;

    use super::Reported;
    use crate::error::input_error;

    /// Does work without the interpreter until a signal ends it.
    fn until_signal(
        py: Python<'_>,
        work: impl FnOnce(&mut Stop<'_>) -> PyResult<String> + Send,
    ) -> PyResult<Reported> {
        let (report, signal) = py.detach(|| {
            let mut signal = None;
            let mut look = || {
                signal = Python::attach(|py| py.check_signals()).err();
                signal.is_some()
            };
            let report = work(&mut Stop::new(&mut look));
            (report, signal)
        });
        Ok((report?, signal.map(|signal| signal.into_value(py))))
    }

    pub fn receive(py: Python<'_>, options: &[(String, String)]) -> PyResult<Reported> {
        let mut of = ReceiveOptions::default();
        for (option, text) in options {
            of.set(option, text).map_err(input_error)?;
        }
        let receiver = Receiver::new(&of).map_err(input_error)?;
        _ = writeln!(std::io::stderr(), "port {}", receiver.port());
        until_signal(py, |stop| Ok(receiver.run(stop)?.to_json()))
    }

    pub fn send_to(py: Python<'_>, host: &str, options: &[(String, String)]) -> PyResult<Reported> {
        let mut of = SendOptions::default();
        for (option, text) in options {
            of.set(option, text).map_err(input_error)?;
        }
        until_signal(py, |stop| Ok(send(host, &of, stop).map_err(input_error)?.to_json()))
    }
}

#[cfg(not(unix))]
mod unix {
    use pyo3::prelude::*;

    use super::Reported;
    use crate::error::input_error;

    const LACKS: &str = "no sockets for this here: it needs Unix";

    pub fn receive(_: Python<'_>, _: &[(String, String)]) -> PyResult<Reported> {
        Err(input_error(LACKS.to_string()))
    }

    pub fn send_to(_: Python<'_>, _: &str, _: &[(String, String)]) -> PyResult<Reported> {
        Err(input_error(LACKS.to_string()))
    }
}

/// Receives traffic until its end; a report as JSON, and the exception of the signal that has ended it before.
#[pyfunction]
pub(crate) fn load_receive(py: Python<'_>, options: Given) -> PyResult<Reported> {
    unix::receive(py, &options.0)
}

/// Sends traffic to a host; a report as JSON, and the exception of the signal that has ended it before.
#[pyfunction]
pub(crate) fn load_send(py: Python<'_>, host: Host, options: Given) -> PyResult<Reported> {
    unix::send_to(py, &host.0, &options.0)
}
