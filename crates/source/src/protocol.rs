//! Git's own questions: which references are there, and the objects of a commit.

use std::io::{self, BufRead, Read};

use gix::ObjectId;
use gix::odb::pack;
use gix::progress::Discard;
use gix::protocol::fetch::negotiate::{Action, Round, one_round};
use gix::protocol::fetch::{Arguments, Context, Negotiate, Options, Response, Shallow, Tags};
use gix::protocol::handshake::Ref;
use gix::protocol::ls_refs::RefPrefixes;
use gix::protocol::{Handshake, LsRefsCommand};
use gix_transport::client::blocking_io::Transport;
use gix_transport::{Protocol, Service};

use crate::call::Call;
use crate::error::SourceError;
use crate::limits::{MAX_HAVES, MAX_OBJECT_BYTES};
use crate::listing::Listing;

/// What the server is told about us.
fn agent() -> (&'static str, Option<String>) {
    ("agent", Some(concat!("git/lynceus-", env!("CARGO_PKG_VERSION")).to_owned()))
}

/// Why a fetch failed, as far as the mirror has to know.
#[derive(Debug)]
pub(crate) enum FetchError {
    /// The server has no such commit, or does not give it out.
    NotOurs,
    /// What was received does not fit to what is there; a fresh mirror may help.
    Unusable(String),
    /// The rest.
    Source(SourceError),
}

/// Asks for the references whose names start with one of the prefixes.
pub(crate) fn list(
    call: &Call,
    transport: &mut dyn Transport,
    prefixes: &[String],
) -> Result<Listing, SourceError> {
    let mut handshake = greet(call, transport)?;
    let refs = match handshake.refs.take() {
        Some(refs) => refs,
        None => {
            let mut wanted = RefPrefixes::new();
            wanted.extend(prefixes.iter().map(|prefix| prefix.as_str().into()));
            LsRefsCommand::new(Some(wanted), &handshake.capabilities, agent())
                .invoke_blocking(&mut *transport, &mut Discard, false)
                .map_err(|error| reported(call, &error))?
        }
    };
    leave(transport);
    let mut listing = Listing::default();
    for reference in refs {
        match reference {
            Ref::Direct { full_ref_name, object } => listing.insert(full_ref_name.to_string(), object),
            Ref::Peeled { full_ref_name, tag, object } => {
                listing.insert(full_ref_name.to_string(), object);
                listing.insert_tag(full_ref_name.to_string(), tag);
            }
            Ref::Symbolic { full_ref_name, target, object, .. } => {
                if full_ref_name == "HEAD" {
                    listing.set_head(target.to_string());
                }
                listing.insert(full_ref_name.to_string(), object);
            }
            Ref::Unborn { target, .. } => listing.set_head(target.to_string()),
        }
    }
    Ok(listing)
}

/// What a fetch is to bring.
pub(crate) struct Wish<'a> {
    /// The commits.
    pub(crate) wants: &'a [ObjectId],
    /// Commits that are there already, with all their files.
    pub(crate) haves: &'a [ObjectId],
    /// How much history.
    pub(crate) depth: Depth,
}

/// How much history a fetch brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The commits alone.
    One,
    /// All that is missing.
    Full,
}

/// Fetches objects into a repository. The pack appears whole or not at all.
pub(crate) fn fetch(
    call: &Call,
    transport: &mut dyn Transport,
    repository: &gix::Repository,
    wish: Wish<'_>,
) -> Result<(), FetchError> {
    let mut handshake = greet(call, transport).map_err(FetchError::Source)?;
    let advertised = advertised(&handshake, wish.wants);
    let shallow_file = repository.shallow_file().map_err(|error| FetchError::Unusable(error.to_string()))?;
    let is_shallow = shallow_file.exists();
    let can_be_shallow = supports_shallow(&handshake);
    let shallow = match wish.depth {
        Depth::One if can_be_shallow => Shallow::DepthAtRemote(std::num::NonZeroU32::MIN),
        Depth::Full if is_shallow => Shallow::undo(),
        Depth::One | Depth::Full => Shallow::NoChange,
    };
    let options = Options { shallow_file, shallow: &shallow, tags: Tags::None, reject_shallow_remote: false };
    let mut transport = transport;
    let context = Context {
        handshake: &mut handshake,
        transport: &mut transport,
        user_agent: agent(),
        trace_packetlines: false,
    };
    let mut plan = Plan(wish);
    let received = gix::protocol::fetch(
        &mut plan,
        |reader, progress, interrupt| {
            let mut pack = Checked { inner: reader, call };
            let directory = repository.objects.store_ref().path().join("pack");
            let bases = repository.clone().objects;
            let options = pack_options();
            let hash = repository.object_hash();
            let written = pack::Bundle::write_to_directory(
                &mut pack,
                Some(&directory),
                progress,
                interrupt,
                Some(bases),
                hash,
                options,
            )?;
            // It guards a pack against a collection of garbage, which never happens in a mirror.
            if let Some(keep) = written.keep_path {
                let _ = std::fs::remove_file(keep);
            }
            Ok(true)
        },
        Discard,
        &call.cancelled,
        context,
        options,
    );
    match received {
        Ok(_) => {
            leave(transport);
            Ok(())
        }
        Err(error) => match fetch_error(call, &error) {
            // The old protocol reports it where the pack should start, which reads like a broken pack.
            FetchError::Unusable(_) if !advertised => Err(FetchError::NotOurs),
            error => Err(error),
        },
    }
}

