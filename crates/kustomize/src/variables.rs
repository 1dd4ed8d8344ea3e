//! Variables: `$(NAME)` in some fields stands for the content of a field elsewhere.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use lynceus_object::{Str, Value};

use crate::config::Config;
use crate::error::KustomizeError;
use crate::fieldspec::Makes;
use crate::id::{Id, Kind};
use crate::lookup;
use crate::resources::Resources;
use crate::scalar;

/// One item of `vars`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Variable {
    /// Its name.
    pub(crate) name: Str,
    /// The kind of the resource that it is read from.
    pub(crate) kind: Kind,
    /// What that resource is or was called.
    pub(crate) object: Str,
    /// Where that resource is or was; anywhere if this is empty.
    pub(crate) namespace: Str,
    /// The field that it is read from.
    pub(crate) field_path: Str,
}

impl Variable {
    /// From an item of `vars`. `api_version` wins over the group and version of the kind.
    pub(crate) fn new(
        name: Str,
        api_version: &str,
        mut kind: Kind,
        object: Str,
        namespace: Str,
        field_path: Str,
    ) -> Self {
        match api_version.split('/').collect::<Vec<_>>()[..] {
            [""] => {}
            [version] => kind.version = version.into(),
            [group, version] => (kind.group, kind.version) = (group.into(), version.into()),
            _ => {}
        }
        let field_path = if field_path.is_empty() { "metadata.name".into() } else { field_path };
        Variable { name, kind, object, namespace, field_path }
    }

    /// Whether it is read from what has this id.
    fn is_of(&self, id: &Id) -> bool {
        let place = || Id { namespace: self.namespace.clone(), ..Id::default() };
        self.object == id.name
            && self.kind == id.kind
            && (self.namespace.is_empty() || place().same_namespace(id))
    }
}

/// `{NAME Service.v1.[noGrp] {metadata.name}}`, as Kustomize prints it.
impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{} {} {{{}}}}}", self.name, self.kind, self.field_path)
    }
}

/// The variables of a build by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables(BTreeMap<Str, Variable>);

impl Variables {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the `vars` of a kustomization, and marks the resources that they are read from.
    pub(crate) fn add(
        &mut self,
        incoming: &[Variable],
        resources: &mut Resources,
        is_cluster_scoped: &dyn Fn(&Kind) -> bool,
    ) -> Result<(), KustomizeError> {
        mark(incoming, resources, is_cluster_scoped)?;
        incoming.iter().try_for_each(|variable| self.insert(variable.clone()))
    }

    /// Adds the variables of a base.
    pub(crate) fn add_all(&mut self, others: Variables) -> Result<(), KustomizeError> {
        others.0.into_values().try_for_each(|variable| self.insert(variable))
    }

    fn insert(&mut self, variable: Variable) -> Result<(), KustomizeError> {
        let name = variable.name.clone();
        match self.0.insert(name.clone(), variable) {
            None => Ok(()),
            Some(_) => Err(KustomizeError::new(format!("var '{name}' already encountered"))
                .hint("a variable can be defined once in all kustomizations of a build")),
        }
    }

    /// Replaces the variables in the fields that the configuration names, and says which were in none of them.
    pub(crate) fn replace(
        &self,
        resources: &mut Resources,
        config: &Config,
    ) -> Result<Vec<Str>, KustomizeError> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let values = self.values(resources)?;
        let mut used = HashSet::new();
        for resource in &mut resources.list {
            let kind = resource.kind();
            for spec in config.var_reference.matching(&kind) {
                spec.edit(resource, Makes::Nothing, &mut |field| replace_in(field, &values, &mut used))?;
            }
        }
        Ok(self.0.keys().filter(|name| !used.contains(*name)).cloned().collect())
    }

    /// What the variables stand for.
    fn values(&self, resources: &Resources) -> Result<HashMap<&str, Value>, KustomizeError> {
        let mut sources: HashMap<&str, usize> = HashMap::new();
        for (at, resource) in resources.list.iter().enumerate() {
            for name in &resource.variables {
                sources.entry(name).or_insert(at);
            }
        }
        let mut values = HashMap::new();
        for variable in self.0.values() {
            let source = sources.get(variable.name.as_str()).and_then(|at| resources.list.get(*at));
            let Some(source) = source else {
                return Err(KustomizeError::new(format!(
                    "var '{variable}' cannot be mapped to a field in the set of known resources"
                ))
                .hint(
                    "`objref` needs the apiVersion, kind and name of a resource as they stand in its file",
                ));
            };
            let found = lookup::find(&source.value, &lookup::split_dotted(&variable.field_path));
            let Ok(Some(found)) = found else {
                return Err(KustomizeError::new(format!(
                    "field specified in var '{variable}' not found in corresponding resource"
                )));
            };
            let value = if found.is_null() { Value::from("") } else { found.clone() };
            values.insert(variable.name.as_str(), value);
        }
        Ok(values)
    }
}

