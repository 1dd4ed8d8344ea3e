//! Pods that the Pod Security of their namespace refuses.

mod lack;
mod to_come;

use std::collections::{BTreeMap, BTreeSet};

use lynceus_object::{Object, ObjectKey, value};

use crate::case::{Case, Pods, Said};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Action, Fix, Place, Risk};
use crate::node::{AppName, Node};
use crate::rules::Rule;
use crate::rules::backend::evidence;
use crate::snapshot::Override;
use crate::words;

use lack::{Lack, lacks, sets};

pub(super) const RULE: Rule = Rule {
    code: "LYN0801",
    title: "Pods are refused by Pod Security",
    explanation: "\
The namespace enforces a Pod Security standard, and the pods do not keep it. Their workload is there and has no pods: each time
that its controller makes one, the API server refuses it.

## Why
A setting of the security context is missing from the pod, from a container, or only from an init container or sidecar; or the chart
sets it and the values of one environment replace the whole security context by one that lacks it.

## Example
```
pods \"web-7d4\" is forbidden: violates PodSecurity \"restricted:latest\": seccompProfile (pod or container \"web\" must set
securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\")
```

## What to do
Set what is missing where the field comes from. Lower the standard of the namespace only for what cannot keep it.
",
    check,
};

const WORDS: &str = "violates PodSecurity \"";

fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut refused: BTreeMap<(&str, ObjectKey), Vec<&Said<'_>>> = BTreeMap::new();
    for said in case.said().iter().filter(|said| said.text.contains(WORDS)) {
        let key = said.node.key().cloned().unwrap_or_else(|| said.about.clone());
        refused.entry((said.server, key)).or_default().push(said);
    }
    let mut refusals: Vec<Refused<'_>> = refused.into_iter().map(Refused::by_word).collect();
    refusals.extend(case.servers().flat_map(|server| to_come::refused(case, server)));
    if refusals.is_empty() {
        return;
    }
    let siblings = siblings(case);
    for refused in refusals {
        findings.add(found(case, &refused, &siblings));
    }
}

/// What makes pods that are refused, or will be.
struct Refused<'a> {
    server: &'a str,
    key: ObjectKey,
    /// `violates PodSecurity \"restricted:latest\": ` and what about them does.
    text: String,
    seen: Vec<Evidence>,
    /// `are refused`
    told: &'static str,
}

impl<'a> Refused<'a> {
    /// As an API server says it.
    fn by_word(((server, key), said): ((&'a str, ObjectKey), Vec<&Said<'_>>)) -> Self {
        let text = said.first().map(|said| said.text).unwrap_or_default().to_owned();
        let seen = evidence(said);
        Refused { server, key, text, seen, told: "are refused" }
    }
}

/// What applications want, by kind and name: the same workload of another environment shows what an override took away.
type Siblings<'a> = BTreeMap<(String, String), Vec<(&'a str, &'a Object)>>;

fn siblings<'a>(case: &Case<'a>) -> Siblings<'a> {
    let mut siblings: Siblings<'a> = BTreeMap::new();
    for app in case.apps() {
        for wanted in app.wanted().iter().filter(|wanted| Pods::of(&wanted.object).is_some()) {
            let name = (wanted.object.kind().to_owned(), wanted.object.name().to_owned());
            let app = app.delivery.application.metadata.name.as_str();
            siblings.entry(name).or_default().push((app, &wanted.object));
        }
    }
    siblings
}

