//! The flags that every command of Helm takes, and the places where Helm keeps what it knows.

use std::path::{Path, PathBuf};

use clap::builder::FalseyValueParser;
use kube::config::Kubeconfig;

use crate::place;

// Helm's flags for every command.
#[derive(clap::Args)]
pub(super) struct Settings {
    /// The namespace of the release; if none is given, that of the kubeconfig's context, or default.
    #[arg(short, long, global = true, env = "HELM_NAMESPACE", hide_env = true)]
    namespace: Option<String>,
    /// Say more about what is wrong, and print what the templates gave even if it is not YAML.
    #[arg(long, global = true, env = "HELM_DEBUG", hide_env = true, value_parser = FalseyValueParser::new())]
    pub(super) debug: bool,
    /// The kubeconfig of the cluster to ask, where one is asked.
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig.
    #[arg(long, global = true, value_name = "NAME", env = "HELM_KUBECONTEXT", hide_env = true)]
    pub(super) kube_context: Option<String>,
    /// The file with the names and URLs of chart repositories.
    #[arg(long, global = true, value_name = "FILE", env = "HELM_REPOSITORY_CONFIG", hide_env = true)]
    repository_config: Option<PathBuf>,
    /// The file with the credentials of registries.
    #[arg(long, global = true, value_name = "FILE", env = "HELM_REGISTRY_CONFIG", hide_env = true)]
    registry_config: Option<PathBuf>,
    /// The directory for what was downloaded.
    #[arg(long, global = true, value_name = "DIR", env = "HELM_CONTENT_CACHE", hide_env = true)]
    content_cache: Option<PathBuf>,
    #[command(flatten)]
    pub(super) connection: Connection,
    #[command(flatten)]
    without_effect: WithoutEffect,
}

// How to reach the cluster differently from what the kubeconfig says.
#[derive(clap::Args)]
pub(super) struct Connection {
    /// The address of the API server.
    #[arg(long, global = true, value_name = "URL", env = "HELM_KUBEAPISERVER", hide_env = true)]
    pub(super) kube_apiserver: Option<String>,
    /// A token to authenticate with.
    #[arg(long, global = true, value_name = "TOKEN", env = "HELM_KUBETOKEN", hide_env = true)]
    pub(super) kube_token: Option<String>,
    /// The user to act as.
    #[arg(long, global = true, value_name = "USER", env = "HELM_KUBEASUSER", hide_env = true)]
    pub(super) kube_as_user: Option<String>,
    /// A group to act as; can be given several times.
    #[arg(
        long,
        global = true,
        value_name = "GROUP",
        env = "HELM_KUBEASGROUPS",
        hide_env = true,
        value_delimiter = ','
    )]
    pub(super) kube_as_group: Vec<String>,
    /// The certificates to trust, in PEM.
    #[arg(long, global = true, value_name = "FILE", env = "HELM_KUBECAFILE", hide_env = true)]
    pub(super) kube_ca_file: Option<PathBuf>,
    /// The name that the server's certificate has to bear.
    #[arg(long, global = true, value_name = "NAME", env = "HELM_KUBETLS_SERVER_NAME", hide_env = true)]
    pub(super) kube_tls_server_name: Option<String>,
    /// Trust any certificate of the API server.
    #[arg(long, global = true, env = "HELM_KUBEINSECURE_SKIP_TLS_VERIFY", hide_env = true, value_parser = FalseyValueParser::new())]
    pub(super) kube_insecure_skip_tls_verify: bool,
}

// Flags for what is not there to be set: colours, which the output has none of, and Helm's cache and pace.
#[derive(clap::Args)]
struct WithoutEffect {
    #[arg(long, global = true, hide = true)]
    burst_limit: Option<i64>,
    #[arg(long, global = true, hide = true)]
    qps: Option<f32>,
    #[arg(long, global = true, hide = true, visible_alias = "colour")]
    color: Option<String>,
    #[arg(long, global = true, hide = true)]
    repository_cache: Option<PathBuf>,
}

impl Settings {
    /// The namespace of the release.
    pub(super) fn namespace(&self) -> String {
        let given = self.namespace.clone().filter(|namespace| !namespace.is_empty());
        given.or_else(|| self.namespace_of_context()).unwrap_or_else(|| "default".to_owned())
    }

    /// A kubeconfig that cannot be read has no say in it: rendering needs none.
    fn namespace_of_context(&self) -> Option<String> {
        let config = match self.kubeconfig() {
            Some(path) => Kubeconfig::read_from(path),
            None => Kubeconfig::read(),
        };
        let config = config.ok()?;
        let wanted = self.kube_context.clone().or(config.current_context)?;
        let context = config.contexts.into_iter().find(|context| context.name == wanted)?.context?;
        context.namespace.filter(|namespace| !namespace.is_empty())
    }

    /// The kubeconfig to use; none for the one that kubectl would choose.
    pub(super) fn kubeconfig(&self) -> Option<PathBuf> {
        place::kubeconfig(self.kubeconfig.as_deref())
    }

    /// Helm's `repositories.yaml`.
    pub(super) fn repository_config(&self) -> PathBuf {
        self.repository_config.clone().unwrap_or_else(|| config_home().join("repositories.yaml"))
    }

    /// Helm's credentials for registries.
    pub(super) fn registry_config(&self) -> PathBuf {
        self.registry_config.clone().unwrap_or_else(|| config_home().join("registry/config.json"))
    }

    /// Where downloads are kept: beside Helm's own, as the form is another.
    pub(super) fn cache(&self) -> PathBuf {
        let content = self.content_cache.clone();
        content
            .unwrap_or_else(|| home("HELM_CACHE_HOME", "XDG_CACHE_HOME", ".cache").join("content"))
            .join("lynceus")
    }
}

fn config_home() -> PathBuf {
    home("HELM_CONFIG_HOME", "XDG_CONFIG_HOME", ".config")
}

/// A directory of Helm's: the one that its own variable names, else one called `helm` where the user keeps such.
fn home(own: &str, shared: &str, usual: &str) -> PathBuf {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable(own).unwrap_or_else(|| {
        let usual = || user_home().join(usual);
        variable(shared).unwrap_or_else(usual).join("helm")
    })
}

/// The user's home; a place for nobody in particular if there is none.
pub(super) fn user_home() -> PathBuf {
    std::env::home_dir().filter(|home| home != Path::new("")).unwrap_or_else(std::env::temp_dir)
}
