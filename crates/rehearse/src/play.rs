//! Playing a script until nothing changes any more.

use std::time::Instant;

use jiff::{SignedDuration, Timestamp};
use lynceus_api::GROUP;
use lynceus_object::{Object, ObjectKey, Str};
use lynceus_sim::stage::Images;
use lynceus_source::Sources;

use crate::assumption::{Assumed, assume};
use crate::error::RehearseError;
use crate::limits::Limits;
use crate::premises::{Played, Premises};
use crate::report::{Ending, REFUSES, Report, Telling, Unrehearsed, Watch};
use crate::script::Script;
use crate::survey::{Root, Survey, Surveyor};
use crate::world::{self, Plan, Skipped, World};

/// A script that was played: what came of it, and the world at rest.
pub struct Rehearsal {
    /// What came of it.
    pub report: Report,
    pub(crate) script: Script,
    world: World,
    premises: Premises,
    /// The images that there are on its stage.
    pub(crate) images: Images,
}

impl Rehearsal {
    /// The world at rest: clusters, engine and clock.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The repository as the engine saw it.
    pub fn premises(&self) -> &Premises {
        &self.premises
    }

    /// Plays on after something was done to the world, until everything is well or nothing new has happened for some time. The
    /// report stays as it was.
    pub async fn go_on(&mut self, stuck: SignedDuration) -> Ending {
        let script = Script { limits: Limits { stuck, ..self.script.limits }, ..self.script.clone() };
        let mut watch = Watch::default();
        watch.restart(self.world.now());
        let mut act = Act { begun: Instant::now(), script: &script, premises: &self.premises, watch };
        act.until_rest(&mut self.world).await
    }
}

/// Plays a script.
pub async fn rehearse(script: &Script) -> Result<Rehearsal, RehearseError> {
    let begun = Instant::now();
    let mut premises = Premises::open(script)?;
    let cache = script.cache.clone().unwrap_or_else(|| premises.folder().join("mirrors"));
    let sources = Sources::new(cache, script.sources.clone());
    let kinds = world::kinds(&script.stage, script.begin).await?;
    let surveyor = Surveyor::new(sources.clone(), &kinds, script.begin);
    let surveys = Surveys::of(&mut premises, &surveyor, script).await?;
    if premises.stands_alone(script) {
        // Files that are replaced are named from there on, so whoever plays it once more has to know.
        return Box::pin(rehearse(&Script { alone: true, ..script.clone() })).await;
    }
    let assumed = assume(&surveys.all(), &script.stage, &kinds, &script.operators);
    let plan = Plan {
        script,
        assumed: &assumed,
        sources,
        home: surveys.to.home.clone(),
        skipped: surveys.skipped(),
        deadline: begun + script.limits.wall,
    };
    let mut world = World::start(plan).await?;
    let mut act = Act { begun, script, premises: &premises, watch: Watch::default() };
    let (course, refused) = act.play(&mut world, &surveys).await?;
    let told = Telling { refused, ..telling(script, &premises, &surveys, &assumed) };
    let report = told.tell(&world, &act.watch, course);
    Ok(Rehearsal { report, script: script.clone(), world, premises, images: assumed.stage.images })
}

/// What there is to play, before and after.
struct Surveys {
    from: Option<Survey>,
    to: Survey,
}

impl Surveys {
    async fn of(
        premises: &mut Premises,
        surveyor: &Surveyor,
        script: &Script,
    ) -> Result<Self, RehearseError> {
        let home = installed(script);
        let to = premises.to.clone();
        let from = match premises.from.clone() {
            Some(played) => {
                premises.show(&played)?;
                let found = Survey::of(premises, surveyor, (&played, script, home.clone())).await;
                premises.show(&to)?;
                // Where there was nothing before, the change begins with nothing.
                match found {
                    Err(RehearseError::NoApplications { .. } | RehearseError::NoSuchApplication { .. }) => {
                        None
                    }
                    other => Some(other?),
                }
            }
            None => None,
        };
        let home = home.or_else(|| from.as_ref().map(|from| from.home.clone()));
        let to = Survey::of(premises, surveyor, (&to, script, home)).await?;
        Ok(Surveys { from, to })
    }

    fn all(&self) -> Vec<&Survey> {
        self.from.iter().chain([&self.to]).collect()
    }

    /// What cannot be played. A set that makes something else after the change can be played if that can.
    fn skipped(&self) -> Skipped {
        let applications = self.all().into_iter().flat_map(|survey| &survey.applications);
        let applications = applications.filter(|(_, one)| one.is_unreachable()).map(|(key, _)| key.clone());
        let sets = self.all().into_iter().flat_map(|survey| &survey.sets);
        let sets = sets.filter(|(_, set)| set.unanswered.is_some()).map(|(key, _)| key.clone());
        Skipped { applications: applications.collect(), sets: sets.collect() }
    }
}

