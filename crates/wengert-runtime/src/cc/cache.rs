//! Compiled libraries on disk.
//!
//! An entry is a library, or the tables of one, with a footer: the hash of its name and of what stands before it, and a word
//! by which it is known. Its name is the hash of everything that decides what it holds. It is written under another name and renamed, so
//! that it is there whole or not at all, whoever else writes at the same time; what is torn, changed or of
//! somebody else is not loaded but made again.
//!
//! Code from a folder that others can write to would be theirs, not ours: such a folder is not used.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// Bytes the entries may take together.
pub const LIMIT: u64 = 256 << 20;
/// What is removed at once when they take more: down to three quarters.
const KEEP: u64 = LIMIT / 4 * 3;
/// What the names of libraries end in, and those of tables.
const LIBRARY: &str = "so";
const TABLES: &str = "tables";
/// The end of an entry.
const MAGIC: &[u8; 16] = b"wengert library1";
const FOOTER: usize = 32 + MAGIC.len();
/// After this long an unfinished entry is one of a process that has died.
const STALE: Duration = Duration::from_secs(3600);

/// A folder of entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// The folder of this user: `$WENGERT_CACHE`, or `wengert` among the user's cached data.
    pub fn of_user() -> Result<Cache, String> {
        let named =
            |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let folder = named("WENGERT_CACHE")
            .or_else(|| named("XDG_CACHE_HOME").map(|home| home.join("wengert")))
            .or_else(|| named("HOME").map(|home| home.join(".cache").join("wengert")))
            .filter(|folder| folder.is_absolute());
        let folder =
            folder.ok_or("there is no folder for it: set WENGERT_CACHE to an absolute path")?;
        Cache::at(&folder)
    }

    /// A folder, made if it is not there. It must be this user's, and nobody else may write to it.
    pub fn at(folder: &Path) -> Result<Cache, String> {
        let wrong = |e: io::Error| format!("`{}`: {e}", folder.display());
        if let Some(parent) = folder.parent() {
            fs::create_dir_all(parent).map_err(wrong)?;
        }
        match private_folder(folder) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(wrong(e)),
            _ => {}
        }
        let found = fs::symlink_metadata(folder).map_err(wrong)?;
        if !found.is_dir() {
            let what = if found.is_symlink() { "is a link" } else { "is no folder" };
            return Err(format!("`{}` {what}", folder.display()));
        }
        ours(&found).map_err(|why| format!("`{}` {why}", folder.display()))?;
        Ok(Cache { folder: folder.to_path_buf() })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How many entries there are, and how many bytes they take.
    pub fn size(&self) -> (usize, u64) {
        let entries = self.entries();
        let libraries = entries.iter().filter(|e| e.path.extension().is_some_and(|e| e == LIBRARY));
        (libraries.count(), entries.iter().map(|e| e.bytes).sum())
    }

    fn path(&self, key: &str, kind: &str) -> PathBuf {
        self.folder.join(format!("{key}.{kind}"))
    }

    /// The library of a key, if there is one and it is whole.
    pub(super) fn find(&self, key: &str) -> Option<PathBuf> {
        let path = self.path(key, LIBRARY);
        self.whole(key, &path).map(|_| path)
    }

    /// The tables of a key, if there are any and they are whole.
    pub(super) fn tables(&self, key: &str) -> Option<Vec<u8>> {
        self.whole(key, &self.path(key, TABLES))
    }

    /// What an entry holds, if it is there and whole.
    fn whole(&self, key: &str, path: &Path) -> Option<Vec<u8>> {
        match check(path, key) {
            Ok((file, content)) => {
                // For those who remove what was not used for longest.
                let _ = file.set_modified(SystemTime::now());
                Some(content)
            }
            Err(e) => {
                // Whatever it is, an entry could not take its place.
                if e.kind() != io::ErrorKind::NotFound && fs::remove_file(path).is_err() {
                    let _ = fs::remove_dir_all(path);
                }
                None
            }
        }
    }

    /// Takes over a library that lies in one of our folders, loaded or not; gives back where it is now.
    pub(super) fn add(&self, key: &str, library: &Path) -> io::Result<PathBuf> {
        self.take(key, library, LIBRARY)
    }

    /// Adds tables.
    pub(super) fn add_tables(&self, key: &str, tables: &[u8]) -> io::Result<PathBuf> {
        let work = Work::new(Some(self))?;
        let made = work.file("tables");
        fs::write(&made, tables)?;
        self.take(key, &made, TABLES)
    }

    fn take(&self, key: &str, file: &Path, kind: &str) -> io::Result<PathBuf> {
        seal(file, key)?;
        let path = self.path(key, kind);
        fs::rename(file, &path)?;
        self.tidy(LIMIT, KEEP);
        Ok(path)
    }

    fn entries(&self) -> Vec<Entry> {
        let listed = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let entry = |found: fs::DirEntry| {
            let path = found.path();
            let data = found.metadata().ok()?;
            let kind = path.extension().is_some_and(|e| e == LIBRARY || e == TABLES);
            (data.is_file() && kind).then_some(Entry {
                used: data.modified().ok()?,
                bytes: data.len(),
                path,
            })
        };
        listed.filter_map(entry).collect()
    }

    /// Removes what was not used for longest where there is too much, and what dead processes have left.
    fn tidy(&self, limit: u64, keep: u64) {
        let mut entries = self.entries();
        let mut bytes: u64 = entries.iter().map(|e| e.bytes).sum();
        if bytes > limit {
            entries.sort_by_key(|e| e.used);
            for entry in entries {
                if bytes <= keep {
                    break;
                }
                if fs::remove_file(&entry.path).is_ok() {
                    bytes -= entry.bytes;
                }
            }
        }
        for found in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let old = |data: fs::Metadata| {
                data.is_dir()
                    && data
                        .modified()
                        .ok()
                        .and_then(|t| t.elapsed().ok())
                        .is_some_and(|age| age > STALE)
            };
            let work = found.file_name().to_string_lossy().starts_with(WORK);
            if work && found.metadata().is_ok_and(old) {
                let _ = fs::remove_dir_all(found.path());
            }
        }
    }
}

