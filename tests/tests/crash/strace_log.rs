//! From strace's log to what happened to the files of one folder, in order.

use std::collections::HashMap;
use std::path::Path;

use spine_tests::Ack;

/// The system calls that can change a file or make it durable. Those that the parser does not know fail the
/// test when they touch the folder: what it cannot see it must not call durable.
pub const TRACED: &str = "trace=open,openat,openat2,creat,write,writev,pwrite64,pwritev,pwritev2,\
    truncate,ftruncate,fallocate,copy_file_range,sendfile,splice,mmap,io_uring_setup,\
    fsync,fdatasync,msync,sync_file_range,link,linkat,rename,renameat,renameat2,unlink,unlinkat";

/// One thing that happened. Files are named within the folder; the folder itself has no name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// A file was opened that may be new.
    Opened { file: String },
    /// Bytes were handed to the system.
    Written { file: String, offset: usize, bytes: Vec<u8> },
    /// The file was cut or lengthened.
    Truncated { file: String, len: usize },
    /// What was written up to here…
    SyncBegan { file: String, thread: String },
    /// …is durable from here on.
    SyncEnded { file: String, thread: String },
    /// …or may never be, although the next sync succeeds.
    SyncFailed { file: String, thread: String },
    /// The name was removed.
    Unlinked { file: String },
    /// A write was acknowledged.
    Acknowledged(Ack),
}

impl Operation {
    pub fn is_sync(&self) -> bool {
        matches!(self, Self::SyncBegan { .. } | Self::SyncEnded { .. } | Self::SyncFailed { .. })
    }
}

struct Call {
    name: String,
    arguments: Vec<String>,
}

/// Reads a whole log. A write counts from the moment it was asked for, a sync when it has returned.
pub fn parse(log: &str, folder: &Path) -> Vec<Operation> {
    let mut parser = Parser {
        folder: folder.to_str().unwrap().to_owned(),
        unfinished: HashMap::new(),
        operations: Vec::new(),
    };
    log.lines().for_each(|line| parser.line(line));
    parser.operations
}

struct Parser {
    folder: String,
    unfinished: HashMap<String, Call>,
    operations: Vec<Operation>,
}

impl Parser {
    fn line(&mut self, line: &str) {
        let (thread, rest) = line.split_once(' ').unwrap();
        let rest = rest.trim_start();
        if let Some(resumed) = rest.strip_prefix("<... ") {
            let call = self.unfinished.remove(thread).unwrap();
            self.end(thread, &call, result(resumed));
        } else if !rest.starts_with("+++") && !rest.starts_with("---") {
            self.begin_line(thread, rest);
        }
    }

    fn begin_line(&mut self, thread: &str, line: &str) {
        if let Some(begun) = line.strip_suffix(" <unfinished ...>") {
            let call = Call::parse(begun);
            self.begin(thread, &call);
            self.unfinished.insert(thread.to_owned(), call);
        } else {
            let (call, _) = line.rsplit_once(" = ").unwrap();
            let call = Call::parse(call.trim_end().strip_suffix(')').unwrap());
            self.begin(thread, &call);
            self.end(thread, &call, result(line));
        }
    }

    fn begin(&mut self, thread: &str, call: &Call) {
        let began = |file| Operation::SyncBegan { file, thread: thread.to_owned() };
        let operation = match call.name.as_str() {
            "write" if call.arguments[0].starts_with("1<") => acknowledged(call),
            "mmap" => return self.check_map(call),
            "pwrite64" => self.file(call).map(|file| written(call, file)),
            "ftruncate" => self.file(call).map(|file| truncated(call, file)),
            "fsync" | "fdatasync" => self.file(call).map(began),
            "unlink" => self.file(call).map(|file| Operation::Unlinked { file }),
            "open" | "openat" | "creat" => return,
            _ => return self.refuse_unknown(call),
        };
        self.operations.extend(operation);
    }

    fn end(&mut self, thread: &str, call: &Call, result: i64) {
        let operation = match call.name.as_str() {
            "fsync" | "fdatasync" => self.file(call).map(|file| sync_ended(file, thread, result)),
            _ if result < 0 => return self.check_failed(call),
            "openat" if call.arguments[2].contains("O_CREAT") => {
                self.named(&call.arguments[1]).map(|file| Operation::Opened { file })
            }
            "pwrite64" => return assert_eq!(call.arguments[2], result.to_string(), "short write"),
            _ => return,
        };
        self.operations.extend(operation);
    }

    /// The file that the first argument means, if it holds data of the folder.
    fn file(&self, call: &Call) -> Option<String> {
        self.named(&call.arguments[0])
    }

