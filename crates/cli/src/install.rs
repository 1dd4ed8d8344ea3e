//! `lynceus install`: everything that a cluster needs to run Lynceus, for `kubectl apply`.

use lynceus_files::FilePath;
use lynceus_object::{Object, Value, manifest, yaml};

use crate::exit::{Code, Failure, Outcome};
use crate::format;

/// Print everything that a cluster needs to run Lynceus: lynceus install | kubectl apply -f -
///
/// The namespace, the definitions, the rights, two controllers that share the clusters between them, two servers, and
/// what keeps them available. Nothing is sent anywhere: read it, change it, apply it.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The namespace of the installation, where Applications, projects and settings are.
    #[arg(long, default_value = "argocd")]
    namespace: String,
    /// The image to run, built from the Dockerfile of this repository.
    #[arg(long, default_value = concat!("lynceus:", env!("CARGO_PKG_VERSION")))]
    image: String,
    /// How many controllers.
    #[arg(long, value_name = "N", default_value_t = 2)]
    replicas: u16,
    /// How many servers.
    #[arg(long, value_name = "N", default_value_t = 2)]
    server_replicas: u16,
    /// Only look: the controller writes nothing and has no right to, so that it can run beside an Argo CD.
    #[arg(long)]
    observe: bool,
    /// The namespace whose Applications are looked at, if it is not the one that this is installed in.
    #[arg(long, value_name = "NAMESPACE", requires = "observe")]
    home: Option<String>,
    /// Leave the CustomResourceDefinitions out, because Argo CD or somebody else has installed them.
    #[arg(long)]
    skip_crds: bool,
    /// Add ServiceMonitors for the Prometheus operator.
    #[arg(long)]
    service_monitor: bool,
}

/// The manifests, before flags change them.
const MANIFESTS: &str = include_str!("../data/install.yaml");

/// The role that lets the controller write.
const DELIVER: &str = "lynceus-controller-deliver";

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    if arguments.replicas == 0 || arguments.server_replicas == 0 {
        return Err(Failure::new(
            Code::Other,
            "an installation needs at least one controller and one server",
        ));
    }
    print!("{}", format::documents(&objects(arguments)));
    Ok(())
}

/// Everything, in the order in which it can be created.
fn objects(arguments: &Arguments) -> Vec<Object> {
    let read = manifest::read(&FilePath::root(), MANIFESTS.as_bytes(), &yaml::Options::default());
    let mut objects: Vec<Object> = read
        .objects
        .into_iter()
        .map(|placed| placed.object)
        .filter(|object| wanted(object, arguments))
        .map(|object| adapted(object, arguments))
        .collect();
    if !arguments.skip_crds {
        objects.splice(1..1, lynceus_api::crds());
    }
    objects
}

fn wanted(object: &Object, arguments: &Arguments) -> bool {
    match object.kind() {
        "ServiceMonitor" => arguments.service_monitor,
        "ClusterRole" | "ClusterRoleBinding" if object.name() == DELIVER => !arguments.observe,
        // Somebody else's settings are read, not made.
        "ConfigMap" | "Secret" => arguments.home.is_none(),
        _ => true,
    }
}

fn adapted(mut object: Object, arguments: &Arguments) -> Object {
    let namespace = arguments.namespace.as_str();
    let home = arguments.home.as_deref().unwrap_or(namespace);
    if object.kind() == "Namespace" {
        object.set(&["metadata", "name"], namespace);
    }
    if !object.namespace().is_empty() {
        // The server looks at Applications where they are, which may be somebody else's namespace.
        let place = if matches!(object.kind(), "Role" | "RoleBinding") { home } else { namespace };
        object.set(&["metadata", "namespace"], place);
    }
    object.set(&["metadata", "labels", "app.kubernetes.io/part-of"], "argocd");
    let mut value = object.into_value();
    if arguments.observe {
        for rule in items_mut(&mut value, &["rules"]) {
            let reads = |verb: &&Value| matches!(verb.as_str(), Some("get" | "list" | "watch"));
            let verbs: Value = rule.items_at(&["verbs"]).iter().filter(reads).cloned().collect();
            rule.set(&["verbs"], verbs);
        }
    }
    for subject in items_mut(&mut value, &["subjects"]) {
        subject.set(&["namespace"], namespace);
    }
    let replicas = match value.str_at(&["metadata", "name"]) {
        Some("lynceus-controller") => arguments.replicas,
        _ => arguments.server_replicas,
    };
    if value.at(&["spec", "replicas"]).is_some() {
        value.set(&["spec", "replicas"], i64::from(replicas));
    }
    for container in items_mut(&mut value, &["spec", "template", "spec", "containers"]) {
        container.set(&["image"], arguments.image.as_str());
        let is_controller = container.str_at(&["name"]) == Some("controller");
        let given = container.items_at(&["args"]).iter().filter_map(Value::as_str);
        let mut words: Vec<String> = given
            .map(|word| match word {
                "--namespace=argocd" => format!("--namespace={home}"),
                other => other.to_owned(),
            })
            .collect();
        if is_controller && arguments.observe {
            words.push("--observe".to_owned());
        }
        container.set(&["args"], words);
    }
    Object::new(value).unwrap_or_default()
}