struct Entry {
    path: PathBuf,
    used: SystemTime,
    bytes: u64,
}

/// What folders for unfinished work are called.
const WORK: &str = "work-";

/// A folder nobody else can see into; removed when dropped.
#[derive(Debug)]
pub(super) struct Work {
    folder: PathBuf,
}

impl Work {
    /// In a cache, or where temporary files go.
    pub(super) fn new(cache: Option<&Cache>) -> io::Result<Work> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let temporary = std::env::temp_dir();
        let within = cache.map_or(temporary.as_path(), |cache| &cache.folder);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("{WORK}{}-{number}", std::process::id());
            let name = if cache.is_some() { name } else { format!("wengert-{name}") };
            let folder = within.join(name);
            match private_folder(&folder) {
                Ok(()) => return Ok(Work { folder }),
                // Left by a process that had this number.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && number < 1 << 20 => {}
                Err(e) => return Err(e),
            }
        }
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Makes a folder of this user's.
fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Whether a file or folder is this user's, and nobody else can write to it.
#[cfg(unix)]
fn ours(data: &fs::Metadata) -> Result<(), &'static str> {
    use std::os::unix::fs::MetadataExt;
    if data.uid() != rustix::process::geteuid().as_raw() {
        return Err("belongs to somebody else");
    }
    if data.mode() & 0o022 != 0 {
        return Err("can be written to by others");
    }
    Ok(())
}

#[cfg(not(unix))]
fn ours(_: &fs::Metadata) -> Result<(), &'static str> {
    Ok(())
}

/// The hash in a footer.
fn hash(key: &str, content: &[u8]) -> blake3::Hash {
    blake3::Hasher::new().update(key.as_bytes()).update(content).finalize()
}

/// Writes the footer.
fn seal(entry: &Path, key: &str) -> io::Result<()> {
    let hash = hash(key, &fs::read(entry)?);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(entry, fs::Permissions::from_mode(0o700))?;
    }
    let mut file = File::options().append(true).open(entry)?;
    file.write_all(hash.as_bytes())?;
    file.write_all(MAGIC)?;
    file.sync_all()
}

