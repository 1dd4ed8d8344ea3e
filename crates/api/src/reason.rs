//! Why something is not Synced and Healthy, as a tree of values: what stands in the way, and what stands in the way of that.

use std::fmt;

use lynceus_object::{ObjectKey, Str};
use serde::{Deserialize, Serialize};

use crate::annotations;
use crate::metadata::ObjectMeta;
use crate::scalar::Time;
use crate::wait::WaitFor;
use crate::word::{Open, words};

words! {
    /// What sort of thing stands in the way. The words are stable: programs may rely on them.
    pub enum ReasonCode: open {
        /// A sync is under way and cannot go on now.
        SyncWaits = "SyncWaits",
        /// The application is being deleted, and that cannot go on now.
        DeletionWaits = "DeletionWaits",
        /// A wave is not done; those behind it wait for it.
        WaveNotDone = "WaveNotDone",
        /// An object has to become healthy.
        WaitsForHealth = "WaitsForHealth",
        /// A hook has to complete.
        WaitsForHook = "WaitsForHook",
        /// An object has to be gone.
        WaitsForDeletion = "WaitsForDeletion",
        /// Somebody has to confirm that an object may be deleted.
        WaitsForConfirmation = "WaitsForConfirmation",
        /// Controllers get a moment to notice what was applied.
        WaitsForControllers = "WaitsForControllers",
        /// A failed attempt is repeated later.
        WaitsForRetry = "WaitsForRetry",
        /// A sync window is closed.
        WaitsForWindow = "WaitsForWindow",
        /// The steps of the ApplicationSet that makes an application have not come to it.
        WaitsForStep = "WaitsForStep",
        /// A cluster does not answer.
        WaitsForCluster = "WaitsForCluster",

        /// The application differs from Git.
        OutOfSync = "OutOfSync",
        /// An object is not in the cluster.
        NotCreated = "NotCreated",
        /// An object is not as Git wants it.
        Differs = "Differs",
        /// The value in Git is another than the one that was applied.
        ChangedInGit = "ChangedInGit",
        /// The server fills a field in where nobody says anything.
        ServerDefault = "ServerDefault",
        /// A field is changed on its way into the cluster.
        ChangedOnTheWay = "ChangedOnTheWay",
        /// Another has written a field.
        WrittenByOther = "WrittenByOther",
        /// Another writes a field again after each sync.
        WrittenInLoop = "WrittenInLoop",
        /// A rule that should hide a difference names nothing that is there.
        IdleRule = "IdleRule",
        /// A rule that should hide a difference hides a whole part of its objects.
        WideRule = "WideRule",
        /// An object is no longer in Git.
        NotPruned = "NotPruned",
        /// Nobody has asked for a sync, and the application does not sync by itself.
        SyncIsManual = "SyncIsManual",
        /// The last attempt to sync this revision failed, and it is not tried again by itself.
        SyncFailed = "SyncFailed",
        /// A field cannot be changed while its object is there.
        ImmutableField = "ImmutableField",
        /// Drift is not mended by itself.
        HealingIsOff = "HealingIsOff",
        /// Drift is mended after a pause, because it came back.
        HealingPauses = "HealingPauses",
        /// What is no longer in Git is not deleted by itself.
        PruningIsOff = "PruningIsOff",
        /// Everything would be deleted.
        WouldEmpty = "WouldEmpty",
        /// Reconciling is switched off for the application.
        Skipped = "Skipped",

        /// What an Application asks for cannot be followed.
        InvalidSpec = "InvalidSpec",
        /// The application cannot be compared.
        NotCompared = "NotCompared",
        /// The application's objects cannot be deleted.
        NotDeleted = "NotDeleted",
        /// Something else went wrong.
        Failed = "Failed",
        /// Two applications have one object.
        Shared = "Shared",
        /// Something is worth knowing.
        Warning = "Warning",

        /// An object is not healthy.
        Unhealthy = "Unhealthy",
        /// A controller has not seen the object's last change.
        NotObserved = "NotObserved",
        /// A condition of the object says so.
        Condition = "Condition",
        /// An object is being deleted and something holds it.
        HeldByFinalizer = "HeldByFinalizer",
        /// Too few copies are there.
        TooFewReplicas = "TooFewReplicas",
        /// A rollout has made no progress for too long.
        RolloutStalled = "RolloutStalled",
        /// Pods are refused when they are made: by a quota, by admission, by pod security.
        PodsRefused = "PodsRefused",
        /// No node takes a pod.
        Unschedulable = "Unschedulable",
        /// An image cannot be pulled.
        ImageNotPulled = "ImageNotPulled",
        /// A container cannot be set up: something that it names is missing.
        ContainerNotConfigured = "ContainerNotConfigured",
        /// A container ends again and again.
        ContainerCrashes = "ContainerCrashes",
        /// A container was stopped because it used too much memory.
        OutOfMemory = "OutOfMemory",
        /// A container runs and does not say that it is ready.
        ContainerNotReady = "ContainerNotReady",
        /// A container is being started.
        ContainerStarting = "ContainerStarting",
        /// Something that is named is not there.
        Missing = "Missing",
        /// A claim is not bound to a volume.
        ClaimPending = "ClaimPending",
        /// A claim is bound when its first consumer is scheduled.
        BindsOnFirstConsumer = "BindsOnFirstConsumer",
        /// What uses a claim comes in a later wave.
        ConsumerComesLater = "ConsumerComesLater",
        /// Nothing uses a claim.
        NoConsumer = "NoConsumer",
        /// An address is waited for, from something outside of the cluster.
        AddressPending = "AddressPending",
        /// A kind cannot be read.
        KindUnreadable = "KindUnreadable",
        /// There is more than is shown.
        More = "More",
    }
}

