//! Images: a stage says whether they are there, and a snapshot which could not be found.

use lynceus_object::{Object, Value};
use lynceus_sim::Stage;
use lynceus_sim::stage::{Availability, Reference};

use super::pod::{containers, each};
use super::{Assumed, Needs, Sort};
use crate::survey::Survey;

pub(crate) fn assume(surveys: &[&Survey], assumed: &mut Assumed, needs: &mut Needs) {
    let before = assumed.stage.snapshot.clone();
    let objects = before.as_deref().map_or([].as_slice(), |snapshot| &snapshot.objects);
    let pods = objects.iter().filter(|object| (object.group(), object.kind()) == ("", "Pod"));
    assumed.stage.images.absent = pods.flat_map(missed).collect();
    let stage = &assumed.stage;
    each(surveys, |key, _, pod| {
        for image in containers(pod).filter_map(|container| container.str_at(&["image"])) {
            if !image.is_empty() && !is_told(stage, image) {
                needs.add(Sort::Image, image, key);
            }
        }
    });
}

/// Whether it is told of an image whether it is there.
fn is_told(stage: &Stage, image: &str) -> bool {
    let Ok(reference) = Reference::parse(image) else { return true };
    stage.images.find(&reference, "linux/amd64", true) != Availability::OnMachine
}

/// The images that the registry did not have when a pod wanted them.
fn missed(pod: &Object) -> Vec<Reference> {
    let statuses = ["initContainerStatuses", "containerStatuses"];
    let statuses = statuses.into_iter().flat_map(|list| pod.value().items_at(&["status", list]));
    let names = statuses.filter(|status| was_not_found(status)).filter_map(|status| status.str_at(&["name"]));
    let spec = pod.at(&["spec"]).unwrap_or(&Value::Null);
    let image = |name: &str| {
        let container = containers(spec).find(|container| container.str_at(&["name"]) == Some(name))?;
        Reference::parse(container.str_at(&["image"])?).ok()
    };
    names.filter_map(image).collect()
}

/// Whether a container waits for an image that is not there. Who may not pull is not told whether it is, and what was not found for a
/// platform is there for others.
fn was_not_found(status: &Value) -> bool {
    let waiting = |field| status.str_at(&["state", "waiting", field]).unwrap_or_default();
    let said = waiting("message").to_lowercase();
    let tells = |words: &[&str]| words.iter().any(|word| said.contains(word));
    matches!(waiting("reason"), "ErrImagePull" | "ImagePullBackOff")
        && tells(&["not found", "manifest unknown"])
        && !tells(&["denied", "unauthorized", "authoriz", "platform"])
}

#[cfg(test)]
mod tests {
    use lynceus_object::yaml;

    use super::*;

    fn missing(message: &str) -> Vec<String> {
        let text = format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: web}}\nspec: {{containers: [{{name: a, image: 'example.com/a:1'}}, {{name: b, \
             image: 'b:2'}}]}}\nstatus: {{containerStatuses: [{{name: a, state: {{waiting: {{reason: ImagePullBackOff, message: \
             {message:?}}}}}}}, {{name: b, state: {{running: {{}}}}}}]}}\n"
        );
        let pod = Object::new(yaml::parse_str(&text).unwrap()).unwrap();
        missed(&pod).iter().map(Reference::full).collect()
    }

    #[test]
    fn an_image_that_a_pod_waits_for_in_vain_is_not_there() {
        let back_off = "Back-off pulling image \"example.com/a:1\": ErrImagePull: rpc error: code = NotFound desc = failed to pull";
        assert_eq!(missing(&format!("{back_off}: example.com/a:1: not found")), ["example.com/a:1"]);
        assert!(missing("Back-off pulling image").is_empty());
        assert!(
            missing("pull access denied, repository does not exist or may require authorization: not found")
                .is_empty()
        );
        assert!(missing("no match for platform in manifest: not found").is_empty());
    }
}
