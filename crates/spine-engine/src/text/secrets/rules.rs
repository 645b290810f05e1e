//! The forms of secrets, one rule each, from what their issuers document.
//!
//! Precise rules come first: where two find the same text, the first one names it. A rule is tried only on a
//! text that holds one of its keywords (in any case).

use super::randomness::Proof;

/// How one kind of secret looks.
pub(super) struct Rule {
    pub(super) kind: &'static str,
    /// What every match contains.
    pub(super) keywords: &'static [&'static str],
    pub(super) form: Form,
    pub(super) proof: Proof,
}

pub(super) enum Form {
    /// A token that says by itself what it is: the pattern is the secret, between word boundaries.
    Token(&'static str),
    /// The pattern's first group is the secret, the rest its surroundings.
    Within(&'static str),
}

impl Rule {
    /// The pattern with the secret as its first group.
    pub(super) fn pattern(&self) -> String {
        // ASCII boundaries: a token may touch a CJK character. An escaped line break may touch it too.
        const BEFORE: &str = r"(?:(?-u:\b)|\\[nrt])";
        const AFTER: &str = r"(?:[^A-Za-z0-9_-]|$)";
        match self.form {
            Form::Token(token) => format!("{BEFORE}({token}){AFTER}"),
            Form::Within(pattern) => pattern.to_owned(),
        }
    }
}

const fn token(
    kind: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
) -> Rule {
    Rule {
        kind,
        keywords,
        form: Form::Token(pattern),
        proof: Proof::Entropy(TOKEN_ENTROPY_BITS_MIN),
    }
}

/// Below what random hexadecimal digits have (3.3 at the least, for 32), above any hand-made filler.
const TOKEN_ENTROPY_BITS_MIN: f64 = 3.0;

/// A private key, whole: from its first line to its last, or as far as it goes when the end is missing.
const PRIVATE_KEY: &str = concat!(
    r"(-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----",
    r#"(?:[\s"',>|]|\\+[nr])*"#,
    r"(?:[A-Za-z-]{1,30}: [^\n\\]{0,200}(?:\s|\\+[nr])+){0,8}",
    r#"(?:[A-Za-z0-9+/=]{16,}(?:[\s"',>|]|\\+[nr])*)+"#,
    r#"(?:(?:[A-Za-z0-9+/=]{1,15}(?:[\s"',>|]|\\+[nr])*){0,3}"#,
    r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----)?)",
);

