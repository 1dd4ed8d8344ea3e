//! Options of charts that switch off what another part of the chart names.

use lynceus_object::{FieldPath, ObjectKey, Value, yaml};

use super::nowhere::{self, Nowhere};
use super::{lacking, missing_object, missing_service};
use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::snapshot::{Hindrance, Lacking, Withheld};

pub(super) const RULE: Rule = Rule {
    code: "LYN0305",
    title: "A chart's option switches off what another part of it names",
    explanation: "\
The chart can make what its own pods or routes name, or that of another application can, and an option tells it not to: a value, the
condition or tag of a subchart, or a parameter of the Application. What is named is then expected to be there already, and it is not.
Where the sources are at hand, the option was tried the other way, and the chart made it.

## Why
`create: false` is for those who bring their own, and `enabled: false` for those who do without. It was copied from an environment
that does, or the object that was to be brought was forgotten.

## Example
```
prometheus:
  serviceAccount: {create: false}       the pods name prometheus-prod-kube-prome-prometheus
```

## What to do
Let the chart make it, or name one that is there.
",
    check,
};

/// An option that keeps a chart from making something.
struct Switch<'c, 'a> {
    app: &'c App<'a>,
    /// `serviceAccount.create`; empty if the values cannot be seen.
    option: String,
    place: Option<Place>,
}

fn check(case: &Case<'_>, findings: &mut Findings) {
    for one in nowhere::nowhere(case) {
        if let Some(held) = withheld(case, one.server, &one.key) {
            findings.add(tried(case, &one, held));
        } else if let Some(switch) = switch(case, &one) {
            findings.add(found(case, &one, switch));
        }
    }
    for ((server, key), users) in missing_service::missing(case) {
        let Some(held) = withheld(case, server, &key) else { continue };
        let who = missing_service::who(&users);
        let cause = format!("{} {} is named by {who} and not made: {}", key.kind, key.name, held.why());
        let finding = Finding::new(RULE.code, Node::object(server, key.clone()), cause);
        let finding = missing_service::dressed(finding, case, server, &users);
        findings.add(finding.seen([lacking::evidence(case, held)]).fix(turned(&key, held)));
    }
}

/// The option that keeps something from being made, where it was tried that it is made without.
pub(super) fn withheld<'a>(case: &Case<'a>, server: &str, key: &ObjectKey) -> Option<&'a Withheld> {
    lacking::withheld(case, server, &Lacking::Object(key.clone()))
        .filter(|held| matches!(held.by, Hindrance::Option { .. }))
}

/// Whether an option keeps something that pods name from being made.
pub(super) fn is_switched_off(case: &Case<'_>, one: &Nowhere<'_>) -> bool {
    match lacking::withheld(case, one.server, &Lacking::Object(one.key.clone())) {
        Some(held) => matches!(held.by, Hindrance::Option { .. }),
        None => switch(case, one).is_some(),
    }
}

/// An option that was tried the other way.
fn tried(case: &Case<'_>, one: &Nowhere<'_>, held: &Withheld) -> Finding {
    let (key, users) = (&one.key, missing_object::users(one));
    let cause = format!("{} {} is needed by {users} and not made: {}", key.kind, key.name, held.why());
    let finding = Finding::new(RULE.code, Node::object(one.server, key.clone()), cause);
    let fixes = turned(key, held).into_iter().chain(missing_object::add(case, one));
    missing_object::dressed(finding, case, one).seen([lacking::evidence(case, held)]).fix(fixes)
}

/// Sets the option.
fn turned(key: &ObjectKey, held: &Withheld) -> Option<Fix> {
    let Hindrance::Option { option, turned, place, .. } = &held.by else { return None };
    let name = &held.application;
    let title =
        format!("Set {option} to {turned}, so that the chart of {name} makes {} {}", key.kind, key.name);
    Some(
        Fix::new(title)
            .git(&held.application, (**place).clone())
            .risk(Risk::Low, "nothing that is there")
            .why("the chart gives it the name and the content that its users expect")
            .verify(missing_object::verify(key)),
    )
}

