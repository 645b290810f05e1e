//! Both sides of precision: generated secrets of every kind, and look-alikes. The secrets are put together at
//! run time from parts, so that this file itself holds none.

use super::*;

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";

struct Maker(fastrand::Rng);

impl Maker {
    fn of(&mut self, alphabet: &str, length: usize) -> String {
        let bytes = alphabet.as_bytes();
        (0..length).map(|_| char::from(bytes[self.0.usize(..bytes.len())])).collect()
    }

    fn alnum(&mut self, length: usize) -> String {
        self.of(&[LOWER, UPPER, DIGITS].concat(), length)
    }

    fn hex(&mut self, length: usize) -> String {
        self.of("0123456789abcdef", length)
    }

    fn base32(&mut self, length: usize) -> String {
        self.of(&[UPPER, "234567"].concat(), length)
    }

    fn base64(&mut self, length: usize) -> String {
        self.of(&[LOWER, UPPER, DIGITS, "+/"].concat(), length)
    }

    fn base64url(&mut self, length: usize) -> String {
        self.of(&[LOWER, UPPER, DIGITS, "-_"].concat(), length - 1) + "z"
    }

    fn tokens(&mut self) -> Vec<(&'static str, String)> {
        vec![
            ("aws-access-key", ["AK", "IA", &self.base32(16)].concat()),
            ("aws-access-key", ["AS", "IA", &self.base32(16)].concat()),
            ("github-token", ["gh", "p_", &self.alnum(36)].concat()),
            ("github-token", ["gh", "o_", &self.alnum(36)].concat()),
            ("github-token", ["gh", "u_", &self.alnum(36)].concat()),
            ("github-token", ["gh", "s_", &self.alnum(36)].concat()),
            ("github-token", ["gh", "r_", &self.alnum(76)].concat()),
            ("github-token", ["github", "_pat_", &self.alnum(22), "_", &self.alnum(59)].concat()),
            ("gitlab-token", ["gl", "pat-", &self.base64url(20)].concat()),
            ("gitlab-token", ["gl", "pat-", &self.base64url(27), ".01.", &self.hex(9)].concat()),
            (
                "slack-token",
                [
                    "xo",
                    "xb-",
                    &self.of(DIGITS, 12),
                    "-",
                    &self.of(DIGITS, 13),
                    "-",
                    &self.alnum(24),
                ]
                .concat(),
            ),
            ("slack-token", ["xo", "xp-", &self.of(DIGITS, 12), "-", &self.hex(32)].concat()),
            (
                "slack-token",
                ["xa", "pp-1-A", &self.base32(10), "-", &self.of(DIGITS, 13), "-", &self.hex(64)]
                    .concat(),
            ),
            (
                "slack-webhook",
                [
                    "https://hooks.sl",
                    "ack.com/services/T",
                    &self.base32(10),
                    "/B",
                    &self.base32(10),
                    "/",
                    &self.alnum(24),
                ]
                .concat(),
            ),
            ("stripe-key", ["sk", "_live_", &self.alnum(24)].concat()),
            ("stripe-key", ["rk", "_live_", &self.alnum(99)].concat()),
            ("stripe-webhook-secret", ["wh", "sec_", &self.alnum(32)].concat()),
            ("anthropic-key", ["sk-", "ant-api03-", &self.base64url(95)].concat()),
            ("openrouter-key", ["sk-", "or-v1-", &self.hex(64)].concat()),
            ("openai-key", ["sk-", "proj-", &self.base64url(156)].concat()),
            ("openai-key", ["sk-", "svcacct-", &self.base64url(100)].concat()),
            ("openai-key", ["sk", "-", &self.alnum(48)].concat()),
            ("google-api-key", ["AI", "za", &self.base64url(35)].concat()),
            ("google-oauth-secret", ["GOC", "SPX-", &self.base64url(28)].concat()),
            ("google-oauth-token", ["ya", "29.", &self.base64url(120)].concat()),
            ("npm-token", ["np", "m_", &self.alnum(36)].concat()),
            ("pypi-token", ["py", "pi-", &self.base64url(150)].concat()),
            ("twilio-key", ["S", "K", &self.hex(32)].concat()),
            ("sendgrid-key", ["S", "G.", &self.base64url(22), ".", &self.base64url(43)].concat()),
            ("hugging-face-token", ["h", "f_", &self.alnum(34)].concat()),
            ("digitalocean-token", ["do", "p_v1_", &self.hex(64)].concat()),
            ("docker-token", ["dc", "kr_pat_", &self.base64url(27)].concat()),
            ("shopify-token", ["sh", "pat_", &self.hex(32)].concat()),
            ("vault-token", ["hv", "s.", &self.base64url(95)].concat()),
            ("grafana-token", ["gl", "sa_", &self.alnum(32), "_", &self.hex(8)].concat()),
            ("linear-key", ["lin", "_api_", &self.alnum(40)].concat()),
            ("databricks-token", ["da", "pi", &self.hex(32)].concat()),
            ("age-key", ["AGE-", "SECRET-KEY-1", &self.of(UPPER, 40), &self.base32(18)].concat()),
            ("memory-spine-key", ["ms", "k_", &self.alnum(40)].concat()),
            (
                "jwt",
                ["ey", "J", &self.alnum(33), ".ey", "J", &self.alnum(60), ".", &self.base64url(43)]
                    .concat(),
            ),
            ("private-key", self.private_key("RSA ", "\n")),
            ("private-key", self.private_key("EC ", "\n")),
            ("private-key", self.private_key("OPENSSH ", "\r\n")),
            ("private-key", self.private_key("ENCRYPTED ", "\n    ")),
            ("private-key", self.private_key("", "\\n")),
            ("private-key", self.pgp_key()),
        ]
    }

