//! `lynceus proj windows`: when applications of a project may be synced, and when not.

use clap::Subcommand;
use lynceus_object::{Value, value};

use super::Projects;
use crate::api::misuse;
use crate::exit::{Code, Failure, Outcome};
use crate::format::{self, Output, text, texts};
use crate::table::Table;

// Sync windows of a project.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

// A window of a project, by its place in the list.
#[derive(clap::Args)]
struct Window {
    /// The project.
    project: String,
    /// The window, as `lynceus proj windows list` counts them.
    id: usize,
}

// What a window is like.
#[derive(clap::Args)]
struct Flags {
    /// When it begins, as cron has it: "0 22 * * *".
    #[arg(long, value_name = "CRON")]
    schedule: Option<String>,
    /// For how long: 1h.
    #[arg(long, value_name = "DURATION")]
    duration: Option<String>,
    /// For applications of names like these.
    #[arg(long, value_delimiter = ',', value_name = "PATTERNS")]
    applications: Vec<String>,
    /// For applications that go to namespaces like these.
    #[arg(long, value_delimiter = ',', value_name = "PATTERNS")]
    namespaces: Vec<String>,
    /// For applications that go to clusters like these.
    #[arg(long, value_delimiter = ',', value_name = "PATTERNS")]
    clusters: Vec<String>,
    /// The time zone: Europe/Berlin.
    #[arg(long, value_name = "ZONE", default_value = "UTC")]
    time_zone: String,
    /// What it is for.
    #[arg(long)]
    description: Option<String>,
}

#[derive(Subcommand)]
enum Command {
    /// Add a window.
    Add {
        /// The project.
        project: String,
        /// Whether syncs are allowed in it or not.
        #[arg(short, long, value_parser = ["allow", "deny"])]
        kind: String,
        #[command(flatten)]
        flags: Flags,
        /// Syncs by hand are allowed all the same.
        #[arg(long)]
        manual_sync: bool,
        /// A sync that has begun may go on.
        #[arg(long)]
        sync_overrun: bool,
        /// Applications have to fit all of the lists, not one.
        #[arg(long)]
        use_and_operator: bool,
    },
    /// Delete a window.
    Delete(Window),
    /// List the windows.
    List {
        /// The project.
        project: String,
        /// How to print them.
        #[arg(short, long, value_enum, default_value_t)]
        output: Output,
    },
    /// Change a window.
    Update {
        #[command(flatten)]
        window: Window,
        #[command(flatten)]
        flags: Flags,
    },
    /// Allow syncs by hand all the same.
    EnableManualSync(Window),
    /// Allow them no longer.
    DisableManualSync(Window),
    /// Let a sync go on that has begun.
    EnableSyncOverrun(Window),
    /// Let it go on no longer.
    DisableSyncOverrun(Window),
}

const WINDOWS: [&str; 2] = ["spec", "syncWindows"];

pub(super) async fn run(projects: &Projects, arguments: Arguments) -> Outcome {
    match arguments.command {
        Command::List { project, output } => list(projects, &project, output).await,
        Command::Delete(window) => {
            let question = format!("Are you sure you want to delete sync window '{}'? [y/n] ", window.id);
            if !projects.connection.confirmed(&question)? {
                println!("The command to delete the sync window was cancelled.");
                return Ok(());
            }
            change(projects, &window, |windows, at| drop(windows.remove(at))).await
        }
        Command::EnableManualSync(window) => set(projects, &window, "manualSync", true).await,
        Command::DisableManualSync(window) => set(projects, &window, "manualSync", false).await,
        Command::EnableSyncOverrun(window) => set(projects, &window, "syncOverrun", true).await,
        Command::DisableSyncOverrun(window) => set(projects, &window, "syncOverrun", false).await,
        Command::Update { window, flags } => {
            if !flags.is_anything() {
                return Err(misuse("nothing is given to change")
                    .hint("see what there is with `lynceus proj windows update --help`"));
            }
            change(projects, &window, |windows, at| flags.fill(&mut windows[at])).await
        }
        Command::Add { project, kind, flags, manual_sync, sync_overrun, use_and_operator } => {
            if flags.schedule.is_none() || flags.duration.is_none() {
                return Err(misuse("a window needs --schedule and --duration").hint(
                    "lynceus proj windows add PROJECT --kind allow --schedule '0 22 * * *' --duration 1h",
                ));
            }
            let mut window = value!({"kind": kind});
            flags.fill(&mut window);
            for (field, wanted) in [
                ("manualSync", manual_sync),
                ("syncOverrun", sync_overrun),
                ("andOperator", use_and_operator),
            ] {
                if wanted {
                    window.set(&[field], true);
                }
            }
            let mut project = projects.get(&project).await?;
            let mut windows = project.items_at(&WINDOWS).to_vec();
            windows.push(window);
            project.set(&WINDOWS, Value::from(windows));
            projects.update(project).await
        }
    }
}

