//! `lynceus version`: of this program, and of the server that commands go to.

use lynceus_object::{Value, value};

use crate::api::{Api, Connection};
use crate::exit::Outcome;
use crate::format::{self, Output, text};

/// Print the version of this program, and of the server that was logged in to.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    connection: Connection,
    /// Only of this program.
    #[arg(long)]
    client: bool,
    /// The number alone.
    #[arg(long)]
    short: bool,
    /// How to print it.
    #[arg(short, long, value_enum, default_value_t)]
    output: VersionOutput,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum VersionOutput {
    /// For people.
    #[default]
    Wide,
    /// The numbers alone.
    Short,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

pub(crate) async fn run(arguments: Arguments) -> Outcome {
    let mut versions = value!({"client": client()});
    // Without a server there is one version; going to a cluster runs this very program.
    if !arguments.client
        && let Some(destination) = arguments.connection.destination()?
    {
        let api = Api::remote(&destination)?;
        let server =
            api.call("cannot read the server's version", "VersionService.Version", value!({})).await?;
        versions.set(&["server"], server);
    }
    let is_short = arguments.short || arguments.output == VersionOutput::Short;
    let output = match arguments.output {
        VersionOutput::Json => Output::Json,
        VersionOutput::Yaml => Output::Yaml,
        VersionOutput::Wide | VersionOutput::Short => Output::Wide,
    };
    if is_short && output != Output::Wide {
        for (name, _) in [("client", ()), ("server", ())] {
            if let Some(version) = versions.str_at(&[name, "Version"]).map(str::to_owned) {
                versions.set(&[name], value!({"Version": version}));
            }
        }
    }
    format::print(output, &versions, [], || shown(&versions, is_short))
}

fn client() -> Value {
    value!({
        "Version": concat!("v", env!("CARGO_PKG_VERSION"), "+lynceus"),
        "Platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
        "Kubernetes": "v1.36",
    })
}

fn shown(versions: &Value, is_short: bool) -> String {
    let mut out = String::new();
    for (part, title) in [("client", "lynceus"), ("server", "argocd-server")] {
        let Some(version) = versions.get(part) else { continue };
        out.push_str(&format!("{title}: {}\n", text(version, &["Version"])));
        let rest = version.as_map().into_iter().flat_map(|map| map.iter());
        for (name, value) in rest.filter(|(name, _)| !is_short && *name != "Version") {
            if let Some(value) = value.as_str().filter(|value| !value.is_empty()) {
                out.push_str(&format!("  {name}: {value}\n"));
            }
        }
    }
    out
}
