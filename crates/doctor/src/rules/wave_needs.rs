//! Which objects need what, and when each of them comes: what the rules about waves ask.

use std::collections::{BTreeMap, HashMap, HashSet};

use lynceus_api::{GROUP, SyncPhase, hook, wave};
use lynceus_object::{Object, ObjectKey, Str};

use crate::case::{App, Case, Pods};
use crate::links::kind::Providers;
use crate::links::{class, namespace, produced, reference, service};
use crate::node::AppName;
use crate::rules::parenthood::Places;
use crate::rules::serving;
use crate::rules::wave_circle::{Crossing, Crossings};
use crate::snapshot::Wanted;

/// When an object is applied: in which phase, and in which wave of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn {
    pub(super) phase: u8,
    pub(super) wave: i64,
}

/// When an object is applied; none if no sync does.
pub(super) fn turn(object: &Object) -> Option<Turn> {
    let phase = |phase: SyncPhase| match phase {
        SyncPhase::PreSync => 0,
        SyncPhase::Sync => 1,
        SyncPhase::PostSync => 2,
        SyncPhase::SyncFail => 3,
    };
    let phase = match hook::is_hook(object) {
        true => hook::sync_types(object).into_iter().filter_map(|one| one.phase()).map(phase).min()?,
        false => 1,
    };
    Some(Turn { phase, wave: wave(object) })
}

impl Turn {
    /// `wave 3`, or `phase PreSync` where the phase is what tells it from another.
    pub(super) fn beside(self, other: Turn) -> String {
        match (self.phase == other.phase, self.phase) {
            (true, _) => format!("wave {}", self.wave),
            (false, 0) => "phase PreSync".to_owned(),
            (false, 1) => "phase Sync".to_owned(),
            (false, 2) => "phase PostSync".to_owned(),
            (false, _) => "phase SyncFail".to_owned(),
        }
    }
}

/// Something that comes too late, and who needs it.
pub(super) struct Late<'c, 'a> {
    pub(super) app: &'c App<'a>,
    pub(super) late: &'a Wanted,
    pub(super) comes: Turn,
    pub(super) needed: Turn,
    pub(super) users: Vec<&'a Wanted>,
}

/// An application that comes too late for another, with what that needs of it.
pub(super) struct LateApp {
    pub(super) app: AppName,
    pub(super) other: AppName,
    pub(super) user: ObjectKey,
    pub(super) key: ObjectKey,
}

/// Everything that comes too late.
#[derive(Default)]
pub(super) struct Judged<'c, 'a> {
    pub(super) objects: BTreeMap<(AppName, ObjectKey), Late<'c, 'a>>,
    pub(super) applications: BTreeMap<(AppName, AppName), LateApp>,
    pub(super) crossings: Crossings<'c, 'a>,
}

