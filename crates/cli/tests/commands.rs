//! Argo CD's commands as a user types them: against the server of a running `lynceus up`, and with its kubeconfig alone.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

mod support;

use std::process::Output;

use support::{Home, Up, until};

/// A server, and somebody who has logged in to it.
struct Shop {
    home: Home,
    address: String,
    password: String,
    up: Up,
}

impl Shop {
    async fn open() -> Self {
        let home = Home::new();
        let config = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  key: one\n";
        home.commit(&[("app/a.yaml", config.to_owned())]);
        // Free a moment ago, which has to do: the program wants to be told.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let address = format!("127.0.0.1:{port}");
        let up = home.up(&["--listen", &address]).await;
        let file = home.folder.join("data/password");
        let password = until("the password", async || std::fs::read_to_string(&file).ok()).await;
        Shop { home, address, password: password.trim().to_owned(), up }
    }

    async fn logged_in() -> Self {
        let shop = Shop::open().await;
        let said = shop.feed(&format!("login {} --plaintext --username admin", shop.address), &shop.password);
        assert_eq!(said, "'admin' logged in successfully\nContext 'SERVER' updated\n");
        shop
    }

    fn words<'l>(&'l self, line: &'l str) -> Vec<&'l str> {
        line.split(' ').map(|word| if word == "SERVER" { self.address.as_str() } else { word }).collect()
    }

    fn told(&self, output: Output) -> String {
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let text = text.replace(&self.address, "SERVER").replace(self.home.folder.to_str().unwrap(), "HOME");
        assert!(!text.contains(&self.password), "{text}");
        match output.status.code() {
            Some(0) => text,
            code => format!("{text}[{}]\n", code.unwrap_or(-1)),
        }
    }

    /// What a command says, with its exit code if that is not 0.
    fn says(&self, line: &str) -> String {
        self.told(self.home.run(&self.words(line)))
    }

    /// The same for one that reads a text.
    fn feed(&self, line: &str, input: &str) -> String {
        self.told(self.home.feed(&self.words(line), input))
    }

    /// The same with a file.
    fn with(&self, file: &str, text: &str, line: &str) -> String {
        std::fs::write(self.home.folder.join(file), text).unwrap();
        self.says(line)
    }

    /// Plays lines of `$ command` and what it says, and compares.
    fn plays(&self, script: &str) {
        for step in script.trim_start_matches('\n').split("$ ").skip(1) {
            let (line, expected) = step.split_once('\n').unwrap();
            assert_eq!(self.says(line), expected, "$ {line}");
        }
    }
}

