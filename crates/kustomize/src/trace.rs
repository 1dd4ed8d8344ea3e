//! What set each field of a resource, for those who ask.
//!
//! After every step of a traced build the resources are compared with what they were, and where one differs it is kept
//! with what did it. Values are copy-on-write, so what is kept is references, and finding out which field changed is left
//! until somebody asks for one. An ordinary build has no tracer and keeps nothing.

mod cause;
mod follow;
mod patches;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use lynceus_files::Span;
use lynceus_object::{FieldPath, Str, Value};

use crate::kustomization::Source;
use crate::resource::Resource;
use crate::transformers::{Text, Transformer};
use crate::written::Written;

/// Why a field of a resource is as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// What set the field last, or took it away.
    pub last: Cause,
    /// What had set it before, the latest first. The oldest is where it was written first.
    pub before: Vec<Cause>,
    /// Whether the resource has the field no more.
    pub is_removed: bool,
}

/// What set a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// It stands in the file of the resource.
    Written(Place),
    /// A field of a kustomization asks for it.
    Field {
        /// That field, such as `patches[2]` or `commonLabels.team`.
        field: FieldPath,
        /// Where that field is.
        place: Place,
        /// The line of the patch, or of what configures a plugin, that did it.
        within: Option<Place>,
    },
    /// The name ends with a hash of the content.
    Hash,
    /// It is the name of a resource that was renamed.
    Reference {
        /// That resource, as `ConfigMap/name`, if there is only one that it can be.
        to: Option<String>,
    },
    /// A variable stood there.
    Variable {
        /// The variable, if it was one.
        name: Str,
        /// Where it is defined.
        place: Option<Place>,
    },
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file: its path in the tree, `repository//path` in another repository, or its URL.
    pub file: String,
    /// The line, from 1; 0 if it is not known.
    pub line: u32,
    /// The column, from 1; 0 if it is not known.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        for number in [self.line, self.column] {
            if number == 0 {
                break;
            }
            write!(f, ":{number}")?;
        }
        Ok(())
    }
}

/// Something that makes or changes resources.
#[derive(Debug)]
pub(crate) enum Step {
    /// They were read from a file, which is shown as this.
    Read(String),
    /// A field of a kustomization asks for it.
    Field(Asked),
    /// Names are given hashes.
    Hashes,
    /// Names are set right where they are referred to.
    References,
    /// Variables are replaced.
    Variables,
}

/// What a field of a kustomization asks for.
#[derive(Debug)]
pub(crate) struct Asked {
    /// The kustomization.
    pub(crate) source: Arc<Source>,
    /// The repository that it is in, if that is another one.
    pub(crate) repository: Option<String>,
    /// The field.
    pub(crate) field: FieldPath,
    /// The patches that are applied.
    pub(crate) patches: Vec<Text>,
    /// The resource that configures it, if it is a plugin.
    pub(crate) plugin: Option<Span>,
}

/// Notes what is done to resources while they are built.
#[derive(Default)]
pub(crate) struct Tracer(Traces);

/// What was done to the resources of a build.
#[derive(Debug, Default)]
pub struct Traces {
    tracks: Vec<Track>,
    variables: BTreeMap<Str, Place>,
}

/// One resource, on its way.
#[derive(Debug)]
struct Track {
    /// Its own text and place.
    written: Written,
    span: Option<Span>,
    /// What it was after each step that changed it.
    changes: Vec<Change>,
}

#[derive(Debug)]
struct Change {
    step: Arc<Step>,
    value: Value,
}

impl Tracer {
    /// Notes what a step has done. A resource that was not seen before is new by this step.
    pub(crate) fn note(&mut self, resources: &mut [Resource], step: Step) {
        let step = Arc::new(step);
        let tracks = &mut self.0.tracks;
        for resource in resources {
            let change = || Change { step: step.clone(), value: resource.value.clone() };
            match resource.track.and_then(|track| tracks.get_mut(track)) {
                Some(track) => {
                    if track.changes.last().is_none_or(|last| last.value != resource.value) {
                        track.changes.push(change());
                    }
                }
                None => {
                    let (written, span) = (resource.written.clone(), resource.span.clone());
                    tracks.push(Track { written, span, changes: vec![change()] });
                    resource.track = Some(tracks.len() - 1);
                }
            }
        }
    }

    /// Takes the resources as they are, whatever made them so: how something is spelled is nobody's doing.
    pub(crate) fn settle(&mut self, resources: &[Resource]) {
        for resource in resources {
            let track = resource.track.and_then(|track| self.0.tracks.get_mut(track));
            if let Some(last) = track.and_then(|track| track.changes.last_mut()) {
                last.value = resource.value.clone();
            }
        }
    }

    /// Notes where a variable is defined.
    pub(crate) fn define(&mut self, variable: Str, place: Place) {
        self.0.variables.insert(variable, place);
    }

    /// All that was noted.
    pub(crate) fn finish(self) -> Traces {
        self.0
    }
}

/// The texts of the patches that a transformer applies.
pub(crate) fn patches_of(transformer: &Transformer) -> Vec<Text> {
    match transformer {
        Transformer::Patch { patch, .. } | Transformer::PatchJson6902 { patch, .. } => vec![patch.clone()],
        Transformer::PatchStrategicMerge { patches } => patches.clone(),
        _ => Vec::new(),
    }
}

/// A place in a file of a repository, or of the tree that is built.
pub(crate) fn place(repository: Option<&str>, span: &Span) -> Place {
    let file = match repository {
        Some(url) => format!("{url}//{}", span.file.as_str()),
        None => span.file.as_str().to_owned(),
    };
    Place { file, line: span.line, column: span.column }
}
