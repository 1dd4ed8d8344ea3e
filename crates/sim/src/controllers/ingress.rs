//! The addresses of Ingresses, given by whoever serves their class.
//!
//! Nobody serves an Ingress in a cluster without an ingress controller, and its status stays empty. There is one where the stage
//! names it, and where a pod of one that is well known is ready; then its classes' Ingresses get its address.

use lynceus_object::{Object, Value, value};

use super::key::Key;
use super::kind::{INGRESS, INGRESS_CLASS, POD, SERVICE, is_among};
use super::pods;
use super::steps::Steps;
use super::world::World;
use super::{Controller, Writer, selector};
use crate::store::{Event, Place};

/// The address of a controller that the stage gives none.
const ADDRESS: &str = "198.19.255.254";

/// Controllers as the classes name them (the start of it), and a part of the image that they run.
const KNOWN: [(&str, &str); 9] = [
    ("k8s.io/ingress-nginx", "ingress-nginx/controller"),
    ("nginx.org/ingress-controller", "nginx-ingress"),
    ("traefik.io/ingress-controller", "traefik"),
    ("haproxy.org/ingress-controller", "kubernetes-ingress"),
    ("haproxy-ingress.github.io/controller", "haproxy-ingress"),
    ("projectcontour.io/", "contour"),
    ("ingress-controllers.konghq.com/kong", "kubernetes-ingress-controller"),
    ("ingress.k8s.aws/alb", "aws-load-balancer-controller"),
    ("istio.io/ingress-controller", "pilot"),
];

/// Gives addresses to Ingresses.
pub(crate) struct Ingresses;

impl Controller for Ingresses {
    fn component(&self) -> &'static str {
        "ingress-controller"
    }

    fn writer(&self) -> Writer {
        Writer { user: "system:serviceaccount:kube-system:ingress-controller", manager: "ingress-controller" }
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[INGRESS, INGRESS_CLASS, POD, SERVICE], place)
    }

    fn notice(&mut self, event: &Event, world: &World<'_>, wake: &mut Vec<Key>) {
        let object = &event.object;
        if INGRESS.is(&event.place) {
            wake.push(Key::of(&event.place, object));
        } else if INGRESS_CLASS.is(&event.place)
            || (POD.is(&event.place)
                && KNOWN.iter().any(|(_, image)| pods::runs(object, |name| name.contains(image))))
            || (SERVICE.is(&event.place) && is_balanced(object))
        {
            let all = world.list_all(INGRESS);
            wake.extend(all.iter().map(|ingress| Key::of(&INGRESS.place(), ingress)));
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(ingress) = world.find(key).filter(|ingress| !ingress.is_deleting()) else { return };
        let Some(addresses) = served_at(&ingress, world) else { return };
        let mut new = ingress.clone();
        new.set(&["status", "loadBalancer", "ingress"], addresses);
        out.status_if_changed(INGRESS, &ingress, new);
    }
}

/// Where an Ingress is reached, if somebody serves it.
fn served_at(ingress: &Object, world: &World<'_>) -> Option<Vec<Value>> {
    let named = ingress.value().str_at(&["spec", "ingressClassName"]);
    let class = named.or_else(|| ingress.annotation("kubernetes.io/ingress.class"))?;
    let class = world.get(INGRESS_CLASS, "", class)?;
    let controller = class.value().str_at(&["spec", "controller"])?;
    let staged = world.local.stage().ingress.iter().find(|known| known.controller == controller);
    if let Some(staged) = staged {
        let address = staged.address.as_deref().unwrap_or(ADDRESS);
        let kind = if address.parse::<std::net::IpAddr>().is_ok() { "ip" } else { "hostname" };
        return Some(vec![value!({kind: address})]);
    }
    let (_, image) = KNOWN.iter().find(|(known, _)| controller.starts_with(known))?;
    let pods = world.list_all(POD);
    let runs = |pod: &Object| pods::runs(pod, |name| name.contains(image));
    let pod = pods.iter().find(|pod| pods::is_active(pod) && pods::is_ready(pod) && runs(pod))?;
    Some(published(pod, world))
}

/// The address of the Service that is in front of a controller; that of its node if there is none.
fn published(pod: &Object, world: &World<'_>) -> Vec<Value> {
    let services = world.list(SERVICE, pod.namespace());
    let fronts = |service: &&Object| {
        let wanted = service.at(&["spec", "selector"]).filter(|wanted| !wanted.is_empty());
        is_balanced(service) && wanted.is_some() && selector::has_all(wanted, pod.at(&["metadata", "labels"]))
    };
    let addresses = services.iter().find(fronts).map(|service| {
        let given = service.value().items_at(&["status", "loadBalancer", "ingress"]).iter();
        let plain = |given: &Value| {
            ["ip", "hostname"].iter().find_map(|kind| Some(value!({*kind: given.str_at(&[kind])?})))
        };
        given.filter_map(plain).collect()
    });
    addresses
        .unwrap_or_else(|| vec![value!({"ip": pod.value().str_at(&["status", "hostIP"]).unwrap_or(ADDRESS)})])
}

fn is_balanced(service: &Object) -> bool {
    service.value().str_at(&["spec", "type"]) == Some("LoadBalancer")
}