fn found(case: &Case<'_>, one: &Nowhere<'_>, switch: Switch<'_, '_>) -> Finding {
    let (key, app) = (&one.key, switch.app);
    let why = match switch.option.as_str() {
        "" => format!("the chart of {} names it and does not make it", app.name),
        option => format!("{option} is false in the values of {}", app.name),
    };
    let cause =
        format!("{} {} is needed by {} and not made: {why}", key.kind, key.name, missing_object::users(one));
    let seen = (!switch.option.is_empty()).then(|| {
        Evidence::seen(format!("the values of application {} have {}: false", app.name, switch.option))
    });
    let finding = Finding::new(RULE.code, Node::object(one.server, key.clone()), cause);
    missing_object::dressed(finding, case, one).seen(seen).fix(fixes(case, one, switch))
}

fn fixes(case: &Case<'_>, one: &Nowhere<'_>, switch: Switch<'_, '_>) -> Vec<Fix> {
    let title = format!("Have the chart make {} {}", one.key.kind, one.key.name);
    let on = match (switch.place, switch.option.as_str()) {
        (Some(place), _) => Fix::new(title).git(&switch.app.name, place),
        // Where the chart is in Git, its value files are at hand.
        (None, "") if is_in_git(switch.app) => {
            Fix::new(title).git(&switch.app.name, Place::Make { object: one.key.clone() })
        }
        (None, "") => Fix::new(title).person(
            "set the option that creates it to true in the values of the chart, as serviceAccount.create",
        ),
        // Values that stand in the Application as one text.
        (None, option) => {
            Fix::new(title).person(format!("set {option} to true in the values of the application"))
        }
    };
    let on = on
        .risk(Risk::Low, "nothing that is there")
        .why("the chart gives it the name and the rights that its pods expect")
        .verify(missing_object::verify(&one.key));
    [on].into_iter().chain(missing_object::add(case, one)).collect()
}

/// The option that keeps a chart from making something that its pods name, as far as that can be told without trying.
fn switch<'c, 'a>(case: &'c Case<'a>, one: &Nowhere<'_>) -> Option<Switch<'c, 'a>> {
    if lacking::withheld(case, one.server, &Lacking::Object(one.key.clone())).is_some() {
        return None;
    }
    let user = one.users.first()?;
    let app = case.app_of(user.server, &user.holder.key())?;
    let options = options(app);
    let fits = |option: &&Option_| is_about(&option.path, &one.key.kind);
    let mut fitting: Vec<&Option_> = options.iter().filter(fits).collect();
    let name = one.key.name.to_lowercase();
    // Of several, the one whose part of the chart the name speaks of.
    fitting.sort_by_key(|option| {
        !option.path.iter().any(|part| part.len() > 2 && name.contains(&part.to_lowercase()))
    });
    if let Some(option) = fitting.first() {
        return Some(Switch { app, option: option.path.join("."), place: option.place.clone() });
    }
    (one.key.kind == "ServiceAccount"
        && one.near.is_none()
        && !is_given(app, &one.key.name)
        && is_of_chart(app, user.holder)
        && is_called_after(app, &one.key.name))
    .then_some(Switch { app, option: String::new(), place: None })
}

/// Whether an option is about a kind, by the names above it.
fn is_about(path: &[String], kind: &str) -> bool {
    let words: &[&str] = match kind {
        "ServiceAccount" => &["serviceaccount"],
        "Secret" => &["secret"],
        "ConfigMap" => &["configmap"],
        "PersistentVolumeClaim" => &["persistence", "pvc", "persistentvolumeclaim"],
        _ => &[],
    };
    let above = path.split_last().map_or(&[][..], |(_, above)| above);
    above.iter().any(|part| words.iter().any(|word| part.to_lowercase().contains(word)))
}

/// Whether a source of an application is in Git.
fn is_in_git(app: &App<'_>) -> bool {
    let spec = &app.application().spec;
    spec.source.iter().chain(&spec.sources).any(|source| source.chart.is_empty())
}

