//! Secrets, ConfigMaps, service accounts and claims that are named and defined nowhere.

use std::collections::BTreeSet;

use lynceus_object::{ObjectKey, Value, value};

use super::nowhere::{self, Nowhere};
use super::{lacking, switched_off};
use crate::case::{Case, Pods};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::node::{AppName, Node};
use crate::rules::Rule;
use crate::snapshot::Lacking;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0301",
    title: "Something is named that is defined nowhere",
    explanation: "\
Pods or custom resources name a Secret, ConfigMap, service account, claim or something else that is not there, that no application wants and that nothing makes: no
external secret, certificate, operator or script. They cannot start, and no waiting helps.

## Why
It was made by hand in another cluster and forgotten here, its name is misspelt, it is in another namespace, or the manifest that
made it was removed.

## Example
```
Error: secret \"db-credential\" not found        there is a Secret db-credentials
```

## What to do
If one is called almost so, name that. Otherwise add what is missing to the application that needs it, or to the one that makes its
like.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for one in nowhere::nowhere(case) {
        // What an option of a chart switches off has a rule of its own.
        if !switched_off::is_switched_off(case, &one) {
            findings.add(found(case, &one));
        }
    }
}

fn found(case: &Case<'_>, one: &Nowhere<'_>) -> Finding {
    let key = &one.key;
    if let Some(held) = lacking::withheld(case, one.server, &Lacking::Object(key.clone())) {
        let cause =
            format!("{} {} is needed by {} and not made: {}", key.kind, key.name, users(one), held.why());
        let finding = Finding::new(RULE.code, Node::object(one.server, key.clone()), cause);
        return dressed(finding, case, one).seen([lacking::evidence(case, held)]).fix(fixes(case, one));
    }
    let hint = match (one.near.or(one.likely), one.elsewhere) {
        (Some(other), _) if one.maker.is_some() => {
            let kind = one.maker.as_ref().map(|(maker, _)| maker.kind()).unwrap_or_default();
            format!("; {kind} {} makes {} {other}", key.name, key.kind)
        }
        (Some(near), _) if nowhere::stem(near).is_some() => {
            format!("; a generator makes {} {near}, with a hash of the content behind its name", key.kind)
        }
        (Some(near), _) => format!("; there is {} {near}", key.kind),
        (None, Some(namespace)) => format!("; namespace {namespace} has one of that name"),
        (None, None) => String::new(),
    };
    let nowhere = match one.elsewhere.filter(|_| !key.namespace.is_empty()) {
        Some(_) => format!("not in its namespace {}", key.namespace),
        None => "defined nowhere".to_owned(),
    };
    let cause = format!("{} {} is needed by {} and {nowhere}{hint}", key.kind, key.name, users(one));
    let finding = dressed(Finding::new(RULE.code, Node::object(one.server, key.clone()), cause), case, one);
    finding.fix(fixes(case, one))
}

/// `Deployment web and Job seed`
pub(super) fn users(one: &Nowhere<'_>) -> String {
    let names: BTreeSet<String> =
        one.users.iter().map(|user| format!("{} {}", user.holder.kind(), user.holder.name())).collect();
    words::list(names)
}

/// With whose it is, how it was seen, and what comes of it.
pub(super) fn dressed(finding: Finding, case: &Case<'_>, one: &Nowhere<'_>) -> Finding {
    let fields = one.users.iter().map(|user| Evidence::Field {
        object: user.holder.key(),
        path: user.path.clone(),
        value: one.key.name.to_string(),
    });
    let mut known = BTreeSet::new();
    let fields: Vec<Evidence> =
        fields.filter(|one| known.insert(one.to_string())).take(crate::limits::NAMED).collect();
    let is_felt = one.users.iter().any(|user| {
        case.live(user.server, &user.holder.key()).is_none_or(|holder| {
            let mut children = case.children(user.server, holder).iter();
            case.is_unwell(holder)
                || children.any(|child| case.is_unwell(child))
                || Pods::of(holder).is_some()
        })
    });
    let severity = match is_felt {
        _ if one.users.iter().all(|user| user.is_spared) => Severity::P3,
        true => Severity::P1,
        false => Severity::P2,
    };
    let waiting = one.users.iter().filter(|user| !user.is_spared);
    let finding = finding
        .severity(severity)
        .of(app(case, one))
        .seen(fields)
        .seen(said(case, one))
        .affects(waiting.map(|user| case.node(user.server, &user.holder.key())));
    match one.unread.is_empty() {
        true => finding,
        // Whoever cannot be read may have it.
        false => finding.because(one.unread.iter().cloned().map(Node::Application)),
    }
}

