//! Logging in, sessions and rights, asked through the one door that everybody uses.

mod attacks;
mod connections;
mod elsewhere;
mod flood;
mod issuer;
mod logins;
mod oracle;
mod rights;
mod routes;
mod slow;
mod taking;
mod userinfo;
mod web;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, Request, header};
use futures::future::BoxFuture;
use http_body_util::BodyExt as _;
use jiff::{SignedDuration, Timestamp};
use lynceus_engine::{Clock, Engine, Options};
use lynceus_object::{Gvk, Value, json, value};
use lynceus_source::{Settings, Sources};
use lynceus_testkit::world::World;
use tower::ServiceExt as _;

use super::Caller;
use crate::probe::Vitals;
use crate::rights::Right;
use crate::server::Server;

/// A server on an embedded cluster.
pub(crate) struct Stage {
    pub(crate) world: World,
    pub(crate) server: Arc<Server>,
    pub(crate) clock: Hands,
}

/// What an answer was.
pub(crate) struct Said {
    pub(crate) status: u16,
    pub(crate) body: Value,
    pub(crate) headers: HeaderMap,
}

impl Said {
    pub(crate) fn text(&self, field: &str) -> &str {
        self.body.str_at(&[field]).unwrap_or_default()
    }
}

impl Stage {
    /// A server with these manifests in its cluster.
    pub(crate) async fn new(manifests: &str) -> Self {
        let world = World::new().await;
        if !manifests.is_empty() {
            world.apply(manifests).await;
        }
        let clock = Hands::default();
        let stage = Stage { server: server(&world, &clock), world, clock };
        stage.settle(manifests).await;
        stage.server.prepare().await.unwrap();
        stage
    }

    /// A server whose engine is at work on the applications of its world.
    pub(crate) async fn at_work() -> Self {
        let world = World::new().await;
        let server = Server::new(world.engine().unwrap());
        let stage = Stage { server, world, clock: Hands::default() };
        stage.settle("").await;
        stage.server.prepare().await.unwrap();
        stage
    }

    /// A session of the administrator.
    pub(crate) async fn admin(&self) -> String {
        self.session("admin", &self.initial_password().await).await
    }

    /// The server after a restart: everything that was only in its memory is gone.
    pub(crate) fn restart(&mut self) {
        self.server = server(&self.world, &self.clock);
    }

    /// Waits until the server sees what was applied.
    async fn settle(&self, manifests: &str) {
        for _ in 0..200 {
            tokio::time::sleep(Duration::from_millis(5)).await;
            let wanted = manifests.matches("metadata:").count();
            let seen = ["argocd-cm", "argocd-rbac-cm", "argocd-secret"]
                .iter()
                .filter(|name| manifests.contains(&format!("name: {name}")))
                .filter(|name| {
                    let kind = if **name == "argocd-secret" { "Secret" } else { "ConfigMap" };
                    self.world.object("", kind, "argocd", name).is_some()
                })
                .count();
            let projects = self.world.objects("argoproj.io", "AppProject").len();
            if seen + projects > wanted || (wanted == 0 && projects > 0) {
                return;
            }
        }
    }

