//! Applications by name, project, label and repository.

use std::sync::Arc;

use lynceus_engine::AppKey;
use lynceus_object::{Object, Selector, value};

use super::refresh::refreshed;
use super::roster::Row;
use super::shown;
use crate::call::{Answer, Answered, Call, List};
use crate::refusal::Refusal;
use crate::rights::Resource;

/// A question for applications, with which of them are asked for.
pub(super) struct Asked {
    pub(super) call: Call,
    name: String,
    namespace: String,
    projects: Vec<String>,
    selector: Option<Selector>,
    repository: String,
}

/// The applications that somebody asked for and may see, by name.
pub(super) struct Found {
    rows: Arc<Vec<Row>>,
    at: Vec<usize>,
}

impl Asked {
    /// Reads it from a request.
    pub(super) fn read(call: Call) -> Result<Self, Refusal> {
        let projects = call.projects();
        let selector = match call.text("selector") {
            "" => None,
            text => Some(Selector::parse(text).map_err(|error| Refusal::invalid(error.to_string()))?),
        };
        Ok(Asked {
            name: call.text("name").to_owned(),
            namespace: call.text("appNamespace").to_owned(),
            projects,
            selector,
            repository: plain(call.text("repo")).to_owned(),
            call,
        })
    }

    /// All that are asked for, and that the caller may see.
    pub(super) fn found(&self) -> Found {
        let server = &self.call.server;
        let rows = server.roster.now(server.engine.home().cache());
        let mut seen = self.call.caller.moment(Resource::Applications, "get");
        let mut is_one =
            |at: &usize| self.means(&rows[*at]) && seen.may(&rows[*at].policy_name(server.namespace()));
        let at = (0..rows.len()).filter(|at| is_one(at)).collect();
        Found { rows, at }
    }

    /// One as it is now, if it is there, asked for, and the caller may see it.
    pub(super) fn get(&self, key: &AppKey) -> Option<Object> {
        self.call.server.engine.home().cache().get(&key.object_key()).filter(|object| {
            let row = Row::of(object);
            let name = row.policy_name(self.call.server.namespace());
            self.means(&row) && self.call.caller.may(Resource::Applications, "get", &name)
        })
    }

    /// One that was found. Only if it has changed since is there anything to look at again.
    fn again(&self, row: &Row) -> Option<Object> {
        let object = self.call.server.engine.home().cache().get(&row.key.object_key())?;
        if object.resource_version() == row.version { Some(object) } else { self.get(&row.key) }
    }

    fn means(&self, row: &Row) -> bool {
        let is = |wanted: &str, text: &str| wanted.is_empty() || wanted == text;
        is(&self.name, &row.key.name)
            && is(&self.namespace, &row.key.namespace)
            && (self.projects.is_empty() || self.projects.iter().any(|project| *project == row.project))
            && self.selector.as_ref().is_none_or(|selector| selector.matches(|key| row.label(key)))
            && (self.repository.is_empty() || row.repositories().any(|url| plain(url) == self.repository))
            && self.call.takes_applications_from(&row.key.namespace)
    }
}

/// Addresses of one repository differ in how they end.
fn plain(url: &str) -> &str {
    let url = url.trim_end_matches('/');
    url.strip_suffix(".git").unwrap_or(url)
}

impl Found {
    /// Their names, in order.
    pub(super) fn keys(&self) -> impl ExactSizeIterator<Item = &AppKey> + Clone {
        self.at.iter().map(|at| &self.rows[*at].key)
    }

    /// The version of the newest, from which a watch can go on.
    fn version(&self) -> String {
        let newest = self.at.iter().filter_map(|at| self.rows[*at].version.parse::<u64>().ok()).max();
        newest.map(|version| version.to_string()).unwrap_or_default()
    }
}

pub(super) fn list(call: Call) -> Answered {
    let asked = Asked::read(call)?;
    let found = asked.found();
    let metadata = value!({"resourceVersion": found.version()});
    let count = found.at.len();
    let one = move |at: usize| {
        let row = &found.rows[*found.at.get(at)?];
        asked.again(row).as_ref().map(shown)
    };
    Ok(Answer::List(List::new(metadata, count, one)))
}

pub(super) async fn get(call: &Call) -> Answered {
    let object = call.application_may("get", "name")?;
    let object = match call.text("refresh") {
        "" => object,
        kind => refreshed(call, &object, kind).await?,
    };
    Ok(Answer::One(call.server.shown_with_health(&object)))
}
