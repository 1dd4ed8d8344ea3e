//! Which revisions a project trusts: `signatureKeys` and `sourceIntegrity`.

use std::collections::BTreeSet;

use lynceus_api::{AppProject, Glob, GpgMode, SourceIntegrityGitPolicy};
use lynceus_object::Str;
use lynceus_source::{Signature, Verdict};

/// How many problems are told of.
const PROBLEMS: usize = 10;

/// What has to be signed, and by whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Whether everything that a revision is built on has to be signed too.
    pub deep: bool,
    /// The ids of the keys that are trusted, or their fingerprints.
    pub keys: Vec<Str>,
}

/// What a project wants of the revisions of a Git repository: nothing, this, or something that cannot be followed, which
/// trusts nothing.
pub fn policy(project: &AppProject, url: &str) -> Result<Option<Policy>, String> {
    let git = project.spec.source_integrity.as_ref().and_then(|integrity| integrity.git.as_ref());
    let Some(git) = git else {
        // The old way: one set of keys for all repositories.
        let keys: Vec<Str> = project.spec.signature_keys.iter().map(|key| key.key_id.clone()).collect();
        return Ok((!keys.is_empty()).then_some(Policy { deep: false, keys }));
    };
    let fitting: Vec<&SourceIntegrityGitPolicy> =
        git.policies.iter().filter(|policy| is_for(policy, url)).collect();
    let gpg = match fitting[..] {
        [] => return Ok(None),
        [one] => one.gpg.as_ref(),
        _ => {
            let (count, url) = (fitting.len(), lynceus_source::redact(url));
            return Err(format!(
                "multiple ({count}) git source integrity policies found for repo URL: {url}"
            ));
        }
    };
    let Some(gpg) = gpg else { return Ok(None) };
    let deep = match gpg.mode.known() {
        Some(GpgMode::None) => return Ok(None),
        Some(GpgMode::Head) => false,
        Some(GpgMode::Strict) => true,
        None => {
            let mode = gpg.mode.as_str();
            return Err(format!("unknown GPG mode {mode:?} configured for GIT source integrity"));
        }
    };
    Ok(Some(Policy { deep, keys: gpg.keys.clone() }))
}

/// A policy is for what one of its patterns names and none forbids.
fn is_for(policy: &SourceIntegrityGitPolicy, url: &str) -> bool {
    let matches = |pattern: &str| Glob::new(pattern).is_ok_and(|glob| glob.matches(url));
    let denied = policy.repos.iter().filter_map(|repo| repo.url.strip_prefix('!')).any(matches);
    !denied && policy.repos.iter().any(|repo| !repo.url.starts_with('!') && matches(&repo.url))
}

impl Policy {
    /// What is wrong with some signatures, in Argo CD's words; the same key is told of once.
    pub fn problems(&self, signatures: &[Signature]) -> Vec<String> {
        let mut told = BTreeSet::new();
        let mut problems = Vec::new();
        for signature in signatures {
            let Some(problem) = self.problem(signature) else { continue };
            let is_new = signature.key.is_empty() || signature.is_tag || told.insert(&signature.key);
            if is_new {
                problems.push(problem);
            }
            if problems.len() == PROBLEMS {
                break;
            }
        }
        problems
    }

    fn problem(&self, signature: &Signature) -> Option<String> {
        let Signature { revision, author, verdict, key, .. } = signature;
        let why = match verdict {
            Verdict::Good if self.trusts(signature) => return None,
            Verdict::Good => "signed with unallowed key".to_owned(),
            other => other.to_string(),
        };
        Some(format!("Failed verifying revision {revision} by '{author}': {why} (key_id={key})"))
    }

