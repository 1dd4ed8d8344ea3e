//! Names that differ little.

use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The name that differs least from one that is not there, if the difference is as small as a slip of the hand: a letter or two, a
/// part that is doubled or left out, two parts that have changed places.
pub fn nearest<'a>(name: &str, there: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = there.into_iter().filter(|other| *other != name && is_near(name, other));
    near.min_by_key(|other| (distance(name, other), *other))
}

/// The name that was probably meant, where it need not be a slip of the hand: the nearest one, or else the only one that says the same
/// shorter, longer or without a part. `letsencrypt-production` and `letsencrypt-prod`, `nvidia-a100` and `a100`.
pub fn likely<'a>(name: &str, there: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let there: BTreeSet<&'a str> = there.into_iter().filter(|other| *other != name).collect();
    nearest(name, there.iter().copied()).or_else(|| {
        let mut kin: Vec<(usize, &'a str)> =
            there.into_iter().filter_map(|other| Some((kinship(name, other)?, other))).collect();
        kin.sort_by_key(|(shared, _)| Reverse(*shared));
        match kin.as_slice() {
            [(_, only)] => Some(*only),
            [(most, best), (next, _), ..] if most > next => Some(*best),
            _ => None,
        }
    })
}

/// The name that was certainly meant, if there is one: a slip of the hand, or the same words with some of them shortened, as in `nginx-ext`
/// and `nginx-external`.
pub fn slip<'a>(name: &str, there: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let there: BTreeSet<&'a str> = there.into_iter().filter(|other| *other != name).collect();
    nearest(name, there.iter().copied()).or_else(|| there.into_iter().find(|other| is_shortened(name, other)))
}

fn is_shortened(name: &str, other: &str) -> bool {
    let parts = |name: &str| name.matches(['-', '.', '_', '/']).count();
    parts(name) > 0 && parts(name) == parts(other) && kinship(name, other).is_some()
}

/// The name that differs by a single letter: names that are chosen with care, as those of kinds are, are others if two do.
pub fn one_off<'a>(name: &str, there: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut there =
        there.into_iter().filter(|other| name.len().min(other.len()) > 3 && !is_next(name, other));
    there.find(|other| distance(name, other) == 1)
}

/// How many letters two names share by whole words, if the words of one are all in the other, in their order. A word counts
/// as another that it begins, as `prod` does `production`.
fn kinship(name: &str, other: &str) -> Option<usize> {
    if is_next(name, other) {
        return None;
    }
    let words = |name: &str| -> Vec<String> {
        name.split(['-', '.', '_', '/']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let (mut few, mut many) = (words(name), words(other));
    if few.len() > many.len() {
        std::mem::swap(&mut few, &mut many);
    }
    let mut rest = many.iter();
    let mut shared = 0;
    for word in &few {
        let found = rest.find(|one| is_same_word(word, one))?;
        shared += word.len().min(found.len());
    }
    // A number or a letter or two in common means nothing.
    let is_telling =
        few.iter().any(|word| word.len() > 1 && word.bytes().any(|byte| byte.is_ascii_alphabetic()));
    (is_telling && many.len() <= few.len() + 2).then_some(shared)
}

fn is_same_word(word: &str, other: &str) -> bool {
    let (short, long) = if word.len() <= other.len() { (word, other) } else { (other, word) };
    short == long
        || (short.len() >= 3
            && long.starts_with(short)
            && short.bytes().all(|byte| byte.is_ascii_alphabetic()))
}

fn is_near(name: &str, other: &str) -> bool {
    let room = match name.len().min(other.len()) {
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    };
    let is_close = name.len().abs_diff(other.len()) <= room && distance(name, other) <= room;
    (is_close && !is_next(name, other)) || has_same_parts(name, other) || has_same_letters(name, other)
}

/// `web-1` and `web-2` stand beside each other on purpose.
fn is_next(name: &str, other: &str) -> bool {
    let letters = |name: &str| name.chars().filter(|sign| !sign.is_ascii_digit()).collect::<String>();
    letters(name) == letters(other)
}

/// `web-db` and `db-web`; `shop-web` and `web` are different things as often as not.
fn has_same_parts(name: &str, other: &str) -> bool {
    let parts = |name: &str| {
        let mut parts: Vec<String> = name.split(['-', '.', '_']).map(str::to_owned).collect();
        parts.sort_unstable();
        parts
    };
    // Names of other lengths have other parts, which is told faster.
    name.len() == other.len() && name.contains(['-', '.', '_']) && parts(name) == parts(other)
}

/// `api_token` and `API_TOKEN`, `gitBase` and `git-base`.
fn has_same_letters(name: &str, other: &str) -> bool {
    let letters = |name: &str| -> String {
        name.chars().filter(|sign| sign.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    letters(name) == letters(other)
}

/// How many letters have to be changed, added or taken out, neighbours that changed places counting once.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let same = usize::from(a[i - 1] != b[j - 1]);
            let mut least = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + same);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_hand_are_near_and_other_names_are_not() {
        let there = ["db-credentials", "web-tls", "cache"];
        assert_eq!(nearest("db-credential", there), Some("db-credentials"));
        assert_eq!(nearest("db-crednetials", there), Some("db-credentials"));
        assert_eq!(nearest("tls-web", there), Some("web-tls"));
        assert_eq!(nearest("db-password", there), None);
        assert_eq!(nearest("cat", ["car"]), None);
        assert_eq!(nearest("api_token", ["API_URL", "API_TOKEN"]), Some("API_TOKEN"));
        assert_eq!(nearest("gitBase", ["git-base"]), Some("git-base"));
        assert_eq!(nearest("web-1", ["web-2"]), None);
    }

    #[test]
    fn the_same_words_shortened_are_a_slip_and_further_words_are_not() {
        assert_eq!(slip("nginx-external", ["nginx-ext", "haproxy"]), Some("nginx-ext"));
        assert_eq!(slip("criticl", ["critical"]), Some("critical"));
        assert_eq!(slip("nginx-internal", ["nginx"]), None);
        assert_eq!(slip("gold", ["silver"]), None);
    }

    #[test]
    fn kinds_are_one_letter_off_or_others() {
        assert_eq!(one_off("Aplication", ["AppProject", "Application"]), Some("Application"));
        assert_eq!(one_off("Deploymnt", ["DaemonSet", "Deployment"]), Some("Deployment"));
        assert_eq!(one_off("TLSRoute", ["TCPRoute"]), None);
        assert_eq!(one_off("Rollout", ["Application"]), None);
    }

    #[test]
    fn what_says_the_same_shorter_or_longer_is_likely_if_nothing_else_does() {
        assert_eq!(
            likely("letsencrypt-production", ["letsencrypt-prod", "selfsigned"]),
            Some("letsencrypt-prod")
        );
        assert_eq!(likely("nvidia-a100", ["a100", "t4"]), Some("a100"));
        assert_eq!(likely("develop", ["dev", "prod"]), Some("dev"));
        assert_eq!(likely("wildcard-tls", ["wildcard-acme-tls", "web"]), Some("wildcard-acme-tls"));
        assert_eq!(likely("geo-db", ["eu-geo", "eu-geo-db"]), Some("eu-geo-db"));
        assert_eq!(likely("web-tls", ["api-tls", "web-cfg"]), None, "one word in common is not enough");
        assert_eq!(likely("web", ["web-a", "web-b"]), None, "two fit as well as each other");
        assert_eq!(likely("web-2", ["web-1"]), None);
        assert_eq!(likely("gp2", ["gp3"]), None);
    }
}
