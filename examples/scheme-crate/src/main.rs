//! Runs a scenario with `capped` among the schemes, and prints what each flow got: `capped FILE [PATH=VALUE]...`

use std::error::Error;
use std::process::ExitCode;

use airfair_scenario::{Override, Reader};
use airfair_schemes::Registry;
use airfair_sim::World;
use airfair_sim::engine::drive;

fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("usage: capped FILE [PATH=VALUE]...")?;
    let overrides = arguments.map(|text| Override::parse(&text)).collect::<Result<Vec<_>, _>>()?;

    let schemes = Registry::built_in().clone().with(capped::entry())?;
    let scenario = Reader::with_schemes(&schemes).file(file.as_ref(), &overrides)?;
    for warning in &scenario.warnings {
        eprintln!("warning: {warning}");
    }

    // The reader has found the scheme and completed its parameters.
    let entry = schemes.find(&scenario.scheme).ok_or("no such scheme")?;
    let params = scenario.scheme_params.get(entry.name).cloned().unwrap_or_default();
    let scheme = (entry.build)(&params)?;
    let mut world = World::with_schemes(&scenario.spec, entry.name, scheme, 1, &schemes)?;
    drive::to_end(&mut world);

    let result = world.result();
    for flow in &result.flows {
        println!("{}: {:.1} kbit/s", flow.id, flow.goodput_bps / 1000.0);
    }
    let jain_index = result.jain_index().map_or("-".to_string(), |index| format!("{index:.3}"));
    println!("Jain's index {jain_index}, drops {:?}", result.drops);
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
