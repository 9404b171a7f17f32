//! Which back end for the agenda? Hold model, PHOLD, and a recorded wireless run, ns per pop and push.
//!
//! `bench-queue [FILE]` prints one Markdown table row for each load and back end. Times are wall times of a busy machine:
//! compare within a row, take the best of seven.

#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use airfair_schemes::find;
use airfair_sim::World;
use airfair_sim::engine::{EventQueue, Heap4, StdHeap, Wheel, drive};
use airfair_sim::event::{Event, Order};
use airfair_units::random::{Purpose, Stream};

const REPEATS: usize = 7;

/// The next event of a load: how far ahead of the popped one it lies, ns.
type Ahead<'a> = &'a mut dyn FnMut(&Event) -> u64;

/// Pops and pushes `steps` times with `pending` events pending; ns per step.
fn hold<Q: EventQueue>(pending: usize, steps: usize, ahead: Ahead<'_>) -> f64 {
    let mut queue = Q::default();
    let event = |time, i: usize| Event { time, order: Order::new(5, i as u32).0 | i as u64, ..Event::NONE };
    let zero = event(0, 0);
    for i in 0..pending {
        queue.push(event(ahead(&zero), i));
    }
    let start = Instant::now();
    for i in 0..steps {
        let Some(popped) = queue.pop() else { break };
        queue.push(event(popped.time + ahead(&popped), i));
    }
    let time = start.elapsed();
    black_box(queue.pop());
    time.as_nanos() as f64 / steps as f64
}

/// Replays the pushes and pops of a run.
fn replay<Q: EventQueue>(trace: &[(bool, Event)]) -> f64 {
    let mut queue = Q::default();
    let start = Instant::now();
    for &(push, event) in trace {
        if push {
            queue.push(event);
        } else {
            black_box(queue.pop());
        }
    }
    start.elapsed().as_nanos() as f64 / (trace.len() as f64 / 2.0)
}

fn best(mut run: impl FnMut() -> f64) -> f64 {
    (0..REPEATS).map(|_| run()).fold(f64::INFINITY, f64::min)
}

fn row(name: &str, values: [f64; 3]) {
    println!("| {name} | {:.0} | {:.0} | {:.0} |", values[0], values[1], values[2]);
}

/// The pushes and pops of a whole run of a scenario.
fn record(file: &str) -> Result<Vec<(bool, Event)>, String> {
    let scenario = airfair_scenario::read_file(file.as_ref(), &[]).map_err(|e| e.to_string())?;
    let entry = find(&scenario.scheme).ok_or("no such scheme")?;
    let params = scenario.scheme_params.get(&scenario.scheme).cloned().unwrap_or_default();
    let scheme = (entry.build)(&params).map_err(|e| e.to_string())?;
    let mut world = World::new(&scenario.spec, &scenario.scheme, scheme, 1)?;
    drive::to_end(&mut world);
    Ok(world.take_agenda())
}

fn main() -> ExitCode {
    println!("| load | wheel | 4-ary heap | std heap |\n|---|---|---|---|");
    for pending in [64usize, 1_024, 16_384] {
        // Hold model: exponential distances with a mean of 1 ms per pending event's turn.
        let run = |which: u8| {
            let mut random = Stream::new(1, "hold", Purpose::Gap);
            let mut ahead = |_: &Event| random.exponential(1e6) as u64;
            match which {
                0 => hold::<Wheel>(pending, 1_000_000, &mut ahead),
                1 => hold::<Heap4>(pending, 1_000_000, &mut ahead),
                _ => hold::<StdHeap>(pending, 1_000_000, &mut ahead),
            }
        };
        row(&format!("hold, {pending} pending"), [0, 1, 2].map(|w| best(|| run(w))));
        // PHOLD: a fixed look-ahead and an exponential part, as between logical processes.
        let run = |which: u8| {
            let mut random = Stream::new(1, "phold", Purpose::Gap);
            let mut ahead = |_: &Event| 100_000 + random.exponential(900_000.0) as u64;
            match which {
                0 => hold::<Wheel>(pending, 1_000_000, &mut ahead),
                1 => hold::<Heap4>(pending, 1_000_000, &mut ahead),
                _ => hold::<StdHeap>(pending, 1_000_000, &mut ahead),
            }
        };
        row(&format!("PHOLD, {pending} pending"), [0, 1, 2].map(|w| best(|| run(w))));
    }
    for file in std::env::args().skip(1) {
        match record(&file) {
            Ok(trace) => row(
                &format!("recorded run of {file}"),
                [
                    best(|| replay::<Wheel>(&trace)),
                    best(|| replay::<Heap4>(&trace)),
                    best(|| replay::<StdHeap>(&trace)),
                ],
            ),
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::from(2);
            }
        }
    }
    ExitCode::SUCCESS
}
