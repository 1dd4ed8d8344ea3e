//! Somebody who asks, and what they may.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use lynceus_object::{Object, Value};

use super::policy::{Grants, Policy};
use super::rules::{ProjectRules, Rules};
use super::{Access, Inner};
use crate::refusal::{Code, Refusal};
use crate::rights::Resource;

/// Somebody who asks.
pub(crate) struct Caller {
    access: Arc<Inner>,
    who: Who,
    /// What was found out so far, for one version of the rules: by project, and by an empty name for everything else.
    found: Mutex<Found>,
}

#[derive(Default)]
struct Found {
    rules: Option<Arc<Rules>>,
    by_project: HashMap<String, Finding>,
}

/// What the caller is granted, and which rules of a project that was found with.
type Finding = (Option<Arc<ProjectRules>>, Arc<Vec<Grants>>);

/// Who somebody is.
#[derive(Clone, Default)]
pub(super) enum Who {
    /// Somebody who has not logged in.
    #[default]
    Nobody,
    /// Somebody whose token was checked.
    Known(Identity),
    /// Somebody who has the cluster itself, by the name that they go by.
    Owner(String),
}

/// What a checked token says.
#[derive(Clone)]
pub(crate) struct Identity {
    /// Where it comes from.
    pub(crate) origin: Origin,
    /// Whom policies mean.
    pub(crate) subject: String,
    /// The issuer.
    pub(crate) issuer: String,
    /// All of its claims.
    pub(crate) claims: Value,
    /// When it was issued, in seconds.
    pub(crate) issued: i64,
    /// When it ends, in seconds.
    pub(crate) expires: Option<i64>,
    /// Its own name, by which it can be revoked.
    pub(crate) id: String,
    /// The token itself, so that a long answer can ask again whether it is still good.
    pub(super) token: String,
    /// What the browser carries beside it, sealed, to ask the issuer for groups with.
    pub(super) carried: String,
}

/// Where a token comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A login to a local account.
    Login,
    /// A key of a local account.
    ApiKey,
    /// A role of a project.
    Project,
    /// Another issuer.
    Sso,
}

impl Caller {
    pub(super) fn new(access: Arc<Inner>, who: Who) -> Self {
        Caller { access, who, found: Mutex::default() }
    }

    /// Somebody who has logged in to a local account, for tests that are not about logging in.
    #[cfg(test)]
    pub(crate) fn logged_in(access: &Access, name: &str) -> Self {
        let identity = Identity {
            origin: Origin::Login,
            subject: name.to_owned(),
            issuer: super::sessions::ISSUER.to_owned(),
            claims: Value::default(),
            issued: 0,
            expires: None,
            id: String::new(),
            token: String::new(),
            carried: String::new(),
        };
        Caller::new(access.inner.clone(), Who::Known(identity))
    }

    /// The same once more.
    pub(crate) fn again(&self) -> Self {
        Caller::new(self.access.clone(), self.who.clone())
    }

    /// What they are called; empty if nobody knows.
    pub(crate) fn name(&self) -> &str {
        match &self.who {
            Who::Nobody => "",
            Who::Known(identity) => identity.name(),
            Who::Owner(name) => name,
        }
    }

    /// Whether they have the cluster itself, and ask in their own process.
    pub(crate) fn is_owner(&self) -> bool {
        matches!(self.who, Who::Owner(_))
    }

    /// Who they are, if they have logged in.
    pub(crate) fn identity(&self) -> Option<&Identity> {
        match &self.who {
            Who::Nobody | Who::Owner(_) => None,
            Who::Known(identity) => Some(identity),
        }
    }

    /// The local account that they are.
    pub(crate) fn account(&self) -> Option<&str> {
        let identity = self.identity()?;
        matches!(identity.origin, Origin::Login | Origin::ApiKey).then_some(identity.subject.as_str())
    }

    /// The groups that they are in.
    pub(crate) fn groups(&self) -> Vec<String> {
        let scopes = &self.access.rules().scopes;
        self.identity().map(|identity| identity.groups(scopes)).unwrap_or_default()
    }

    /// Whether they may do something to an object, which is named as in policies.
    pub(crate) fn may(&self, resource: Resource, action: &str, object: &str) -> bool {
        self.may_word(resource.word(), action, object)
    }

    /// The same for a resource that is named by its word.
    pub(crate) fn may_word(&self, resource: &str, action: &str, object: &str) -> bool {
        if matches!(self.who, Who::Owner(_)) {
            return true;
        }
        let project = self.project_of(resource, object);
        self.grants(project.as_ref()).iter().any(|grants| grants.allow(resource, action, object))
    }

