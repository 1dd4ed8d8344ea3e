//! What a rig's cluster holds from the start, and how its nodes and pods behave.

/// How many nodes there are: as many as the embedded cluster has, under the same names.
const NODES: usize = 3;

/// Which requests are recorded.
pub(super) const AUDIT_POLICY: &str = include_str!("../../rig/audit-policy.yaml");

/// The objects that the cluster has from the start.
pub(super) fn objects() -> String {
    let nodes: String = (0..NODES).map(node).collect();
    include_str!("../../rig/furniture.yaml").replace("{{NODES}}\n", &nodes)
}

fn node(number: usize) -> String {
    include_str!("../../rig/node.yaml")
        .replace("{{NUMBER}}", &number.to_string())
        .replace("{{ZONE}}", ["sim-a", "sim-b", "sim-c"][number % 3])
        .replace("{{HOST}}", &(number + 2).to_string())
}

/// KWOK's rules. Each expression stands for itself, so the definitions go into every one that asks for them.
pub(super) fn stages() -> String {
    let definitions: Vec<&str> = include_str!("../../rig/program.jq")
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with('#'))
        .collect();
    // The expressions stand between single quotes, which YAML wants doubled.
    let definitions = definitions.join(" ").replace('\'', "''");
    include_str!("../../rig/stages.yaml").replace("'PROGRAM ", &format!("'{definitions} "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placeholder_is_filled() {
        assert!(!objects().contains("{{"), "{}", objects());
        assert_eq!(objects().matches("kind: Node\n").count(), NODES);
        assert!(!stages().contains("'PROGRAM"));
    }
}
