//! What an application's source is, as templates see it.

use std::any::Any;

use lynceus_gotmpl::types::{self, Shape, Type};
use lynceus_gotmpl::{Method, Object, Signature, TypeInfo, Value};
use lynceus_object as object;

use crate::names::to_template;

/// The answer of Argo CD's API under the names that its Go types have.
pub(crate) fn details_value(details: &object::Value) -> Value {
    let helm = match details.get("helm") {
        Some(helm) if !helm.is_null() => Value::object(Helm { spec: helm.clone() }),
        _ => Value::Nil,
    };
    let part = |name: &str| details.get(name).map_or(Value::Nil, renamed);
    Value::map([
        ("Type", details.get("type").map_or(Value::Nil, to_template)),
        ("Helm", helm),
        ("Kustomize", part("kustomize")),
        ("Directory", part("directory")),
    ])
}

/// A map whose keys begin with capitals, as the fields of Go do.
fn renamed(value: &object::Value) -> Value {
    match (value.as_map(), value.as_seq()) {
        (Some(map), _) => Value::map(map.iter().map(|(key, item)| (capital(key), renamed(item)))),
        (None, Some(items)) => Value::list(items.iter().map(renamed)),
        (None, None) => to_template(value),
    }
}

fn capital(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// A chart, with the two methods that Argo CD gives it.
struct Helm {
    spec: object::Value,
}

static HELM: TypeInfo = TypeInfo::declared("shared.CustomHelmAppSpec", Shape::Struct, &METHODS);

static METHODS: [Method; 2] = [
    Method {
        name: "GetParameterValueByName",
        signature: Signature { params: &[&types::STRING], variadic: false, result: &types::STRING },
        call: |_, value, args| Ok(of_name(value, args, &["overrides", "parameters"], "value")),
    },
    Method {
        name: "GetFileParameterPathByName",
        signature: Signature { params: &[&types::STRING], variadic: false, result: &types::STRING },
        call: |_, value, args| Ok(of_name(value, args, &["fileParameters"], "path")),
    },
];

/// A field of the first item of that name.
fn of_name(value: &Value, args: &[Value], lists: &[&str], field: &str) -> Value {
    let name = args.first().and_then(Value::as_str).cloned().unwrap_or_default();
    let found = value.as_object::<Helm>().and_then(|helm| {
        let mut items = lists.iter().flat_map(|list| helm.spec.items_at(&[list]));
        let item = items.find(|item| item.str_at(&["name"]) == Some(name.as_str()))?;
        item.str_at(&[field]).map(str::to_owned)
    });
    Value::str(found.unwrap_or_default())
}

impl Object for Helm {
    fn go_type(&self) -> Type {
        &HELM
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn fields(&self) -> Vec<(&'static str, Value)> {
        let overrides = self.spec.get("overrides").map_or(Value::Nil, renamed);
        vec![("HelmAppSpec", renamed(&self.spec)), ("HelmParameterOverrides", overrides)]
    }
}
