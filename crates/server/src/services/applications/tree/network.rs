//! How traffic reaches an object and leaves it.

use lynceus_object::{Map, Object, Value, value};

/// What an object has to do with traffic; none if nothing.
pub(super) fn of(object: &Object) -> Option<Value> {
    match (object.group(), object.kind()) {
        ("", "Pod") => object.at(&["metadata", "labels"]).map(|labels| value!({"labels": labels.clone()})),
        ("", "Service") => Some(service(object)),
        ("networking.k8s.io" | "extensions", "Ingress") => Some(ingress(object)),
        _ => None,
    }
}

fn service(service: &Object) -> Value {
    let mut info =
        value!({"ingress": service.at(&["status", "loadBalancer", "ingress"]).cloned().unwrap_or_else(none)});
    if let Some(selector) = service.at(&["spec", "selector"]).filter(|selector| !selector.is_null()) {
        info.set(&["targetLabels"], selector.clone());
    }
    info
}

fn none() -> Value {
    Vec::<Value>::new().into()
}

fn ingress(ingress: &Object) -> Value {
    let mut targets: Vec<&str> = Vec::new();
    let mut urls: Vec<String> = Vec::new();
    let secure: Vec<&str> = ingress
        .value()
        .items_at(&["spec", "tls"])
        .iter()
        .flat_map(|tls| tls.items_at(&["hosts"]))
        .filter_map(Value::as_str)
        .collect();
    let default = ingress.value().str_at(&["spec", "defaultBackend", "service", "name"]);
    targets.extend(default);
    for rule in ingress.value().items_at(&["spec", "rules"]) {
        let host = rule.str_at(&["host"]).unwrap_or_default();
        for path in rule.items_at(&["http", "paths"]) {
            targets.extend(path.str_at(&["backend", "service", "name"]));
            // Neither a place for anything nor a pattern is an address.
            if !host.is_empty() && !host.contains('*') {
                let scheme = if secure.contains(&host) { "https" } else { "http" };
                let path = path.str_at(&["path"]).unwrap_or_default();
                urls.push(format!("{scheme}://{host}{}", path.trim_end_matches(['*', '/'])));
            }
        }
    }
    targets.sort_unstable();
    targets.dedup();
    urls.sort_unstable();
    urls.dedup();
    let target = |name: &&str| {
        let mut target = Map::new();
        for (key, text) in
            [("group", ""), ("kind", "Service"), ("namespace", ingress.namespace()), ("name", *name)]
        {
            target.insert(key, Value::from(text));
        }
        Value::Map(target)
    };
    value!({
        "targetRefs": targets.iter().map(target).collect::<Value>(),
        "externalURLs": urls.into_iter().map(Value::from).collect::<Value>(),
        "ingress": ingress.at(&["status", "loadBalancer", "ingress"]).cloned().unwrap_or_else(none),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::json;

    #[test]
    fn an_ingress_names_its_services_and_its_addresses() {
        let object = Object::new(value!({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"tls": [{"hosts": ["shop.example.com"]}], "rules": [
                {"host": "shop.example.com", "http": {"paths": [{"path": "/", "backend": {"service": {"name": "web"}}}]}},
                {"host": "*.example.com", "http": {"paths": [{"backend": {"service": {"name": "any"}}}]}}]}}))
        .expect("a map");
        assert_eq!(
            of(&object).map(|info| json::to_string(&info)).unwrap_or_default(),
            r#"{"externalURLs":["https://shop.example.com"],"ingress":[],"targetRefs":[{"group":"","kind":"Service","name":"any","namespace":"shop"},{"group":"","kind":"Service","name":"web","namespace":"shop"}]}"#
        );
    }
}