fn found(case: &Case<'_>, refused: &Refused<'_>, siblings: &Siblings<'_>) -> Finding {
    let Refused { server, key, text, seen, told } = refused;
    let (server, text) = (*server, text.as_str());
    let standard = text.split(WORDS).nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
    let live = case.live(server, key);
    let wanted = case.wanted(server, key).first().map(|(_, wanted)| &wanted.object);
    let lacking = |object: Option<&Object>| -> Option<Vec<Lack>> {
        object.and_then(Pods::of).map(|pods| lacks(&pods, text))
    };
    let (of_live, of_wanted) = (lacking(live), lacking(wanted));
    let missing = of_wanted.clone().filter(|all| !all.is_empty()).or(of_live).unwrap_or_default();
    let is_set_in_git = of_wanted.as_ref().is_some_and(Vec::is_empty) && !missing.is_empty();
    let what = match missing.is_empty() {
        true => words::quote(
            text.split(WORDS).nth(1).and_then(|rest| rest.split_once("\": ")).map_or(text, |(_, rest)| rest),
        ),
        false => words::list(missing.iter().map(|lack| lack.text.as_str())),
    };
    let mut cause = format!(
        "the pods of {} {} {told}: the namespace enforces Pod Security {standard}, and {what}",
        key.kind, key.name
    );
    let better = |object: &Object| lacking(Some(object)).is_some_and(|all| all.len() < missing.len());
    let covered = case.override_of(server, key, better).filter(|_| !is_set_in_git);
    let mut slip = None;
    if is_set_in_git {
        cause.push_str("; Git sets it, and what is in the cluster lacks it");
    } else if let Some((_, covered)) = &covered {
        cause.push_str(&format!("; {}", covered.takes()));
        slip = Some(format!("{server} {} {}", key.namespace, covered.told()));
    } else if let Some(other) =
        sibling(siblings, key, (text, &missing), case.owner(server, key).map(|app| app.name.to_string()))
    {
        cause.push_str(&format!(
            "; the same {} of application {other} has it, so an override takes it away here",
            key.kind
        ));
        // What an override takes away from several of one namespace and one file it takes away in one place.
        let place = |lack: &Lack| lack.path.to_string().replace(|sign: char| sign.is_ascii_digit(), "");
        let places: BTreeSet<String> = missing.iter().map(place).collect();
        let places = places.into_iter().collect::<Vec<_>>().join(" ");
        let file = case.written_in(server, key);
        slip = file.map(|file| format!("{server} {} {places} {file}", key.namespace));
    }
    // What comes back with what is covered need not be set.
    let rest = covered.as_ref().zip(wanted).and_then(|((_, covered), wanted)| covered.without(wanted));
    let left = rest.as_ref().and_then(|rest| lacking(Some(rest))).unwrap_or_else(|| missing.clone());
    let is_deep = standard.starts_with("baseline") || PRIVILEGED.iter().any(|words| text.contains(words));
    let level = if is_deep { "privileged" } else { "baseline" };
    let refusal = Refusal { missing: left, covered, is_set_in_git, standard, level };
    let finding = Finding::new(RULE.code, Node::object(server, key.clone()), cause)
        .of(case.owner(server, key))
        .seen(seen.iter().cloned())
        .seen(refusal.covered.iter().flat_map(|(app, covered)| covered.evidence(app)))
        .fix(fixes(case, server, key, &refusal));
    finding.alike(slip)
}

/// Another application's workload of the same kind and name that has nothing to be refused for and sets what is missing here. One without
/// the container that lacks it says nothing about it.
fn sibling<'a>(
    siblings: &Siblings<'a>,
    key: &ObjectKey,
    (text, missing): (&str, &[Lack]),
    own: Option<String>,
) -> Option<&'a str> {
    let all = siblings.get(&(key.kind.to_string(), key.name.to_string()))?;
    let has = |pods: &Pods<'_>| {
        lacks(pods, text).is_empty() && missing.iter().all(|lack| lack.value.is_some() && sets(pods, lack))
    };
    let keeps = |object: &Object| !missing.is_empty() && Pods::of(object).is_some_and(|pods| has(&pods));
    all.iter().find(|(app, object)| Some(*app) != own.as_deref() && keeps(object)).map(|(app, _)| *app)
}

/// Why pods are refused, and what is to be done about it.
struct Refusal<'a> {
    /// What has to be set, or to go.
    missing: Vec<Lack>,
    /// The value that covers what they would have, and whose it is.
    covered: Option<(AppName, &'a Override)>,
    is_set_in_git: bool,
    standard: &'a str,
    /// The highest standard that the pods keep as they are.
    level: &'static str,
}

/// What even `baseline` refuses.
const PRIVILEGED: [&str; 6] = [
    "privileged (",
    "host namespaces (",
    "hostPath volumes (",
    "hostPort (",
    "hostProcess (",
    "non-default capabilities (",
];

