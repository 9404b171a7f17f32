//! Runs a scenario and prints what it cost, for a profiler to watch: `bench-run FILE [--scheme NAME] [--seed N]
//! [--idle]`.

use std::process::ExitCode;

use airfair_schemes::find;
use airfair_sim::World;
use airfair_sim::engine::drive;
use airfair_sim::record::FrameKind;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let (mut file, mut scheme, mut seed, mut idle) = (None, None, 1, false);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--seed" => seed = args.next().and_then(|s| s.parse().ok()).unwrap_or(1),
            "--scheme" => scheme = args.next(),
            "--idle" => idle = true,
            _ => file = Some(arg),
        }
    }
    let Some(file) = file else {
        eprintln!("usage: bench-run FILE [--scheme NAME] [--seed N] [--idle]");
        return ExitCode::from(2);
    };
    let mut scenario = match airfair_scenario::read_file(file.as_ref(), &[]) {
        Ok(scenario) => scenario,
        Err(errors) => {
            eprintln!("{errors}");
            return ExitCode::from(2);
        }
    };
    if let Some(scheme) = scheme {
        scenario.scheme = scheme;
    }
    if idle {
        scenario.spec.flows.clear();
    }
    let params = scenario.scheme_params.get(&scenario.scheme).cloned().unwrap_or_default();
    let world = find(&scenario.scheme)
        .ok_or_else(|| "no such scheme".to_string())
        .and_then(|e| (e.build)(&params).map_err(|e| e.to_string()))
        .and_then(|s| World::new(&scenario.spec, &scenario.scheme, s, seed));
    let mut world = match world {
        Ok(world) => world,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    drive::to_end(&mut world);
    let result = world.result();
    let delivered: u64 = result.flows.iter().map(|f| f.delivered_packets).sum();
    let [data, broadcast] = [FrameKind::Data, FrameKind::Broadcast].map(|kind| kind as usize);
    let data: u64 =
        result.stations.iter().map(|at| at.counters.sent[data] + at.counters.sent[broadcast]).sum();
    println!(
        "transmissions {} events {} delivered {} data {} jain {:.3} drops {:?} bytes/station {}",
        result.transmissions,
        result.events,
        delivered,
        data,
        result.jain_index().unwrap_or_default(),
        result.drops,
        world.air().bytes_per_station()
    );
    ExitCode::SUCCESS
}
