//! `lynceus fix`: a finding's fix, tried in the embedded cluster and written into a working tree.

mod chosen;
mod trial;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use lynceus_doctor::{Finding, Fix, Step};
use lynceus_engine::FileChange;
use lynceus_rehearse::Complaint;
use lynceus_source::compose::{Change, Composition, Message};

use crate::doctor::{Ground, Patient, Where, attempt, no_sources};
use crate::exit::{Code, Doing as _, Failure, Outcome};

/// Write a finding's fix into a working tree, after trying it in the embedded cluster.
///
/// The finding is named as `lynceus doctor` names it (LYN0101/payments-prod/ConfigMap/x), or by its code where there is only one of
/// it. What is changed is printed as a patch. Nothing is ever pushed.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The finding.
    id: String,
    #[command(flatten)]
    place: Where,
    /// The working tree to write into; the one of --repo, or the current directory.
    #[arg(long, value_name = "DIR")]
    tree: Option<PathBuf>,
    /// Commit the change to this branch instead, and leave the working tree as it is.
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// Which of several fixes, from 1.
    #[arg(long, value_name = "N", default_value_t = 1)]
    choice: usize,
    /// Only print what would be changed.
    #[arg(long)]
    dry_run: bool,
    /// Do not try it first.
    #[arg(long)]
    no_rehearsal: bool,
}

pub(crate) async fn run(arguments: Arguments) -> Outcome {
    let patient = Patient::meet(&arguments.place).await?;
    let examination = patient.examine().await?;
    let (id, finding) = chosen::finding(&examination, &arguments.id)?;
    let fix = chosen::fix(&id, finding, arguments.choice)?;
    eprintln!("finding      {id}");
    eprintln!("cause        {}", finding.cause);
    eprintln!("fix          {} ({} risk)", fix.title, fix.risk);
    by_hand(fix);
    others(finding, arguments.choice);
    if !fix.has_edits() {
        return Ok(());
    }
    let engine = patient.engine().ok_or_else(no_sources)?;
    let changes = engine.mend(fix).await.doing(format!("the fix of {id} cannot be written by itself"))?;
    if changes.is_empty() {
        eprintln!("nothing      the files say so already; no file is changed");
        return Ok(());
    }
    print!("{}", lynceus_engine::patch_of(&changes));
    let tree = tree(&arguments);
    if !arguments.no_rehearsal {
        eprintln!("rehearsing   with and without it, in an embedded cluster");
        let ground = Ground::of(&patient, &arguments.place, &tree, &changes).await.map_err(unrehearsed)?;
        let complaint = Complaint::of(&examination, &id);
        let complaint =
            complaint.ok_or_else(|| Failure::new(Code::NotFound, format!("there is no finding {id}")))?;
        trial::tell(&attempt(&ground, &complaint, &changes).await.map_err(unrehearsed)?)?;
    }
    if arguments.dry_run {
        return Ok(());
    }
    match &arguments.branch {
        Some(branch) => {
            commit(&tree, branch, &format!("{}\n\n{id}: {}\n", fix.title, finding.cause), &changes)?
        }
        None => {
            write(&tree, &changes)?;
            let shown = tree.display();
            let new: Vec<String> = changes
                .iter()
                .filter(|change| change.before.is_none())
                .map(|change| change.path.to_string())
                .collect();
            if !new.is_empty() {
                eprintln!("next         git -C {shown} add {}", new.join(" "));
            }
            eprintln!("next         git -C {shown} commit -am '{}'", fix.title.replace('\'', ""));
        }
    }
    for command in &fix.verify {
        eprintln!("verify       {command}");
    }
    Ok(())
}

/// Who cannot rehearse may still want the files.
fn unrehearsed(failure: Failure) -> Failure {
    failure.hint("--no-rehearsal leaves that out")
}

/// What has to be done beside the change of files.
fn by_hand(fix: &Fix) {
    for step in fix.steps.iter().filter(|step| !matches!(step, Step::Git(_))) {
        eprintln!("do           {step}");
    }
}

/// The other ways to mend it.
fn others(finding: &Finding, choice: usize) {
    let others = finding.fixes.iter().enumerate().filter(|(place, _)| place + 1 != choice);
    for (place, other) in others {
        eprintln!("or           --choice {}: {} ({} risk)", place + 1, other.title, other.risk);
    }
}

fn tree(arguments: &Arguments) -> PathBuf {
    let named = arguments.tree.clone().or_else(|| arguments.place.repo.clone());
    named.unwrap_or_else(|| PathBuf::from("."))
}

/// Writes the files, if they stand there as they were when the fix was made.
fn write(tree: &Path, changes: &[FileChange]) -> Outcome {
    for change in changes {
        let path = tree.join(change.path.as_str());
        let now = std::fs::read_to_string(&path).ok();
        if now != change.before {
            let message = format!("{} is not as it was when the fix was made", path.display());
            let hint = "bring the working tree up to date, or name the right one with --tree DIR";
            return Err(Failure::new(Code::Trouble, message).hint(hint));
        }
    }
    for change in changes {
        let path = tree.join(change.path.as_str());
        match &change.after {
            Some(text) => {
                if let Some(parent) = path.parent() {
                    std::fs::create_dir_all(parent).doing(format!("cannot make {}", parent.display()))?;
                }
                std::fs::write(&path, text).doing(format!("cannot write {}", path.display()))?;
            }
            None => std::fs::remove_file(&path).doing(format!("cannot remove {}", path.display()))?,
        }
        eprintln!("written      {}", path.display());
    }
    Ok(())
}

/// Commits the files to a branch, which begins where the working tree stands.
fn commit(tree: &Path, branch: &str, text: &str, changes: &[FileChange]) -> Outcome {
    let doing = format!("cannot commit to {branch}");
    let repository = Composition::open(tree).doing(doing.as_str())?;
    repository.begin(branch).doing(doing.as_str())?;
    let files = changes.iter().map(|change| {
        let made = match &change.after {
            Some(text) => Change::Write(text.clone().into_bytes()),
            None => Change::Remove,
        };
        (change.path.clone(), made)
    });
    let message = Message { name: "lynceus", email: "lynceus@localhost", when: Timestamp::now(), text };
    let commit = repository.commit(branch, &message, files).doing(doing)?;
    eprintln!("committed    {commit} to {branch}; nothing was pushed");
    Ok(())
}
