//! The flags that give values.

use lynceus_helm::{UserValues, ValueOptions, ValuesFile};
use lynceus_source::{Settings as SourceSettings, Sources};

use super::settings::Settings;
use super::{supply, wait};

// Values from files and from the command line.
#[derive(clap::Args, Clone)]
#[group(skip)]
pub(super) struct Flags {
    /// A YAML file of values, its URL, or - for standard input; can be given several times, the last wins.
    #[arg(short = 'f', long = "values", value_name = "FILE", value_delimiter = ',')]
    files: Vec<String>,
    /// Values as key1=val1,key2=val2.
    #[arg(long, value_name = "VALUES")]
    set: Vec<String>,
    /// Values as texts, whatever they look like: key1=val1,key2=val2.
    #[arg(long, value_name = "VALUES")]
    set_string: Vec<String>,
    /// Values as JSON: key1=json1,key2=json2, or one JSON object.
    #[arg(long, value_name = "VALUES")]
    set_json: Vec<String>,
    /// Values from the contents of files or URLs: key1=path1,key2=path2.
    #[arg(long, value_name = "VALUES")]
    set_file: Vec<String>,
    /// One value as a literal text: key=text.
    #[arg(long, value_name = "VALUE")]
    set_literal: Vec<String>,
}

impl Flags {
    /// Reads and merges them.
    pub(super) fn read(&self, settings: &Settings) -> Result<UserValues, String> {
        let files = self.files.iter().map(|name| {
            let data = read(name, settings)?.into();
            Ok(ValuesFile { name: name.clone(), data })
        });
        let options = ValueOptions {
            files: files.collect::<Result<_, String>>()?,
            json: self.set_json.clone(),
            set: self.set.clone(),
            strings: self.set_string.clone(),
            set_files: self.set_file.clone(),
            literals: self.set_literal.clone(),
        };
        let mut text = |name: &str| Ok(String::from_utf8_lossy(&read(name, settings)?).into_owned());
        options.merge(&mut text).map_err(|error| error.to_string())
    }
}

fn read(name: &str, settings: &Settings) -> Result<Vec<u8>, String> {
    let name = name.trim();
    if name == "-" {
        let mut bytes = Vec::new();
        let read = std::io::Read::read_to_end(&mut std::io::stdin(), &mut bytes);
        return read.map(|_| bytes).map_err(|error| error.to_string());
    }
    if name.starts_with("http://") || name.starts_with("https://") {
        let sources = Sources::new(settings.cache(), SourceSettings::default());
        let fetched = wait(sources.file(name));
        return fetched.map(|bytes| bytes.to_vec()).map_err(|error| supply::told(&error, name));
    }
    std::fs::read(name).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("open {name}: no such file or directory"),
        std::io::ErrorKind::IsADirectory => format!("read {name}: is a directory"),
        std::io::ErrorKind::PermissionDenied => format!("open {name}: permission denied"),
        _ => format!("open {name}: {error}"),
    })
}
