//! Patches that are for nothing that is there.
//!
//! A patch that names its resource itself fails where there is none. One with a target is left out, and Kustomize does not say so: after a
//! resource was renamed, everything is built as if the patch had never been written.

use lynceus_files::Span;
use lynceus_object::{FieldPath, Str};

use crate::resources::Resources;
use crate::schema::Schema;
use crate::selector::Matcher;
use crate::transformers::{self, Transformer};

/// A patch with a target by name that no resource matches.
#[derive(Clone, Debug, PartialEq)]
pub struct IdlePatch {
    /// Where its target is written.
    pub span: Span,
    /// The target in the kustomization: `patches[2].target`.
    pub field: FieldPath,
    /// The kind of the target; nothing if it does not say.
    pub kind: Str,
    /// The name of the target.
    pub name: Str,
    /// The names that resources of this kind have, or had before a prefix and the like, each once and in order.
    pub names: Vec<Str>,
    /// Whether a component has it, which several may share: not each of them need have what it is for.
    pub is_shared: bool,
}

/// Kind and name of what a patch is for by its target, if there is no such resource, and the names that there are. A target without a
/// name, or with a pattern for one, may be for nothing on purpose.
pub(crate) fn idle(
    what: &Transformer,
    resources: &Resources,
    schema: &Schema,
) -> Option<(Str, Str, Vec<Str>)> {
    let Transformer::Patch { target: Some(target), .. } = what else { return None };
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '.' | '_' | ':');
    if target.name.is_empty() || !target.name.chars().all(is_plain) {
        return None;
    }
    // What is wrong with the target is told when the patch is applied.
    let matcher = Matcher::new(&transformers::selector(target)).ok()?;
    let mut there = resources.list.iter().filter(|resource| !resource.value.is_empty());
    if there.any(|resource| matcher.targets(resource, schema)) {
        return None;
    }
    let names = names_of(resources, &target.kind);
    Some((target.kind.clone(), target.name.clone(), names))
}

/// The names that resources of a kind have, or had before a prefix and the like, each once and in order.
pub(crate) fn names_of(resources: &Resources, kind: &str) -> Vec<Str> {
    let of_kind = resources.list.iter().filter(|one| kind.is_empty() || one.kind().kind == kind);
    let mut names: Vec<Str> = of_kind
        .flat_map(|one| one.former.iter().map(|former| former.name.clone()).chain([one.name().into()]))
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}
