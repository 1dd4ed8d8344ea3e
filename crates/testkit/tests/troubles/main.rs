//! Every trouble that the doctor has to know, made on the embedded cluster: one file each in `crates/testkit/troubles`, whose README
//! says which is which.
//!
//! A file has what is played, and by hand which causes there are and which of their fixes heal. The test adds what the doctor
//! says, what each fix changes and what comes of it; with `LYNCEUS_BLESS=1` it writes that into the file, to be read before it is
//! believed. Fixes take most of the time, so they are tried with `LYNCEUS_FIXES=1` only, as `.ci/run --full` does.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

mod away;
mod fed;
mod performance;
mod scenario;

use std::collections::BTreeSet;
use std::error::Error;
use std::path::PathBuf;

use lynceus_doctor::{Examination, Finding, Root, Severity, Step, report};
use lynceus_engine::patch_of;

use performance::Performance;
use scenario::{Scenario, Variant};

macro_rules! troubles {
    ($($name:ident)*) => {
        $(#[test] fn $name() { check(stringify!($name)); })*

        #[test]
        fn every_file_is_played() {
            let played: BTreeSet<String> = [$(stringify!($name).replace('_', "-")),*].into();
            let written = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
            let written = written.filter(|path| path.extension().is_some_and(|end| end == "txt"));
            let written: BTreeSet<String> =
                written.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
            assert_eq!(played, written);
        }
    };
}

troubles! {
    account_by_option
    application_skipped
    blocked_kind
    chance
    claim_holds_wave
    claim_unused
    class_missing
    config_map_nowhere
    controller_behind
    empty_tag
    empty_tag_quoted
    empty_value
    feature_branch
    health_blocks_wave
    hook_endless
    hook_forbidden
    hook_never_started
    hook_outdated
    host_nowhere
    host_waited_for
    hosts_misspelt
    ignore_idle
    ignore_wide
    image_not_built
    image_platform
    image_pull_secret
    image_tag
    immutable_field
    ingress_late
    ingress_unnamed
    ingress_unnamed_of_two
    job_forbidden
    job_vanishes
    key_missing
    kind_excluded
    kind_skipped
    manual_sync
    mass_deletion
    missing_kind
    names_assumed
    namespace_missing
    namespace_unset
    no_room
    no_room_inline
    node_selector
    operation_stuck
    operator_field
    option_misspelt
    option_off
    option_off_inline
    option_off_neighbour
    option_off_subchart
    option_off_word
    orphaned_application
    orphaned_resources
    other_repository
    outdated_daemon
    outdated_parallel_pods
    outdated_pods
    overlays_crash
    overlays_crash_each
    overlays_inherit
    overlays_lack_account
    patch_fails
    patch_idle
    path_missing
    port_asked
    port_missing
    provisioner_fails
    rendering_fails
    replicas_zero
    retry_exhausted
    revision_gone
    role_nowhere
    scale_target_nowhere
    secret_by_coalesce
    secret_by_condition
    secret_by_default
    secret_nowhere
    secret_of_a_template
    secret_of_each
    secret_of_some
    security_container
    security_emptied
    security_init_container
    security_overridden
    security_pod
    security_removed
    selector_label
    selector_slip
    service_account_nowhere
    service_nowhere
    set_broken
    set_deletions_held
    set_name_twice
    set_no_step
    set_project_nowhere
    set_project_parameter
    set_reverts
    shared_file
    shared_resource
    shared_value_nowhere
    storage_class_missing
    store_namespace_missing
    store_refused
    store_service_missing
    store_unreachable
    taint
    taint_literal
    taint_values
    target_port
    text_unquoted
    tolerations_emptied
    tolerations_left_out
    umbrella
    umbrella_nested
    umbrella_recursing
    unexposed
    value_file
    value_file_class
    value_file_passed_over
    vault_sealed
    volume_limit
    waits_in_circle
    wave_order
    waves_in_circle
    waves_to_come
    webhook_field
    window_closed
    wrong_credentials
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("troubles")
}

fn check(name: &str) {
    let path = folder().join(format!("{}.txt", name.replace('_', "-")));
    let scenario = Scenario::read(&std::fs::read_to_string(&path).unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let outcome = runtime.block_on(Outcome::of(&scenario));
    let is_blessed = std::env::var_os("LYNCEUS_BLESS").is_some();
    if is_blessed {
        std::fs::write(&path, format!("{}{}", scenario.given, outcome.text)).unwrap();
    }
    assert_eq!(outcome.wrong, Vec::<String>::new(), "{name}:\n{}", outcome.text);
    // What was not written down yet is held to what is told by hand alone.
    if !is_blessed && !scenario.found.is_empty() {
        let written = nameless(&tried(&scenario.found));
        assert_eq!(nameless(&outcome.text), written, "{name}: what is found is on the left");
    }
}

/// Whether fixes are tried, too.
fn is_thorough() -> bool {
    ["LYNCEUS_FIXES", "LYNCEUS_BLESS"].iter().any(|name| std::env::var_os(name).is_some())
}

/// A text in which names that a server made up are all the same: who is first to ask for one differs from run to run.
fn nameless(text: &str) -> String {
    const ALPHABET: &str = "bcdfghjklmnpqrstvwxz2456789";
    let is_made_up = |word: &str| word.len() == 5 && word.chars().all(|sign| ALPHABET.contains(sign));
    let mut out = String::new();
    for (place, part) in text.split('-').enumerate() {
        let end = part.find(|sign: char| !sign.is_ascii_alphanumeric()).unwrap_or(part.len());
        let (word, rest) = part.split_at(end);
        if place > 0 {
            out.push('-');
        }
        out.push_str(if place > 0 && is_made_up(word) { "*****" } else { word });
        out.push_str(rest);
    }
    out
}

/// What is written down of what is tried.
fn tried(found: &str) -> String {
    let is_fix = |title: &str| title.starts_with("fix ") || title.starts_with("by hand: ");
    let mut is_kept = true;
    let mut out = String::new();
    for line in found.split_inclusive('\n') {
        if let Some(title) = line.strip_prefix("== ") {
            is_kept = is_thorough() || !is_fix(title);
        }
        if is_kept {
            out.push_str(line);
        }
    }
    out
}

/// What came of a scenario.
#[derive(Default)]
struct Outcome {
    text: String,
    /// What is not as the file says by hand.
    wrong: Vec<String>,
}

impl Outcome {
    async fn of(scenario: &Scenario) -> Self {
        let mut outcome = Outcome::default();
        let played = Performance::of(&scenario.setting).await;
        let found = played.examine(scenario.is_folded).await;
        outcome.say("== found", &told(&found));
        let roots: Vec<String> = causes(&found).map(|root| root.id.clone()).collect();
        outcome.expect("the causes", &scenario.roots, &roots);
        if is_thorough() {
            outcome.mend(scenario, &played, &found).await;
        }
        let known: Vec<String> = findings(&found).map(|finding| finding.code.to_owned()).collect();
        let missed = scenario.codes.iter().filter(|code| !known.contains(code));
        outcome.wrong.extend(missed.map(|code| format!("{code} is not found")));
        let codes = match scenario.codes.as_slice() {
            [] => causes(&found).map(|root| root.finding.code.to_owned()).collect(),
            codes => codes.to_vec(),
        };
        for variant in &scenario.near_misses {
            outcome.vary("near miss", variant, &codes).await;
        }
        outcome
    }

    /// Tries every fix, and what a person would do.
    async fn mend(&mut self, scenario: &Scenario, played: &Performance, found: &Examination) {
        let roots: Vec<String> = causes(found).map(|root| root.id.clone()).collect();
        let mut healing = Vec::new();
        for root in causes(found) {
            for (place, fix) in root.finding.fixes.iter().enumerate() {
                if fix.steps.iter().all(|step| matches!(step, Step::Person(_))) {
                    continue;
                }
                let name = format!("{} of {}", place + 1, root.id);
                let title = format!("== fix {name}: {}", fix.title);
                match played.mend(fix).await {
                    Ok(changes) => {
                        let after = Performance::mended(&scenario.setting, &changes, &fix.steps).await;
                        let table = compared(played, &after);
                        if after.is_fine() {
                            healing.push(if roots.len() == 1 { format!("{}", place + 1) } else { name });
                        }
                        self.say(&title, &format!("{}{table}", patch_of(&changes)));
                    }
                    Err(error) => self.say(&title, &format!("cannot be written: {}\n", words(&error))),
                }
            }
        }
        self.expect("the fixes that heal", &scenario.heals, &healing);
        for variant in &scenario.by_hand {
            self.vary("by hand", variant, &[]).await;
        }
    }

    fn say(&mut self, title: &str, text: &str) {
        self.text.push_str(&format!("{title}\n{text}"));
    }

    fn expect(&mut self, what: &str, wanted: &[String], found: &[String]) {
        let set = |all: &[String]| all.iter().cloned().collect::<BTreeSet<String>>();
        if set(wanted) != set(found) {
            self.wrong.push(format!("{what}: {} are wanted, {} were found", listed(wanted), listed(found)));
        }
    }

    /// Plays it with something else in it. None of these codes may be found; if there are none, nothing at all.
    async fn vary(&mut self, sort: &str, variant: &Variant, codes: &[String]) {
        let played = Performance::of(&variant.setting).await;
        let found = played.examine(false).await;
        let mut ids: Vec<String> = causes(&found).map(|root| root.id.clone()).collect();
        ids.extend(found.unexplained.iter().map(|one| format!("{} is not explained", one.application)));
        let states: String =
            played.states().iter().map(|(name, state)| format!("{name}: {state}\n")).collect();
        let silent =
            if ids.is_empty() { "nothing is found\n".to_owned() } else { format!("{}\n", ids.join("\n")) };
        self.say(&format!("== {sort}: {}", variant.title), &format!("{states}{silent}"));
        let blamed = findings(&found).filter(|finding| {
            if codes.is_empty() {
                finding.severity < Severity::P3
            } else {
                codes.iter().any(|code| code == finding.code)
            }
        });
        self.wrong.extend(blamed.map(|finding| {
            format!("{sort} {}: {} is found: {}", variant.title, finding.id(), finding.cause)
        }));
        if codes.is_empty() && !played.is_fine() {
            self.wrong.push(format!("{sort} {}: not everything is well:\n{states}", variant.title));
        }
    }
}

fn listed(all: &[String]) -> String {
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}

/// The causes of something that does not work. What is merely worth putting right is a cause where nothing else is.
fn causes(found: &Examination) -> impl Iterator<Item = &Root> {
    let has_worse = found.roots.iter().any(|root| root.severity < Severity::P3);
    found.roots.iter().filter(move |root| !has_worse || root.severity < Severity::P3)
}

/// Everything that was found, what comes of something else too.
fn findings(found: &Examination) -> impl Iterator<Item = &Finding> {
    found.findings().map(|(_, finding)| finding)
}

/// The report without what to do next.
fn told(found: &Examination) -> String {
    let text = report::text(found);
    text.split("\nnext: ").next().unwrap_or_default().trim_end().to_owned() + "\n"
}

/// Every application before and after.
fn compared(before: &Performance, after: &Performance) -> String {
    let (before, after) = (before.states(), after.states());
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let state = |states: &std::collections::BTreeMap<String, String>, name: &str| {
        states.get(name).map_or("not there", String::as_str).to_owned()
    };
    names
        .iter()
        .map(|name| format!("{name}: {} -> {}\n", state(&before, name), state(&after, name)))
        .collect()
}

fn words(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text.push_str(&format!(": {inner}"));
        source = inner.source();
    }
    text
}
