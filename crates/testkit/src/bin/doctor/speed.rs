//! How long the doctor looks at many applications.

use std::io::Write as _;
use std::time::{Duration, Instant};

use lynceus_doctor::examine;

use super::Outcome;
use super::fleet::{Shape, fleet};

const SIZES: [usize; 3] = [200, 2_000, 20_000];
/// For a build that is not optimised.
const SHORT: [usize; 3] = [20, 200, 2_000];
/// How long it may take for the smallest.
const LIMIT: Duration = Duration::from_secs(1);
/// How much more than ten times as long it may take for ten times as many: caches of the machine are not as large as all.
const GROWTH: f64 = 2.5;
/// How often each is measured.
const TRIES: usize = 3;
/// What is shorter than this is not measured well enough to be compared.
const LEAST: Duration = Duration::from_millis(20);

pub(super) fn measure(is_short: bool) -> Outcome {
    let sizes = if is_short { SHORT } else { SIZES };
    println!(
        "\n| examine | {} |\n|---|---|---|---|",
        sizes.map(|size| format!("{size} applications")).join(" | ")
    );
    let mut complaints = Vec::new();
    for shape in [Shape::Mixed, Shape::OneConfigMap, Shape::Waves, Shape::EachItsOwn] {
        print!("| {shape} |");
        let times = sizes.map(|size| time(shape, size));
        println!();
        if times[0] > LIMIT {
            complaints.push(format!("{shape}: {} applications take {:.1?}", sizes[0], times[0]));
        }
        for pair in times.windows(2) {
            let growth = pair[1].as_secs_f64() / pair[0].max(LEAST).as_secs_f64() / 10.0;
            if growth > GROWTH {
                complaints
                    .push(format!("{shape}: ten times as many take {:.1?} after {:.1?}", pair[1], pair[0]));
            }
        }
    }
    if complaints.is_empty() { Ok(()) } else { Err(complaints.join("; ").into()) }
}

/// The shortest of some tries: others on the same machine empty its caches.
fn time(shape: Shape, size: usize) -> Duration {
    let snapshot = fleet(shape, size);
    let once = |_| {
        let (began, before) = (Instant::now(), worked());
        let found = examine(&snapshot);
        // What others do meanwhile does not count.
        let took = worked().zip(before).map_or(began.elapsed(), |(now, before)| now.saturating_sub(before));
        assert_eq!(found.totals.applications, size + 1, "all of them are counted");
        took
    };
    let least = (0..TRIES).map(once).min().unwrap_or_default();
    print!(" {least:.1?} |");
    let _ = std::io::stdout().flush();
    least
}

/// How long a core has worked for this thread, where the system tells.
fn worked() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
