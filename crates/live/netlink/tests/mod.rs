//! Tests of the module: replies as a kernel would make them, hostile ones, real sequences of counters, and the kernel of this machine.

mod classes;
mod encoder;
mod guard;
mod hostile;
mod kernel;
mod replies;
mod requests;

use super::attributes::Malformed;
use super::messages::{Failure, Reply};

/// Number of nl80211 in the tests.
const FAMILY: u16 = 28;

/// Sequence number in the tests.
const SEQUENCE: u32 = 7;

/// All that datagrams have in reply to a dump; an error unless the reply is complete with the last one.
fn dump<T>(
    datagrams: &[Vec<u8>],
    decode: fn(&[u8]) -> Result<Option<T>, Malformed>,
) -> Result<Vec<T>, Failure> {
    let mut reply = Reply::new(SEQUENCE, FAMILY, true);
    let mut found = Vec::new();
    for (at, datagram) in datagrams.iter().enumerate() {
        let mut each = |payload: &[u8]| {
            found.extend(decode(payload)?);
            Ok(())
        };
        if reply.take(datagram, &mut each)? {
            assert_eq!(at + 1, datagrams.len(), "the reply ends early");
            return Ok(found);
        }
    }
    Err(Failure::TimeOut)
}