    /// Changes the installation, and waits until the server has seen it.
    pub(crate) async fn patch(&self, kind: &str, name: &str, patch: &Value) {
        let (api, group) = match kind {
            "AppProject" => ("argoproj.io/v1alpha1", "argoproj.io"),
            _ => ("v1", ""),
        };
        let version = |stage: &Self| {
            let object = stage.world.object(group, kind, "argocd", name);
            object.map(|object| object.resource_version().to_owned())
        };
        let before = version(self);
        self.world.patch(api, kind, "argocd", name, patch).await;
        for _ in 0..400 {
            if version(self) != before {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("{kind} {name} did not change");
    }

    pub(crate) async fn ask(&self, verb: &str, path: &str, token: &str, body: &str) -> Said {
        let mut request =
            Request::builder().method(verb).uri(path).header(header::CONTENT_TYPE, "application/json");
        if !token.is_empty() {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        self.send(request.body(Body::from(body.to_owned())).unwrap()).await
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Said {
        let answer = crate::api::api(self.server.clone(), Arc::new(Fine)).oneshot(request).await.unwrap();
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        Said { status, body: json::parse(&body).unwrap_or_default(), headers }
    }

    /// The body of an answer that is no JSON.
    pub(crate) async fn bytes(&self, request: Request<Body>) -> Vec<u8> {
        let answer = crate::api::api(self.server.clone(), Arc::new(Fine)).oneshot(request).await.unwrap();
        answer.into_body().collect().await.unwrap().to_bytes().to_vec()
    }

    /// The body of an answer that goes on.
    pub(crate) async fn stream(&self, request: Request<Body>) -> axum::body::BodyDataStream {
        let answer = crate::api::api(self.server.clone(), Arc::new(Fine)).oneshot(request).await.unwrap();
        answer.into_body().into_data_stream()
    }

    pub(crate) async fn log_in(&self, name: &str, password: &str) -> Said {
        let body = value!({"username": name, "password": password});
        self.ask("POST", "/api/v1/session", "", &json::to_string(&body)).await
    }

    /// A session, which there has to be.
    pub(crate) async fn session(&self, name: &str, password: &str) -> String {
        let said = self.log_in(name, password).await;
        assert_eq!(said.status, 200, "{}", said.text("message"));
        said.text("token").to_owned()
    }

    /// Whose a token is; empty if it does not count.
    pub(crate) async fn user(&self, token: &str) -> String {
        self.ask("GET", "/api/v1/session/userinfo", token, "").await.text("username").to_owned()
    }

    pub(crate) async fn caller(&self, token: &str) -> Caller {
        let mut headers = HeaderMap::new();
        if !token.is_empty() {
            headers.insert("token", token.parse().unwrap());
        }
        let found = self.server.access.caller(&headers, &Right::Known).await;
        found.unwrap_or_else(|refusal| panic!("{refusal}"))
    }

    /// A value of a Secret, decoded.
    pub(crate) async fn secret(&self, name: &str, key: &str) -> String {
        let found = self.world.hand().get(&Gvk::new("", "v1", "Secret"), "argocd", name).await.unwrap();
        found.map(|secret| super::vault::text(&secret, key)).unwrap_or_default()
    }

    pub(crate) async fn initial_password(&self) -> String {
        self.secret("argocd-initial-admin-secret", "password").await
    }
}

fn server(world: &World, clock: &Hands) -> Arc<Server> {
    let sources = Sources::new(std::env::temp_dir().join("lynceus-access-tests"), Settings::default());
    let engine = Engine::new(world.cluster().clone(), sources, Arc::new(clock.clone()), Options::default());
    Server::new(engine)
}

/// A clock that tests move.
#[derive(Clone)]
pub(crate) struct Hands(Arc<Mutex<Timestamp>>);

impl Default for Hands {
    fn default() -> Self {
        Hands(Arc::new(Mutex::new(Timestamp::from_second(1_800_000_000).unwrap())))
    }
}

impl Hands {
    pub(crate) fn pass(&self, seconds: i64) {
        let mut now = self.0.lock().unwrap();
        *now += SignedDuration::from_secs(seconds);
    }
}

impl Clock for Hands {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }

    fn monotonic(&self) -> Duration {
        Duration::from_secs(u64::try_from(self.now().as_second()).unwrap_or_default())
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(time))
    }
}

struct Fine;

impl Vitals for Fine {
    fn alive(&self) -> Result<(), String> {
        Ok(())
    }

    fn ready(&self) -> Result<(), String> {
        Ok(())
    }

    fn metrics(&self) -> String {
        String::new()
    }
}

/// Accounts for tests: alice may log in and have keys, bob may log in and nothing else. Both have the password `password`.
pub(crate) const ACCOUNTS: &str = r#"
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm, namespace: argocd}
data:
  accounts.alice: "login, apiKey"
  accounts.bob: login
  accounts.robot: apiKey
---
apiVersion: v1
kind: Secret
metadata: {name: argocd-secret, namespace: argocd}
stringData:
  accounts.alice.password: "$2a$04$LLLLLLLLLLLLLLLLLLLLLOHASH"
  accounts.bob.password: "$2a$04$LLLLLLLLLLLLLLLLLLLLLOHASH"
---
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-rbac-cm, namespace: argocd}
data:
  policy.csv: |
    p, alice, applications, *, shop/*, allow
    p, alice, applications, delete, shop/dear, deny
"#;

/// The same with a hash that is cheap to check.
pub(crate) fn accounts() -> String {
    static HASH: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| super::bcrypt::cheap("password"));
    ACCOUNTS.replace("$2a$04$LLLLLLLLLLLLLLLLLLLLLOHASH", &HASH)
}