    /// What they may do at this moment, for a question about very many objects: the rules are looked up once for each
    /// project, and not once for each object.
    pub(crate) fn moment(&self, resource: Resource, action: &'static str) -> Moment<'_> {
        Moment { caller: self, resource: resource.word(), action, by_project: HashMap::new() }
    }

    /// Refuses what they may not.
    pub(crate) fn need(&self, resource: Resource, action: &str, object: &str) -> Result<(), Refusal> {
        if self.may(resource, action, object) { Ok(()) } else { Err(Refusal::denied()) }
    }

    /// Refuses what they may not do to any object. What is let through has to be asked by [`Caller::need`] yet.
    pub(crate) fn need_some(&self, resource: Resource, action: &str) -> Result<(), Refusal> {
        if matches!(self.who, Who::Owner(_)) {
            return Ok(());
        }
        // The parts of an application have actions of their own, and these are asked for under this name.
        let actions: &[&str] = match (resource, action) {
            (Resource::Applications, "update") => &["update", "delete", "action", "override"],
            (Resource::Applications, "sync") => &["sync", "override", "rollback"],
            (_, action) => &[action],
        };
        let word = resource.word();
        let could = |grants: Arc<Vec<Grants>>| grants.iter().any(|grants| grants.could_allow(word, actions));
        let projects =
            || self.access.projects().into_iter().any(|project| could(self.grants(Some(&project))));
        if could(self.grants(None)) || projects() { Ok(()) } else { Err(Refusal::denied()) }
    }

    /// Whether they may do something to an object of an application. Whoever may do it to the application may do it to all
    /// of its objects only where the settings say that this is inherited.
    #[allow(dead_code, reason = "for the services that change objects of applications")]
    pub(crate) fn may_resource(&self, action: &str, application: &str, resource: &ResourceName<'_>) -> bool {
        let ResourceName { group, kind, namespace, name } = resource;
        let part = format!("{action}/{group}/{kind}/{namespace}/{name}");
        let may = |action: &str| self.may(Resource::Applications, action, application);
        match action {
            "update" | "delete" if self.access.inherits_rights() => may(action) || may(&part),
            "update" | "delete" => may(&part),
            _ => may(action),
        }
    }

    /// The project that a question is about, if it is about one that exists.
    fn project_of(&self, resource: &str, object: &str) -> Option<Object> {
        match resource {
            "applications" | "applicationsets" | "repositories" | "clusters" | "logs" | "exec" => {
                self.access.project(object.split_once('/')?.0)
            }
            "projects" => self.access.project(object),
            _ => None,
        }
    }

    /// What each of those grants that the caller counts as, by the rules as they are now: each decides for itself.
    fn grants(&self, project: Option<&Object>) -> Arc<Vec<Grants>> {
        let rules = self.access.rules();
        let added = project.map(|project| rules.of_project(project));
        let name = project.map(Object::name).unwrap_or_default();
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if !found.rules.as_ref().is_some_and(|known| Arc::ptr_eq(known, &rules)) {
            *found = Found { rules: Some(rules.clone()), by_project: HashMap::new() };
        }
        if let Some((known, grants)) = found.by_project.get(name)
            && same(known.as_ref(), added.as_ref())
        {
            return grants.clone();
        }
        let grants = Arc::new(granted(&self.who, &rules, name, added.as_ref().map(|added| &added.policy)));
        found.by_project.insert(name.to_owned(), (added, grants.clone()));
        grants
    }
}

/// What somebody may do at one moment.
pub(crate) struct Moment<'c> {
    caller: &'c Caller,
    resource: &'static str,
    action: &'static str,
    /// What has a say in that.
    by_project: HashMap<String, Vec<Grants>>,
}

impl Moment<'_> {
    /// Whether they may do it to an object, whose name begins with its project.
    pub(crate) fn may(&mut self, name: &str) -> bool {
        if matches!(self.caller.who, Who::Owner(_)) {
            return true;
        }
        let project = name.split_once('/').map_or("", |(project, _)| project);
        if !self.by_project.contains_key(project) {
            let found = self.caller.access.project(project);
            let grants = self.caller.grants(found.as_ref());
            let about = grants.iter().map(|grants| grants.about(self.resource, self.action));
            self.by_project.insert(project.to_owned(), about.collect());
        }
        let mut grants = self.by_project.get(project).into_iter().flatten();
        grants.any(|grants| grants.allow(self.resource, self.action, name))
    }
}