#[tokio::test]
async fn a_login_is_kept_used_and_forgotten() {
    let shop = Shop::open().await;
    let login = "login SERVER --plaintext --username admin";
    let wrong = shop.feed(login, "not-the-password");
    assert!(
        wrong.starts_with("error: cannot log in\n  caused by: Invalid username or password\n"),
        "{wrong}"
    );
    assert!(!wrong.contains("not-the-password"), "{wrong}");
    assert!(shop.says("context").starts_with("No local configuration found\n[1]"));
    assert!(shop.says("account get-user-info --server SERVER --plaintext").contains("Logged In: false"));
    assert_eq!(
        shop.feed(login, &shop.password),
        "'admin' logged in successfully\nContext 'SERVER' updated\n"
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(shop.home.folder.join("logins/config")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    shop.plays(
        "
$ account get-user-info
Logged In: true
Username: admin
Issuer: argocd
Groups: 
$ account can-i sync applications */*
yes
$ account can-i update clusters *
yes
$ account list
NAME   ENABLED  CAPABILITIES
admin  true     login
$ context
CURRENT  NAME             SERVER
*        SERVER  SERVER
$ context SERVER
Already at context 'SERVER'
$ configure --prompts-enabled
Successfully updated the following configuration settings:
prompts-enabled: true
$ configure
Successfully updated the following configuration settings:
prompts-enabled: false
"
        .replace("NAME             SERVER", &format!("NAME{}SERVER", " ".repeat(shop.address.len() - 2)))
        .as_str(),
    );
    let version = shop.says("version --short");
    assert!(version.starts_with("lynceus: v") && version.contains("\nargocd-server: v"), "{version}");
    let token = shop.says("account session-token");
    assert_eq!(token.trim().split('.').count(), 3);
    // What the session was is worth nothing once it has ended, and no error repeats it.
    assert_eq!(shop.says("logout SERVER"), "Logged out from 'SERVER'\n");
    assert_eq!(shop.says("logout SERVER"), "Already logged out from 'SERVER'\n");
    let refused = shop.says(&format!("proj list --server SERVER --plaintext --auth-token {}", token.trim()));
    assert!(refused.contains("lynceus relogin") && refused.ends_with("[20]\n"), "{refused}");
    assert!(!refused.contains(token.trim()), "{refused}");
    assert_eq!(shop.says("context SERVER --delete"), "Context 'SERVER' deleted\n");
    assert!(shop.says("context SERVER").starts_with("error: context SERVER does not exist\n"));
    shop.up.kill();
}

#[tokio::test]
async fn passwords_and_keys_are_changed() {
    let shop = Shop::logged_in().await;
    let (old, new) = (shop.password.clone(), "a-new-password");
    let change =
        shop.home.run(&["account", "update-password", "--current-password", &old, "--new-password", new]);
    assert_eq!(shop.told(change), "Password updated\nContext 'SERVER' updated\n");
    assert!(shop.says("account get-user-info").contains("Username: admin\n"));
    let relogin = shop.home.feed(&["relogin"], new);
    assert_eq!(shop.told(relogin), "Relogging in as 'admin'\nContext 'SERVER' updated\n");
    let short =
        shop.home.run(&["account", "update-password", "--current-password", new, "--new-password", "x"]);
    let short = shop.told(short);
    assert!(short.contains("new password does not match the following expression: ^.{8,32}$"), "{short}");
    let none = shop.says("account generate-token");
    assert!(none.contains("account 'admin' does not have apiKey capability"), "{none}");
    let hash = shop.feed("account bcrypt", "hush");
    assert!(hash.starts_with("$2a$10$") || hash.starts_with("$2b$10$"), "{hash}");
    assert_eq!(shop.says("account get").lines().next(), Some("Name:               admin"));
    let missing = shop.says("account get --account nobody");
    assert!(missing.starts_with("error: cannot read account nobody\n"), "{missing}");
    shop.up.kill();
}

const PROJECTS: &str = "
$ proj create shop --src https://a/b.git --dest https://kubernetes.default.svc,shop --description Shop
$ proj list -o name
default
shop
$ proj add-source shop https://c/d.git
$ proj add-source shop https://c/d.git
Source repository 'https://c/d.git' already allowed in project
$ proj remove-source shop https://a/b.git
$ proj remove-source shop https://a/b.git
Source repository 'https://a/b.git' does not exist in project
$ proj add-destination shop https://kubernetes.default.svc other
$ proj add-destination shop https://kubernetes.default.svc other
error: Specified destination is already defined in project
[1]
$ proj remove-destination shop https://kubernetes.default.svc other
$ proj add-destination-service-account shop https://kubernetes.default.svc shop deployer
$ proj remove-destination-service-account shop https://kubernetes.default.svc shop deployer
$ proj add-orphaned-ignore shop apps Deployment --name a*
$ proj remove-orphaned-ignore shop apps Deployment --name a*
$ proj add-signature-key shop 4AEE18F83AFDEB23
$ proj remove-signature-key shop 4AEE18F83AFDEB23
$ proj add-source-namespace shop team-a
$ proj remove-source-namespace shop team-a
$ proj allow-cluster-resource shop rbac.authorization.k8s.io ClusterRole
Group 'rbac.authorization.k8s.io', kind 'ClusterRole', and name '' is added to allowed cluster resources
$ proj deny-cluster-resource shop rbac.authorization.k8s.io ClusterRole
Group 'rbac.authorization.k8s.io', kind 'ClusterRole', and name '' is removed from allowed cluster resources
$ proj deny-namespace-resource shop  Secret
Group '' and kind 'Secret' is added to denied namespaced resources
$ proj allow-namespace-resource shop  Secret
Group '' and kind 'Secret' is removed from denied namespaced resources
$ proj set shop --description Better
$ proj set shop
error: Please set at least one option to update
  hint: see them with `lynceus proj set --help`
[20]
$ proj role create shop ci --description CI
Role 'ci' created
$ proj role create shop ci
Role 'ci' already exists
$ proj role add-policy shop ci --action get --object *
$ proj role add-group shop ci devs
Group 'devs' added to role 'ci'
$ proj role list shop
ROLE-NAME  DESCRIPTION
ci         CI
$ proj role remove-policy shop ci --action get --object *
$ proj role remove-group shop ci devs
Group 'devs' removed from role 'ci'
$ proj role list-tokens shop ci
No tokens for shop.ci
$ proj windows delete shop 3
error: window with id '3' not found
  hint: see which there are:
        lynceus proj windows list shop
[20]
$ proj source-integrity git policies add shop --gpg-mode strict --gpg-key 4AEE18F83AFDEB23 --repo-url https://a/*
$ proj source-integrity git policies list shop
ID  GPG-MODE  GPG-KEYS          REPO-URLS
0   strict    4AEE18F83AFDEB23  https://a/*
$ proj source-integrity git policies update shop 0 --gpg-mode head --add-repo-url https://b/* --yes
$ proj source-integrity git policies list shop
ID  GPG-MODE  GPG-KEYS          REPO-URLS
0   head      4AEE18F83AFDEB23  https://a/*, https://b/*
$ proj source-integrity git policies delete shop 0 --yes
$ proj source-integrity git policies list shop
No Git policies in project 'shop'
$ proj get shop
Name:                        shop
Description:                 Better
Destinations:                https://kubernetes.default.svc,shop
Repositories:                https://c/d.git
Source Namespaces:           <none>
Scoped Repositories:         <none>
Allowed Cluster Resources:   <none>
Scoped Clusters:             <none>
Denied Namespaced Resources: <none>
Signature keys:              <none>
Orphaned Resources:          enabled (warn=false)
$ proj edit shop
error: no editor is started here
  hint: write the project to a file, edit it, and give it back:
        lynceus proj get shop -o yaml > project.yaml
        lynceus proj edit shop --file project.yaml
[20]
$ proj get nowhere
error: cannot read project nowhere
  caused by: appprojects.argoproj.io \"nowhere\" not found
[20]
";

#[tokio::test]
async fn projects_are_changed_by_a_server() {
    let shop = Shop::logged_in().await;
    shop.plays(PROJECTS);
    let window = "proj windows add shop --kind allow --schedule SCHEDULE --duration 1h --applications *";
    let words: Vec<&str> =
        window.split(' ').map(|word| if word == "SCHEDULE" { "* * * * *" } else { word }).collect();
    assert_eq!(shop.told(shop.home.run(&words)), "");
    shop.plays(
        "
$ proj windows enable-manual-sync shop 0
$ proj windows enable-sync-overrun shop 0
$ proj windows update shop 0 --duration 2h
$ proj windows list shop
ID  STATUS  KIND   SCHEDULE   DURATION  APPLICATIONS  NAMESPACES  CLUSTERS  MANUALSYNC  SYNCOVERRUN  TIMEZONE  USEANDOPERATOR
0   Active  allow  * * * * *  2h        *             -           -         Enabled     Enabled      UTC       Disabled
$ proj windows disable-manual-sync shop 0
$ proj windows disable-sync-overrun shop 0
$ proj windows delete shop 0
",
    );
    let token = shop.says("proj role create-token shop ci --token-only --expires-in 1h");
    assert_eq!(token.trim().split('.').count(), 3, "{token}");
    let listed = shop.says("proj role list-tokens shop ci --unixtime");
    let issued = listed.lines().nth(1).unwrap().split_whitespace().nth(1).unwrap().to_owned();
    assert_eq!(shop.says(&format!("proj role delete-token shop ci {issued}")), "");
    assert!(shop.says("proj role get shop ci").contains("p, proj:shop:ci, projects, get, shop, allow\n"));
    shop.plays(
        "$ proj role delete shop ci\nRole 'ci' deleted\n$ proj delete shop\n$ proj list -o name\ndefault\n",
    );
    shop.up.kill();
}

#[tokio::test]
async fn projects_are_changed_with_a_kubeconfig_alone() {
    let home = Home::new();
    let up = home.up(&[]).await;
    home.commit(&[("a.yaml", "{}".to_owned())]);
    let run = |line: &str| {
        let words: Vec<&str> = line.split(' ').chain(["--kubeconfig", "data/kubeconfig"]).collect();
        let output = home.run(&words);
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    assert_eq!(run("proj create shop --src https://a/b.git"), "");
    assert_eq!(run("proj list -o name"), "default\nshop\n");
    assert!(
        run("cluster list").contains("https://kubernetes.default.svc  in-cluster"),
        "{}",
        run("cluster list")
    );
    assert_eq!(run("account get-user-info"), "Logged In: false\n");
    let password = std::fs::read_to_string(home.folder.join("data/password")).unwrap();
    assert!(run("admin initial-password").starts_with(&password));
    assert_eq!(run("admin settings rbac validate"), "Policy is valid.\n");
    assert_eq!(run("admin settings validate"), "Settings are valid.\n");
    let url = format!("file://{}", home.folder.join("repository").display());
    for line in [
        &*format!("repo add {url}"),
        "repocreds add https://git.example.com --username me --password hush",
        "proj create shop",
    ] {
        let said = run(&format!("{line} --argocd-namespace elsewhere"));
        assert!(said.contains("caused by: the cluster has no namespace elsewhere\n"), "{line}: {said}");
        assert!(said.contains("lynceus install --namespace elsewhere | kubectl apply -f -\n"), "{said}");
        assert!(!said.contains("hush"), "{said}");
    }
    up.kill();
}

#[tokio::test]
async fn repositories_certificates_and_clusters_are_changed() {
    let shop = Shop::logged_in().await;
    let url = format!("file://{}", shop.home.folder.join("repository").display());
    let added = shop.says(&format!("repo add {url} --name shelf"));
    assert_eq!(added, "Repository 'file://HOME/repository' added\n");
    let listed = shop.says("repo list");
    assert!(
        listed.contains("git   shelf  file://HOME/repository  false     false  false  false  Successful"),
        "{listed}"
    );
    assert_eq!(shop.says("repo list -o url"), "file://HOME/repository\n");
    assert!(shop.says(&format!("repo get {url} -o yaml")).contains("name: shelf\n"));
    assert_eq!(shop.says(&format!("repo rm {url}")), "Repository 'file://HOME/repository' removed\n");
    let refused = shop.says("repo add https://127.0.0.1:1/x.git --username me --password hush-hush");
    assert!(refused.starts_with("error: cannot add repository https://127.0.0.1:1/x.git\n"), "{refused}");
    assert!(!refused.contains("hush-hush"), "{refused}");
    let helm = shop.says("repo add https://charts.example.com --type helm");
    assert_eq!(helm, "error: Must specify --name for repos of type 'helm'\n[20]\n");
    shop.plays(
        "
$ repocreds add https://git.example.com --username me --password hush
Repository credentials for 'https://git.example.com' added
$ repocreds list
URL PATTERN              USERNAME  SSH_CREDS  TLS_CREDS
https://git.example.com  me        false      false
$ repocreds rm https://git.example.com
Repository credentials for 'https://git.example.com' removed
$ cluster get in-cluster -o server
https://kubernetes.default.svc
$ cluster set in-cluster
error: Specify the cluster field to be updated.
  hint: --name, --namespace, --label or --annotation
[20]
$ cert add-ssh
error: --batch is missing
  hint: ssh-keyscan HOST | lynceus cert add-ssh --batch
[20]
$ gpg list
KEYID  TYPE  IDENTITY
",
    );
    let key =
        "git.example.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl";
    let added = shop.feed("cert add-ssh --batch", &format!("# a comment\n{key}\n"));
    assert_eq!(added, "Successfully created 1 SSH known host entries\n");
    let listed = shop.says("cert list --hostname-pattern git.example.com");
    assert!(listed.contains("git.example.com  ssh   ssh-ed25519  SHA256:"), "{listed}");
    let removed = shop.says("cert rm git.example.com");
    assert_eq!(removed, "Removed cert for 'git.example.com' of type 'ssh' (subtype 'ssh-ed25519')\n");
    let bad = shop.feed("cert add-tls git.example.com", "hello");
    assert!(bad.starts_with("error: No valid certificates have been detected in the stream."), "{bad}");
    let bad = shop.with("key.asc", "no key", "gpg add --from key.asc");
    assert!(bad.starts_with("error: cannot add the keys\n"), "{bad}");
    shop.up.kill();
}

#[tokio::test]
async fn an_installation_is_written_down_and_read_back() {
    let shop = Shop::logged_in().await;
    shop.says("proj create store --description before");
    let said = shop.says("admin export --out backup.yaml --kubeconfig data/kubeconfig");
    assert!(said.ends_with("objects are in backup.yaml, which holds passwords and keys\n"), "{said}");
    let same = shop.says("admin import backup.yaml --kubeconfig data/kubeconfig");
    assert!(same.ends_with("objects were as in the file already\n") && !same.contains("updated"), "{same}");
    shop.says("proj set store --description after");
    shop.says("proj create other");
    let trial = shop.says("admin import backup.yaml --prune --dry-run --kubeconfig data/kubeconfig");
    assert!(
        trial.contains("argoproj.io/AppProject store in namespace argocd updated (dry run)\n"),
        "{trial}"
    );
    assert!(trial.contains("argoproj.io/AppProject other in namespace argocd pruned (dry run)\n"), "{trial}");
    assert!(shop.says("proj list").contains("after"));
    shop.says("admin import backup.yaml --prune --kubeconfig data/kubeconfig");
    let projects = shop.says("proj list");
    assert!(projects.contains("before") && !projects.contains("other"), "{projects}");
    // Applications elsewhere are found by patterns of namespaces.
    let elsewhere = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: far, namespace: default}\n\
        spec: {project: default, source: {repoURL: 'file:///none', path: a}, destination: {namespace: default}}\n";
    let made = shop.with("far.yaml", elsewhere, "admin import far.yaml --kubeconfig data/kubeconfig");
    assert!(made.contains("argoproj.io/Application far in namespace default created\n"), "{made}");
    assert!(!shop.says("admin export --kubeconfig data/kubeconfig").contains("name: far"));
    let all = shop.says("admin export --application-namespaces def* --kubeconfig data/kubeconfig");
    assert!(all.contains("name: far"), "{all}");
    shop.up.kill();
}

#[tokio::test]
async fn a_cluster_of_a_kubeconfig_is_added() {
    let shop = Shop::logged_in().await;
    let added = shop.says(
        "cluster add lynceus --kubeconfig data/kubeconfig --argocd-context SERVER --name east --label a=b",
    );
    assert!(added.starts_with("Cluster 'https://127.0.0.1:") && added.ends_with("' added\n"), "{added}");
    let listed = shop.says("cluster list");
    assert!(listed.contains("  east  "), "{listed}");
    assert_eq!(shop.says("cluster set east --name west"), "Cluster 'east' updated.\n");
    assert!(shop.says("cluster get west").contains("a: b\n"));
    let rotated = shop.says("cluster rotate-auth west");
    assert!(rotated.contains("lynceus cluster add CONTEXT --upsert"), "{rotated}");
    assert_eq!(shop.says("cluster rm west"), "Cluster 'west' removed\n");
    shop.up.kill();
}

#[tokio::test]
async fn an_application_is_created_changed_and_synced_by_a_server() {
    let shop = Shop::logged_in().await;
    let url = format!("file://{}", shop.home.folder.join("repository").display());
    let create = format!(
        "app create shop --repo {url} --path app --revision main --dest-server https://kubernetes.default.svc --dest-namespace default"
    );
    assert_eq!(shop.says(&create), "application 'shop' created\n");
    let synced = shop.says("app sync shop --timeout 100");
    assert!(synced.contains("Message:            successfully synced (all tasks run)\n"), "{synced}");
    let waited = shop.says("app wait shop --timeout 100");
    assert!(waited.contains("Sync Status:        Synced"), "{waited}");
    assert!(shop.says("app list -o name").ends_with("/shop\n"));
    assert!(shop.says("app get shop").contains("ConfigMap"));
    assert!(shop.says("app history shop").contains("main"));
    assert!(shop.says("app resources shop").contains("ConfigMap"));
    assert!(shop.says("app manifests shop").contains("key: one\n"));
    assert!(shop.says("app manifests shop --source live").contains("key: one\n"));
    assert_eq!(shop.says("app diff shop"), "");
    assert!(shop.says("app actions list shop").starts_with("GROUP  KIND  NAME  ACTION  DISABLED\n"));
    let field =
        shop.says("app get-resource shop --kind ConfigMap --resource-name a --filter-fields data.key");
    assert_eq!(field, "FIELD     VALUE\ndata.key  one\n");
    let patch =
        r#"app patch-resource shop --kind ConfigMap --resource-name a --patch {"data":{"key":"two"}}"#;
    assert_eq!(shop.says(patch), "Resource 'a' patched\n");
    let differs = shop.says("app get shop --hard-refresh");
    assert!(differs.contains("OutOfSync"), "{differs}");
    let diff = shop.says("app diff shop");
    assert!(diff.contains("key: two") && diff.contains("key: one") && diff.ends_with("[1]\n"), "{diff}");
    assert_eq!(
        shop.says("app set shop --validate=false --helm-set a=b --sync-option CreateNamespace=true"),
        ""
    );
    assert!(shop.says("app get shop -o yaml").contains("- CreateNamespace=true"));
    assert_eq!(shop.says("app unset shop -p a"), "");
    assert!(shop.says("app unset shop -p a").starts_with("error: nothing of what is named is set\n"));
    let patched = shop.says(r#"app patch shop --type merge --patch {"metadata":{"labels":{"team":"shop"}}}"#);
    assert!(patched.contains("team: shop\n"), "{patched}");
    assert!(shop.says("app list -l team=shop -o name").ends_with("/shop\n"));
    assert!(
        shop.says("app add-source shop --repo x --path y").contains("does not have spec.sources defined")
    );
    assert!(shop.says("app remove-source shop").contains("does not have multiple sources"));
    assert!(shop.says("app edit shop").contains("no editor is started here"));
    assert!(shop.says("app terminate-op shop").contains("unable to terminate operation"));
    assert!(shop.says("app logs shop").contains("[20]") || shop.says("app logs shop").is_empty());
    let none = shop.says("app delete-resource shop --kind Pod --resource-name x");
    assert!(none.starts_with("error: No matching resource found\n"), "{none}");
    assert!(shop.says("app tree shop").contains("add --core"));
    assert!(shop.says("app wait nowhere --delete").ends_with("[20]\n"));
    assert_eq!(shop.says("app confirm-deletion shop"), "Application 'shop' updated successfully\n");
    assert_eq!(shop.says("app delete shop --yes --wait"), "application 'shop' deleted\n");
    let gone = shop.says("app get shop");
    assert!(gone.ends_with("[20]\n"), "{gone}");
    shop.up.kill();
}

/// What needs neither server nor cluster, and what happens where there is none.
#[test]
fn without_a_server_errors_say_what_to_do() {
    let home = Home::new();
    std::fs::create_dir_all(&home.folder).unwrap();
    let says = |line: &str| {
        let output = home.run(&line.split(' ').collect::<Vec<_>>());
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        format!("{text}[{}]", output.status.code().unwrap_or(-1))
    };
    let nobody = says("proj list --server 127.0.0.1:1 --plaintext --auth-token a.b.c");
    assert!(
        nobody.contains("caused by: 127.0.0.1:1 cannot be reached") && nobody.ends_with("[20]"),
        "{nobody}"
    );
    assert!(nobody.contains("--core goes to the cluster instead"), "{nobody}");
    assert!(!nobody.contains("a.b.c"), "{nobody}");
    let before = says("--server 127.0.0.1:1 --plaintext proj list");
    assert!(before.contains("127.0.0.1:1 cannot be reached"), "{before}");
    let header = says("proj list --server 127.0.0.1:1 --header hush");
    assert!(header.contains("--header has no colon") && !header.contains("hush"), "{header}");
    let logins = home.folder.join("logins");
    std::fs::create_dir_all(&logins).unwrap();
    std::fs::write(logins.join("config"), "users: [{name: a, auth-token: t0p-secret\n").unwrap();
    let garbled = says("proj list");
    assert!(garbled.contains("it is no file of logins") && !garbled.contains("t0p-secret"), "{garbled}");
    std::fs::write(logins.join("config"), "current-context: gone\n").unwrap();
    assert!(says("proj list").contains("context gone is not in"), "{}", says("proj list"));
    for (line, expected) in [
        ("admin dashboard --port 1", "lynceus has no `admin dashboard`"),
        ("admin cluster stats", "lynceus has no `admin cluster stats`"),
        (
            "admin settings resource-overrides run-action a b",
            "lynceus has no `admin settings resource-overrides run-action`",
        ),
        ("admin nonsense", "there is no command `admin nonsense`"),
    ] {
        assert!(says(line).starts_with(&format!("error: {expected}\n")), "{}", says(line));
    }
}

#[test]
fn objects_are_printed_from_flags_and_policies_are_tried() {
    let home = Home::new();
    std::fs::create_dir_all(&home.folder).unwrap();
    let says = |line: &str| {
        let output = home.run(&line.split(' ').collect::<Vec<_>>());
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        if output.status.success() {
            text
        } else {
            format!("{text}[{}]\n", output.status.code().unwrap_or(-1))
        }
    };
    assert_eq!(
        says("admin proj generate-spec shop --src https://a/b.git --dest https://c,d"),
        "apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata:\n  name: shop\nspec:\n  destinations:\n  - namespace: d\n    server: https://c\n  sourceRepos:\n  - https://a/b.git\n"
    );
    let app = says("admin app generate-spec shop --repo r --path p --dest-namespace n");
    assert!(app.contains("kind: Application\n") && app.contains("repoURL: r\n"), "{app}");
    let repo = says("admin repo generate-spec https://a/b.git --username me --password hush");
    assert!(repo.contains("name: repo-") && repo.contains("password: aHVzaA==\n"), "{repo}");
    std::fs::write(
        home.folder.join("policy.csv"),
        "p, role:ci, applications, sync, shop/*, allow\ng, alice, role:ci\n",
    )
    .unwrap();
    std::fs::write(home.folder.join("bad.csv"), "p, role:ci, applications\n").unwrap();
    assert_eq!(says("admin settings rbac can alice sync app shop/web --policy-file policy.csv"), "Yes\n");
    assert_eq!(
        says("admin settings rbac can alice delete app shop/web --policy-file policy.csv"),
        "No\n[1]\n"
    );
    assert_eq!(says("admin settings rbac can role:readonly get apps */* --policy-file policy.csv"), "Yes\n");
    assert!(
        says("admin settings rbac can alice jump apps --policy-file policy.csv")
            .contains("\"jump\" is no action")
    );
    assert_eq!(says("admin settings rbac validate --policy-file policy.csv"), "Policy is valid.\n");
    assert!(says("admin settings rbac validate --policy-file bad.csv").starts_with("Policy is invalid: "));
    std::fs::write(
        home.folder.join("cm.yaml"),
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm}\n",
    )
    .unwrap();
    std::fs::write(
        home.folder.join("d.yaml"),
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 1, template: {}}\nstatus: {}\n",
    )
    .unwrap();
    let health = says("admin settings resource-overrides health d.yaml --argocd-cm-path cm.yaml");
    assert!(health.starts_with("STATUS: "), "{health}");
    let actions = says("admin settings resource-overrides list-actions d.yaml --argocd-cm-path cm.yaml");
    assert!(actions.starts_with("NAME") && actions.contains("restart"), "{actions}");
    assert!(says("completion bash").contains("lynceus__proj") || says("completion bash").contains("proj"));
    assert!(says("version --client").starts_with("lynceus: v"));
}

/// A set that delivers the repository's folder `app` once for each name.
fn set(shop: &Shop, names: &[&str]) -> String {
    let elements: Vec<String> = names.iter().map(|name| format!("{{name: {name}}}")).collect();
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: shops}}\nspec:\n  generators: [{{list: {{elements: [{}]}}}}]\n  \
         template:\n    metadata: {{name: 'shop-{{{{name}}}}'}}\n    spec:\n      project: default\n      source: {{repoURL: 'file://{}', path: app, \
         targetRevision: main}}\n      destination: {{server: 'https://kubernetes.default.svc', namespace: 'shop-{{{{name}}}}'}}\n      syncPolicy: \
         {{automated: {{}}, syncOptions: [CreateNamespace=true]}}\n",
        elements.join(", "),
        shop.home.folder.join("repository").display()
    )
}

