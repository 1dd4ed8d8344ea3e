//! The part of `helm dependency build` that only has to think: what is wanted, which version it is, and the lock.

use lynceus_gotmpl::semver::{Constraints, Version};
use lynceus_object::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::chart::{Chart, Dependency, Lock};
use crate::go::text;
use crate::show;

/// Where a dependency comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repository {
    /// It has to be in `charts/` already.
    Included,
    /// A directory, relative to the chart unless it begins with `/`.
    Directory(String),
    /// A repository over HTTP.
    Http(String),
    /// A repository of an OCI registry, without the chart's name.
    Oci(String),
    /// A repository that the user knows by a name.
    Named(String),
}

/// A dependency that is not in `charts/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The chart's name.
    pub name: String,
    /// Where it comes from.
    pub repository: Repository,
    /// The version that is locked, or the range that will do.
    pub version: String,
    /// Whether the version comes from the lock.
    pub is_locked: bool,
}

/// Why dependencies cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// What is locked is not what is asked for.
    #[error(
        "the lock file (Chart.lock) is out of sync with the dependencies file (Chart.yaml). Please update the \
         dependencies with 'helm dependency update'"
    )]
    OutOfSync,
    /// The same, for charts of the first kind.
    #[error(
        "the lock file (requirements.lock) is out of sync with the dependencies file (requirements.yaml). Please \
         update the dependencies"
    )]
    OldOutOfSync,
    /// A range of versions cannot be read.
    #[error("dependency {name} has an invalid version/constraint format: {reason}")]
    BadRange {
        /// The dependency, in quotes.
        name: String,
        /// What is wrong with the range.
        reason: String,
    },
    /// No version will do.
    #[error(
        "can't get a valid version for {} subchart(s): {}. Make sure a matching chart version exists in the repo, or \
         change the version constraint in Chart.yaml", .0.len(), .0.join(", ")
    )]
    NoVersion(Vec<String>),
}

impl Repository {
    /// Reads the repository of a dependency.
    pub fn parse(given: &str) -> Self {
        if given.is_empty() {
            Repository::Included
        } else if let Some(path) = given.strip_prefix("file://") {
            Repository::Directory(path.to_owned())
        } else if given.starts_with("oci://") {
            Repository::Oci(given.to_owned())
        } else if let Some(name) = given.strip_prefix('@').or_else(|| given.strip_prefix("alias:")) {
            Repository::Named(name.to_owned())
        } else {
            Repository::Http(given.to_owned())
        }
    }
}

/// Which dependencies of a chart are not in `charts/`, with the locked versions where there is a lock.
pub fn wanted(chart: &Chart) -> Result<Vec<Wanted>, ResolveError> {
    if let Some(lock) = &chart.lock {
        check_lock(chart, &chart.metadata.dependencies, lock)?;
    }
    let locked = chart.lock.as_ref().map(|lock| lock.dependencies.as_slice()).unwrap_or_default();
    let asked = chart.metadata.dependencies.iter().enumerate();
    let missing =
        asked.filter(|(_, wanted)| !chart.dependencies.iter().any(|inner| inner.name() == wanted.name));
    Ok(missing
        .map(|(at, wanted)| {
            let lock = locked.get(at).filter(|lock| lock.name == wanted.name);
            Wanted {
                name: wanted.name.clone(),
                repository: Repository::parse(&lock.unwrap_or(wanted).repository),
                version: lock.unwrap_or(wanted).version.clone(),
                is_locked: lock.is_some(),
            }
        })
        .collect())
}

/// By which of its digests a lock was known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockDigest {
    /// By that over what is asked for and what was chosen.
    Current,
    /// By that of Helm 2, which hashed only what was asked for.
    Old,
}

/// Checks that a lock was made for what a chart asks for. `asked` are its dependencies with the URLs of repositories in
/// the place of their names, as they were when the lock was made.
pub fn check_lock(chart: &Chart, asked: &[Dependency], lock: &Lock) -> Result<LockDigest, ResolveError> {
    if digest(asked, &lock.dependencies) == lock.digest {
        return Ok(LockDigest::Current);
    }
    if chart.metadata.api_version != "v1" {
        return Err(ResolveError::OutOfSync);
    }
    let old = sha256(&format!("{{\"dependencies\":{}}}", list(&chart.metadata.dependencies)));
    if old == lock.digest { Ok(LockDigest::Old) } else { Err(ResolveError::OldOutOfSync) }
}

/// Whether a version lies in the range that a dependency asks for. A version that cannot be read lies in none.
pub fn satisfies(dependency: &Dependency, version: &str) -> Result<bool, ResolveError> {
    let chosen = choose(&dependency.name, &dependency.version, [version])?;
    Ok(chosen.is_some())
}

/// Whether a text is one version, not a range of them.
pub fn is_version(text: &str) -> bool {
    Version::parse(text).is_ok()
}

/// Whether two texts mean one version; texts that are none have to be equal.
pub fn same_version(left: &str, right: &str) -> bool {
    match (Version::parse(left), Version::parse(right)) {
        (Ok(left), Ok(right)) => left.compare(&right).is_eq(),
        (Err(_), _) => left == right,
        (Ok(_), Err(_)) => false,
    }
}

/// Whether a text is a version with all of its three numbers and nothing before them.
pub fn is_strict_version(text: &str) -> bool {
    Version::strict(text).is_ok()
}