    /// The write-ahead log's index is built anew at each open, and the lock file is empty.
    fn named(&self, argument: &str) -> Option<String> {
        let path = path(argument)?;
        let file = path.strip_prefix(&self.folder)?.trim_start_matches('/');
        let is_data = !file.ends_with("-shm") && !file.ends_with(".lock");
        is_data.then(|| file.to_owned())
    }

    fn check_map(&self, call: &Call) {
        let shared = call.arguments[3].contains("MAP_SHARED");
        let writable = call.arguments[2].contains("PROT_WRITE");
        let file = self.named(&call.arguments[4]).filter(|_| shared && writable);
        assert_eq!(file, None, "writes through a mapping cannot be seen");
    }

    /// A file that is not there may be looked for; anything else that fails was not meant to.
    fn check_failed(&self, call: &Call) {
        let file = call.arguments.iter().find_map(|argument| self.named(argument));
        assert!(call.name == "openat" || file.is_none(), "{} of {file:?} failed", call.name);
    }

    fn refuse_unknown(&self, call: &Call) {
        let file = call.arguments.iter().find_map(|argument| self.named(argument));
        assert_eq!(file, None, "{} is not modelled", call.name);
    }
}

impl Call {
    /// All strings are hexadecimal, so that a comma always separates.
    fn parse(text: &str) -> Self {
        let (name, arguments) = text.split_once('(').unwrap();
        let arguments = arguments.split(", ").map(str::to_owned).collect();
        Self { name: name.to_owned(), arguments }
    }
}

/// The number behind the last `=`; an address is none that anyone asks for.
fn result(line: &str) -> i64 {
    let (_, result) = line.rsplit_once(" = ").unwrap();
    let number: String = result.chars().take_while(|c| c.is_ascii_digit() || *c == '-').collect();
    number.parse().unwrap()
}

fn written(call: &Call, file: String) -> Operation {
    let bytes = string(&call.arguments[1]).unwrap();
    Operation::Written { file, offset: call.arguments[3].parse().unwrap(), bytes }
}

fn truncated(call: &Call, file: String) -> Operation {
    Operation::Truncated { file, len: call.arguments[1].parse().unwrap() }
}

fn sync_ended(file: String, thread: &str, result: i64) -> Operation {
    let thread = thread.to_owned();
    if result < 0 {
        Operation::SyncFailed { file, thread }
    } else {
        Operation::SyncEnded { file, thread }
    }
}

fn acknowledged(call: &Call) -> Option<Operation> {
    let line = String::from_utf8(string(&call.arguments[1]).unwrap()).unwrap();
    let ack = (!line.starts_with("error ")).then(|| line.trim_end().parse().unwrap());
    ack.map(Operation::Acknowledged)
}

/// From `"\x2f"` or `5<\x2f>`.
fn path(argument: &str) -> Option<String> {
    let bytes = string(argument).or_else(|| {
        let (_, path) = argument.split_once('<')?;
        decode(path.split_once('>')?.0)
    });
    String::from_utf8(bytes?).ok()
}

fn string(argument: &str) -> Option<Vec<u8>> {
    decode(argument.strip_prefix('"')?.strip_suffix('"')?)
}

fn decode(escaped: &str) -> Option<Vec<u8>> {
    escaped.split("\\x").skip(1).map(|digits| u8::from_str_radix(digits, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `/d/a` in hexadecimal.
    const A: &str = r"\x2f\x64\x2f\x61";

    fn check(log: &str, expected: &[Operation]) {
        let log = log.replace("/d/a", A);
        assert_eq!(parse(&log, Path::new("/d")), expected);
    }

    #[test]
    fn sync_ends_when_it_returns() {
        let (file, thread) = (|| "a".to_owned(), || "7".to_owned());
        check(
            "7  openat(AT_FDCWD</d/a>, \"/d/a\", O_RDWR|O_CREAT, 0644) = 5</d/a>\n\
             7  fsync(5</d/a> <unfinished ...>\n\
             8  pwrite64(5</d/a>, \"\\x01\\x02\", 2, 9) = 2\n\
             7  <... fsync resumed>)  = 0\n\
             7  +++ exited with 0 +++",
            &[
                Operation::Opened { file: file() },
                Operation::SyncBegan { file: file(), thread: thread() },
                Operation::Written { file: file(), offset: 9, bytes: vec![1, 2] },
                Operation::SyncEnded { file: file(), thread: thread() },
            ],
        );
    }

    #[test]
    #[should_panic(expected = "not modelled")]
    fn unknown_way_to_write_is_not_overlooked() {
        check("7  pwritev2(5</d/a>, [], 1, 0, 0) = 1", &[]);
    }
}
