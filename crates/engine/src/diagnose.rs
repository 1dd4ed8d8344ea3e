//! What is wrong, told as few times as it was done wrong.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use lynceus_api::{HealthStatusCode, SyncStatusCode};
use lynceus_doctor::{
    AppName, Delivery, Edit, Examination, Finding, Fix, Place, Snapshot, Step, Wanted, examine_apart,
};
use lynceus_files::Span;
use lynceus_object::{FieldPath, ObjectKey, Value};

use crate::engine::Engine;
use crate::limits;
use crate::mend::patch_of;

impl Engine {
    /// What is wrong in a snapshot of this engine's. Causes that one and the same change to the files would mend were one slip, and
    /// are told as one; of those that change files of their own each is told for itself, however alike they are.
    pub async fn diagnose(&self, snapshot: &Snapshot) -> Examination {
        let mut examination = examine_apart(snapshot);
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for root in &examination.roots {
            *counts.entry(root.finding.code).or_default() += 1;
        }
        let mut slips: Vec<Option<String>> = vec![None; examination.roots.len()];
        let mut lines: Vec<Option<String>> = vec![None; examination.roots.len()];
        let mut tried = 0;
        for (place, root) in examination.roots.iter().enumerate() {
            let finding = &root.finding;
            if counts[finding.code] == 1 {
                continue;
            }
            let known = match tried < limits::SLIPS {
                true => self.slip(snapshot, finding).await,
                false => None,
            };
            if tried < limits::SLIPS {
                lines[place] = self.line_of(finding).await;
            }
            tried += 1;
            slips[place] = known.or_else(|| Some(format!("{} {}", finding.code, finding.alike.as_ref()?)));
        }
        unite(snapshot, &examination, &lines, &mut slips);
        part(snapshot, &examination, &mut slips);
        examination.fold(&slips);
        self.locate(snapshot, &mut examination).await;
        examination
    }

    /// What a cause has in common with others of one slip: what its fix changes, or else the one place where what is wrong is written.
    async fn slip(&self, snapshot: &Snapshot, finding: &Finding) -> Option<String> {
        if let Some(fix) = finding.fixes.iter().find(|fix| fix.has_edits()) {
            return self.change_of(finding.code, fix).await;
        }
        // What several name in several places is mended in several places.
        let (fields, mut places) = (shown_fields(snapshot, finding), BTreeSet::new());
        for (name, key, path) in &fields {
            places.insert(self.written_at(name, key, path).await?);
        }
        let [place]: [String; 1] = places.into_iter().collect::<Vec<_>>().try_into().ok()?;
        // What is written there may have another name for each who inherits it; what is only named there is something else then.
        let is_subject = |key: &ObjectKey| finding.subject.key() == Some(key);
        let name = match fields.iter().all(|(_, key, _)| is_subject(key)) {
            true => String::new(),
            false => finding.subject.slug(),
        };
        let manner = finding.manner.as_deref().unwrap_or_default();
        Some(format!("{} {name} {manner} {place}", finding.code))
    }

    /// The one place that holds what a fix corrects. Those that inherit a line may each need something else there, such as a name with
    /// a prefix of their own: it is one slip all the same.
    async fn line_of(&self, finding: &Finding) -> Option<String> {
        let fix = finding.fixes.iter().find(|fix| fix.has_edits())?;
        let mut edits = fix.steps.iter().filter_map(|step| match step {
            Step::Git(edit) => Some(edit),
            Step::Cluster(_) | Step::Person(_) => None,
        });
        let (Some(Edit { application, place: Place::Field { object, path, value: Some(_) } }), None) =
            (edits.next(), edits.next())
        else {
            return None;
        };
        Some(format!("{} {}", finding.code, self.written_at(application, object, path).await?))
    }

    /// What a fix changes. Where that cannot be told, nothing is told of it here either: whoever asks for the fix hears why.
    async fn change_of(&self, code: &str, fix: &Fix) -> Option<String> {
        let changes = self.mend(fix).await.ok().filter(|changes| !changes.is_empty())?;
        Some(format!("{code} {}", patch_of(&changes)))
    }
}

