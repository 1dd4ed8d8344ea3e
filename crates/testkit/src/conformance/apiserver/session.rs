//! One file of recordings, sent to one cluster.

use std::collections::{BTreeMap, BTreeSet};

use http_body_util::{BodyExt, Full};
use lynceus_object::{Object, Value, json, value};
use lynceus_sim::attributes::User;
use lynceus_sim::clock::ManualClock;
use lynceus_sim::kinds::Additions;
use lynceus_sim::{Options, Sim};
use tower::ServiceExt;

use super::Replay;
use super::compare::{self, difference};
use super::recording::Recording;

/// What was answered.
struct Answer {
    status: i64,
    text: String,
}

impl Answer {
    fn value(&self) -> Option<Value> {
        json::parse(self.text.as_bytes()).ok()
    }
}

pub(super) struct Session {
    sim: Sim,
    clock: ManualClock,
    /// What the real server called something, and what we call it: uids, versions, continue tokens.
    words: BTreeMap<String, String>,
    /// Collections into which a request that was skipped put something.
    gaps: BTreeSet<String>,
    /// Objects that a request of this file has made.
    made: BTreeSet<String>,
}

impl Session {
    /// Replays a file.
    pub(super) async fn run(name: &str, recordings: &[Recording], replay: &mut Replay) -> Result<(), String> {
        let mut session = Session::start().await?;
        for recording in recordings {
            let case = format!("{name}#{} {} {}", recording.number, recording.method, recording.path);
            if let Some(why) = recording.cannot_be_replayed() {
                if recording.method == "POST" && recording.status == 201 {
                    session.gaps.insert(recording.collection());
                }
                replay.skipped.push((case, why));
                continue;
            }
            session.keep_time_with(recording);
            session.prepare(recording).await;
            let answer = session.send(recording).await;
            session.learn(recording, &answer);
            let outcome = check(recording, &answer);
            let reason = outcome.as_ref().err().and_then(|detail| explain(detail));
            replay.report.count_with(&case, outcome, reason);
            session.sim.settle().await;
        }
        Ok(())
    }

    async fn start() -> Result<Self, String> {
        let clock =
            ManualClock::new("2026-11-15T20:00:00Z".parse().map_err(|error: jiff::Error| error.to_string())?);
        let options = Options {
            clock: Some(clock.clone()),
            seed: Some(1),
            // The recorded server had no ServiceAccount and toleration plugins, no scheduler and no kubelet.
            without_nodes: true,
            additions: Additions { service_account: false, tolerations: false },
            ..Options::default()
        };
        let sim = Sim::start(options).await.map_err(|error| error.to_string())?;
        Ok(Session { sim, clock, words: BTreeMap::new(), gaps: BTreeSet::new(), made: BTreeSet::new() })
    }

    /// Moves the clock to the latest time in an answer, so that managers come in the same order.
    fn keep_time_with(&self, recording: &Recording) {
        if let Some(latest) = recording.answered().as_ref().and_then(compare::latest_time) {
            self.clock.set(latest);
        }
    }

    /// Supplies what is there in the recording because of a request that could not be replayed.
    async fn prepare(&mut self, recording: &Recording) {
        let key = recording.bare_path().to_owned();
        if recording.method == "POST" && recording.status == 409 {
            let name = json::parse(recording.body.as_bytes())
                .ok()
                .and_then(|body| Some(body.str_at(&["metadata", "name"])?.to_owned()));
            let path = format!("{key}/{}", name.unwrap_or_default());
            if !self.made.contains(&path) {
                self.raw(
                    "POST",
                    &key,
                    &recording.content_type,
                    "application/json",
                    recording.body.as_bytes().to_vec(),
                )
                .await;
            }
            return;
        }
        let Some(answer) = recording.answered() else { return };
        if !(200..300).contains(&recording.status) || recording.method == "POST" {
            return;
        }
        if recording.is_collection() {
            let collection = recording.collection();
            for item in answer.items_at(&["items"]) {
                let mut item = item.clone();
                let kind = answer.str_at(&["kind"]).unwrap_or_default().trim_end_matches("List").to_owned();
                if item.str_at(&["kind"]).is_none() {
                    item.set(&["kind"], kind);
                    item.set(&["apiVersion"], answer.str_at(&["apiVersion"]).unwrap_or_default());
                }
                self.supply(&collection, item).await;
            }
            return;
        }
        self.supply(&recording.collection(), answer).await;
    }

    async fn supply(&mut self, collection: &str, object: Value) {
        let Ok(mut object) = Object::new(object) else { return };
        if matches!(object.kind(), "Status" | "Table" | "") || !self.gaps.contains(collection) {
            return;
        }
        let path = format!("{collection}/{}", object.name());
        if self.made.contains(&path)
            || self.raw("GET", &path, "", "application/json", Vec::new()).await.status == 200
        {
            return;
        }
        let managers = object.at(&["metadata", "managedFields"]).cloned();
        for field in ["uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "managedFields"] {
            object.remove(&["metadata", field]);
        }
        self.made.insert(path.clone());
        self.raw("POST", collection, "application/json", "application/json", json::to_vec(object.value()))
            .await;
        if let Some(managers) = managers {
            let patch = value!({"metadata": {"managedFields": managers}});
            let patch_type = "application/merge-patch+json";
            self.raw("PATCH", &path, patch_type, "application/json", json::to_vec(&patch)).await;
        }
    }

