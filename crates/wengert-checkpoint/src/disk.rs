//! States in files.
//!
//! A state is written by a thread of its own while the loop goes on, and read ahead of its use on the way back, where
//! the schedule says which is next. A file is written under another name first, so that one that has its name is whole; what it holds
//! is compared with a checksum whenever it is read. It names the loop it belongs to: states of another one are not taken for its
//! own.

use crate::fingerprint::Fingerprint;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How a file begins: eight letters and a version.
const MAGIC: [u8; 8] = *b"wngrtst1";

/// Words before the state: magic, loop, step, bytes, checksum of the state, checksum of these.
const WORDS: usize = 6;

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// The system refuses.
    #[error("{}: {error}", path.display())]
    System {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// It is not what was written.
    #[error("{}: {what}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// Why it is refused.
        what: &'static str,
    },
    /// There is no more room.
    #[error("{}: {needed} bytes do not fit the {allowed} that are allowed on disk", folder.display())]
    Full {
        /// Where states are written.
        folder: PathBuf,
        /// What all states there would take.
        needed: u64,
        /// What they may take.
        allowed: u64,
    },
}

/// A folder of a run from which another process can go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// Where it is.
    pub path: PathBuf,
    /// Bytes that states in it may take.
    pub bytes: u64,
    /// A number that tells this loop and its arguments from others.
    pub owner: u64,
    /// Whether it survives a loss of power as well; that takes longer.
    pub synced: bool,
}

/// A folder for states.
#[derive(Debug)]
pub struct Disk {
    folder: PathBuf,
    /// Whether the folder was made here, and goes with the last file in it.
    is_made: bool,
    /// Whether files stay when the process goes on without them: another may need them.
    stays: bool,
    /// Whether they survive a loss of power.
    synced: bool,
    /// Bytes that all files together may take.
    limit: u64,
    /// Which loop it is for.
    owner: u64,
    /// Bytes of the files there are, by their slots, and of all of them.
    files: HashMap<usize, u64>,
    bytes: u64,
    writer: Option<Writer>,
    ahead: Option<Ahead>,
    /// How long it took to write a state and to read it.
    times: Option<[Duration; 2]>,
}

/// A state that is being read.
#[derive(Debug)]
struct Ahead {
    slot: usize,
    step: u64,
    thread: JoinHandle<Result<Vec<u8>, DiskError>>,
}

impl Ahead {
    fn is(&self, slot: usize, step: u64) -> bool {
        self.slot == slot && self.step == step
    }
}

/// The thread that writes.
#[derive(Debug)]
struct Writer {
    to: SyncSender<Job>,
    back: Receiver<Result<Written, DiskError>>,
    /// Which slots it has still to write.
    waiting: Vec<usize>,
    thread: JoinHandle<()>,
    /// Storage of states that have been written.
    spare: Vec<Vec<u8>>,
}

struct Job {
    slot: usize,
    path: PathBuf,
    header: [u8; 8 * WORDS],
    state: Vec<u8>,
    synced: bool,
}

#[derive(Debug)]
struct Written {
    slot: usize,
    state: Vec<u8>,
}

impl Disk {
    /// States of one loop in a folder, which is made where there is none. All files together may take so many bytes.
    pub fn new(folder: impl Into<PathBuf>, limit: u64, owner: u64) -> Result<Disk, DiskError> {
        let folder = folder.into();
        let is_made = !folder.exists();
        fs::create_dir_all(&folder).map_err(|error| system(&folder, error))?;
        let files = HashMap::new();
        let (stays, synced, bytes) = (false, false, 0);
        Ok(Disk {
            folder,
            is_made,
            stays,
            synced,
            limit,
            owner,
            files,
            bytes,
            writer: None,
            ahead: None,
            times: None,
        })
    }

    /// The same, with files that stay until they are cleared away.
    pub(crate) fn staying(folder: &Folder) -> Result<Disk, DiskError> {
        let mut disk = Disk::new(&folder.path, folder.bytes, folder.owner)?;
        (disk.stays, disk.synced) = (true, folder.synced);
        Ok(disk)
    }

