//! The triggers and templates that everybody needs.

use lynceus_notify::{
    Config, Destination, ROOT_CAUSE, Render, RootCause, Service, ServiceConfig, Sources, Templates, Triggers,
    catalogue,
};
use lynceus_object::json;

use crate::{World, now, parse, random};

#[test]
fn the_names_are_those_of_argo_cd() {
    let map = catalogue();
    let keys: Vec<_> =
        map.at(&["data"]).unwrap().as_map().unwrap().keys().map(|key| key.to_string()).collect();
    assert_eq!(
        keys.join(" "),
        "template.app-created template.app-deleted template.app-deployed template.app-health-degraded \
         template.app-sync-failed template.app-sync-running template.app-sync-status-unknown \
         template.app-sync-succeeded template.new-root-cause trigger.on-created trigger.on-deleted trigger.on-deployed \
         trigger.on-health-degraded trigger.on-new-root-cause trigger.on-sync-failed trigger.on-sync-running \
         trigger.on-sync-status-unknown trigger.on-sync-succeeded"
    );
}

/// Every template is filled and makes a message for every service that it has a part for, for an Application with all of
/// its status and for one with none.
#[test]
fn every_template_makes_good_messages() {
    let map = catalogue();
    let config = Config::read(Sources { config_map: Some(&map), ..Sources::default() });
    let (templates, faults) = Templates::new(&config);
    assert!(faults.is_empty(), "{faults:?}");
    let (_, faults) = Triggers::new(&config);
    assert!(faults.is_empty(), "{faults:?}");
    let mut bare = World::new();
    bare.application.remove(&["status"]);
    let cause = RootCause {
        id: "LYN0101/x".into(),
        code: "LYN0101".into(),
        severity: "P1".into(),
        subject: "Deployment shop/web".into(),
        cause: "the image \"web:1\" does not exist".into(),
        fix: "push it".into(),
        applications: vec!["argocd/shop".into()],
    };
    let more = [("rootCause", cause.to_value())];
    for world in [World::new(), bare] {
        for name in config.templates.keys() {
            for service in ["slack", "teams", "teams-workflows", "email"] {
                let mut subject = world.subject();
                subject.more = &more;
                let to = Destination::parse(&format!("{service}:r@example.com"));
                let filled = templates.fill(std::slice::from_ref(name), subject, &to, now(), &mut random);
                let Ok(Render::Filled(notification)) = filled else { panic!("{name} for {service}") };
                let text = json::to_string(&notification.to_value());
                assert!(
                    world.application.at(&["status"]).is_none() || !text.contains("<no value>"),
                    "{name}: {text}"
                );
                let options = parse(
                    r#"{token: t, host: h, from: a@b.c, recipientUrls: {r@example.com: "https://api.powerautomate.com/x"}}"#,
                );
                let made = Service::new(&ServiceConfig { kind: service.into(), options, is_operators: true });
                let delivery = made.unwrap().deliver(&notification, &to, now(), &mut random);
                assert!(delivery.is_ok(), "{name} for {service}: {} {text}", delivery.err().unwrap());
            }
        }
    }
}

#[test]
fn triggers_hold_when_they_should() {
    let map = catalogue();
    let config = Config::read(Sources { config_map: Some(&map), ..Sources::default() });
    let (triggers, _) = Triggers::new(&config);
    let holding = |world: &World, more: &[(&'static str, lynceus_object::Value)]| {
        let names = config.triggers.keys().filter(|name| {
            let mut subject = world.subject();
            subject.more = more;
            let ran = triggers.run(name, subject, now(), &mut random).unwrap();
            assert!(ran.faults.is_empty(), "{:?}", ran.faults);
            ran.results.iter().any(|result| result.triggered)
        });
        names.map(|name| name.to_string()).collect::<Vec<_>>().join(" ")
    };
    let mut world = World::new();
    assert_eq!(holding(&world, &[]), "on-created on-health-degraded on-sync-succeeded");
    world.application.set(&["status", "health", "status"], "Healthy");
    assert_eq!(holding(&world, &[]), "on-created on-deployed on-sync-succeeded");
    world.application.set(&["status", "operationState", "phase"], "Failed");
    world.application.set(&["status", "sync", "status"], "Unknown");
    world.application.set(&["metadata", "deletionTimestamp"], "2026-01-02T03:04:05Z");
    assert_eq!(holding(&world, &[]), "on-created on-deleted on-sync-failed on-sync-status-unknown");
    world.application.set(&["status", "operationState", "phase"], "Running");
    let cause = [("rootCause", RootCause { id: "x".into(), ..RootCause::default() }.to_value())];
    assert!(holding(&world, &cause).contains("on-new-root-cause"));
}

#[test]
fn the_triggers_about_root_causes_are_known_by_their_expressions() {
    let (triggers, _) =
        Triggers::new(&Config::read(Sources { config_map: Some(&catalogue()), ..Sources::default() }));
    assert!(triggers.asks_for("on-new-root-cause", ROOT_CAUSE) && triggers.any_asks_for(ROOT_CAUSE));
    assert!(!triggers.asks_for("on-sync-failed", ROOT_CAUSE) && !triggers.asks_for("none", ROOT_CAUSE));
}
