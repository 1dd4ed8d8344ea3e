//! What no rehearsal makes: clusters and repositories that do not answer, or do not let the controller in.

use lynceus_doctor::examine;
use lynceus_object::{Value, value};
use lynceus_testkit::fixture::{FINE, config_map};
use lynceus_testkit::fleet::{Clusters, Condition, HOME};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// An application on a cluster `east` and one at home.
async fn two() -> Clusters {
    let mut clusters = Clusters::new().await;
    clusters.add("east", "t1").await;
    clusters.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    clusters.deliver("here", "app", HOME, &value!({})).await;
    clusters.deliver("there", "app", "east", &value!({})).await;
    clusters.start_alone().await;
    clusters.until("both", is_fine).await;
    clusters
}

fn is_fine(clusters: &Clusters) -> bool {
    ["here", "there"].iter().all(|name| clusters.state(name) == FINE)
}

/// The causes, with the applications that they explain, the first words of what was seen, and what to do.
async fn causes(clusters: &Clusters) -> String {
    let found = examine(&clusters.engine("alone").snapshot().await);
    let mut out = String::new();
    for root in found.roots {
        let apps: Vec<&str> = root.applications.iter().map(|app| app.name.as_str()).collect();
        out.push_str(&format!("{} {}: {}\n", root.severity, root.id, root.finding.cause));
        out.push_str(&format!("  explains {}\n", apps.join(", ")));
        out.push_str(&format!("  has seen {}\n", root.finding.evidence.len()));
        root.finding.fixes.iter().for_each(|fix| out.push_str(&format!("  fix: {}\n", fix.title)));
    }
    out.extend(found.unexplained.iter().map(|one| format!("not explained: {}\n", one.application)));
    out
}

#[tokio::test]
async fn a_cluster_that_cannot_be_reached_is_named_until_it_answers() {
    let clusters = two().await;
    assert_eq!(causes(&clusters).await, "", "all is well");
    clusters.line("east").set(Condition::Cut);
    clusters.until("the absence", |clusters| !clusters.said("there").is_empty()).await;
    assert_eq!(
        causes(&clusters).await,
        "P1 LYN1301/-/Cluster/https://east: cluster east does not answer, and 1 application goes there\n  explains there\n  \
         has seen 2\n  fix: Have cluster east answer\n"
    );
    clusters.line("east").set(Condition::Open);
    clusters.until("recovery", |clusters| clusters.said("there").is_empty() && is_fine(clusters)).await;
    assert_eq!(causes(&clusters).await, "");
}

#[tokio::test]
async fn a_token_that_has_run_out_is_not_a_cluster_that_is_away() {
    let clusters = two().await;
    clusters.accept("east", "t2");
    clusters.until("the refusal", |clusters| !clusters.said("there").is_empty()).await;
    assert_eq!(
        causes(&clusters).await,
        "P1 LYN1302/-/Cluster/https://east: cluster east does not let the controller in: the credentials are not accepted\n  \
         explains there\n  has seen 2\n  fix: Renew the credentials of cluster east\n"
    );
    clusters.register("east", "t2", "").await;
    clusters.until("recovery", |clusters| clusters.said("there").is_empty() && is_fine(clusters)).await;
    assert_eq!(causes(&clusters).await, "");
}

/// A fault of a cluster: everything that is read is answered with a code.
fn fault(code: u16) -> String {
    format!(
        "apiVersion: sim.lynceus.dev/v1alpha1\nkind: Fault\nmetadata: {{name: busy}}\nspec: {{answer: {code}, requests: {{verbs: [get, \
         list, watch]}}}}\n---\napiVersion: sim.lynceus.dev/v1alpha1\nkind: Fault\nmetadata: {{name: cut}}\nspec: {{cutWatches: expired}}\n"
    )
}

#[tokio::test]
async fn a_cluster_that_asks_to_be_left_alone_is_not_one_that_is_away() {
    let clusters = two().await;
    clusters.apply_to("east", &fault(429)).await;
    clusters.until("the answer", |clusters| !clusters.said("there").is_empty()).await;
    assert_eq!(
        causes(&clusters).await,
        "P1 LYN1303/-/Cluster/https://east: requests to cluster east are held back: there are too many\n  explains there\n  has \
         seen 1\n  fix: Find who asks most, and let it ask less\n"
    );
}

/// An application from an address.
fn from(url: &str) -> Value {
    value!({"spec": {"source": {"repoURL": url}}})
}

#[tokio::test]
async fn a_repository_that_does_not_answer_is_named_with_its_host() {
    let mut clusters = Clusters::new().await;
    clusters.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    clusters.deliver("here", "app", HOME, &value!({})).await;
    clusters.deliver("away", "app", HOME, &from("http://127.0.0.1:9/none.git")).await;
    clusters.start_alone().await;
    clusters.until("the other", |clusters| clusters.state("here") == FINE).await;
    clusters.until("the absence", |clusters| !clusters.said("away").is_empty()).await;
    assert_eq!(
        causes(&clusters).await,
        "P1 LYN1004/-/Repository/http://127.0.0.1:9/none.git: http://127.0.0.1:9/none.git does not answer; 1 application comes from \
         there\n  explains away\n  has seen 2\n  fix: Have 127.0.0.1 answer\n"
    );
}

#[tokio::test]
async fn a_repository_that_wants_credentials_has_answered() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/private.git", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut asked = [0; 4096];
            let _ = stream.read(&mut asked).await;
            let answer = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"git\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    let mut clusters = Clusters::new().await;
    clusters.deliver("private", "app", HOME, &from(&url)).await;
    clusters.start_alone().await;
    clusters.until("the refusal", |clusters| !clusters.said("private").is_empty()).await;
    let causes = causes(&clusters).await.replace(&url, "URL");
    server.abort();
    assert_eq!(
        causes,
        "P1 LYN1005/-/Repository/URL: URL asks for credentials, or does not exist for who asks, which private needs\n  explains \
         private\n  has seen 1\n  fix: Let the controller in at URL\n"
    );
}
