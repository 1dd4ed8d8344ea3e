//! Projects whose rules hold for others too: `globalProjects`.

use lynceus_object::selector::Selector;
use lynceus_object::{Str, Value};

use super::keys::{self, Form};
use super::read::Reader;

/// A project whose rules hold for others too.
#[derive(Clone, Debug, PartialEq)]
pub struct GlobalProject {
    /// The project.
    pub name: Str,
    /// The labels of those that it holds for.
    pub selector: Selector,
}

pub(super) fn read(reader: &mut Reader<'_>) -> Vec<GlobalProject> {
    let document = reader.yaml(&keys::GLOBAL_PROJECTS);
    let items = match &document {
        Value::Null => return Vec::new(),
        Value::Seq(items) => items,
        other => {
            let what = format!("is {} and not a list", other.type_name());
            reader.warn(keys::GLOBAL_PROJECTS.map, keys::GLOBAL_PROJECTS.name, &what, Form::Yaml);
            return Vec::new();
        }
    };
    let mut found = Vec::new();
    for item in items.iter() {
        // One without a selector is for all.
        let everything = Value::Map(lynceus_object::Map::default());
        let selector = Selector::from_object(Some(item.at(&["labelSelector"]).unwrap_or(&everything)));
        match (item.str_at(&["projectName"]), selector) {
            (Some(name), Ok(selector)) if !name.is_empty() => {
                found.push(GlobalProject { name: name.into(), selector })
            }
            (_, Err(error)) => {
                let what = format!("has a labelSelector that cannot be read: {error}");
                reader.warn(keys::GLOBAL_PROJECTS.map, keys::GLOBAL_PROJECTS.name, &what, Form::Yaml);
            }
            _ => {
                let what = "has an item without projectName";
                reader.warn(keys::GLOBAL_PROJECTS.map, keys::GLOBAL_PROJECTS.name, what, Form::Yaml);
            }
        }
    }
    found
}
