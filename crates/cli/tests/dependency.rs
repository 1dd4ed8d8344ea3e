//! `lynceus helm dependency` as a user types it. What is expected is what Helm 4.2.4 says to the same.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

mod support;

use support::bench::Bench;

const REFRESHED: &str = "Getting updates for unmanaged Helm repositories...\n\
                         ...Successfully got an update from the \"REPO\" chart repository\n";

const NAMED: &str = "Hang tight while we grab the latest from your chart repositories...\n\
                     ...Successfully got an update from the \"shelf\" chart repository\n\
                     Update Complete. ⎈Happy Helming!⎈\n";

#[tokio::test]
async fn versions_are_chosen_fetched_and_locked() {
    let bench = Bench::new().await;
    bench.chart(&[("web", "^1", "REPO"), ("db", "0.3.x", "REPO")]);
    let fetched = "Saving 2 charts\nDownloading web from repo REPO\nDownloading db from repo REPO\n\
                   Deleting outdated charts\n";
    assert_eq!(bench.helm("dependency update app").await, format!("{REFRESHED}{fetched}"));
    assert_eq!(bench.files("app"), "Chart.lock\nChart.yaml\ncharts/db-0.3.1.tgz\ncharts/web-1.2.0.tgz");
    let lock = bench.read("app/Chart.lock");
    let dependencies = "dependencies:\n- name: web\n  repository: REPO\n  version: 1.2.0\n- name: db\n  repository: \
                        REPO\n  version: 0.3.1\ndigest: sha256:";
    assert!(lock.starts_with(dependencies), "{lock}");
    let when = std::fs::read_to_string(bench.folder.join("app/Chart.lock")).unwrap();
    let when = when.lines().find_map(|line| line.strip_prefix("generated: ")).unwrap().trim_matches('"');
    assert!(when.len() >= "2026-01-01T00:00:00Z".len() && when.parse::<jiff::Timestamp>().is_ok(), "{when}");
    assert_eq!(
        bench.helm("dep ls app").await,
        format!(
            "NAME\tVERSION\tREPOSITORY{0}\tSTATUS\nweb \t^1     \tREPO\tok    \ndb  \t0.3.x  \tREPO\tok    \n\n",
            " ".repeat(bench.repository().len() - "REPOSITORY".len())
        )
    );
}

#[tokio::test]
async fn a_lock_that_is_still_right_is_left_alone() {
    let bench = Bench::new().await;
    bench.chart(&[("web", "1.0.0", "REPO")]);
    bench.helm("dependency update app").await;
    let before = std::fs::read(bench.folder.join("app/Chart.lock")).unwrap();
    bench.helm("dependency update --skip-refresh app").await;
    assert_eq!(std::fs::read(bench.folder.join("app/Chart.lock")).unwrap(), before);
}

#[tokio::test]
async fn what_is_locked_is_fetched_again_from_a_repository_with_a_name() {
    let bench = Bench::new().await;
    bench.chart(&[("web", "^1", "@shelf")]);
    assert_eq!(
        bench.helm("dependency update app").await,
        "Error: no repository definition for @shelf. Please add them via 'helm repo add'\n[1]\n"
    );
    bench.name_repository("shelf");
    let fetched = "Saving 1 charts\nDownloading web from repo REPO\nDeleting outdated charts\n";
    assert_eq!(bench.helm("dependency update app").await, format!("{NAMED}{fetched}"));
    std::fs::remove_dir_all(bench.folder.join("app/charts")).unwrap();
    assert_eq!(bench.helm("dependencies build app").await, format!("{NAMED}{fetched}"));
    assert_eq!(bench.helm("dependency build --skip-refresh app").await, fetched);
    assert_eq!(bench.files("app/charts"), "web-1.2.0.tgz");
    std::fs::remove_dir_all(bench.folder.join("config")).unwrap();
    bench.chart(&[("web", "^1", "REPO")]);
    bench.helm("dependency update app").await;
    assert_eq!(
        bench.helm("dependency build app").await,
        "Error: no repository definition for REPO. Please add the missing repos via 'helm repo add'\n[1]\n"
    );
}

#[tokio::test]
async fn a_lock_for_other_wishes_is_refused() {
    let bench = Bench::new().await;
    bench.chart(&[("web", "^1", "OCI")]);
    bench.helm("dependency update app").await;
    let text = bench.read("app/Chart.yaml").replace("^1", "^0");
    bench.write("app/Chart.yaml", &text);
    assert_eq!(
        bench.helm("dependency build app").await,
        "Error: the lock file (Chart.lock) is out of sync with the dependencies file (Chart.yaml). Please update the \
         dependencies with 'helm dependency update'\n[1]\n"
    );
}

