use super::*;
use crate::schema::{builtin, round_trip};
use crate::value;

fn options<'a>(manager: &'a str, api_version: &'a str, kind: &str, reset: &'a FieldSet) -> Options<'a> {
    let ty = builtin().of_manifest(api_version, kind).expect("kind");
    let now = "2026-01-02T03:04:05Z".parse().expect("time");
    Options { manager, ty, api_version, subresource: "", reset, now }
}

fn object(mut value: Value) -> Object {
    let gvk = Object::new(value.clone()).expect("map").gvk();
    round_trip(&mut value, builtin().of(&gvk).expect("kind"));
    Object::new(value).expect("map")
}

fn config(replicas: Option<i64>, image: &str) -> Object {
    let mut config = value!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "c", "image": image, "ports": [{"containerPort": 80}]}]}}}});
    if let Some(replicas) = replicas {
        config.set(&["spec", "replicas"], replicas);
    }
    Object::new(config).expect("map")
}

fn applied(live: Option<&Object>, config: &Object, manager: &str, force: bool) -> Result<Object, ApplyError> {
    let reset = FieldSet::of_fields(&[&["status"]]);
    let done = apply(live, config, &options(manager, "apps/v1", "Deployment", &reset), force)?;
    Ok(object(done.into_value()))
}

fn owners(object: &Object) -> Vec<String> {
    let managers = Managers::of(object).expect("managers");
    let name = |id: &ManagerId| format!("{} {:?}", id.manager, id.operation);
    managers.iter().map(|(id, owned)| format!("{}: {}", name(id), owned.fields.to_value_text())).collect()
}

impl FieldSet {
    fn to_value_text(&self) -> String {
        self.paths().iter().map(|path| format!("{path:#}")).collect::<Vec<_>>().join(" ")
    }
}

#[test]
fn applying_anew_owns_what_the_configuration_names() {
    let live = applied(None, &config(Some(2), "nginx"), "alice", false).expect("apply");
    assert_eq!(live.value().int_at(&["spec", "replicas"]), Some(2));
    assert_eq!(
        owners(&live),
        ["alice Apply: .spec.replicas .spec.selector .spec.template.metadata.labels.app \
          .spec.template.spec.containers[name=\"c\"] .spec.template.spec.containers[name=\"c\"].image \
          .spec.template.spec.containers[name=\"c\"].name \
          .spec.template.spec.containers[name=\"c\"].ports[containerPort=80,protocol=\"TCP\"] \
          .spec.template.spec.containers[name=\"c\"].ports[containerPort=80,protocol=\"TCP\"].containerPort"]
    );
}

#[test]
fn a_field_of_another_manager_is_a_conflict_unless_forced() {
    let live = applied(None, &config(Some(2), "nginx"), "alice", false).expect("apply");
    let error = applied(Some(&live), &config(Some(5), "nginx"), "bob", false).unwrap_err();
    assert_eq!(error.to_string(), "Apply failed with 1 conflict: conflict with \"alice\": .spec.replicas");
    let forced = applied(Some(&live), &config(Some(5), "nginx"), "bob", true).expect("apply");
    assert_eq!(forced.value().int_at(&["spec", "replicas"]), Some(5));
    assert!(!owners(&forced)[0].contains("replicas"), "{:?}", owners(&forced));
}

#[test]
fn several_conflicts_are_listed_by_manager() {
    let live = applied(None, &config(Some(2), "nginx"), "alice", false).expect("apply");
    let error = applied(Some(&live), &config(Some(5), "other"), "bob", false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Apply failed with 2 conflicts: conflicts with \"alice\":\n- .spec.replicas\n\
         - .spec.template.spec.containers[name=\"c\"].image"
    );
}

#[test]
fn a_field_that_is_no_longer_applied_goes() {
    let live = applied(None, &config(Some(2), "nginx"), "alice", false).expect("apply");
    let live = applied(Some(&live), &config(None, "nginx"), "alice", false).expect("apply");
    assert_eq!(live.at(&["spec", "replicas"]), None);
}

#[test]
fn a_field_that_somebody_else_also_applies_stays() {
    let live = applied(None, &config(Some(2), "nginx"), "alice", false).expect("apply");
    let live = applied(Some(&live), &config(Some(2), "nginx"), "bob", false).expect("apply");
    let live = applied(Some(&live), &config(None, "nginx"), "alice", false).expect("apply");
    assert_eq!(live.value().int_at(&["spec", "replicas"]), Some(2));
}

