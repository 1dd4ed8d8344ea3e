//! How objects are compared everywhere: `resource.compareoptions`.

use lynceus_api::parse_bool;
use lynceus_object::Value;

use super::keys::{self, Form};
use super::read::Reader;

/// How objects are compared everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CompareOptions {
    /// Leave the rules of aggregated roles out, which the cluster fills in.
    pub(super) ignore_aggregated_roles: bool,
    /// Of which objects the status is left out.
    pub(super) status: StatusField,
    /// Whether what is left out of comparisons is also no reason to look at an application.
    pub(super) ignore_differences_on_updates: bool,
}

/// Of which objects the status is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatusField {
    /// Of all.
    All,
    /// Of CustomResourceDefinitions.
    Definitions,
    /// Of none.
    None,
}

impl Default for CompareOptions {
    fn default() -> Self {
        CompareOptions {
            ignore_aggregated_roles: false,
            status: StatusField::All,
            ignore_differences_on_updates: true,
        }
    }
}

impl CompareOptions {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let mut options = CompareOptions::default();
        let document = reader.yaml(&keys::COMPARE);
        let Value::Map(fields) = document else {
            if !document.is_null() {
                let what = format!("is {} and not a map", document.type_name());
                reader.warn(keys::COMPARE.map, keys::COMPARE.name, &what, Form::Yaml);
            }
            return options;
        };
        for (field, value) in fields.iter() {
            let understood = match field.as_str() {
                "ignoreAggregatedRoles" => put(&mut options.ignore_aggregated_roles, truth(value)),
                "ignoreDifferencesOnResourceUpdates" => {
                    put(&mut options.ignore_differences_on_updates, truth(value))
                }
                "ignoreResourceStatusField" => put(&mut options.status, status(value)),
                _ => false,
            };
            if !understood {
                let what = format!("has {field} that is not understood");
                reader.warn(keys::COMPARE.map, keys::COMPARE.name, &what, Form::Yaml);
            }
        }
        options
    }
}

fn put<T>(place: &mut T, value: Option<T>) -> bool {
    value.map(|value| *place = value).is_some()
}

fn truth(value: &Value) -> Option<bool> {
    value.as_bool().or_else(|| parse_bool(value.as_str()?))
}

/// `off` is what YAML makes `false` of.
fn status(value: &Value) -> Option<StatusField> {
    match (value.as_str(), value.as_bool()) {
        (Some("all" | ""), _) => Some(StatusField::All),
        (Some("crd"), _) => Some(StatusField::Definitions),
        (Some("none" | "off" | "false"), _) | (_, Some(false)) => Some(StatusField::None),
        _ => None,
    }
}
