//! `lynceus app diff`

use lynceus_api::{Application, annotations};
use lynceus_diff::{Change, Verdict, is_secret, mask, text};
use lynceus_engine::{Aim, Freshness};
use lynceus_object::Str;

use super::context::Context;
use super::local::Local;
use super::revisions::Revisions;
use super::{get, served};
use crate::exit::{Code, Failure, Outcome};

/// Show how the cluster differs from Git.
///
/// Exit code 0: no difference. 1: there are differences. Anything else: it could not be told.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The application.
    name: String,
    #[command(flatten)]
    revisions: Revisions,
    /// Have Git asked again first.
    #[arg(long)]
    refresh: bool,
    /// Have Git asked again and everything rendered anew first.
    #[arg(long)]
    hard_refresh: bool,
    /// Say by the exit code whether there are differences.
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set)]
    exit_code: bool,
    /// The exit code that says so.
    #[arg(long, value_name = "N", default_value_t = 1)]
    diff_exit_code: u8,
    /// Compare as the API server would apply it, or with `false` not, whatever the application says.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    server_side_diff: Option<bool>,
    /// Accepted for scripts: the manifests of a folder are always made here.
    #[arg(long, hide = true)]
    server_side_generate: bool,
    /// Accepted for scripts, as above.
    #[arg(long, hide = true, value_name = "PATTERN")]
    local_include: Vec<String>,
    #[command(flatten)]
    local: Local,
}

impl Arguments {
    /// The application as it is to be compared.
    fn meant(&self, mut application: Application) -> Application {
        if let Some(wanted) = self.server_side_diff {
            let options =
                application.metadata.annotations.entry(annotations::COMPARE_OPTIONS.into()).or_default();
            let said = options.split(',').map(str::trim).filter(|one| !one.is_empty());
            let mut all: Vec<&str> = said.filter(|one| !one.starts_with("ServerSideDiff=")).collect();
            let own = format!("ServerSideDiff={wanted}");
            all.push(&own);
            let all = all.join(",");
            *options = all.into();
        }
        application
    }
}

pub(crate) async fn run(context: &Context, arguments: &Arguments) -> Outcome {
    if arguments.refresh || arguments.hard_refresh {
        get::refresh(context, &arguments.name, arguments.hard_refresh).await?;
    }
    let application = arguments.meant(context.application(&arguments.name).await?);
    let revisions = arguments.revisions.of(&application)?;
    let manifests = arguments.local.manifests(&application).await?;
    let aim = Aim { revisions, manifests, freshness: Freshness::Latest, ..Aim::default() };
    let is_usual =
        aim.revisions.is_empty() && aim.manifests.is_none() && arguments.server_side_diff.is_none();
    let text = match context.records().filter(|_| is_usual) {
        Some(records) => served::differences(records, &arguments.name).await?,
        None => differences(context, &application, &aim).await?,
    };
    print!("{text}");
    if text.is_empty() || !arguments.exit_code {
        return Ok(());
    }
    if arguments.diff_exit_code != Code::Answer.number() {
        std::process::exit(i32::from(arguments.diff_exit_code));
    }
    // The difference has been told; there is nothing to add.
    Err(Failure::new(Code::Answer, ""))
}

/// How the cluster differs from what is aimed at; nothing if it does not.
pub(crate) async fn differences(context: &Context, application: &Application, aim: &Aim) -> Outcome<String> {
    let look = context.engine()?.look(application, aim).await;
    let errors: Vec<String> = look.errors().map(|condition| condition.message.clone()).collect();
    if errors.is_empty() {
        let settings = context.engine()?.settings();
        let hidden = &settings.comparing.hidden_annotations;
        return Ok(look.changes.changes.iter().map(|change| text_of(change, hidden)).collect());
    }
    let name = &application.metadata.name;
    let mut failure = Failure::new(Code::Other, format!("application {name} cannot be compared"));
    failure.causes = errors;
    Err(failure)
}

/// One object's difference under its heading; nothing if there is none.
fn text_of(change: &Change, hidden: &[Str]) -> String {
    let (live, desired) = match &change.verdict {
        Verdict::Create => (None, change.pair.desired().cloned()),
        Verdict::Prune => (change.pair.live().cloned(), None),
        Verdict::Update(update) => (Some(update.live.clone()), Some(update.predicted.clone())),
        Verdict::Same | Verdict::Ignored(_) | Verdict::Failed(_) => return String::new(),
    };
    let (desired, live) = match desired.iter().chain(&live).any(is_secret) || !hidden.is_empty() {
        true => mask(desired.as_ref(), live.as_ref(), hidden),
        false => (desired, live),
    };
    format!("\n{}\n{}", text::heading(&change.key()), text::normal(live.as_ref(), desired.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use lynceus_api::Kind as _;
    use lynceus_object::{Object, value};

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn check(options: &str, line: &[&str]) -> String {
        let object = value!({
            "metadata": {"name": "shop", "annotations": {annotations::COMPARE_OPTIONS: options}}, "spec": {},
        });
        let application = Application::from_object(&Object::new(object).unwrap()).unwrap();
        let arguments = Line::parse_from([&["diff", "shop"], line].concat()).arguments;
        arguments.meant(application).metadata.annotations[annotations::COMPARE_OPTIONS].to_string()
    }

    #[test]
    fn how_it_is_compared_can_be_said_for_once() {
        let usual = "IgnoreExtraneous,ServerSideDiff=true";
        assert_eq!(check(usual, &[]), usual);
        assert_eq!(check(usual, &["--server-side-diff=false"]), "IgnoreExtraneous,ServerSideDiff=false");
        assert_eq!(check("", &["--server-side-diff"]), "ServerSideDiff=true");
    }
}
