//! Options of charts that switch off what another part of the chart names.

use lynceus_object::{FieldPath, Value, yaml};

use super::missing_object;
use super::nowhere::{self, Nowhere};
use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::node::Node;
use crate::rules::Rule;

pub(super) const RULE: Rule = Rule {
    code: "LYN0305",
    title: "A chart's option switches off what another part of it names",
    explanation: "\
The chart can make what its own pods name, and an option tells it not to. What is named is then expected to be there already, and it
is not.

## Why
`create: false` is for those who bring their own. It was copied from an environment that does, or the object that was to be brought
was forgotten.

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
pub(super) struct Switch<'c, 'a> {
    app: &'c App<'a>,
    /// `serviceAccount.create`; empty if the values cannot be seen.
    option: String,
    place: Option<Place>,
}

fn check(case: &Case<'_>, findings: &mut Findings) {
    for one in nowhere::nowhere(case) {
        if let Some(switch) = switch(case, &one) {
            findings.add(found(case, &one, switch));
        }
    }
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
    let on = match switch.place {
        Some(place) => Fix::new(title).git(&switch.app.name, place),
        None if switch.option.is_empty() && has_values(switch.app) => {
            Fix::new(title).git(&switch.app.name, Place::Make { object: one.key.clone() })
        }
        None => Fix::new(title).person(match switch.option.as_str() {
            "" => {
                "set the option that creates it, such as serviceAccount.create, to true in the chart's values"
                    .to_owned()
            }
            option => format!("set {option} to true in the values of the application"),
        }),
    };
    let on = on
        .risk(Risk::Low, "nothing that is there")
        .why("the chart gives it the name and the rights that its pods expect")
        .verify(missing_object::verify(&one.key));
    [on].into_iter().chain(missing_object::add(case, one)).collect()
}

/// Whether an application has values in files of Git.
fn has_values(app: &App<'_>) -> bool {
    let spec = &app.application().spec;
    spec.source.iter().chain(&spec.sources).any(|source| {
        let mut named = source.helm.iter().flat_map(|helm| &helm.value_files);
        source.chart.is_empty() || named.any(|file| file.starts_with('$'))
    })
}

/// The option that keeps a chart from making something that its pods name, if there is one for certain.
pub(super) fn switch<'c, 'a>(case: &'c Case<'a>, one: &Nowhere<'_>) -> Option<Switch<'c, 'a>> {
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

/// Whether an object comes out of a chart.
fn is_of_chart(app: &App<'_>, holder: &lynceus_object::Object) -> bool {
    let spec = &app.application().spec;
    let mut sources = spec.source.iter().chain(&spec.sources);
    holder.label("helm.sh/chart").is_some()
        || sources.any(|source| !source.chart.is_empty() || source.helm.is_some())
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

    #[test]
    fn a_name_of_the_chart_that_the_chart_does_not_make_is_found_without_values() {
        let unseen = OFF.replace(", helm: {valuesObject: {prometheus: {serviceAccount: {create: false}}, alertmanager: {enabled: false}}}", "");
        assert!(check("LYN0305", &unseen).contains("the chart of prom names it and does not make it"));
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
