//! Indexed Jobs: each pod has a number, and each number has to succeed once.

use std::collections::BTreeSet;

use lynceus_object::{Object, Value, value};

use crate::controllers::pods;

const INDEX: &str = "batch.kubernetes.io/job-completion-index";

/// The number of a pod.
pub(super) fn of(pod: &Object) -> Option<i64> {
    pod.annotation(INDEX)?.parse().ok()
}

/// Numbers that have neither succeeded nor a pod, the lowest first.
pub(super) fn free(job: &Object, pods_of_job: &[Object], status: &Object, most: i64) -> Vec<i64> {
    let completions = job.value().int_at(&["spec", "completions"]).unwrap_or(0);
    let done = completed(status);
    let taken: BTreeSet<i64> = pods_of_job.iter().filter(|pod| pods::is_active(pod)).filter_map(of).collect();
    (0..completions)
        .filter(|index| !done.contains(index) && !taken.contains(index))
        .take(usize::try_from(most).unwrap_or(0))
        .collect()
}

/// Gives a pod its number: in its name, as a label and annotation, and in the environment of its containers.
pub(super) fn label(pod: &mut Object, job: &Object, index: i64) {
    let text = index.to_string();
    pod.set(&["metadata", "generateName"], format!("{}-{text}-", job.name()));
    pod.set_annotation(INDEX, text.as_str());
    pod.set_label(INDEX, text.as_str());
    pod.set(&["spec", "hostname"], format!("{}-{text}", job.name()));
    for list in ["initContainers", "containers"] {
        let Some(Value::Seq(containers)) = pod.value_mut().at_mut(&["spec", list]) else { continue };
        for container in containers.make_mut() {
            let mut env = container.items_at(&["env"]).to_vec();
            let field = value!({"fieldRef": {"apiVersion": "v1", "fieldPath": format!("metadata.labels['{INDEX}']")}});
            env.push(value!({"name": "JOB_COMPLETION_INDEX", "valueFrom": field}));
            container.set(&["env"], env);
        }
    }
}

/// Adds numbers to those that have succeeded. Gives how many there are.
pub(super) fn complete(status: &mut Object, more: &[i64]) -> i64 {
    let mut done = completed(status);
    done.extend(more);
    if !done.is_empty() {
        status.set(&["status", "completedIndexes"], print(&done));
    }
    done.len() as i64
}

fn completed(job: &Object) -> BTreeSet<i64> {
    let text = job.value().str_at(&["status", "completedIndexes"]).unwrap_or_default();
    let range = |part: &str| -> Option<std::ops::RangeInclusive<i64>> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    text.split(',').filter_map(range).flatten().collect()
}

/// Numbers as `0,2-4`: two in a row are listed, more become a range.
fn print(done: &BTreeSet<i64>) -> String {
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for index in done {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *index => *last = *index,
            _ => ranges.push((*index, *index)),
        }
    }
    let parts: Vec<String> = ranges
        .iter()
        .map(|(first, last)| match last - first {
            0 => first.to_string(),
            1 => format!("{first},{last}"),
            _ => format!("{first}-{last}"),
        })
        .collect();
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controllers::kind::JOB;

    #[test]
    fn numbers_are_kept_as_ranges() {
        let mut job = JOB.named("shop", "index");
        assert_eq!(complete(&mut job, &[0, 2, 3, 4]), 4);
        assert_eq!(job.value().str_at(&["status", "completedIndexes"]), Some("0,2-4"));
        assert_eq!(complete(&mut job, &[1]), 5);
        assert_eq!(job.value().str_at(&["status", "completedIndexes"]), Some("0-4"));
        assert_eq!(complete(&mut job, &[6, 7]), 7);
        assert_eq!(job.value().str_at(&["status", "completedIndexes"]), Some("0-4,6,7"));
    }
}