    fn private_key(&mut self, kind: &str, line_end: &str) -> String {
        let mut lines = vec![["-----BE", "GIN ", kind, "PRIVATE KEY-----"].concat()];
        lines.extend((0..12).map(|_| self.base64(64)));
        lines.push(self.base64(10) + "==");
        lines.push(["-----E", "ND ", kind, "PRIVATE KEY-----"].concat());
        lines.join(line_end)
    }

    fn pgp_key(&mut self) -> String {
        let begin = ["-----BE", "GIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n"].concat();
        let end = ["-----E", "ND PGP PRIVATE KEY BLOCK-----"].concat();
        format!("{begin}{}\n{}\n={}\n{end}", self.base64(64), self.base64(64), self.base64(4))
    }

    /// Text before the secret, the secret, text after it.
    fn assigned(&mut self) -> Vec<(&'static str, String, String, &'static str)> {
        let azure = self.base64(86) + "==";
        let password = self.alnum(10) + "7q3x9";
        let word = ["pass", "word"].concat();
        vec![
            ("aws-secret-key", ["aws_sec", "ret_access_key = "].concat(), self.base64(40), "\n"),
            ("aws-secret-key", ["\"Sec", "retAccessKey\": \""].concat(), self.base64(40), "\","),
            ("azure-storage-key", ["AccountName=a;Acco", "untKey="].concat(), azure, ";Endpoint=x"),
            ("url-password", "postgres://app:".to_owned(), password.clone(), "@db:5432/x"),
            (
                "url-password",
                "mongodb+srv://app:".to_owned(),
                password.clone(),
                "@c0.mongodb.net/x",
            ),
            ("url-password", "redis://:".to_owned(), password.clone(), "@cache:6379"),
            ("url-password", "https://bot:".to_owned(), password.clone(), "@git.acme.io/x.git"),
            ("url-password", "mysql://root:".to_owned(), "hunter2".to_owned(), "@10.0.0.7/x"),
            ("assigned-secret", format!("db_{word} = \""), password.clone(), "\""),
            ("assigned-secret", format!("\"{word}\": \""), password.clone(), "\"}"),
            ("assigned-secret", "api_key: '".to_owned(), self.hex(32) + "a1b2", "'"),
            ("assigned-secret", "clientSecret := \"".to_owned(), password.clone(), "\";"),
            ("assigned-secret", "x\nexport APP_TOKEN=".to_owned(), self.hex(40) + "c3d4", "\nB=1"),
            ("assigned-secret", format!("{}=", word.to_uppercase()), password, ""),
        ]
    }
}

fn check_found(kind: &str, before: &str, secret: &str, after: &str) {
    let text = format!("{before}{secret}{after}");
    let expected = before.len()..before.len() + secret.len();
    let found = find_secrets(&text);
    assert_eq!(found.len(), 1, "{kind} in {text:?}: {found:?}");
    assert_eq!((found[0].kind, &found[0].range), (kind, &expected), "{text:?}");
    let (clean, kinds) = redacted(&text);
    assert_eq!(clean, format!("{before}[redacted: {kind}]{after}"));
    assert_eq!(kinds, [kind]);
}

