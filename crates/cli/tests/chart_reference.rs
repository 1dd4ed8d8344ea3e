//! `lynceus helm template` and `show` with charts that are elsewhere. What is expected is what Helm 4.2.4 says to the same.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

mod support;

use support::bench::Bench;

/// What the chart `web` gives.
fn web(name: &str, version: &str, size: &str) -> String {
    format!("---\n# Source: web/templates/a.yaml\nname: {name}\nchart: web {version}\nsize: {size}\n")
}

/// What `show chart` prints of the chart `web`.
fn about(version: &str) -> String {
    format!("apiVersion: v2\nname: web\nversion: {version}\n\n")
}

#[tokio::test]
async fn a_chart_may_be_named_by_repository_url_or_registry() {
    let bench = Bench::new().await;
    bench.name_repository("shelf");
    for (line, version) in [
        ("template x shelf/web", "1.2.0"),
        ("template x shelf/web --version ~1.0", "1.0.0"),
        ("template x shelf/web --devel", "2.0.0-rc.1"),
        ("template x web --repo REPO", "1.2.0"),
        ("template x web --repo REPO/ --version 1.0.0", "1.0.0"),
        ("template x REPO/web-1.0.0.tgz", "1.0.0"),
    ] {
        assert_eq!(bench.helm(line).await, web("x", version, "1"), "{line}");
    }
    for (line, version) in [
        ("show chart OCI/web", "1.2.0"),
        ("show chart OCI/web --version 1.0.0", "1.0.0"),
        ("show chart OCI/web:1.0.0", "1.0.0"),
        ("show chart OCI/web --version ^1.1 --plain-http", "1.2.0"),
        ("show chart OCI/web --devel", "2.0.0-rc.1"),
    ] {
        let told = bench.helm(line).await;
        let (pulled, rest) = told.split_once("\nDigest: sha256:").unwrap();
        assert_eq!(pulled, format!("Pulled: HOST/charts/web:{version}"), "{line}");
        assert_eq!(rest.split_once('\n').unwrap().1, about(version), "{line}");
    }
}

#[tokio::test]
async fn a_chart_in_a_registry_may_be_named_by_its_digest() {
    let bench = Bench::new().await;
    let told = bench.helm("show chart OCI/web:1.0.0").await;
    let digest = told.lines().find_map(|line| line.strip_prefix("Digest: ")).unwrap();
    let by_digest = format!("Pulled: HOST/charts/web@{digest}\nDigest: {digest}\n{}", about("1.0.0"));
    assert_eq!(bench.helm(&format!("show chart OCI/web@{digest}")).await, by_digest);
    assert_eq!(bench.helm(&format!("show chart OCI/web@{digest} --version 1.0.0")).await, by_digest);
    let mismatch = bench.helm(&format!("show chart OCI/web@{digest} --version 1.2.0")).await;
    assert!(mismatch.starts_with("Error: chart reference digest mismatch: sha256:"), "{mismatch}");
    assert!(mismatch.ends_with(&format!(" is not {digest}\n[1]\n")), "{mismatch}");
}

#[tokio::test]
async fn credentials_come_from_flags_and_from_helms_files() {
    let bench = Bench::new().await;
    bench.shelf.require("me", "hush");
    for line in [
        "show chart web --repo REPO --version 1.0.0 --username me --password hush",
        "show chart REPO/web-1.0.0.tgz --username me --password hush",
    ] {
        assert_eq!(bench.helm(line).await, about("1.0.0"), "{line}");
    }
    let refused = bench.helm("show chart web --repo REPO").await;
    assert!(refused.contains("needs credentials") && refused.ends_with("[1]\n"), "{refused}");
    let wrong = bench.helm("show chart REPO/web-1.0.0.tgz --username me --password guess").await;
    assert!(wrong.contains("authentication failed") && !wrong.contains("guess"), "{wrong}");
    bench.write(
        "config/repositories.yaml",
        "repositories:\n- {name: shelf, url: REPO, username: me, password: hush}\n",
    );
    assert_eq!(bench.helm("show chart shelf/web --version 1.0.0").await, about("1.0.0"));
    assert_eq!(bench.helm("show chart REPO/web-1.0.0.tgz").await, about("1.0.0"), "it is below a known one");
    let denied = bench.helm("show chart OCI/web:1.0.0").await;
    assert!(denied.contains("needs credentials"), "{denied}");
    // me:hush
    let login = format!("{{\"auths\": {{\"{}\": {{\"auth\": \"bWU6aHVzaA==\"}}}}}}", bench.shelf.host);
    bench.write("config/registry/config.json", &login);
    let pulled = bench.helm("show chart OCI/web:1.0.0").await;
    assert!(pulled.ends_with(&about("1.0.0")), "{pulled}");
    std::fs::rename(bench.folder.join("config/registry"), bench.folder.join(".docker")).unwrap();
    bench.chart(&[("web", "^1", "OCI")]);
    let told = bench.helm("dependency update app --skip-refresh").await;
    assert!(told.ends_with("Deleting outdated charts\n"), "{told}");
}

