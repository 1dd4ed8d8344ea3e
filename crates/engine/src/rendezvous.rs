//! Who should have what: an answer that every replica finds by itself, and that changes little when replicas come and go.

use lynceus_object::Str;

/// The member that should work on a cluster. A pinned cluster goes to the member at that place, counted around.
pub(crate) fn choose<'a>(server: &str, shard: Option<usize>, members: &'a [Str]) -> Option<&'a Str> {
    match shard {
        Some(place) if !members.is_empty() => members.get(place % members.len()),
        // Whoever draws the highest number: if one leaves, only what it had is drawn anew.
        _ => members.iter().max_by_key(|member| (draw(member, server), *member)),
    }
}

/// The name of a Lease: readable, valid for any text, and different for different texts.
pub(crate) fn lease_name(role: &str, about: &str) -> Str {
    let host = about.split_once("://").map_or(about, |(_, host)| host);
    let mut readable: String = host
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .take(60)
        .collect();
    while readable.ends_with('-') {
        readable.pop();
    }
    match about {
        "" => format!("lynceus-controller-{role}-").into(),
        _ => format!("lynceus-controller-{role}-{readable}-{:08x}", hash([about]) as u32).into(),
    }
}

fn draw(member: &str, server: &str) -> u64 {
    hash([member, server])
}

/// FNV-1a with a last stir. Replicas of different builds have to agree on it, so it is written out here.
fn hash<const N: usize>(parts: [&str; N]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for part in parts {
        for byte in part.bytes().chain([0xff]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(names: &[&str]) -> Vec<Str> {
        names.iter().map(|name| Str::from(*name)).collect()
    }

    fn shares(members: &[Str]) -> Vec<usize> {
        let servers: Vec<String> = (0..300).map(|number| format!("https://cluster-{number}:6443")).collect();
        let count =
            |member: &Str| servers.iter().filter(|s| choose(s, None, members) == Some(member)).count();
        members.iter().map(count).collect()
    }

    #[test]
    fn clusters_are_shared_out_evenly() {
        let shares = shares(&members(&["a", "b", "c"]));
        assert!(shares.iter().all(|share| (70..130).contains(share)), "{shares:?}");
    }

    #[test]
    fn a_replica_that_leaves_moves_only_what_it_had() {
        let (three, two) = (members(&["a", "b", "c"]), members(&["a", "b"]));
        for number in 0..300 {
            let server = format!("https://cluster-{number}");
            let before = choose(&server, None, &three);
            if before.is_some_and(|member| *member != "c") {
                assert_eq!(before, choose(&server, None, &two));
            }
        }
    }

    #[test]
    fn a_pinned_cluster_goes_to_the_member_at_its_place() {
        let three = members(&["a", "b", "c"]);
        assert_eq!(choose("x", Some(1), &three).map(Str::as_str), Some("b"));
        assert_eq!(choose("x", Some(4), &three).map(Str::as_str), Some("b"));
        assert_eq!(choose("x", Some(0), &[]), None);
    }

    #[test]
    fn names_of_leases_are_valid_and_tell_clusters_apart() {
        let name = lease_name("cluster", "https://API.example.com:6443/x");
        assert!(name.starts_with("lynceus-controller-cluster-api-example-com-6443-x-"), "{name}");
        assert_ne!(name, lease_name("cluster", "https://api.example.com:6443/x"));
        assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
    }
}
