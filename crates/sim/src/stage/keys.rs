//! Every key that a stage may have. Keys that are not here are refused, and the documentation has all of them.

/// Where a key stands, and what it means. `[]` stands for each item of a list.
pub const KEYS: &[(&str, &str)] = &[
    ("apiVersion", "`sim.lynceus.dev/v1alpha1`"),
    ("kind", "`Stage`"),
    ("nodePools", "groups of like machines; without it three nodes with plenty of everything"),
    ("nodePools[].name", "the pool's name; its nodes are called `<name>-0`, `<name>-1`, …"),
    ("nodePools[].count", "how many nodes it has; 1 if not given"),
    ("nodePools[].capacity", "what each node has, by resource: `cpu`, `memory`, `pods`, `nvidia.com/gpu`, …"),
    (
        "nodePools[].labels",
        "labels beside those for host name, system, architecture, zone, region and instance type",
    ),
    ("nodePools[].taints", "taints of each node"),
    ("nodePools[].taints[].key", "the taint's key"),
    ("nodePools[].taints[].value", "the taint's value; empty if not given"),
    ("nodePools[].taints[].effect", "`NoSchedule`, `PreferNoSchedule` or `NoExecute`"),
    ("nodePools[].architecture", "`amd64` if not given"),
    (
        "nodePools[].zones",
        "the zones that the nodes are spread over in turn; `sim-a`, `sim-b`, `sim-c` if not given",
    ),
    (
        "nodePools[].volumeLimit",
        "how many volumes of each CSI driver, as its CSINode says, and of each provisioner of `storage` a node can have; no bound if not given",
    ),
    ("images", "the images that there are; without it every image is on every machine"),
    (
        "images.unlisted",
        "images that the list does not name are `present` on every machine (if not given) or `absent`",
    ),
    ("images.list", "images that have to be pulled; the first entry that fits counts"),
    ("images.list[].image", "the image without tag and digest; `*` stands for anything"),
    ("images.list[].tags", "the tags that were pushed; `*` stands for anything"),
    ("images.list[].digests", "the digests that there are. Without tags and digests there is every one"),
    ("images.list[].platforms", "what it was built for, such as `linux/arm64`; everything if not given"),
    ("images.list[].pullSecret", "whether only a pod with a pull secret for the registry gets it"),
    ("programs", "what containers do; the first entry that fits counts"),
    ("programs[].image", "the images that it is about; `*` stands for anything"),
    ("programs[].container", "the containers' names; `*` stands for anything, and every name if not given"),
    ("programs[].exitCode", "what the program ends with"),
    ("programs[].after", "how long it runs before it ends; 1s if not given"),
    ("programs[].message", "its last words, which stand in the container's status"),
    ("programs[].oom", "whether it ends because it took too much memory: OOMKilled, with 137"),
    ("programs[].readyAfter", "how long it takes until it answers"),
    ("programs[].needs", "what it cannot serve without"),
    (
        "programs[].needs.service",
        "a Service that has to have a ready endpoint: `name`, `name.namespace`, or either with `:port`",
    ),
    (
        "programs[].needs.crashWithout",
        "whether it ends where the Service is missing, rather than not being ready",
    ),
    (
        "programs[].may",
        "what its service account has to be allowed in its namespace, such as `get deployments.apps`; without that it fails",
    ),
    ("programs[].log", "the lines that it writes"),
    (
        "programs[].uses",
        "what each container uses, by resource: `{cpu: 80m, memory: 100Mi}`; for autoscalers and `kubectl top`",
    ),
    (
        "programs[].shares",
        "what all ready containers of the entry in a namespace use together, each the same part, on top of `uses`",
    ),
    ("metrics", "metrics for autoscalers beside `cpu` and `memory`; the first entry that fits counts"),
    ("metrics[].name", "the metric's name"),
    (
        "metrics[].of",
        "the objects that have it: `Pod/web-*`, `Service/web`; if not given it is one from outside (`External`)",
    ),
    ("metrics[].namespace", "the namespace; `*` stands for anything, and every one if not given"),
    (
        "metrics[].labels",
        "labels of one from outside, which the autoscaler's selector has to fit; all that fit are added up",
    ),
    ("metrics[].value", "what it is: `30`, `1500m`"),
    ("ingress", "ingress controllers that are there beside those whose pods are ready"),
    ("ingress[].controller", "the controller, as IngressClasses name it: `k8s.io/ingress-nginx`"),
    ("ingress[].address", "the address or name that its Ingresses get; `198.19.255.254` if not given"),
    (
        "webhooks",
        "webhooks whose answers are declared instead of being asked for; the first entry that fits counts",
    ),
    ("webhooks[].configuration", "the webhook configuration's name; `*` stands for anything"),
    ("webhooks[].webhook", "the webhook's own name; `*` stands for anything, and every one if not given"),
    ("webhooks[].service", "the Service that it calls: `namespace/name`"),
    (
        "webhooks[].image",
        "it answers while a pod with this image is ready, and is called as it stands otherwise; always if not given",
    ),
    ("webhooks[].rules", "what it answers; the first rule that holds counts, and without one it allows"),
    (
        "webhooks[].rules[].when",
        "CEL with `object`, `oldObject`, `request` and `namespaceObject`; always if not given",
    ),
    ("webhooks[].rules[].allow", "`true`: it lets the write through"),
    ("webhooks[].rules[].deny", "it refuses, with these words; they may hold expressions in `${…}`"),
    ("webhooks[].rules[].patch", "the operations of a JSON patch; they may hold expressions in `${…}`"),
    (
        "webhooks[].rules[].fails",
        "it does not answer: `connection refused`, `timeout`, or other words; a converter of a definition fails so too",
    ),
    ("webhooks[].rules[].warn", "warnings for the client"),
    (
        "storage",
        "storage classes that are there from the start; `standard`, the default, where none are listed",
    ),
    ("storage[].class", "the StorageClass's name"),
    ("storage[].provisioner", "who makes its volumes; the built-in provisioner if not given"),
    ("storage[].binding", "`Immediate` (if not given) or `WaitForFirstConsumer`"),
    ("storage[].fails", "what the provisioner says instead of making a volume"),
    ("storage[].default", "`true`: it is for claims that name no class"),
    ("faults", "what goes wrong, and when; each becomes a Fault with this `spec`"),
    ("faults[].name", "the Fault's name; stands in `metadata.name` of a Fault"),
    ("faults[].at", "when it begins: `30s` after it was made, or a time; at once if not given"),
    ("faults[].for", "how long it lasts; until it is deleted if not given"),
    ("faults[].answer", "requests are answered with `429`, `500`, `503` or `504`"),
    ("faults[].message", "what that answer says, instead of the server's usual words"),
    ("faults[].slow", "requests take this much longer"),
    (
        "faults[].cutWatches",
        "watches are `ended`, or `expired`: then going on from an older version is answered with 410",
    ),
    ("faults[].share", "the part of the requests that are answered so or slow: `0.3`; all if not given"),
    ("faults[].requests", "which requests these are; all if not given. `*` stands for anything in each list"),
    ("faults[].requests.groups", "API groups; `core` is the one without a name"),
    ("faults[].requests.resources", "plural resources with their parts, or one part: `pods/status`"),
    (
        "faults[].requests.verbs",
        "`get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`",
    ),
    ("faults[].requests.namespaces", "namespaces"),
    ("faults[].requests.names", "names of objects"),
    ("faults[].requests.users", "names of users, such as `system:serviceaccount:shop:*`"),
    ("faults[].nodeDown", "the node with this name falls silent; `*` stands for anything"),
    ("faults[].diskFull", "the disk of the node with this name is full; `*` stands for anything"),
    ("faults[].sealVault", "Vault's pods are sealed: those of a namespace, or `namespace/pod`"),
    (
        "faults[].expireTokens",
        "tokens that were made for `namespace/serviceaccount` before are answered with 401",
    ),
    ("faults[].token", "the id (`jti`) of the one token that expires"),
];

/// The keys of an object that stands at a place.
pub(super) fn below(place: &str) -> impl Iterator<Item = &'static str> {
    let prefix = if place.is_empty() { String::new() } else { format!("{place}.") };
    KEYS.iter()
        .filter_map(move |(path, _)| path.strip_prefix(&*prefix))
        .filter(|key| !key.contains(['.', '[']))
}
