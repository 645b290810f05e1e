//! Every bound of finding a server, starting one in the background and speaking to it over stdio, with its unit.

use std::time::Duration;

/// A line that a host writes: as much as the server takes in one request.
pub const LINE_BYTES_MAX: usize = spine_protocol::limits::ENVELOPE_BYTES_MAX;
/// A message that the server writes.
pub const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Lines that wait to be read on, and messages that wait to be written.
pub const LINES_WAITING_MAX: usize = 64;
/// Requests under way for one host; more are refused.
pub const REQUESTS_MAX: usize = 64;
/// Times that one request is sent while servers go away.
pub const TRIES_MAX: u32 = 4;
/// For the first byte of an answer. A call that blocks says how long, and is answered before.
pub const ANSWER_TIME_MAX: Duration = Duration::from_secs(300);
/// For a message without an answer to be taken.
pub const NOTICE_TIME_MAX: Duration = Duration::from_secs(10);
/// Before a stream of the server's own messages is opened again.
pub const LISTEN_PAUSE: Duration = Duration::from_secs(1);
/// For what is under way to be answered when the host has closed its end.
pub const GOODBYE_TIME_MAX: Duration = Duration::from_secs(2);
/// Shorter than the server keeps a silent connection, so that none is used while it is being closed.
pub const CONNECTION_IDLE_MAX: Duration = Duration::from_secs(5);

/// The file that says where a server is.
pub const ADDRESS_BYTES_MAX: u64 = 4 * 1024;
/// For a server to say that it is there.
pub const PROBE_TIME_MAX: Duration = Duration::from_secs(2);
/// For a server to be found or started.
pub const START_TIME_MAX: Duration = Duration::from_secs(30);
/// Between two looks for a server that is starting.
pub const START_POLL: Duration = Duration::from_millis(20);
/// Before another start, when somebody else had the data open.
pub const START_PAUSE: Duration = Duration::from_millis(250);
/// A background server ends itself when nobody was connected for so long, if the settings do not say.
pub const BACKGROUND_IDLE: Duration = Duration::from_secs(300);
/// Signs of life that a bridge gives within the idle time of its server.
pub const SIGNS_PER_IDLE_TIME: u32 = 3;
/// The log of a background server. The part before it is kept as well: twice this in all.
pub const LOG_BYTES_MAX: u64 = 2 * 1024 * 1024;
/// For a hook: a session is waiting to begin.
pub const HOOK_TIME_MAX: Duration = Duration::from_secs(4);
