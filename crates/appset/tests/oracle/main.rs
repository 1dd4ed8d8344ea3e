//! What Argo CD makes of ApplicationSets, and what we make of them.
//!
//! The questions stand in `tests/cases/*.yaml`, one per document, with Argo CD's recorded answers beside them. With
//! `LYNCEUS_APPSET_ORACLE`, a program that asks Argo CD itself, they are asked anew together with some hundreds that are
//! made up; `LYNCEUS_BLESS` then writes down the answers. `cargo xtask compat appset` does all of it.

#![allow(clippy::expect_used, reason = "a test says what it expects")]

mod made_up;
mod world;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lynceus_object::yaml::{self, Options};
use lynceus_object::{Value, json};
use world::answer;

/// A question with its name.
struct Question {
    name: String,
    value: Value,
}

#[test]
fn recorded_answers_of_argo_cd_are_ours() {
    let mut wrong = Vec::new();
    for file in files() {
        let questions = read(&file);
        let recorded = fs::read_to_string(file.with_extension("jsonl")).expect("recorded answers");
        assert_eq!(questions.len(), recorded.lines().count(), "{}", file.display());
        for (question, theirs) in questions.iter().zip(recorded.lines()) {
            let theirs = json::parse(theirs.as_bytes()).expect("an answer");
            wrong.extend(difference(question, &theirs));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn argo_cd_answers_the_same_when_asked() {
    let Ok(oracle) = std::env::var("LYNCEUS_APPSET_ORACLE") else { return };
    for file in files().iter().filter(|_| std::env::var("LYNCEUS_BLESS").is_ok()) {
        let answers: Vec<String> =
            ask(&oracle, &read(file)).iter().map(|answer| json::to_string(answer) + "\n").collect();
        fs::write(file.with_extension("jsonl"), answers.concat()).expect("written");
    }
    let count = std::env::var("LYNCEUS_APPSET_COUNT").map_or(500, |count| count.parse().expect("a number"));
    let mut questions: Vec<Question> = files().iter().flat_map(|file| read(file)).collect();
    questions.extend(made_up::questions(count).into_iter().map(|(name, value)| Question { name, value }));
    let theirs = ask(&oracle, &questions);
    let wrong: Vec<String> =
        questions.iter().zip(&theirs).filter_map(|(question, theirs)| difference(question, theirs)).collect();
    let failed = theirs.iter().filter(|answer| answer.get("error").is_some()).count();
    let deviating = || questions.iter().filter_map(|one| Some((one.value.str_at(&["deviates"])?, &one.name)));
    deviating().for_each(|(why, name)| println!("appset: {why}={name}"));
    let agreed = questions.len() - deviating().count() - wrong.len();
    println!("appset: {agreed} of {}", questions.len());
    eprintln!("{failed} of {} questions are answered with an error", questions.len());
    assert!(
        wrong.is_empty(),
        "{} of {} differ\n{}",
        wrong.len(),
        questions.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
}

/// What differs. A case may say why it does, and must then do so.
fn difference(question: &Question, theirs: &Value) -> Option<String> {
    let ours = answer(&question.value);
    let theirs = world::normal(theirs);
    let deviates = question.value.str_at(&["deviates"]);
    match (ours == theirs, deviates) {
        (true, None) | (false, Some(_)) => None,
        (true, Some(why)) => Some(format!("{}: no longer differs ({why})", question.name)),
        (false, None) => {
            let asked = yaml::to_string(&question.value);
            let (ours, theirs) = (yaml::to_string(&ours), yaml::to_string(&theirs));
            Some(format!("== {}\n{asked}-- Argo CD\n{theirs}-- ours\n{ours}", question.name))
        }
    }
}

fn files() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let entries = fs::read_dir(directory).expect("the cases").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "yaml")).collect();
    files.sort();
    files
}

fn read(file: &Path) -> Vec<Question> {
    let text = fs::read(file).expect("a file of cases");
    let documents = yaml::documents(&text, &Options::default());
    let questions = documents.into_iter().enumerate().map(|(at, document)| {
        let value = document.result.unwrap_or_else(|error| panic!("{} {at}: {error}", file.display()));
        let name = value.str_at(&["name"]).unwrap_or_default();
        let file = file.file_stem().unwrap_or_default().to_string_lossy();
        Question { name: format!("{file}#{at} {name}"), value }
    });
    questions.collect()
}

fn ask(oracle: &str, questions: &[Question]) -> Vec<Value> {
    let mut child = Command::new(oracle)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{oracle}: {error}"));
    let mut input = child.stdin.take().expect("its input");
    let lines: Vec<String> =
        questions.iter().map(|question| json::to_string(&world::sent(&question.value)) + "\n").collect();
    let writer = std::thread::spawn(move || input.write_all(lines.concat().as_bytes()).expect("written"));
    let output = child.wait_with_output().expect("its answers");
    writer.join().expect("all is written");
    let answers = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let answers: Vec<Value> = answers.map(|line| json::parse(line).expect("an answer")).collect();
    assert_eq!(answers.len(), questions.len());
    answers
}