/// Every rule, the precise before the general.
pub(super) static RULES: &[Rule] = &[
    Rule {
        kind: "private-key",
        keywords: &["PRIVATE KEY"],
        form: Form::Within(PRIVATE_KEY),
        proof: Proof::Entropy(TOKEN_ENTROPY_BITS_MIN),
    },
    token(
        "aws-access-key",
        &["AKIA", "ASIA", "ABIA", "ACCA"],
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}",
    ),
    Rule {
        kind: "aws-secret-key",
        keywords: &["secret"],
        form: Form::Within(
            r#"(?i:secret[_ -]?access[_ -]?key|aws[_ -]?secret(?:[_ -]?key)?)["']?\s{0,4}(?:=|:)\s{0,4}["']?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)"#,
        ),
        proof: Proof::Entropy(3.5),
    },
    token(
        "github-token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        r"gh[pousr]_[A-Za-z0-9]{36,251}",
    ),
    token("github-token", &["github_pat_"], r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    token(
        "gitlab-token",
        &["glpat-", "gldt-", "glrt-", "glcbt-"],
        r"gl(?:pat|dt|rt|cbt)-[A-Za-z0-9_-]{20,250}(?:\.[0-9a-z]{2}\.[0-9a-z]{7,12})?",
    ),
    token("slack-token", &["xox"], r"xox[abeoprs]-[A-Za-z0-9-]{20,250}"),
    token("slack-token", &["xapp-"], r"xapp-[0-9]-[A-Z0-9]{8,16}-[0-9]{8,16}-[a-f0-9]{40,80}"),
    token(
        "slack-webhook",
        &["hooks.slack.com"],
        r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/]{40,90}",
    ),
    token("stripe-key", &["k_live_"], r"[rs]k_live_[A-Za-z0-9]{24,247}"),
    token("stripe-webhook-secret", &["whsec_"], r"whsec_[A-Za-z0-9+/]{32,64}"),
    token("anthropic-key", &["sk-ant-"], r"sk-ant-[a-z0-9]{2,12}-[A-Za-z0-9_-]{40,160}"),
    token("openrouter-key", &["sk-or-"], r"sk-or-v1-[a-f0-9]{64}"),
    token("openai-key", &["sk-"], r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{40,200}"),
    Rule {
        kind: "openai-key",
        keywords: &["sk-"],
        form: Form::Token(r"sk-[A-Za-z0-9]{32,64}"),
        proof: Proof::Random,
    },
    token("google-api-key", &["AIza"], r"AIza[A-Za-z0-9_-]{35}"),
    token("google-oauth-secret", &["GOCSPX-"], r"GOCSPX-[A-Za-z0-9_-]{28}"),
    token("google-oauth-token", &["ya29."], r"ya29\.[A-Za-z0-9_-]{40,500}"),
    Rule {
        kind: "azure-storage-key",
        keywords: &["AccountKey"],
        form: Form::Within(r"(?i:AccountKey)\s{0,4}=\s{0,4}([A-Za-z0-9+/]{86}==)"),
        proof: Proof::Entropy(4.0),
    },
    token("npm-token", &["npm_"], r"npm_[A-Za-z0-9]{36}"),
    token("pypi-token", &["pypi-"], r"pypi-[A-Za-z0-9_-]{50,500}"),
    token("twilio-key", &["SK"], r"SK[0-9a-f]{32}"),
    token("sendgrid-key", &["SG."], r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    token("hugging-face-token", &["hf_"], r"hf_[A-Za-z0-9]{34}"),
    token("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], r"do[opr]_v1_[a-f0-9]{64}"),
    token("docker-token", &["dckr_"], r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,64}"),
    token("shopify-token", &["shp"], r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    token("vault-token", &["hvs.", "hvb."], r"hv[sb]\.[A-Za-z0-9_-]{24,300}"),
    token("grafana-token", &["glsa_"], r"glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}"),
    token("linear-key", &["lin_api_"], r"lin_api_[A-Za-z0-9]{40}"),
    token("databricks-token", &["dapi"], r"dapi[a-f0-9]{32}(?:-[0-9])?"),
    token("age-key", &["AGE-SECRET-KEY-"], r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    Rule {
        kind: "memory-spine-key",
        keywords: &["msk_"],
        form: Form::Token(r"msk_[A-Za-z0-9]{20,128}"),
        proof: Proof::Random,
    },
    token("jwt", &["eyJ"], r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}"),
    // The password alone: who connects where is often what the receiver needs.
    Rule {
        kind: "url-password",
        keywords: &["://"],
        form: Form::Within(
            r#"(?-u:\b)[a-z][a-z0-9+.-]{1,20}://[^\s:@/"'<>`]{0,64}:([^\s@/"'<>`]{3,128})@[A-Za-z0-9.\[-]"#,
        ),
        proof: Proof::NoPlaceholder,
    },
    // A quoted value given to a name that ends as secrets' names do: `db_password = "…"`, `"apiKey": "…"`.
    Rule {
        kind: "assigned-secret",
        keywords: &["pass", "secret", "token", "key"],
        form: Form::Within(
            r#"(?i:passw(?:or)?d|passphrase|secret|secret[_-]?key|api[_-]?key|access[_-]?key|auth[_-]?key|token)["']?\s{0,4}(?::=|=>|=|:)\s{0,4}["']([^\s"'()]{10,200})["']"#,
        ),
        proof: Proof::Random,
    },
    // The same in an environment file, where values stand bare.
    Rule {
        kind: "assigned-secret",
        keywords: &["PASS", "SECRET", "TOKEN", "KEY"],
        form: Form::Within(
            r#"(?m)^[ \t]{0,16}(?:export[ \t]{1,4})?[A-Z0-9_]{0,60}(?:PASSWORD|PASSWD|SECRET|SECRET_KEY|API_KEY|APIKEY|ACCESS_KEY|AUTH_KEY|TOKEN)=([^\s"'()$#]{12,200})[ \t\r]*$"#,
        ),
        proof: Proof::Random,
    },
];
