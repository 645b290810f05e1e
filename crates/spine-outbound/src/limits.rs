//! Every bound of this room, with its unit last.

/// Looking a name up, connecting and the TLS handshake together, unless the options say otherwise.
pub const CONNECT_MS_DEFAULT: u64 = 5_000;
/// One request from its start to the last byte of its answer, unless the options say otherwise.
pub const REQUEST_MS_DEFAULT: u64 = 30_000;
/// One answer's body, unless the options say otherwise.
pub const ANSWER_BYTES_DEFAULT: usize = 1024 * 1024;
/// Requests under way at once, unless the options say otherwise.
pub const REQUESTS_DEFAULT: usize = 64;
/// Requests under way at once to one host, unless the options say otherwise.
pub const REQUESTS_PER_HOST_DEFAULT: usize = 16;

/// A URL.
pub const URL_BYTES_MAX: usize = 4_096;
/// A host name.
pub const HOST_BYTES_MAX: usize = 253;
/// One label of a host name.
pub const HOST_LABEL_BYTES_MAX: usize = 63;
/// Entries in the list of allowed hosts and networks.
pub const ALLOWED_ENTRIES_MAX: usize = 1_000;
/// A request's body.
pub const REQUEST_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Headers that a caller may add to one request.
pub const EXTRA_HEADERS_MAX: usize = 32;
/// The status line and headers of an answer.
pub const ANSWER_HEAD_BYTES_MAX: usize = 64 * 1024;
/// Names being looked up at once, also those whose request has given up.
pub const LOOKUPS_MAX: usize = 32;
/// Addresses of one name that are tried; all of them are checked.
pub const ADDRESSES_TRIED_MAX: usize = 4;
/// Connections kept open for the next request to the same host.
pub const IDLE_CONNECTIONS_PER_HOST_MAX: usize = 4;
/// How long such a connection is kept.
pub const IDLE_MS_MAX: u64 = 30_000;

/// A signing secret, decoded.
pub const SECRET_BYTES_MIN: usize = 24;
/// A signing secret, decoded.
pub const SECRET_BYTES_MAX: usize = 64;
/// A message's id.
pub const MESSAGE_ID_BYTES_MAX: usize = 256;
/// Signatures that are looked at in one header.
pub const SIGNATURES_MAX: usize = 16;
/// How far a message's timestamp may be from the verifier's clock.
pub const SIGNATURE_AGE_S_MAX: u64 = 300;

/// Attempts at one request, the first included.
pub const ATTEMPTS_DEFAULT: u32 = 5;
/// The longest pause before the second attempt.
pub const BACKOFF_MS_FIRST_DEFAULT: u64 = 500;
/// The longest pause before any attempt.
pub const BACKOFF_MS_MAX_DEFAULT: u64 = 60_000;
/// The longest Retry-After that is waited for; beyond it the failure is final.
pub const RETRY_AFTER_MS_MAX_DEFAULT: u64 = 300_000;

/// Texts in one call for vectors.
pub const EMBED_TEXTS_MAX: usize = 10_000;
/// Texts in one request for vectors.
pub const EMBED_BATCH_TEXTS_MAX: usize = 64;
/// Bytes of text in one request for vectors, if that is more than one text.
pub const EMBED_BATCH_BYTES_MAX: usize = 512 * 1024;
/// How much of one text is embedded: common models take some 8,000 tokens and refuse more.
pub const EMBED_TEXT_BYTES_MAX: usize = 24 * 1024;
/// One vector as JSON in an answer: 8,000 numbers of 16 bytes.
pub const EMBED_VECTOR_BYTES_MAX: usize = 128 * 1024;
/// A text to summarise.
pub const SUMMARISE_TEXT_BYTES_MAX: usize = 1024 * 1024;
/// An error code of an endpoint, for the log.
pub const ENDPOINT_CODE_BYTES_MAX: usize = 48;

/// The title of an alert in Slack.
pub const SLACK_TITLE_CHARS_MAX: usize = 150;
/// The text of an alert in Slack; Slack refuses blocks of more than 3,000 characters.
pub const SLACK_TEXT_CHARS_MAX: usize = 2_500;
/// The link of an alert in Slack; a longer one is left out.
pub const SLACK_LINK_CHARS_MAX: usize = 2_500;
