//! The parts of a control plane: how each is started, and where it says that it is well.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::build::Programs;
use super::certificates::Certificates;
use super::state::State;

/// A part of the control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Component {
    Etcd,
    ApiServer,
    ControllerManager,
    Scheduler,
    Kwok,
}

/// What a component needs to know to start.
pub(super) struct Place<'a> {
    pub(super) directory: &'a Path,
    pub(super) certificates: &'a Certificates,
    pub(super) state: &'a State,
}

impl Component {
    /// In the order of starting; they are stopped in the opposite one.
    pub(crate) const ALL: [Component; 5] = [
        Component::Etcd,
        Component::ApiServer,
        Component::ControllerManager,
        Component::Scheduler,
        Component::Kwok,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Component::Etcd => "etcd",
            Component::ApiServer => "kube-apiserver",
            Component::ControllerManager => "kube-controller-manager",
            Component::Scheduler => "kube-scheduler",
            Component::Kwok => "kwok",
        }
    }

    /// Reads a name, with or without its `kube-`.
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        let wanted = |component: &Component| {
            component.name() == name || component.name().strip_prefix("kube-") == Some(name)
        };
        Component::ALL.into_iter().find(wanted).ok_or_else(|| {
            let names: Vec<&str> = Component::ALL.iter().map(|component| component.name()).collect();
            format!("there is no component {name:?}; there are {}", names.join(", "))
        })
    }

    /// Where it says whether it is well, and whether with TLS.
    pub(super) fn health(self) -> (&'static str, bool) {
        match self {
            Component::Etcd => ("/health", true),
            Component::ApiServer => ("/readyz", true),
            Component::ControllerManager | Component::Scheduler => ("/healthz", true),
            Component::Kwok => ("/healthz", false),
        }
    }

    pub(super) fn command(self, programs: &Programs, place: &Place<'_>) -> Command {
        let mut command = Command::new(programs.path(self.name()));
        command.current_dir(place.directory).args(match self {
            Component::Etcd => place.etcd(),
            Component::ApiServer => place.api_server(),
            Component::ControllerManager => place.controller_manager(),
            Component::Scheduler => place.scheduler(),
            Component::Kwok => place.kwok(),
        });
        command
    }
}

/// Flags, each with its value.
type Flags = Vec<String>;

fn flag(name: &str, value: impl std::fmt::Display) -> String {
    format!("--{name}={value}")
}

