//! The flags of Kustomize that are there for scripts, and what is said of them.

/// A boolean as Go's flags take it.
pub(super) fn boolean(text: &str) -> Result<bool, String> {
    lynceus_api::parse_bool(text).ok_or_else(|| "it is neither true nor false".to_owned())
}

// Flags for what Lynceus does not do: it forks no helm and runs no function.
#[derive(clap::Args)]
pub(super) struct WithoutEffect {
    /// Without effect: no container is run.
    #[arg(
        long,
        hide_default_value = true,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        default_value = "false",
        value_parser = boolean,
        action = clap::ArgAction::Set,
    )]
    as_current_user: bool,
    /// Without effect: plugins that are programs are refused.
    #[arg(
        long,
        hide_default_value = true,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        default_value = "false",
        value_parser = boolean,
        action = clap::ArgAction::Set,
    )]
    enable_alpha_plugins: bool,
    /// Without effect: nothing is executed.
    #[arg(
        long,
        hide_default_value = true,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        default_value = "false",
        value_parser = boolean,
        action = clap::ArgAction::Set,
    )]
    enable_exec: bool,
    /// Without effect: charts are rendered in process.
    #[arg(
        long,
        hide_default_value = true,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        default_value = "false",
        value_parser = boolean,
        action = clap::ArgAction::Set,
    )]
    helm_debug: bool,
    /// Without effect: no container is run.
    #[arg(
        long,
        hide_default_value = true,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        default_value = "false",
        value_parser = boolean,
        action = clap::ArgAction::Set,
    )]
    network: bool,
    /// Without effect: no function is run.
    #[arg(short, long, value_name = "TEXT")]
    env: Vec<String>,
    /// Without effect: charts are rendered in process.
    #[arg(long, value_name = "TEXT")]
    helm_command: Option<String>,
    /// Without effect: no function is run.
    #[arg(long, value_name = "TEXT")]
    mount: Vec<String>,
    /// Without effect: no container is run.
    #[arg(long, value_name = "TEXT")]
    network_name: Option<String>,
    #[arg(
        long,
        hide = true,
        hide_default_value = true,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        default_value = "false",
        value_parser = boolean,
        action = clap::ArgAction::Set,
    )]
    stack_trace: bool,
}

impl WithoutEffect {
    /// What is said of those that were given.
    pub(super) fn warnings(&self) -> Vec<String> {
        let given = [
            (self.as_current_user, "--as-current-user", "no container is run"),
            (self.enable_alpha_plugins, "--enable-alpha-plugins", "plugins that are programs are refused"),
            (self.enable_exec, "--enable-exec", "nothing is executed"),
            (self.helm_debug, "--helm-debug", "charts are rendered in process"),
            (self.network, "--network", "no container is run"),
            (!self.env.is_empty(), "--env", "no function is run"),
            (self.helm_command.is_some(), "--helm-command", "charts are rendered in process"),
            (!self.mount.is_empty(), "--mount", "no function is run"),
            (self.network_name.is_some(), "--network-name", "no container is run"),
        ];
        let given = given.iter().filter(|(is_given, ..)| *is_given);
        given.map(|(_, flag, why)| format!("Warning: {flag} has no effect: {why}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::boolean;

    #[test]
    fn booleans_are_gos() {
        assert_eq!((boolean("1"), boolean("F"), boolean("maybe").is_err()), (Ok(true), Ok(false), true));
    }
}