fn fixes(case: &Case<'_>, server: &str, key: &ObjectKey, refusal: &Refusal<'_>) -> Vec<Fix> {
    let Refusal { missing, covered, is_set_in_git, standard, level } = refusal;
    let verify = format!("kubectl -n {} get events --field-selector reason=FailedCreate", key.namespace);
    let mut fixes = Vec::new();
    let Some(app) = case.owner(server, key) else { return fixes };
    if *is_set_in_git {
        fixes.push(
            Fix::new(format!("Sync {app}"))
                .cluster(Action::Sync { application: app })
                .risk(Risk::Low, format!("the pods of {} {}", key.kind, key.name))
                .verify(verify),
        );
        return fixes;
    }
    let edits = missing.iter().filter(|lack| lack.can_be_set);
    // What is taken from pods, such as the user that they run as, their program may count on.
    let is_taken = edits.clone().any(|lack| lack.value.is_none());
    let risk = if is_taken { Risk::Medium } else { Risk::Low };
    let fix = match covered {
        Some((owner, covered)) => covered.fix(owner, key),
        None => Fix::new(format!("Have the pods of {} {} keep Pod Security {standard}", key.kind, key.name)),
    };
    let fix = fix
        .risk(risk, format!("the pods of {} {}, of which there are none yet", key.kind, key.name))
        .verify(verify);
    let mut fix = edits.fold(fix, |fix, lack| {
        fix.git(
            &app,
            Place::Field { object: key.clone(), path: lack.path.clone(), value: lack.value.clone() },
        )
    });
    for lack in missing.iter().filter(|lack| !lack.can_be_set) {
        fix = fix.person(format!("Change the workload so that it no longer is so: {}.", lack.text));
    }
    if !fix.steps.is_empty() {
        fixes.push(fix);
    }
    fixes.extend(lower(case, server, key, level));
    fixes
}

/// To lower the standard, where the namespace stands in Git.
fn lower(case: &Case<'_>, server: &str, key: &ObjectKey, level: &str) -> Option<Fix> {
    let namespace = ObjectKey::new("", "Namespace", "", key.namespace.clone());
    let (app, _) = case.wanted(server, &namespace).into_iter().next()?;
    let path =
        lynceus_object::FieldPath::fields(["metadata", "labels"]).field("pod-security.kubernetes.io/enforce");
    let place = Place::Field { object: namespace, path, value: Some(value!(level)) };
    Some(
        Fix::new(format!("Lower the standard of namespace {} to {level}", key.namespace))
            .git(&app.name, place)
            .risk(Risk::High, format!("everything in namespace {} may do more", key.namespace))
            .why("it opens the namespace for everything in it, so it comes last"),
    )
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots, roots_with_fixes};

    const REFUSED: &str = "
@app web OutOfSync Progressing
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    spec:
      securityContext: {runAsNonRoot: true}
      initContainers: [{name: wait, image: a}]
      containers: [{name: web, image: b, securityContext: {allowPrivilegeEscalation: false}}]
@live
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, uid: d1}
spec:
  replicas: 1
  template:
    spec:
      securityContext: {runAsNonRoot: true}
      initContainers: [{name: wait, image: a}]
      containers: [{name: web, image: b, securityContext: {allowPrivilegeEscalation: false}}]
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-1, namespace: shop, uid: r1, ownerReferences: [{kind: Deployment, name: web, uid: d1, controller: true}]}
spec: {replicas: 1}
status:
  replicas: 0
  conditions:
  - type: ReplicaFailure
    status: 'True'
    reason: FailedCreate
    message: 'pods \"web-1-x\" is forbidden: violates PodSecurity \"restricted:latest\": allowPrivilegeEscalation != false (container \"wait\" must set securityContext.allowPrivilegeEscalation=false), seccompProfile (pod or containers \"wait\", \"web\" must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\")'
