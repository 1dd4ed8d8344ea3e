//! An ignore rule that names nothing that is there.

use std::collections::BTreeSet;

use lynceus_api::{GROUP, Glob};
use lynceus_diff::{ChangeSet, Place as RulePlace, RuleReport, RuleVerdict, Verdict};
use lynceus_object::{FieldPath, Object, ObjectKey, Value};

use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::limits;
use crate::rules::autoscaled_replicas::Scalers;
use crate::rules::{Rule, near};
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1106",
    title: "An ignore rule names nothing that is there",
    explanation: "\
A rule of the Application is for objects that it does not have, or names fields that they do not have. What it was meant to hide is
not hidden.

## Why
A wrong group (`extensions` for `apps`), a kind in the plural, a pointer with a dot or without its escapes (`~1` for a slash), or
the object was renamed.

## Example
```
the rule /spec/replicas for extensions/Deployment is for no object of the application
```

## What to do
Correct the rule, or remove it.
",
    check,
};

/// How a rule begins that names managers and no fields.
const BY_MANAGERS: &str = "managed by ";

fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut scalers = None;
    for app in case.apps() {
        let mut idle = idle(app);
        if !idle.is_empty() {
            // What should leave out the replicas that an autoscaler sets is told with those.
            let scalers = scalers.get_or_insert_with(|| Scalers::new(case));
            let slips = scalers.slips(case, app);
            idle.retain(
                |rule| !matches!(rule.place, RulePlace::Application(number) if slips.contains(&number)),
            );
        }
        if !idle.is_empty() {
            findings.add(found(app, &idle));
        }
    }
}

fn idle<'c>(app: &'c App<'_>) -> Vec<&'c RuleReport> {
    let changes = &app.delivery.changes;
    changes.rules.iter().filter(|rule| is_idle(rule, changes)).collect()
}

/// The rules that would be for an object if they named what was meant, by their numbers.
pub(super) fn nearly_for(app: &App<'_>, key: &ObjectKey) -> Vec<(usize, Misfit)> {
    let of = |rule: &RuleReport| match rule.place {
        RulePlace::Application(number) => Some((number, misfit(app, rule)?)),
        _ => None,
    };
    let all = idle(app).into_iter().filter_map(of);
    all.filter(|(_, misfit)| misfit.would_fit(key)).collect()
}

/// Whether a rule of the application did nothing and could not have done anything.
fn is_idle(rule: &RuleReport, changes: &ChangeSet) -> bool {
    let verdict = rule.verdict();
    // A manager's fields are left out where they differ only, and now they may not.
    let by_writer = verdict == RuleVerdict::NoField && rule.what.starts_with(BY_MANAGERS);
    matches!(verdict, RuleVerdict::NoObject | RuleVerdict::NoField)
        && matches!(rule.place, RulePlace::Application(_))
        && !by_writer
        && !comes_later(rule, changes)
}

/// What is not there yet was not compared, and hooks never are.
fn comes_later(rule: &RuleReport, changes: &ChangeSet) -> bool {
    let uncompared = changes.changes.iter().filter(|change| matches!(change.verdict, Verdict::Create));
    let mut uncompared = uncompared.filter_map(|change| change.pair.desired()).chain(&changes.hooks);
    uncompared.any(|object| fits(&rule.kind, object))
}

/// Whether an object is of the kinds that a rule is for, as they are written.
fn fits(kinds: &str, object: &Object) -> bool {
    let (group, kind) = kinds.rsplit_once('/').unwrap_or(("", kinds));
    let fits = |pattern, text| Glob::new(pattern).is_ok_and(|glob| glob.matches(text));
    fits(group, object.group()) && fits(kind, object.kind())
}

/// The field of a rule that keeps it from being for any object of its application.
pub(super) struct Misfit {
    /// Where in the Application it stands.
    path: FieldPath,
    /// `name`
    field: &'static str,
    /// What stands there.
    says: String,
    /// What objects have there that are as all the rest of the rule says.
    there: BTreeSet<String>,
    /// Those objects.
    fitting: BTreeSet<ObjectKey>,
}

