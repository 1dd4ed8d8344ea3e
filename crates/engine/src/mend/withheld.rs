//! What applications would bring of what is lacking, found by rendering their sources otherwise.

use lynceus_api::{ApplicationSource, Kind as _};
use lynceus_doctor::surgery::Change;
use lynceus_doctor::{
    AppName, Delivery, Hindrance, Lack, Lacking, Place, Site as Written, Snapshot, Withheld, lacking,
};
use lynceus_object::{ObjectKey, Value, json};

use super::switch::{Site, Switch};
use super::{Bench, HEAD};
use crate::engine::Engine;
use crate::limits;

impl Engine {
    /// What withholds what is lacking in a snapshot, as far as that can be found. What is found first counts: those who need
    /// something are asked before others.
    pub(crate) async fn withheld(&self, snapshot: &Snapshot) -> Vec<Withheld> {
        let mut lacks = lacking(snapshot);
        lacks.truncate(limits::LACKS);
        let mut found: Vec<Withheld> = Vec::new();
        let mut asked = 0;
        for is_user in [true, false] {
            for delivery in &snapshot.applications {
                let name = AppName::of(&delivery.application);
                let open = lacks.iter().filter(|lack| {
                    !found.iter().any(|one| one.server == lack.server && one.what == lack.what)
                        && lack.server == delivery.server
                        && lack.users.contains(&name) == is_user
                        && (is_user || may_bring(delivery, lack))
                });
                let open: Vec<&Lack> = open.collect();
                if open.is_empty() {
                    continue;
                }
                if asked == limits::LACK_APPLICATIONS {
                    return found;
                }
                asked += 1;
                found.extend(self.withheld_by(delivery, &open).await);
            }
        }
        found
    }

    async fn withheld_by(&self, delivery: &Delivery, lacks: &[&Lack]) -> Vec<Withheld> {
        let object = delivery.application.to_object();
        let name = AppName::of(&delivery.application);
        let Ok(bench) = self.bench_of(&name, &object).await else { return Vec::new() };
        let wanted: Vec<Lacking> = lacks.iter().map(|lack| lack.what.clone()).collect();
        let hindrances = match delivery.rendered {
            true => self.options_for(&bench, &wanted).await,
            false => self.revisions_for(&bench, &wanted).await,
        };
        let found = hindrances.into_iter().zip(lacks).filter_map(|(by, lack)| {
            let (what, server) = (lack.what.clone(), lack.server.clone());
            Some(Withheld { what, server, application: name.clone(), by: by? })
        });
        found.collect()
    }

    /// For each thing that is wanted the option that keeps it back.
    async fn options_for(&self, bench: &Bench, wanted: &[Lacking]) -> Vec<Option<Hindrance>> {
        let switches = self.switches(bench, wanted, true).await;
        if switches.is_empty() {
            return Vec::new();
        }
        let Ok(turned) = self.turned(bench, &switches, wanted).await else { return Vec::new() };
        let hindrance = |turned: super::switch::Turned, what: &Lacking| {
            let object = match what {
                Lacking::Object(key) => key.clone(),
                Lacking::Definition(_) => turned.object,
            };
            Some(by_option(switches.get(turned.place)?, object))
        };
        turned.into_iter().zip(wanted).map(|(one, what)| hindrance(one?, what)).collect()
    }

    /// For each thing that is wanted the revision that is not there, if the default branch has it.
    async fn revisions_for(&self, bench: &Bench, wanted: &[Lacking]) -> Vec<Option<Hindrance>> {
        let mut gone = None;
        let mut sources = Vec::new();
        for source in &bench.sources {
            let is_there = !source.chart.is_empty()
                || self.renderer().tree_of(&bench.request(self), source).await.is_ok();
            sources.push(match is_there {
                true => source.clone(),
                false => ApplicationSource { target_revision: HEAD.into(), ..source.clone() },
            });
            if !is_there && gone.is_none() {
                gone = Some(source.target_revision.clone());
            }
        }
        let Some(gone) = gone.filter(|revision| !revision.is_empty()) else { return Vec::new() };
        let Ok(objects) = self.manifests_of(bench, &[], &sources).await else { return Vec::new() };
        let namespace: &str = &bench.application.spec.destination.namespace;
        let has = |what: &Lacking| objects.iter().any(|object| what.is(object, namespace));
        wanted.iter().map(|what| has(what).then(|| Hindrance::Revision(gone.clone()))).collect()
    }
}

/// Whether it is worth asking an application that does not need something itself: definitions may come from anywhere, objects from
/// those that bring others to the same namespace.
fn may_bring(delivery: &Delivery, lack: &Lack) -> bool {
    match &lack.what {
        Lacking::Definition(_) => true,
        Lacking::Object(key) => {
            delivery.application.spec.destination.namespace == key.namespace
                || delivery.wanted.iter().any(|one| one.object.namespace() == key.namespace)
        }
    }
}

fn by_option(switch: &Switch, object: ObjectKey) -> Hindrance {
    let (site, place) = match &switch.site {
        Site::File { span, .. } => (Written::File(span.clone()), Place::Make { object }),
        Site::Application { path, change } => {
            let value = match change {
                Change::Set(value) => Some(value.clone()),
                _ => None,
            };
            let place = Place::Application { path: path.clone(), value };
            (Written::Application(path.to_string().into()), place)
        }
    };
    let option = switch.option.to_string();
    let (stands, turned) = (shown(&switch.stands).into(), shown(&switch.turned).into());
    Hindrance::Option { option: option.into(), stands, turned, site, place: Box::new(place) }
}

/// A value as people write it.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| json::to_string(value), str::to_owned)
}
