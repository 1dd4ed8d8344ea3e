//! The server's side of Git's protocol, version 2, over a local repository: enough for the tests.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::objs::Kind;

/// A repository that is served.
#[derive(Clone)]
pub(crate) struct UploadPack {
    pub(crate) path: PathBuf,
    /// Give out only what is at the tip of a reference, as some servers do.
    pub(crate) tips_only: bool,
}

impl UploadPack {
    pub(crate) fn at(path: &Path) -> Self {
        UploadPack { path: path.to_owned(), tips_only: false }
    }

    /// What the server says first.
    pub(crate) fn greeting() -> Vec<u8> {
        let mut out = Vec::new();
        for text in ["version 2", "agent=test", "ls-refs=unborn", "fetch=shallow", "object-format=sha1"] {
            line(&mut out, format!("{text}\n").as_bytes());
        }
        out.extend(b"0000");
        out
    }

    /// The answer to one command.
    pub(crate) fn answer(&self, request: &[u8]) -> Vec<u8> {
        let lines = lines(request);
        let repository = gix::open_opts(&self.path, gix::open::Options::isolated()).unwrap();
        if lines.iter().any(|line| line == "command=ls-refs") {
            list(&repository, &lines)
        } else {
            self.fetch(&repository, &lines)
        }
    }

    fn fetch(&self, repository: &gix::Repository, lines: &[String]) -> Vec<u8> {
        let ids = |word: &str| -> Vec<ObjectId> {
            let found = lines.iter().filter_map(|line| line.strip_prefix(word));
            found.map(|id| ObjectId::from_hex(id.trim().as_bytes()).unwrap()).collect()
        };
        let (wants, haves) = (ids("want "), ids("have "));
        let mut out = Vec::new();
        for want in &wants {
            if !repository.has_object(want) || (self.tips_only && !is_tip(repository, *want)) {
                line(&mut out, format!("ERR upload-pack: not our ref {want}\n").as_bytes());
                return out;
            }
        }
        let shallow = lines.iter().any(|line| line == "deepen 1");
        let mut known = BTreeSet::new();
        for have in haves.into_iter().filter(|have| repository.has_object(have)) {
            collect(repository, have, !ids("shallow ").contains(&have), &mut known);
        }
        let mut objects = BTreeSet::new();
        for want in &wants {
            collect(repository, *want, !shallow, &mut objects);
        }
        if shallow {
            line(&mut out, b"shallow-info\n");
            for want in wants.iter().filter(|want| has_parents(repository, **want)) {
                line(&mut out, format!("shallow {want}\n").as_bytes());
            }
            out.extend(b"0001");
        }
        line(&mut out, b"packfile\n");
        let missing: Vec<ObjectId> = objects.difference(&known).copied().collect();
        for part in pack(repository, &missing).chunks(60_000) {
            line(&mut out, &[b"\x01", part].concat());
        }
        out.extend(b"0000");
        out
    }
}

fn list(repository: &gix::Repository, lines: &[String]) -> Vec<u8> {
    let prefixes: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("ref-prefix ")).collect();
    let wanted = |name: &str| prefixes.is_empty() || prefixes.iter().any(|prefix| name.starts_with(prefix));
    let mut out = Vec::new();
    let head = repository.head().unwrap();
    if let Some((id, name)) = head.id().zip(head.referent_name()).filter(|_| wanted("HEAD")) {
        line(&mut out, format!("{id} HEAD symref-target:{}\n", name.as_bstr()).as_bytes());
    }
    for reference in repository.references().unwrap().all().unwrap() {
        let mut reference = reference.unwrap();
        let name = reference.name().as_bstr().to_string();
        let id = reference.id().detach();
        let peeled = reference.peel_to_id().unwrap().detach();
        if wanted(&name) {
            let suffix = if peeled == id { String::new() } else { format!(" peeled:{peeled}") };
            line(&mut out, format!("{id} {name}{suffix}\n").as_bytes());
        }
    }
    out.extend(b"0000");
    out
}

fn is_tip(repository: &gix::Repository, id: ObjectId) -> bool {
    let mut references = repository.references().unwrap().all().unwrap().flatten().collect::<Vec<_>>();
    references.iter_mut().any(|reference| reference.peel_to_id().is_ok_and(|tip| tip == id))
}

fn has_parents(repository: &gix::Repository, commit: ObjectId) -> bool {
    repository.find_commit(commit).is_ok_and(|commit| commit.parent_ids().next().is_some())
}

/// Everything that an object leads to.
fn collect(repository: &gix::Repository, id: ObjectId, history: bool, into: &mut BTreeSet<ObjectId>) {
    if !into.insert(id) {
        return;
    }
    let object = repository.find_object(id).unwrap();
    match object.kind {
        Kind::Commit => {
            let commit = object.into_commit();
            collect(repository, commit.tree_id().unwrap().detach(), history, into);
            for parent in commit.parent_ids().filter(|_| history) {
                collect(repository, parent.detach(), history, into);
            }
        }
        Kind::Tree => {
            for entry in object.into_tree().iter() {
                let entry = entry.unwrap();
                if !entry.mode().is_commit() {
                    collect(repository, entry.object_id(), history, into);
                }
            }
        }
        Kind::Tag => collect(repository, object.into_tag().target_id().unwrap().detach(), history, into),
        Kind::Blob => {}
    }
}

/// A pack without deltas.
fn pack(repository: &gix::Repository, ids: &[ObjectId]) -> Vec<u8> {
    let mut out = b"PACK\0\0\0\x02".to_vec();
    out.extend(u32::try_from(ids.len()).unwrap().to_be_bytes());
    for id in ids {
        let object = repository.find_object(*id).unwrap();
        let kind: u8 = match object.kind {
            Kind::Commit => 1,
            Kind::Tree => 2,
            Kind::Blob => 3,
            Kind::Tag => 4,
        };
        let mut size = object.data.len();
        let mut byte = (kind << 4) | (size & 15) as u8;
        size >>= 4;
        while size > 0 {
            out.push(byte | 0x80);
            byte = (size & 127) as u8;
            size >>= 7;
        }
        out.push(byte);
        let mut deflate = flate2::write::ZlibEncoder::new(&mut out, flate2::Compression::fast());
        deflate.write_all(&object.data).unwrap();
        deflate.finish().unwrap();
    }
    let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
    hasher.update(&out);
    out.extend(hasher.try_finalize().unwrap().as_slice());
    out
}

pub(crate) fn line(out: &mut Vec<u8>, text: &[u8]) {
    out.extend(format!("{:04x}", text.len() + 4).as_bytes());
    out.extend(text);
}

/// The lines of a request, without the marks between them.
fn lines(mut request: &[u8]) -> Vec<String> {
    let mut lines = Vec::new();
    while request.len() >= 4 {
        let length = usize::from_str_radix(std::str::from_utf8(&request[..4]).unwrap(), 16).unwrap();
        if length < 4 {
            request = &request[4..];
            continue;
        }
        lines.push(String::from_utf8_lossy(&request[4..length]).trim_end().to_owned());
        request = &request[length..];
    }
    lines
}