/// Whether an object comes out of a chart.
fn is_of_chart(app: &App<'_>, holder: &lynceus_object::Object) -> bool {
    let spec = &app.application().spec;
    let mut sources = spec.source.iter().chain(&spec.sources);
    holder.label("helm.sh/chart").is_some()
        || sources.any(|source| !source.chart.is_empty() || source.helm.is_some())
}

/// Whether the Application itself gives a name: then it is not the chart's own, and no option keeps it from being made.
fn is_given(app: &App<'_>, name: &str) -> bool {
    use lynceus_api::Kind as _;
    let application = app.application().to_object();
    let sources =
        application.value().items_at(&["spec", "sources"]).iter().chain(application.at(&["spec", "source"]));
    let mut helms = sources.filter_map(|source| source.at(&["helm"]));
    helms.any(|helm| {
        let inline = yaml::parse(helm.str_at(&["values"]).unwrap_or_default().as_bytes());
        let mut given = ["valuesObject", "parameters"].iter().filter_map(|field| helm.get(field));
        given.any(|values| has_text(values, name, 0)) || inline.is_ok_and(|values| has_text(&values, name, 0))
    })
}

fn has_text(value: &Value, text: &str, depth: usize) -> bool {
    match value {
        _ if depth > crate::limits::REFERENCE_DEPTH => false,
        Value::Map(map) => map.values().any(|part| has_text(part, text, depth + 1)),
        Value::Seq(items) => items.iter().any(|item| has_text(item, text, depth + 1)),
        _ => value.as_str() == Some(text),
    }
}

/// Whether a name begins with that of the release: charts call what they make so.
fn is_called_after(app: &App<'_>, name: &str) -> bool {
    let spec = &app.application().spec;
    let releases = spec.source.iter().chain(&spec.sources).filter_map(|source| source.helm.as_ref());
    let mut releases = releases.map(|helm| helm.release_name.as_str()).filter(|name| !name.is_empty());
    releases.any(|release| name.starts_with(release)) || name.starts_with(app.name.name.as_str())
}

/// An option that is off: its path in the values, and where that stands in the Application.
struct Option_ {
    path: Vec<String>,
    place: Option<Place>,
}

/// The options `create` and `enabled` that are off in what the Application itself says.
fn options(app: &App<'_>) -> Vec<Option_> {
    use lynceus_api::Kind as _;
    let spec = &app.application().spec;
    if !spec.source.iter().chain(&spec.sources).any(|source| source.helm.is_some()) {
        return Vec::new();
    }
    let application = app.application().to_object();
    let sources = application.value().items_at(&["spec", "sources"]).iter().enumerate();
    let sources =
        sources.map(|(place, source)| (FieldPath::fields(["spec", "sources"]).index(place), source));
    let single =
        application.at(&["spec", "source"]).map(|source| (FieldPath::fields(["spec", "source"]), source));
    let mut all = Vec::new();
    for (path, source) in single.into_iter().chain(sources) {
        let helm = path.field("helm");
        if let Some(values) = source.at(&["helm", "valuesObject"]) {
            walk(values, &mut Vec::new(), &mut |path| {
                let place = path.iter().fold(helm.field("valuesObject"), |at, part| at.field(part.as_str()));
                let place = Place::Application { path: place, value: Some(Value::Bool(true)) };
                all.push(Option_ { path: path.to_vec(), place: Some(place) });
            });
        }
        let text = source.str_at(&["helm", "values"]).unwrap_or_default();
        if let Ok(values) = yaml::parse(text.as_bytes()) {
            walk(&values, &mut Vec::new(), &mut |path| {
                all.push(Option_ { path: path.to_vec(), place: None })
            });
        }
        for (number, one) in source.items_at(&["helm", "parameters"]).iter().enumerate() {
            let path: Vec<String> =
                one.str_at(&["name"]).unwrap_or_default().split('.').map(str::to_owned).collect();
            if one.str_at(&["value"]) == Some("false") && is_switch(path.last()) {
                let at = helm.field("parameters").index(number).field("value");
                let place = Place::Application { path: at, value: Some(Value::from("true")) };
                all.push(Option_ { path, place: Some(place) });
            }
        }
    }
    all
}