#[test]
fn an_update_moves_ownership_and_only_then_changes_the_time() {
    let reset = FieldSet::of_fields(&[&["status"]]);
    let mut live = applied(None, &config(Some(2), "nginx"), "alice", false).expect("apply");
    live.set(&["metadata", "uid"], "1");
    let mut new = live.clone();
    new.set(&["spec", "replicas"], 3);
    let at = Options {
        now: "2026-02-02T00:00:00Z".parse().expect("time"),
        ..options("scaler", "apps/v1", "Deployment", &reset)
    };
    track_update(Some(&live), &mut new, &at);
    assert_eq!(owners(&new)[1], "scaler Update: .spec.replicas");
    let entries = new.value().items_at(&["metadata", "managedFields"]);
    assert_eq!(entries[1].str_at(&["time"]), Some("2026-02-02T00:00:00Z"));
    assert_eq!(entries[0].str_at(&["time"]), Some("2026-01-02T03:04:05Z"));

    let mut same = new.clone();
    let later = Options { now: "2026-03-03T00:00:00Z".parse().expect("time"), ..at };
    track_update(Some(&new), &mut same, &later);
    assert_eq!(same, new);
}

#[test]
fn a_create_owns_what_is_more_than_go_prints_anyway() {
    let reset = FieldSet::of_fields(&[&["status"]]);
    let mut service = object(value!({"apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "web", "labels": {"a": "b"}},
        "spec": {"ports": [{"port": 80, "protocol": "TCP", "targetPort": 8080}]}}));
    track_update(None, &mut service, &options("kubectl-create", "v1", "Service", &reset));
    assert_eq!(
        service.value().items_at(&["metadata", "managedFields"])[0].get("fieldsV1"),
        Some(&value!({
            "f:metadata": {"f:labels": {".": {}, "f:a": {}}},
            "f:spec": {"f:ports": {".": {}, "k:{\"port\":80,\"protocol\":\"TCP\"}": {
                ".": {}, "f:port": {}, "f:protocol": {}, "f:targetPort": {}}}},
        }))
    );
}

#[test]
fn an_untracked_object_gets_its_first_manager_at_the_first_apply() {
    let mut live = object(config(Some(2), "nginx").into_value());
    live.set(&["metadata", "uid"], "1");
    let mut same = live.clone();
    same.set(&["spec", "replicas"], 4);
    let reset = FieldSet::new();
    track_update(Some(&live), &mut same, &options("x", "apps/v1", "Deployment", &reset));
    assert_eq!(same.at(&["metadata", "managedFields"]), None);
    let error = applied(Some(&live), &config(Some(3), "nginx"), "alice", false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Apply failed with 1 conflict: conflict with \"before-first-apply\" using apps/v1: .spec.replicas"
    );
}

#[test]
fn kubectl_takes_over_what_client_side_apply_set() {
    let mut live = object(config(Some(2), "nginx").into_value());
    live.set(&["metadata", "uid"], "1");
    let last = crate::json::go_string(config(Some(2), "nginx").value());
    live.set_annotation("kubectl.kubernetes.io/last-applied-configuration", last);
    let reset = FieldSet::of_fields(&[&["status"]]);
    let mut tracked = live.clone();
    tracked.remove(&["metadata", "uid"]);
    track_update(None, &mut tracked, &options("kubectl-client-side-apply", "apps/v1", "Deployment", &reset));
    let done = applied(Some(&tracked), &config(Some(3), "nginx"), "kubectl", false).expect("apply");
    assert_eq!(done.value().int_at(&["spec", "replicas"]), Some(3));
    let annotation = done.annotation("kubectl.kubernetes.io/last-applied-configuration").expect("annotation");
    assert!(annotation.contains("\"replicas\":3") && annotation.ends_with('\n'), "{annotation}");
    assert!(applied(Some(&tracked), &config(Some(3), "nginx"), "other", false).is_err());
}