/// What of a rule fits nothing, where one of its fields alone is wrong.
fn misfit(app: &App<'_>, rule: &RuleReport) -> Option<Misfit> {
    let RulePlace::Application(number) = rule.place else { return None };
    let path = FieldPath::fields(["spec", "ignoreDifferences"]).index(number);
    if rule.verdict() == RuleVerdict::NoField {
        return None;
    }
    let written = app.application().spec.ignore_differences.get(number)?;
    let changes = app.delivery.changes.changes.iter().filter_map(|change| change.pair.desired());
    let objects: Vec<&Object> = app.wanted().iter().map(|one| &one.object).chain(changes).collect();
    let part = |field, says, of, is_glob| Part { field, says, of, is_glob };
    let parts = [
        part("name", &written.name, Object::name, false),
        part("namespace", &written.namespace, Object::namespace, false),
        part("group", &written.group, Object::group, true),
        part("kind", &written.kind, Object::kind, true),
    ];
    parts.iter().find_map(|one| {
        let others = || parts.iter().filter(|other| other.field != one.field);
        let rest = || objects.iter().filter(|object| others().all(|other| other.fits(object)));
        let there: BTreeSet<String> = rest().map(|object| (one.of)(object).to_owned()).collect();
        (!there.is_empty()).then(|| Misfit {
            path: path.field(one.field),
            field: one.field,
            says: one.says.to_owned(),
            there,
            fitting: rest().map(|object| object.key()).collect(),
        })
    })
}

/// A field of a rule that says which objects it is for.
struct Part<'r> {
    field: &'static str,
    says: &'r str,
    /// What an object has there.
    of: fn(&Object) -> &str,
    /// Whether it is a pattern; others are for all objects where they are empty.
    is_glob: bool,
}

impl Part<'_> {
    fn fits(&self, object: &Object) -> bool {
        let text = (self.of)(object);
        match self.is_glob {
            true => Glob::new(self.says).is_ok_and(|glob| glob.matches(text)),
            false => self.says.is_empty() || self.says == text,
        }
    }
}

impl Misfit {
    /// Whether an object has what was meant. What the rest of the rule says some objects fit, and this one has to be of them.
    fn would_fit(&self, key: &ObjectKey) -> bool {
        self.fitting.contains(key) && self.meant().is_some()
    }

    /// What was meant: the one that is called almost so, or the only group that has the kind.
    fn meant(&self) -> Option<&str> {
        let near = near::slip(&self.says, self.there.iter().map(String::as_str));
        let only = self.there.first().filter(|_| self.there.len() == 1 && self.field == "group");
        near.or_else(|| only.map(String::as_str))
    }

    /// `; its name palete fits nothing, there is palette`
    pub(super) fn told(&self) -> String {
        let there = match self.meant() {
            Some(meant) => meant.to_owned(),
            None => words::list(&self.there),
        };
        let verb = if self.meant().is_some() || self.there.len() == 1 { "is" } else { "are" };
        let says = if self.says.is_empty() { "\"\"" } else { &self.says };
        format!("; its {} {says} fits nothing, there {verb} {there}", self.field)
    }
}

fn found(app: &App<'_>, idle: &[&RuleReport]) -> Finding {
    let told: Vec<(String, Option<Misfit>)> =
        idle.iter().filter_map(|rule| Some((rule.remark()?, misfit(app, rule)))).collect();
    let hint = |misfit: &Option<Misfit>| misfit.as_ref().map(Misfit::told).unwrap_or_default();
    let cause = match told.as_slice() {
        [(only, misfit)] => {
            format!("{}{}", only.replace("of the application", &format!("of {}", app.name)), hint(misfit))
        }
        _ => format!("{} rules of {} name nothing that is there", told.len(), app.name),
    };
    let places: Vec<String> = told
        .iter()
        .zip(idle)
        .filter_map(|((_, misfit), rule)| match (misfit, rule.place) {
            (Some(misfit), _) => Some(misfit.path.to_string()),
            (None, RulePlace::Application(number)) => Some(format!("spec.ignoreDifferences[{number}]")),
            (None, _) => None,
        })
        .collect();
    let fix = Fix::new("Correct the rule, or remove it")
        .person(format!("compare {} of the Application with the objects", words::list(places)))
        .risk(Risk::Low, "the rule does nothing now");
    let own = ObjectKey::new(GROUP, "Application", app.name.namespace.clone(), app.name.name.clone());
    let fields = told.iter().filter_map(|(_, misfit)| misfit.as_ref().map(|misfit| misfit.path.clone()));
    let fields: Vec<_> = fields.map(|path| (app.name.clone(), own.clone(), path)).collect();
    let seen = told.iter().map(|(remark, misfit)| Evidence::seen(format!("{remark}{}", hint(misfit))));
    Finding::new(RULE.code, app.node(), cause)
        .of(Some(app.name.clone()))
        .severity(Severity::P3)
        .seen(seen.take(limits::EVIDENCE))
        .about(fields)
        .fix(mend(app, told.iter().filter_map(|(_, misfit)| misfit.as_ref())))
        .fix([fix])
}