fn is_switch(name: Option<&String>) -> bool {
    name.is_some_and(|name| name == "create" || name == "enabled")
}

/// The switches that are off, wherever they stand.
fn walk(value: &Value, path: &mut Vec<String>, take: &mut dyn FnMut(&[String])) {
    let Some(map) = value.as_map().filter(|_| path.len() < crate::limits::REFERENCE_DEPTH) else { return };
    for (field, part) in map.iter() {
        path.push(field.to_string());
        if part.as_bool() == Some(false) && is_switch(path.last()) {
            take(path);
        }
        walk(part, path, take);
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const OFF: &str = "
@app prom OutOfSync Degraded
@spec {source: {chart: kube-prometheus-stack, helm: {valuesObject: {prometheus: {serviceAccount: {create: false}}, alertmanager: {enabled: false}}}}}
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: prometheus, namespace: mon}
spec: {template: {spec: {serviceAccountName: prom-kube-prome-prometheus, containers: [{name: p, image: p}]}}}
@live
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: prometheus, namespace: mon, generation: 1}
spec: {replicas: 1, template: {spec: {serviceAccountName: prom-kube-prome-prometheus, containers: [{name: p, image: p}]}}}
status: {observedGeneration: 1, replicas: 0, readyReplicas: 0}
";

    #[test]
    fn an_option_that_switches_off_what_is_named_is_found() {
        assert_eq!(
            check("LYN0305", OFF),
            "P1 LYN0305/prom/ServiceAccount/prom-kube-prome-prometheus: ServiceAccount prom-kube-prome-prometheus is needed by \
             StatefulSet prometheus and not made: prometheus.serviceAccount.create is false in the values of prom\n  StatefulSet \
             mon/prometheus: spec.template.spec.serviceAccountName: prom-kube-prome-prometheus\n  the values of application prom \
             have prometheus.serviceAccount.create: false\n  fix: Have the chart make ServiceAccount \
             prom-kube-prome-prometheus\n  fix: Add ServiceAccount prom-kube-prome-prometheus\n"
        );
        assert_eq!(roots(OFF), "P1 LYN0305/prom/ServiceAccount/prom-kube-prome-prometheus explains prom\n");
    }

    const HELD: &str = "
