//! Config-management plugins: programs of the operator's, each in a container of its own beside this one.
//!
//! A plugin listens on a socket in a directory that both containers share, and speaks Argo CD's protocol: gRPC, with the
//! files of the revision as a packed archive. Nothing is run here, and a plugin sees what it is sent and nothing else.

mod askpass;
mod call;
mod pack;
mod wire;

use std::collections::BTreeMap;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lynceus_files::{FilePath, Tree};
use tokio::time::Instant;

use crate::error::SourceError;
use crate::limits;
use crate::repository::Repository;
use crate::sources::{Sources, blocking};

use askpass::Offer;
use call::Plugin;
use pack::Packed;
use wire::Configuration;

/// What a plugin is told, beside the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginCall {
    /// The plugin: its name, or name and version as `name-version`. The one that says that the files are for it if this
    /// is empty.
    pub name: String,
    /// Where in the files the application is.
    pub path: FilePath,
    /// The environment of the plugin's commands.
    pub environment: Vec<(String, String)>,
}

/// A parameter that a plugin announces: one that it would understand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Announcement {
    /// What the parameter is called.
    pub name: String,
    /// The same for people.
    pub title: String,
    /// What it is about.
    pub tooltip: String,
    /// Whether the plugin cannot do without.
    pub required: bool,
    /// What each text of it is to be read as, `number` for instance.
    pub item_type: String,
    /// Whether it is a `string`, an `array` or a `map`; a string if this is empty.
    pub collection_type: String,
    /// What the plugin takes if nobody says otherwise, of a string.
    pub string: String,
    /// The same of an array.
    pub array: Vec<String>,
    /// The same of a map.
    pub map: BTreeMap<String, String>,
}

/// Why a plugin did not do its work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PluginError {
    /// No directory of sockets was named.
    #[error("plugins are off; `lynceus controller --plugin-sockets DIR` turns them on")]
    Off,
    /// The directory of sockets cannot be read.
    #[error("cannot list the plugins in {directory}: {reason}")]
    Listing {
        /// The directory.
        directory: String,
        /// What the operating system said.
        reason: String,
    },
    /// There is no such plugin.
    #[error("there is no plugin {plugin:?} in {directory}; there is {}", if others.is_empty() { "none".to_owned() } else { others.join(", ") })]
    Unknown {
        /// The plugin.
        plugin: String,
        /// Where it was looked for.
        directory: String,
        /// The plugins that there are.
        others: Vec<String>,
    },
    /// Nobody listens on the plugin's socket.
    #[error("plugin {plugin} does not answer: {reason}")]
    Unreachable {
        /// The plugin.
        plugin: String,
        /// What the operating system said.
        reason: String,
    },
    /// The plugin takes too long.
    #[error("plugin {plugin} took longer than {} s", .after.as_secs_f32())]
    Timeout {
        /// The plugin.
        plugin: String,
        /// How long was waited.
        after: Duration,
    },
    /// The plugin ended the conversation in the middle.
    #[error("plugin {plugin} ended the conversation: {reason}")]
    Died {
        /// The plugin.
        plugin: String,
        /// What was seen of it.
        reason: String,
    },
    /// The plugin's own commands failed, or it refused the call.
    #[error("plugin {plugin} failed: {message}")]
    Failed {
        /// The plugin.
        plugin: String,
        /// What it says.
        message: String,
    },
    /// What the plugin answers is not what it was asked for.
    #[error("plugin {plugin} does not answer like one: {reason}")]
    Protocol {
        /// The plugin.
        plugin: String,
        /// What it did instead.
        reason: String,
    },
    /// The plugin answers with too much.
    #[error("plugin {plugin} answers with more than {limit} bytes")]
    TooLarge {
        /// The plugin.
        plugin: String,
        /// The most that is accepted.
        limit: usize,
    },
    /// There are more files than a plugin is sent.
    #[error("the repository has more than {limit} {unit}, which is more than a plugin is sent")]
    Files {
        /// The most that is sent.
        limit: u64,
        /// Of what.
        unit: &'static str,
    },
    /// The credentials that the plugin wants cannot be offered to it.
    #[error(
        "cannot offer credentials to the plugin on {socket}: {reason}; `--plugin-askpass DIR` names another directory"
    )]
    Credentials {
        /// The socket, or the directory that it would be in.
        socket: String,
        /// What the operating system said.
        reason: String,
    },
    /// The plugin that was named says that the files are not for it.
    #[error("plugin {plugin} says that {path} is not for it")]
    NotForIt {
        /// The plugin.
        plugin: String,
        /// Where the application is.
        path: FilePath,
    },
    /// No plugin was named, and none says that the files are for it.
    #[error("no plugin says that {path} is for it")]
    ForNone {
        /// Where the application is.
        path: FilePath,
    },
}

impl PluginError {
    /// Whether trying again later, with nothing changed here, may help: a plugin may still be starting.
    pub(crate) fn is_transient(&self) -> bool {
        matches!(
            self,
            PluginError::Unreachable { .. } | PluginError::Timeout { .. } | PluginError::Died { .. }
        )
    }
}

impl Sources {
    /// Whether there may be plugins.
    pub fn has_plugins(&self) -> bool {
        self.settings().plugin_sockets.is_some()
    }

    /// The plugin that says that the files are for it. One that cannot say is an error: to take the files for something
    /// else could delete what the plugin would have made.
    pub async fn discover_plugin(
        &self,
        tree: Arc<dyn Tree>,
        call: &PluginCall,
    ) -> Result<Option<String>, SourceError> {
        let mut session = Session::new(self, tree, call)?;
        Ok(session.discover().await?.map(|(plugin, _)| plugin.name))
    }