/// The newest of some versions that lies in a range, as it was written.
pub fn choose<'a>(
    name: &str,
    range: &str,
    versions: impl IntoIterator<Item = &'a str>,
) -> Result<Option<&'a str>, ResolveError> {
    let range = Constraints::parse(range)
        .map_err(|error| ResolveError::BadRange { name: text::quote(name), reason: error.to_string() })?;
    let readable = versions.into_iter().filter_map(|given| Some((Version::parse(given).ok()?, given)));
    let fitting = readable.filter(|(version, _)| range.check(version));
    Ok(fitting.max_by(|(a, _), (b, _)| a.compare(b)).map(|(_, given)| given))
}

/// The words for dependencies of which no version will do.
pub fn no_version(wanted: &[Dependency]) -> ResolveError {
    let told = wanted.iter().map(|dependency| {
        let [name, repository, version] =
            [&dependency.name, &dependency.repository, &dependency.version].map(|part| text::quote(part));
        format!("{name} (repository {repository}, version {version})")
    });
    ResolveError::NoVersion(told.collect())
}

/// The lock for some choices, made at a time in Go's form of RFC 3339.
pub fn lock(asked: &[Dependency], chosen: Vec<Dependency>, generated: &str) -> Lock {
    Lock { generated: generated.to_owned(), digest: digest(asked, &chosen), dependencies: chosen }
}

/// `Chart.lock` as Helm writes it.
pub fn print_lock(lock: &Lock) -> String {
    let mut map = Map::new();
    map.insert("dependencies", lock.dependencies.iter().map(show::dependency).collect::<Value>());
    map.insert("digest", lock.digest.as_str());
    map.insert("generated", time(&lock.generated));
    lynceus_object::yaml::to_string(&Value::Map(map))
}

/// A time as Go prints it again: without zeros at the end of a fraction, and the year 1 if there is none.
fn time(text: &str) -> String {
    if text.is_empty() {
        return "0001-01-01T00:00:00Z".to_owned();
    }
    let Some((whole, rest)) = text.split_once('.') else { return text.to_owned() };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (fraction, zone) = rest.split_at(digits);
    match fraction.trim_end_matches('0') {
        "" => format!("{whole}{zone}"),
        fraction => format!("{whole}.{fraction}{zone}"),
    }
}

/// What tells that a lock was made for these wishes.
fn digest(asked: &[Dependency], chosen: &[Dependency]) -> String {
    sha256(&format!("[{},{}]", list(asked), list(chosen)))
}

fn sha256(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}

/// Dependencies as Go's JSON: fields in the order in which they are declared.
fn list(dependencies: &[Dependency]) -> String {
    if dependencies.is_empty() {
        return "null".to_owned();
    }
    let items: Vec<String> = dependencies.iter().map(object).collect();
    format!("[{}]", items.join(","))
}

fn object(dependency: &Dependency) -> String {
    let fields = show::dependency(dependency);
    let order = ["name", "version", "repository", "condition", "tags", "enabled", "import-values", "alias"];
    let printed: Vec<String> = order
        .iter()
        .filter_map(|name| Some(format!("\"{name}\":{}", json::go_string(fields.get(name)?))))
        .collect();
    format!("{{{}}}", printed.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_are_told_apart() {
        assert_eq!(Repository::parse(""), Repository::Included);
        assert_eq!(Repository::parse("file://../x"), Repository::Directory("../x".to_owned()));
        assert_eq!(Repository::parse("@stable"), Repository::Named("stable".to_owned()));
        assert_eq!(Repository::parse("alias:stable"), Repository::Named("stable".to_owned()));
        assert!(matches!(Repository::parse("oci://r/x"), Repository::Oci(_)));
        assert!(matches!(Repository::parse("https://r"), Repository::Http(_)));
    }

    #[test]
    fn the_newest_version_in_the_range_is_chosen() {
        let versions = ["1.0.0", "v1.9.0", "1.10.0", "2.0.0", "1.11.0-rc1", "nonsense"];
        assert_eq!(choose("x", "1.x.x", versions).unwrap(), Some("1.10.0"));
        assert_eq!(choose("x", ">=1.10.1-0 <2", versions).unwrap(), Some("1.11.0-rc1"));
        assert_eq!(choose("x", ">3", versions).unwrap(), None);
        assert!(choose("x", "one", versions).is_err());
    }

    #[test]
    fn times_are_printed_as_go_prints_them() {
        for (given, expected) in [
            ("", "0001-01-01T00:00:00Z"),
            ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
            ("2026-01-02T03:04:05.120300+02:00", "2026-01-02T03:04:05.1203+02:00"),
            ("2026-01-02T03:04:05.000Z", "2026-01-02T03:04:05Z"),
        ] {
            assert_eq!(time(given), expected);
        }
    }

    #[test]
    fn versions_are_compared_as_such() {
        assert!(same_version("1.2.0", "v1.2"));
        assert!(same_version("latest", "latest"));
        assert!(!same_version("1.2.0", "latest"));
        assert!(is_strict_version("1.2.3-rc.1") && !is_strict_version("v1.2.3") && !is_strict_version("1.2"));
    }

    #[test]
    fn a_lock_is_told_by_its_digest() {
        let dependency = |version: &str| Dependency {
            name: "common".to_owned(),
            version: version.to_owned(),
            repository: "oci://registry.example.com/charts".to_owned(),
            tags: vec!["example-common".to_owned()],
            ..Dependency::default()
        };
        let chosen = Dependency { tags: Vec::new(), ..dependency("2.31.4") };
        // As Helm writes it.
        assert_eq!(
            digest(&[dependency("2.x.x")], &[chosen]),
            "sha256:e3f2182d0c6dda56c955d87b132eba222becde1feb6ddac993023fba8571ea8a"
        );
    }
}
