//! One file of recordings, sent to one cluster.

use std::collections::{BTreeMap, BTreeSet};

use http_body_util::{BodyExt, Full};
use lynceus_object::{Object, Value, json, value};
use lynceus_sim::attributes::User;
use lynceus_sim::clock::ManualClock;
use lynceus_sim::kinds::Additions;
use lynceus_sim::{Options, Sim};
use tower::ServiceExt;

use super::compare::{self, difference};
use super::recording::Recording;
use super::{Report, names};

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
    /// What the real server called something, and what we call it: uids, versions, names, continue tokens.
    words: BTreeMap<String, String>,
    /// Objects that a request of this file has made.
    made: BTreeSet<String>,
    /// Objects that were made by a request that could not be replayed, and that no later answer shows.
    lost: BTreeSet<String>,
}

impl Session {
    /// Replays a file.
    pub(super) async fn run(name: &str, recordings: &[Recording], report: &mut Report) -> Result<(), String> {
        let mut session = Session::start().await?;
        session.supply_earlier_namespaces(recordings).await;
        for (at, recording) in recordings.iter().enumerate() {
            let case = format!("{name}#{} {} {}", recording.number, recording.method, recording.path);
            session.keep_time_with(recording);
            if let Some(why) = recording.cannot_be_replayed() {
                if recording.creates() {
                    session.supply_what_was_made(recording, &recordings[at + 1..]).await;
                }
                *report.skipped.entry(why).or_default() += 1;
                continue;
            }
            if session.lost.contains(recording.bare_path()) {
                *report.skipped.entry("it asks for an object of a request that lost bytes").or_default() += 1;
                continue;
            }
            session.supply_rival(recording).await;
            let (answer, outcome) = session.ask(recording).await;
            session.learn(recording, &answer);
            let reason = outcome.as_ref().err().and_then(|detail| explain(recording, detail));
            report.count_with(&case, outcome, reason);
        }
        Ok(())
    }

    async fn start() -> Result<Self, String> {
        let clock =
            ManualClock::new("2026-11-15T20:00:00Z".parse().map_err(|error: jiff::Error| error.to_string())?);
        let options = Options {
            clock: Some(clock.clone()),
            seed: Some(1),
            // The recorded server had few admission plugins, no scheduler and no kubelet.
            without_nodes: true,
            additions: Additions { service_account: false, tolerations: false, protection: false },
            ..Options::default()
        };
        let sim = Sim::start(options).await.map_err(|error| error.to_string())?;
        let (words, made, lost) = Default::default();
        Ok(Session { sim, clock, words, made, lost })
    }

    /// Moves the clock to the latest time in an answer, so that managers come in the same order.
    fn keep_time_with(&self, recording: &Recording) {
        if let Some(latest) = recording.answered().as_ref().and_then(compare::latest_time) {
            self.clock.set(latest);
        }
    }

    /// Sends a request and compares the answers. The real controllers ran beside the requests, so that a read may
    /// have come at any moment of their work: it is repeated from one moment to the next until the answers agree.
    async fn ask(&mut self, recording: &Recording) -> (Answer, Result<(), String>) {
        if recording.method != "GET" {
            self.sim.settle().await;
            let answer = self.send(recording).await;
            let outcome = check(recording, &answer);
            return (answer, outcome);
        }
        loop {
            let answer = self.send(recording).await;
            let outcome = check(recording, &answer);
            if outcome.is_ok() || !self.sim.step().await {
                return (answer, outcome);
            }
        }
    }

    /// Namespaces that files before this one left behind.
    async fn supply_earlier_namespaces(&mut self, recordings: &[Recording]) {
        const NAMESPACES: &str = "/api/v1/namespaces";
        let makers: Vec<&Recording> = recordings
            .iter()
            .filter(|recording| recording.method == "POST" && recording.bare_path() == NAMESPACES)
            .collect();
        for recording in recordings.iter().filter(|recording| recording.bare_path() == NAMESPACES) {
            let listed = recording.objects().into_iter().map(|(namespace, _)| namespace);
            for namespace in listed.chain(recording.rows("v1", "Namespace")) {
                if !makers.iter().any(|maker| maker.body.contains(namespace.name())) {
                    self.supply(NAMESPACES, namespace).await;
                }
            }
        }
    }

