//! Which volume will do for which claim.

use lynceus_object::{Object, Quantity};

use super::text;
use crate::controllers::kind::VOLUME;
use crate::controllers::selector;
use crate::controllers::world::World;
use crate::kinds::quality::amount_of;

/// How much a claim asks for.
pub(crate) fn wanted(claim: &Object) -> Option<Quantity> {
    claim.at(&["spec", "resources", "requests", "storage"]).and_then(amount_of)
}

/// How much a volume holds.
pub(crate) fn capacity(volume: &Object) -> Option<Quantity> {
    volume.at(&["spec", "capacity", "storage"]).and_then(amount_of)
}

/// Whether a volume is kept for a claim, or has it already.
pub(crate) fn is_reserved(volume: &Object, claim: &Object) -> bool {
    let of = |field| text(volume, &["spec", "claimRef", field]);
    of("name") == claim.name()
        && of("namespace") == claim.namespace()
        && (of("uid").is_empty() || of("uid") == claim.uid())
}

/// The smallest volume that will do and that nobody else has; only one that is kept for the claim if it has to wait.
pub(super) fn best(claim: &Object, waits: bool, world: &World<'_>) -> Option<Object> {
    world
        .list_all(VOLUME)
        .into_iter()
        .filter(|volume| (is_reserved(volume, claim) || !waits) && fits(claim, volume))
        .min_by_key(|volume| (!is_reserved(volume, claim), capacity(volume)))
}

/// Whether a volume is free and will do.
pub(crate) fn fits(claim: &Object, volume: &Object) -> bool {
    let free = match volume.at(&["spec", "claimRef"]) {
        None => text(volume, &["status", "phase"]) != "Released",
        Some(_) => is_reserved(volume, claim),
    };
    let labels = claim.at(&["spec", "selector"]);
    free && mismatch(claim, volume).is_none() && (labels.is_none() || selector::matches(labels, volume))
}

/// Why a volume is none for a claim that asks for it.
pub(super) fn mismatch(claim: &Object, volume: &Object) -> Option<String> {
    let same = |field| text(claim, &["spec", field]) == text(volume, &["spec", field]);
    let modes = volume.value().items_at(&["spec", "accessModes"]);
    if volume.is_deleting() {
        return Some(format!("the volume is marked for deletion {:?}", volume.name()));
    }
    let why = if capacity(volume).unwrap_or(Quantity::ZERO) < wanted(claim).unwrap_or(Quantity::ZERO) {
        "requested PV is too small"
    } else if !same("storageClassName") {
        "storageClassName does not match"
    } else if !same("volumeAttributesClassName") {
        "volumeAttributesClassName does not match"
    } else if !same("volumeMode") {
        "incompatible volumeMode"
    } else if !claim.value().items_at(&["spec", "accessModes"]).iter().all(|mode| modes.contains(mode)) {
        "incompatible accessMode"
    } else {
        return None;
    };
    Some(why.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controllers::kind::CLAIM;
    use lynceus_object::yaml;

    #[test]
    fn a_volume_that_will_not_do_is_told_why() {
        let claim =
            "{storageClassName: a, accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}}}";
        for (volume, expected) in [
            (
                "{storageClassName: a, accessModes: [ReadWriteOnce, ReadOnlyMany], capacity: {storage: 2Gi}}",
                "",
            ),
            (
                "{storageClassName: a, accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}}",
                "requested PV is too small",
            ),
            (
                "{storageClassName: b, accessModes: [ReadWriteOnce], capacity: {storage: 2Gi}}",
                "storageClassName does not match",
            ),
            (
                "{storageClassName: a, volumeMode: Block, accessModes: [ReadWriteOnce], capacity: {storage: 2Gi}}",
                "incompatible volumeMode",
            ),
            (
                "{storageClassName: a, accessModes: [ReadWriteMany], capacity: {storage: 2Gi}}",
                "incompatible accessMode",
            ),
        ] {
            let (mut wish, mut found) = (CLAIM.named("shop", "data"), VOLUME.named("", "v"));
            wish.set(&["spec"], yaml::parse_str(claim).unwrap());
            found.set(&["spec"], yaml::parse_str(volume).unwrap());
            assert_eq!(mismatch(&wish, &found).unwrap_or_default(), expected, "{volume}");
        }
    }
}
