//! Random templates, evaluated by Go and by us.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::generate::Generator;
use crate::rig::oracle;
use crate::run;

/// How many differences are shown.
const SHOWN: usize = 20;

/// What chance begins with.
const SEED: u64 = 20_261_116;

/// Asks both the same, half of it single calls of every function, half of it pipelines. Gives how many answers agree out
/// of how many.
pub(super) fn compare(count: usize) -> Result<(usize, usize), String> {
    let oracle = oracle("gotmpl")?;
    let mut cargo = run::command("cargo");
    run::passes(cargo.args([
        "build",
        "--quiet",
        "--workspace",
        "--example",
        "answers",
        "--example",
        "questions",
    ]))?;
    let examples = run::program("lynceus")?.with_file_name("examples");
    let calls =
        Command::new(examples.join("questions")).args([SEED.to_string(), (count / 2).to_string()]).output();
    let calls = calls.map_err(|error| format!("questions: {error}"))?;
    let mut questions = lines(&calls.stdout)?;
    let mut generator = Generator::new(SEED);
    questions.extend((questions.len()..count).map(|_| generator.question()));
    let text: String = questions.iter().map(|question| format!("{question}\n")).collect();
    let (theirs, ours) = (ask(&oracle, &text)?, ask(&examples.join("answers"), &text)?);
    if theirs.len() != count || ours.len() != count {
        return Err(format!("{count} questions, {} answers by Go, {} by us", theirs.len(), ours.len()));
    }
    let answers = questions.iter().zip(theirs.iter().zip(&ours));
    let differences: Vec<_> = answers.filter(|(_, (theirs, ours))| theirs != ours).collect();
    for (question, (theirs, ours)) in differences.iter().take(SHOWN) {
        println!(
            "{}\n  values:  {}\n  go:      {theirs}\n  lynceus: {ours}",
            question["template"], question["values"]
        );
    }
    Ok((count - differences.len(), count))
}

fn ask(program: &Path, questions: &str) -> Result<Vec<Value>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", program.display());
    let mut child =
        Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)?;
    let mut stdin = child.stdin.take().ok_or("the program has no input")?;
    let text = questions.to_owned();
    // Written beside the reading: neither pipe holds everything.
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().map_err(failed)?;
    writer.join().map_err(|_| "the questions were not written")?.map_err(failed)?;
    lines(&output.stdout)
}

fn lines(bytes: &[u8]) -> Result<Vec<Value>, String> {
    let text = String::from_utf8_lossy(bytes);
    text.lines().map(|line| serde_json::from_str(line).map_err(|error| error.to_string())).collect()
}
