//! The values of the user, put together in Helm's order.

use std::sync::Arc;

use lynceus_object::{FieldPath, Map, Value, json};

use super::origin::{self, Layer, Origin};
use super::set::{self, Meaning};
use super::{ValuesError, floats, literal, merge_maps, read};
use crate::go::text;

/// What the user gave, flag by flag.
#[derive(Clone, Debug, Default)]
pub struct ValueOptions {
    /// The files of `--values`, in their order.
    pub files: Vec<ValuesFile>,
    /// The texts of `--set-json`.
    pub json: Vec<String>,
    /// The texts of `--set`.
    pub set: Vec<String>,
    /// The texts of `--set-string`.
    pub strings: Vec<String>,
    /// The texts of `--set-file`.
    pub set_files: Vec<String>,
    /// The texts of `--set-literal`.
    pub literals: Vec<String>,
}

/// A file of values.
#[derive(Clone, Debug)]
pub struct ValuesFile {
    /// What the user calls it.
    pub name: String,
    /// Its content.
    pub data: Arc<[u8]>,
}

/// The values of the user, merged, and where each came from.
#[derive(Clone, Debug, Default)]
pub struct UserValues {
    pub(crate) values: Map,
    pub(crate) layers: Vec<Layer>,
}

impl ValueOptions {
    /// Merges everything: files, then `--set-json`, `--set`, `--set-string`, `--set-file` and `--set-literal`.
    /// `read_file` gives the content of what `--set-file` names, or says why not.
    pub fn merge(
        &self,
        read_file: &mut dyn FnMut(&str) -> Result<String, String>,
    ) -> Result<UserValues, ValuesError> {
        let mut user = UserValues::default();
        for file in &self.files {
            let own = read(&file.data)
                .map_err(|reason| ValuesError::File { file: file.name.clone(), reason: Box::new(reason) })?;
            user.add_map(Origin::File(file.name.clone()), own);
        }
        for text in &self.json {
            user.add_json(text)?;
        }
        for text in &self.set {
            user.add_set("--set", text, Meaning::Typed)?;
        }
        for text in &self.strings {
            user.add_set("--set-string", text, Meaning::Text)?;
        }
        for text in &self.set_files {
            user.add_set("--set-file", text, Meaning::File(read_file))?;
        }
        for text in &self.literals {
            user.apply("--set-literal", text, |values| literal::parse(text, values))?;
        }
        Ok(user)
    }
}

impl UserValues {
    /// Values that are there already as a map, such as those of an Application.
    pub fn from_map(origin: Origin, values: Map) -> Self {
        let mut user = UserValues::default();
        user.add_map(origin, values);
        user
    }

    /// Merges a map over what is there.
    pub fn add_map(&mut self, origin: Origin, own: Map) {
        merge_maps(&mut self.values, own.clone());
        self.layers.push(Layer { origin, own: Some(own), after: self.values.clone() });
    }

    /// What all of them are together.
    pub fn values(&self) -> &Map {
        &self.values
    }

    /// What gave the value at a path, if the user gave it.
    pub fn origin(&self, path: &FieldPath) -> Option<&Origin> {
        origin::in_layers(&self.layers, path)
    }

    fn add_json(&mut self, given: &str) -> Result<(), ValuesError> {
        let trimmed = text::trim(given);
        if trimmed.starts_with('{') {
            let Ok(Value::Map(map)) = json::parse(trimmed.as_bytes()).map(floats) else {
                return Err(ValuesError::JsonMap(given.to_owned()));
            };
            self.add_map(Origin::Flag("--set-json", given.to_owned()), map);
            return Ok(());
        }
        self.apply("--set-json", given, |values| set::parse(given, values, Meaning::Json))
            .map_err(|_| ValuesError::Json(given.to_owned()))
    }

    fn add_set(&mut self, flag: &'static str, text: &str, meaning: Meaning<'_>) -> Result<(), ValuesError> {
        self.apply(flag, text, |values| set::parse(text, values, meaning))
    }

    fn apply(
        &mut self,
        flag: &'static str,
        text: &str,
        change: impl FnOnce(&mut Map) -> Result<(), String>,
    ) -> Result<(), ValuesError> {
        change(&mut self.values).map_err(|reason| ValuesError::Set { flag, reason })?;
        let origin = Origin::Flag(flag, text.to_owned());
        self.layers.push(Layer { origin, own: None, after: self.values.clone() });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_merged_in_helms_order() {
        let file = |name: &str, data: &str| ValuesFile { name: name.into(), data: data.as_bytes().into() };
        let options = ValueOptions {
            files: vec![file("a.yaml", "a: 1\nb: {c: 1, d: 2}"), file("b.yaml", "b: {c: 3}")],
            json: vec![r#"{"b":{"e":[1]}}"#.into(), "x=1".into()],
            set: vec!["a=set,y=1".into()],
            strings: vec!["y=2".into()],
            set_files: vec!["f=name".into()],
            literals: vec!["y=a,b".into()],
        };
        let user = options.merge(&mut |name| Ok(format!("<{name}>"))).unwrap();
        assert_eq!(
            json::to_string(&Value::Map(user.values)),
            r#"{"a":"set","b":{"c":3,"d":2,"e":[1]},"f":"<name>","x":1,"y":"a,b"}"#
        );
    }

    #[test]
    fn what_is_wrong_names_the_flag() {
        let options = ValueOptions { set: vec!["a".into()], ..ValueOptions::default() };
        assert_eq!(
            options.merge(&mut |_| Ok(String::new())).unwrap_err().to_string(),
            "failed parsing --set data: key \"a\" has no value"
        );
    }
}
