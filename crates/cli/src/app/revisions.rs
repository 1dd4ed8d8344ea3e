//! Revisions other than an application's own: one, or one for each of several sources.

use lynceus_api::Application;
use lynceus_object::Str;

use crate::exit::{Code, Failure, Outcome};

// Which revisions somebody means.
#[derive(clap::Args, Clone, Default)]
pub(crate) struct Revisions {
    /// This revision instead of the application's own.
    #[arg(long)]
    pub(crate) revision: Option<String>,
    /// This revision of a source of several; may be given several times, each with --source-positions or --source-names.
    #[arg(long, value_name = "REVISION")]
    pub(crate) revisions: Vec<String>,
    /// Which source a --revisions is of, counted from 1.
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub(crate) source_positions: Vec<usize>,
    /// Which source a --revisions is of, by its name.
    #[arg(long, value_name = "NAME", conflicts_with = "source_positions")]
    pub(crate) source_names: Vec<String>,
}

impl Revisions {
    /// The revision of each source, empty where none is given; nothing at all if none is.
    pub(crate) fn of(&self, application: &Application) -> Outcome<Vec<Str>> {
        let is_multiple = application.spec.has_multiple_sources();
        match &self.revision {
            Some(_) if is_multiple => {
                let name = &application.metadata.name;
                let message = format!(
                    "{name} has several sources: use --revisions with --source-positions instead of --revision"
                );
                Err(Failure::new(Code::Refused, message))
            }
            Some(revision) => Ok(vec![revision.as_str().into()]),
            None => self.of_each(application),
        }
    }

    fn of_each(&self, application: &Application) -> Outcome<Vec<Str>> {
        if self.revisions.is_empty() {
            return Ok(Vec::new());
        }
        let sources = application.spec.all_sources();
        let places: Vec<usize> = if !self.source_names.is_empty() {
            let place = |name: &String| {
                let found = sources.iter().position(|source| source.name == name.as_str());
                found
                    .map(|at| at + 1)
                    .ok_or_else(|| Failure::new(Code::Other, format!("unknown source name '{name}'")))
            };
            self.source_names.iter().map(place).collect::<Outcome<_>>()?
        } else if !self.source_positions.is_empty() {
            self.source_positions.clone()
        } else {
            (1..=self.revisions.len()).collect()
        };
        if places.len() != self.revisions.len() {
            return Err(Failure::new(
                Code::Other,
                "every --revisions needs one --source-positions or --source-names",
            ));
        }
        let mut revisions = vec![Str::new(); sources.len()];
        for (place, revision) in places.iter().zip(&self.revisions) {
            let found = place.checked_sub(1).and_then(|at| revisions.get_mut(at));
            *found.ok_or_else(|| {
                let message =
                    format!("there is no source {place}: they are counted from 1 to {}", sources.len());
                Failure::new(Code::Other, message)
            })? = revision.as_str().into();
        }
        Ok(revisions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_api::ApplicationSource;

    fn application(names: &[&str]) -> Application {
        let mut application = Application::default();
        let source = |name: &&str| ApplicationSource {
            name: (*name).into(),
            repo_url: "https://git.example.com/a.git".into(),
            ..ApplicationSource::default()
        };
        match names {
            [] => application.spec.source = Some(source(&"")),
            names => application.spec.sources = names.iter().map(source).collect(),
        }
        application
    }

    fn told(revisions: &Revisions, names: &[&str]) -> String {
        match revisions.of(&application(names)) {
            Ok(found) => found.iter().map(|one| format!("[{one}]")).collect(),
            Err(failure) => failure.message,
        }
    }

    #[test]
    fn revisions_are_told_apart_by_place_or_name() {
        let one = Revisions { revision: Some("v1".to_owned()), ..Revisions::default() };
        assert_eq!(told(&one, &[]), "[v1]");
        assert!(told(&one, &["a", "b"]).contains("has several sources"));
        let each = |revisions: &[&str], positions: &[usize], names: &[&str]| {
            let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
            let revisions = Revisions {
                revisions: texts(revisions),
                source_positions: positions.to_vec(),
                source_names: texts(names),
                ..Revisions::default()
            };
            told(&revisions, &["a", "b"])
        };
        assert_eq!(each(&[], &[], &[]), "");
        assert_eq!(each(&["v1", "v2"], &[], &[]), "[v1][v2]");
        assert_eq!(each(&["v2"], &[2], &[]), "[][v2]");
        assert_eq!(each(&["v2"], &[], &["b"]), "[][v2]");
        assert_eq!(each(&["v2"], &[], &["c"]), "unknown source name 'c'");
        assert_eq!(each(&["v2"], &[3], &[]), "there is no source 3: they are counted from 1 to 2");
        assert!(each(&["v1", "v2"], &[1], &[]).starts_with("every --revisions needs one"));
    }
}
