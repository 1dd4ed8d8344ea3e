//! The list of all applications, in the ways in which it is asked for.

use std::time::{Duration, Instant};

use crate::door::{Door, good};
use crate::report::{Report, median, megabytes, milliseconds};
use crate::{Outcome, Scale, process};

/// How soon the first page has to be there.
const FIRST_PAGE: Duration = Duration::from_millis(50);

/// How much may go over the wire, in bytes.
const WIRE: u64 = 1_000_000;

/// What the page asks for of each application.
pub(crate) const FIELDS: [&str; 17] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.labels",
    "metadata.resourceVersion",
    "metadata.creationTimestamp",
    "spec.project",
    "spec.destination",
    "spec.syncPolicy.automated",
    "spec.source.repoURL",
    "spec.source.path",
    "spec.source.targetRevision",
    "status.sync.status",
    "status.sync.revision",
    "status.health",
    "status.reconciledAt",
    "status.operationState.phase",
    "status.operationState.finishedAt",
];

/// Asks for it, and prints how long it took and how much came.
pub(crate) async fn measure(door: &Door, scale: Scale, report: &mut Report) -> Outcome {
    let fields = FIELDS.map(|field| format!("items.{field}")).join(",");
    let listed = format!("/api/v1/applications?fields=metadata.resourceVersion,{fields}");
    let page = asked(door, &format!("{listed}&limit=100"), scale.rounds).await?;
    report.bounded("the first page of a hundred", page.time, FIRST_PAGE, milliseconds);
    report.bounded("of that on the wire", page.wire, WIRE, megabytes);
    report.number("of that the server computed", &milliseconds(&page.computed));
    let all = asked(door, &listed, scale.rounds).await?;
    report.number("all of them, as the page asks for them", &milliseconds(&all.time));
    report.bounded("of that on the wire", all.wire, WIRE, megabytes);
    report.number("of that the server computed", &milliseconds(&all.computed));
    let whole = asked(door, "/api/v1/applications", scale.rounds.div_ceil(5)).await?;
    report.number("all of them with every field, as programs ask for them", &milliseconds(&whole.time));
    report.number("of that on the wire", &megabytes(&whole.wire));
    report.number("of that the server computed", &milliseconds(&whole.computed));
    Ok(())
}

/// What a list took.
struct Asked {
    time: Duration,
    computed: Duration,
    wire: u64,
}

/// Asks so often; the median of the times.
async fn asked(door: &Door, target: &str, rounds: usize) -> Outcome<Asked> {
    let (mut times, mut wire) = (Vec::new(), 0);
    let before = process::computed(door.pid())?;
    for _ in 0..rounds {
        let began = Instant::now();
        let answer = good(door.get(target).header("accept-encoding", "gzip").send().await?)?;
        wire = answer.bytes().await?.len() as u64;
        times.push(began.elapsed());
    }
    let computed = process::computed(door.pid())?.saturating_sub(before) / u32::try_from(rounds.max(1))?;
    Ok(Asked { time: median(&mut times), computed, wire })
}
