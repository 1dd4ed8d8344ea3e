//! Values that the Application itself gives its chart, or could.

use lynceus_api::ApplicationSourceHelm;
use lynceus_doctor::surgery::{Change, Cut, operate};
use lynceus_object::{FieldPath, Value, value, yaml};

use super::trial::Goal;
use super::{Bench, document};

/// The changes of an Application that give its chart what is wanted at each of these places: where it says something of it already, or
/// else in the way in which it gives other values.
pub(super) fn candidates(
    bench: &Bench,
    number: usize,
    places: &[FieldPath],
    goal: &Goal<'_>,
) -> Vec<(FieldPath, Change)> {
    let Some(source) = bench.sources.get(number) else { return Vec::new() };
    let at = bench.source_path(number).field("helm");
    let default = ApplicationSourceHelm::default();
    let helm = source.helm.as_ref().unwrap_or(&default);
    match goal.change {
        Change::Set(wanted) => places.iter().filter_map(|place| giving(helm, &at, place, wanted)).collect(),
        _ => Vec::new(),
    }
}

fn giving(
    helm: &ApplicationSourceHelm,
    at: &FieldPath,
    place: &FieldPath,
    wanted: &Value,
) -> Option<(FieldPath, Change)> {
    let name = place.to_string();
    let set = || Change::Set(wanted.clone());
    let parameters = at.field("parameters");
    let known = helm.parameters.iter().rposition(|one| one.name == name);
    match (known, scalar(wanted)) {
        (Some(known), Some(text)) => {
            return Some((parameters.index(known).field("value"), Change::Set(text.into())));
        }
        (Some(_), None) => return None,
        (None, _) => {}
    }
    let object = at.field("valuesObject").segments().iter().chain(place.segments()).cloned().collect();
    if helm.values_object.is_some() {
        return Some((object, set()));
    }
    if !helm.values.trim().is_empty() {
        let cut = Cut { document: 0, path: place.clone(), change: set() };
        let text = operate(&document::application(), &helm.values, &[cut]).ok()?;
        return Some((at.field("values"), Change::Set(text.into())));
    }
    match scalar(wanted).filter(|_| !helm.parameters.is_empty()) {
        Some(text) => {
            let item = value!({"name": (name.as_str()), "value": (text.as_str())});
            Some((parameters, Change::Append(item)))
        }
        None => Some((object, set())),
    }
}

/// A value as a parameter takes it. What has a meaning of its own there is none.
fn scalar(value: &Value) -> Option<String> {
    let text = match value {
        Value::Str(text) => text.to_string(),
        Value::Map(_) | Value::Seq(_) | Value::Null => return None,
        other => yaml::to_string(other).trim_end().to_owned(),
    };
    (!text.contains([',', '{', '}', '\\'])).then_some(text)
}

#[cfg(test)]
mod tests {
    use lynceus_object::{json, to_typed};

    use super::*;

    #[track_caller]
    fn check(helm: Value, expected: &str) {
        let helm: ApplicationSourceHelm = to_typed(&helm).unwrap();
        let place = FieldPath::fields(["auth", "secret"]);
        let (path, change) =
            giving(&helm, &FieldPath::fields(["spec", "source", "helm"]), &place, &"login".into()).unwrap();
        let told = match change {
            Change::Set(value) => format!("{path} = {}", json::to_string(&value)),
            Change::Append(value) => format!("{path} + {}", json::to_string(&value)),
            other => format!("{path} {other:?}"),
        };
        assert_eq!(told, expected);
    }

    #[test]
    fn a_value_is_given_where_the_application_gives_others() {
        check(value!({}), "spec.source.helm.valuesObject.auth.secret = \"login\"");
        check(
            value!({"valuesObject": {"auth": {"on": true}}}),
            "spec.source.helm.valuesObject.auth.secret = \"login\"",
        );
        check(
            value!({"values": "# ours\nauth:\n  on: true\n"}),
            "spec.source.helm.values = \"# ours\\nauth:\\n  on: true\\n  secret: login\\n\"",
        );
        check(
            value!({"parameters": [{"name": "auth.on", "value": "true"}]}),
            "spec.source.helm.parameters + {\"name\":\"auth.secret\",\"value\":\"login\"}",
        );
    }

    #[test]
    fn a_parameter_that_is_there_is_changed_since_it_has_the_last_word() {
        check(
            value!({"valuesObject": {"auth": {}}, "parameters": [{"name": "auth.secret", "value": ""}]}),
            "spec.source.helm.parameters[0].value = \"login\"",
        );
    }
}
