//! Faults, plans, progressive syncs and status: text in, text out.

#![allow(clippy::expect_used, reason = "a test says what it expects")]

mod faults;
mod inventory;
mod plans;
mod rollouts;
mod statuses;

use lynceus_api::{Application, ApplicationSet};
use lynceus_appset::{Answer, Answers, Generation, Need, Outcome, generate};
use lynceus_gotmpl::Environment;
use lynceus_object::{to_typed, yaml};
use serde::de::DeserializeOwned;

struct Still;

impl Environment for Still {
    fn now(&self) -> std::time::Duration {
        std::time::Duration::ZERO
    }

    fn random(&mut self, bytes: &mut [u8]) {
        bytes.fill(0);
    }

    fn host(&mut self) -> &mut dyn std::any::Any {
        self
    }
}

fn read<T: DeserializeOwned>(text: &str) -> T {
    let value = yaml::parse_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    to_typed(&value).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// An ApplicationSet with this spec.
fn set(spec: &str) -> ApplicationSet {
    let mut set: ApplicationSet = read("metadata: {name: set, namespace: argocd, uid: u1}\nspec: {}");
    set.spec = read(spec);
    set
}

/// An ApplicationSet of a list with these names, and the rest of its spec.
fn listed(names: &[&str], rest: &str) -> ApplicationSet {
    let elements: Vec<String> = names.iter().map(|name| format!("{{name: {name}}}")).collect();
    let template = "template: {metadata: {name: '{{name}}', labels: {env: '{{name}}'}}, spec: {project: default, source: {repoURL: r, path: p}, destination: {name: in-cluster}}}";
    set(&format!("generators: [{{list: {{elements: [{}]}}}}]\n{template}\n{rest}", elements.join(", ")))
}

/// What is generated when every need is answered alike.
fn generated(set: &ApplicationSet, answer: impl Fn(&Need) -> Answer) -> Generation {
    let mut answers = Answers::new();
    for _ in 0..10 {
        match generate(set, &answers, &mut Still) {
            Outcome::Needs(needs) => needs.iter().for_each(|need| answers.give(need, answer(need))),
            Outcome::Done(generation) => return generation,
        }
    }
    panic!("it needs more and more")
}

fn nothing(need: &Need) -> Answer {
    Answer::Failed(format!("{need} is not there in this test"))
}

/// The Applications that the cluster would have once a set was carried out.
fn applied(set: &ApplicationSet) -> Vec<Application> {
    let mut apps: Vec<Application> =
        generated(set, nothing).applications.into_iter().map(|one| one.application).collect();
    for app in &mut apps {
        app.metadata.owner_references = vec![read(
            "{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, name: set, uid: u1, controller: true, blockOwnerDeletion: true}",
        )];
    }
    apps
}

/// Compares without regard to the lines' indentation in the test.
fn check(told: &str, expected: &str) {
    let lines = |text: &str| {
        text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(lines(told), lines(expected));
}