";

    #[test]
    fn each_container_is_told_what_it_lacks() {
        assert_eq!(
            check("LYN0801", REFUSED),
            "P1 LYN0801/web/Deployment/web: the pods of Deployment web are refused: the namespace enforces Pod Security restricted:latest, and init container wait lacks securityContext.allowPrivilegeEscalation=false and the pod lacks securityContext.seccompProfile.type=RuntimeDefault\n  ReplicaSet shop/web-1: status.conditions: pods \"web-1-x\" is forbidden: violates PodSecurity \"restricted:latest\": allowPrivilegeEscalation != false (container \"wait\" must set securityContext.allowPrivilegeEscalation=false), seccompProfile (pod or containers \"wait\", \"web\" must set se…\n  fix: Have the pods of Deployment web keep Pod Security restricted:latest\n"
        );
    }

    #[test]
    fn what_git_sets_has_only_to_be_synced() {
        let set = REFUSED.replacen(
            "securityContext: {runAsNonRoot: true}\n      initContainers: [{name: wait, image: a}]",
            "securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}\n      initContainers: [{name: wait, \
             image: a, securityContext: {allowPrivilegeEscalation: false}}]",
            1,
        );
        let found = check("LYN0801", &set);
        assert!(found.contains("Git sets it, and what is in the cluster lacks it"), "{found}");
        assert!(found.ends_with("fix: Sync web\n"), "{found}");
    }

    #[test]
    fn a_sibling_that_has_it_shows_that_an_override_takes_it_away() {
        let found = check("LYN0801", &format!("{SIBLING}{REFUSED}"));
        assert!(
            found.contains(
                "the same Deployment of application web-staging has it, so an override takes it away"
            ),
            "{found}"
        );
    }

    #[test]
    fn a_sibling_without_the_container_that_lacks_it_shows_nothing() {
        let line = "      initContainers: [{name: wait, image: a, securityContext: {allowPrivilegeEscalation: false}}]\n";
        for other in
            ["", &line.replace("name: wait", "name: fetch"), &line.replace("initContainers", "volumes")]
        {
            let found = check("LYN0801", &format!("{}{REFUSED}", SIBLING.replace(line, other)));
            assert!(found.contains("init container wait lacks"), "{found}");
            assert!(!found.contains("an override takes it away"), "{found}");
        }
    }

    #[test]
    fn what_is_taken_from_pods_may_be_what_their_program_counts_on() {
        let fix = |text: &str| crate::tests::told(text);
        assert!(fix(REFUSED).contains("fix (proposed, low risk): Have the pods"), "{}", fix(REFUSED));
        let root = REFUSED
            .replace("securityContext: {allowPrivilegeEscalation: false}", "securityContext: {allowPrivilegeEscalation: false, runAsUser: 0}")
            .replace("allowPrivilegeEscalation != false (container", "runAsUser=0 (container \"web\" must not set runAsUser=0), allowPrivilegeEscalation != false (container");
        assert!(fix(&root).contains("fix (proposed, medium risk): Have the pods"), "{}", fix(&root));
    }

    #[test]
    fn what_one_override_takes_away_from_several_is_told_as_one() {
        let one = format!("{SIBLING}{REFUSED}");
        let names = [("web", "api"), ("d1", "d2"), ("r1", "r2")];
        let other = names.iter().fold(one.clone(), |text, (old, new)| text.replace(old, new));
        let apart = format!("{one}{other}");
        assert_eq!(roots(&apart).lines().count(), 2, "each in its own file");
        let together =
            apart.replace("Progressing\napiVersion", "Progressing\n@file charts/app.yaml\napiVersion");
        assert_eq!(roots(&together), "P0 LYN0801/api/Deployment/api explains api web\n");
    }

    const SIBLING: &str = "
@app web-staging Synced Healthy
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop-staging}
spec:
  template:
    spec:
      securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      initContainers: [{name: wait, image: a, securityContext: {allowPrivilegeEscalation: false}}]
      containers: [{name: web, image: b, securityContext: {allowPrivilegeEscalation: false}}]
