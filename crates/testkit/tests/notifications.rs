//! Notifications on the embedded cluster: told once for each state, whatever becomes of the engine.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};

use jiff::SignedDuration;
use lynceus_object::{Gvk, Object, value};
use lynceus_testkit::world::World;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// A server that counts what it is asked, and answers what it is told to.
struct Listener {
    url: String,
    heard: Arc<AtomicUsize>,
    status: Arc<AtomicU16>,
}

impl Listener {
    async fn new() -> Self {
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", socket.local_addr().unwrap());
        let (heard, status) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicU16::new(200)));
        let (count, answers) = (heard.clone(), status.clone());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = socket.accept().await {
                let mut piece = [0; 4096];
                let _ = stream.read(&mut piece).await;
                count.fetch_add(1, Ordering::SeqCst);
                let status = answers.load(Ordering::SeqCst);
                let answer = format!("HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        Listener { url, heard, status }
    }

    fn heard(&self) -> usize {
        self.heard.load(Ordering::SeqCst)
    }
}

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n";

/// A world in which everybody who subscribes to `on-synced` is told by a webhook.
async fn world(listener: &Listener) -> World {
    let world = World::new().await;
    let settings = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: argocd-notifications-cm, namespace: argocd}}\ndata:\n\
         \x20 trigger.on-synced: |\n    - when: app.status.sync.status == 'Synced'\n      send: [t]\n\
         \x20     oncePer: app.status.sync.revision\n\
         \x20 template.t: |\n    message: \"{{{{.app.metadata.name}}}}\"\n\
         \x20 service.webhook.hook: |\n    url: {}\n    retryWaitMin: 1ms\n    retryWaitMax: 1ms\n    retryMax: 1\n\
         \x20 subscriptions: |\n    - {{recipients: [hook], triggers: [on-synced]}}\n",
        listener.url
    );
    world.apply(&settings).await;
    world.commit(&[("app/a.yaml", MAP)]);
    world.deliver("shop", "app", &value!({"syncPolicy": {"automated": {}}})).await;
    world
}

fn notified(world: &World) -> String {
    let object = world.object("argoproj.io", "Application", "argocd", "shop").unwrap();
    assert!(object.annotation("lynceus.dev/notifying").is_none());
    object.annotation("notified.notifications.argoproj.io").unwrap_or_default().to_owned()
}

