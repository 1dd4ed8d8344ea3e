//! The values of an Application's chart: its files, its own values and its parameters, in Argo CD's order.

use std::collections::BTreeMap;
use std::sync::Arc;

use lynceus_api::ApplicationSourceHelm;
use lynceus_files::{FilePath, Tree, TreeError};
use lynceus_helm::{UserValues, ValueOptions, ValuesFile};
use lynceus_object::yaml;

use super::need;
use crate::environment::Environment;
use crate::job::{Job, Need, Trees};
use crate::{RenderError, glob, limits};

/// Reads what an Application names.
pub(super) struct Reader<'a> {
    pub(super) trees: &'a Trees<'a>,
    /// Where the chart is.
    pub(super) path: &'a FilePath,
    pub(super) job: &'a Job<'a>,
    pub(super) environment: &'a Environment<'a>,
}

/// Where a file is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// In a tree: the source's own without a name.
    File(String, FilePath),
    Url(String),
}

impl Reader<'_> {
    /// Merges everything. What has to be got from elsewhere is noted.
    pub(super) fn read(
        &self,
        helm: &ApplicationSourceHelm,
        needs: &mut Vec<Need>,
    ) -> Result<UserValues, RenderError> {
        let mut options = ValueOptions::default();
        for place in self.places(helm)? {
            if let Some(data) = self.content(&place, needs)? {
                options.files.push(ValuesFile { name: place.name(), data });
            }
        }
        options.files.extend(own(helm));
        let mut texts = BTreeMap::new();
        for parameter in &helm.parameters {
            let value = escaped(&self.environment.expand(&parameter.value));
            let list = if parameter.force_string { &mut options.strings } else { &mut options.set };
            list.push(format!("{}={value}", parameter.name));
        }
        for parameter in &helm.file_parameters {
            let place = self.place(&parameter.path)?;
            if let Some(data) = self.content(&place, needs)? {
                let name = place.name();
                options.set_files.push(format!("{}={}", parameter.name, escaped(&name)));
                texts.insert(name, String::from_utf8_lossy(&data).into_owned());
            }
        }
        let mut read =
            |name: &str| texts.get(name).cloned().ok_or_else(|| format!("open {name}: no such file"));
        options
            .merge(&mut read)
            .map_err(|error| RenderError::Helm { path: self.path.clone(), source: Box::new(error.into()) })
    }

    /// The value files in order, patterns replaced by what they match. A file that is also named by itself stands there.
    fn places(&self, helm: &ApplicationSourceHelm) -> Result<Vec<Place>, RenderError> {
        let named: Vec<Place> =
            helm.value_files.iter().map(|file| self.place(file)).collect::<Result<_, _>>()?;
        let mut places: Vec<Place> = Vec::new();
        let mut add = |place: Place| {
            if !places.contains(&place) {
                places.push(place);
            }
        };
        for (place, given) in named.iter().zip(&helm.value_files) {
            match place {
                Place::File(tree, pattern) if glob::is_pattern(pattern.as_str()) => {
                    let found = glob::files(self.tree_of(tree)?, pattern)?;
                    if found.is_empty() && !helm.ignore_missing_value_files {
                        return Err(RenderError::NoValueFiles(given.to_string()));
                    }
                    let found = found.into_iter().map(|file| Place::File(tree.clone(), file));
                    found.filter(|place| !named.contains(place)).for_each(&mut add);
                }
                Place::File(tree, file) if helm.ignore_missing_value_files => {
                    if !matches!(self.tree_of(tree)?.entry(file), Err(TreeError::NotFound(_))) {
                        add(place.clone());
                    }
                }
                place => add(place.clone()),
            }
        }
        Ok(places)
    }

    /// Where a path of the Application leads: below the chart, to the root, into another source, or away.
    fn place(&self, given: &str) -> Result<Place, RenderError> {
        let outside = |_| RenderError::ValueFile {
            file: given.to_owned(),
            reason: "it resolves to outside the repository root".to_owned(),
        };
        if let Some((name, below)) = given.strip_prefix('$').and_then(|rest| rest.split_once('/'))
            && self.job.references.contains_key(name)
        {
            let below = FilePath::new(&self.environment.expand(below)).map_err(outside)?;
            return Ok(Place::File(name.to_owned(), below));
        }
        let path = self.environment.expand(given);
        if let Some(scheme) = scheme(&path) {
            let allowed = self.job.setting.value_schemes.iter().any(|one| one.eq_ignore_ascii_case(scheme));
            let reason = format!("the URL scheme '{scheme}' is not allowed");
            return match allowed {
                true => Ok(Place::Url(path)),
                false => Err(RenderError::ValueFile { file: given.to_owned(), reason }),
            };
        }
        Ok(Place::File(String::new(), self.path.join(&path).map_err(outside)?))
    }

    fn tree_of(&self, name: &str) -> Result<&dyn Tree, RenderError> {
        match name {
            "" => Ok(self.trees.own()),
            name => self.trees.other(name).ok_or_else(|| RenderError::NoReference(name.to_owned())),
        }
    }

    fn content(&self, place: &Place, needs: &mut Vec<Need>) -> Result<Option<Arc<[u8]>>, RenderError> {
        match place {
            Place::File(tree, file) => {
                let failed = |error: TreeError| RenderError::ValueFile {
                    file: place.name(),
                    reason: error.to_string(),
                };
                self.tree_of(tree)?.read(file, limits::FILE_BYTES).map(Some).map_err(failed)
            }
            Place::Url(url) => {
                let wish = Need::Url(url.as_str().into());
                let found = self.job.fetched.get(&wish).cloned();
                if found.is_none() {
                    need(needs, wish);
                }
                Ok(found)
            }
        }
    }
}

impl Place {
    fn name(&self) -> String {
        match self {
            Place::File(tree, file) if tree.is_empty() => file.to_string(),
            Place::File(tree, file) => format!("${tree}/{file}"),
            Place::Url(url) => url.clone(),
        }
    }
}

/// The values that stand in the Application itself; of the two ways to write them the structure wins.
fn own(helm: &ApplicationSourceHelm) -> Option<ValuesFile> {
    let (name, text) = match &helm.values_object {
        Some(object) => ("spec.source.helm.valuesObject", yaml::to_string(&object.0)),
        None if helm.values.is_empty() => return None,
        None => ("spec.source.helm.values", helm.values.to_string()),
    };
    Some(ValuesFile { name: name.to_owned(), data: text.into_bytes().into() })
}

/// A comma ends a value on Helm's command line unless it is a list or the comma is escaped.
fn escaped(value: &str) -> String {
    if value.starts_with('{') && value.ends_with('}') {
        return value.to_owned();
    }
    let mut out = String::with_capacity(value.len());
    let mut before = '\0';
    for letter in value.chars() {
        if letter == ',' && before != '\\' {
            out.push('\\');
        }
        out.push(letter);
        before = letter;
    }
    out
}

/// The scheme of a URL; a path has none.
fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let mut letters = scheme.chars();
    let first = letters.next()?.is_ascii_alphabetic();
    let rest = letters.all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-' | '.'));
    (first && rest).then_some(scheme)
}
