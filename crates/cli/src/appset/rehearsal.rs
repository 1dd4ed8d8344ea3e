//! What a change of an ApplicationSet would do to the cluster, for people.

use jiff::SignedDuration;
use lynceus_object::Value;

use crate::format::{self, text};

/// How many objects of one Application are named.
const NAMED: usize = 8;

/// What a rehearsal came to; nothing where there was none. Applications that nothing happens to and that are well are left out.
pub(super) fn text_of(rehearsal: &Value) -> String {
    let why = text(rehearsal, &["reason"]);
    if !why.is_empty() {
        return format!("\nNot rehearsed: {why}\n");
    }
    let time = rehearsal.int_at(&["seconds"]).unwrap_or_default();
    let mut out = format!(
        "\nRehearsed, until nothing new happened after {}:\n",
        format::duration(SignedDuration::from_secs(time))
    );
    for set in rehearsal.items_at(&["sets"]).iter().filter(|set| text(set, &["verdict"]) == "stuck") {
        out.push_str(&format!("  ApplicationSet {} gets stuck\n", text(set, &["name"])));
        reasons(&mut out, set.items_at(&["reasons"]), 2);
    }
    let mut quiet = 0;
    for app in rehearsal.items_at(&["applications"]) {
        let (steps, verdict) = (app.items_at(&["steps"]), text(app, &["verdict"]));
        if steps.is_empty() {
            quiet += 1;
            continue;
        }
        let comes_to = match verdict {
            "finishes" => "finishes".to_owned(),
            "gone" => "is gone".to_owned(),
            "stuck" => format!("gets stuck: {} {}", text(app, &["sync"]), text(app, &["health"])),
            _ => "cannot be rehearsed".to_owned(),
        };
        out.push_str(&format!("  {} {comes_to}\n", text(app, &["name"])));
        for step in steps.iter().take(NAMED) {
            out.push_str(&format!("    {} {}\n", text(step, &["did"]), object(step)));
        }
        if steps.len() > NAMED {
            out.push_str(&format!("    and {} more\n", steps.len() - NAMED));
        }
        if verdict == "stuck" {
            reasons(&mut out, app.items_at(&["reasons"]), 4);
        }
    }
    out.push_str(&format!("  nothing happens to {quiet} applications\n"));
    for one in rehearsal.items_at(&["massDeletions"]) {
        let count = |field: &str| one.int_at(&[field]).unwrap_or_default();
        let whose = match text(one, &["application"]) {
            "" => "all applications together",
            name => name,
        };
        out.push_str(&format!(
            "  {} of the {} objects of {whose} are deleted\n",
            count("deleted"),
            count("of")
        ));
    }
    for one in rehearsal.items_at(&["notRehearsed"]) {
        out.push_str(&format!("  not rehearsed: {}: {}\n", text(one, &["what"]), text(one, &["why"])));
    }
    out
}

/// The same of a preview that may have one.
pub(super) fn of_preview(preview: &Value) -> String {
    preview.get("rehearsal").map(text_of).unwrap_or_default()
}

fn object(step: &Value) -> String {
    match text(step, &["namespace"]) {
        "" => format!("{} {}", text(step, &["kind"]), text(step, &["name"])),
        namespace => format!("{} {namespace}/{}", text(step, &["kind"]), text(step, &["name"])),
    }
}

fn reasons(out: &mut String, all: &[Value], depth: usize) {
    for reason in all {
        out.push_str(&format!("{}{}\n", "  ".repeat(depth), text(reason, &["text"])));
        reasons(out, reason.items_at(&["because"]), depth + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::yaml;

    #[test]
    fn what_a_rehearsal_came_to_is_told_of_what_it_touches() {
        let report = yaml::parse_str(
            "seconds: 75\nsets: [{name: shops, verdict: stuck, reasons: [{text: 3 of 4 would be deleted}]}]\napplications:\n- {name: a, verdict: \
             finishes, steps: [{did: created, kind: ConfigMap, namespace: shop, name: x}]}\n- {name: b, verdict: stuck, sync: Synced, health: \
             Degraded, steps: [{did: changed, kind: Namespace, name: shop}], reasons: [{text: it waits, because: [{text: for y}]}]}\n- {name: c, verdict: \
             finishes, steps: []}\nnotRehearsed: [{what: ApplicationSet z, why: nobody is asked}]\n",
        )
        .unwrap();
        assert_eq!(
            text_of(&report),
            "\nRehearsed, until nothing new happened after 1m15s:\n  ApplicationSet shops gets stuck\n    3 of 4 would be deleted\n  a \
             finishes\n    created ConfigMap shop/x\n  b gets stuck: Synced Degraded\n    changed Namespace shop\n        it waits\n          for \
             y\n  nothing happens to 1 applications\n  not rehearsed: ApplicationSet z: nobody is asked\n"
        );
        let none = yaml::parse_str("reason: another rehearsal is being played").unwrap();
        assert_eq!(text_of(&none), "\nNot rehearsed: another rehearsal is being played\n");
    }
}