fn is_noted(world: &World) -> bool {
    let object = world.object("argoproj.io", "Application", "argocd", "shop");
    object.is_some_and(|object| {
        object.annotation("notified.notifications.argoproj.io").is_some()
            && object.annotation("lynceus.dev/notifying").is_none()
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_is_told_once_even_if_the_engine_dies_and_comes_back() {
    let listener = Listener::new().await;
    let mut world = world(&listener).await;
    world.until("the message", is_noted).await;
    assert_eq!(listener.heard(), 1);
    let noted = notified(&world);
    assert!(noted.contains(":on-synced:[0].") && noted.contains(":hook:\":"), "{noted}");
    for _ in 0..2 {
        world.start_engine();
        world.pass(SignedDuration::from_secs(200)).await;
    }
    assert_eq!(listener.heard(), 1);
    assert_eq!(notified(&world), noted);
    world.commit(&[("app/a.yaml", &MAP.replace("b}", "c}"))]);
    world.until("the second message", |world| listener.heard() == 2 && is_noted(world)).await;
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_not_taken_is_sent_again_later_and_told_of() {
    let listener = Listener::new().await;
    listener.status.store(500, Ordering::SeqCst);
    let world = world(&listener).await;
    world.until("a refusal", |_| listener.heard() >= 2).await;
    listener.status.store(200, Ordering::SeqCst);
    world.until("the message", is_noted).await;
    let heard = listener.heard();
    world.pass(SignedDuration::from_secs(200)).await;
    assert_eq!(listener.heard(), heard);
    let events = world.cluster().list(&Gvk::new("", "v1", "Event"), "argocd").await.unwrap();
    let told = |event: &Object| event.value().str_at(&["reason"]) == Some("NotificationFailed");
    assert!(events.iter().any(told), "{events:?}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_died_over_is_told_after_a_while() {
    let listener = Listener::new().await;
    let world = world(&listener).await;
    world.until("the message", is_noted).await;
    let key = notified(&world);
    // As if the engine had died between the mark and the message.
    let patch = value!({"metadata": {"annotations": {"lynceus.dev/notifying": (key.as_str())}}});
    world.patch("argoproj.io/v1alpha1", "Application", "argocd", "shop", &patch).await;
    world.until("it is told again", |world| listener.heard() == 2 && is_noted(world)).await;
    world.end().await;
}

/// The settings of notifications of a namespace: everybody is told of something by a webhook.
fn settings(namespace: &str, when: &str, once_per: &str, listener: &Listener) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: argocd-notifications-cm, namespace: {namespace}}}\ndata:\n\
         \x20 trigger.on-it: |\n    - when: {when}\n      send: [t]\n      oncePer: {once_per}\n\
         \x20 template.t: |\n    message: it is so\n\
         \x20 service.webhook.hook: |\n    url: {}\n    retryMax: 1\n\
         \x20 subscriptions: |\n    - {{recipients: [hook], triggers: [on-it]}}\n",
        listener.url
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_root_cause_is_told_once_however_many_applications_it_stops() {
    let listener = Listener::new().await;
    let world = World::new().await;
    world.apply(&settings("argocd", "rootCause != nil", "rootCause.id", &listener)).await;
    let other = MAP.replace("b}", "c}");
    world.commit(&[("shop/a.yaml", MAP), ("bank/a.yaml", &other)]);
    // One after the other: who has the object last decides how often both sync later.
    world.deliver("bank", "bank", &value!({"syncPolicy": {"automated": {}}})).await;
    world.until("the first delivery", |world| world.object("", "ConfigMap", "default", "a").is_some()).await;
    world.deliver("shop", "shop", &value!({"syncPolicy": {"automated": {}}})).await;
    world.until("the message", |_| listener.heard() > 0).await;
    world.pass(SignedDuration::from_secs(400)).await;
    assert_eq!(listener.heard(), 1);
    // Once it is mended and done wrong again, it is something new.
    let told = |world: &World| {
        let all = ["bank", "shop"].iter().map(|name| {
            let object = world.object("argoproj.io", "Application", "argocd", name).unwrap();
            object.annotation("notified.notifications.argoproj.io").unwrap_or_default().to_owned()
        });
        all.collect::<String>()
    };
    assert!(told(&world).starts_with("{\"LYN0101/"), "{}", told(&world));
    world.commit(&[("bank/a.yaml", &other.replace("name: a", "name: b"))]);
    world.until("that it is over", |world| !told(world).contains("LYN0101/")).await;
    let heard = listener.heard();
    world.commit(&[("bank/a.yaml", &other)]);
    // What is told is written down before it is sent, with a mark that goes when it was taken.
    let is_sent = |world: &World| {
        let marked = |name: &&str| {
            let object = world.object("argoproj.io", "Application", "argocd", name).unwrap();
            object.annotation("lynceus.dev/notifying").is_some()
        };
        told(world).contains("LYN0101/") && !["bank", "shop"].iter().any(marked)
    };
    world.until("the second message", is_sent).await;
    assert!(listener.heard() > heard);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_is_told_by_its_own_configuration_if_the_operator_lets_it() {
    let listener = Listener::new().await;
    let world = World::new().await;
    world.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a}\n").await;
    let parameters = |more: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: argocd-cmd-params-cm, namespace: argocd}}\n\
             data: {{application.namespaces: team-a{more}}}\n"
        )
    };
    world.apply(&parameters("")).await;
    let namespaces = value!({"spec": {"sourceNamespaces": ["team-a"]}});
    world.patch("argoproj.io/v1alpha1", "AppProject", "argocd", "default", &namespaces).await;
    world.commit(&[("app/a.yaml", MAP)]);
    world.apply(&settings("team-a", "app.status.sync.status == 'Synced'", "''", &listener)).await;
    let application = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: shop, namespace: team-a}}\nspec:\n  project: \
         default\n  source: {{repoURL: '{}', path: app, targetRevision: main}}\n  destination: {{server: \
         'https://kubernetes.default.svc', namespace: default}}\n  syncPolicy: {{automated: {{}}}}\n",
        world.repository()
    );
    world.apply(&application).await;
    // Nobody looks into the namespace before the setting has been read that names it.
    let object = |world: &World| world.object("argoproj.io", "Application", "team-a", "shop");
    let is_synced = |world: &World| {
        object(world)
            .is_some_and(|object| object.value().str_at(&["status", "sync", "status"]) == Some("Synced"))
    };
    world.until("the sync", is_synced).await;
    world.pass(SignedDuration::from_secs(100)).await;
    assert_eq!(listener.heard(), 0);
    world.apply(&parameters(", notificationscontroller.selfservice.enabled: 'true'")).await;
    world.until("the message", |_| listener.heard() > 0).await;
    world.pass(SignedDuration::from_secs(100)).await;
    assert_eq!(listener.heard(), 1);
    let object = object(&world).unwrap();
    let noted = object.annotation("notified.notifications.argoproj.io").unwrap_or_default();
    assert!(noted.starts_with("{\"team-a:on-it:[0]."), "{noted}");
    world.end().await;
}