#[tokio::test]
async fn charts_come_from_a_registry_too() {
    let bench = Bench::new().await;
    bench.chart(&[("web", "^1", "OCI"), ("db", "0.3.1", "OCI")]);
    let told = bench.helm("dependency update --plain-http app").await;
    let lines: Vec<&str> = told.lines().map(|line| line.split(" sha256:").next().unwrap()).collect();
    assert_eq!(
        lines,
        [
            "Saving 2 charts",
            "Downloading web from repo OCI",
            "Pulled: HOST/charts/web:1.2.0",
            "Digest:",
            "Downloading db from repo OCI",
            "Pulled: HOST/charts/db:0.3.1",
            "Digest:",
            "Deleting outdated charts",
        ]
    );
    assert_eq!(bench.files("app/charts"), "db-0.3.1.tgz\nweb-1.2.0.tgz");
    bench.chart(&[("web", "^7", "OCI")]);
    let missing =
        "could not download OCI/web: could not locate a version matching provided version string ^7";
    assert_eq!(
        bench.helm("dependency update app").await,
        format!(
            "Saving 1 charts\nDownloading web from repo OCI\nSave error occurred:  {missing}\nError: {missing}\n[1]\n"
        )
    );
    assert_eq!(bench.files("app"), "Chart.yaml", "nothing is left behind");
    bench.chart(&[("web", "7.0.0", "OCI")]);
    let told = bench.helm("dependency update app").await;
    let missing = "failed to perform \"FetchReference\" on source: HOST/charts/web:7.0.0: not found";
    assert!(told.ends_with(&format!("Error: could not download OCI/web: {missing}\n[1]\n")), "{told}");
}

#[tokio::test]
async fn what_cannot_be_had_is_told_in_helms_words() {
    let bench = Bench::new().await;
    bench.write("lib/Chart.yaml", "apiVersion: v2\nname: lib\nversion: 1.4.0\n");
    let no_version = |list: &str, count: usize| {
        format!(
            "can't get a valid version for {count} subchart(s): {list}. Make sure a matching chart version exists in the \
             repo, or change the version constraint in Chart.yaml"
        )
    };
    for (asked, before, expected) in [
        (vec![("nope", "^1", "REPO")], REFRESHED, "nope chart not found in repo REPO".to_owned()),
        (
            vec![("web", "^7", "REPO"), ("db", ">9", "REPO")],
            REFRESHED,
            no_version(
                "\"web\" (repository \"REPO\", version \"^7\"), \"db\" (repository \"REPO\", version \">9\")",
                2,
            ),
        ),
        (
            vec![("web", "one", "REPO")],
            REFRESHED,
            "dependency \"web\" has an invalid version/constraint format: improper constraint: \"one\"".to_owned(),
        ),
        (vec![("x", "^1", "file://../nowhere")], "", "directory nowhere not found".to_owned()),
        (
            vec![("lib", "^2", "file://../lib")],
            "",
            no_version("\"lib\" (repository \"file://../lib\", version \"^2\")", 1),
        ),
        (vec![("lib", "^1", "")], "", "directory app/charts/lib not found".to_owned()),
        (
            vec![("web", "^1", "stable")],
            "",
            "no repository definition for stable. Please add them via 'helm repo add'\nNote that repositories must be \
             URLs or aliases. For example, to refer to the \"example\"\nrepository, use \
             \"https://charts.example.com/\" or \"@example\" instead of\n\"example\". Don't forget to add the repo, too \
             ('helm repo add')."
                .to_owned(),
        ),
    ] {
        bench.chart(&asked);
        assert_eq!(bench.helm("dependency update app").await, format!("{before}Error: {expected}\n[1]\n"));
        assert_eq!(bench.files("app"), "Chart.yaml", "{asked:?}");
    }
    assert_eq!(
        bench.helm("dependency update nowhere").await,
        "Error: could not find nowhere: stat nowhere: no such file or directory\n[1]\n"
    );
    assert_eq!(
        bench.helm("dependency update app/Chart.yaml").await,
        "Error: only unpacked charts can be updated\n[1]\n"
    );
    let refused = bench.helm("dependency build app --verify").await;
    assert!(
        refused.starts_with("Error: --verify is not supported: provenance files are not checked"),
        "{refused}"
    );
}