";

    const COVERED: &str = "@covers envs/live.yaml:1 podSecurityContext null values.yaml Deployment web \
                           spec.template.spec.securityContext.seccompProfile {type: RuntimeDefault}\n@live\n";

    #[test]
    fn a_value_that_takes_it_away_is_named_and_taken_out() {
        let text = REFUSED.replacen("@live\n", COVERED, 1);
        let found = check("LYN0801", &text);
        assert!(
            found.contains("; `podSecurityContext: null` in envs/live.yaml covers what values.yaml has\n"),
            "{found}"
        );
        assert!(
            found.contains("\n  envs/live.yaml:1: podSecurityContext: null covers what values.yaml has\n"),
            "{found}"
        );
        assert!(
            roots_with_fixes(&text).contains(
                "  Take `podSecurityContext: null` out of envs/live.yaml\n    \
                 in the files of web: take podSecurityContext out of envs/live.yaml\n    \
                 in the files of web: set spec.template.spec.initContainers[0].securityContext.allowPrivilegeEscalation"
            ),
            "what does not come back has to be set all the same: {}",
            roots_with_fixes(&text)
        );
    }

    #[test]
    fn a_covered_value_that_would_not_help_is_not_named() {
        let text = REFUSED.replacen("@live\n", &COVERED.replace("seccompProfile", "fsGroup"), 1);
        assert!(!check("LYN0801", &text).contains("envs/live.yaml"));
    }

    const NAMESPACE: &str = "
@app places Synced Healthy
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {pod-security.kubernetes.io/enforce: restricted}}
";

    #[test]
    fn the_standard_is_lowered_to_one_that_lets_the_pods_in() {
        let title = |text: &str| {
            let found = check("LYN0801", text);
            found.lines().last().unwrap_or_default().trim().to_owned()
        };
        let text = format!("{NAMESPACE}{REFUSED}");
        assert_eq!(title(&text), "fix: Lower the standard of namespace shop to baseline");
        let host =
            text.replace("allowPrivilegeEscalation != false (", "host namespaces (hostNetwork=true), x (");
        assert_eq!(title(&host), "fix: Lower the standard of namespace shop to privileged");
        let lower = text.replace("restricted:latest", "baseline:latest");
        assert_eq!(title(&lower), "fix: Lower the standard of namespace shop to privileged");
    }

    #[test]
    fn a_warning_is_not_a_refusal() {
        assert_eq!(
            check("LYN0801", &REFUSED.replace("violates PodSecurity", "would violate PodSecurity")),
            ""
        );
    }

    /// A Deployment that a sync has not come to, in a namespace that enforces a standard.
    fn to_come(standard: &str, pods: &str) -> String {
        format!(
            "@app web OutOfSync Missing\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: shop}}\nspec: {{template: \
             {{spec: {{{pods}}}}}}}\n@live\napiVersion: v1\nkind: Namespace\nmetadata: {{name: shop, labels: \
             {{pod-security.kubernetes.io/enforce: {standard}}}}}\n"
        )
    }

    #[test]
    fn pods_that_a_stopped_sync_has_not_come_to_are_told_before_they_are_refused() {
        let good = "securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}, containers: [{name: web, image: b, \
                    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]";
        assert_eq!(check("LYN0801", &to_come("restricted", good)), "");
        let lacking = good.replace("runAsNonRoot: true, ", "");
        assert_eq!(
            check("LYN0801", &to_come("restricted", &lacking)),
            "P1 LYN0801/web/Deployment/web: the pods of Deployment web will be refused: the namespace enforces Pod Security \
             restricted:latest, and the pod lacks securityContext.runAsNonRoot=true\n  Namespace shop: \
             metadata.labels.pod-security.kubernetes.io/enforce: restricted\n  fix: Have the pods of Deployment web keep Pod Security \
             restricted:latest\n"
        );
        assert_eq!(check("LYN0801", &to_come("baseline", &lacking)), "");
        let host = check("LYN0801", &to_come("baseline", &format!("hostNetwork: true, {lacking}")));
        assert!(host.contains("baseline:latest, and the pod has hostNetwork\n"), "{host}");
        let hook = "---\napiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration\nmetadata: {name: a}\nwebhooks: \
                    [{rules: [{resources: [pods]}]}]\n";
        assert_eq!(
            check("LYN0801", &format!("{}{hook}", to_come("restricted", &lacking))),
            "",
            "it may add that"
        );
    }
}