#[tokio::test]
async fn what_is_not_there_is_told_in_helms_words() {
    let bench = Bench::new().await;
    bench.name_repository("shelf");
    for (line, expected) in [
        (
            "show chart shelf/web --version 9",
            "chart \"web\" matching 9 not found in shelf index. (try 'helm repo update'): no chart version found for web-9",
        ),
        (
            "show chart shelf/nope",
            "chart \"nope\" matching  not found in shelf index. (try 'helm repo update'): no chart name found",
        ),
        (
            "show chart shelf/web --version nonsense",
            "chart \"web\" matching nonsense not found in shelf index. (try 'helm repo update'): improper constraint: \
             \"nonsense\"",
        ),
        ("show chart nix/web", "repo nix not found"),
        ("show chart plain", "non-absolute URLs should be in form of repo_name/path_to_chart, got: plain"),
        ("show chart ./plain", "path \"./plain\" not found"),
        ("show chart nope --repo REPO", "chart \"nope\" not found in REPO repository"),
        (
            "show chart web --repo REPO --version ^8",
            "chart \"web\" version \"^8\" not found in REPO repository",
        ),
        (
            "show chart web --repo REPO/x",
            "looks like \"REPO/x\" is not a valid chart repository or cannot be reached: failed to fetch \
             REPO/x/index.yaml : 404 Not Found",
        ),
        ("show chart REPO/web-9.tgz", "failed to fetch REPO/web-9.tgz : 404 Not Found"),
        ("show chart OCI/web --version ^9", "could not locate a version matching provided version string ^9"),
        (
            "show chart OCI/web --version 9.9.9",
            "failed to perform \"FetchReference\" on source: HOST/charts/web:9.9.9: not found",
        ),
        (
            "show chart OCI/web:1.0.0 --version 1.2.0",
            "chart reference and version mismatch: 1.2.0 is not 1.0.0",
        ),
        (
            "template x shelf/web --verify",
            "--verify is not supported: provenance files are not checked. Verify the chart with 'helm pull --verify', and \
             name the archive",
        ),
    ] {
        assert_eq!(bench.helm(line).await, format!("Error: {expected}\n[1]\n"), "{line}");
    }
}

#[tokio::test]
async fn values_may_come_from_urls() {
    let bench = Bench::new().await;
    bench.shelf.put("/values.yaml", "size: 7\n");
    let url = format!("http://{}/values.yaml", bench.shelf.host);
    let chart = "REPO/web-1.0.0.tgz";
    assert_eq!(bench.helm(&format!("template x {chart} -f {url}")).await, web("x", "1.0.0", "7"));
    bench.shelf.put("/size", "8");
    let size = format!("http://{}/size", bench.shelf.host);
    assert_eq!(
        bench.helm(&format!("template x {chart} --set-file size={size}")).await,
        web("x", "1.0.0", "8")
    );
    assert_eq!(
        bench.helm(&format!("template x {chart} -f REPO/none.yaml")).await,
        "Error: failed to fetch REPO/none.yaml : 404 Not Found\n[1]\n"
    );
    assert_eq!(
        bench.helm(&format!("template x {chart} --set-file a=REPO/none.yaml")).await,
        "Error: failed parsing --set-file data: failed to fetch REPO/none.yaml : 404 Not Found\n[1]\n"
    );
}

#[tokio::test]
async fn a_name_may_be_made_by_a_template() {
    let bench = Bench::new().await;
    let chart = format!("{}/web-1.0.0.tgz", bench.repository());
    let named = async |template: &str| bench.run(&["template", "--name-template", template, &chart]).await;
    assert_eq!(named("a-{{ \"B\" | lower }}").await, web("a-b", "1.0.0", "1"));
    assert_eq!(named("{{").await, "Error: template: name-template:1: unclosed action\n[1]\n");
    assert_eq!(
        bench.run(&["template", "--name-template", "x", "y", &chart]).await,
        "Error: cannot set --name-template and also specify a name\n[1]\n"
    );
    assert_eq!(bench.run(&["template", "-g", &chart]).await, web("release-name", "1.0.0", "1"));
}