    /// Supplies the object of a request that could not be replayed, as a later answer shows it.
    async fn supply_what_was_made(&mut self, maker: &Recording, later: &[Recording]) {
        let collection = maker.collection();
        let shown = later.iter().flat_map(Recording::objects).find(|(object, within)| {
            *within == collection && !object.uid().is_empty() && maker.answer.contains(object.uid())
        });
        if let Some((object, _)) = shown {
            self.supply(&collection, object).await;
            return;
        }
        let names = later.iter().filter_map(|recording| recording.name_within(&collection));
        let Some(name) = names.into_iter().find(|name| maker.body.contains(name)) else { return };
        if collection == "/api/v1/namespaces" {
            let namespace = value!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
            self.post(&collection, &namespace).await;
        } else {
            self.lost.insert(format!("{collection}/{name}"));
        }
    }

    /// Supplies what a create that was refused ran into, if nobody has made it yet.
    async fn supply_rival(&mut self, recording: &Recording) {
        if recording.method != "POST" || recording.status != 409 {
            return;
        }
        let Ok(body) = json::parse(recording.body.as_bytes()) else { return };
        let path =
            format!("{}/{}", recording.bare_path(), body.str_at(&["metadata", "name"]).unwrap_or_default());
        if !self.made.contains(&path) {
            self.post(recording.bare_path(), &body).await;
        }
    }

    async fn supply(&mut self, collection: &str, mut object: Object) {
        let path = format!("{collection}/{}", object.name());
        if self.raw("GET", &path, "", "application/json", Vec::new()).await.status == 200 {
            return;
        }
        let theirs = object.uid().to_owned();
        let managers = object.at(&["metadata", "managedFields"]).cloned();
        const SERVERS: [&str; 7] = [
            "uid",
            "resourceVersion",
            "creationTimestamp",
            "deletionTimestamp",
            "managedFields",
            "finalizers",
            "generation",
        ];
        for field in SERVERS {
            object.remove(&["metadata", field]);
        }
        if object.kind() == "Job" {
            // They name the uid that the object is about to be given.
            object.remove(&["spec", "selector"]);
            object.remove(&["spec", "template", "metadata", "labels"]);
            object.remove(&["metadata", "labels"]);
        }
        self.made.insert(path.clone());
        self.sim.settle().await;
        let made = self.post(collection, object.value()).await;
        if let Some(ours) = made.value().as_ref().and_then(|made| made.str_at(&["metadata", "uid"])) {
            self.words.insert(theirs, ours.to_owned());
        }
        if let Some(managers) = managers {
            let patch = value!({"metadata": {"managedFields": managers}});
            let patch_type = "application/merge-patch+json";
            self.raw("PATCH", &path, patch_type, "application/json", json::to_vec(&patch)).await;
        }
    }

    async fn post(&self, collection: &str, object: &Value) -> Answer {
        let body = self.translate(&json::to_string(object)).into_bytes();
        self.raw("POST", collection, "application/json", "application/json", body).await
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
        let mut words: Vec<_> = self.words.iter().collect();
        // Names are made by adding to names: the whole comes before its parts.
        words.sort_by_key(|(theirs, _)| std::cmp::Reverse(theirs.len()));
        for (theirs, ours) in words {
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
        self.words.extend(names::pairs(&theirs, &ours));
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
        for (a, b) in compare::twins(theirs, ours) {
            self.learn_values(a, b);
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
fn explain(recording: &Recording, detail: &str) -> Option<&'static str> {
    let gone_at_once = recording.status == 200 && detail.starts_with("status should be 200, is 404");
    if gone_at_once && recording.path.contains("/customresourcedefinitions/") {
        return Some(
            "a definition that is deleted goes at once, with all its objects; the original needs a moment",
        );
    }
    let is_longer =
        [".metadata.remainingItemCount: ", ".rows: should have "].iter().any(|part| detail.starts_with(part));
    if recording.path.contains("/clusterroles?") && is_longer {
        return Some("1.36 has more stock roles than 1.33");
    }
    if recording.path.contains("/certificatesigningrequests") && detail.starts_with(".spec.") {
        return Some("who asked is not in the recording");
    }
    if detail.contains("should be \"Created new replica set") && detail.contains("is progressing") {
        return Some("the original says one or the other, depending on which of its controllers is faster");
    }
    let early = detail.starts_with("status should be 429, is 200");
    if early || recording.is_discovery() && detail.starts_with(".resources[") {
        return Some("a definition is served at once; the original needs a moment, and says so");
    }
    if recording.path.ends_with("/services/kubernetes") && detail.contains("targetPort") {
        return Some("the recorded server listened on another port");
    }
    let as_source = ["[]string{", "map[string]string{"].iter().any(|form| detail.contains(form));
    as_source.then_some("1.36 shows a list or map in a message as JSON, 1.33 as Go source")
}
