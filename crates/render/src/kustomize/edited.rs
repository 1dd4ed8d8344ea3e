//! A kustomization as an Application changes it, in the place of the file, and what stands where in that file.

use std::sync::Arc;

use lynceus_files::{Entry, FilePath, Span, Tree, TreeError};
use lynceus_kustomize::{Cause, Explanation, IdlePatch, KustomizeError, Place};
use lynceus_object::{FieldPath, Segment, Value, yaml};

/// A tree with a changed kustomization.
pub(super) struct Edited<'a> {
    pub(super) tree: &'a dyn Tree,
    pub(super) file: FilePath,
    /// What the file holds, as text and as a value.
    pub(super) content: Arc<[u8]>,
    pub(super) original: Value,
    /// What is built instead.
    pub(super) kustomization: Value,
    pub(super) text: Arc<[u8]>,
}

impl Tree for Edited<'_> {
    fn entry(&self, path: &FilePath) -> Result<Entry, TreeError> {
        self.tree.entry(path)
    }

    fn read(&self, path: &FilePath, limit: u64) -> Result<Arc<[u8]>, TreeError> {
        if *path == self.file { Ok(self.text.clone()) } else { self.tree.read(path, limit) }
    }

    fn list(&self, path: &FilePath) -> Result<Vec<(String, Entry)>, TreeError> {
        self.tree.list(path)
    }
}

/// Who says what stands in a field.
enum Given {
    /// The file does, in this field of it.
    File(FieldPath),
    /// The Application does, by this parameter.
    Parameter(FieldPath),
}

impl Edited<'_> {
    /// An explanation with the lines that people see.
    pub(super) fn placed(&self, mut explanation: Explanation) -> Explanation {
        for cause in [&mut explanation.last].into_iter().chain(&mut explanation.before) {
            if let Cause::Field { field, place, within } = cause
                && place.file == self.file.as_str()
            {
                self.correct(field, place, within);
            }
        }
        explanation
    }

    fn correct(&self, field: &mut FieldPath, place: &mut Place, within: &mut Option<Place>) {
        let inline = within.take_if(|within| within.file == place.file);
        match self.given(field) {
            Given::Parameter(parameter) => {
                *field = parameter;
                *place = Place { file: "Application".to_owned(), line: 0, column: 0 };
            }
            Given::File(own) => {
                let line = |text: &[u8], field: &FieldPath| yaml::locate(text, 0, field).unwrap_or_default();
                if let Some(inline) = inline {
                    // The lines of a text are the same in both, counted from where it begins.
                    let (patch, own_patch) = (field.field("patch"), own.field("patch"));
                    let after = inline.line.saturating_sub(line(&self.text, &patch).0);
                    let line = line(&self.content, &own_patch).0 + after;
                    *within = Some(Place { line, column: 0, ..inline });
                }
                (place.line, place.column) = line(&self.content, &own);
                *field = own;
            }
        }
    }

    /// An error with the line that people see.
    pub(super) fn place(&self, error: &mut KustomizeError) {
        let is_here = error.kustomization.as_ref() == Some(&self.file);
        let is_placed_here = error.span.as_ref().is_some_and(|span| span.file == self.file);
        let Ok(field) = FieldPath::parse(&error.field) else { return };
        if !is_here || !is_placed_here {
            return;
        }
        match self.given(&field) {
            Given::File(own) => {
                let (line, column) = yaml::locate(&self.content, 0, &own).unwrap_or_default();
                error.span = Some(Span { file: self.file.clone(), line, column });
                error.field = own.to_string().into();
            }
            Given::Parameter(parameter) => {
                error.span = None;
                error.field = parameter.to_string().into();
            }
        }
    }

    /// A patch that is for nothing, with the line that people see. One of the Application has no line.
    pub(super) fn place_idle(&self, patch: &mut IdlePatch) {
        if patch.span.file != self.file {
            return;
        }
        let file = self.file.clone();
        (patch.field, patch.span) = match self.given(&patch.field) {
            Given::File(own) => {
                let (line, column) = yaml::locate(&self.content, 0, &own).unwrap_or_default();
                (own, Span { file, line, column })
            }
            Given::Parameter(parameter) => (parameter.field("target"), Span { file, line: 0, column: 0 }),
        };
    }

    /// Who says what stands in a field of the changed kustomization.
    fn given(&self, field: &FieldPath) -> Given {
        let value = field.get(&self.kustomization);
        if value == field.get(&self.original) {
            return Given::File(field.clone());
        }
        let [Segment::Field(name), rest @ ..] = field.segments() else { return Given::File(field.clone()) };
        let list = self.original.items_at(&[name]);
        let parameter = FieldPath::fields(["spec", "source", "kustomize"]);
        match rest {
            [Segment::Index(at), below @ ..] => {
                let item = FieldPath::fields([name.as_str()]).index(*at);
                let item = item.get(&self.kustomization);
                // The file's own may stand elsewhere in the list now.
                match list.iter().position(|own| Some(own) == item) {
                    Some(own) => {
                        let path = [Segment::Field(name.clone()), Segment::Index(own)];
                        Given::File(path.into_iter().chain(below.iter().cloned()).collect())
                    }
                    None if *name == "labels" => Given::Parameter(parameter.field("commonLabels")),
                    None if *name == "patches" => {
                        Given::Parameter(parameter.field("patches").index(at.saturating_sub(list.len())))
                    }
                    None => Given::Parameter(parameter.field(name.clone())),
                }
            }
            _ => Given::Parameter(parameter.field(name.clone())),
        }
    }
}