/// The application that all who name it belong to, or the first of them.
pub(super) fn app(case: &Case<'_>, one: &Nowhere<'_>) -> Option<AppName> {
    one.users.iter().find_map(|user| case.owner(user.server, &user.holder.key()))
}

/// What a kubelet or controller says of it.
fn said(case: &Case<'_>, one: &Nowhere<'_>) -> Option<Evidence> {
    let user = one.users.first()?;
    let own = case.live(user.server, &user.holder.key())?;
    let pods = case.pods(user.server, own).into_iter();
    let around = pods.chain(case.children(user.server, own).iter().copied()).chain([own]);
    around.take(crate::limits::EVIDENCE).find_map(|object| {
        let events = case.events(user.server, &object.key()).iter();
        let mut texts = events.filter_map(|event| Some((event, event.value().str_at(&["message"])?)));
        let (event, message) =
            texts.find(|(_, text)| text.contains("not found") && text.contains(one.key.name.as_str()))?;
        Some(Evidence::Event {
            object: object.key(),
            reason: event.value().str_at(&["reason"]).unwrap_or_default().into(),
            message: words::quote(message),
            count: event.value().int_at(&["count"]).unwrap_or(1),
        })
    })
}

fn fixes(case: &Case<'_>, one: &Nowhere<'_>) -> Vec<Fix> {
    // A name with a hash is another one with the next change of what is in it.
    if let Some((near, stem)) = one.near.and_then(|near| Some((near, nowhere::stem(near)?))) {
        return generated(case, one, near, stem);
    }
    let near = one.near.or(one.likely).and_then(|near| rename(case, one, near));
    near.into_iter().chain(make(case, one)).chain(add(case, one)).chain([by_hand(one)]).collect()
}

/// Has all who name it name another.
fn rename(case: &Case<'_>, one: &Nowhere<'_>, near: &str) -> Option<Fix> {
    let mut fix = Fix::new(format!("Name {} {near} instead", one.key.kind));
    let mut known = BTreeSet::new();
    for user in &one.users {
        let app = case.owner(user.server, &user.holder.key());
        let is_name =
            user.path.get(user.holder.value()).and_then(Value::as_str) == Some(one.key.name.as_str());
        let Some(app) = app.filter(|_| is_name && known.insert((user.holder.key(), user.path.to_string())))
        else {
            continue;
        };
        let place = Place::Field {
            object: user.holder.key(),
            path: user.path.clone(),
            value: Some(Value::from(near)),
        };
        fix = fix.git(&app, place);
    }
    fix.has_edits().then(|| {
        fix.risk(Risk::Low, format!("{}, whose pods do not start now", users(one)))
            .why(match one.near {
                Some(_) => "it is there, and its name differs by a slip of the hand",
                None => "it is there, and nothing else is called like it",
            })
            .verify(verify(&one.key))
    })
}

/// Has what is called as it is make it.
fn make(case: &Case<'_>, one: &Nowhere<'_>) -> Option<Fix> {
    let (maker, path) = one.maker.as_ref()?;
    let app = case.owner(one.server, &maker.key())?;
    let value = Some(Value::from(one.key.name.as_str()));
    let fix =
        Fix::new(format!("Have {} {} make {} {}", maker.kind(), maker.name(), one.key.kind, one.key.name))
            .git(&app, Place::Field { object: maker.key(), path: path.clone(), value })
            .risk(Risk::Medium, format!("whoever reads the one that it makes now; {}", users(one)))
            .why("it is called so itself")
            .verify(verify(&one.key));
    Some(fix)
}

/// Has a generator leave the hash away, or the references be where it can follow them.
fn generated(case: &Case<'_>, one: &Nowhere<'_>, near: &str, stem: &str) -> Vec<Fix> {
    let kind = one.key.kind.as_str();
    let generator = if kind == "Secret" { "secretGenerator" } else { "configMapGenerator" };
    let key = ObjectKey { name: near.into(), ..one.key.clone() };
    let wanted = case.wanted(one.server, &key);
    let place = match wanted.first() {
        Some((app, wanted)) => match &wanted.span {
            Some(span) => format!("the kustomization in {} (application {})", span.file, app.name),
            None => format!("the kustomization of application {}", app.name),
        },
        None => format!("the kustomization that makes {near}"),
    };
    let plain = Fix::new(format!("Have the generator of {kind} {stem} leave the hash away"))
        .person(format!("in {place}, give {stem} of {generator} `options: {{disableNameSuffixHash: true}}`"))
        .risk(Risk::Low, format!("pods that read {kind} {stem} are no longer made anew when it changes"))
        .why("then everybody can name it")
        .verify(verify(&one.key));
    let together = Fix::new(format!("Have {} made by the kustomization that makes {kind} {stem}", users(one)))
        .person(format!(
            "list both in one kustomization, and name {kind} {stem} there: Kustomize puts the hash into the references that it builds itself, \
             and into no others"
        ))
        .why("pods are made anew when what they read changes")
        .verify(verify(&one.key));
    vec![plain, together]
}

