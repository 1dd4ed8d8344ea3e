//! Workloads that fail or do not get ready, and the services that they are set to ask.

use lynceus_object::{Object, ObjectKey, Value};

use super::container::Container;
use super::probe;
use crate::case::{Case, Pods};
use crate::links::service::{self, Setting, is_name, is_of_host};

/// A workload whose pods fail or do not get ready, with what they are started with.
pub(super) struct Asking<'a> {
    pub(super) owner: &'a Object,
    /// Whether its pods end, and do not merely wait.
    pub(super) fails: bool,
    /// What its pods said last.
    pub(super) said: String,
    pub(super) settings: Vec<Setting<'a>>,
    /// Names that its pods know by themselves.
    known: Vec<&'a str>,
}

/// A service that a setting names.
pub(super) struct Asked {
    /// The setting, by its place.
    pub(super) setting: usize,
    /// The host as it is written.
    pub(super) host: String,
    /// The service that it means.
    pub(super) key: ObjectKey,
    /// The port, if one is said or the scheme has one of its own.
    pub(super) port: Option<Port>,
    /// Whether it can mean nothing but a service.
    pub(super) is_sure: bool,
}

/// A port that is asked at.
#[derive(Clone, Copy)]
pub(super) struct Port {
    pub(super) number: i64,
    /// The setting that says it, by its place; none if it is what the scheme means.
    pub(super) setting: Option<usize>,
}

/// All workloads of a cluster that fail or do not get ready.
pub(super) fn asking<'a>(case: &Case<'a>, server: &str) -> Vec<Asking<'a>> {
    let mut all = Vec::new();
    for owner in case.pod_owners(server) {
        let pods = case.pods(server, owner);
        let fails = pods.iter().any(|pod| fails(pod));
        let is_ill = fails || pods.iter().any(|pod| waits(case, server, pod));
        let Some(spec) = Pods::of(owner).filter(|_| is_ill) else { continue };
        let said = pods.iter().map(|pod| last_words(pod)).collect();
        let aliases = spec.spec.items_at(&["hostAliases"]).iter();
        let aliases = aliases.flat_map(|one| one.items_at(&["hostnames"])).filter_map(Value::as_str);
        let known = aliases.chain(spec.spec.str_at(&["hostname"])).collect();
        all.push(Asking { owner, fails, said, settings: service::settings(case, server, &spec), known });
    }
    all
}

impl Asking<'_> {
    /// The services that the settings name.
    pub(super) fn asked(&self) -> Vec<Asked> {
        (0..self.settings.len()).flat_map(|place| self.asked_by(place)).collect()
    }

    fn asked_by(&self, place: usize) -> Vec<Asked> {
        let setting = &self.settings[place];
        let is_for_host = is_of_host(setting.name);
        let mut found: Vec<(&str, Option<i64>, Option<&str>)> = service::addresses_in(setting.text)
            .into_iter()
            .map(|address| (address.host, address.port, address.scheme))
            .collect();
        if found.is_empty() && is_for_host && is_name(setting.text) {
            found.push((setting.text, None, None));
        }
        let own = found.into_iter().filter(|(host, ..)| *host != "localhost" && !self.known.contains(host));
        let asked = own.filter_map(|(host, port, scheme)| {
            let key = service::named(host, self.owner.namespace())?;
            let said = port.map(|number| Port { number, setting: Some(place) });
            let usual = match scheme {
                Some("http" | "ws") => Some(Port { number: 80, setting: None }),
                Some("https" | "wss") => Some(Port { number: 443, setting: None }),
                _ => None,
            };
            let port = said.or_else(|| self.companion(setting.name)).or(usual);
            let whole = format!("{}.{}.svc", key.name, key.namespace);
            // A name without a dot is looked up in the namespace alone, so that where it is certainly a host it is a service.
            let is_host = (scheme.is_some() || is_for_host) && port.is_some();
            let is_sure = setting.text.contains(&whole) || is_host && !host.contains('.');
            Some(Asked { setting: place, host: host.to_owned(), key, port, is_sure })
        });
        asked.collect()
    }

    /// The port that stands in a variable of its own: `DB_PORT` beside `DB_HOST`.
    fn companion(&self, name: &str) -> Option<Port> {
        let stem = ["_HOST", "_HOSTNAME", "_ADDR", "_ADDRESS", "_SERVER"]
            .iter()
            .find_map(|end| name.strip_suffix(end).filter(|stem| !stem.is_empty()))?;
        let wanted = format!("{stem}_PORT");
        let setting = self.settings.iter().position(|one| one.name == wanted)?;
        let number = self.settings[setting].text.parse().ok()?;
        Some(Port { number, setting: Some(setting) })
    }
}

/// Whether a pod was started and ended badly; one that ran out of memory blames nobody.
fn fails(pod: &Object) -> bool {
    ended(pod).any(|end| {
        end.int_at(&["exitCode"]).is_some_and(|code| code != 0)
            && end.str_at(&["reason"]) != Some("OOMKilled")
    })
}

/// Whether a pod runs and does not get on.
fn waits(case: &Case<'_>, server: &str, pod: &Object) -> bool {
    let containers = Container::all(pod);
    containers.iter().any(|one| probe::is_stuck(case, server, one) || probe::holds_up(case, one))
}

fn ended(pod: &Object) -> impl Iterator<Item = &Value> {
    let statuses = ["initContainerStatuses", "containerStatuses"].iter();
    let statuses = statuses.flat_map(|field| pod.value().items_at(&["status", field]));
    statuses.flat_map(|status| {
        ["state", "lastState"].iter().filter_map(|state| status.at(&[state, "terminated"]))
    })
}

fn last_words(pod: &Object) -> String {
    ended(pod).filter_map(|end| end.str_at(&["message"])).collect::<Vec<_>>().join("\n")
}
