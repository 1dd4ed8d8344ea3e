//! Images, of which only a stage says whether they are there.

use lynceus_sim::Stage;
use lynceus_sim::stage::{Availability, Reference};

use super::pod::{containers, each};
use super::{Needs, Sort};
use crate::survey::Survey;

pub(crate) fn assume(surveys: &[&Survey], stage: &Stage, needs: &mut Needs) {
    each(surveys, |key, _, pod| {
        for image in containers(pod).filter_map(|container| container.str_at(&["image"])) {
            if !image.is_empty() && !is_told(stage, image) {
                needs.add(Sort::Image, image, key);
            }
        }
    });
}

/// Whether a stage says of an image whether it is there.
fn is_told(stage: &Stage, image: &str) -> bool {
    let Ok(reference) = Reference::parse(image) else { return true };
    stage.images.find(&reference, "linux/amd64", true) != Availability::OnMachine
}