#[tokio::test]
async fn sets_are_tried_made_waited_for_and_deleted() {
    let shop = Shop::logged_in().await;
    let first = set(&shop, &["a", "b"]);
    let told = shop.with("set.yaml", &first, "appset preview set.yaml");
    assert_eq!(told, "create shop-a\ncreate shop-b\n2 to create, 0 to update, 0 to delete, 0 to keep\n");
    let told = shop.says("appset preview set.yaml --rehearse");
    assert!(
        told.contains("  shop-a finishes\n    created Namespace shop-a\n    created ConfigMap shop-a/a\n"),
        "{told}"
    );
    assert_eq!(shop.says("appset create set.yaml --wait --timeout 60"), "ApplicationSet 'shops' created\n");
    assert_eq!(shop.says("app list -o name"), "argocd/shop-a\nargocd/shop-b\n");
    assert_eq!(shop.says("appset list -o name"), "argocd/shops\n");
    let changed = set(&shop, &["a"]).replace("path: app", "path: other");
    let told = shop.with("set.yaml", &changed, "appset diff set.yaml --exit-code");
    assert_eq!(
        told,
        "update shop-a\n  spec.source.path: \"app\" -> \"other\"\ndelete shop-b\n0 to create, 1 to update, 1 to delete, 0 to keep\n[1]\n"
    );
    // With a kubeconfig alone it is the same, reckoned in process.
    let told = shop.says("appset preview set.yaml --kubeconfig data/kubeconfig --core");
    assert!(told.ends_with("0 to create, 1 to update, 1 to delete, 0 to keep\n"), "{told}");
    assert_eq!(shop.says("appset preview shops"), "0 to create, 0 to update, 0 to delete, 2 to keep\n");
    let broken = set(&shop, &["a", "a"]);
    let told = shop.with("broken.yaml", &broken, "appset create broken.yaml --upsert --wait --timeout 60");
    assert!(
        told.contains("there is already an Application named shop-a") && told.ends_with("[1]\n"),
        "{told}"
    );
    assert_eq!(
        shop.says("appset delete shops --yes --wait --timeout 60"),
        "applicationset 'shops' deleted\n"
    );
    assert_eq!(shop.says("app list -o name"), "");
    let none = shop.says("appset preview nowhere");
    assert!(none.starts_with("error: cannot tell what would be done for ApplicationSet nowhere\n"), "{none}");
    shop.up.kill();
}