#[tokio::test]
async fn charts_of_this_machine_are_packed_or_stay_where_they_are() {
    let bench = Bench::new().await;
    bench.write("lib/Chart.yaml", "version: 1.4.0\nname: lib\napiVersion: v2\n");
    bench.write("lib/templates/_a.tpl", "{{- define \"a\" }}a{{ end }}");
    bench.chart(&[("lib", "^1", "file://../lib"), ("own", ">=1", "")]);
    bench.write("app/charts/own/Chart.yaml", "apiVersion: v2\nname: own\nversion: 1.0.0\n");
    assert_eq!(
        bench.helm("dependency update app").await,
        "Saving 2 charts\nDependency own did not declare a repository. Assuming it exists in the charts directory\n\
         Deleting outdated charts\n"
    );
    assert_eq!(bench.files("app/charts"), "lib-1.4.0.tgz\nown/Chart.yaml");
    assert_eq!(
        bench.helm("dependency list app").await,
        "NAME\tVERSION\tREPOSITORY   \tSTATUS  \nlib \t^1     \tfile://../lib\tok      \nown \t>=1    \t             \t\
         unpacked\n\n"
    );
    let packed = std::fs::read(bench.folder.join("app/charts/lib-1.4.0.tgz")).unwrap();
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&packed[..]));
    let names: Vec<String> = archive
        .entries()
        .unwrap()
        .map(|entry| entry.unwrap().path().unwrap().display().to_string())
        .collect();
    assert_eq!(names, ["lib/Chart.yaml", "lib/templates/_a.tpl"]);
}

#[tokio::test]
async fn archives_that_nobody_asks_for_any_more_are_removed() {
    let bench = Bench::new().await;
    bench.chart(&[("web", "1.0.0", "REPO"), ("db", "0.3.1", "REPO")]);
    bench.helm("dependency update app").await;
    let kept = bench.read("app/Chart.yaml").replace("1.0.0", "1.2.0");
    bench.write("app/Chart.yaml", kept.split("- name: db").next().unwrap());
    assert_eq!(
        bench.helm("dependency list app --max-col-width 6").await,
        "NAME\tVER...\tREP...\tSTATUS\nweb \t1.2.0 \thtt...\twro...\n\nWARNING: \"app/charts/db-0.3.1.tgz\" is not in \
         Chart.yaml.\n"
    );
    bench.helm("dependency update app").await;
    assert_eq!(bench.files("app/charts"), "web-1.2.0.tgz");
    bench.chart(&[]);
    assert_eq!(bench.helm("dependency list app").await, "WARNING: no dependencies at app/charts\n");
    assert_eq!(bench.helm("dependency update app").await, "");
}

#[tokio::test]
async fn a_chart_of_the_first_kind_has_its_lock_in_another_file() {
    let bench = Bench::new().await;
    bench.write("app/Chart.yaml", "apiVersion: v1\nname: app\nversion: 0.1.0\n");
    bench.write("app/requirements.yaml", "dependencies:\n- name: web\n  version: 1.0.0\n  repository: OCI\n");
    bench.helm("dependency update app").await;
    assert_eq!(bench.files("app"), "Chart.yaml\ncharts/web-1.0.0.tgz\nrequirements.lock\nrequirements.yaml");
    assert!(bench.helm("dependency build app").await.ends_with("Deleting outdated charts\n"));
    let lock = bench.read("app/requirements.lock").replace("sha256:", "sha256:x");
    bench.write("app/requirements.lock", &lock);
    assert_eq!(
        bench.helm("dependency build app").await,
        "Error: the lock file (requirements.lock) is out of sync with the dependencies file (requirements.yaml). Please \
         update the dependencies\n[1]\n"
    );
}

#[tokio::test]
async fn one_chart_by_two_names_is_fetched_once() {
    let bench = Bench::new().await;
    bench.name_repository("shelf");
    bench.chart(&[("web", "1.2.0", "REPO"), ("web", "1.2.0", "REPO")]);
    let text = format!("{}  alias: other\n", bench.read("app/Chart.yaml"));
    bench.write("app/Chart.yaml", &text);
    let told = bench.helm("dependency update app").await;
    assert!(
        told.contains("Downloading web from repo REPO\nAlready downloaded web from repo REPO\n"),
        "{told}"
    );
    assert_eq!(bench.files("app/charts"), "web-1.2.0.tgz");
}
