//! Which of an application's objects are meant.

use std::collections::BTreeSet;

use lynceus_engine::Belonging;
use lynceus_object::Object;

use crate::exit::{Code, Failure, Outcome};

/// What the objects are like. What is left empty fits all.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice<'a> {
    pub(super) kind: &'a str,
    /// The group; one that is named and empty is that of the core kinds.
    pub(super) group: Option<&'a str>,
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
}

impl Choice<'_> {
    fn fits(&self, object: &Object) -> bool {
        let is = |wanted: &str, text: &str| wanted.is_empty() || wanted == text;
        is(self.kind, object.kind())
            && self.group.is_none_or(|group| group == object.group())
            && is(self.namespace, object.namespace())
            && is(self.name, object.name())
    }

    /// All that fit.
    pub(super) fn all<'o>(&self, objects: &'o [Belonging]) -> Outcome<Vec<&'o Object>> {
        let fit: Vec<&Object> = objects.iter().map(|one| &one.object).filter(|one| self.fits(one)).collect();
        match fit.is_empty() {
            false => Ok(fit),
            true => Err(Failure::new(Code::Other, "no matching resource found")
                .hint("an action is for what the application manages and for what that owns, nothing else")),
        }
    }

    /// Those that an action is to be run on. What is only owned is not meant where something that is managed fits: a Job
    /// of Git is not one of those that a CronJob has left behind.
    pub(super) fn targets<'o>(&self, objects: &'o [Belonging], many: bool) -> Outcome<Vec<&'o Object>> {
        let fit = self.all(objects)?;
        let managed: BTreeSet<_> =
            objects.iter().filter(|one| one.managed).map(|one| one.object.key()).collect();
        let (own, owned): (Vec<_>, Vec<_>) = fit.into_iter().partition(|one| managed.contains(&one.key()));
        let fit = if own.is_empty() { owned } else { own };
        if fit.len() > 1 && !many {
            let message = "multiple resources match inputs, use the --all flag to patch multiple resources";
            return Err(Failure::new(Code::Other, message).hint(one_of(&fit)));
        }
        let groups: BTreeSet<&str> = fit.iter().map(|object| object.group()).collect();
        if groups.len() > 1 {
            // `argocd` ends with 1 for this one.
            let message = "Ambiguous resource group. Use flag --group to specify resource group explicitly.";
            let groups: Vec<&str> = groups.into_iter().collect();
            return Err(Failure::new(Code::Answer, message).hint(format!("there are {}", groups.join(", "))));
        }
        Ok(fit)
    }
}

/// How many of those that fit are named.
const NAMED: usize = 5;

fn one_of(objects: &[&Object]) -> String {
    let name = |object: &&Object| format!("{}/{}", object.namespace(), object.name());
    let mut names: Vec<String> = objects.iter().take(NAMED).map(name).collect();
    if objects.len() > NAMED {
        names.push(format!("and {} more", objects.len() - NAMED));
    }
    format!("or name one with --resource-name, and --namespace if need be:\n{}", names.join("\n"))
}

#[cfg(test)]
mod tests {
    use lynceus_object::{Gvk, Object};

    use super::*;

    fn belongings() -> Vec<Belonging> {
        let one = |group: &str, kind: &str, name: &str, managed| Belonging {
            object: Object::named(&Gvk::new(group, "v1", kind), "default", name),
            managed,
        };
        vec![
            one("batch", "Job", "migrate", true),
            one("batch", "CronJob", "backup", true),
            one("batch", "Job", "backup-1", false),
            one("apps", "Deployment", "web", true),
            one("other.io", "Deployment", "web", true),
        ]
    }

    /// The names of what is chosen, or the first line of the error.
    fn chosen(choice: &Choice<'_>, many: bool) -> String {
        match choice.targets(&belongings(), many) {
            Ok(fit) => {
                fit.iter().map(|one| format!("{}/{}", one.group(), one.name())).collect::<Vec<_>>().join(" ")
            }
            Err(failure) => format!("{} [{}]", failure.message, failure.code.number()),
        }
    }

    #[test]
    fn what_is_owned_is_meant_only_where_nothing_that_is_managed_fits() {
        let jobs = Choice { kind: "Job", ..Choice::default() };
        assert_eq!(chosen(&jobs, false), "batch/migrate");
        assert_eq!(chosen(&jobs, true), "batch/migrate");
        assert_eq!(chosen(&Choice { name: "backup-1", ..jobs }, false), "batch/backup-1");
    }

    #[test]
    fn several_need_to_be_asked_for_and_to_be_of_one_group() {
        let web = Choice { kind: "Deployment", ..Choice::default() };
        assert_eq!(
            chosen(&web, false),
            "multiple resources match inputs, use the --all flag to patch multiple resources [20]"
        );
        assert_eq!(
            chosen(&web, true),
            "Ambiguous resource group. Use flag --group to specify resource group explicitly. [1]"
        );
        assert_eq!(chosen(&Choice { group: Some("apps"), ..web.clone() }, false), "apps/web");
        assert_eq!(chosen(&Choice { group: Some(""), ..web }, true), "no matching resource found [20]");
    }
}
