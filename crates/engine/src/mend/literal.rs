//! Fields that a template says by itself, or could.

use lynceus_api::ApplicationSource;
use lynceus_doctor::surgery::{Printed, operate_template};
use lynceus_files::FilePath;
use lynceus_helm::{Explanation, Place};

use super::desk::read;
use super::trial::{Candidate, Goal};
use crate::rendering::Traced;

/// The templates with the field changed in their own text: first the one that printed what is nearest to it, then those that include it.
pub(super) fn candidates(
    traced: &Traced,
    source: &ApplicationSource,
    explanation: &Explanation,
    goal: &Goal<'_>,
) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for place in places(explanation) {
        let Some(file) = file_of(source, place) else { continue };
        let Ok(text) = read(&*traced.tree, &file) else { continue };
        let field = Printed { kind: &goal.key.kind, path: goal.path, line: place.line };
        let texts = operate_template(&text, &field, goal.change);
        candidates.extend(texts.into_iter().map(|text| Candidate {
            number: traced.number,
            file: file.clone(),
            text,
            is_exact: true,
        }));
    }
    candidates
}

/// Where a field was printed, and where that was called from, innermost first.
pub(super) fn places(explanation: &Explanation) -> impl Iterator<Item = &Place> {
    let callers = explanation.calls.iter().rev().filter_map(|(_, from)| from.as_ref());
    [&explanation.place].into_iter().chain(callers)
}

/// `chart/templates/web.yaml`: what comes after the chart's name is below the source's path.
pub(super) fn file_of(source: &ApplicationSource, place: &Place) -> Option<FilePath> {
    let (_, inside) = place.template.split_once('/')?;
    FilePath::new(&source.path).ok()?.join(inside).ok()
}