#[test]
fn many_updaters_are_thrown_together() {
    let reset = FieldSet::new();
    let mut live = object(value!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}));
    for number in 0..14 {
        let name = format!("m{number:02}");
        let mut new = live.clone();
        new.set(&["data", &name], "x");
        let old = (number > 0).then_some(&live);
        track_update(old, &mut new, &options(&name, "v1", "ConfigMap", &reset));
        new.set(&["metadata", "uid"], "1");
        live = new;
    }
    let managers = Managers::of(&live).expect("managers");
    let names: Vec<&str> = managers.iter().map(|(id, _)| id.manager.as_str()).collect();
    assert_eq!(names.len(), 10);
    assert_eq!(names[0], "ancient-changes");
}

#[test]
fn configurations_that_do_not_fit_are_refused_with_the_path() {
    let mut bad = config(Some(1), "nginx");
    bad.set(&["spec", "foo"], 1);
    let error = applied(None, &bad, "alice", false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to create typed patch object (/web; apps/v1, Kind=Deployment): .spec.foo: field not declared in schema"
    );
    let mut twice = config(Some(1), "nginx");
    let containers = value!([{"name": "c"}, {"name": "c"}]);
    twice.set(&["spec", "template", "spec", "containers"], containers);
    let error = applied(None, &twice, "alice", false).unwrap_err();
    assert!(error.to_string().ends_with("duplicate entries for key [name=\"c\"]"), "{error}");
}

#[test]
fn a_reset_of_managed_fields_forgets_everyone() {
    let reset = FieldSet::new();
    let live = applied(None, &config(Some(2), "nginx"), "alice", false).expect("apply");
    let mut new = live.clone();
    new.set(&["metadata", "managedFields"], value!([{}]));
    new.set(&["metadata", "uid"], "1");
    let mut before = live.clone();
    before.set(&["metadata", "uid"], "1");
    track_update(Some(&before), &mut new, &options("x", "apps/v1", "Deployment", &reset));
    assert_eq!(new.at(&["metadata", "managedFields"]), None);
}

#[test]
fn unchanged_objects_keep_the_times_of_their_managers() {
    let live = applied(None, &config(Some(2), "nginx"), "alice", false).expect("apply");
    let mut new = live.clone();
    let mut entries = live.value().items_at(&["metadata", "managedFields"]).to_vec();
    entries[0].set(&["time"], "2027-01-01T00:00:00Z");
    new.set(&["metadata", "managedFields"], entries);
    keep_times(&live, &mut new);
    assert_eq!(new, live);
}

#[test]
fn scale_shows_and_moves_the_owner_of_the_replicas() {
    let live = applied(None, &config(Some(2), "nginx"), "alice", false).expect("apply");
    let parent = Managers::of(&live).expect("managers");
    let replicas = crate::FieldPath::fields(["spec", "replicas"]);
    let shown = scale_to_subresource(&parent, &replicas);
    assert_eq!(shown.iter().count(), 1);
    let moved = scale_to_parent(&parent, &Managers::default(), &replicas, "apps/v1");
    assert!(moved.iter().all(|(_, owned)| !owned.fields.contains(&replicas)));
    let id = ManagerId::new("hpa", Operation::Update, "autoscaling/v1", "scale");
    let mut fields = FieldSet::new();
    fields.insert(&replicas);
    let scale = Managers([(id, Owned { fields, api_version: "autoscaling/v1".into(), time: None })].into());
    let moved = scale_to_parent(&parent, &scale, &replicas, "apps/v1");
    let owner = moved.iter().find(|(_, owned)| owned.fields.contains(&replicas)).expect("owner");
    assert_eq!((owner.0.manager.as_str(), owner.1.api_version.as_str()), ("hpa", "apps/v1"));
}

/// A pod that three have written: one made it, one reports its status, one labels it.
fn pod_of_three() -> Object {
    let mut pod = object(value!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "a", "namespace": "b", "uid": "1", "labels": {"app": "a"}, "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "2"}]},
        "spec": {"containers": [{"name": "c", "image": "i", "args": ["x"]}]}}));
    track_update(None, &mut pod, &pod_options("maker", "", 1));
    pod = written(&pod, "kubelet", "status", 2, |pod| {
        pod.set(&["status", "conditions"], value!([{"type": "Ready", "status": "False"}]));
        pod.set(&["status", "phase"], "Pending");
    });
    written(&pod, "labeller", "", 3, |pod| pod.set_label("zone", "x"))
}

