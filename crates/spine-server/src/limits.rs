//! Every bound of the server that is not a setting, with its unit last.

use std::time::Duration;

/// A request body after decompression.
pub const BODY_BYTES_MAX: usize = spine_protocol::limits::ENVELOPE_BYTES_MAX;
/// Members of an object that is searched for what is wrong with it.
pub const SEARCHED_MEMBERS_MAX: usize = 32;
/// Bodies of all requests that are being read, together.
pub const BODIES_BYTES_MAX: usize = 256 * 1024 * 1024;
/// All headers of one request.
pub const HEADERS_BYTES_MAX: usize = 64 * 1024;
/// Rows of a page, if not said otherwise.
pub const PAGE_ROWS_DEFAULT: usize = 50;
/// Rows of a page.
pub const PAGE_ROWS_MAX: usize = spine_store::limits::PAGE_ROWS_MAX;
/// Hits of a search, if not said otherwise.
pub const SEARCH_HITS_DEFAULT: usize = 10;
/// A request id that a caller may bring.
pub const REQUEST_ID_BYTES_MAX: usize = 128;
/// A cursor, encoded.
pub const CURSOR_BYTES_MAX: usize = 1024;
/// How long an event stream waits for a wake-up before it looks by itself.
pub const EVENTS_POLL: Duration = Duration::from_secs(1);
/// How often an event stream says that it is alive.
pub const EVENTS_KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long a sender waits, if it does not say.
pub const SEND_WAIT_DEFAULT: Duration = Duration::from_secs(15);
/// How long a receiver waits, if it does not say.
pub const RECEIVE_WAIT_DEFAULT: Duration = Duration::from_secs(30);
/// How long a stream of deliveries waits before it looks anew.
pub const STREAM_WAIT: Duration = Duration::from_secs(60);
/// Deliveries that a stream gives before some are settled, if not said otherwise.
pub const OUTSTANDING_DEFAULT: usize = 10;
/// Deliveries that a stream gives before some are settled.
pub const OUTSTANDING_MAX: usize = spine_engine::delivery::limits::RECEIVE_MAX;
/// Handoffs of one request.
pub const HANDOFFS_MAX: usize = 100;
/// Handoffs of one request that are worked on at once.
pub const HANDOFFS_AT_ONCE: usize = 8;
/// The first pause after what is due could not be done.
pub const DRIVE_PAUSE_MIN: Duration = Duration::from_millis(100);
/// The longest pause after what is due could not be done.
pub const DRIVE_PAUSE_MAX: Duration = Duration::from_secs(10);
/// How often health is looked after unless set: often enough to find the events of a busy moment still in the memory of
/// the store.
pub const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How far a test moves the clock at once.
pub const CLOCK_ADVANCE_MAX: Duration = Duration::from_secs(366 * 24 * 60 * 60);
/// How often health is looked after while the clock moves, whatever the distance.
pub const CLOCK_LOOKS: u32 = 60;
/// The least between two such looks.
pub const CLOCK_PAUSE_MIN: Duration = Duration::from_secs(60);
/// The least that the clock moves at a time: what is due sooner is due together.
pub const CLOCK_STEP_MIN: Duration = Duration::from_secs(1);
/// Moments at which the clock stops on its way; then it goes to the end at once.
pub const CLOCK_STEPS_MAX: usize = 2_000;
/// How long a test of the webhooks may take.
pub const ALERT_TEST_MAX: Duration = Duration::from_secs(10);
/// Agents that are pushed to; each has a place of its own.
pub const PUSH_AGENTS_MAX: usize = 1_000;
/// Pushes to one agent at once.
pub const PUSHES_PER_AGENT_MAX: usize = 8;
/// Pushes at once beyond each agent's first.
pub const PUSHES_SHARED_MAX: usize = 64;
/// How often agents with webhooks are looked for though nobody said that there are new ones.
pub const PUSH_AGENTS_LOOK: Duration = Duration::from_secs(30);
/// How long pushing waits for work before it looks whether the agent still has its webhook.
pub const PUSH_WAIT: Duration = Duration::from_secs(60);
/// Agents that can have series of their own in `/metrics`.
pub const METRICS_TARGETS_MAX: usize = 1_000;
/// Events that are read at once for a stream.
pub const EVENTS_ROWS: usize = 200;
/// Wake-ups that may wait for a slow stream; one that missed some looks by itself.
pub const WAKE_UPS_MAX: usize = 1_024;
/// Streams inside one HTTP/2 connection.
pub const HTTP2_STREAMS_MAX: u32 = 256;
/// A handshake of TLS.
pub const TLS_HANDSHAKE_MAX: Duration = Duration::from_secs(10);
/// After a failure to accept a connection.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// What a caller is told to wait when the server is full.
pub const FULL_RETRY_AFTER_S: u64 = 1;
/// What a caller is told to wait when the store cannot be used.
pub const UNAVAILABLE_RETRY_AFTER_S: u64 = 5;
/// How long a key that was used is not read again. One that is revoked on this server ends at once.
pub const KEY_REMEMBERED: Duration = Duration::from_secs(2);
/// Keys that are remembered.
pub const KEYS_REMEMBERED_MAX: usize = 10_000;
/// Keys and workspaces whose rates are counted.
pub const RATES_COUNTED_MAX: usize = 100_000;
/// How long the figures behind a quota are used before they are counted again.
pub const USAGE_REMEMBERED: Duration = Duration::from_secs(60);
/// What a caller is told to wait when a quota is used up: only deleting something helps.
pub const QUOTA_RETRY_AFTER_S: u64 = 60;
/// How long an old secret is good after a rotation, if not said otherwise.
pub const KEY_GRACE_DEFAULT: Duration = Duration::from_secs(60 * 60);
/// Between two times that old lineages are looked for.
pub const RETENTION_ROUND: Duration = Duration::from_secs(600);
/// How long an MCP call waits: hosts cut calls at about a minute.
pub const MCP_WAIT_MAX: Duration = Duration::from_secs(45);
/// The lease of a delivery that was received over MCP; any call that names the delivery renews it.
pub const MCP_LEASE: Duration = Duration::from_secs(60 * 60);
/// A result of an MCP tool, counted as `o200k_base`. A handoff's own text has its own budget beside it.
pub const MCP_RESULT_TOKENS_MAX: u32 = 8_000;
/// Memories of one MCP call.
pub const MCP_MEMORIES_MAX: usize = 20;
/// Rows of a list that an MCP tool answers.
pub const MCP_ROWS_MAX: usize = 50;
/// Deliveries in one agent's hands that are looked at.
pub const MCP_HELD_MAX: usize = 100;
/// Between two notes that a blocking MCP call still waits.
pub const MCP_PROGRESS_PAUSE: Duration = Duration::from_secs(5);
/// MCP sessions that are open at once; the one that was quiet longest makes room.
pub const MCP_SESSIONS_MAX: usize = 1_000;
/// How long an MCP session is kept that nobody uses.
pub const MCP_SESSION_IDLE_MAX: Duration = Duration::from_secs(12 * 60 * 60);
/// Resources that one MCP session or subscription follows.
pub const MCP_SUBSCRIPTIONS_MAX: usize = 32;
/// Values that a completion offers.
pub const MCP_COMPLETIONS_MAX: usize = 100;
/// Rows that a completion looks through.
pub const MCP_COMPLETION_ROWS: usize = 500;