    /// Finds the states that are there: their steps and slots. Unfinished ones are removed; one that is not what was written is
    /// an error.
    pub(crate) fn find(&mut self) -> Result<Vec<(u64, usize)>, DiskError> {
        let mut found = Vec::new();
        let entries = fs::read_dir(&self.folder).map_err(|error| system(&self.folder, error))?;
        for entry in entries {
            let path = entry.map_err(|error| system(&self.folder, error))?.path();
            if path.extension().is_some_and(|e| e == "unfinished") {
                let _ = fs::remove_file(&path);
                continue;
            }
            let name = path.file_name().and_then(|name| name.to_str());
            let slot = name.and_then(|name| name.strip_prefix("state-")?.parse().ok());
            if let Some(slot) = slot {
                let (step, state) = checked(&path, MAGIC, self.owner)?;
                self.note(slot, Disk::file_bytes(state.len() as u64));
                found.push((step, slot));
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Removes all files, and the folder if that was all there was in it.
    pub(crate) fn end(&mut self) {
        self.clear();
        let _ = fs::remove_dir(&self.folder);
    }

    /// Removes all files.
    pub(crate) fn clear(&mut self) {
        let slots: Vec<usize> = self.files.keys().copied().collect();
        slots.into_iter().for_each(|slot| _ = self.free(slot));
    }

    /// What a state of so many bytes takes.
    pub fn file_bytes(state: u64) -> u64 {
        state.saturating_add(8 * WORDS as u64)
    }

    /// Bytes that all files together may take.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Bytes that are left of them.
    pub(crate) fn room(&self) -> u64 {
        self.limit.saturating_sub(self.bytes)
    }

    /// A slot that holds nothing.
    pub(crate) fn vacant(&self) -> usize {
        let first = self.files.len();
        (first..=first + first).find(|slot| !self.files.contains_key(slot)).unwrap_or(first)
    }

    /// A slot has a file of so many bytes; there was none.
    fn note(&mut self, slot: usize, bytes: u64) {
        self.files.insert(slot, bytes);
        self.bytes += bytes;
    }

    fn path(&self, slot: usize) -> PathBuf {
        self.folder.join(format!("state-{slot}"))
    }

    /// Storage for a state of so many bytes, to be filled and put.
    pub(crate) fn storage(&mut self, bytes: usize) -> Option<Vec<u8>> {
        let spare = self.writer.as_mut().and_then(|writer| writer.spare.pop());
        let mut storage = spare.unwrap_or_default();
        storage.clear();
        storage.try_reserve_exact(bytes).ok()?;
        storage.resize(bytes, 0);
        Some(storage)
    }

    /// Writes the state before a step to a slot, later; what was there is lost.
    pub(crate) fn put(&mut self, slot: usize, step: u64, state: Vec<u8>) -> Result<(), DiskError> {
        let bytes = Disk::file_bytes(state.len() as u64);
        self.free(slot)?;
        let needed = self.bytes.saturating_add(bytes);
        if needed > self.limit {
            return Err(DiskError::Full {
                folder: self.folder.clone(),
                needed,
                allowed: self.limit,
            });
        }
        let header = stamp(MAGIC, self.owner, step, &state);
        let job = Job { slot, path: self.path(slot), header, state, synced: self.synced };
        self.note(slot, bytes);
        if self.writer.is_none() {
            self.writer = Some(Writer::start().map_err(|error| system(&self.folder, error))?);
        }
        match &mut self.writer {
            Some(writer) => writer.send(job),
            None => Ok(()),
        }
    }

    /// Begins to read a state that will be asked for.
    pub(crate) fn look_ahead(&mut self, slot: usize, step: u64) {
        let is_written = self.writer.as_ref().is_none_or(|w| !w.waiting.contains(&slot));
        // One at a time.
        let is_busy = |ahead: &Ahead| ahead.is(slot, step) || !ahead.thread.is_finished();
        if !is_written || self.ahead.as_ref().is_some_and(is_busy) {
            return;
        }
        let (path, owner) = (self.path(slot), self.owner);
        let read = std::thread::Builder::new().spawn(move || read(&path, owner, step));
        // Without a thread it is read when it is asked for.
        self.ahead = read.ok().map(|thread| Ahead { slot, step, thread });
    }

    /// The state before a step, from a slot.
    pub(crate) fn get(&mut self, slot: usize, step: u64) -> Result<Vec<u8>, DiskError> {
        if let Some(writer) = &mut self.writer {
            while writer.waiting.contains(&slot) {
                writer.receive()?;
            }
        }
        if let Some(ahead) = self.ahead.take().filter(|ahead| ahead.is(slot, step))
            && let Ok(Ok(state)) = ahead.thread.join()
        {
            return Ok(state);
        }
        // It may not have been there yet.
        read(&self.path(slot), self.owner, step)
    }

    /// The slot holds nothing any more.
    pub(crate) fn free(&mut self, slot: usize) -> Result<(), DiskError> {
        let Some(bytes) = self.files.remove(&slot) else { return Ok(()) };
        self.bytes -= bytes;
        if let Some(writer) = &mut self.writer {
            while writer.waiting.contains(&slot) {
                writer.receive()?;
            }
        }
        let path = self.path(slot);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(system(&path, error)),
            _ => Ok(()),
        }
    }

    /// How long it takes to write a state of so many bytes and to read it. The first time it is tried.
    pub(crate) fn times(&mut self, bytes: usize) -> Result<[Duration; 2], DiskError> {
        if let Some(times) = self.times {
            return Ok(times);
        }
        let slot = self.vacant();
        let mut times = [Duration::MAX; 2];
        // The first time, everything is slow.
        for _ in 0..3 {
            let begin = Instant::now();
            let Some(state) = self.storage(bytes) else { break };
            self.put(slot, 0, state)?;
            self.flush()?;
            let written = Instant::now();
            self.get(slot, 0)?;
            let [write, read] = times;
            times = [write.min(written - begin), read.min(written.elapsed())];
        }
        self.free(slot)?;
        self.times = Some(times);
        Ok(times)
    }

    /// Waits until everything is written.
    pub(crate) fn flush(&mut self) -> Result<(), DiskError> {
        if let Some(writer) = &mut self.writer {
            while !writer.waiting.is_empty() {
                writer.receive()?;
            }
        }
        Ok(())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = self.flush();
        if let Some(Writer { to, thread, .. }) = self.writer.take() {
            drop(to);
            let _ = thread.join();
        }
        if !self.stays {
            self.clear();
        }
        if self.is_made {
            // Where nothing is left in it.
            let _ = fs::remove_dir(&self.folder);
        }
    }
}

impl Writer {
    fn start() -> io::Result<Writer> {
        let (to, jobs) = mpsc::sync_channel::<Job>(1);
        let (done, back) = mpsc::channel();
        let work = move || {
            for Job { slot, path, header, state, synced } in jobs {
                let written = write(&path, &header, &state, synced);
                let written = written.map(|()| Written { slot, state });
                if done.send(written).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("wengert-disk".into()).spawn(work)?;
        Ok(Writer { to, back, waiting: Vec::new(), thread, spare: Vec::new() })
    }

    fn send(&mut self, job: Job) -> Result<(), DiskError> {
        // One is written and one waits: memory for two, whatever the disk does.
        while self.waiting.len() >= 2 {
            self.receive()?;
        }
        self.waiting.push(job.slot);
        let path = job.path.clone();
        self.to.send(job).map_err(|_| stopped(&path))
    }

    fn receive(&mut self) -> Result<(), DiskError> {
        let Ok(written) = self.back.recv() else {
            self.waiting.clear();
            return Err(stopped(Path::new("")));
        };
        let Written { slot, state } = match written {
            Ok(written) => written,
            Err(e) => {
                self.waiting.remove(0);
                return Err(e);
            }
        };
        self.waiting.retain(|waiting| *waiting != slot);
        self.spare.push(state);
        Ok(())
    }
}

fn stopped(path: &Path) -> DiskError {
    system(path, io::Error::other("the thread that writes has ended"))
}

pub(crate) fn system(path: &Path, error: io::Error) -> DiskError {
    DiskError::System { path: path.into(), error }
}

fn print(bytes: &[u8]) -> u64 {
    let mut print = Fingerprint::new();
    print.bytes(bytes);
    print.finish()
}

/// What stands before the bytes of a file.
pub(crate) fn stamp(magic: [u8; 8], owner: u64, step: u64, state: &[u8]) -> [u8; 8 * WORDS] {
    let mut header = [0; 8 * WORDS];
    let words = [u64::from_le_bytes(magic), owner, step, state.len() as u64, print(state)];
    for (to, word) in header.as_chunks_mut::<8>().0.iter_mut().zip(words) {
        *to = word.to_le_bytes();
    }
    let check = print(&header[..8 * (WORDS - 1)]);
    header[8 * (WORDS - 1)..].copy_from_slice(&check.to_le_bytes());
    header
}

/// Writes a file that is whole once it has its name.
pub(crate) fn write(
    path: &Path,
    header: &[u8],
    state: &[u8],
    synced: bool,
) -> Result<(), DiskError> {
    let unfinished = path.with_extension("unfinished");
    let write = || {
        let mut file = File::create(&unfinished)?;
        file.write_all(header)?;
        file.write_all(state)?;
        if synced {
            file.sync_all()?;
        }
        fs::rename(&unfinished, path)?;
        match path.parent() {
            // The name is kept by the folder.
            Some(folder) if synced => File::open(folder)?.sync_all(),
            _ => Ok(()),
        }
    };
    write().map_err(|error| {
        let _ = fs::remove_file(&unfinished);
        system(path, error)
    })
}

fn read(path: &Path, owner: u64, step: u64) -> Result<Vec<u8>, DiskError> {
    let (found, state) = checked(path, MAGIC, owner)?;
    if found != step {
        let what = "it is another state than was stored there";
        return Err(DiskError::Refused { path: path.into(), what });
    }
    Ok(state)
}

/// The step and the bytes of a file that is whole and belongs to this owner.
pub(crate) fn checked(
    path: &Path,
    magic: [u8; 8],
    owner: u64,
) -> Result<(u64, Vec<u8>), DiskError> {
    let refused = |what| DiskError::Refused { path: path.into(), what };
    let failed = |error| system(path, error);
    let mut file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let mut given = [0; 8 * WORDS];
    file.read_exact(&mut given).map_err(|_| refused("it has been cut off"))?;
    let words: Vec<u64> = given.as_chunks::<8>().0.iter().map(|w| u64::from_le_bytes(*w)).collect();
    if given[..8] != magic {
        return Err(refused("it is no file of a loop"));
    }
    if words[WORDS - 1] != print(&given[..8 * (WORDS - 1)]) {
        return Err(refused("its beginning has been changed"));
    }
    if words[1] != owner {
        return Err(refused("it belongs to another loop, or to other arguments"));
    }
    if length != Disk::file_bytes(words[3]) {
        return Err(refused("it is not as long as it says"));
    }
    let mut state = Vec::new();
    let bytes = usize::try_from(words[3]).map_err(|_| refused("it is too long"))?;
    state.try_reserve_exact(bytes).map_err(|_| refused("there is no memory for it"))?;
    file.read_to_end(&mut state).map_err(failed)?;
    if state.len() != bytes || print(&state) != words[4] {
        return Err(refused("its content has been changed"));
    }
    Ok((words[2], state))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that goes with the test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let folder =
                std::env::temp_dir().join(format!("wengert-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&folder);
            Folder(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn state(k: u64, bytes: usize) -> Vec<u8> {
        (0..bytes as u64).map(|i| (i * (k + 3)) as u8).collect()
    }

    #[test]
    fn states_come_back() {
        let folder = Folder::new("back");
        let mut disk = Disk::new(&folder.0, 10_000_000, 7).unwrap();
        for k in 0..20u64 {
            let mut storage = disk.storage(100_000).unwrap();
            storage.copy_from_slice(&state(k, 100_000));
            disk.put(k as usize, 10 * k, storage).unwrap();
        }
        for k in (0..20u64).rev() {
            if k > 0 {
                disk.look_ahead(k as usize - 1, 10 * (k - 1));
            }
            assert_eq!(disk.get(k as usize, 10 * k).unwrap(), state(k, 100_000));
            disk.free(k as usize).unwrap();
        }
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 0);
        disk.put(3, 1, state(1, 8)).unwrap();
        drop(disk);
        assert!(!folder.0.exists());
    }

    #[test]
    fn what_is_wrong_is_told() {
        let folder = Folder::new("wrong");
        let mut disk = Disk::new(&folder.0, 1000, 7).unwrap();
        disk.put(0, 5, state(1, 400)).unwrap();
        let e = disk.put(1, 6, state(1, 600)).unwrap_err();
        assert!(matches!(e, DiskError::Full { needed: 1096, allowed: 1000, .. }), "{e}");
        disk.flush().unwrap();
        let path = folder.0.join("state-0");
        let good = fs::read(&path).unwrap();
        let told = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            read(&path, 7, 5).unwrap_err().to_string()
        };
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 4;
            assert!(told(&bad).contains("state-0"), "{at}");
        }
        for length in [0, 7, 47, 48, 100, good.len() - 1] {
            assert!(told(&good[..length]).contains("state-0"), "{length}");
        }
        assert!(told(&[&good[..], &[0]].concat()).contains("not as long"));
        fs::write(&path, &good).unwrap();
        assert!(read(&path, 8, 5).unwrap_err().to_string().contains("another loop"));
        assert!(read(&path, 7, 6).unwrap_err().to_string().contains("another state"));
        assert!(read(&path, 7, 5).is_ok());
        fs::remove_file(&path).unwrap();
        assert!(matches!(disk.get(0, 5), Err(DiskError::System { .. })));
    }

    #[test]
    fn a_folder_that_cannot_be_written_to() {
        let folder = Folder::new("file");
        fs::write(&folder.0, "a file").unwrap();
        assert!(matches!(Disk::new(&folder.0, 10, 1), Err(DiskError::System { .. })));
        fs::remove_file(&folder.0).unwrap();
        let mut disk = Disk::new(&folder.0, 1 << 20, 1).unwrap();
        fs::remove_dir(&folder.0).unwrap();
        disk.put(0, 0, state(0, 100)).unwrap();
        assert!(disk.flush().is_err());
    }
}
