//! Changes of a measured gain, as CSV: a line `at_s,gain_db`, then a moment and the new gain on each line.

use airfair_units::{Db, Span};

use crate::declare::field::LONGEST;
use crate::keys::network::GAINS;
use crate::resolve::csv::{Row, RowError, moment};
use crate::text::error::quoted;

/// A change: its time, since the start of the run, and the new gain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ListedChange(pub Span, pub Db);

/// In ascending order of moments, each after the start of the run.
impl Row for ListedChange {
    const HEADER: &'static str = "at_s,gain_db";
    const CONTENT: &'static str = "a moment and a gain";
    const INSTEAD: &'static str = "`changes = [{ at = \"10 s\", gain = \"-95 dB\" }, ...]`";
    /// The period after which the changes are repeated.
    type Bounds = Option<Span>;

    fn read([at, gain]: [&str; 2], last: Option<&Self>, period: Option<Span>) -> Result<Self, RowError> {
        let at = later(at, last.map(|l| l.0), period).map_err(|problem| (Some("at_s"), problem))?;
        let found = gain.parse().map(Db).ok().filter(|found| GAINS.contains(found));
        let expected = || {
            let (least, most) = (GAINS.start().0, GAINS.end().0);
            (Some("gain_db"), format!("{}: expected a number of dB, {least} to {most}", quoted(gain)))
        };
        Ok(Self(at, found.ok_or_else(expected)?))
    }
}

/// A moment after the last and before the end of the period.
fn later(text: &str, last: Option<Span>, period: Option<Span>) -> Result<Span, String> {
    let Some(at) = moment(text) else {
        return Err(format!(
            "{}: expected a number of seconds, more than 0 and at most {}",
            quoted(text),
            LONGEST.as_secs_f64()
        ));
    };
    if let Some(period) = period.filter(|period| at >= *period) {
        return Err(format!(
            "{}: not before the period's end; expected less than {}",
            quoted(text),
            period.as_secs_f64()
        ));
    }
    match last {
        None if at == Span::ZERO => {
            Err(format!("{}: `gain` is the gain of time 0; expected more than 0", quoted(text)))
        }
        Some(last) if at <= last => Err(format!(
            "{}: not after the moment above; expected more than {}, in ascending order",
            quoted(text),
            last.as_secs_f64()
        )),
        _ => Ok(at),
    }
}