impl Flags {
    fn is_anything(&self) -> bool {
        let texts = [&self.schedule, &self.duration, &self.description];
        let lists = [&self.applications, &self.namespaces, &self.clusters];
        texts.iter().any(|text| text.is_some())
            || lists.iter().any(|list| !list.is_empty())
            || self.time_zone != "UTC"
    }

    fn fill(&self, window: &mut Value) {
        for (field, text) in
            [("schedule", &self.schedule), ("duration", &self.duration), ("description", &self.description)]
        {
            if let Some(text) = text {
                window.set(&[field], text.as_str());
            }
        }
        for (field, list) in [
            ("applications", &self.applications),
            ("namespaces", &self.namespaces),
            ("clusters", &self.clusters),
        ] {
            if !list.is_empty() {
                window.set(&[field], list.iter().map(|text| Value::from(text.as_str())).collect::<Value>());
            }
        }
        // A window that is changed keeps its zone unless another is named.
        if self.time_zone != "UTC" || text(window, &["timeZone"]).is_empty() {
            window.set(&["timeZone"], self.time_zone.as_str());
        }
    }
}

async fn change(
    projects: &Projects,
    window: &Window,
    change: impl FnOnce(&mut Vec<Value>, usize),
) -> Outcome {
    let mut project = projects.get(&window.project).await?;
    let mut windows = project.items_at(&WINDOWS).to_vec();
    if window.id >= windows.len() {
        return Err(Failure::new(Code::NotFound, format!("window with id '{}' not found", window.id))
            .hint(format!("see which there are:\nlynceus proj windows list {}", window.project)));
    }
    change(&mut windows, window.id);
    project.set(&WINDOWS, Value::from(windows));
    projects.update(project).await
}

async fn set(projects: &Projects, window: &Window, field: &str, wanted: bool) -> Outcome {
    change(projects, window, |windows, at| windows[at].set(&[field], wanted)).await
}

async fn list(projects: &Projects, name: &str, output: Output) -> Outcome {
    let project = projects.get(name).await?;
    let windows = project.items_at(&WINDOWS);
    let failed = format!("cannot read the windows of project {name}");
    let state =
        projects.api.call(&failed, "ProjectService.GetSyncWindowsState", value!({"name": name})).await?;
    let open = state.items_at(&["windows"]);
    format::print(output, &Value::from(windows.to_vec()), [], || table(windows, open).to_string())
}

fn table(windows: &[Value], open: &[Value]) -> Table {
    let header = ["ID", "STATUS", "KIND", "SCHEDULE", "DURATION", "APPLICATIONS", "NAMESPACES", "CLUSTERS"];
    let mut table =
        Table::new(&[&header[..], &["MANUALSYNC", "SYNCOVERRUN", "TIMEZONE", "USEANDOPERATOR"]].concat());
    for (at, window) in windows.iter().enumerate() {
        let is_open = open.iter().any(|other| {
            ["kind", "schedule", "duration", "timeZone"]
                .iter()
                .all(|key| text(other, &[key]) == text(window, &[key]))
        });
        let word = |name: &str| text(window, &[name]).to_owned();
        let list = |name: &str| match texts(window, &[name]) {
            list if list.is_empty() => "-".to_owned(),
            list => list.join(","),
        };
        let switch = |name: &str| match window.bool_at(&[name]) {
            Some(true) => "Enabled".to_owned(),
            _ => "Disabled".to_owned(),
        };
        table.row([
            at.to_string(),
            if is_open { "Active" } else { "Inactive" }.to_owned(),
            word("kind"),
            word("schedule"),
            word("duration"),
            list("applications"),
            list("namespaces"),
            list("clusters"),
            switch("manualSync"),
            switch("syncOverrun"),
            word("timeZone"),
            switch("andOperator"),
        ]);
    }
    table
}
