//! Counters and histograms with labels, of which each family may have so many series and no more.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::families::{FAMILIES, Family, Kind};
use crate::limits;
use crate::metrics::Metrics;

/// What has been counted so far.
#[derive(Default)]
pub(super) struct Registry {
    inner: Mutex<Inner>,
    /// Whether requests to GitHub are counted.
    pub(super) github: bool,
}

#[derive(Default)]
struct Inner {
    /// By the name of the family, then by the values of its labels.
    families: BTreeMap<&'static str, BTreeMap<Vec<Box<str>>, Series>>,
    /// How often something was not counted because its family is full.
    left_out: u64,
}

#[derive(Default)]
struct Series {
    /// How often something was in each bucket, without those before it.
    buckets: Vec<u64>,
    count: u64,
    sum: f64,
}

impl Registry {
    pub(super) fn new(github: bool) -> Self {
        Registry { github, ..Registry::default() }
    }

    /// Counts something: by one in a histogram, with what was measured; by that in a counter. A gauge says it from now on.
    pub(super) fn add(&self, family: &'static Family, labels: &[&str], measured: f64) {
        debug_assert_eq!(family.labels.len(), labels.len(), "{}", family.name);
        let mut inner = self.lock();
        let all = inner.families.entry(family.name).or_default();
        let key: Vec<Box<str>> = labels.iter().map(|label| short(label).into()).collect();
        if !all.contains_key(&key) && all.len() >= limits::SERIES {
            inner.left_out += 1;
            return;
        }
        all.entry(key).or_default().add(family, measured);
    }

    /// Everything, family by family in the order of their names.
    pub(super) fn write(&self, metrics: &mut Metrics) {
        let inner = self.lock();
        for family in FAMILIES {
            let Some(all) = inner.families.get(family.name) else { continue };
            metrics.family(family.name, family.help, family.kind.word());
            for (values, series) in all {
                let labels: Vec<(&str, &str)> =
                    family.labels.iter().copied().zip(values.iter().map(|value| &**value)).collect();
                series.write(family, &labels, metrics);
            }
        }
        let name = "lynceus_metrics_left_out_total";
        metrics.family(
            name,
            "How often something was not counted because there were too many others.",
            "counter",
        );
        metrics.value(name, &[], inner.left_out);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Series {
    fn add(&mut self, family: &Family, measured: f64) {
        self.count += 1;
        match family.kind {
            Kind::Gauge => self.sum = measured,
            Kind::Counter | Kind::Histogram(_) => self.sum += measured,
        }
        if let Kind::Histogram(bounds) = family.kind {
            self.buckets.resize(bounds.len(), 0);
            if let Some(at) = bounds.iter().position(|bound| measured <= *bound) {
                self.buckets[at] += 1;
            }
        }
    }

    fn write(&self, family: &Family, labels: &[(&str, &str)], metrics: &mut Metrics) {
        let Kind::Histogram(bounds) = family.kind else {
            return metrics.number(family.name, labels, self.sum);
        };
        let mut below = 0;
        let buckets = bounds.iter().map(ToString::to_string).zip(&self.buckets);
        let name = format!("{}_bucket", family.name);
        for (bound, count) in buckets {
            below += count;
            metrics.value(&name, &[labels, &[("le", bound.as_str())][..]].concat(), below);
        }
        metrics.value(&name, &[labels, &[("le", "+Inf")][..]].concat(), self.count);
        metrics.number(&format!("{}_sum", family.name), labels, self.sum);
        metrics.value(&format!("{}_count", family.name), labels, self.count);
    }
}

/// A value of a label, which somebody else may have chosen.
fn short(label: &str) -> &str {
    let mut end = label.len().min(limits::LABEL);
    while !label.is_char_boundary(end) {
        end -= 1;
    }
    &label[..end]
}

#[cfg(test)]
mod tests {
    use super::super::families::{GIT_DURATION, LOGINS};
    use super::*;

    fn text(registry: &Registry) -> String {
        let mut metrics = Metrics::default();
        registry.write(&mut metrics);
        metrics.into_text()
    }

    #[test]
    fn a_histogram_adds_up_what_is_below_each_bound() {
        let registry = Registry::default();
        for seconds in [0.05, 0.3, 60.0] {
            registry.add(&GIT_DURATION, &["https://git.example.com/a", "fetch"], seconds);
        }
        let text = text(&registry);
        let lines: Vec<&str> = text.lines().filter(|line| line.contains("git_request")).collect();
        assert_eq!(lines[0], "# HELP argocd_git_request_duration_seconds Git requests duration seconds.");
        assert_eq!(lines[1], "# TYPE argocd_git_request_duration_seconds histogram");
        let labels = r#"repo="https://git.example.com/a",request_type="fetch""#;
        let bucket = |le: &str, count: u64| {
            format!("argocd_git_request_duration_seconds_bucket{{{labels},le=\"{le}\"}} {count}")
        };
        assert_eq!(lines[2], bucket("0.1", 1));
        assert_eq!(lines[4], bucket("0.5", 2));
        assert_eq!(lines[10], bucket("+Inf", 3));
        assert_eq!(lines[11], format!("argocd_git_request_duration_seconds_sum{{{labels}}} 60.35"));
        assert_eq!(lines[12], format!("argocd_git_request_duration_seconds_count{{{labels}}} 3"));
    }

    #[test]
    fn a_family_that_is_full_takes_no_further_series_and_says_so() {
        let registry = Registry::default();
        for number in 0..limits::SERIES + 5 {
            registry.add(&LOGINS, &[&number.to_string()], 1.0);
        }
        let text = text(&registry);
        assert_eq!(text.matches("argocd_login_request_total{").count(), limits::SERIES);
        assert!(text.contains("lynceus_metrics_left_out_total 5\n"), "{text}");
    }

    #[test]
    fn a_label_is_cut_between_letters() {
        let long = "ä".repeat(limits::LABEL);
        assert!(short(&long).len() <= limits::LABEL && short(&long).ends_with('ä'));
    }
}
