//! Charts that were loaded before, kept by what they were loaded from.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use lynceus_files::{ReadSet, Tree};
use lynceus_helm::Chart;

use crate::job::{Fetched, Need};

/// How many charts are kept of one place: an application may be at one revision while another is at the next.
const PER_PLACE: usize = 8;

/// Loaded charts with their parsed templates, up to a number of bytes; those that were used the longest ago go first.
///
/// A chart is taken from here only if every file that was looked at when it was loaded, and every archive that had to be
/// got, is what it was then. A tree that cannot tell its files apart without reading them has no use for it.
pub struct Charts {
    limit: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    places: HashMap<String, Vec<Entry>>,
    bytes: usize,
    uses: u64,
}

struct Entry {
    chart: Arc<Chart>,
    source: Arc<Loaded>,
    bytes: usize,
    used: u64,
}

/// What a chart was loaded from.
pub(crate) struct Loaded {
    /// What was looked at.
    pub(crate) read_set: ReadSet,
    fingerprint: String,
    /// What was got from elsewhere.
    fetched: Fetched,
}

/// A chart that was loaded before, as far as it can be had.
pub(crate) enum Found {
    Chart(Arc<Chart>, Arc<Loaded>),
    /// The chart is known, and so is what it needs that has not been got this time.
    Needs(Arc<Chart>, Arc<Loaded>, Vec<Need>),
}

impl Charts {
    /// Keeps charts of about this many bytes together.
    pub fn new(limit: usize) -> Self {
        Charts { limit, kept: Mutex::default() }
    }

    /// Keeps nothing.
    pub fn none() -> Self {
        Charts::new(0)
    }

    /// The chart of a place, if it was loaded from what `tree` has there.
    pub(crate) fn find(&self, place: &str, tree: &dyn Tree, fetched: &Fetched) -> Option<Found> {
        // Trees are asked while nobody else waits for the charts.
        let known: Vec<(Arc<Chart>, Arc<Loaded>)> = {
            let kept = self.lock();
            let entries = kept.places.get(place)?;
            entries.iter().rev().map(|entry| (entry.chart.clone(), entry.source.clone())).collect()
        };
        let same = known.into_iter().filter(|(_, loaded)| loaded.is_still_so(tree));
        let mut needs = None;
        for (chart, loaded) in same {
            let missing: Vec<Need> =
                loaded.fetched.keys().filter(|need| !fetched.contains_key(*need)).cloned().collect();
            if !missing.is_empty() {
                needs.get_or_insert(Found::Needs(chart, loaded, missing));
            } else if loaded.fetched.iter().all(|(need, bytes)| fetched.get(need) == Some(bytes)) {
                self.lock().touch(place, &chart);
                return Some(Found::Chart(chart, loaded));
            }
        }
        needs
    }