    /// A project that names a key trusts its subkeys as well.
    fn trusts(&self, signature: &Signature) -> bool {
        self.keys.iter().any(|key| {
            let id = match key.len() {
                40 => &key[24..],
                16 => key,
                _ => return false,
            };
            let is_hex = id.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_hex && [&signature.key, &signature.primary].iter().any(|own| own.eq_ignore_ascii_case(id))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_api::Kind as _;
    use lynceus_object::{Object, Value, value};

    fn project(spec: Value) -> AppProject {
        let mut object = Object::new(value!({"metadata": {"name": "shop"}})).unwrap();
        object.set(&["spec"], spec);
        AppProject::from_object(&object).unwrap()
    }

    fn shown(spec: Value, url: &str) -> String {
        match policy(&project(spec), url) {
            Ok(None) => "nothing".to_owned(),
            Ok(Some(Policy { deep, keys })) => format!("deep={deep} {}", keys.join(",")),
            Err(error) => error,
        }
    }

    fn policies(policies: Value) -> Value {
        let mut spec = value!({"signatureKeys": [{"keyID": "OLD"}]});
        spec.set(&["sourceIntegrity", "git", "policies"], policies);
        spec
    }

    #[test]
    fn without_policies_the_old_keys_are_for_all() {
        assert_eq!(shown(value!({}), "https://a/b"), "nothing");
        assert_eq!(
            shown(value!({"signatureKeys": [{"keyID": "A"}, {"keyID": "B"}]}), "https://a/b"),
            "deep=false A,B"
        );
    }

    #[test]
    fn a_policy_is_for_what_it_names_and_does_not_forbid() {
        let spec = || {
            policies(value!([
                {"repos": [{"url": "https://a/*"}, {"url": "!https://a/open"}], "gpg": {"mode": "strict", "keys": ["K"]}},
                {"repos": [{"url": "https://b/*"}], "gpg": {"mode": "none", "keys": []}},
                {"repos": [{"url": "https://c/*"}], "gpg": {"mode": "often", "keys": []}},
                {"repos": [{"url": "https://a/twice"}], "gpg": {"mode": "head", "keys": []}},
            ]))
        };
        assert_eq!(shown(spec(), "https://a/x"), "deep=true K");
        assert_eq!(shown(spec(), "https://a/open"), "nothing");
        assert_eq!(shown(spec(), "https://b/x"), "nothing");
        assert_eq!(shown(spec(), "https://d/x"), "nothing");
        assert_eq!(
            shown(spec(), "https://c/x"),
            "unknown GPG mode \"often\" configured for GIT source integrity"
        );
        assert_eq!(
            shown(spec(), "https://a/twice"),
            "multiple (2) git source integrity policies found for repo URL: https://a/twice"
        );
    }

    fn signature(revision: &str, verdict: Verdict, key: &str) -> Signature {
        Signature {
            revision: revision.to_owned(),
            is_tag: false,
            author: "Jane <jane@x>".to_owned(),
            verdict,
            key: key.to_owned(),
            primary: "AAAAAAAAAAAAAAAA".to_owned(),
        }
    }

    #[test]
    fn only_keys_that_are_named_are_trusted() {
        let trusts = |keys: &[&str]| {
            let policy = Policy { deep: false, keys: keys.iter().map(|key| Str::from(*key)).collect() };
            policy.problems(&[signature("c1", Verdict::Good, "BBBBBBBBBBBBBBBB")]).is_empty()
        };
        assert!(trusts(&["bbbbbbbbbbbbbbbb"]) && trusts(&["AAAAAAAAAAAAAAAA"]));
        assert!(trusts(&["000000000000000000000000BBBBBBBBBBBBBBBB"]));
        assert!(!trusts(&["CCCCCCCCCCCCCCCC"]) && !trusts(&["BBBBBBBB"]) && !trusts(&[]));
    }

    #[test]
    fn every_problem_is_told_in_argo_cds_words_and_each_key_once() {
        let policy = Policy { deep: true, keys: vec!["CCCCCCCCCCCCCCCC".into()] };
        let found = policy.problems(&[
            signature("c1", Verdict::Unsigned, ""),
            signature("c2", Verdict::Good, "BBBBBBBBBBBBBBBB"),
            signature("c3", Verdict::Good, "BBBBBBBBBBBBBBBB"),
            signature("c4", Verdict::RevokedKey, "DDDDDDDDDDDDDDDD"),
            signature("c5", Verdict::Unsigned, ""),
        ]);
        assert_eq!(
            found,
            [
                "Failed verifying revision c1 by 'Jane <jane@x>': unsigned (key_id=)",
                "Failed verifying revision c2 by 'Jane <jane@x>': signed with unallowed key (key_id=BBBBBBBBBBBBBBBB)",
                "Failed verifying revision c4 by 'Jane <jane@x>': signed with revoked key (key_id=DDDDDDDDDDDDDDDD)",
                "Failed verifying revision c5 by 'Jane <jane@x>': unsigned (key_id=)",
            ]
        );
        let many: Vec<Signature> =
            (0..50).map(|n| signature(&format!("c{n}"), Verdict::Unsigned, "")).collect();
        assert_eq!(policy.problems(&many).len(), PROBLEMS);
    }
}
