//! Rows as people see them.

use super::*;

const NOW: &str = "2026-01-01T00:10:00Z";

/// The cells of an object as one line, columns of priority 1 after a bar.
fn line(plural: &str, object: Value) -> String {
    let resource = kinds::resources().iter().find(|resource| resource.plural == plural).unwrap();
    let mut object = Object::new(object).unwrap();
    object.set(&["apiVersion"], resource.api_version());
    object.set(&["kind"], resource.kind.clone());
    if object.at(&["metadata", "creationTimestamp"]).is_none() {
        object.set(&["metadata", "creationTimestamp"], "2026-01-01T00:00:00Z");
    }
    let table = render(resource, &[object], value!({}), Include::None, true, NOW.parse().unwrap());
    let columns = table.items_at(&["columnDefinitions"]);
    let cells = table.items_at(&["rows"])[0].items_at(&["cells"]);
    let shown = |wide: bool| {
        let pairs = columns.iter().zip(cells);
        let pairs = pairs.filter(|(column, _)| (column.int_at(&["priority"]) == Some(1)) == wide);
        let text =
            |cell: &Value| cell.as_str().map_or_else(|| serde_json::to_string(cell).unwrap(), str::to_owned);
        pairs.map(|(_, cell)| text(cell)).collect::<Vec<_>>().join("  ")
    };
    match shown(true) {
        wide if wide.is_empty() => shown(false),
        wide => format!("{} | {wide}", shown(false)),
    }
}

#[test]
fn every_kind_has_as_many_cells_as_columns() {
    for resource in kinds::resources().iter().filter(|resource| resource.allows("list")) {
        let object = Object::named(&resource.gvk(), "", "x");
        let table = render(resource, &[object], value!({}), Include::None, true, NOW.parse().unwrap());
        let cells = table.items_at(&["rows"])[0].items_at(&["cells"]).len();
        // The original has a cell more than columns here.
        let extra = usize::from(resource.kind == "IPAddress");
        assert_eq!(cells - extra, table.items_at(&["columnDefinitions"]).len(), "{}", resource.kind);
    }
}

