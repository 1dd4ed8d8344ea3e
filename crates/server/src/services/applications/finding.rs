//! Applications by name, project, label and repository.

use lynceus_engine::application_kind;
use lynceus_object::{Object, Selector, Value, value};

use super::refresh::refreshed;
use super::{project_of, shown};
use crate::access::Moment;
use crate::call::{Answer, Answered, Call};
use crate::refusal::Refusal;
use crate::rights::Resource;

/// Which applications somebody asks for.
pub(super) struct Filter {
    name: String,
    namespace: String,
    projects: Vec<String>,
    selector: Option<Selector>,
    repository: String,
}

impl Filter {
    /// Reads it from a request.
    pub(super) fn of(call: &Call) -> Result<Self, Refusal> {
        let mut projects = call.texts("projects");
        projects.extend(call.texts("project"));
        let selector = match call.text("selector") {
            "" => None,
            text => Some(Selector::parse(text).map_err(|error| Refusal::invalid(error.to_string()))?),
        };
        Ok(Filter {
            name: call.text("name").to_owned(),
            namespace: call.text("appNamespace").to_owned(),
            projects,
            selector,
            repository: plain(call.text("repo")).to_owned(),
        })
    }

    /// Whether an Application is meant, and the caller may see it.
    pub(super) fn takes(&self, call: &Call, object: &Object) -> bool {
        self.takes_now(call, &mut call.caller.moment(), object)
    }

    /// The same for one of many.
    fn takes_now(&self, call: &Call, moment: &mut Moment<'_>, object: &Object) -> bool {
        let is = |wanted: &str, text: &str| wanted.is_empty() || wanted == text;
        is(&self.name, object.name())
            && is(&self.namespace, object.namespace())
            && (self.projects.is_empty() || self.projects.iter().any(|project| project == project_of(object)))
            && self.selector.as_ref().is_none_or(|selector| selector.matches(|key| object.label(key)))
            && (self.repository.is_empty() || has_repository(object, &self.repository))
            && call.takes_applications_from(object.namespace())
            && moment.may(Resource::Applications, "get", &call.application_object(object))
    }
}

fn has_repository(object: &Object, wanted: &str) -> bool {
    let one = object.at(&["spec", "source"]).into_iter();
    let all = one.chain(object.value().items_at(&["spec", "sources"]));
    all.filter_map(|source| source.str_at(&["repoURL"])).any(|url| plain(url) == wanted)
}

/// Addresses of one repository differ in how they end.
fn plain(url: &str) -> &str {
    let url = url.trim_end_matches('/');
    url.strip_suffix(".git").unwrap_or(url)
}

/// The applications that a call asks for, by name.
pub(super) fn found(call: &Call, filter: &Filter) -> Vec<Object> {
    let mut found = call.server.engine.home().cache().of_kind(&application_kind());
    let mut moment = call.caller.moment();
    found.retain(|object| filter.takes_now(call, &mut moment, object));
    // They come by namespace and name, so that most often there is nothing to do.
    found.sort_by(|a, b| (a.name(), a.namespace()).cmp(&(b.name(), b.namespace())));
    found
}

/// The version of the newest of some objects, from which a watch can go on.
fn version(objects: &[Object]) -> String {
    let newest = objects.iter().filter_map(|object| object.resource_version().parse::<u64>().ok()).max();
    newest.map(|version| version.to_string()).unwrap_or_default()
}

pub(super) fn list(call: &Call) -> Answered {
    let found = found(call, &Filter::of(call)?);
    let items: Value = found.iter().map(shown).collect();
    // Put in and not written as one literal, which would copy every field of every application.
    let mut list = value!({"metadata": {"resourceVersion": version(&found)}});
    list.set(&["items"], items);
    Ok(Answer::One(list))
}

pub(super) async fn get(call: &Call) -> Answered {
    let object = call.application_may("get", "name")?;
    let object = match call.text("refresh") {
        "" => object,
        kind => refreshed(call, &object, kind).await?,
    };
    Ok(Answer::One(shown(&object)))
}