#[test]
fn every_kind_is_found_where_it_stands() {
    let mut maker = Maker(fastrand::Rng::with_seed(7));
    for _ in 0..20 {
        for (kind, secret) in maker.tokens() {
            let around = [
                ("", ""),
                ("use ", " now"),
                ("see (", ")."),
                ("\"", "\""),
                ("密钥", "。"),
                ("`", "`"),
                ("a=", "\n"),
                ("\\n", "\\n"),
            ];
            for (before, after) in around {
                check_found(kind, before, &secret, after);
            }
        }
        for (kind, before, secret, after) in maker.assigned() {
            check_found(kind, &before, &secret, after);
        }
    }
}

#[test]
fn every_rule_compiles_and_has_a_generated_secret() {
    let mut maker = Maker(fastrand::Rng::with_seed(8));
    let mut made: Vec<&str> = maker.tokens().iter().map(|(kind, _)| *kind).collect();
    made.extend(maker.assigned().iter().map(|(kind, ..)| *kind));
    for rule in RULES {
        Regex::new(&rule.pattern()).unwrap();
        assert!(made.contains(&rule.kind), "no example of {}", rule.kind);
    }
    assert_eq!(SCANNER.rules.len(), RULES.len());
    assert!(SCANNER.keywords.is_some());
}

#[test]
fn several_secrets_are_found_apart_and_in_order() {
    let mut maker = Maker(fastrand::Rng::with_seed(9));
    let tokens = maker.tokens();
    let text: Vec<&str> = tokens.iter().map(|(_, token)| token.as_str()).collect();
    let (clean, kinds) = redacted(&text.join("\n"));
    assert_eq!(kinds, tokens.iter().map(|(kind, _)| *kind).collect::<Vec<_>>());
    assert_eq!(clean.lines().count(), kinds.len());
    assert_eq!(find_secrets(&clean), []);
}

#[test]
fn a_private_key_without_its_end_is_covered_as_far_as_it_goes() {
    let mut maker = Maker(fastrand::Rng::with_seed(10));
    let whole = maker.private_key("RSA ", "\n");
    let lines: Vec<&str> = whole.lines().take(6).collect();
    check_found("private-key", "", &lines.join("\n"), "\nand so on, it said.");
}

#[test]
fn look_alikes_are_no_secrets() {
    let text = include_str!("look_alikes.txt");
    let cases: Vec<&str> = text.split("\n%%\n").collect();
    assert!(cases.len() >= 80, "{}", cases.len());
    for case in cases {
        assert_eq!(find_secrets(case), [], "{case}");
    }
    // Together too: nothing may arise from the neighbourhood.
    assert_eq!(find_secrets(text), []);
}

#[test]
fn digests_and_encoded_bytes_are_no_secrets() {
    let mut maker = Maker(fastrand::Rng::with_seed(11));
    for _ in 0..500 {
        let cases = [
            format!("sha256:{}", maker.hex(64)),
            format!("commit {}", maker.hex(40)),
            format!("data:image/png;base64,iVBORw0KGgo{}==", maker.base64(400)),
            format!("env_01K{}", maker.base32(23)),
            format!("\"text_digest\": \"sha256:{}\"", maker.hex(64)),
            format!("etag: \"{}\"", maker.hex(32)),
            maker.alnum(60),
            maker.base64(300),
        ];
        for case in cases {
            assert_eq!(find_secrets(&case), [], "{case}");
        }
    }
}

#[test]
fn long_hostile_texts_take_linear_time() {
    let begin = ["-----BE", "GIN PRIVATE KEY-----"].concat();
    let long_line = format!("{begin}{}", "A".repeat(64));
    let jwt = ["ey", "Jabcdefghijk."].concat();
    let pieces = [
        &begin,
        &long_line,
        &jwt,
        "postgres://a:",
        "password = \"",
        "sk-",
        "a",
        " ",
        "TOKEN=\n",
        "é",
    ];
    for piece in pieces {
        let text = piece.repeat((256 << 10) / piece.len());
        let began = std::time::Instant::now();
        find_secrets(&text);
        assert!(began.elapsed().as_secs() < 2, "{piece:?} took {:?}", began.elapsed());
    }
}