/// Takes causes together that one and the same line is to be corrected for, whatever each of them wants there. Where an application that is
/// well is made of the same document it is not that line which is wrong.
fn unite(
    snapshot: &Snapshot,
    examination: &Examination,
    lines: &[Option<String>],
    slips: &mut [Option<String>],
) {
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, line) in lines.iter().enumerate() {
        if let Some(line) = line {
            groups.entry(line).or_default().push(place);
        }
    }
    for (line, places) in groups.into_iter().filter(|(_, places)| places.len() > 1) {
        let members: Vec<&Finding> = places.iter().map(|place| &examination.roots[*place].finding).collect();
        if serves_others(snapshot, &members) {
            continue;
        }
        let known: BTreeSet<String> = places.iter().filter_map(|place| slips[*place].clone()).collect();
        let is_same = |slip: &Option<String>| slip.as_ref().is_some_and(|slip| known.contains(slip));
        slips.iter_mut().filter(|slip| is_same(slip)).for_each(|slip| *slip = Some(line.to_owned()));
        places.into_iter().for_each(|place| slips[place] = Some(line.to_owned()));
    }
}

/// Takes causes apart that have one place in common with an application which is well: there it is not what is written that is wrong, but
/// what each of the others lacks.
fn part(snapshot: &Snapshot, examination: &Examination, slips: &mut [Option<String>]) {
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, slip) in slips.iter().enumerate() {
        if let Some(slip) = slip {
            groups.entry(slip.clone()).or_default().push(place);
        }
    }
    for places in groups.into_values().filter(|places| places.len() > 1) {
        let members: Vec<&Finding> = places.iter().map(|place| &examination.roots[*place].finding).collect();
        let is_mended = members.iter().any(|finding| finding.fixes.iter().any(Fix::has_edits));
        if !is_mended && serves_others(snapshot, &members) {
            places.into_iter().for_each(|place| slips[place] = None);
        }
    }
}

/// Whether an application that is well is made of the same document.
fn serves_others(snapshot: &Snapshot, members: &[&Finding]) -> bool {
    let named: Vec<_> = members.iter().flat_map(|finding| shown_fields(snapshot, finding)).collect();
    let troubled: BTreeSet<&AppName> = named.iter().map(|(name, ..)| name).collect();
    let fields: Vec<(&Wanted, &FieldPath)> = snapshot
        .applications
        .iter()
        .flat_map(|one| {
            let name = AppName::of(&one.application);
            let own = named.iter().filter(move |(own, ..)| *own == name);
            own.filter_map(move |(_, key, path)| Some((wanted(one, key)?, path)))
        })
        .collect();
    let spans: BTreeSet<(&str, u32)> = fields.iter().filter_map(|(wanted, _)| place(wanted)).collect();
    // Where all say the same, whoever says something else has it from elsewhere.
    let said = |(wanted, path): &(&'_ Wanted, &FieldPath)| path.get(wanted.object.value()).cloned();
    let common = fields
        .first()
        .and_then(said)
        .filter(|first| fields.iter().all(|one| said(one).as_ref() == Some(first)));
    let says_it = |wanted: &Wanted| {
        let is_said =
            |value: &Value| fields.iter().any(|(_, path)| path.get(wanted.object.value()) == Some(value));
        common.as_ref().is_none_or(is_said)
    };
    snapshot.applications.iter().any(|one| {
        let status = &one.application.status;
        let is_well = status.sync.status == SyncStatusCode::Synced
            && status.health.status == HealthStatusCode::Healthy
            && !troubled.contains(&AppName::of(&one.application));
        let is_it =
            |wanted: &Wanted| place(wanted).is_some_and(|place| spans.contains(&place)) && says_it(wanted);
        is_well && one.wanted.iter().any(is_it)
    })
}

fn wanted<'a>(one: &'a Delivery, key: &ObjectKey) -> Option<&'a Wanted> {
    // Very many are looked through, and the name tells most of them apart.
    one.wanted.iter().find(|wanted| wanted.object.name() == key.name && wanted.object.key() == *key)
}

/// The fields that a cause shows, each with the application that wants its object: a cause that several suffer from is of one of them.
pub(crate) fn shown_fields(snapshot: &Snapshot, finding: &Finding) -> Vec<(AppName, ObjectKey, FieldPath)> {
    let mut fields = finding.shown_fields();
    for (name, key, _) in &mut fields {
        let is_own = |one: &&Delivery| {
            let metadata = &one.application.metadata;
            metadata.name == name.name && metadata.namespace == name.namespace
        };
        let wants = |one: &&Delivery| wanted(one, key).is_some();
        let mut all = snapshot.applications.iter();
        // Nearly all are of the one that the cause is of: only for the others all applications are looked through.
        if !all.clone().find(is_own).is_some_and(|own| wants(&own))
            && let Some(other) = all.find(wants)
        {
            *name = AppName::of(&other.application);
        }
    }
    fields
}

fn place(wanted: &Wanted) -> Option<(&str, u32)> {
    let Span { file, line, .. } = wanted.span.as_ref()?;
    Some((file.as_str(), *line))
}