/// One thing that stands in the way, and why it does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// What sort of thing it is.
    pub code: Open<ReasonCode>,
    /// The object that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectKey>,
    /// The same in a sentence, without what it comes from.
    pub text: Str,
    /// Since when, if that is known. Never a duration: that would change with every look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// What it comes from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<Reason>,
}

/// The longest sentence; more would be somebody's log.
const TEXT: usize = 400;

impl Reason {
    /// A reason that stands for itself.
    pub fn new(code: ReasonCode, text: impl AsRef<str>) -> Self {
        let text = text.as_ref().trim();
        let cut = text.chars().take(TEXT).collect();
        Reason { code: code.into(), text: cut, ..Reason::default() }
    }

    /// The same, about an object.
    #[must_use]
    pub fn about(mut self, object: ObjectKey) -> Self {
        self.object = Some(object);
        self
    }

    /// The same, since a time.
    #[must_use]
    pub fn since(mut self, since: Option<Time>) -> Self {
        self.since = since;
        self
    }

    /// The same, with what it comes from.
    #[must_use]
    pub fn because(mut self, because: impl IntoIterator<Item = Reason>) -> Self {
        self.because.extend(because);
        self
    }

    /// Why an application is not Synced and Healthy, as its controller wrote it down.
    pub fn of(application: &ObjectMeta) -> Vec<Reason> {
        let text = application.annotations.get(annotations::REASONS);
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// This reason and all below it, each before what it comes from.
    pub fn all(&self) -> Vec<&Reason> {
        let mut all = vec![self];
        all.extend(self.because.iter().flat_map(Reason::all));
        all
    }

    /// The ends of the tree: what nothing else is the reason of.
    pub fn roots(&self) -> Vec<&Reason> {
        self.all().into_iter().filter(|reason| reason.because.is_empty()).collect()
    }

    /// Keeps at most `room` reasons, the first ones; what is left out is counted in a last one.
    pub fn trim(reasons: &mut Vec<Reason>, room: &mut usize) {
        let mut kept = 0;
        for reason in reasons.iter_mut() {
            if *room == 0 {
                break;
            }
            *room -= 1;
            kept += 1;
            Reason::trim(&mut reason.because, room);
        }
        let left = reasons.len() - kept;
        reasons.truncate(kept);
        if left > 0 {
            reasons.push(Reason::new(ReasonCode::More, format!("and {left} more")));
        }
    }

    fn draw(&self, f: &mut fmt::Formatter<'_>, branch: &str, below: &str) -> fmt::Result {
        writeln!(f, "{branch}{} [{}]", self.text, self.code)?;
        for (place, reason) in self.because.iter().enumerate() {
            let (corner, line) =
                if place + 1 == self.because.len() { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            reason.draw(f, &format!("{below}{corner}"), &format!("{below}{line}"))?;
        }
        Ok(())
    }
}

impl From<&WaitFor> for Reason {
    fn from(wait: &WaitFor) -> Self {
        let code = match wait {
            WaitFor::Healthy(_) => ReasonCode::WaitsForHealth,
            WaitFor::HookCompletion(_) => ReasonCode::WaitsForHook,
            WaitFor::Deletion(_) | WaitFor::HookDeletion(_) => ReasonCode::WaitsForDeletion,
            WaitFor::PruneConfirmation(_) | WaitFor::DeletionConfirmation(_) => {
                ReasonCode::WaitsForConfirmation
            }
            WaitFor::Held { .. } => ReasonCode::HeldByFinalizer,
            WaitFor::WaveDelay { .. } => ReasonCode::WaitsForControllers,
            WaitFor::Retry { .. } => ReasonCode::WaitsForRetry,
            WaitFor::SyncWindow(_) => ReasonCode::WaitsForWindow,
            WaitFor::Cluster(_) => ReasonCode::WaitsForCluster,
        };
        let reason = Reason::new(code, format!("it waits for {wait}"));
        Reason { object: wait.object().cloned(), ..reason }
    }
}

/// The tree, a line for each reason, each below what it explains.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.draw(f, "", "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word::Word as _;

    fn tree() -> Reason {
        let consumer = Reason::new(ReasonCode::ConsumerComesLater, "it is used by StatefulSet db, in wave 3");
        let binding = Reason::new(ReasonCode::BindsOnFirstConsumer, "class standard binds on first consumer")
            .because([consumer]);
        let claim = ObjectKey::new("", "PersistentVolumeClaim", "shop", "data-0");
        let claim =
            Reason::new(ReasonCode::ClaimPending, "claim data-0 is Pending").about(claim).because([binding]);
        let other = Reason::new(ReasonCode::Unhealthy, "Deployment web is Progressing");
        Reason::new(ReasonCode::WaveNotDone, "wave 2 is not done").because([claim, other])
    }

    #[test]
    fn a_tree_is_drawn_with_each_reason_below_what_it_explains() {
        assert_eq!(
            tree().to_string(),
            "wave 2 is not done [WaveNotDone]\n\
             ├─ claim data-0 is Pending [ClaimPending]\n\
             │  └─ class standard binds on first consumer [BindsOnFirstConsumer]\n\
             │     └─ it is used by StatefulSet db, in wave 3 [ConsumerComesLater]\n\
             └─ Deployment web is Progressing [Unhealthy]\n"
        );
    }

    #[test]
    fn the_roots_are_what_nothing_else_explains() {
        let tree = tree();
        let roots: Vec<&str> = tree.roots().into_iter().map(|reason| reason.code.as_str()).collect();
        assert_eq!(roots, ["ConsumerComesLater", "Unhealthy"]);
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let mut reasons = vec![tree(), tree()];
        let mut room = 3;
        Reason::trim(&mut reasons, &mut room);
        let shown: String = reasons.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            "wave 2 is not done [WaveNotDone]\n\
             ├─ claim data-0 is Pending [ClaimPending]\n\
             │  └─ class standard binds on first consumer [BindsOnFirstConsumer]\n\
             │     └─ and 1 more [More]\n\
             └─ and 1 more [More]\n\
             and 1 more [More]\n"
        );
    }

    #[test]
    fn it_is_the_same_after_being_stored_and_a_code_of_tomorrow_survives() {
        let text = serde_json::to_string(&tree()).unwrap();
        assert_eq!(serde_json::from_str::<Reason>(&text).unwrap(), tree());
        let unknown: Reason = serde_json::from_str(r#"{"code": "Eclipse", "text": "dark"}"#).unwrap();
        assert_eq!(serde_json::to_string(&unknown).unwrap(), r#"{"code":"Eclipse","text":"dark"}"#);
    }

    #[test]
    fn every_code_is_described_to_users() {
        let page = include_str!("../../../docs/reasons.md");
        let missing: Vec<&str> = ReasonCode::ALL
            .iter()
            .map(|code| code.as_str())
            .filter(|code| !page.contains(&format!("| `{code}` |")))
            .collect();
        assert_eq!(missing, [""; 0]);
    }
}