#[tokio::test]
async fn missing_dependencies_are_brought_on_request() {
    let bench = Bench::new().await;
    bench.name_repository("shelf");
    bench.chart(&[("web", "^1", "REPO")]);
    let missing = bench.helm("template x app").await;
    assert!(missing.contains("found in Chart.yaml, but missing in charts/ directory: web\n"), "{missing}");
    let rendered = web("x", "1.2.0", "1").replace("web/templates", "app/charts/web/templates");
    let told = bench.helm("template x app --dependency-update").await;
    assert!(told.starts_with("Hang tight"), "{told}");
    assert!(told.ends_with(&format!("Deleting outdated charts\n{rendered}")), "{told}");
    assert_eq!(bench.helm("template x app --dependency-update").await, rendered);
}

#[tokio::test]
async fn every_flag_of_helm_template_is_known() {
    let bench = Bench::new().await;
    let flags = "--create-namespace --description x --disable-openapi-validation --dry-run=client --enable-dns \
                 --force-conflicts --labels a=b,c=d --replace --rollback-on-failure --server-side=false --take-ownership \
                 --timeout 5m --wait=legacy --wait-for-jobs --skip-crds --burst-limit 5 --qps 2 --color never \
                 --repository-cache cache --content-cache content";
    let kept = format!("template x web --repo REPO --version 1.0.0 {flags}");
    assert_eq!(bench.helm(&kept).await, web("x", "1.0.0", "1"));
    assert!(bench.files("content").starts_with("lynceus/charts/"), "{}", bench.files("."));
    let chart = "REPO/web-1.0.0.tgz";
    for (flag, expected) in [
        ("--dry-run=none", "invalid dry-run value (\"none\"). Must be \"server\" or \"client\""),
        ("--dry-run=no", "invalid dry-run value (\"no\"). Must be \"none\", \"server\", or \"client\""),
        (
            "--post-renderer x",
            "--post-renderer is not supported: a post-renderer is a program, and none is run",
        ),
        ("more y", "expected at most two arguments, unexpected arguments: more, y"),
        (
            "--wait=foo",
            "invalid argument \"foo\" for \"--wait\" flag: invalid wait input \"foo\". Valid inputs are watcher, \
             hookOnly, and legacy",
        ),
    ] {
        let told = bench.helm(&format!("template x {chart} {flag}")).await;
        assert_eq!(told, format!("Error: {expected}\n[1]\n"), "{flag}");
    }
    let unreachable = bench.helm(&format!("template x {chart} --dry-run=server --kubeconfig nowhere")).await;
    let words = "Error: cluster reachability check failed: kubernetes cluster unreachable: ";
    assert!(unreachable.starts_with(words) && unreachable.ends_with("[1]\n"), "{unreachable}");
}

#[tokio::test]
async fn an_application_is_rendered_as_the_controller_would_wherever_its_chart_is() {
    let bench = Bench::new().await;
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\ndata:\n  size: {{ .Values.size \
                  | quote }}\n  team: {{ .Values.team }}\n";
    let about = "apiVersion: v2\nname: shop\nversion: 1.0.0\n";
    let files =
        [("Chart.yaml", about), ("values.yaml", "size: 1\nteam: nobody\n"), ("templates/a.yaml", config)];
    bench.shelf.publish("shop", "1.0.0", &files);
    bench.write("checkout/values/prod.yaml", "size: 3\n");
    bench.write(
        "app.yaml",
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: prod\nspec:\n  project: default\n  \
         destination: {namespace: shop}\n  sources:\n  - repoURL: REPO\n    chart: shop\n    targetRevision: ^1\n    \
         helm:\n      valueFiles: [$here/values/prod.yaml]\n      parameters: [{name: team, value: shop}]\n  - repoURL: \
         https://git.example.com/shop.git\n    ref: here\n",
    );
    assert_eq!(
        bench.lynceus(&["render", "checkout", "--app", "app.yaml"]).await,
        "apiVersion: v1\ndata:\n  size: \"3\"\n  team: shop\nkind: ConfigMap\nmetadata:\n  name: prod\n"
    );
    let why = bench
        .lynceus(&["render", "checkout", "--app", "app.yaml", "--explain", "configmap/prod:data.size"])
        .await;
    assert!(why.contains("shop/templates/a.yaml:6:") && why.contains("values/prod.yaml"), "{why}");
}

#[tokio::test]
async fn a_chart_that_is_deprecated_says_so_beside_its_manifests() {
    let bench = Bench::new().await;
    bench.write("old/Chart.yaml", "apiVersion: v2\nname: old\nversion: 1.0.0\ndeprecated: true\n");
    bench.write("old/templates/a.yaml", "name: a\n");
    let told = bench.helm("template x old").await;
    assert_eq!(
        told,
        "---\n# Source: old/templates/a.yaml\nname: a\nlevel=WARN msg=\"this chart is deprecated\"\n"
    );
}