/// Opens and reads an entry that is ours and whole.
fn check(path: &Path, key: &str) -> io::Result<(File, Vec<u8>)> {
    let not_whole = || io::Error::new(io::ErrorKind::InvalidData, "not a whole entry");
    let listed = fs::symlink_metadata(path)?;
    if !listed.is_file() || ours(&listed).is_err() {
        return Err(not_whole());
    }
    let mut file = File::options().read(true).write(true).open(path)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let length = bytes.len().checked_sub(FOOTER).ok_or_else(not_whole)?;
    let (content, footer) = bytes.split_at(length);
    let (sum, magic) = footer.split_at(32);
    if magic != MAGIC || hash(key, content).as_bytes() != sum {
        return Err(not_whole());
    }
    bytes.truncate(length);
    Ok((file, bytes))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A folder of a test's own, removed with it.
    fn folder() -> Work {
        Work::new(None).unwrap()
    }

    fn add(cache: &Cache, key: &str, content: &[u8]) -> PathBuf {
        let work = Work::new(Some(cache)).unwrap();
        let library = work.file("made.so");
        fs::write(&library, content).unwrap();
        cache.add(key, &library).unwrap()
    }

    #[test]
    fn folders_of_others_are_refused() {
        let work = folder();
        let path = work.file("cache");
        assert_eq!(Cache::at(&path).unwrap().folder(), path);
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        for open in [0o777, 0o770, 0o702, 0o1777] {
            fs::set_permissions(&path, fs::Permissions::from_mode(open)).unwrap();
            assert!(Cache::at(&path).unwrap_err().contains("written to by others"), "{open:o}");
        }
        // Not a folder, or one that is somewhere else.
        let file = work.file("file");
        fs::write(&file, "x").unwrap();
        assert!(Cache::at(&file).unwrap_err().contains("no folder"));
        let link = work.file("link");
        std::os::unix::fs::symlink(work.file("."), &link).unwrap();
        assert!(Cache::at(&link).unwrap_err().contains("is a link"));
        // Folders of the system are somebody else's, and the system can make some.
        let mut others = PathBuf::from("/usr");
        if rustix::process::geteuid().is_root() {
            others = work.file("others");
            private_folder(&others).unwrap();
            std::os::unix::fs::chown(&others, Some(12345), None).unwrap();
        }
        assert!(Cache::at(&others).unwrap_err().contains("somebody else"));
    }

    #[test]
    fn what_is_not_whole_is_removed() {
        let work = folder();
        let cache = Cache::at(&work.file("cache")).unwrap();
        let path = add(&cache, "key", b"some code");
        let whole = fs::read(&path).unwrap();
        assert_eq!(cache.find("key"), Some(path.clone()));
        let mut wrong: Vec<Vec<u8>> = (0..whole.len()).map(|n| whole[..n].to_vec()).collect();
        wrong.extend((0..whole.len()).map(|k| {
            let mut bytes = whole.clone();
            bytes[k] ^= 1;
            bytes
        }));
        wrong.push([&whole[..], b"more"].concat());
        for bytes in wrong {
            fs::write(&path, &bytes).unwrap();
            assert_eq!(cache.find("key"), None, "{bytes:?}");
            assert!(!path.exists());
        }
        // A whole entry, but of another program.
        fs::write(&path, &whole).unwrap();
        fs::rename(&path, cache.path("other", LIBRARY)).unwrap();
        assert_eq!(cache.find("other"), None);
        // One that others could have written.
        fs::write(&path, &whole).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o722)).unwrap();
        assert_eq!(cache.find("key"), None);
        // One that lies somewhere else.
        let away = work.file("away");
        fs::write(&away, &whole).unwrap();
        std::os::unix::fs::symlink(&away, &path).unwrap();
        assert_eq!(cache.find("key"), None);
        assert!(away.exists());
        // A folder, in which the next entry would have no place.
        fs::create_dir_all(path.join("with/more")).unwrap();
        assert_eq!(cache.find("key"), None);
        assert_eq!(add(&cache, "key", b"some code"), path);
        // One of somebody else.
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&path, Some(12345), None).unwrap();
            assert_eq!(cache.find("key"), None);
            assert!(!path.exists());
        }
    }

    /// Tables as libraries, and neither is taken for the other.
    #[test]
    fn tables_that_are_not_whole_are_removed() {
        let work = folder();
        let cache = Cache::at(&work.file("cache")).unwrap();
        let path = cache.add_tables("key", b"some tables").unwrap();
        let whole = fs::read(&path).unwrap();
        assert_eq!(cache.tables("key").as_deref(), Some(&b"some tables"[..]));
        assert_eq!((cache.find("key"), cache.tables("other")), (None, None));
        assert_eq!(cache.size(), (0, whole.len() as u64));
        for k in 0..whole.len() {
            let mut changed = whole.clone();
            changed[k] ^= 1;
            for bytes in [&whole[..k], &changed] {
                fs::write(&path, bytes).unwrap();
                assert_eq!(cache.tables("key"), None, "{k}");
                assert!(!path.exists());
            }
        }
        fs::write(&path, &whole).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o722)).unwrap();
        assert_eq!(cache.tables("key"), None);
        let library = add(&cache, "key", b"some code");
        fs::rename(&library, &path).unwrap();
        // Its bytes are those of an entry of that name, so they are not damaged; they are no tables.
        assert!(super::super::tables::Tables::read(&cache.tables("key").unwrap(), &[1]).is_none());
    }

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let work = folder();
        let cache = Cache::at(&work.file("cache")).unwrap();
        let paths: Vec<PathBuf> =
            (0..4).map(|k| add(&cache, &format!("k{k}"), &[k; 1000])).collect();
        for (k, path) in paths.iter().enumerate() {
            let age = Duration::from_secs(100 * (10 - k as u64));
            let file = File::options().write(true).open(path).unwrap();
            file.set_modified(SystemTime::now() - age).unwrap();
        }
        assert_eq!(cache.size(), (4, 4 * (1000 + FOOTER as u64)));
        assert!(cache.find("k0").is_some());
        cache.tidy(4000, 2500);
        let left: Vec<bool> = paths.iter().map(|p| p.exists()).collect();
        assert_eq!(left, [true, false, false, true]);
        // A process that died here long ago, and one that is at work.
        let (dead, busy) = (cache.folder.join("work-1-0"), cache.folder.join("work-2-0"));
        for folder in [&dead, &busy] {
            private_folder(folder).unwrap();
        }
        let long_ago = SystemTime::now() - 2 * STALE;
        File::open(&dead).unwrap().set_modified(long_ago).unwrap();
        cache.tidy(LIMIT, KEEP);
        assert_eq!((dead.exists(), busy.exists()), (false, true));
    }
}