fn same(one: Option<&Arc<ProjectRules>>, other: Option<&Arc<ProjectRules>>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        _ => false,
    }
}

/// An object of an application.
pub(crate) struct ResourceName<'a> {
    /// Its group.
    pub(crate) group: &'a str,
    /// Its kind.
    pub(crate) kind: &'a str,
    /// Its namespace.
    pub(crate) namespace: &'a str,
    /// Its name.
    pub(crate) name: &'a str,
}

/// What somebody is granted, as in Argo CD: by the role that everybody has, by what is said of everybody, by their own
/// name, and by each of their groups. A project's token counts in its own project alone.
pub(super) fn granted(who: &Who, rules: &Rules, project: &str, added: Option<&Policy>) -> Vec<Grants> {
    let base = [&rules.base];
    if rules.is_broken {
        let is_admin =
            matches!(who, Who::Known(known) if known.subject == "admin" && known.origin != Origin::Sso);
        return is_admin.then(|| Grants::of("admin", &base)).into_iter().collect();
    }
    let mut all = vec![Grants::of("", &base)];
    let default = Some(rules.default_role.as_str()).filter(|role| !role.is_empty());
    all.extend(default.map(|role| Grants::of(role, &base)));
    let Who::Known(identity) = who else { return all };
    if identity.origin == Origin::Project && added.is_some() && identity.project() != Some(project) {
        return all;
    }
    let both: Vec<&Policy> = base.into_iter().chain(added).collect();
    if added.is_some() {
        all.extend(default.map(|role| Grants::of(role, &both)));
    }
    all.extend((!identity.poses(&identity.subject, rules)).then(|| Grants::of(&identity.subject, &both)));
    if identity.origin != Origin::Project {
        let mut groups = identity.groups(&rules.scopes);
        groups.retain(|group| !identity.poses(group, rules));
        // A line about a group counts only if some line gives the group a role.
        let known = groups.iter().filter(|group| both.iter().any(|policy| policy.gives_role(group)));
        all.extend(known.map(|group| Grants::of(group, &both)));
    }
    all
}

impl Identity {
    /// What people call them.
    pub(crate) fn name(&self) -> &str {
        let email = self.claims.str_at(&["email"]).filter(|email| !email.is_empty());
        email.filter(|_| self.origin == Origin::Sso).unwrap_or(&self.subject)
    }

    /// The values of the claims that name groups. What looks like a role is none.
    fn groups(&self, scopes: &[String]) -> Vec<String> {
        let mut groups = Vec::new();
        for scope in scopes {
            match self.claims.get(scope) {
                Some(Value::Seq(items)) => {
                    groups.extend(items.iter().filter_map(Value::as_str).map(str::to_owned))
                }
                Some(Value::Str(one)) => groups.push(one.to_string()),
                _ => {}
            }
        }
        groups.retain(|group| !is_role(group));
        groups
    }

    /// The groups that an issuer names, in order.
    fn sorted_groups(&self) -> Vec<String> {
        let mut groups = self.groups(&["groups".to_owned()]);
        groups.sort_unstable();
        groups
    }

    /// Whether a name that another issuer gave only looks like one of ours. Whoever may choose a name or a group there must
    /// not be able to choose rights here.
    fn poses(&self, name: &str, rules: &Rules) -> bool {
        let is_admin = name == "admin" && !rules.names_admin;
        self.origin == Origin::Sso && (is_role(name) || is_admin || name.is_empty())
    }

    /// The project of a project's token.
    pub(crate) fn project(&self) -> Option<&str> {
        let (project, _) = self.subject.strip_prefix("proj:")?.split_once(':')?;
        (self.origin == Origin::Project).then_some(project)
    }
}

fn is_role(name: &str) -> bool {
    name.starts_with("role:") || name.starts_with("proj:")
}

impl Access {
    /// The same caller, asked again: refuses if the session has ended, was revoked, or its account is closed.
    pub(crate) async fn renew(&self, caller: &Caller) -> Result<(), Refusal> {
        match &caller.who {
            Who::Nobody if self.inner.allows_nobody().await? => Ok(()),
            Who::Nobody => Err(Refusal::new(Code::Unauthenticated, "no session information")),
            Who::Known(identity) => {
                let again = self.inner.verify(&identity.token, &identity.carried).await?;
                // What runs was begun with the rights of other groups.
                match again.sorted_groups() == identity.sorted_groups() {
                    true => Ok(()),
                    false => Err(Refusal::new(Code::Unauthenticated, "your groups have changed, ask again")),
                }
            }
            Who::Owner(_) => Ok(()),
        }
    }
}
