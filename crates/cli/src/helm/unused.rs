//! The flags of `helm template` that matter to an installation only, and those that are refused.

// Flags that Helm takes here because `helm install` has them. They have no effect there either.
#[derive(clap::Args)]
pub(super) struct Unused {
    /// Make a name from the chart's; rendering has a name anyway.
    #[arg(short, long, hide = true)]
    pub(super) generate_name: bool,
    #[arg(long, hide = true, conflicts_with = "dry_run")]
    validate: bool,
    #[arg(long, hide = true)]
    post_renderer: Option<String>,
    #[arg(long, hide = true)]
    post_renderer_args: Vec<String>,
    #[arg(long, hide = true)]
    skip_crds: bool,
    #[arg(long, hide = true)]
    create_namespace: bool,
    #[arg(long, hide = true)]
    description: Option<String>,
    #[arg(long, hide = true)]
    disable_openapi_validation: bool,
    #[arg(long, hide = true)]
    enable_dns: bool,
    #[arg(long, hide = true, conflicts_with_all = ["force_replace", "force"])]
    force_conflicts: bool,
    #[arg(long, hide = true)]
    force_replace: bool,
    #[arg(long, hide = true)]
    force: bool,
    #[arg(long, hide = true)]
    rollback_on_failure: bool,
    #[arg(long, hide = true)]
    atomic: bool,
    #[arg(long, hide = true)]
    hide_notes: bool,
    #[arg(long, hide = true)]
    render_subchart_notes: bool,
    #[arg(short, long, hide = true)]
    labels: Vec<String>,
    #[arg(long, hide = true)]
    replace: bool,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    server_side: Option<String>,
    #[arg(long, hide = true)]
    timeout: Option<String>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "watcher")]
    wait: Option<String>,
    #[arg(long, hide = true)]
    wait_for_jobs: bool,
}

/// Who is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DryRun {
    /// Nobody.
    Client,
    /// The cluster of the kubeconfig.
    Server,
}

impl Unused {
    /// Tells of flags that are on their way out, refuses what cannot be done, and gives who is to be asked.
    pub(super) fn check(&self, dry_run: &str) -> Result<DryRun, String> {
        for (is_given, name, instead) in [
            (self.validate, "validate", "use '--dry-run=server' instead"),
            (self.hide_notes, "hide-notes", NO_EFFECT),
            (self.render_subchart_notes, "render-subchart-notes", NO_EFFECT),
            (self.atomic, "atomic", "use --rollback-on-failure instead"),
            (self.force, "force", "use --force-replace instead"),
        ] {
            if is_given {
                eprintln!("Flag --{name} has been deprecated, {instead}");
            }
        }
        if self.post_renderer.is_some() || !self.post_renderer_args.is_empty() {
            return Err(
                "--post-renderer is not supported: a post-renderer is a program, and none is run".to_owned()
            );
        }
        if let Some(wait) =
            self.wait.as_deref().filter(|wait| !["watcher", "hookOnly", "legacy"].contains(wait))
        {
            return Err(format!(
                "invalid argument {wait:?} for \"--wait\" flag: invalid wait input {wait:?}. Valid inputs are watcher, \
                 hookOnly, and legacy"
            ));
        }
        if self.validate { Ok(DryRun::Server) } else { DryRun::read(dry_run) }
    }
}

const NO_EFFECT: &str = "this flag has no effect for 'helm template' and will be removed in Helm 5";

impl DryRun {
    fn read(given: &str) -> Result<Self, String> {
        match given {
            "client" => Ok(DryRun::Client),
            "server" => Ok(DryRun::Server),
            "unset" => {
                eprintln!("warning: --dry-run is deprecated and should be replaced with '--dry-run=client'");
                Ok(DryRun::Client)
            }
            "1" | "t" | "T" | "true" | "TRUE" | "True" => {
                eprintln!(
                    "warning: boolean '--dry-run={given}' flag is deprecated and must be replaced with \
                     '--dry-run=client'"
                );
                Ok(DryRun::Client)
            }
            "none" | "0" | "f" | "F" | "false" | "FALSE" | "False" => {
                Err(format!("invalid dry-run value ({given:?}). Must be \"server\" or \"client\""))
            }
            other => {
                Err(format!("invalid dry-run value ({other:?}). Must be \"none\", \"server\", or \"client\""))
            }
        }
    }
}
