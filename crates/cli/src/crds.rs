//! `lynceus crds`

use crate::exit::Outcome;
use crate::format;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How to print them.
    #[arg(short, long, value_enum, default_value_t = Format::Yaml)]
    output: Format,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    /// A stream of documents for `kubectl apply -f -`.
    Yaml,
    /// A List.
    Json,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let definitions = lynceus_api::crds();
    match arguments.output {
        Format::Yaml => print!("{}", format::documents(&definitions)),
        Format::Json => {
            let items: Vec<_> = definitions.into_iter().map(lynceus_object::Object::into_value).collect();
            let mut list = lynceus_object::value!({"apiVersion": "v1", "kind": "List"});
            list.set(&["items"], items);
            println!("{}", format::json(&list)?);
        }
    }
    Ok(())
}
