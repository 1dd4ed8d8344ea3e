//! What the pods of an application print.

use std::sync::Arc;

use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use lynceus_cluster::{Cluster, Log, LogOptions};
use lynceus_object::{Object, Value, value};
use regex::Regex;

use crate::call::{Answer, Answered, Call};
use crate::limits;
use crate::refusal::{Code, Refusal};
use crate::rights::Resource;

/// The lines of one pod, or of all pods below one object or below the whole application.
pub(super) async fn logs(call: Call) -> Answered {
    let application = call.application_may("get", "name")?;
    call.caller.need(Resource::Logs, "get", &call.application_object(&application))?;
    let (cluster, pods) = pods(&call).await?;
    if pods.len() > limits::LOG_STREAMS {
        let message =
            format!("{} pods are meant, and at most {} can be read at once", pods.len(), limits::LOG_STREAMS);
        return Err(Refusal::new(Code::InvalidArgument, message));
    }
    let filter = Filter::of(call.text("filter"), call.flag("matchCase"))?;
    let options = options(&call);
    // Every entry has a time, also where a line has none.
    let now = call.server.engine.clock().now().to_string();
    let mut opened: Vec<BoxStream<'static, Value>> = Vec::new();
    for pod in &pods {
        match cluster.log(pod.namespace(), pod.name(), &options).await {
            Ok(log) => opened.push(lines(log, pod.name().to_owned(), now.clone())),
            // Of several, one that has not begun yet has nothing to say, and the others have.
            Err(_) if pods.len() > 1 => {}
            Err(error) => return Err(error.into()),
        }
    }
    let filtered = stream::select_all(opened).filter(move |entry| {
        let keep = filter.keeps(entry.str_at(&["content"]).unwrap_or_default());
        async move { keep }
    });
    // The last entry says that there is nothing more.
    let mut last = entry("", "", &now);
    last.set(&["last"], true);
    let last = stream::once(async { last });
    Ok(Answer::Many(filtered.chain(last).map(Ok).boxed()))
}

/// The pods that are meant.
async fn pods(call: &Call) -> Result<(Arc<Cluster>, Vec<Object>), Refusal> {
    let application = call.application("get", "name")?;
    let engine = &call.server.engine;
    let belongings = engine.belongings(&application).await;
    let belongings =
        belongings.map_err(|_| Refusal::new(Code::FailedPrecondition, "its objects cannot be read"))?;
    let pod = call.text("podName");
    let below: Vec<Object> = match call.text("resourceName").is_empty() {
        true => belongings.objects.iter().map(|one| one.object.clone()).collect(),
        false => {
            let root = belongings.objects.iter().find(|one| is_root(call, &one.object));
            let root = root.ok_or_else(|| Refusal::invalid("no such object is part of the application"))?;
            let nodes = lynceus_cluster::tree(belongings.cluster.cache(), [root.object.clone()]);
            nodes.into_iter().map(|node| node.object).collect()
        }
    };
    let is_meant = |object: &Object| {
        object.kind() == "Pod" && object.group().is_empty() && (pod.is_empty() || object.name() == pod)
    };
    let mut found: Vec<Object> = below.into_iter().filter(is_meant).collect();
    // The name of a pod may be there in several namespaces.
    if !pod.is_empty() && !call.text("namespace").is_empty() {
        found.retain(|object| object.namespace() == call.text("namespace"));
    }
    match found.is_empty() && !pod.is_empty() {
        true => Err(Refusal::not_found(format!("pod {pod} is not part of the application"))),
        false => Ok((belongings.cluster.clone(), found)),
    }
}

/// Whether an object is the one whose pods are meant. What is not said of it may be anything.
fn is_root(call: &Call, object: &Object) -> bool {
    let is = |field: &str, text: &str| call.text(field).is_empty() || call.text(field) == text;
    object.name() == call.text("resourceName")
        && is("group", object.group())
        && is("kind", object.kind())
        && is("namespace", object.namespace())
}

fn options(call: &Call) -> LogOptions {
    let positive = |field: &str| call.request.int_at(&[field]).filter(|number| *number > 0);
    LogOptions {
        container: call.text("container").to_owned(),
        follow: call.flag("follow"),
        previous: call.flag("previous"),
        tail: positive("tailLines"),
        since_seconds: positive("sinceSeconds"),
        since_time: call.text("sinceTime").to_owned(),
    }
}

fn lines(log: Log, pod: String, now: String) -> BoxStream<'static, Value> {
    stream::unfold((log, pod, now), |(mut log, pod, now)| async move {
        let line = log.next().await?;
        let entry = entry(&line, &pod, &now);
        Some((entry, (log, pod, now)))
    })
    .boxed()
}

/// A line, which begins with its time.
fn entry(line: &str, pod: &str, now: &str) -> Value {
    let (time, content) = match line.split_once(' ') {
        Some((time, content)) if time.parse::<jiff::Timestamp>().is_ok() => (time, content),
        _ if line.parse::<jiff::Timestamp>().is_ok() => (line, ""),
        _ => ("", line),
    };
    let stamp = if time.is_empty() { now } else { time };
    value!({"content": content, "timeStamp": stamp, "timeStampStr": time, "podName": pod, "last": false})
}

/// Which lines are sent: those with a text, or with `!` those without; a regular expression where it is one.
struct Filter {
    wanted: Option<Regex>,
    without: bool,
}

impl Filter {
    fn of(text: &str, match_case: bool) -> Result<Self, Refusal> {
        let (without, text) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
        if text.is_empty() {
            return Ok(Filter { wanted: None, without });
        }
        let case = if match_case { "" } else { "(?i)" };
        let wanted = Regex::new(&format!("{case}{text}"))
            .or_else(|_| Regex::new(&format!("{case}{}", regex::escape(text))))
            .map_err(|error| Refusal::invalid(format!("the filter cannot be used: {error}")))?;
        Ok(Filter { wanted: Some(wanted), without })
    }

    fn keeps(&self, line: &str) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| wanted.is_match(line) != self.without)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::json;

    #[test]
    fn a_line_is_time_and_text() {
        let shown = |line| json::to_string(&entry(line, "web", "2026-01-01T00:00:00Z"));
        assert_eq!(
            shown("2026-01-02T03:04:05.000000001Z hello  world"),
            r#"{"content":"hello  world","last":false,"podName":"web","timeStamp":"2026-01-02T03:04:05.000000001Z","timeStampStr":"2026-01-02T03:04:05.000000001Z"}"#
        );
        assert_eq!(
            shown("no time"),
            r#"{"content":"no time","last":false,"podName":"web","timeStamp":"2026-01-01T00:00:00Z","timeStampStr":""}"#
        );
    }

    #[test]
    fn lines_are_filtered_by_text_and_without_it() {
        let keeps =
            |filter: &str, line: &str| Filter::of(filter, false).is_ok_and(|filter| filter.keeps(line));
        assert!(
            keeps("", "anything")
                && keeps("ERR", "an error")
                && !keeps("!ERR", "an error")
                && keeps("a(", "a(b")
        );
    }
}
