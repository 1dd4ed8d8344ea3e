//! What the application itself says about how its source is rendered.

use lynceus_files::{FilePath, Tree};
use lynceus_object::{FieldPath, Segment, Value};

use super::{Cell, Ground, Place, PlaceError, Spot, Whose, parse, read};

/// The manifest of an application in a file.
pub struct Declared<'a> {
    /// The files that it is among.
    pub tree: &'a dyn Tree,
    /// Its file.
    pub file: FilePath,
    /// Its document in the file, from 0.
    pub document: usize,
    /// The way to the source that was rendered: `spec.source`, `spec.sources[1]`.
    pub source: FieldPath,
    /// The file that people know it by, where that is another one.
    pub known: Option<FilePath>,
}

/// A file that says how a source is rendered.
pub(super) struct Said {
    whose: Whose,
    file: FilePath,
    document: usize,
    /// Where the source is in it.
    source: FieldPath,
    value: Value,
}

impl Said {
    pub(super) fn get(&self, path: &FieldPath) -> Option<&Value> {
        self.path(path).get(&self.value)
    }

    /// The place of a field of the source.
    pub(super) fn place(&self, path: &FieldPath) -> (Place, FieldPath) {
        let path = self.path(path);
        let spot = Spot::Field(Cell::new(self.document, path.clone()));
        (Place { whose: self.whose.clone(), file: self.file.clone(), spot }, path)
    }

    fn path(&self, path: &FieldPath) -> FieldPath {
        self.source.segments().iter().chain(path.segments()).cloned().collect()
    }
}

/// The first of the files that say how the source is rendered in which a field of it is; the last word comes first.
pub(super) fn find(ground: &Ground<'_>, path: &FieldPath) -> Result<Said, PlaceError> {
    let files = [format!(".argocd-source-{}.yaml", ground.application), ".argocd-source.yaml".to_owned()];
    let overrides = files.iter().filter_map(|name| {
        let file = ground.path.join(name).ok()?;
        let value = parse(&ground.text(&file).ok()?, 0)?;
        Some(Said { whose: Whose::Source, file, document: 0, source: FieldPath::root(), value })
    });
    let has = |said: &Said| said.get(path).is_some();
    if let Some(said) = overrides.into_iter().find(has) {
        return Ok(said);
    }
    let unknown = || PlaceError::Undeclared(shown(path));
    let declared = ground.declared.ok_or_else(unknown)?;
    let text = read(declared.tree, &declared.file)?;
    let value = parse(&text, declared.document).ok_or_else(unknown)?;
    let (file, source) = (declared.file.clone(), declared.source.clone());
    let said = Said { whose: Whose::Application, file, document: declared.document, source, value };
    if has(&said) {
        Ok(said)
    } else {
        Err(PlaceError::Unfound(format!("{} of {}", shown(path), declared.file)))
    }
}

/// A field of a source as people name it.
pub(super) fn shown(path: &FieldPath) -> String {
    let whole: FieldPath =
        FieldPath::fields(["spec", "source"]).segments().iter().chain(path.segments()).cloned().collect();
    whole.to_string()
}

/// The path of an item of a list by the value of one of its fields; the last if there are several.
pub(super) fn item(list: Option<&Value>, name: &str, is: impl Fn(&Value) -> bool) -> Option<Segment> {
    let items = list?.as_seq()?;
    items.iter().rposition(|item| item.get(name).is_some_and(&is)).map(Segment::Index)
}