    /// The manifests that a plugin makes of the files of a repository, as a stream of YAML. A plugin that says that it
    /// wants them is offered what the repository is read with, for as long as it works.
    pub async fn plugin_manifests(
        &self,
        tree: Arc<dyn Tree>,
        call: &PluginCall,
        repository: &Repository,
    ) -> Result<Arc<[u8]>, SourceError> {
        let mut session = Session::new(self, tree, call)?;
        let (plugin, configuration) = session.choose().await?;
        let packed = session.packed().await?;
        let offer = match configuration.wants_git_credentials {
            true => Offer::of(repository, &session.askpass)?,
            false => None,
        };
        let answer = match &offer {
            Some(offer) => {
                let environment = [&call.environment[..], &offer.environment].concat();
                let call = PluginCall { environment, ..call.clone() };
                plugin.generate(&call, &packed).await.map_err(|error| offer.conceal(error))
            }
            None => plugin.generate(call, &packed).await,
        };
        Ok(answer?.join("\n---\n").into_bytes().into())
    }

    /// The parameters that a plugin announces for the files, its own first and those of its configuration last, as it
    /// says them. They are there to be shown: neither Argo CD nor we tell a plugin the defaults that it announced.
    pub async fn plugin_parameters(
        &self,
        tree: Arc<dyn Tree>,
        call: &PluginCall,
    ) -> Result<Vec<Announcement>, SourceError> {
        let mut session = Session::new(self, tree, call)?;
        let (plugin, _) = session.choose().await?;
        let packed = session.packed().await?;
        Ok(plugin.announcements(call, &packed).await?)
    }
}

/// A plugin that the files are for, and what it says about itself.
type Chosen = (Plugin, Configuration);

/// What is asked about one application.
struct Session<'a> {
    directory: PathBuf,
    /// Where plugins find the sockets that credentials are offered on.
    askpass: PathBuf,
    deadline: Instant,
    timeout: Duration,
    tree: Arc<dyn Tree>,
    call: &'a PluginCall,
    /// The files, packed when the first plugin wants them.
    packed: Option<Arc<Packed>>,
}

impl<'a> Session<'a> {
    fn new(sources: &Sources, tree: Arc<dyn Tree>, call: &'a PluginCall) -> Result<Self, PluginError> {
        let settings = sources.settings();
        let directory = settings.plugin_sockets.clone().ok_or(PluginError::Off)?;
        let askpass = settings.plugin_askpass.clone().unwrap_or_else(|| directory.clone());
        let timeout = settings.plugin_timeout;
        let deadline = Instant::now() + timeout;
        Ok(Session { directory, askpass, deadline, timeout, tree, call, packed: None })
    }

    /// The plugin that the files are for.
    async fn choose(&mut self) -> Result<Chosen, SourceError> {
        if self.call.name.is_empty() {
            let none = PluginError::ForNone { path: self.call.path.clone() };
            Ok(self.discover().await?.ok_or(none)?)
        } else {
            self.named().await
        }
    }

    /// The plugin that the application names. Where it has rules for what it is for, they count.
    async fn named(&mut self) -> Result<Chosen, SourceError> {
        let name = self.call.name.as_str();
        let names = self.names().await?;
        // Only what is in the directory can be meant: a name is not a path.
        if !names.iter().any(|one| one == name) {
            return Err(PluginError::Unknown {
                plugin: name.to_owned(),
                directory: self.directory.display().to_string(),
                others: names,
            }
            .into());
        }
        let plugin = self.plugin(name);
        let configuration = plugin.configuration().await?;
        if configuration.is_discovery_configured {
            let packed = self.packed().await?;
            let answer = plugin.matches(self.call, &packed).await?;
            if !answer.is_supported && answer.is_discovery_enabled {
                return Err(
                    PluginError::NotForIt { plugin: plugin.name, path: self.call.path.clone() }.into()
                );
            }
        }
        Ok((plugin, configuration))
    }

    /// The first plugin, by name, whose rules say that the files are for it.
    async fn discover(&mut self) -> Result<Option<Chosen>, SourceError> {
        for name in self.names().await? {
            let plugin = self.plugin(&name);
            let configuration = plugin.configuration().await?;
            if !configuration.is_discovery_configured {
                continue;
            }
            let packed = self.packed().await?;
            if plugin.matches(self.call, &packed).await?.is_supported {
                return Ok(Some((plugin, configuration)));
            }
        }
        Ok(None)
    }

    fn plugin(&self, name: &str) -> Plugin {
        Plugin {
            name: name.to_owned(),
            socket: self.directory.join(format!("{name}.sock")),
            deadline: self.deadline,
            timeout: self.timeout,
        }
    }

    async fn names(&self) -> Result<Vec<String>, SourceError> {
        let directory = self.directory.clone();
        blocking(move || Ok(names(&directory)?)).await
    }

    async fn packed(&mut self) -> Result<Arc<Packed>, SourceError> {
        if let Some(packed) = &self.packed {
            return Ok(packed.clone());
        }
        let tree = self.tree.clone();
        let packed = Arc::new(blocking(move || pack::pack(&*tree)).await?);
        self.packed = Some(packed.clone());
        Ok(packed)
    }
}

/// The plugins whose sockets are in a directory, in order.
fn names(directory: &Path) -> Result<Vec<String>, PluginError> {
    let failed = |error: std::io::Error| PluginError::Listing {
        directory: directory.display().to_string(),
        reason: error.to_string(),
    };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let file = entry.file_name();
        let name = file.to_str().and_then(|file| file.strip_suffix(".sock"));
        if let Some(name) = name
            && entry.file_type().map_err(failed)?.is_socket()
            && names.len() < limits::MAX_PLUGINS
        {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}