@withheld ray Secret/ray/ray-auth auth.enabled config/ray.yaml:2
@app ray Synced Degraded
apiVersion: apps/v1
kind: Deployment
metadata: {name: ray, namespace: ray}
spec: {template: {spec: {containers: [{name: r, image: r, envFrom: [{secretRef: {name: ray-auth}}]}]}}}
";

    #[test]
    fn an_option_that_was_tried_is_named_with_where_it_stands() {
        assert_eq!(
            check("LYN0305", HELD),
            "P1 LYN0305/ray/Secret/ray-auth: Secret ray-auth is needed by Deployment ray and not made: auth.enabled is false in \
             the values of ray (config/ray.yaml:2)\n  Deployment ray/ray: \
             spec.template.spec.containers[0].envFrom[0].secretRef.name: ray-auth\n  config/ray.yaml:2: auth.enabled: false; if \
             it is true, ray has it\n  fix: Set auth.enabled to true, so that the chart of ray makes Secret ray-auth\n"
        );
        assert_eq!(check("LYN0301", HELD), "");
        let parameter = HELD.replace("config/ray.yaml:2", "spec.source.helm.parameters[0].value");
        let found = check("LYN0305", &parameter);
        assert!(
            found.contains(
                "auth.enabled is false in spec.source.helm.parameters[0].value of application ray\n"
            ),
            "{found}"
        );
        assert!(
            found.contains(
                "application ray: spec.source.helm.parameters[0].value: auth.enabled is false; if it is true, ray has it\n"
            ),
            "{found}"
        );
        let fixes = crate::tests::roots_with_fixes(&parameter);
        assert!(
            fixes.contains("set spec.source.helm.parameters[0].value of the Application to \"true\""),
            "{fixes}"
        );
    }

    #[test]
    fn an_option_for_another_object_says_nothing() {
        let other = HELD.replace("Secret/ray/ray-auth auth", "Secret/ray/ray-other auth");
        assert_eq!(check("LYN0305", &other), "");
        assert!(
            check("LYN0301", &other)
                .contains("Secret ray-auth is needed by Deployment ray and defined nowhere")
        );
    }

    #[test]
    fn a_service_that_an_option_keeps_back_is_found() {
        let text = "
@withheld shop Service/shop/web service.enabled shop/values.yaml:7
@app shop Synced Healthy
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: shop, namespace: shop}
spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}
";
        let found = check("LYN0305", text);
        assert!(
            found.contains("Service web is named by Ingress shop and not made: service.enabled is false in the values of shop (shop/values.yaml:7)"),
            "{found}"
        );
        assert_eq!(check("LYN0303", text), "");
        assert!(
            check("LYN0303", &text.replace("Service/shop/web", "Service/shop/api"))
                .contains("defined nowhere")
        );
    }

    #[test]
    fn a_name_of_the_chart_that_the_chart_does_not_make_is_found_without_values() {
        let unseen = OFF.replace(", helm: {valuesObject: {prometheus: {serviceAccount: {create: false}}, alertmanager: {enabled: false}}}", "");
        assert!(check("LYN0305", &unseen).contains("the chart of prom names it and does not make it"));
        let in_git =
            unseen.replace("{chart: kube-prometheus-stack}", "{path: prom, helm: {valueFiles: [live.yaml]}}");
        let fixes = crate::tests::roots_with_fixes(&in_git);
        assert!(fixes.contains("switch on the option of the chart that makes ServiceAccount"), "{fixes}");
    }

    #[test]
    fn a_name_that_the_application_gives_is_not_the_charts_own() {
        let given = OFF.replace(
            "{prometheus: {serviceAccount: {create: false}}, alertmanager: {enabled: false}}",
            "{serviceAccountName: prom-kube-prome-prometheus}",
        );
        assert_eq!(check("LYN0305", &given), "");
        let account = "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: prom-kube-prome, namespace: mon}\n@live";
        let found = check("LYN0301", &given.replace("@live", account));
        assert!(found.contains("defined nowhere; there is ServiceAccount prom-kube-prome\n"), "{found}");
        assert!(found.contains("fix: Name ServiceAccount prom-kube-prome instead\n"), "{found}");
    }

    #[test]
    fn what_an_operator_passes_on_to_its_pods_is_found() {
        let text = "
@app prom Synced Degraded
@spec {source: {chart: kube-prometheus-stack}}
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main, namespace: mon}
@live
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main, namespace: mon, uid: p1}
spec: {serviceAccountName: prom-main}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: prometheus-main, namespace: mon, generation: 1, uid: s1, ownerReferences: [{apiVersion: monitoring.coreos.com/v1, kind: Prometheus, name: main, uid: p1, controller: true}]}
spec: {replicas: 1, template: {spec: {serviceAccountName: prom-main, containers: [{name: p, image: p}], volumes: [{name: c, secret: {secretName: prometheus-main}}]}}}
status: {observedGeneration: 1, replicas: 0, readyReplicas: 0}
";
        assert_eq!(
            check("LYN0305", text),
            "P1 LYN0305/prom/ServiceAccount/prom-main: ServiceAccount prom-main is needed by Prometheus main and not made: the \
             chart of prom names it and does not make it\n  Prometheus mon/main: spec.serviceAccountName: prom-main\n  fix: Have \
             the chart make ServiceAccount prom-main\n  fix: Add ServiceAccount prom-main\n"
        );
        assert_eq!(check("LYN0301", text), "", "what the operator makes for itself is its own affair");
    }

    #[test]
    fn what_plain_manifests_name_is_left_to_the_other_rule() {
        let plain = OFF.replace("@spec {source: {chart: kube-prometheus-stack, helm: {valuesObject: {prometheus: {serviceAccount: {create: false}}, alertmanager: {enabled: false}}}}}\n", "");
        assert_eq!(check("LYN0305", &plain), "");
        assert!(check("LYN0301", &plain).contains("ServiceAccount prom-kube-prome-prometheus is needed"));
    }
}
