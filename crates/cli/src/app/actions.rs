//! `lynceus app actions`: what can be done with an application's objects besides syncing them.

mod choice;
mod list;
mod run;

use clap::Subcommand;
use lynceus_api::{Application, Kind as _};
use lynceus_engine::{AppKey, Belonging, Belongings};
use lynceus_object::Object;

use super::context::Context;
use crate::exit::{Code, Doing as _, Failure, Outcome};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the actions of an application's resources.
    List(list::Arguments),
    /// Run an action on resources of an application.
    Run(run::Arguments),
}

pub(crate) async fn run(context: &Context, arguments: &Arguments) -> Outcome {
    match (&arguments.command, context.records()) {
        (Command::List(arguments), None) => list::run(context, arguments).await,
        (Command::Run(arguments), None) => run::run(context, arguments).await,
        (Command::List(arguments), Some(records)) => list::served(context, records, arguments).await,
        (Command::Run(arguments), Some(records)) => run::served(context, records, arguments).await,
    }
}

/// An application, and everything of it that may have actions.
struct Subjects {
    application: Application,
    belongings: Belongings,
    /// The objects, and the Application itself at the end.
    all: Vec<Belonging>,
}

impl Subjects {
    async fn find(context: &Context, name: &str) -> Outcome<Self> {
        let own = context.object(name).await?;
        let application = Application::from_object(&own).doing(format!("cannot read application {name}"))?;
        let belongings = context.engine()?.belongings(&application).await.map_err(|conditions| {
            let message = format!("the resources of application {name} cannot be told");
            let causes = conditions.into_iter().map(|condition| condition.message).collect();
            Failure { causes, ..Failure::new(Code::Other, message) }
        })?;
        let others = belongings.objects.iter().filter(|one| one.object.key() != own.key());
        let mut all: Vec<Belonging> = others.cloned().collect();
        all.push(Belonging { object: own, managed: true });
        Ok(Subjects { application, belongings, all })
    }

    /// The object with everything in it. Of what nobody manages, the live picture may have the metadata alone.
    async fn whole(&self, object: &Object) -> Outcome<Option<Object>> {
        if object.key() == AppKey::of(&self.application).object_key() {
            return Ok(Some(object.clone()));
        }
        let live = self.belongings.cluster.live(&object.key(), &object.gvk()).await;
        live.doing(format!("cannot read {}", object.key()))
    }
}