/// Whether the server has said that it has these commits. In the new protocol it is not asked.
fn advertised(handshake: &Handshake, wants: &[ObjectId]) -> bool {
    let Some(refs) = &handshake.refs else { return true };
    wants.iter().all(|want| {
        refs.iter().any(|reference| {
            let (_, object, peeled) = reference.unpack();
            object == Some(want.as_ref()) || peeled == Some(want.as_ref())
        })
    })
}

/// Only in the new protocol: in the old one gix asks for a depth relative to what is here, which brings all
/// history at first and is no use after.
fn supports_shallow(handshake: &Handshake) -> bool {
    handshake.server_protocol_version == Protocol::V2
        && handshake
            .capabilities
            .capability("fetch")
            .is_some_and(|fetch| fetch.supports("shallow").unwrap_or(false))
}

fn pack_options() -> pack::bundle::write::Options {
    pack::bundle::write::Options {
        thread_limit: Some(1),
        iteration_mode: pack::data::input::Mode::Verify,
        index_version: pack::index::Version::default(),
        alloc_limit_bytes: Some(MAX_OBJECT_BYTES),
        compression: gix::zlib::Compression::BEST_SPEED,
    }
}

fn greet(call: &Call, transport: &mut dyn Transport) -> Result<Handshake, SourceError> {
    // Credentials are the transport's business, and no helper program is ever asked for any.
    gix::protocol::handshake(transport, Service::UploadPack, |_| Ok(None), Vec::new(), &mut Discard)
        .map_err(|error| reported(call, &error))
}

/// Says good-bye; a server that is gone already does not mind.
fn leave(transport: &mut dyn Transport) {
    let _ = gix::protocol::indicate_end_of_interaction(transport, false);
}

/// Wants and haves are known from the start, so one round is enough.
struct Plan<'a>(Wish<'a>);

impl Negotiate for Plan<'_> {
    fn mark_complete_and_common_ref(&mut self) -> gix::Result<Action> {
        Ok(Action::MustNegotiate { remote_ref_target_known: Vec::new() })
    }

    fn add_wants(&mut self, arguments: &mut Arguments, _known: &[bool]) -> bool {
        for want in self.0.wants {
            arguments.want(want);
        }
        !self.0.wants.is_empty()
    }

    fn one_round(
        &mut self,
        _state: &mut one_round::State,
        arguments: &mut Arguments,
        _previous: Option<&Response>,
    ) -> gix::Result<(Round, bool)> {
        let haves: Vec<&ObjectId> = self.0.haves.iter().take(MAX_HAVES).collect();
        for have in &haves {
            arguments.have(have);
        }
        let sent = haves.len();
        let round = Round {
            haves_sent: sent,
            in_vain: 0,
            haves_to_send: sent,
            previous_response_had_at_least_one_in_common: false,
        };
        Ok((round, true))
    }
}

/// The pack as it comes in, stopped when nobody waits for it any more.
struct Checked<'a> {
    inner: &'a mut dyn BufRead,
    call: &'a Call,
}

impl Read for Checked<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.call.check().map_err(|error| self.call.fail(error))?;
        self.inner.read(out)
    }
}

impl BufRead for Checked<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.call.check().map_err(|error| self.call.fail(error))?;
        self.inner.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.inner.consume(count);
    }
}

/// What went wrong on the wire if something did, else what Git's protocol code says.
fn reported(call: &Call, error: &gix::Error) -> SourceError {
    if let Some(trouble) = call.trouble() {
        return trouble;
    }
    let text = chain(error);
    let url = call.url.clone();
    // Such words come as an `ERR` line, which has no code beside it.
    if text.contains("not exported") || text.contains("not found") || text.contains("does not exist") {
        return SourceError::RepositoryNotFound { url };
    }
    call.protocol(text)
}

fn fetch_error(call: &Call, error: &gix::Error) -> FetchError {
    if let Some(trouble) = call.trouble() {
        return FetchError::Source(trouble);
    }
    if let Err(timeout) = call.check() {
        return FetchError::Source(timeout);
    }
    let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];
    let io_kinds =
        error.iter_errors().filter_map(|error| error.downcast_ref::<io::Error>().map(io::Error::kind));
    if io_kinds.into_iter().any(|kind| full.contains(&kind)) {
        return FetchError::Source(SourceError::DiskFull { directory: String::new() });
    }
    let text = chain(error);
    if text.contains("not our ref") || text.contains("unadvertised object") {
        return FetchError::NotOurs;
    }
    FetchError::Unusable(text)
}

/// All that an error and its causes say, on one line.
fn chain(error: &gix::Error) -> String {
    let mut texts: Vec<String> = Vec::new();
    for error in error.iter_errors() {
        let text = error.to_string();
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts.join(": ")
}
