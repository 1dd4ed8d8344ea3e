//! The example of two hundred applications: is what is found what is wrong, and how long does that take?

use std::time::{Duration, Instant};

use lynceus_doctor::{Severity, examine, report};
use lynceus_testkit::example::Example;

use super::{Outcome, runtime};

/// How long looking at it may take, once it is played.
const LIMIT: Duration = Duration::from_secs(1);

/// Plays an example and holds what is found against its `causes.yaml`; `is_told` prints the report as well.
pub(super) fn judge(name: &str, is_told: bool) -> Outcome {
    let example = Example::open(name)?;
    let began = Instant::now();
    let snapshot = runtime()?.block_on(async {
        let played = example.play().await?;
        println!("\n| the example {name} | |\n|---|---|\n| rehearsed in | {:.1?} |", began.elapsed());
        Outcome::Ok(played.snapshot().await)
    })?;
    let began = Instant::now();
    let found = examine(&snapshot);
    let took = began.elapsed();
    let totals = &found.totals;
    let serious = found.roots.iter().filter(|root| root.severity < Severity::P3).count();
    println!("| examined in | {took:.1?} |");
    println!(
        "| applications, not fine, not explained | {}, {}, {} |",
        totals.applications,
        totals.applications - totals.fine,
        found.unexplained.len()
    );
    println!("| root causes, slips named by `causes.yaml` | {serious}, {} |", example.causes.len());
    if is_told {
        println!("\n{}", report::text(&found));
    }
    let mut wrong = example.judge(&found);
    if took > LIMIT && !cfg!(debug_assertions) {
        wrong.push(format!("looking at {name} takes {took:.1?}"));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}
