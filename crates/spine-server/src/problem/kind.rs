//! Every type of problem there is. Each has a page under `docs/errors/`; a test compares the two.

use http::StatusCode;

macro_rules! problem_kinds {
    ($($(#[$doc:meta])* $variant:ident = $slug:literal, $status:ident, $title:literal;)+) => {
        /// What went wrong, as a stable name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ProblemKind {
            $($(#[$doc])* $variant,)+
        }

        impl ProblemKind {
            /// Every kind, in the order of this table.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The name in its `type`, and of its page.
            pub fn slug(self) -> &'static str {
                match self { $(Self::$variant => $slug,)+ }
            }

            /// The HTTP status.
            pub fn status(self) -> StatusCode {
                match self { $(Self::$variant => StatusCode::$status,)+ }
            }

            /// What it is called.
            pub fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)+ }
            }

            /// The kind with this name, such as an error of the engine has.
            pub fn from_slug(slug: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| kind.slug() == slug)
            }
        }
    };
}

problem_kinds! {
    /// The body is not JSON that every reader understands alike.
    MalformedJson = "malformed-json", BAD_REQUEST, "The body is not valid JSON";
    /// A field of the body is not as it must be.
    InvalidBody = "invalid-body", UNPROCESSABLE_ENTITY, "A field of the body is not valid";
    /// A part of the address or a header is not as it must be.
    InvalidParameter = "invalid-parameter", BAD_REQUEST, "A parameter is not valid";
    /// The body is of another kind than JSON.
    UnsupportedMediaType = "unsupported-media-type", UNSUPPORTED_MEDIA_TYPE, "The body must be JSON";
    /// More than is taken at once.
    TooLarge = "too-large", PAYLOAD_TOO_LARGE, "The request is too large";
    /// The body came too slowly.
    RequestTimeout = "request-timeout", REQUEST_TIMEOUT, "The request took too long to arrive";
    /// No such address.
    RouteUnknown = "route-unknown", NOT_FOUND, "There is nothing at this address";
    /// The address takes other methods.
    MethodNotAllowed = "method-not-allowed", METHOD_NOT_ALLOWED, "This address does not take this method";
    /// No such thing in this workspace.
    NotFound = "not-found", NOT_FOUND, "There is no such thing here";
    /// It was here, and was removed.
    Gone = "gone", GONE, "It is no longer here";
    /// It changed since the caller read it.
    VersionConflict = "version-conflict", PRECONDITION_FAILED, "It has changed since";
    /// The key stands for another request.
    IdempotencyConflict = "idempotency-conflict", CONFLICT, "The Idempotency-Key was used for another request";
    /// Others were first each time.
    Contended = "contended", CONFLICT, "Others kept changing the same records";
    /// No key, or not a valid one.
    Unauthenticated = "unauthenticated", UNAUTHORIZED, "A valid API key is needed";
    /// The key does not allow this.
    Forbidden = "forbidden", FORBIDDEN, "The key does not allow this";
    /// Sent to a name that this server does not have.
    HostRefused = "host-refused", MISDIRECTED_REQUEST, "This server does not answer to this host name";
    /// Sent by a page of another origin.
    OriginRefused = "origin-refused", FORBIDDEN, "Requests from this origin are refused";
    /// This key asks too often.
    RateLimited = "rate-limited", TOO_MANY_REQUESTS, "Too many requests with this key";
    /// The server is full.
    Overloaded = "overloaded", TOO_MANY_REQUESTS, "The server has too much to do";
    /// The workspace's quota is used up.
    QuotaExceeded = "quota-exceeded", TOO_MANY_REQUESTS, "The workspace's quota is used up";
    /// The sender did not say who it is.
    SenderUnknown = "sender-unknown", UNPROCESSABLE_ENTITY, "The sender is not known";
    /// What is never cut does not fit.
    Budget = "budget", UNPROCESSABLE_ENTITY, "The handoff does not fit into its budget";
    /// The budget is given twice.
    BudgetTwice = "budget-twice", UNPROCESSABLE_ENTITY, "The budget is given twice";
    /// A secret where texts travel word for word.
    SecretInCore = "secret-in-core", UNPROCESSABLE_ENTITY, "A secret would travel word for word";
    /// Not a tokenizer of ours.
    TokenizerUnknown = "tokenizer-unknown", UNPROCESSABLE_ENTITY, "The tokenizer is not known";
    /// An envelope that does not fit its schema.
    EnvelopeInvalid = "envelope-invalid", UNPROCESSABLE_ENTITY, "The envelope is not valid";
    /// An envelope whose digest does not fit.
    EnvelopeAltered = "envelope-altered", UNPROCESSABLE_ENTITY, "The envelope was altered";
    /// An envelope of another major version.
    VersionUnsupported = "version-unsupported", UNPROCESSABLE_ENTITY, "This protocol version is not supported";
    /// There is another envelope under this id.
    EnvelopeExists = "envelope-exists", CONFLICT, "Another envelope has this id";
    /// Parents of different tasks.
    LineagesDiffer = "lineages-differ", UNPROCESSABLE_ENTITY, "The parents belong to different tasks";
    /// A parent of another workspace.
    WorkspaceDiffers = "workspace-differs", UNPROCESSABLE_ENTITY, "The envelope belongs to another workspace";
    /// A parent about somebody else.
    SubjectDiffers = "subject-differs", UNPROCESSABLE_ENTITY, "The parent is about another subject";
    /// R1.
    IntentChanged = "intent-changed", UNPROCESSABLE_ENTITY, "The intent of a lineage cannot change";
    /// R2: another value without a waiver.
    ConstraintChanged = "constraint-changed", UNPROCESSABLE_ENTITY, "A constraint would be loosened";
    /// R2: parents that cannot both be kept to.
    ConstraintConflict = "constraint-conflict", UNPROCESSABLE_ENTITY, "The parents' constraints conflict";
    /// R2: one that got lost.
    ConstraintDropped = "constraint-dropped", UNPROCESSABLE_ENTITY, "A constraint is missing";
    /// A waiver of something that is not there.
    WaiverUnknown = "waiver-unknown", UNPROCESSABLE_ENTITY, "There is no such constraint to waive";
    /// A waiver that got lost.
    WaiverDropped = "waiver-dropped", UNPROCESSABLE_ENTITY, "A waiver is missing";
    /// R7.
    HopLimit = "hop-limit", UNPROCESSABLE_ENTITY, "The chain has reached its hop limit";
    /// R7: miscounted.
    HopWrong = "hop-wrong", UNPROCESSABLE_ENTITY, "The hop does not follow from the parents";
    /// A waived hop limit without a new one.
    HopLimitMissing = "hop-limit-missing", UNPROCESSABLE_ENTITY, "A new hop limit is needed";
    /// A parent that is not here.
    ParentUnknown = "parent-unknown", UNPROCESSABLE_ENTITY, "A parent is not known here";
    /// A parent with another digest.
    ParentReplaced = "parent-replaced", UNPROCESSABLE_ENTITY, "A parent has another digest here";
    /// Something that accumulates got lost.
    Dropped = "dropped", UNPROCESSABLE_ENTITY, "Something that accumulates is missing";
    /// Somebody else has, or had, the newer lease.
    LeaseLost = "lease-lost", CONFLICT, "The lease is lost";
    /// The work is not wanted any more.
    Cancelled = "cancelled", CONFLICT, "The delivery was cancelled";
    /// Nothing more can happen to it.
    AlreadyOver = "already-over", CONFLICT, "The delivery is over";
    /// Only what is parked can be reviewed.
    NotParked = "not-parked", CONFLICT, "The delivery is not parked";
    /// Nobody has taken work for the target lately.
    CircuitOpen = "circuit-open", SERVICE_UNAVAILABLE, "The target's circuit is open";
    /// A result that the handoff does not ask for.
    ResultInvalid = "result-invalid", UNPROCESSABLE_ENTITY, "The result does not match its schema";
    /// An envelope for a channel, sent to nobody in particular.
    BroadcastTarget = "broadcast-target", UNPROCESSABLE_ENTITY, "The envelope is for a channel";
    /// A channel without subscribers.
    NoReceivers = "no-receivers", UNPROCESSABLE_ENTITY, "Nobody would get this";
    /// Only a skeleton is left of it.
    Pruned = "pruned", GONE, "The envelope was pruned";
    /// The store cannot be used now.
    Unavailable = "unavailable", SERVICE_UNAVAILABLE, "The store cannot be used now";
    /// It may or may not have been written.
    OutcomeUnknown = "outcome-unknown", SERVICE_UNAVAILABLE, "It is not known whether this was written";
    /// No room.
    DiskFull = "disk-full", INSUFFICIENT_STORAGE, "The disk is full";
    /// The data is damaged.
    StoreDamaged = "store-damaged", INTERNAL_SERVER_ERROR, "The stored data is damaged";
    /// A mistake of this program.
    Internal = "internal", INTERNAL_SERVER_ERROR, "Something went wrong in the server";
}