    async fn send(&mut self, recording: &Recording) -> Answer {
        let path = self.translate(&recording.path);
        let body = self.translate(&recording.body).into_bytes();
        let accept = if recording.asks_for_protobuf() { "application/json" } else { &recording.accept };
        let answer = self.raw(&recording.method, &path, &recording.content_type, accept, body).await;
        if recording.method == "POST"
            && answer.status == 201
            && let Some(name) = answer.value().as_ref().and_then(|value| value.str_at(&["metadata", "name"]))
        {
            self.made.insert(format!("{}/{name}", recording.bare_path()));
        }
        answer
    }

    async fn raw(&self, method: &str, path: &str, content_type: &str, accept: &str, body: Vec<u8>) -> Answer {
        let mut request = http::Request::builder()
            .method(method)
            .uri(path)
            .header("accept", accept)
            .header("user-agent", "kubectl/v1.33.0");
        if !content_type.is_empty() {
            request = request.header("content-type", content_type);
        }
        let Ok(request) = request.body(Full::new(bytes::Bytes::from(body))) else {
            return Answer { status: 0, text: "the request cannot be sent".to_owned() };
        };
        let Ok(response) = self.sim.service(User::admin()).oneshot(request).await;
        let status = i64::from(response.status().as_u16());
        let Ok(body) = response.into_body().collect().await;
        Answer { status, text: String::from_utf8_lossy(&body.to_bytes()).into_owned() }
    }

    /// Replaces what the real server called things by what we call them.
    fn translate(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for (theirs, ours) in &self.words {
            if out.contains(theirs.as_str()) {
                out = out.replace(theirs.as_str(), ours);
            }
        }
        out
    }

    /// Remembers what the two servers call the same thing.
    fn learn(&mut self, recording: &Recording, answer: &Answer) {
        let (Some(theirs), Some(ours)) = (recording.answered(), answer.value()) else { return };
        self.learn_values(&theirs, &ours);
    }

    fn learn_values(&mut self, theirs: &Value, ours: &Value) {
        let text = |value: &Value, field: &str| value.str_at(&["metadata", field]).map(str::to_owned);
        if let (Some(a), Some(b)) = (text(theirs, "uid"), text(ours, "uid")) {
            self.words.insert(a, b);
        }
        for (field, wrap) in [
            ("resourceVersion", ["\"resourceVersion\":\"", "\""]),
            ("resourceVersion", ["resourceVersion=", ""]),
            ("resourceVersion", ["\"path\":\"/metadata/resourceVersion\",\"value\":\"", "\""]),
            ("continue", ["continue=", ""]),
        ] {
            if let (Some(a), Some(b)) = (text(theirs, field), text(ours, field)) {
                let wrapped = |word: &str| format!("{}{word}{}", wrap[0], wrap[1]);
                self.words.insert(wrapped(&a), wrapped(&b));
            }
        }
        for (a, b) in theirs.items_at(&["items"]).iter().zip(ours.items_at(&["items"])) {
            if a.str_at(&["metadata", "name"]) == b.str_at(&["metadata", "name"]) {
                self.learn_values(a, b);
            }
        }
    }
}

/// Whether the answers agree.
fn check(recording: &Recording, answer: &Answer) -> Result<(), String> {
    if recording.status != answer.status {
        let said: String = answer.text.chars().take(400).collect();
        return Err(format!("status should be {}, is {}: {said}", recording.status, answer.status));
    }
    let Some(theirs) = recording.answered() else {
        // The answer was protobuf that was not kept whole, or plain text.
        let plain = recording.answer_type.starts_with("text/plain");
        return if plain && recording.answer != answer.text {
            Err(format!("should say {:?}, says {:?}", recording.answer, answer.text))
        } else {
            Ok(())
        };
    };
    let Some(ours) = answer.value() else {
        return Err(format!("should be JSON, is {:?}", answer.text.chars().take(200).collect::<String>()));
    };
    difference(&theirs, &ours).map_or(Ok(()), Err)
}

/// Why an answer has to differ, where that is known. The recordings are of 1.33; the embedded cluster follows 1.36.
fn explain(detail: &str) -> Option<&'static str> {
    const HASH: &str = "the hash in the names of ReplicaSets and revisions is our own: the original's covers how its Go \
                        types lie in memory, which every release changes";
    const VALUES: &str = "1.36 shows a list in a message as JSON, 1.33 as Go source";
    let is_named =
        |field: &str| detail.starts_with(field) || detail.contains(&format!(".{field}: should be"));
    if detail.contains("ReplicaSet \\\"") || is_named("currentRevision") || is_named("updateRevision") {
        return Some(HASH);
    }
    detail.contains("[]string{").then_some(VALUES)
}
