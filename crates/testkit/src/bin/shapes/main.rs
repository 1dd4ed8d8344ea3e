//! Asks a running server everything that can be asked with GET, and holds the answers against the shapes that Argo CD
//! publishes: types, and no field that it does not have. Every path and verb of Argo CD has to be there.
//!
//! Run it with `cargo xtask compat argocd`, which starts the server: `shapes URL PASSWORD SWAGGER`.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool for the project's own people"
)]

mod ask;
mod judge;
mod places;

use std::process::ExitCode;

use serde_json::Value;

use crate::ask::Asker;
use crate::judge::Judge;
use crate::places::Place;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, password, swagger] = &arguments[..] else {
        eprintln!(
            "error: the arguments are the server's address, the administrator's password and Argo CD's swagger.json"
        );
        return ExitCode::FAILURE;
    };
    match compared(url, password, swagger).await {
        Ok((passed, wrong)) => {
            wrong.iter().for_each(|line| println!("{line}"));
            println!("shapes: {passed} of {} as Argo CD has them", passed + wrong.len());
            if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// How many answers and paths are as they should be, and what is wrong with the others.
async fn compared(url: &str, password: &str, swagger: &str) -> Result<(usize, Vec<String>), String> {
    let text = std::fs::read_to_string(swagger).map_err(|error| format!("cannot read {swagger}: {error}"))?;
    let theirs: Value = serde_json::from_str(&text).map_err(|error| format!("{swagger}: {error}"))?;
    let asker = Asker::log_in(url, password).await?;
    let ours = asker.get("/swagger.json").await?;
    let mut wrong = missing(&theirs, &ours);
    let mut passed = ways(&theirs).len() - wrong.len();
    let mut judge = Judge::new(&theirs)?;
    for Place { path, address, is_stream } in places::of(&asker, &theirs).await? {
        let answer = match is_stream {
            true => asker.first(&address).await,
            false => asker.get(&address).await,
        };
        match answer.and_then(|answer| judge.verdict(&path, &answer)) {
            Ok(()) => passed += 1,
            Err(why) => wrong.push(format!("GET {address}: {why}")),
        }
    }
    Ok((passed, wrong))
}

/// The paths and verbs of a description.
fn ways(document: &Value) -> Vec<(&str, &str)> {
    let paths = document["paths"].as_object().into_iter().flatten();
    let all = paths.flat_map(|(path, verbs)| {
        verbs.as_object().into_iter().flatten().map(move |(verb, _)| (path.as_str(), verb.as_str()))
    });
    all.collect()
}

fn missing(theirs: &Value, ours: &Value) -> Vec<String> {
    let lacking = ways(theirs).into_iter().filter(|(path, verb)| ours["paths"][*path][*verb].is_null());
    lacking.map(|(path, verb)| format!("{} {path} is not there", verb.to_uppercase())).collect()
}
