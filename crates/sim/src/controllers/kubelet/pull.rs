//! Getting the image of a container, or saying why not, in the words of kubelet and containerd.

use jiff::SignedDuration;
use sha2::{Digest, Sha256};

use super::backoff::{FailedPull, add};
use super::container::Waiting;
use super::credentials;
use super::registry;
use super::scene::{Part, Scene, from_kubelet};
use crate::controllers::steps::Announcement;
use crate::stage::{Availability, Reference};

/// How long a failed pull is seen as such before the wait for the next is.
const SHOWN: SignedDuration = SignedDuration::from_secs(1);

/// Gets a container's image, or says what the container waits for.
pub(super) fn ensure(scene: &mut Scene<'_>, part: &Part<'_>) -> Result<(), Waiting> {
    let image = part.image();
    let wanted = match Reference::parse(image) {
        Ok(wanted) => wanted,
        Err(why) => {
            let message = format!("Failed to apply default image tag {image:?}: {why}");
            return Err(refuse(scene, part, "InvalidImageName", "InspectFailed", message));
        }
    };
    let secrets = credentials::find(scene.pod, &wanted, scene.world);
    let platform = format!("linux/{}", architecture(scene));
    let images = &scene.world.local.stage().images;
    let found = match images.find(&wanted, &platform, secrets.fits) {
        Availability::NotFound if registry::has(&wanted, scene.world) => {
            Availability::InRegistry { needs_secret: false }
        }
        found => found,
    };
    let allowed = secrets.fits || found != Availability::InRegistry { needs_secret: true };
    let machine = (scene.node.name().into(), wanted.full().into());
    let there = found == Availability::OnMachine || (allowed && scene.machines.contains(&machine));
    match part.spec.str_at(&["imagePullPolicy"]) {
        Some("Never") if !there => {
            let message = format!("Container image {image:?} is not present with pull policy of Never");
            return Err(refuse(scene, part, "ErrImageNeverPull", "ErrImageNeverPull", message));
        }
        Some("Always") if found != Availability::OnMachine => {}
        _ if there => {
            let message = format!(
                "Container image {image:?} already present on machine and can be accessed by the pod"
            );
            scene.tell(part, "Pulled", message);
            return Ok(());
        }
        _ => {}
    }
    if let Some(waiting) = back_off(scene, part) {
        return Err(waiting);
    }
    if !secrets.missing.is_empty() {
        let names = secrets.missing.join(", ");
        let message = format!(
            "Unable to retrieve some image pull secrets ({names}); attempting to pull the image may not succeed."
        );
        let told = Announcement::warning(scene.pod, "FailedToRetrieveImagePullSecret", message);
        scene.news.push(from_kubelet(told, scene.node, ""));
    }
    scene.tell(part, "Pulling", format!("Pulling image {image:?}"));
    match failure(&wanted, found, allowed) {
        Some(error) => Err(failed(scene, part, error)),
        None => {
            scene.machines.insert(machine);
            scene.memory.pulls.remove(image);
            let size = size(&wanted);
            let message = format!(
                "Successfully pulled image {image:?} in 1s (1s including waiting). Image size: {size} bytes."
            );
            scene.tell(part, "Pulled", message);
            Ok(())
        }
    }
}

/// What a container waits for that no pull can help.
fn refuse(
    scene: &mut Scene<'_>,
    part: &Part<'_>,
    reason: &'static str,
    event: &'static str,
    message: String,
) -> Waiting {
    if !is_known(scene, part, reason) {
        scene.warn(part, event, message.clone());
        scene.warn(part, "Failed", format!("Error: {reason}"));
    }
    Waiting { reason, message }
}

/// Whether a container was waiting for a reason when it was looked at last.
pub(super) fn is_known(scene: &Scene<'_>, part: &Part<'_>, reason: &str) -> bool {
    let before = scene.before(part).and_then(|status| status.str_at(&["state", "waiting", "reason"]));
    before == Some(reason)
}

/// The wait after a failed pull, if it is not over.
fn back_off(scene: &mut Scene<'_>, part: &Part<'_>) -> Option<Waiting> {
    let failed = scene.memory.pulls.get(part.image())?;
    let until = failed.backoff.until_since_try().filter(|until| *until > scene.world.now)?;
    let told = format!("Back-off pulling image {:?}", part.image());
    let message = format!("{told}: ErrImagePull: {}", failed.error);
    if !is_known(scene, part, "ImagePullBackOff") {
        scene.tell(part, "BackOff", told);
        scene.warn(part, "Failed", "Error: ImagePullBackOff");
    }
    scene.wake(until);
    Some(Waiting { reason: "ImagePullBackOff", message })
}

fn failed(scene: &mut Scene<'_>, part: &Part<'_>, error: String) -> Waiting {
    let now = scene.now();
    scene.warn(part, "Failed", format!("Failed to pull image {:?}: {error}", part.image()));
    scene.warn(part, "Failed", "Error: ErrImagePull");
    let pull: &mut FailedPull = scene.memory.pulls.entry(part.image().into()).or_default();
    pull.backoff.next(now, now);
    pull.error.clone_from(&error);
    scene.wake(add(now, SHOWN));
    Waiting { reason: "ErrImagePull", message: error }
}

/// What the runtime says of a pull that fails.
fn failure(wanted: &Reference, found: Availability, allowed: bool) -> Option<String> {
    let full = wanted.full();
    let denied =
        "failed to resolve image: pull access denied, repository does not exist or may require authorization";
    let (code, why) = match found {
        Availability::OtherPlatform => {
            ("NotFound", "no match for platform in manifest: not found".to_owned())
        }
        Availability::NotFound => ("NotFound", format!("failed to resolve image: {full}: not found")),
        Availability::InRegistry { .. } if !allowed && wanted.is_on_hub() => {
            ("Unknown", format!("{denied}: server message: insufficient_scope: authorization failed"))
        }
        Availability::InRegistry { .. } if !allowed => {
            ("Unknown", format!("{denied}: authorization failed: no basic auth credentials"))
        }
        Availability::InRegistry { .. } | Availability::OnMachine => return None,
    };
    Some(format!("rpc error: code = {code} desc = failed to pull and unpack image {full:?}: {why}"))
}

fn architecture<'a>(scene: &Scene<'a>) -> &'a str {
    let labelled = scene.node.label("kubernetes.io/arch");
    labelled.or_else(|| scene.node.value().str_at(&["status", "nodeInfo", "architecture"])).unwrap_or("amd64")
}

/// A size that an image always has: between 16 and 271 MiB.
fn size(wanted: &Reference) -> u64 {
    let digest = Sha256::digest(wanted.full());
    digest[..3].iter().fold(0, |sum, byte| sum * 256 + u64::from(*byte)) * 16 + (16 << 20)
}
