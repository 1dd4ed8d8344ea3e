//! The names, tags and digests of images.

use std::borrow::Cow;

use lynceus_object::{Str, Value};
use regex::Regex;

use crate::error::KustomizeError;
use crate::fieldspec::{FieldSpecs, Makes};
use crate::resource::Resource;
use crate::resources::Resources;
use crate::scalar;

/// Changes images, one after the other. Each is applied to what the one before has left.
#[derive(Clone, Debug)]
pub(crate) struct Images {
    images: Vec<(Image, Matcher)>,
    specs: FieldSpecs,
}

/// One item of `images`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Image {
    /// The image as it is written, without tag and digest. It is a regular expression.
    pub(crate) name: Str,
    /// What it is called then.
    pub(crate) new_name: Str,
    /// What is added to its tag.
    pub(crate) tag_suffix: Str,
    /// Its tag then.
    pub(crate) new_tag: Str,
    /// Its digest then.
    pub(crate) digest: Str,
}

impl Image {
    /// What an image that fits becomes.
    fn changed(&self, image: &str) -> String {
        let (name, tag, digest) = split(image);
        let name = if self.new_name.is_empty() { name } else { &self.new_name };
        let (tag, digest): (Cow<'_, str>, &str) = if !self.new_tag.is_empty() {
            (self.new_tag.as_str().into(), &self.digest)
        } else if !self.digest.is_empty() {
            ("".into(), &self.digest)
        } else if !self.tag_suffix.is_empty() {
            (format!("{tag}{}", self.tag_suffix).into(), "")
        } else {
            (tag.into(), digest)
        };
        let mut changed = name.to_owned();
        for (mark, part) in [(':', &*tag), ('@', digest)].into_iter().filter(|(_, part)| !part.is_empty()) {
            changed.push(mark);
            changed.push_str(part);
        }
        changed
    }
}

impl Images {
    /// Reads the names, which are regular expressions.
    pub(crate) fn new(images: Vec<Image>, specs: FieldSpecs) -> Result<Self, KustomizeError> {
        let with_matcher = |image: Image| Ok((image.clone(), Matcher::new(&image.name)?));
        Ok(Images {
            images: images.into_iter().map(with_matcher).collect::<Result<_, KustomizeError>>()?,
            specs,
        })
    }

    /// Changes the resources.
    pub(crate) fn apply(&self, resources: &mut Resources) -> Result<(), KustomizeError> {
        if self.images.is_empty() {
            return Ok(());
        }
        for resource in &mut resources.list {
            if resource.kind_name() != "CustomResourceDefinition" {
                self.change(resource)?;
            }
        }
        Ok(())
    }

    /// Changes one resource. Most images of the list are not in it, which is seen without walking through it again.
    fn change(&self, resource: &mut Resource) -> Result<(), KustomizeError> {
        let mut found = self.found(resource)?;
        for (image, matcher) in &self.images {
            if !found.iter().any(|text| matcher.fits(text)) {
                continue;
            }
            edit_containers(&mut resource.value, &mut |field| change_field(field, image, matcher))?;
            self.edit_fields(resource, &mut |field| change_field(field, image, matcher))?;
            found = self.found(resource)?;
        }
        Ok(())
    }

    /// All images of a resource.
    fn found(&self, resource: &mut Resource) -> Result<Vec<String>, KustomizeError> {
        let mut found = Vec::new();
        find_in_containers(&resource.value, &mut found)?;
        self.edit_fields(resource, &mut |field| {
            found.push(image_text(field)?.into_owned());
            Ok(())
        })?;
        Ok(found)
    }

    fn edit_fields(
        &self,
        resource: &mut Resource,
        edit: &mut dyn FnMut(&mut Value) -> Result<(), KustomizeError>,
    ) -> Result<(), KustomizeError> {
        let kind = resource.kind();
        self.specs.matching(&kind).try_for_each(|spec| spec.edit(resource, Makes::Nothing, edit))
    }
}

fn change_field(field: &mut Value, image: &Image, matcher: &Matcher) -> Result<(), KustomizeError> {
    let text = image_text(field)?;
    if matcher.fits(&text) {
        let changed = scalar::rewritten(field, &image.changed(&text));
        *field = changed;
    }
    Ok(())
}

fn image_text(field: &Value) -> Result<Cow<'_, str>, KustomizeError> {
    scalar::text(field).ok_or_else(|| scalar::wrong_node("ScalarNode", field))
}