    /// Keeps a chart of a place, with what it was loaded from.
    pub(crate) fn keep(&self, place: &str, tree: &dyn Tree, chart: &Arc<Chart>, source: (ReadSet, Fetched)) {
        let (read_set, fetched) = source;
        let bytes = chart.weight() + fetched.values().map(|archive| archive.len()).sum::<usize>();
        if bytes > self.limit {
            return;
        }
        let Some(fingerprint) = read_set.fingerprint(tree) else { return };
        let source = Arc::new(Loaded { read_set, fingerprint, fetched });
        let mut kept = self.lock();
        kept.uses += 1;
        let entry = Entry { chart: chart.clone(), source, bytes, used: kept.uses };
        kept.add(place, entry);
        while kept.bytes > self.limit && kept.forget_oldest() {}
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Loaded {
    fn is_still_so(&self, tree: &dyn Tree) -> bool {
        self.read_set.fingerprint(tree).is_some_and(|fingerprint| fingerprint == self.fingerprint)
    }
}

impl Kept {
    fn add(&mut self, place: &str, entry: Entry) {
        self.bytes += entry.bytes;
        let entries = self.places.entry(place.to_owned()).or_default();
        entries.push(entry);
        if entries.len() > PER_PLACE {
            self.bytes -= entries.remove(0).bytes;
        }
    }

    /// Makes a chart the last of its place to go.
    fn touch(&mut self, place: &str, chart: &Arc<Chart>) {
        self.uses += 1;
        let Some(entries) = self.places.get_mut(place) else { return };
        let Some(at) = entries.iter().position(|entry| Arc::ptr_eq(&entry.chart, chart)) else { return };
        entries[at..].rotate_left(1);
        if let Some(last) = entries.last_mut() {
            last.used = self.uses;
        }
    }

    /// Drops what was used the longest ago; whether there was anything.
    fn forget_oldest(&mut self) -> bool {
        let first = |entries: &Vec<Entry>| entries.first().map_or(u64::MAX, |entry| entry.used);
        let oldest =
            self.places.iter().min_by_key(|(_, entries)| first(entries)).map(|(place, _)| place.clone());
        let Some(place) = oldest else { return false };
        let Some(entries) = self.places.get_mut(&place) else { return false };
        if !entries.is_empty() {
            self.bytes -= entries.remove(0).bytes;
        }
        if entries.is_empty() {
            self.places.remove(&place);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use lynceus_files::{Entry as TreeEntry, FilePath, MemoryTree, Recorded, TreeError};

    use super::*;

    /// A tree that can tell its files apart, as those of Git can.
    struct Told(MemoryTree);

    impl Tree for Told {
        fn entry(&self, path: &FilePath) -> Result<TreeEntry, TreeError> {
            self.0.entry(path)
        }

        fn read(&self, path: &FilePath, limit: u64) -> Result<Arc<[u8]>, TreeError> {
            self.0.read(path, limit)
        }

        fn list(&self, path: &FilePath) -> Result<Vec<(String, TreeEntry)>, TreeError> {
            self.0.list(path)
        }

        fn identity(&self, path: &FilePath) -> Result<Option<String>, TreeError> {
            self.0.read(path, 1000).map(|data| Some(String::from_utf8_lossy(&data).into_owned()))
        }
    }

    fn tree(template: &str) -> Told {
        let mut tree = MemoryTree::new();
        let chart = "apiVersion: v2\nname: c\nversion: 1.0.0\n";
        for (name, text) in [("c/Chart.yaml", chart), ("c/templates/t.yaml", template), ("other", "x")] {
            tree.insert(FilePath::new(name).unwrap(), text.as_bytes());
        }
        Told(tree)
    }

    fn load(charts: &Charts, place: &str, tree: &Told, fetched: &Fetched) {
        let recorded = Recorded::new(tree);
        let chart = Arc::new(Chart::from_tree(&recorded, &FilePath::new("c").unwrap()).unwrap());
        charts.keep(place, tree, &chart, (recorded.read_set(), fetched.clone()));
    }

    fn found(charts: &Charts, place: &str, tree: &Told, fetched: &Fetched) -> &'static str {
        match charts.find(place, tree, fetched) {
            Some(Found::Chart(..)) => "chart",
            Some(Found::Needs(..)) => "needs",
            None => "nothing",
        }
    }

    #[test]
    fn a_chart_is_found_while_its_files_are_what_they_were() {
        let (charts, none) = (Charts::new(1 << 20), Fetched::new());
        load(&charts, "a", &tree("x: 1"), &none);
        let mut same = tree("x: 1");
        same.0.insert(FilePath::new("other").unwrap(), *b"y");
        assert_eq!(found(&charts, "a", &same, &none), "chart", "another file makes no difference");
        assert_eq!(found(&charts, "a", &tree("x: 2"), &none), "nothing");
        assert_eq!(found(&charts, "b", &same, &none), "nothing");
        same.0.insert(FilePath::new("c/templates/new.yaml").unwrap(), *b"y");
        assert_eq!(found(&charts, "a", &same, &none), "nothing", "a new file is one of the chart");
    }

    #[test]
    fn what_was_got_from_elsewhere_has_to_be_the_same_too() {
        let (charts, none) = (Charts::new(1 << 20), Fetched::new());
        let got =
            |text: &str| Fetched::from([(Need::Url("https://example.com/x".into()), text.as_bytes().into())]);
        load(&charts, "a", &tree("x: 1"), &got("one"));
        assert_eq!(found(&charts, "a", &tree("x: 1"), &got("one")), "chart");
        assert_eq!(found(&charts, "a", &tree("x: 1"), &got("two")), "nothing");
        assert_eq!(found(&charts, "a", &tree("x: 1"), &none), "needs");
    }

    #[test]
    fn what_was_used_the_longest_ago_goes_first() {
        let none = Fetched::new();
        let measure = Charts::new(1 << 20);
        load(&measure, "a", &tree("x: 1"), &none);
        let one = measure.lock().bytes;
        let charts = Charts::new(one * 2);
        for place in ["a", "b"] {
            load(&charts, place, &tree("x: 1"), &none);
        }
        assert_eq!(found(&charts, "a", &tree("x: 1"), &none), "chart");
        load(&charts, "c", &tree("x: 1"), &none);
        let left = ["a", "b", "c"].map(|place| found(&charts, place, &tree("x: 1"), &none));
        assert_eq!(left, ["chart", "nothing", "chart"]);
        assert_eq!(charts.lock().bytes, one * 2);
    }

    #[test]
    fn a_place_keeps_its_last_charts_only() {
        let (charts, none) = (Charts::new(1 << 20), Fetched::new());
        for number in 0..=PER_PLACE {
            load(&charts, "a", &tree(&format!("x: {number}")), &none);
        }
        assert_eq!(found(&charts, "a", &tree("x: 0"), &none), "nothing");
        assert_eq!(found(&charts, "a", &tree("x: 1"), &none), "chart");
    }
}