/// Adds it where that needs no more than a name.
pub(super) fn add(case: &Case<'_>, one: &Nowhere<'_>) -> Option<Fix> {
    let (app, user) = (app(case, one)?, one.users.first()?);
    if one.key.kind != "ServiceAccount" {
        return None;
    }
    let object = value!({
        "apiVersion": "v1", "kind": (one.key.kind.as_str()),
        "metadata": {"name": (one.key.name.as_str()), "namespace": (one.key.namespace.as_str())},
    });
    Some(
        Fix::new(format!("Add ServiceAccount {}", one.key.name))
            .git(&app, Place::Add { beside: user.holder.key(), object })
            .risk(Risk::Low, "nothing that is there")
            .why("it lets the pods start; what they may do has to be bound to it")
            .verify(verify(&one.key)),
    )
}

fn by_hand(one: &Nowhere<'_>) -> Fix {
    let parts: BTreeSet<&str> = one.users.iter().filter_map(|user| user.part.as_deref()).collect();
    let keys =
        if parts.is_empty() { String::new() } else { format!(" with the keys {}", words::list(parts)) };
    let key = &one.key;
    // What is for the whole cluster does not say where it looks.
    let place = match key.namespace.as_str() {
        "" => ", in the namespace of whoever reads it".to_owned(),
        namespace => format!(", in namespace {namespace}"),
    };
    Fix::new(format!("Have {} {} made", key.kind, key.name))
        .person(format!("add it to the application that needs it{place}{keys}, by what makes the others"))
        .verify(verify(key))
        .why("what is in it is not known here")
}