/// Whether a list of this name is one of containers, wherever it stands.
fn holds_containers(key: &str) -> bool {
    matches!(key, "containers" | "initContainers")
}

fn find_in_containers(value: &Value, found: &mut Vec<String>) -> Result<(), KustomizeError> {
    match value {
        Value::Map(map) => {
            for (key, field) in map.iter() {
                find_in_containers(field, found)?;
                if let (true, Value::Seq(items)) = (holds_containers(key), field) {
                    for item in items {
                        if let Some(image) = container_image(item)? {
                            found.push(image_text(image)?.into_owned());
                        }
                    }
                }
            }
            Ok(())
        }
        Value::Seq(items) => items.iter().try_for_each(|item| find_in_containers(item, found)),
        _ => Ok(()),
    }
}

fn container_image(container: &Value) -> Result<Option<&Value>, KustomizeError> {
    match container {
        Value::Null => Ok(None),
        Value::Map(map) => Ok(map.get("image")),
        other => Err(scalar::wrong_node("MappingNode", other)),
    }
}

fn edit_containers(
    value: &mut Value,
    edit: &mut dyn FnMut(&mut Value) -> Result<(), KustomizeError>,
) -> Result<(), KustomizeError> {
    match value {
        Value::Map(map) => {
            for (key, field) in map.iter_mut() {
                edit_containers(field, edit)?;
                if let (true, Value::Seq(items)) = (holds_containers(key), field) {
                    items
                        .make_mut()
                        .iter_mut()
                        .filter_map(|container| container.at_mut(&["image"]))
                        .try_for_each(&mut *edit)?;
                }
            }
            Ok(())
        }
        Value::Seq(items) => items.make_mut().iter_mut().try_for_each(|item| edit_containers(item, edit)),
        _ => Ok(()),
    }
}

/// Whether an image is the one that is meant.
#[derive(Clone, Debug)]
enum Matcher {
    /// A name in which `.` stands for any character and the rest for itself.
    Name(Str),
    /// Any other regular expression.
    Pattern(Regex),
}

impl Matcher {
    fn new(name: &str) -> Result<Self, KustomizeError> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-/:.@".contains(&byte);
        if name.bytes().all(is_plain) {
            return Ok(Matcher::Name(name.into()));
        }
        let pattern = format!("^{name}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$");
        Regex::new(&pattern).map(Matcher::Pattern).map_err(|error| {
            KustomizeError::new(format!("the image name {name:?} is no regular expression: {error}"))
                .hint("Kustomize reads the name of an image as a regular expression")
        })
    }

    fn fits(&self, image: &str) -> bool {
        match self {
            Matcher::Name(name) => strip_name(image, name).is_some_and(is_tag_and_digest),
            Matcher::Pattern(pattern) => pattern.is_match(image),
        }
    }
}

/// What comes after a name in an image.
fn strip_name<'a>(image: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = image.chars();
    for wanted in name.chars() {
        let found = rest.next()?;
        if found != wanted && (wanted != '.' || found == '\n') {
            return None;
        }
    }
    Some(rest.as_str())
}

fn is_tag_and_digest(text: &str) -> bool {
    let is_word =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.{}-".contains(&byte));
    let is_digest = |text: &str| text.strip_prefix("@sha256:").is_some_and(is_word);
    match text.strip_prefix(':') {
        Some(tagged) => match tagged.find('@') {
            Some(at) => is_word(&tagged[..at]) && is_digest(&tagged[at..]),
            None => is_word(tagged),
        },
        None => text.is_empty() || is_digest(text),
    }
}

/// Cuts an image into name, tag and digest. A port belongs to the name.
pub fn split(image: &str) -> (&str, &str, &str) {
    let from = image.find('/').unwrap_or_default();
    let at = |mark: char| image[from..].find(mark).map(|at| from + at);
    match (at(':'), at('@')) {
        (None, None) => (image, "", ""),
        (colon, Some(digest)) if colon.is_none_or(|colon| digest < colon) => {
            (&image[..digest], "", &image[digest + 1..])
        }
        (Some(colon), Some(digest)) => (&image[..colon], &image[colon + 1..digest], &image[digest + 1..]),
        (Some(colon), None) => (&image[..colon], &image[colon + 1..], ""),
        (None, Some(digest)) => (&image[..digest], "", &image[digest + 1..]),
    }
}

#[cfg(test)]
#[path = "images_tests.rs"]
mod tests;
