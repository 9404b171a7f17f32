//! Problems that are refused.

use airfair_optimum::{Flow, ProblemBuilder, ProblemError};

fn error(flow: Flow<'_>) -> String {
    let mut builder = ProblemBuilder::new();
    builder.resource(0, 1.0);
    builder.flow(Flow { rank: 9, weight: 1.0, demand: 1.0, costs: &[] });
    builder.flow(flow);
    builder.build().expect_err("a mistake").to_string()
}

#[test]
fn mistakes_are_named() {
    let good = Flow { rank: 1, weight: 1.0, demand: f64::INFINITY, costs: &[(0, 1.0)] };
    assert_eq!(
        error(Flow { weight: 0.0, ..good }),
        "flow 1: weight 0e0; expected a number from 1e-60 to 1e60"
    );
    assert_eq!(
        error(Flow { demand: -2.5, ..good }),
        "flow 1: demand -2.5e0; expected a number from 1e-60 to 1e60, 0 or infinity"
    );
    assert_eq!(
        error(Flow { costs: &[(0, f64::NAN)], ..good }),
        "flow 1: cost NaN; expected a number from 1e-60 to 1e60, or 0"
    );
    assert_eq!(error(Flow { costs: &[(1, 1.0)], ..good }), "flow 1: there is no resource 1");
    assert_eq!(error(Flow { rank: 9, ..good }), "two flows have rank 9; expected different ranks");
    assert_eq!(
        error(Flow { costs: &[(0, 0.0)], ..good }),
        "flow 1 has no limit; expected a finite demand or a cost above 0"
    );
}

#[test]
fn changes_are_checked() {
    let mut builder = ProblemBuilder::new();
    let resource = builder.resource(0, 1.0);
    let free = builder.flow(Flow { rank: 0, weight: 1.0, demand: 3.0, costs: &[] });
    let bound = builder.flow(Flow { rank: 1, weight: 1.0, demand: 3.0, costs: &[(resource, 1.0)] });
    let mut problem = builder.build().expect("complete");
    assert_eq!(problem.set_demand(free, f64::INFINITY), Err(ProblemError::Unlimited { flow: free }));
    assert_eq!(problem.set_demand(bound, f64::INFINITY), Ok(()));
    assert_eq!(problem.set_demand(2, 1.0), Err(ProblemError::NoSuch { of: "flow", index: 2 }));
    assert_eq!(problem.set_capacity(1, 1.0), Err(ProblemError::NoSuch { of: "resource", index: 1 }));
    assert!(matches!(problem.set_capacity(0, -1.0), Err(ProblemError::Number { what: "capacity", .. })));
    assert_eq!(problem.used(resource, &[5.0, 0.25]), 0.25);
}
