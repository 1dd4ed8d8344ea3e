//! Nested parameters as one map of texts, with dots between the keys.

use std::collections::BTreeMap;

use lynceus_object::Str;

use crate::param::{Param, Params};

/// The parameters for a template that knows no nesting: lists by their positions, everything printed as text.
pub(crate) fn flatten(params: &Params) -> Result<BTreeMap<Str, Str>, String> {
    let mut flat = BTreeMap::new();
    map(&mut flat, "", params)?;
    Ok(flat)
}

/// The same as parameters.
pub(crate) fn flat_params(params: &Params) -> Result<Params, String> {
    Ok(flatten(params)?.into_iter().map(|(key, text)| (key, Param::Text(text))).collect())
}

/// The same for a selector, which also looks into maps of texts.
pub(crate) fn for_selector(params: &Params) -> Result<BTreeMap<Str, Str>, String> {
    flatten(&opened(params))
}

/// Maps of texts as maps of anything; lists are left as they are.
fn opened(params: &Params) -> Params {
    let open = |param: &Param| match param {
        Param::TextMap(map) => {
            Param::Map(map.iter().map(|(key, text)| (key.clone(), Param::Text(text.clone()))).collect())
        }
        Param::Map(map) => Param::Map(opened(map)),
        other => other.clone(),
    };
    params.iter().map(|(key, param)| (key.clone(), open(param))).collect()
}

fn map(flat: &mut BTreeMap<Str, Str>, prefix: &str, params: &Params) -> Result<(), String> {
    params.iter().try_for_each(|(key, param)| put(flat, joined(prefix, key), param))
}

fn put(flat: &mut BTreeMap<Str, Str>, key: Str, param: &Param) -> Result<(), String> {
    match param {
        Param::Map(inner) => map(flat, &key, inner)?,
        Param::List(items) => {
            for (at, item) in items.iter().enumerate() {
                put(flat, joined(&key, &at.to_string()), item)?;
            }
        }
        other => {
            let text = other.printed().map_err(|why| format!("{key}: {why}"))?;
            flat.insert(key, text);
        }
    }
    Ok(())
}

fn joined(prefix: &str, key: &str) -> Str {
    if prefix.is_empty() { key.into() } else { format!("{prefix}.{key}").into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::param::params_of;
    use lynceus_object::value;

    #[test]
    fn lists_are_counted_and_nothing_is_told_of_empty_maps() {
        let params = params_of(&value!({"a": {"b": [1, {"c": true}], "d": {}, "e": null}})).expect("a map");
        let flat: Vec<String> =
            flatten(&params).expect("texts").iter().map(|(key, text)| format!("{key}={text}")).collect();
        assert_eq!(flat, ["a.b.0=1", "a.b.1.c=true", "a.e=<nil>"]);
    }

    #[test]
    fn a_selector_looks_into_labels() {
        let labels = Param::TextMap(BTreeMap::from([("env".into(), "prod".into())]));
        let params =
            Params::from([("metadata".into(), Param::Map(Params::from([("labels".into(), labels)])))]);
        assert_eq!(
            for_selector(&params).expect("texts").get("metadata.labels.env").map(Str::as_str),
            Some("prod")
        );
        assert_eq!(
            flatten(&params).expect("texts").get("metadata.labels").map(Str::as_str),
            Some("map[env:prod]")
        );
    }
}