/// Notes in the resources which variables are read from them.
fn mark(
    variables: &[Variable],
    resources: &mut Resources,
    is_cluster_scoped: &dyn Fn(&Kind) -> bool,
) -> Result<(), KustomizeError> {
    if variables.is_empty() {
        return Ok(());
    }
    let mut wanted: HashMap<Str, Vec<(usize, Id)>> =
        variables.iter().map(|variable| (variable.object.clone(), Vec::new())).collect();
    for (at, resource) in resources.list.iter().enumerate().filter(|(_, other)| !other.value.is_empty()) {
        let now = || resource.id(is_cluster_scoped(&resource.kind()));
        let names = resource.former.iter().map(|former| former.name.as_str()).chain([resource.name()]);
        if !names.into_iter().any(|name| wanted.contains_key(name)) {
            continue;
        }
        for id in resource.former_ids().chain([now()]) {
            if let Some(known) = wanted.get_mut(&id.name) {
                known.push((at, id));
            }
        }
    }
    for variable in variables {
        let known = wanted.get(&variable.object).map_or(&[][..], Vec::as_slice);
        let mut found: Vec<usize> =
            known.iter().filter(|(_, id)| variable.is_of(id)).map(|(at, _)| *at).collect();
        found.dedup();
        match found[..] {
            [] => {}
            [at] => resources.list[at].variables.push(variable.name.clone()),
            _ => {
                return Err(KustomizeError::new(format!(
                    "found {} resId matches for var {variable} (unable to disambiguate)",
                    found.len()
                ))
                .hint("give the namespace of the resource in `objref`"));
            }
        }
    }
    Ok(())
}

type Values<'a> = HashMap<&'a str, Value>;

fn replace_in(field: &mut Value, values: &Values<'_>, used: &mut HashSet<Str>) -> Result<(), KustomizeError> {
    match field {
        Value::Map(map) => {
            if map.values().any(has_variable) {
                map.iter_mut().for_each(|(_, value)| replace_scalar(value, values, used));
            }
        }
        Value::Seq(items) => {
            if !items.iter().all(|item| matches!(item, Value::Str(_))) {
                return Err(KustomizeError::new("invalid value type expect a string").hint(
                    "a list in which variables are replaced can only hold texts; put numbers in quotes",
                ));
            }
            if items.iter().any(has_variable) {
                items.make_mut().iter_mut().for_each(|item| replace_scalar(item, values, used));
            }
        }
        scalar => replace_scalar(scalar, values, used),
    }
    Ok(())
}

fn has_variable(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.contains('$'))
}

fn replace_scalar(value: &mut Value, values: &Values<'_>, used: &mut HashSet<Str>) {
    if let Value::Str(text) = value
        && text.contains('$')
    {
        *value = expand(text, values, used);
    }
}

/// Replaces the variables of a text. A text that is nothing but one variable becomes what that is, be it a number.
fn expand(text: &str, values: &Values<'_>, used: &mut HashSet<Str>) -> Value {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        let Some(first) = after.chars().next() else { break };
        expanded.push_str(before);
        rest = after.get(first.len_utf8()..).unwrap_or_default();
        match first {
            '$' => expanded.push('$'),
            '(' => {
                let Some((name, behind)) = rest.split_once(')') else {
                    expanded.push_str("$(");
                    continue;
                };
                let value = values.get(name).filter(|value| !matches!(value, Value::Map(_) | Value::Seq(_)));
                if value.is_some() && !used.contains(name) {
                    used.insert(name.into());
                }
                match value {
                    Some(value) if before.is_empty() && expanded.is_empty() && behind.is_empty() => {
                        return value.clone();
                    }
                    Some(value) => expanded.push_str(&printed(value)),
                    None => expanded.extend(["$(", name, ")"]),
                }
                rest = behind;
            }
            other => expanded.extend(['$', other]),
        }
    }
    expanded.push_str(rest);
    expanded.into()
}

/// A value within a text, as Go prints it.
fn printed(value: &Value) -> String {
    match value {
        Value::Float(number) => scalar::float_text(*number),
        other => scalar::text(other).unwrap_or_default().into_owned(),
    }
}

#[cfg(test)]
#[path = "variables_tests.rs"]
mod tests;
