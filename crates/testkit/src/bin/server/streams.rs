//! Very many streams of applications, and changes that all of them are told.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lynceus_cluster::Cluster;
use reqwest::Response;
use tokio::sync::mpsc;

use crate::door::{Door, good};
use crate::list::FIELDS;
use crate::report::{Report, median, megabytes, milliseconds};
use crate::{Outcome, Scale, applications, process};

/// How much memory a stream may cost, in bytes.
const STREAM: u64 = 100_000;

/// How long a change may take to the last stream; what takes longer is taken for lost.
const PATIENCE: Duration = Duration::from_secs(60);

/// Opens streams as the page does, changes applications, and prints what that takes.
pub(crate) async fn measure(door: &Door, hand: &Arc<Cluster>, scale: Scale, report: &mut Report) -> Outcome {
    let before = process::memory(door.pid())?;
    let (heard, mut news) = mpsc::unbounded_channel();
    let mut tasks = tokio::task::JoinSet::new();
    let began = Instant::now();
    for _ in 0..scale.streams {
        let stream = opened(door).await?;
        tasks.spawn(listen(stream, heard.clone()));
    }
    report.number(&format!("{} streams, until all are open", scale.streams), &milliseconds(&began.elapsed()));
    let open = report.memory("with the streams open", door)?;
    let each = open.saturating_sub(before) / scale.streams as u64;
    report.bounded("of that for each stream", each, STREAM, megabytes);
    let mut times = Vec::new();
    let computed = process::computed(door.pid())?;
    for round in 0..scale.changes {
        let number = round * 7 % scale.applications;
        let began = Instant::now();
        applications::change(hand, number, round).await?;
        all_told(&mut news, scale.streams, &applications::name(number)).await?;
        times.push(began.elapsed());
    }
    let computed = process::computed(door.pid())?.saturating_sub(computed) / u32::try_from(scale.changes)?;
    report.number("from a change to the last stream that is told", &milliseconds(&median(&mut times)));
    report.number("of that the server computed", &milliseconds(&computed));
    let after = report.memory("after the changes", door)?;
    let each = after.saturating_sub(before) / scale.streams as u64;
    report.bounded("of that for each stream", each, STREAM, megabytes);
    tasks.shutdown().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    report.memory("after the streams", door)?;
    Ok(())
}

/// One stream. It has a connection of its own, as somebody else's would have: HTTP/1.1 does not let two share one.
async fn opened(door: &Door) -> Outcome<Response> {
    let fields = FIELDS.map(|field| format!("application.{field}")).join(",");
    let target = format!("/api/v1/stream/applications?resourceVersion=1&fields=type,{fields}");
    let request = door.get(&target).header("accept", "text/event-stream");
    let mut answer = good(request.send().await?)?;
    answer.chunk().await?;
    Ok(answer)
}

/// Tells of each line that comes.
async fn listen(mut stream: Response, heard: mpsc::UnboundedSender<String>) {
    let mut rest = String::new();
    // A stream that ends early is missed when a change is waited for.
    while let Ok(Some(piece)) = stream.chunk().await {
        rest.push_str(&String::from_utf8_lossy(&piece));
        while let Some(end) = rest.find("\n\n") {
            let line: String = rest.drain(..end + 2).collect();
            if line.starts_with("data:") && heard.send(line).is_err() {
                return;
            }
        }
    }
}

/// Waits until every stream has told of a change.
async fn all_told(news: &mut mpsc::UnboundedReceiver<String>, streams: usize, name: &str) -> Outcome {
    let name = format!("\"name\":\"{name}\"");
    let mut told = 0;
    while told < streams {
        let line = tokio::time::timeout(PATIENCE, news.recv()).await.map_err(|_| {
            format!("{told} of {streams} streams were told of a change within {} s", PATIENCE.as_secs())
        })?;
        told += usize::from(line.ok_or("all streams have ended")?.contains(&name));
    }
    Ok(())
}
