use lynceus_object::{Value, yaml};

use super::*;

#[test]
fn every_line_of_the_file_can_be_read() {
    let (table, errors) = parse::table(include_str!("../../data/checks.txt"));
    assert_eq!(errors, [""; 0]);
    assert!(table.checks.len() > 100);
}

/// What a check says of a status, as `Status message`.
fn judged(check: &str, object: &str) -> String {
    let (table, errors) = parse::table(&format!("example.com/Thing\n{check}"));
    assert_eq!(errors, [""; 0]);
    let object: Value = yaml::parse_str(object).unwrap();
    match evaluate::judge(table.find("example.com", "Thing").unwrap(), &object) {
        Some(health) => format!("{} {}", health.status, health.message),
        None => "none".to_owned(),
    }
}

#[test]
fn the_first_rule_that_holds_speaks() {
    let check =
        "  .status.phase=A|B -> Healthy {.status.phase}\n  .status.phase -> Degraded\n  -> Progressing -";
    assert_eq!(judged(check, "status: {phase: B}"), "Healthy B");
    assert_eq!(judged(check, "status: {phase: C}"), "Degraded ");
    assert_eq!(judged(check, "status: {phase: null}"), "Progressing -");
}

#[test]
fn tests_of_one_condition_hold_together_and_tests_after_an_ampersand_are_of_another() {
    let check =
        "  Ready=True reason=Fine & Synced=True -> Healthy {reason}\n  no Ready -> Unknown\n  -> Degraded";
    let conditions = |ready: &str, synced: &str| {
        format!(
            "status: {{conditions: [{{type: Ready, status: 'True', reason: {ready}}}, {{type: Synced, status: '{synced}', reason: S}}]}}"
        )
    };
    assert_eq!(judged(check, &conditions("Fine", "True")), "Healthy S");
    assert_eq!(judged(check, &conditions("Fine", "False")), "Degraded ");
    assert_eq!(judged(check, &conditions("Odd", "True")), "Degraded ");
    assert_eq!(judged(check, "status: {}"), "Unknown ");
}

#[test]
fn items_are_looked_at_in_turn() {
    let check = "  each .status.nodes\n    state=bad -> Degraded {name}\n    state=odd -> skip\n    state=fine -> Healthy {name}";
    assert_eq!(
        judged(
            check,
            "status: {nodes: [{name: a, state: odd}, {name: b, state: fine}, {name: c, state: bad}]}"
        ),
        "Healthy b"
    );
    assert_eq!(judged(check, "status: {nodes: {z: {name: a, state: bad}}}"), "Degraded a");
    assert_eq!(judged(check, "status: {nodes: []}"), "none");
    let last = "  each .status.nodes last\n    -> Healthy {name}";
    assert_eq!(judged(last, "status: {nodes: [{name: a}, {name: b}]}"), "Healthy b");
}

#[test]
fn values_are_compared_by_type() {
    assert_eq!(judged("  .a=true -> Healthy", "a: 'true'"), "none");
    assert_eq!(judged("  .a=1 -> Healthy", "a: '1'"), "none");
    assert_eq!(judged("  .a=.b -> Healthy", "{a: 1, b: 1.0}"), "Healthy ");
    assert_eq!(judged("  .a=.b -> Healthy both are missing", "{}"), "Healthy both are missing");
    assert_eq!(judged("  .a<.b -> Healthy", "{a: '2024-01', b: '2024-02'}"), "Healthy ");
    assert_eq!(judged("  .a>0 -> Healthy", "a: '1'"), "none");
    assert_eq!(judged("  #.a=2 -> Healthy", "a: [1, 2]"), "Healthy ");
    assert_eq!(judged("  .a^=Wait -> Healthy", "a: Waiting"), "Healthy ");
    assert_eq!(judged("  .a=\"two words\" -> Healthy", "a: two words"), "Healthy ");
    assert_eq!(judged("  .a.\"b.c/d\"=e -> Healthy", "a: {b.c/d: e}"), "Healthy ");
    assert_eq!(judged("  !.a? -> Healthy", "a: false"), "Healthy ");
}

#[test]
fn messages_are_filled_in() {
    let object = "{kind: Thing, a: '', b: B, c: 3, l: [x, z]}";
    assert_eq!(judged("  -> Healthy {.a|.b}-{.a?|.b}-{.x|'none'}", object), "Healthy -B-none");
    assert_eq!(judged("  -> Healthy {.b}{': '.c}{': '.x}{': '.a?}", object), "Healthy B: 3");
    assert_eq!(judged("  -> Healthy {.kind:lower} {.l:join}", object), "Healthy thing x, z");
}

#[test]
fn mistakes_in_the_file_are_told_with_their_line() {
    let (_, errors) = parse::table("a/B\n  .x=1 -> Fine\n  use nothing\n  nonsense\n");
    let expected = [
        "line 2: no such status: .x=1 -> Fine",
        "line 3: nothing is defined by this name: use nothing",
        "line 4: neither a rule nor a list: nonsense",
    ];
    assert_eq!(errors, expected);
}

#[test]
fn wide_kinds_come_after_exact_ones() {
    let (table, _) = parse::table(
        "*.b.io/*\n  -> Healthy wide\na.b.io/C\n  -> Healthy exact\nd.io/*\n  -> Healthy group\n",
    );
    let said = |group, kind| {
        table
            .find(group, kind)
            .and_then(|steps| evaluate::judge(steps, &Value::Null))
            .map(|health| health.message)
    };
    assert_eq!(said("a.b.io", "C").as_deref(), Some("exact"));
    assert_eq!(said("a.b.io", "D").as_deref(), Some("wide"));
    assert_eq!(said("d.io", "X").as_deref(), Some("group"));
    assert_eq!(said("b.io", "C"), None);
}