#[test]
fn a_pod_shows_what_its_containers_do() {
    let pod = |spec: Value, status: Value| {
        line("pods", value!({"metadata": {"name": "p"}, "spec": spec, "status": status}))
    };
    let two = value!({"containers": [{"name": "a"}, {"name": "b"}], "nodeName": "n1"});
    assert_eq!(
        pod(
            two.clone(),
            value!({"phase": "Running", "podIPs": [{"ip": "10.1.2.3"}], "containerStatuses": [
                {"name": "a", "ready": true, "restartCount": 0, "state": {"running": {}}},
                {"name": "b", "ready": false, "restartCount": 3, "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                 "lastState": {"terminated": {"finishedAt": "2026-01-01T00:09:00Z"}}},
            ]})
        ),
        "p  1/2  CrashLoopBackOff  3 (60s ago)  10m | 10.1.2.3  n1  <none>  <none>"
    );
    assert_eq!(
        pod(two.clone(), value!({"phase": "Pending"})),
        "p  0/2  Pending  0  10m | <none>  n1  <none>  <none>"
    );
    let init = value!({"initContainers": [{"name": "i"}, {"name": "j"}], "containers": [{"name": "a"}]});
    assert_eq!(
        pod(
            init.clone(),
            value!({"phase": "Pending", "initContainerStatuses": [
                {"name": "i", "state": {"terminated": {"exitCode": 0}}, "restartCount": 1},
                {"name": "j", "state": {"waiting": {"reason": "PodInitializing"}}},
            ]})
        ),
        "p  0/1  Init:1/2  1  10m | <none>  <none>  <none>  <none>"
    );
    assert_eq!(
        pod(
            init,
            value!({"phase": "Pending", "initContainerStatuses": [
                {"name": "i", "state": {"terminated": {"exitCode": 2}}},
            ]})
        ),
        "p  0/1  Init:ExitCode:2  0  10m | <none>  <none>  <none>  <none>"
    );
    assert_eq!(
        line(
            "pods",
            value!({"metadata": {"name": "p", "deletionTimestamp": NOW}, "spec": two,
            "status": {"phase": "Running"}})
        ),
        "p  0/2  Terminating  0  10m | <none>  n1  <none>  <none>"
    );
}

#[test]
fn workloads_show_how_far_they_are() {
    let spec = value!({"replicas": 3, "selector": {"matchLabels": {"app": "web"}},
        "template": {"spec": {"containers": [{"name": "c", "image": "nginx"}, {"name": "d", "image": "redis"}]}}});
    assert_eq!(
        line(
            "deployments",
            value!({"metadata": {"name": "web"}, "spec": spec,
            "status": {"readyReplicas": 2, "updatedReplicas": 3, "availableReplicas": 2}})
        ),
        "web  2/3  3  2  10m | c,d  nginx,redis  app=web"
    );
    assert_eq!(
        line(
            "jobs",
            value!({"metadata": {"name": "j"}, "spec": {"completions": 5}, "status": {"succeeded": 2,
            "startTime": "2026-01-01T00:05:00Z"}})
        ),
        "j  Running  2/5  5m  10m |     <none>"
    );
    assert_eq!(
        line(
            "cronjobs",
            value!({"metadata": {"name": "c"}, "spec": {"schedule": "@daily", "suspend": false},
            "status": {"active": [{}]}})
        ),
        "c  @daily  <none>  False  1  <none>  10m |     <none>"
    );
    assert_eq!(
        line(
            "horizontalpodautoscalers",
            value!({"metadata": {"name": "h"}, "spec": {"minReplicas": 1, "maxReplicas": 9,
            "scaleTargetRef": {"kind": "Deployment", "name": "web"}, "metrics": [
                {"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 80}}},
                {"type": "Pods", "pods": {"target": {"averageValue": "1k"}}},
                {"type": "External", "external": {"target": {"value": "7"}}},
            ]}, "status": {"currentReplicas": 2, "currentMetrics": [
                {"type": "Resource", "resource": {"current": {"averageUtilization": 12}}}]}})
        ),
        "h  Deployment/web  cpu: 12%/80%, <unknown>/1k + 1 more...  1  9  2  10m"
    );
}

#[test]
fn services_and_ingresses_show_their_addresses() {
    let service = |spec: Value, status: Value| {
        line("services", value!({"metadata": {"name": "s"}, "spec": spec, "status": status}))
    };
    assert_eq!(
        service(
            value!({"type": "ClusterIP", "clusterIPs": ["10.0.0.5"], "selector": {"a": "b"},
            "ports": [{"port": 80, "protocol": "TCP"}]}),
            value!({})
        ),
        "s  ClusterIP  10.0.0.5  <none>  80/TCP  10m | a=b"
    );
    assert_eq!(
        service(
            value!({"type": "LoadBalancer", "clusterIPs": ["10.0.0.6"],
            "ports": [{"port": 80, "nodePort": 30080, "protocol": "TCP"}]}),
            value!({})
        ),
        "s  LoadBalancer  10.0.0.6  <pending>  80:30080/TCP  10m | <none>"
    );
    assert_eq!(
        service(value!({"type": "ExternalName", "externalName": "example.org"}), value!({})),
        "s  ExternalName  <none>  example.org  <none>  10m | <none>"
    );
    assert_eq!(
        line(
            "ingresses",
            value!({"metadata": {"name": "i"}, "spec": {"ingressClassName": "nginx", "tls": [{}],
            "rules": [{"host": "a"}, {"host": "b"}, {"host": "c"}, {"host": "d"}]},
            "status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}})
        ),
        "i  nginx  a,b,c + 1 more...  1.2.3.4  80, 443  10m"
    );
    assert_eq!(
        line(
            "endpointslices",
            value!({"metadata": {"name": "e"}, "addressType": "IPv4", "ports": [{"port": 80}],
            "endpoints": [{"addresses": ["10.1.0.1"]}, {"addresses": ["10.1.0.2"]}]})
        ),
        "e  IPv4  80  10.1.0.1,10.1.0.2  10m"
    );
}

#[test]
fn nodes_claims_and_events_show_their_state() {
    assert_eq!(
        line(
            "nodes",
            value!({"metadata": {"name": "n", "labels": {"node-role.kubernetes.io/control-plane": ""}},
            "spec": {"unschedulable": true}, "status": {"conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"kubeletVersion": "v1.36.0"}, "addresses": [{"type": "InternalIP", "address": "10.0.0.2"}]}})
        ),
        "n  Ready,SchedulingDisabled  control-plane  10m  v1.36.0 | 10.0.0.2  <none>  <unknown>  <unknown>  <unknown>"
    );
    assert_eq!(
        line(
            "persistentvolumeclaims",
            value!({"metadata": {"name": "c"}, "spec": {"volumeName": "v",
            "storageClassName": "fast", "volumeMode": "Filesystem"}, "status": {"phase": "Bound",
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}})
        ),
        "c  Bound  v  1Gi  RWO  fast  <unset>  10m | Filesystem"
    );
    assert_eq!(
        line(
            "events",
            value!({"metadata": {"name": "e.1"}, "type": "Normal", "reason": "Started", "message": "up\n",
            "involvedObject": {"kind": "Pod", "name": "p", "fieldPath": "spec"}, "count": 4,
            "source": {"component": "kubelet", "host": "n1"},
            "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:09:30Z"})
        ),
        "30s  Normal  Started  pod/p  up | spec  kubelet, n1  10m  4  e.1"
    );
}

#[test]
fn a_row_carries_as_much_of_the_object_as_was_asked_for() {
    let resource = kinds::resources().iter().find(|resource| resource.plural == "configmaps").unwrap();
    let object =
        Object::new(value!({"kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"a": "b"}})).unwrap();
    let carried = |include| {
        let table =
            render(resource, std::slice::from_ref(&object), value!({}), include, false, NOW.parse().unwrap());
        assert!(table.get("columnDefinitions").unwrap().is_null());
        table.items_at(&["rows"])[0].get("object").cloned().unwrap()
    };
    assert_eq!(carried(Include::None), Value::Null);
    assert_eq!(carried(Include::Metadata), partial(&object));
    assert_eq!(carried(Include::Object), *object.value());
}