/// Has the rules name what was meant.
pub(super) fn mend<'m>(app: &App<'_>, misfits: impl Iterator<Item = &'m Misfit>) -> Option<Fix> {
    let fix = Fix::new("Name what is there");
    let fix = misfits.filter_map(|one| Some((one, one.meant()?))).fold(fix, |fix, (one, meant)| {
        fix.git(&app.name, Place::Application { path: one.path.clone(), value: Some(Value::from(meant)) })
    });
    fix.has_edits().then(|| {
        fix.risk(Risk::Low, "what the rule names is left out of the comparison")
            .why("nothing else keeps the rule from what it was meant for")
    })
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const RULES: &str = "
@app web Synced Healthy
@compared
@spec {ignoreDifferences: [{group: extensions, kind: Deployment, jsonPointers: [/spec/replicas]}]}
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {replicas: 1}
@live
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {replicas: 1}
";

    #[test]
    fn a_rule_for_another_group_is_found() {
        assert_eq!(
            check("LYN1106", RULES),
            "P3 LYN1106/web/Application/web: the rule /spec/replicas for extensions/Deployment is for no object of web; its group \
             extensions fits nothing, there is apps\n  the rule /spec/replicas for extensions/Deployment is for no object of the \
             application; its group extensions fits nothing, there is apps\n  fix: Name what is there\n  fix: Correct the rule, or \
             remove it\n"
        );
    }

    #[test]
    fn the_field_that_fits_nothing_is_named_with_its_place() {
        let rule = |rule: &str| RULES.replace("group: extensions, kind: Deployment", rule);
        let fixes =
            |text: &str| crate::tests::roots_with_fixes(&rule(text)).lines().collect::<Vec<_>>().join("\n");
        let name = fixes("group: apps, kind: Deployment, name: weeb");
        assert!(
            name.contains("    compare spec.ignoreDifferences[0].name of the Application with"),
            "{name}"
        );
        let near = RULES.replace(
            "group: extensions, kind: Deployment",
            "group: apps, kind: Deployment, name: storefornt",
        );
        let near = near.replace("name: web, namespace", "name: storefront, namespace");
        assert!(
            check("LYN1106", &near)
                .contains("is for no object of web; its name storefornt fits nothing, there is storefront\n")
        );
        assert!(
            crate::tests::roots_with_fixes(&near)
                .contains("    in the files of web: set spec.ignoreDifferences[0].name of the Application to \"storefront\"\n")
        );
        let kind = fixes("group: apps, kind: Deployments");
        assert!(
            kind.contains("set spec.ignoreDifferences[0].kind of the Application to \"Deployment\""),
            "{kind}"
        );
        let two = fixes("group: batch, kind: CronJob");
        assert!(
            two.contains("    compare spec.ignoreDifferences[0] of the Application with the objects"),
            "{two}"
        );
    }

    #[test]
    fn a_rule_that_hides_something_or_whose_object_is_yet_to_come_is_not() {
        assert_eq!(check("LYN1106", &RULES.replace("group: extensions", "group: apps")), "");
        let absent = RULES.replace("group: extensions", "group: apps").replace(
            "@live\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web",
            "@live\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: other",
        );
        assert_eq!(check("LYN1106", &absent), "");
    }
}
