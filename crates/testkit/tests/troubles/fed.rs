//! Troubles that the embedded cluster cannot make. What was seen of a scenario that was played is changed to what would have been seen.

use lynceus_api::{Application, Kind as _};
use lynceus_diff::{FieldChange, Origin, Update, Verdict};
use lynceus_doctor::{Delivery, Snapshot, examine, report};
use lynceus_object::{FieldPath, patch, value};

use crate::performance::Performance;
use crate::scenario::Scenario;

const SHOP: &str = "
== repository
-- app shop --
{}
-- shop/settings.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {mode: fast}
";

/// What the doctor says of the shop when its delivery was seen otherwise.
async fn told(change: impl Fn(&mut Delivery)) -> String {
    let played = Performance::of(&Scenario::read(SHOP).setting).await;
    let mut snapshot: Snapshot = played.snapshot().await;
    snapshot.applications.iter_mut().for_each(change);
    report::text(&examine(&snapshot))
}

fn with_status(delivery: &mut Delivery, status: &lynceus_object::Value) {
    let object = delivery.application.to_object();
    let merged = patch::merge(object.value(), &value!({"status": (status.clone())})).unwrap();
    delivery.application = Application::from_object(&lynceus_object::Object::new(merged).unwrap()).unwrap();
}

/// A field of the ConfigMap that Git does not have and that comes from somewhere.
fn with_field(delivery: &mut Delivery, origin: Origin) {
    with_status(delivery, &value!({"sync": {"status": "OutOfSync"}}));
    let settings = delivery.changes.changes.iter_mut().find(|one| one.key().name == "settings").unwrap();
    let live = settings.pair.live().unwrap().clone();
    let path = FieldPath::fields(["data", "level"]);
    let field = FieldChange { path, desired: None, live: Some(value!("info")), writer: None, origin };
    settings.verdict = Verdict::Update(Update { live: live.clone(), predicted: live, fields: vec![field] });
}

/// What Lynceus compares has the defaults of the server filled in, so that they make no difference: other controllers tell them.
#[tokio::test]
async fn a_field_that_the_server_fills_in() {
    let text = told(|delivery| with_field(delivery, Origin::Default)).await;
    assert!(text.contains("LYN1103/shop/ConfigMap/settings"), "{text}");
    assert!(text.contains("seen: ConfigMap shop/settings: data.level: info"), "{text}");
    assert!(text.contains("1 root cause, which explains 1 application"), "{text}");
    assert!(text.contains("Write data.level into Git as it is"), "{text}");
    let near = told(|delivery| with_field(delivery, Origin::Source)).await;
    assert!(!near.contains("LYN1103"), "Git has changed since: {near}");
}

/// Nobody renders for the embedded cluster but Lynceus itself, in this process and without a deadline.
#[tokio::test]
async fn rendering_that_does_not_end_in_time() {
    let failed = |delivery: &mut Delivery, why: &str| {
        let message =
            format!("Failed to load target state: failed to generate manifest for source 1 of 1: {why}");
        let condition = value!({"type": "ComparisonError", "message": message});
        with_status(delivery, &value!({"sync": {"status": "Unknown"}, "conditions": [condition]}));
        (delivery.rendered, delivery.wanted) = (false, Vec::new());
    };
    let slow = "rpc error: code = DeadlineExceeded desc = context deadline exceeded";
    let text = told(|delivery| failed(delivery, slow)).await;
    assert!(text.contains("LYN1305/-/Controller"), "{text}");
    assert!(text.contains("seen: status of shop: ComparisonError: Failed to load target state"), "{text}");
    assert!(text.contains("1 root cause, which explains 1 application"), "{text}");
    let broken = "rpc error: code = Unknown desc = Manifest generation error (cached): yaml: line 3: did not find expected key";
    let near = told(|delivery| failed(delivery, broken)).await;
    assert!(!near.contains("LYN1305"), "what is rendered is wrong, and not slow: {near}");
}
