//! Waiting until the demo has arrived.

use std::collections::BTreeSet;
use std::time::Duration;

use lynceus_api::{Application, HealthStatusCode, Kind as _, OperationPhase, SyncStatusCode};
use lynceus_engine::{Engine, application_kind};
use lynceus_object::Object;
use tokio::time::{Instant, timeout};

/// The applications with nothing wrong in them.
const SOUND: [&str; 5] = ["shop-dev", "shop-staging", "shop", "shop-production", "external-secrets"];

/// How many applications the demo has.
const ALL: usize = 18;

/// How long the sound ones may take to arrive before the prompt is printed all the same.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long the others may still take until they show what is wrong with them.
const GRACE: Duration = Duration::from_secs(10);

/// What has arrived.
pub(crate) struct Arrived {
    /// All applications.
    pub(crate) total: usize,
    /// Those that are Synced and Healthy.
    pub(crate) fine: usize,
    /// Whether all that have nothing wrong in them are among those.
    pub(crate) is_complete: bool,
}

/// Waits until the sound applications are as they should be and the others have come as far as they can, and names each that
/// arrives.
pub(crate) async fn wait(engine: &Engine) -> Arrived {
    let mut changes = engine.home().cache().changes();
    let mut told = BTreeSet::new();
    let begun = Instant::now();
    let mut sound_since = None;
    loop {
        let applications = applications(engine);
        tell(&applications, &mut told);
        if told.len() == SOUND.len() {
            let since = *sound_since.get_or_insert_with(Instant::now);
            let is_settled = applications.len() >= ALL && applications.iter().all(is_settled);
            if is_settled || since.elapsed() >= GRACE {
                break;
            }
        }
        if begun.elapsed() >= PATIENCE {
            break;
        }
        let _ = timeout(Duration::from_secs(1), changes.recv()).await;
    }
    let applications = applications(engine);
    let fine = applications.iter().filter(|application| is_fine(application)).count();
    Arrived { total: applications.len(), fine, is_complete: told.len() == SOUND.len() }
}

fn applications(engine: &Engine) -> Vec<Application> {
    let read = |object: &Object| Application::from_object(object).ok();
    engine.home().cache().of_kind(&application_kind()).iter().filter_map(read).collect()
}

/// Names the sound ones that have arrived since the last time.
fn tell(applications: &[Application], told: &mut BTreeSet<&'static str>) {
    for name in SOUND {
        let arrived = applications.iter().any(|one| one.metadata.name == name && is_fine(one));
        if arrived && told.insert(name) {
            println!("             {name} is Synced and Healthy");
        }
    }
}

fn is_fine(application: &Application) -> bool {
    let status = &application.status;
    status.sync.status == SyncStatusCode::Synced && status.health.status == HealthStatusCode::Healthy
}

/// Whether it was compared, and synced if it could be.
fn is_settled(application: &Application) -> bool {
    let status = &application.status;
    let phase = status.operation_state.as_ref().map(|state| state.phase.clone());
    let is_running =
        phase.is_some_and(|phase| phase.known().is_none_or(|phase| !OperationPhase::is_completed(phase)));
    !status.sync.status.as_str().is_empty()
        && status.health.status != HealthStatusCode::Missing
        && application.operation.is_none()
        && !is_running
}