impl Place<'_> {
    fn pki(&self, file: &str) -> String {
        self.certificates.path(file).display().to_string()
    }

    fn kubeconfig(&self, of: &str) -> String {
        kubeconfig_path(self.directory, of).display().to_string()
    }

    fn etcd(&self) -> Flags {
        let client = format!("https://127.0.0.1:{}", self.state.port("etcd"));
        let peer = format!("http://127.0.0.1:{}", self.state.port("etcd-peer"));
        vec![
            flag("name", "rig"),
            flag("data-dir", self.directory.join("etcd").display()),
            flag("listen-client-urls", &client),
            flag("advertise-client-urls", &client),
            flag("listen-peer-urls", &peer),
            flag("initial-advertise-peer-urls", &peer),
            flag("initial-cluster", format!("rig={peer}")),
            flag("cert-file", self.pki("server.crt")),
            flag("key-file", self.pki("server.key")),
            flag("trusted-ca-file", self.pki("ca.crt")),
            "--client-cert-auth".to_owned(),
            // What a rig holds may be lost with the machine; a crash of the process loses nothing.
            "--unsafe-no-fsync".to_owned(),
            flag("log-level", "warn"),
        ]
    }

    fn api_server(&self) -> Flags {
        vec![
            flag("etcd-servers", format!("https://127.0.0.1:{}", self.state.port("etcd"))),
            flag("etcd-cafile", self.pki("ca.crt")),
            flag("etcd-certfile", self.pki("server.crt")),
            flag("etcd-keyfile", self.pki("server.key")),
            flag("bind-address", "127.0.0.1"),
            flag("secure-port", self.state.port("kube-apiserver")),
            // Written into the `kubernetes` Service, where a loopback address is not allowed. Nobody connects to it.
            flag("advertise-address", "192.0.2.1"),
            flag("tls-cert-file", self.pki("server.crt")),
            flag("tls-private-key-file", self.pki("server.key")),
            flag("client-ca-file", self.pki("ca.crt")),
            flag("service-account-issuer", "https://kubernetes.default.svc.cluster.local"),
            flag("service-account-key-file", self.pki("service-accounts.pub")),
            flag("service-account-signing-key-file", self.pki("service-accounts.key")),
            flag("service-cluster-ip-range", "10.0.0.0/16"),
            flag("authorization-mode", "Node,RBAC"),
            flag("allow-privileged", true),
            flag("audit-policy-file", self.directory.join("audit-policy.yaml").display()),
            flag("audit-log-path", self.directory.join("audit.log").display()),
            // Tests ask a lot at once; being told to slow down is a scenario of its own.
            flag("max-requests-inflight", 3000),
            flag("max-mutating-requests-inflight", 1000),
            flag("profiling", false),
        ]
    }

    fn controller_manager(&self) -> Flags {
        vec![
            flag("kubeconfig", self.kubeconfig("controller-manager")),
            flag("authentication-kubeconfig", self.kubeconfig("controller-manager")),
            flag("authorization-kubeconfig", self.kubeconfig("controller-manager")),
            flag("bind-address", "127.0.0.1"),
            flag("secure-port", self.state.port("kube-controller-manager")),
            flag("tls-cert-file", self.pki("server.crt")),
            flag("tls-private-key-file", self.pki("server.key")),
            flag("cluster-signing-cert-file", self.pki("ca.crt")),
            flag("cluster-signing-key-file", self.pki("ca.key")),
            flag("root-ca-file", self.pki("ca.crt")),
            flag("service-account-private-key-file", self.pki("service-accounts.key")),
            flag("use-service-account-credentials", true),
            flag("leader-elect", false),
            // Volumes are made on the spot, as the embedded cluster does.
            flag("enable-hostpath-provisioner", true),
            // The client's own default would make a controller wait where a test waits for it.
            flag("kube-api-qps", 500),
            flag("kube-api-burst", 1000),
            flag("profiling", false),
        ]
    }

    fn scheduler(&self) -> Flags {
        vec![
            flag("kubeconfig", self.kubeconfig("scheduler")),
            flag("authentication-kubeconfig", self.kubeconfig("scheduler")),
            flag("authorization-kubeconfig", self.kubeconfig("scheduler")),
            flag("bind-address", "127.0.0.1"),
            flag("secure-port", self.state.port("kube-scheduler")),
            flag("tls-cert-file", self.pki("server.crt")),
            flag("tls-private-key-file", self.pki("server.key")),
            flag("leader-elect", false),
            flag("kube-api-qps", 500),
            flag("kube-api-burst", 1000),
            flag("profiling", false),
        ]
    }

    fn kwok(&self) -> Flags {
        vec![
            flag("kubeconfig", self.kubeconfig("kwok")),
            flag("config", self.directory.join("stages.yaml").display()),
            flag("manage-all-nodes", true),
            flag("cidr", "10.244.0.1/16"),
            flag("node-lease-duration-seconds", 40),
            flag("server-address", format!("127.0.0.1:{}", self.state.port("kwok"))),
            // An API server talks to kubelets by TLS alone.
            flag("tls-cert-file", self.pki("server.crt")),
            flag("tls-private-key-file", self.pki("server.key")),
        ]
    }
}

/// The path of somebody's kubeconfig; the administrator's is the rig's.
pub(super) fn kubeconfig_path(directory: &Path, of: &str) -> PathBuf {
    match of {
        "admin" => directory.join("kubeconfig"),
        other => directory.join(format!("{other}.kubeconfig")),
    }
}