/// The items of a list inside a value; none if there is no such list.
fn items_mut<'a>(value: &'a mut Value, path: &[&str]) -> impl Iterator<Item = &'a mut Value> {
    value.at_mut(path).and_then(Value::as_seq_mut).into_iter().flat_map(|items| items.make_mut().iter_mut())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn printed(flags: &[&str]) -> Vec<Object> {
        objects(&Line::parse_from([&["install"], flags].concat()).arguments)
    }

    fn lines(objects: &[Object]) -> String {
        let line = |object: &Object| format!("{} {} {}\n", object.kind(), object.namespace(), object.name());
        objects.iter().map(line).collect()
    }

    #[test]
    fn everything_is_printed_in_the_order_in_which_it_can_be_created() {
        assert_eq!(
            lines(&printed(&["--namespace", "gitops", "--service-monitor"])),
            "Namespace  gitops\n\
             CustomResourceDefinition  applications.argoproj.io\n\
             CustomResourceDefinition  appprojects.argoproj.io\n\
             CustomResourceDefinition  applicationsets.argoproj.io\n\
             ServiceAccount gitops lynceus-controller\n\
             ServiceAccount gitops lynceus-server\n\
             ConfigMap gitops argocd-cm\n\
             ConfigMap gitops argocd-rbac-cm\n\
             Secret gitops argocd-secret\n\
             ClusterRole  lynceus-controller-read\n\
             ClusterRole  lynceus-controller-deliver\n\
             ClusterRoleBinding  lynceus-controller-read\n\
             ClusterRoleBinding  lynceus-controller-deliver\n\
             Role gitops lynceus-server\n\
             ClusterRole  lynceus-server\n\
             ClusterRoleBinding  lynceus-server\n\
             RoleBinding gitops lynceus-server\n\
             Service gitops lynceus-controller\n\
             Service gitops lynceus-server-metrics\n\
             Service gitops lynceus-server\n\
             Deployment gitops lynceus-controller\n\
             Deployment gitops lynceus-server\n\
             PodDisruptionBudget gitops lynceus-controller\n\
             PodDisruptionBudget gitops lynceus-server\n\
             ServiceMonitor gitops lynceus-controller\n\
             ServiceMonitor gitops lynceus-server\n"
        );
    }

    #[test]
    fn no_other_namespace_is_left_anywhere() {
        let text = format::documents(&printed(&["--namespace", "gitops", "--skip-crds"]));
        let left: Vec<&str> =
            text.lines().filter(|line| line.ends_with(": argocd") && !line.contains("part-of")).collect();
        assert_eq!(left, Vec::<&str>::new());
    }

    #[test]
    fn an_observer_may_not_write() {
        let observing = printed(&["--observe", "--skip-crds"]);
        let verbs: Vec<String> = observing
            .iter()
            .filter(|object| object.kind().ends_with("Role"))
            .flat_map(|role| role.value().items_at(&["rules"]).to_vec())
            .flat_map(|rule| rule.items_at(&["verbs"]).to_vec())
            .filter_map(|verb| verb.as_str().map(str::to_owned))
            .collect();
        assert!(verbs.iter().all(|verb| ["get", "list", "watch"].contains(&verb.as_str())), "{verbs:?}");
        assert!(format::documents(&observing).contains("- --observe\n"));
    }

    #[test]
    fn an_observer_elsewhere_looks_at_home() {
        let flags = ["--observe", "--skip-crds", "--namespace", "lynceus", "--home", "argocd"];
        let roles: Vec<Object> =
            printed(&flags).into_iter().filter(|object| object.kind().starts_with("Role")).collect();
        assert_eq!(lines(&roles), "Role argocd lynceus-server\nRoleBinding argocd lynceus-server\n");
        let text = format::documents(&printed(&flags));
        assert_eq!(text.matches("- --namespace=argocd\n").count(), 2);
        assert!(!text.contains("name: argocd-cm"));
    }

    #[test]
    fn image_and_replicas_are_as_asked_for() {
        let objects = printed(&["--image", "example/lynceus:7", "--replicas", "3", "--server-replicas", "1"]);
        let deployed: Vec<String> = objects
            .iter()
            .filter(|object| object.kind() == "Deployment")
            .map(|object| {
                let spec = object.at(&["spec"]).cloned().unwrap_or_default();
                let container = spec.items_at(&["template", "spec", "containers"])[0].clone();
                let replicas = spec.at(&["replicas"]).and_then(Value::as_int).unwrap_or_default();
                format!("{replicas} {}", container.str_at(&["image"]).unwrap_or_default())
            })
            .collect();
        assert_eq!(deployed, ["3 example/lynceus:7", "1 example/lynceus:7"]);
    }
}