/// What is known of needs, looked up once.
pub(super) struct Needs<'c, 'a> {
    case: &'c Case<'a>,
    makers: HashMap<(&'a str, ObjectKey), Vec<ObjectKey>>,
    providers: Providers<'a>,
    missing: HashSet<(&'a str, Str)>,
    pub(super) places: Places,
}

impl<'c, 'a> Needs<'c, 'a> {
    pub(super) fn new(case: &'c Case<'a>) -> Self {
        Needs {
            case,
            makers: produced::makers(case),
            providers: Providers::new(case),
            missing: namespace::missing(case).into_keys().collect(),
            places: Places::new(case),
        }
    }

    /// What an object cannot be applied or become healthy without, of what is not there.
    pub(super) fn of(&self, app: &App<'a>, object: &'a Object) -> Vec<ObjectKey> {
        let server = app.server();
        let mut needs = self.of_pods(server, object);
        if self.missing.contains(&(server, object.namespace().into())) {
            needs.push(namespace::key_of(object.namespace()));
        }
        let kind = object.group_kind();
        if self.case.serves(server, &kind) == Some(false) {
            needs.extend(self.providers.of(server, &kind).into_iter().map(|one| one.definition.clone()));
        }
        // What a custom resource names may be there for it to begin, or not; if it is not well, that is why.
        let live = self.case.live(server, &object.key()).filter(|_| object.group().contains('.'));
        if live.is_some_and(|live| self.case.is_unwell(live)) {
            needs.extend(reference::named(object));
        }
        needs.extend(self.of_entry(server, object));
        needs.retain(|key| self.case.is_absent(server, key));
        needs
    }

    /// What gives an Ingress or a Gateway its address: its class, and whoever serves that.
    fn of_entry(&self, server: &'a str, object: &'a Object) -> Vec<ObjectKey> {
        let is_unserved = |live: &Object| self.case.is_unwell(live);
        let Some(class) = class::named_by(object)
            .filter(|_| self.case.live(server, &object.key()).is_some_and(is_unserved))
        else {
            return Vec::new();
        };
        let mut needs = serving::of(self.case, server, &class);
        needs.push(class);
        needs
    }

    /// What the pods of a workload that waves wait for cannot start without.
    fn of_pods(&self, server: &'a str, object: &'a Object) -> Vec<ObjectKey> {
        let Some(pods) = Pods::of(object).filter(|_| holds_wave(object)) else { return Vec::new() };
        let mut needs = Vec::new();
        for (key, ..) in pods.needs() {
            let makers = self.makers.get(&(server, key.clone())).cloned();
            let is_wanted = !self.case.wanted(server, &key).is_empty();
            match makers.filter(|_| !is_wanted && key.kind == "Secret" && self.case.is_absent(server, &key)) {
                Some(makers) => needs.extend(makers),
                None => needs.push(key),
            }
        }
        // A program that names a service may do without it; one that does not come up is likely to wait for it.
        if self.case.live(server, &object.key()).is_some_and(|live| self.case.is_unwell(live)) {
            needs.extend(service::named_services(self.case, server, &pods));
        }
        if pods.service_account() != "default" {
            needs.push(ObjectKey::new("", "ServiceAccount", object.namespace(), pods.service_account()));
        }
        needs
    }

    /// Notes what is needed and comes too late.
    pub(super) fn judge(
        &self,
        app: &'c App<'a>,
        user: &'a Wanted,
        key: &ObjectKey,
        judged: &mut Judged<'c, 'a>,
    ) {
        let bringers = self.case.wanted(app.server(), key);
        match bringers.iter().find(|(bringer, _)| bringer.name == app.name) {
            // Whoever waits for a service of its own application waits for the pods behind it too: another rule tells that.
            Some(_) if key.kind == "Service" => {}
            Some((_, wanted)) => within(app, wanted, user, judged),
            None => {
                cross(app, &bringers, user, judged);
                self.across(app, &bringers, user, key, judged);
            }
        }
    }

    /// An application that is there does not wait for its wave any more; one that is not comes too late.
    fn across(
        &self,
        app: &App<'a>,
        bringers: &[(&App<'a>, &'a Wanted)],
        user: &Wanted,
        key: &ObjectKey,
        judged: &mut Judged<'c, 'a>,
    ) {
        let home = self.case.servers().next().unwrap_or_default();
        let is_held = |other: &AppName| {
            let key = ObjectKey::new(GROUP, "Application", other.namespace.clone(), other.name.clone());
            self.case.is_absent(home, &key) && self.places.is_before(&app.name, other)
        };
        let Some((other, _)) = bringers.first() else { return };
        if bringers.iter().all(|(other, _)| is_held(&other.name)) {
            let (app, other) = (app.name.clone(), other.name.clone());
            judged.applications.entry((app.clone(), other.clone())).or_insert_with(|| LateApp {
                app,
                other,
                user: user.object.key(),
                key: key.clone(),
            });
        }
    }
}

/// What one application brings itself, and too late.
fn within<'c, 'a>(app: &'c App<'a>, wanted: &'a Wanted, user: &'a Wanted, judged: &mut Judged<'c, 'a>) {
    let (Some(comes), Some(needed)) = (turn(&wanted.object), turn(&user.object)) else { return };
    if comes <= needed {
        return;
    }
    let late = judged.objects.entry((app.name.clone(), wanted.object.key())).or_insert_with(|| Late {
        app,
        late: wanted,
        comes,
        needed,
        users: Vec::new(),
    });
    if !late.users.iter().any(|one| std::ptr::eq(*one, user)) {
        late.users.push(user);
    }
}

/// What only one other application brings waits for the earlier waves of that one.
fn cross<'c, 'a>(
    app: &'c App<'a>,
    bringers: &[(&'c App<'a>, &'a Wanted)],
    user: &'a Wanted,
    judged: &mut Judged<'c, 'a>,
) {
    let [(other, late)] = bringers else { return };
    if let (Some(comes), Some(needed)) = (turn(&late.object), turn(&user.object)) {
        judged.crossings.add(Crossing { app, user, needed, other, late, comes });
    }
}

/// Whether a wave waits for the pods of an object.
fn holds_wave(object: &Object) -> bool {
    let is_workload = matches!(
        object.kind(),
        "Deployment" | "StatefulSet" | "DaemonSet" | "Job" | "Pod" | "ReplicaSet" | "Rollout"
    );
    let is_idle = object.value().int_at(&["spec", "replicas"]) == Some(0)
        || object.value().bool_at(&["spec", "suspend"]) == Some(true);
    is_workload && !is_idle
}
