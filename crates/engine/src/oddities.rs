//! Annotations and options that say nothing although somebody meant something by them.
//!
//! Argo CD takes them for not being there and does not tell; what follows is the same here, and it is told.

use std::collections::BTreeMap;

use lynceus_api::{
    Application, ApplicationConditionType, HookDeletePolicy, HookType, OptionPlace, Options, Word as _,
    annotations, check_option,
};
use lynceus_diff::ChangeSet;
use lynceus_object::Object;

use crate::condition::Condition;
use crate::deadline;
use crate::reason::odd_rules;

/// What is odd about objects: one line for each annotation and what stands there, however many objects have it.
pub(crate) fn of_objects(objects: &[Object]) -> Vec<Condition> {
    let mut found: BTreeMap<(&str, String, String), Vec<&Object>> = BTreeMap::new();
    for object in objects {
        for (annotation, word, why) in odd(object) {
            found.entry((annotation, word, why)).or_default().push(object);
        }
    }
    found
        .into_iter()
        .map(|((annotation, word, why), objects)| told(annotation, &word, &why, &objects))
        .collect()
}

/// What is odd about an application itself.
pub(crate) fn of_application(application: &Application) -> Vec<Condition> {
    let options = application.sync_options();
    let faulty = options.iter().filter_map(|word| {
        let fault = check_option(word, OptionPlace::Application).err()?;
        Some(warning(format!("spec.syncPolicy.syncOptions has {word:?}, which is left out: {fault}")))
    });
    faulty.chain(deadline::warning(application)).collect()
}

/// What is odd about the rules for ignoring differences: those that hide a whole part of objects, and those that do
/// nothing. They are told of while everything is well, too: that may be because of them.
pub(crate) fn of_rules(changes: &ChangeSet) -> Vec<Condition> {
    odd_rules(changes).into_iter().map(|reason| warning(reason.text.to_string())).collect()
}

fn odd(object: &Object) -> Vec<(&'static str, String, String)> {
    let mut found = Vec::new();
    if let Some(text) = object.annotation(annotations::SYNC_WAVE)
        && text.parse::<i64>().is_err()
    {
        let wave = lynceus_api::wave(object);
        found.push((annotations::SYNC_WAVE, text.to_owned(), format!("is no number: the wave is {wave}")));
    }
    let mut words = |annotation: &'static str, why: &dyn Fn(&str) -> Option<String>| {
        if object.annotation(annotation).is_some() {
            let options = Options::of(object, annotation);
            found.extend(options.iter().filter_map(|word| Some((annotation, word.to_owned(), why(word)?))));
        }
    };
    words(annotations::HOOK, &|word| {
        HookType::parse(word).is_none().then(|| "is no time at which a hook runs: it is left out".into())
    });
    words(annotations::HOOK_DELETE_POLICY, &|word| {
        HookDeletePolicy::parse(word).is_none().then(|| "is no policy: it is left out".into())
    });
    words(annotations::SYNC_OPTIONS, &|word| {
        let fault = check_option(word, OptionPlace::Object).err()?;
        Some(format!("is left out: {fault}"))
    });
    found
}

fn told(annotation: &str, word: &str, why: &str, objects: &[&Object]) -> Condition {
    let first = objects.first().map(|object| object.key().to_string()).unwrap_or_default();
    let more = match objects.len() {
        0 | 1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    warning(format!("annotation {annotation} has {word:?}, which {why} ({first}{more})"))
}

fn warning(message: String) -> Condition {
    Condition::new(ApplicationConditionType::ManifestWarning, message)
}

#[cfg(test)]
mod tests {
    use lynceus_object::Gvk;

    use super::*;

    fn object(name: &str, annotation: &str, text: &str) -> Object {
        let mut object = Object::named(&Gvk::new("", "v1", "ConfigMap"), "shop", name);
        object.set_annotation(annotation, text);
        object
    }

    #[test]
    fn what_says_nothing_is_told_once() {
        let objects = [
            object("a", annotations::SYNC_WAVE, "first"),
            object("b", annotations::SYNC_WAVE, "first"),
            object("c", annotations::SYNC_WAVE, "-2147483648"),
            object("d", annotations::HOOK, "PreSync, Presync"),
            object("e", annotations::HOOK_DELETE_POLICY, "hook-succeeded"),
            object("f", annotations::SYNC_OPTIONS, "Prune=false,Replace=True"),
        ];
        let told: Vec<String> = of_objects(&objects).into_iter().map(|condition| condition.message).collect();
        assert_eq!(
            told,
            [
                "annotation argocd.argoproj.io/hook has \"Presync\", which is no time at which a hook runs: it is left out \
                 (/ConfigMap/shop/d)",
                "annotation argocd.argoproj.io/hook-delete-policy has \"hook-succeeded\", which is no policy: it is left \
                 out (/ConfigMap/shop/e)",
                "annotation argocd.argoproj.io/sync-options has \"Replace=True\", which is left out: it can be true or \
                 false (/ConfigMap/shop/f)",
                "annotation argocd.argoproj.io/sync-wave has \"first\", which is no number: the wave is 0 \
                 (/ConfigMap/shop/a and 1 more)",
            ]
        );
    }

    #[test]
    fn an_application_is_told_of_its_options() {
        let mut application = Application::default();
        application.spec.sync_policy = Some(lynceus_api::SyncPolicy {
            sync_options: vec!["CreateNamespace=true".into(), "Force=true".into()],
            ..Default::default()
        });
        let told: Vec<String> = of_application(&application).into_iter().map(|one| one.message).collect();
        assert_eq!(
            told,
            [
                "spec.syncPolicy.syncOptions has \"Force=true\", which is left out: it has a meaning in the annotation of an \
              object only"
            ]
        );
    }
}