/// The namespace of the installation that a snapshot has: where its Applications are.
fn installed(script: &Script) -> Option<Str> {
    let objects = &script.stage.snapshot.as_ref()?.objects;
    let is_one = |object: &&Object| {
        matches!(object.kind(), "Application" | "ApplicationSet") && object.group() == lynceus_api::GROUP
    };
    let one = objects.iter().find(is_one);
    one.map(|object| object.namespace().into())
}

/// One playing, from the rise of the curtain.
struct Act<'a> {
    begun: Instant,
    script: &'a Script,
    premises: &'a Premises,
    watch: Watch,
}

/// How a playing went.
pub(crate) struct Course {
    pub(crate) mark: Mark,
    pub(crate) ending: Ending,
}

/// What was so before the change that is told about.
pub(crate) struct Mark {
    pub(crate) at: Timestamp,
    /// How much had been written.
    pub(crate) written: usize,
    /// What applications had.
    pub(crate) holdings: crate::report::Holdings,
}

impl Act<'_> {
    async fn play(
        &mut self,
        world: &mut World,
        surveys: &Surveys,
    ) -> Result<(Course, Vec<Unrehearsed>), RehearseError> {
        if let Some(from) = &surveys.from {
            let played = self.premises.from.as_ref().unwrap_or(&self.premises.to);
            self.bring(world, from, played).await?;
            self.until_rest(world).await;
        } else {
            world.settle().await;
        }
        let mark = Mark {
            at: world.now(),
            written: world.written().len(),
            holdings: crate::report::Holdings::of(world),
        };
        self.watch.restart(world.now());
        let refused = self.bring(world, &surveys.to, &self.premises.to).await?;
        let ending = self.until_rest(world).await;
        Ok((Course { mark, ending }, refused))
    }

    /// Brings a revision: branches move, and what nobody else applies is applied. Gives what the API server refuses; the
    /// others do not wait for it.
    async fn bring(
        &self,
        world: &mut World,
        survey: &Survey,
        played: &Played,
    ) -> Result<Vec<Unrehearsed>, RehearseError> {
        self.premises.show(played)?;
        let mut refused = Vec::new();
        for Root { object, place } in &survey.roots {
            match world.apply(object).await {
                Err(RehearseError::SetUp { what, source }) if source.refusal().is_some() => {
                    let why = format!("{REFUSES}{source}");
                    let named = crate::survey::key(object, &survey.home);
                    let is_at_fault =
                        source.refusal().is_some_and(|refusal| matches!(refusal.code, 400 | 422));
                    let key =
                        ObjectKey::new(GROUP, object.kind(), named.namespace.clone(), named.name.clone());
                    let at_fault = is_at_fault.then_some(key);
                    let application = (object.kind() == "Application").then_some(named);
                    refused.push(Unrehearsed { what, application, at_fault, why, place: place.clone() });
                }
                other => other?,
            }
        }
        world.announce();
        Ok(refused)
    }

    /// Moves the clock from one thing that happens to the next until nothing does.
    async fn until_rest(&mut self, world: &mut World) -> Ending {
        let limits = self.script.limits;
        let start = world.now();
        loop {
            let due = world.settle().await;
            let now = world.now();
            let is_fine = self.watch.look(world);
            let quiet = now.duration_since(self.watch.last_news().max(start));
            tracing::debug!(%now, ?due, is_fine, ?quiet, took = ?self.begun.elapsed(), "at rest for now");
            let ending = match () {
                () if is_fine && quiet >= limits.rest => Some(Ending::Finished),
                () if quiet >= limits.stuck => Some(Ending::Stuck),
                () if now.duration_since(start) >= limits.played => Some(Ending::OutOfTime),
                () if self.begun.elapsed() >= limits.wall => Some(Ending::OutOfPatience),
                () if !world.move_on(due) => Some(if is_fine { Ending::Finished } else { Ending::Stuck }),
                () => None,
            };
            if let Some(ending) = ending {
                return ending;
            }
        }
    }
}

fn telling<'a>(
    script: &'a Script,
    premises: &'a Premises,
    surveys: &'a Surveys,
    assumed: &'a Assumed,
) -> Telling<'a> {
    Telling {
        strict: script.strict,
        from: premises.from.as_ref().map(|played| played.name.clone()),
        to: premises.to.name.clone(),
        surveys: surveys.all(),
        assumed: &assumed.told,
        refused: Vec::new(),
    }
}
