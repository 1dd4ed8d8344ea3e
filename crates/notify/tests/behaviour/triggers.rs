//! Which conditions hold.

use lynceus_notify::{Commit, Need, Triggers};

use crate::{World, config, now, random};

fn ran(trigger: &str, world: &World) -> String {
    let config = config(&format!("trigger.t: |\n  {}", trigger.replace('\n', "\n  ")), "{}");
    let (triggers, faults) = Triggers::new(&config);
    assert!(faults.is_empty(), "{faults:?}");
    let ran = triggers.run("t", world.subject(), now(), &mut random).unwrap();
    let results = ran.results.iter().map(|result| {
        let templates: Vec<&str> = result.templates.iter().map(|name| name.as_str()).collect();
        format!("{} {} once per {:?} {}", result.key, result.triggered, result.once_per, templates.join(","))
    });
    let faults = ran.faults.iter().map(|fault| format!("fault {fault}"));
    let needs = ran.needs.iter().map(|need| format!("need {need:?}"));
    results.chain(faults).chain(needs).collect::<Vec<_>>().join("\n")
}

#[test]
fn conditions_are_asked_one_by_one() {
    let trigger = "- {when: \"app.status.health.status == 'Degraded'\", send: [a, b], oncePer: app.status.sync.revision}\n\
                   - {when: \"app.status.health.status == 'Healthy'\", send: [c], oncePer: app.nope.nope}\n\
                   - {send: [d]}";
    // The digests are those of Argo CD, by which the annotation tells conditions apart.
    assert_eq!(
        ran(trigger, &World::new()),
        "[0].zoG5zUjYGjimkwCGgIQGjx1hO5s true once per \"abc123\" a,b\n\
         [1].e3_SyUwNpP6BJ3pfvX2j5mRWlHE false once per \"\" c\n\
         [2].2jmj7l5rSw0yVb_vlWAYkK_YBwk false once per \"\" d"
    );
}

#[test]
fn a_condition_that_fails_does_not_hold_and_says_why() {
    assert_eq!(
        ran("- {when: app.status.nope.x == 1, send: [a]}", &World::new()).lines().last(),
        Some("fault trigger.t: app.status.nope.x == 1: column 17: there is nothing to look for x in")
    );
    assert!(ran("- {when: \"1 + 1\", send: [a]}", &World::new()).contains("false"));
}

#[test]
fn what_a_message_is_sent_once_for_and_cannot_be_found_is_told() {
    let again = "without oncePer it is told each time that the condition becomes true";
    let told = |once_per: &str| {
        let ran = ran(&format!("- {{when: true, send: [a], oncePer: \"{once_per}\"}}"), &World::new());
        assert!(ran.contains(" true once per \"\" a"), "{ran}");
        ran.lines().last().unwrap_or_default().to_owned()
    };
    assert_eq!(
        told("app.nope.nope"),
        format!("fault trigger.t: app.nope.nope: column 10: there is nothing to look for nope in; {again}")
    );
    // What is left of all that an expression may make has no room for the text of its value.
    let much = "let a = 1..1000000; let b = 1..990000; let c = repeat('x', 900000); [c, c, c, c]";
    assert!(told(much).ends_with(again), "{}", told(much));
}

#[test]
fn commits_are_asked_for_and_then_known() {
    let trigger =
        "- {when: \"repo.GetCommitMetadata(app.status.sync.revision).Author contains 'Eve'\", send: [a]}";
    let mut world = World::new();
    assert!(ran(trigger, &world).ends_with("need Commit(\"abc123\")"));
    let commit = Commit { author: "Eve <eve@example.com>".into(), ..Commit::default() };
    world.facts.commits.insert("abc123".into(), Ok(commit));
    assert!(ran(trigger, &world).contains(" true "), "{}", ran(trigger, &world));
    world.facts.commits.insert("abc123".into(), Err("no such commit".into()));
    assert!(ran(trigger, &world).contains("no such commit"));
    assert_eq!(Need::Details, Need::Details);
}

#[test]
fn a_trigger_that_is_not_there_is_told_apart() {
    let (triggers, _) = Triggers::new(&config("{}", "{}"));
    assert!(triggers.run("nope", World::new().subject(), now(), &mut random).is_none());
}