pub(super) fn verify(key: &ObjectKey) -> String {
    match key.namespace.as_str() {
        "" => format!("kubectl get {} -A | grep {}", key.kind.to_lowercase(), key.name),
        namespace => format!("kubectl -n {namespace} get {} {}", key.kind.to_lowercase(), key.name),
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const NEEDS: &str = "
@app web Synced Degraded
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web, namespace: shop}
spec: {template: {spec: {containers: [{name: web, image: web, envFrom: [{secretRef: {name: db-credential}}]}]}}}
@live
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web, namespace: shop, uid: s1, generation: 1}
spec: {replicas: 1, template: {spec: {containers: [{name: web, image: web, envFrom: [{secretRef: {name: db-credential}}]}]}}}
status: {observedGeneration: 1, replicas: 1, readyReplicas: 0}
---
apiVersion: v1
kind: Secret
metadata: {name: db-credentials, namespace: shop}
data: {password: x}
";

    #[test]
    fn a_name_with_a_hash_that_a_generator_made_is_never_proposed() {
        let text = NEEDS.replace("db-credentials", "db-credential-7tt5b6m4t5");
        let found = check("LYN0301", &text);
        assert!(
            found.contains("a generator makes Secret db-credential-7tt5b6m4t5, with a hash of the content behind its name"),
            "{found}"
        );
        assert!(
            found.ends_with(
                "  fix: Have the generator of Secret db-credential leave the hash away\n  \
                 fix: Have StatefulSet web made by the kustomization that makes Secret db-credential\n"
            ),
            "{found}"
        );
        let word = check("LYN0301", &NEEDS.replace("db-credentials", "db-credential-production"));
        assert!(!word.contains("generator"), "{word}");
    }

    #[test]
    fn a_secret_that_nobody_makes_is_found_and_the_nearest_named() {
        assert_eq!(
            check("LYN0301", NEEDS),
            "P1 LYN0301/web/Secret/db-credential: Secret db-credential is needed by StatefulSet web and defined nowhere; there \
             is Secret db-credentials\n  StatefulSet shop/web: spec.template.spec.containers[0].envFrom[0].secretRef.name: \
             db-credential\n  fix: Name Secret db-credentials instead\n  fix: Have Secret db-credential made\n"
        );
        assert_eq!(roots(NEEDS), "P1 LYN0301/web/Secret/db-credential explains web\n");
    }

    #[test]
    fn a_hook_that_runs_only_on_failure_or_deletion_lacks_nothing_yet() {
        let job = |hook: &str| {
            let text = format!(
                "@app web Synced Healthy\napiVersion: batch/v1\nkind: Job\nmetadata: {{name: undo, namespace: shop, annotations: \
                 {{{hook}}}}}\nspec: {{template: {{spec: {{containers: [{{name: a, image: a, envFrom: [{{configMapRef: {{name: \
                 gone}}}}]}}]}}}}}}\n"
            );
            check("LYN0301", &text)
        };
        for hook in ["SyncFail", "PreDelete", "PostDelete"] {
            assert_eq!(job(&format!("argocd.argoproj.io/hook: {hook}")), "", "{hook}");
        }
        assert_eq!(job("helm.sh/hook: 'pre-delete,test'"), "");
        assert!(
            job("argocd.argoproj.io/hook: 'PostSync,SyncFail'")
                .contains("ConfigMap gone is needed by Job undo")
        );
        assert!(job("helm.sh/hook: post-install").contains("ConfigMap gone is needed by Job undo"));
    }

    #[test]
    fn what_is_called_as_the_secret_and_makes_another_is_told() {
        let text = NEEDS.replace(
            "apiVersion: v1\nkind: Secret\nmetadata: {name: db-credentials, namespace: shop}\ndata: {password: x}\n",
            "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: db-credential, namespace: shop}\nspec: {target: {name: database}}\nstatus: {conditions: [{type: Ready, status: 'True'}]}\n",
        );
        let found = check("LYN0301", &text);
        assert!(
            found.contains("defined nowhere; ExternalSecret db-credential makes Secret database\n"),
            "{found}"
        );
        assert!(found.contains("  fix: Name Secret database instead\n"), "{found}");
    }

    #[test]
    fn the_only_generated_one_is_named_without_its_hash() {
        let text = NEEDS.replace("name: db-credentials,", "name: db-login-7tt5b6m4t5,");
        let found = check("LYN0301", &text);
        assert!(found.contains("defined nowhere; there is Secret db-login\n"), "{found}");
        assert!(found.contains("  fix: Name Secret db-login instead\n"), "{found}");
    }

    #[test]
    fn an_account_that_a_store_misspells_is_found_though_the_store_says_nothing() {
        let text = "
@live
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: pay, namespace: pay}
spec: {provider: {kubernetes: {auth: {serviceAccount: {name: x}}}, vault: {auth: {kubernetes: {serviceAccountRef: {name: eso-reader}}}}}}
status: {conditions: [{type: Ready, status: 'True'}]}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: eso-read, namespace: pay}
";
        let found = check("LYN0301", text);
        assert!(
            found.starts_with(
                "P2 LYN0301/pay/ServiceAccount/eso-reader: ServiceAccount eso-reader is needed by SecretStore pay and defined nowhere; there is \
                 ServiceAccount eso-read\n"
            ),
            "{found}"
        );
        assert_eq!(check("LYN0301", &text.replace("name: eso-read,", "name: other,")), "");
    }

    #[test]
    fn one_that_is_in_another_namespace_only_is_not_said_to_be_nowhere() {
        let text = NEEDS.replace(
            "metadata: {name: db-credentials, namespace: shop}",
            "metadata: {name: db-credential, namespace: stall}",
        );
        let found = check("LYN0301", &text);
        assert!(
            found.contains(
                "is needed by StatefulSet web and not in its namespace shop; namespace stall has one of that name\n"
            ),
            "{found}"
        );
    }

    #[test]
    fn one_of_an_application_whose_revision_is_gone_is_told_with_the_application() {
        let text = format!("@withheld secrets Secret/shop/db-credential revision v9\n{NEEDS}");
        let found = check("LYN0301", &text);
        assert!(
            found.contains(
                "and not made: application secrets would bring it, but its revision v9 is not there\n"
            ),
            "{found}"
        );
        assert_eq!(check("LYN0305", &text), "");
    }

    #[test]
    fn a_certificate_that_a_gateway_lacks_is_found_with_the_one_that_is_probably_meant() {
        let text = "
@live
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: edge}
spec: {listeners: [{name: https, tls: {certificateRefs: [{name: wildcard-tls}]}}]}
status: {conditions: [{type: Accepted, status: 'False', message: 'certificate refs 0: Secret edge/wildcard-tls does not exist.'}]}
---
apiVersion: v1
kind: Secret
type: kubernetes.io/tls
metadata: {name: wildcard-acme-tls, namespace: edge}
";
        let found = check("LYN0301", text);
        assert!(
            found.contains("needed by Gateway edge and defined nowhere; there is Secret wildcard-acme-tls\n"),
            "{found}"
        );
        let other = check("LYN0301", &text.replace("type: kubernetes.io/tls", "type: Opaque"));
        assert!(other.contains("defined nowhere\n"), "{other}");
    }

    #[test]
    fn what_is_not_there_yet_counts_as_what_is_to_come() {
        let (wanted, _) = NEEDS.split_once("@live").unwrap();
        assert!(check("LYN0301", wanted).contains("Secret db-credential is needed by StatefulSet web"));
    }

    #[test]
    fn a_secret_that_something_makes_is_not_missing() {
        let makers = [
            "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: x, namespace: shop}\nspec: {target: {name: db-credential}}",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: db-credential, namespace: shop}",
            "apiVersion: db.example.org/v1\nkind: Database\nmetadata: {name: db, namespace: shop}",
            "apiVersion: batch/v1\nkind: Job\nmetadata: {name: make, namespace: shop}\nspec: {template: {spec: {containers: [{name: m, image: m, args: [create, --secret-name=db-credential]}]}}}",
        ];
        for maker in makers {
            assert_eq!(
                check("LYN0301", &format!("@app other OutOfSync Missing\n{maker}\n{NEEDS}")),
                "",
                "{maker}"
            );
        }
    }

    #[test]
    fn an_operator_that_is_done_would_have_made_it() {
        let done = "---\napiVersion: db.example.org/v1\nkind: Database\nmetadata: {name: db, namespace: shop}\nstatus: {conditions: [{type: Ready, status: 'True'}]}\n";
        assert!(check("LYN0301", &format!("{NEEDS}{done}")).contains("defined nowhere"));
    }

    #[test]
    fn what_an_application_lists_in_its_status_is_on_its_way() {
        let listed = "@app secrets OutOfSync Missing\n@status {resources: [{version: v1, kind: Secret, namespace: shop, name: \
                      db-credential, status: OutOfSync, health: {status: Missing}}]}\n";
        assert_eq!(check("LYN0301", &format!("{listed}{NEEDS}")), "");
    }

    #[test]
    fn what_is_optional_is_not_needed() {
        assert_eq!(
            check(
                "LYN0301",
                &NEEDS.replace("{name: db-credential}}", "{name: db-credential, optional: true}}")
            ),
            ""
        );
    }

    #[test]
    fn a_workload_that_is_well_does_not_complain() {
        let well = NEEDS.replace(
            "readyReplicas: 0",
            "readyReplicas: 1, updatedReplicas: 1, currentRevision: a, updateRevision: a",
        );
        assert_eq!(check("LYN0301", &well), "");
    }

    #[test]
    fn an_application_that_cannot_be_read_may_have_it() {
        let unread = "@app secrets Unknown Unknown\n@spec {destination: {namespace: shop}}\n@condition ComparisonError revision gone\n";
        let text = format!("{unread}{NEEDS}");
        assert!(check("LYN0301", &text).contains("defined nowhere"), "it is still what is seen");
    }

    #[test]
    fn the_certificate_of_an_ingress_is_missed_unless_something_makes_it() {
        let entry = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web, namespace: shop}\nspec: {tls: \
                     [{hosts: [a.example.com], secretName: shop-tls}]}\n";
        let text = format!(
            "@app web Synced Healthy\n{entry}@live\n{entry}status: {{loadBalancer: {{ingress: [{{ip: 10.0.0.1}}]}}}}\n"
        );
        assert_eq!(
            check("LYN0301", &text),
            "P3 LYN0301/web/Secret/shop-tls: Secret shop-tls is needed by Ingress web and defined nowhere\n  Ingress shop/web: \
             spec.tls[0].secretName: shop-tls\n  fix: Have Secret shop-tls made\n"
        );
        let issued =
            text.replace("name: web,", "annotations: {cert-manager.io/cluster-issuer: acme}, name: web,");
        assert_eq!(check("LYN0301", &issued), "");
        let certificate = "---\napiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: shop, namespace: shop}\nspec: \
                           {secretName: shop-tls}\n";
        assert_eq!(check("LYN0301", &format!("{text}{certificate}")), "");
        // What is wrong with the Ingress otherwise is not its doing.
        let waiting = text
            .replace("Synced Healthy", "Synced Progressing")
            .replace("status: {loadBalancer: {ingress: [{ip: 10.0.0.1}]}}\n", "");
        assert!(!crate::tests::roots(&waiting).contains("LYN0301/web/Secret/shop-tls explains web"));
    }
}
