//! Changes that are right for one overlay only, though the field is written in the base that it shares with others.

use lynceus_api::{Application, ApplicationSource, Kind as _};
use lynceus_doctor::AppName;
use lynceus_doctor::provenance::{Place as Spot, Spot as Where, Whose};
use lynceus_doctor::surgery::{Change, Cut, operate};
use lynceus_files::FilePath;
use lynceus_object::{FieldPath, Object, Value, value, yaml};
use lynceus_render::Reason;

use super::desk::{Desk, read};
use super::trial::{Candidate, Goal, take};
use super::{Bench, MendError, document};
use crate::engine::Engine;
use crate::key::application_kind;
use crate::limits;
use crate::rendering::Traced;

impl Engine {
    /// Puts a change into a patch of the application's own kustomization if the file that the field is written in is shared with
    /// applications that the change would harm. Says whether it did.
    pub(super) async fn patch_overlay(
        &self,
        desk: &mut Desk,
        bench: &Bench,
        traced: &Traced,
        spot: &Spot,
        goal: &Goal<'_>,
    ) -> Result<bool, MendError> {
        let Some(source) = bench.sources.get(traced.number) else { return Ok(false) };
        let Ok(own) = FilePath::new(&source.path) else { return Ok(false) };
        let is_shared = spot.whose == Whose::Source && !spot.file.is_within(&own);
        if !is_shared || !matches!(traced.reason, Reason::Kustomization(_)) || !source.chart.is_empty() {
            return Ok(false);
        }
        let names = self.new_names(bench, goal).await?;
        let text = read(&*traced.tree, &spot.file)?;
        let Ok(changed) = spot.operate(&text, goal.change) else { return Ok(false) };
        let candidate =
            Candidate { number: traced.number, file: spot.file.clone(), text: changed, is_exact: false };
        if names.is_empty() || !self.misleads_others(bench, source, &candidate, &names).await {
            return Ok(false);
        }
        let Some(candidate) = patch(traced, &own, spot, &text, goal) else { return Ok(false) };
        let after = self.tried(bench, traced.tree.clone(), &candidate).await;
        let is_reached =
            after.is_ok_and(|all| bench.find(&all, goal.key).is_some_and(|one| goal.is_reached(one)));
        if is_reached {
            take(desk, bench, &*traced.tree, candidate)?;
        }
        Ok(is_reached)
    }

    /// The names of the application's own objects that a text is to name and does not name now.
    async fn new_names(&self, bench: &Bench, goal: &Goal<'_>) -> Result<Vec<String>, MendError> {
        let Change::Set(Value::Str(text)) = goal.change else { return Ok(Vec::new()) };
        let before = goal.path.get(goal.object.value()).and_then(Value::as_str).unwrap_or_default();
        let all = self.manifests(bench, &[]).await?;
        let names =
            all.iter().map(Object::name).filter(|name| has_word(text, name) && !has_word(before, name));
        Ok(names.map(ToOwned::to_owned).collect())
    }

    /// Whether a change would have another application name what only this one has.
    async fn misleads_others(
        &self,
        bench: &Bench,
        source: &ApplicationSource,
        candidate: &Candidate,
        names: &[String],
    ) -> bool {
        let is_other = |other: &ApplicationSource| {
            let first = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
            other.repo_url == source.repo_url
                && other.path != source.path
                && first(&other.path) == first(&source.path)
        };
        let all = self.home().cache().of_kind(&application_kind());
        let others = all.iter().filter_map(|object| Application::from_object(object).ok());
        let others = others.filter(|one| AppName::of(one) != bench.name);
        for other in
            others.filter(|one| one.spec.all_sources().iter().any(is_other)).take(limits::MEND_TRIALS)
        {
            let Ok(other) = self.bench(&AppName::of(&other)).await else { continue };
            let Some(number) = other.sources.iter().position(is_other) else { continue };
            let Ok(before) = self.manifests(&other, &[]).await else { continue };
            if names.iter().all(|name| before.iter().any(|object| object.name() == name)) {
                continue;
            }
            let request = other.request(self);
            let Ok(tree) = self.renderer().tree_of(&request, &other.sources[number]).await else { continue };
            let (file, text) = (candidate.file.clone(), candidate.text.clone());
            let same = Candidate { number, file, text, is_exact: false };
            if self.tried(&other, tree, &same).await.is_ok_and(|after| after != before) {
                return true;
            }
        }
        false
    }
}

/// Whether a text has a name in it that is not part of a longer one.
fn has_word(text: &str, name: &str) -> bool {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || sign == '-';
    !name.is_empty()
        && text
            .match_indices(name)
            .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part))
}

/// The kustomization of the application with one more patch, for the object as the base calls it.
fn patch(traced: &Traced, own: &FilePath, spot: &Spot, base: &str, goal: &Goal<'_>) -> Option<Candidate> {
    let Where::Field(cell) = &spot.spot else { return None };
    let written = yaml::documents(base.as_bytes(), &yaml::Options::default());
    let written = written.into_iter().nth(cell.document)?.result.ok()?;
    let name = written.str_at(&["metadata", "name"])?;
    let Change::Set(value) = goal.change else { return None };
    let pointer = goal.path.to_pointer()?;
    let operation = value!([{"op": "replace", "path": (pointer.as_str()), "value": (value.clone())}]);
    let item = value!({
        "target": {"kind": (goal.key.kind.as_str()), "name": name},
        "patch": (yaml::to_string(&operation)),
    });
    let file = document::kustomization_of(&*traced.tree, own)?;
    let text = read(&*traced.tree, &file).ok()?;
    let cut = Cut { document: 0, path: FieldPath::fields(["patches"]), change: Change::Append(item) };
    let text = operate(&file, &text, &[cut]).ok()?;
    Some(Candidate { number: traced.number, file, text, is_exact: false })
}

#[cfg(test)]
mod tests {
    use super::has_word;

    #[test]
    fn a_name_is_in_a_text_as_a_whole_word_only() {
        assert!(has_word("http://blue-api:80", "blue-api"));
        assert!(!has_word("http://blue-api:80", "api"));
        assert!(has_word("api", "api"));
        assert!(!has_word("http://web", ""));
    }
}
