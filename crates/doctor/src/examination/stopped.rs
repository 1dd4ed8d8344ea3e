//! The applications that a cause stops.

use std::iter::Peekable;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::node::AppName;

/// Applications in the order of their names. A thousand causes may stop the same thousand applications: what they have in common
/// is kept once for all of them.
#[derive(Clone, Debug, Default)]
pub struct Stopped {
    /// What is not among the shared ones, in order.
    own: Vec<AppName>,
    /// What others have too, in order.
    shared: Arc<[AppName]>,
}

impl Stopped {
    /// Some applications, and those of a list in order that others have too.
    pub(super) fn new(own: impl IntoIterator<Item = AppName>, shared: Arc<[AppName]>) -> Self {
        let mut stopped = Stopped { own: Vec::new(), shared };
        stopped.extend(own);
        stopped
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.own.len() + self.shared.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether an application is among them.
    pub fn contains(&self, name: &AppName) -> bool {
        self.own.binary_search(name).is_ok() || self.shared.binary_search(name).is_ok()
    }

    /// All of them, in the order of their names.
    pub fn iter(&self) -> Names<'_> {
        Names { own: self.own.iter().peekable(), shared: self.shared.iter().peekable() }
    }

    /// Those that are not shared.
    pub(super) fn own(&self) -> &[AppName] {
        &self.own
    }

    /// Takes those of another one in.
    pub(super) fn merge(&mut self, other: Stopped) {
        let is_one_list = Arc::ptr_eq(&self.shared, &other.shared);
        self.extend(other.own);
        if !is_one_list {
            self.extend(other.shared.iter().cloned());
        }
    }
}

impl Extend<AppName> for Stopped {
    fn extend<I: IntoIterator<Item = AppName>>(&mut self, names: I) {
        let shared = &self.shared;
        self.own.extend(names.into_iter().filter(|name| shared.binary_search(name).is_err()));
        self.own.sort();
        self.own.dedup();
    }
}

impl<'a> IntoIterator for &'a Stopped {
    type Item = &'a AppName;
    type IntoIter = Names<'a>;

    fn into_iter(self) -> Names<'a> {
        self.iter()
    }
}

impl Serialize for Stopped {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

/// The names of applications, in order.
pub struct Names<'a> {
    own: Peekable<std::slice::Iter<'a, AppName>>,
    shared: Peekable<std::slice::Iter<'a, AppName>>,
}

impl<'a> Iterator for Names<'a> {
    type Item = &'a AppName;

    fn next(&mut self) -> Option<&'a AppName> {
        match (self.own.peek(), self.shared.peek()) {
            (Some(own), Some(shared)) if shared < own => self.shared.next(),
            (None, _) => self.shared.next(),
            _ => self.own.next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<AppName> {
        text.split_whitespace().map(|name| AppName::new("argocd", name)).collect()
    }

    fn told(stopped: &Stopped) -> String {
        stopped.iter().map(|name| name.name.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn all_are_told_once_and_in_order_whether_they_are_shared_or_not() {
        let shared: Arc<[AppName]> = names("b d f").into();
        let mut stopped = Stopped::new(names("e d a e"), Arc::clone(&shared));
        assert_eq!((told(&stopped).as_str(), stopped.len()), ("a b d e f", 5));
        stopped.merge(Stopped::new(names("c a"), shared));
        assert_eq!(told(&stopped), "a b c d e f");
        stopped.merge(Stopped::new(names("g"), names("a h").into()));
        assert_eq!((told(&stopped).as_str(), stopped.len()), ("a b c d e f g h", 8));
        assert!(names("a d h").iter().all(|name| stopped.contains(name)));
        assert!(!stopped.contains(&AppName::new("argocd", "i")));
    }

    #[test]
    fn it_is_written_as_a_list() {
        let stopped = Stopped::new(names("b"), names("a").into());
        let written = serde_json::to_string(&stopped).unwrap();
        assert_eq!(written, r#"[{"namespace":"argocd","name":"a"},{"namespace":"argocd","name":"b"}]"#);
    }
}