fn pod_options<'a>(manager: &'a str, subresource: &'a str, second: i64) -> Options<'a> {
    static RESET: FieldSet = FieldSet::new();
    let now = jiff::Timestamp::from_second(second).expect("time");
    Options { subresource, now, ..options(manager, "v1", "Pod", &RESET) }
}

/// The pod after a write, whose managers have to be the same as when all of them are read.
fn written(
    live: &Object,
    manager: &str,
    subresource: &str,
    second: i64,
    edit: impl Fn(&mut Object),
) -> Object {
    let options = pod_options(manager, subresource, second);
    let mut new = live.clone();
    edit(&mut new);
    let mut in_full = new.clone();
    assert!(entries::track(live, &mut new, &options), "{manager} was not taken the short way");
    track_all(Some(live), &mut in_full, &options);
    assert_eq!(new, in_full);
    new
}

#[test]
fn entries_that_a_write_does_not_concern_are_not_read_and_stay_as_they_are() {
    let pod = pod_of_three();
    let after = written(&pod, "kubelet", "status", 9, |pod| pod.set(&["status", "phase"], "Running"));
    let entries = |object: &Object| object.value().items_at(&MANAGED_FIELDS).to_vec();
    let of = |object: &Object, manager: &str| {
        entries(object).into_iter().find(|entry| entry.str_at(&["manager"]) == Some(manager)).expect(manager)
    };
    for manager in ["maker", "labeller"] {
        assert!(of(&pod, manager).is_same(&of(&after, manager)), "{manager}");
    }
    let fields = |object: &Object| of(object, "kubelet").get("fieldsV1").cloned().expect("fields");
    assert!(fields(&pod).is_same(&fields(&after)));
    assert_eq!(of(&after, "kubelet").str_at(&["time"]), Some("1970-01-01T00:00:09Z"));
}

#[test]
fn the_short_way_leads_to_the_same_managers_as_the_long_one() {
    let ready = |status: &str| value!({"type": "Ready", "status": status});
    let more = value!({"type": "Initialized", "status": "True"});
    let conditions = |pod: &mut Object, list: Value| pod.set(&["status", "conditions"], list);
    let pod = pod_of_three();
    for manager in ["maker", "kubelet", "labeller", "somebody"] {
        for subresource in ["", "status"] {
            let write = |edit: &dyn Fn(&mut Object)| drop(written(&pod, manager, subresource, 4, edit));
            write(&|_| ());
            write(&|pod| pod.set_label("zone", "y"));
            write(&|pod| pod.set_label("new", "y"));
            write(&|pod| drop(pod.remove(&["metadata", "labels", "zone"])));
            write(&|pod| drop(pod.remove(&["metadata", "labels"])));
            write(&|pod| drop(pod.remove(&["metadata", "ownerReferences"])));
            write(&|pod| pod.set(&["metadata", "generation"], 7));
            write(&|pod| pod.set(&["spec", "nodeName"], "n"));
            write(&|pod| {
                pod.set(
                    &["spec", "containers"],
                    value!([{"name": "c", "image": "j", "args": [], "resources": {}}]),
                );
            });
            write(&|pod| pod.set(&["spec", "containers"], value!([{"name": "d", "resources": {}}])));
            write(&|pod| conditions(pod, value!([ready("True")])));
            write(&|pod| conditions(pod, value!([ready("False"), more])));
            write(&|pod| conditions(pod, value!([more, ready("True")])));
            write(&|pod| conditions(pod, value!([more])));
            write(&|pod| conditions(pod, value!([ready("True"), ready("False")])));
            write(&|pod| drop(pod.remove(&["status", "conditions"])));
            write(&|pod| pod.set(&["status"], value!({})));
            write(&|pod| drop(pod.remove(&["metadata", "managedFields"])));
        }
    }
}

#[test]
fn the_long_way_is_taken_where_the_client_has_a_say_or_the_type_may_have_changed() {
    let pod = pod_of_three();
    let mut reset = pod.clone();
    reset.set(&MANAGED_FIELDS, value!([{}]));
    assert!(!entries::track(&pod, &mut reset, &pod_options("maker", "", 4)));
    let untyped = Options { ty: TypeRef::untyped(), ..pod_options("maker", "", 4) };
    assert!(!entries::track(&pod, &mut pod.clone(), &untyped));
}
