//! `cargo xtask bench doctor`: does the doctor find what is wrong, nothing else, and how fast?
//!
//! Mixtures of causes are made by chance, rehearsed, and what is found is held against what was put in; then snapshots of many
//! applications are looked at. `--seed N` repeats one mixture and prints what was found, `--sorts N` tries each sort alone with so
//! many seeds, `--sort NAME N` repeats one of those, and `--example NAME` prints what is found in
//! one of the examples.
#![allow(clippy::print_stdout, reason = "this is a program whose output is its report")]

mod fleet;
mod inventory;
mod speed;

use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use lynceus_doctor::report;
use lynceus_testkit::mixture::{Mixture, Verdict};

/// What can go wrong, for the one who reads it on the screen.
type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

const FULL: u64 = 200;
const QUICK: u64 = 30;
/// How many of a hundred have to be right.
const WANTED: usize = 95;

const USAGE: &str = "usage: doctor [--quick | --mixtures N | --sorts N | --example NAME | --speed [--short]]
       doctor --seed N [--write FOLDER] | --sort NAME N [--write FOLDER]";

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => all(FULL),
        ["--quick"] => all(QUICK),
        ["--example", name] => inventory::judge(name, true),
        ["--mixtures", count] => mixtures(count.parse()?),
        ["--sorts", count] => sorts(count.parse()?),
        ["--speed"] => speed::measure(false),
        ["--speed", "--short"] => speed::measure(true),
        ["--seed", seed] => one(&Mixture::of(seed.parse()?)),
        ["--seed", seed, "--write", folder] => Mixture::of(seed.parse()?).write(Path::new(folder)),
        ["--sort", sort, seed] => one(&of_sort(sort, seed.parse()?)?),
        ["--sort", sort, seed, "--write", folder] => of_sort(sort, seed.parse()?)?.write(Path::new(folder)),
        _ => Err(USAGE.into()),
    }
}

fn of_sort(sort: &str, seed: u64) -> Outcome<Mixture> {
    Mixture::only(sort, seed).ok_or_else(|| format!("there is no sort {sort}").into())
}

/// Each sort alone, with so many seeds.
fn sorts(count: u64) -> Outcome {
    let seeds = (0..count).flat_map(|seed| Mixture::sorts().map(move |sort| (sort, seed)));
    let made = seeds.filter_map(|(sort, seed)| Some((format!("{sort} {seed}"), Mixture::only(sort, seed)?)));
    judged(made.collect())
}

fn all(count: u64) -> Outcome {
    mixtures(count)?;
    inventory::judge("inventory", false)?;
    speed::measure(false)
}

fn mixtures(count: u64) -> Outcome {
    judged((0..count).map(|seed| (format!("seed {seed}"), Mixture::of(seed))).collect())
}

/// One mixture, with everything that was found.
fn one(mixture: &Mixture) -> Outcome {
    for expected in mixture.expected() {
        println!(
            "expected: {} as {} of {}",
            expected.sort,
            expected.codes.join(" or "),
            expected.applications.join(", ")
        );
    }
    let found = runtime()?.block_on(mixture.examine())?;
    println!("{}", report::text(&found));
    told("it", &mixture.judge(&found));
    Ok(())
}

/// What is moved by the clock of a rehearsal has to be on one thread.
fn runtime() -> Outcome<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

/// Judges what is found in mixtures, on all cores.
fn judged(mixtures: Vec<(String, Mixture)>) -> Outcome {
    let began = Instant::now();
    let next = AtomicUsize::new(0);
    let verdicts: Mutex<Vec<(usize, Outcome<Verdict>)>> = Mutex::default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some((name, mixture)) = mixtures.get(place) else { break };
                    let verdict = judge(mixture).map_err(|error| format!("{name}: {error}").into());
                    if let Ok(verdict) = &verdict {
                        told(name, verdict);
                    }
                    verdicts.lock().unwrap_or_else(PoisonError::into_inner).push((place, verdict));
                }
            });
        }
    });
    let mut verdicts = verdicts.into_inner().unwrap_or_else(PoisonError::into_inner);
    verdicts.sort_by_key(|(place, _)| *place);
    conclude(verdicts.into_iter().map(|(_, verdict)| verdict).collect(), began)
}

fn judge(mixture: &Mixture) -> Outcome<Verdict> {
    let found = runtime()?.block_on(mixture.examine())?;
    Ok(mixture.judge(&found))
}

fn conclude(verdicts: Vec<Outcome<Verdict>>, began: Instant) -> Outcome {
    let mut sum = Verdict::default();
    let count = verdicts.len();
    for verdict in verdicts {
        let verdict = verdict?;
        sum.expected += verdict.expected;
        sum.named += verdict.named;
        sum.missed.extend(verdict.missed);
        sum.wrong.extend(verdict.wrong);
        sum.unexplained.extend(verdict.unexplained);
        sum.astray.extend(verdict.astray);
    }
    let percent = |all: usize, bad: usize| 100.0 * (all - bad) as f64 / all.max(1) as f64;
    let precision = percent(sum.named, sum.wrong.len());
    let recall = percent(sum.expected, sum.missed.len());
    println!("\n| {count} mixtures of one to six causes | |\n|---|---|");
    println!(
        "| causes that were put in, and found | {}, {} |",
        sum.expected,
        sum.expected - sum.missed.len()
    );
    println!("| root causes that were named, and true | {}, {} |", sum.named, sum.named - sum.wrong.len());
    println!("| recall | {recall:.1} % |\n| precision | {precision:.1} % |");
    println!("| applications that nothing explains | {} |", sum.unexplained.len());
    println!("| applications below another cause than their own | {} |", sum.astray.len());
    println!("| time | {:.1?} |", began.elapsed());
    let least = WANTED as f64;
    if precision < least || recall < least {
        return Err(format!("at least {WANTED} % of each are wanted").into());
    }
    Ok(())
}

fn told(what: &str, verdict: &Verdict) {
    verdict.missed.iter().for_each(|one| println!("{what} misses {one}"));
    verdict.wrong.iter().for_each(|one| println!("{what} has wrongly {one}"));
    verdict.unexplained.iter().for_each(|one| println!("{what} does not explain {one}"));
    verdict.astray.iter().for_each(|one| println!("{what} goes astray: {one}"));
}
