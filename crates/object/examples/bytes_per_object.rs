//! Measures what an object costs to hold: the size that [`Value::heap_size`] computes, and how much the
//! process grows when it holds many, here and with `serde_json::Value`.
//!
//! `cargo run --release --example bytes_per_object`; the numbers are kept in `docs/object-memory.md`.

#![allow(clippy::print_stdout)]

use lynceus_object::{Value, json, yaml};

const OBJECTS: [(&str, &str); 3] = [
    ("ConfigMap", include_str!("objects/configmap.yaml")),
    ("Deployment", include_str!("objects/deployment.yaml")),
    ("Pod", include_str!("objects/pod.yaml")),
];

/// How many objects are held to see the process grow.
const COUNT: usize = 20_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "{:<12} {:>10} {:>10} {:>14} {:>14}",
        "object", "JSON", "heap_size", "grown (ours)", "grown (serde)"
    );
    for (name, text) in OBJECTS {
        let value = yaml::parse_str(text)?;
        let json = json::to_vec(&value);
        let ours = growth(|| json::parse(&json))?;
        let serde = growth(|| serde_json::from_slice::<serde_json::Value>(&json))?;
        println!("{name:<12} {:>10} {:>10} {ours:>14} {serde:>14}", json.len(), held(&value));
    }
    Ok(())
}

fn held(value: &Value) -> usize {
    size_of::<Value>() + value.heap_size()
}

/// By how many bytes the process grows for each of many objects.
fn growth<T, E>(make: impl Fn() -> Result<T, E>) -> Result<usize, Box<dyn std::error::Error>>
where
    E: std::error::Error + 'static,
{
    let before = resident()?;
    let all = (0..COUNT).map(|_| make()).collect::<Result<Vec<T>, E>>()?;
    let grown = resident()?.saturating_sub(before);
    // What was measured goes away only after the measurement; it is not handed back, so that the
    // next one does not reuse it.
    std::mem::forget(all);
    Ok(grown / COUNT)
}

/// The resident memory of this process, from `/proc`.
fn resident() -> Result<usize, Box<dyn std::error::Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line =
        status.lines().find(|line| line.starts_with("VmRSS:")).ok_or("no VmRSS in /proc/self/status")?;
    let kilobytes: usize = line.split_whitespace().nth(1).ok_or("no number in VmRSS")?.parse()?;
    Ok(kilobytes * 1024)
}
