use super::*;

fn check(text: &str, parts: &[&str]) -> String {
    let summary = summarise(text, SUMMARY_CHARS_MAX);
    assert!(summary.chars().count() <= SUMMARY_CHARS_MAX, "{summary}");
    for part in parts {
        assert!(summary.contains(part), "{part:?} is not in:\n{summary}");
    }
    summary
}

#[test]
fn a_short_text_comes_back_unchanged() {
    for text in ["", " ", "a\n\n b ", "```\nx\n```", "你好。"] {
        assert_eq!(summarise(text, SUMMARY_CHARS_MAX), text);
    }
    let exact = "x".repeat(SUMMARY_CHARS_MAX);
    assert_eq!(summarise(&exact, SUMMARY_CHARS_MAX), exact);
}

#[test]
fn code_keeps_its_signatures_and_loses_its_fences() {
    let body = "    let x = compute(1, 2, 3);\n".repeat(20);
    let text = format!(
        "The parser lives in its own module.\n\n```rust\nuse std::io;\n\npub fn parse(input: &str) -> Ast {{\n{body}}}\n```\n\nIt is fast."
    );
    let summary =
        check(&text, &["code: use std::io;", "pub fn parse(input: &str) -> Ast {", "It is fast."]);
    assert!(!summary.contains("```") && !summary.contains("compute"), "{summary}");
}

#[test]
fn a_list_keeps_some_items_and_counts_the_rest() {
    let items: Vec<String> =
        (1..=30).map(|n| format!("- check the invoice export of tenant number {n}")).collect();
    let text = format!("Open work:\n{}", items.join("\n"));
    let summary = check(&text, &["Open work:", "- check the invoice export of tenant number 1\n"]);
    let shown = summary.lines().filter(|line| line.starts_with("- ")).count();
    assert!(shown >= 3 && summary.ends_with(&format!("… ({} more)", 30 - shown)), "{summary}");
}

#[test]
fn json_keeps_its_keys() {
    let rows = vec!["{\"a\": 1, \"b\": 2}"; 60].join(",");
    let text = format!("{{\"status\": \"failed\", \"retries\": 3, \"rows\": [{rows}]}}");
    assert_eq!(check(&text, &[]), "{status: \"failed\", retries: 3, rows}");
}

#[test]
fn a_log_keeps_its_error() {
    let info =
        (0..40).map(|n| format!("2026-01-15T09:30:{n:02}Z INFO worker: polled queue, 0 jobs"));
    let mut lines: Vec<String> = info.collect();
    lines.insert(
        23,
        "2026-01-15T09:31:00Z ERROR worker: disk quota exceeded on /var/spool".to_owned(),
    );
    check(&lines.join("\n"), &["ERROR worker: disk quota exceeded on /var/spool"]);

    let frames = "  File \"app/run.py\", line 12, in call\n    return self.inner()\n".repeat(12);
    let trace = format!("Traceback (most recent call last):\n{frames}KeyError: 'tenant_id'");
    check(&trace, &["KeyError: 'tenant_id'"]);
}

#[test]
fn a_long_line_is_cut_between_words_around_its_constraint() {
    let words = "alpha beta gamma ".repeat(60);
    let summary = check(words.trim(), &["alpha beta", "…"]);
    assert!(summary.ends_with("…") && !summary.ends_with("al…"), "{summary}");
    check(&format!("{words}but never delete the archive {words}"), &["never delete the archive"]);
    check(&"字".repeat(2_000), &["字字", "…"]);
}

/// Each with a sentence that must survive.
const PLANTED: [(&str, &str); 12] = [
    (
        "We compared three queues for the ingest service last week. Kafka had the best throughput but the operations team has no experience with it. RabbitMQ was easy to run and fast enough for the expected load of two thousand messages a second. Redis streams looked attractive because Redis is already deployed. Never enable auto-ack on the ingest consumer. The team settled on RabbitMQ and will review the choice after the first quarter in production.",
        "Never enable auto-ack on the ingest consumer.",
    ),
    (
        "The customer called about the invoice run. She explained how their accounting department closes each month and which people are involved. The export runs at night and takes about forty minutes. It is imported into their accounting system in the morning. The amounts must be rounded half to even. She was friendly and asked about the new dashboard as well, and we promised a demo in February.",
        "The amounts must be rounded half to even.",
    ),
    (
        "# Migration plan\n\nWe move the user table to the new cluster in three steps. First the schema is created, then rows are copied in batches of ten thousand, then writes are switched over.\n\nDo not run the copy between 02:00 and 04:00, the backup holds a lock.\n\nThe copy takes about five hours in total. Progress is shown on the migration dashboard, and the on-call engineer watches it. Afterwards the old table is kept for a month.",
        "Do not run the copy between 02:00 and 04:00, the backup holds a lock.",
    ),
    (
        "Steps to deploy:\n- build the image with the release profile and push it to the registry\n- run the smoke tests against the staging environment and wait for them\n- change the image tag in the deployment file and open a pull request\n- never force-push the release branch\n- after the merge, watch the error rate on the dashboard for fifteen minutes\n- announce the release in the team channel with the list of changes\n- close the milestone and move what is left to the next one",
        "never force-push the release branch",
    ),
    (
        "The user wants a command line tool that renames photos by the date they were taken. It reads the date from the metadata of the picture and falls back to the date of the file. Names collide when two photos were taken in the same second, in which case a counter is added. The tool should print what it would do first. Originals may not be modified in any way. It is written in Python with only the standard library, and packaged so that it can be installed easily.",
        "Originals may not be modified in any way.",
    ),
    (
        "Die Besprechung mit dem Kunden dauerte zwei Stunden. Es ging vor allem um die Darstellung der Berichte und um die Farben der Diagramme. Der Kunde hat viele Beispiele mitgebracht, die wir in den nächsten Wochen auswerten. Personenbezogene Daten dürfen nicht in die Berichte. Die Schriftgröße der Berichte soll etwas größer werden, und die Diagramme brauchen eine Legende. Der nächste Termin ist Anfang März, wieder beim Kunden vor Ort.",
        "Personenbezogene Daten dürfen nicht in die Berichte.",
    ),
    (
        "今天我们讨论了新的搜索服务的设计方案。搜索服务会从数据库读取数据，然后建立索引，索引每小时更新一次。大家认为每小时更新一次已经足够，因为数据变化不大。前端团队希望搜索结果可以分页显示，每页二十条。用户的邮箱地址不得出现在索引里。后端团队会在下周完成第一个版本，然后交给测试团队进行测试。测试团队需要大约三天时间，之后我们会再开一次会，决定是否上线。前端团队也会在同一时间完成搜索页面的开发工作。如果一切顺利，新的搜索服务会在月底之前上线，届时我们会通知所有的用户，并且更新帮助文档。另外，设计团队建议在搜索框里加入自动补全功能，这个功能可以放到第二个版本里实现，现在先不考虑。运维团队会准备两台新的服务器，用来运行搜索服务和索引任务，预计下周三之前可以准备好。",
        "用户的邮箱地址不得出现在索引里。",
    ),
    (
        "Research notes on the payment provider. Their API is a plain REST interface with idempotency keys, good documentation and a sandbox. Webhooks are signed and retried for three days. Refunds can take up to ten days to arrive. Test cards are listed on their site. Card numbers must not pass through our servers. Fees are 1.4 % plus 25 cents for European cards and higher for others, with a volume discount from a million a year. Support answers within a day in our experience.",
        "Card numbers must not pass through our servers.",
    ),
    (
        "I refactored the scheduler today. The old version kept one timer for each job, and the new version keeps a heap of due times and a single timer. Tests are green and the benchmark shows a third less memory. I also renamed a few types so that they match the documentation. The clock is always read through the Clock trait, the simulator depends on it. Next I will look into the flaky test of the retry module, which fails about once in fifty runs on the build machine.",
        "The clock is always read through the Clock trait",
    ),
    (
        "Review of the pull request that adds caching. The code is clean and well tested, and the names are good. The cache is a simple map with a time to live of five minutes. I suggested a bounded size, and the author agreed to add one. Responses for logged-in users must never be cached. There were some small remarks about the comments, and one about the log level. The benchmark in the description shows a speedup of four on the product pages, which is nice to see.",
        "Responses for logged-in users must never be cached.",
    ),
    (
        "User: Can you look at the report page? It feels slow when there are many projects in the account.\nAssistant: I had a look. Most of the time is spent loading the avatars of all the members.\nUser: Oh, interesting. We do not need the avatars there at all I think.\nAssistant: Then I will remove them and load the rest lazily as the user scrolls down.\nUser: Sounds good. Don't touch the PDF export though, legal signed it off.\nAssistant: Understood. I will have something for you to try this afternoon, probably around three.",
        "Don't touch the PDF export though, legal signed it off.",
    ),
    (
        "The sensor gateway collects readings from about four hundred devices in the building. Devices report every thirty seconds over the radio link, and the gateway forwards batches to the cloud service. When the uplink is down, readings are kept on the local disk for up to a week. The firmware of the devices is updated twice a year by the vendor. Valve commands require confirmation by two people, and under no circumstances may the gateway retry them. The dashboard shows the floor plan with current values, and facility management uses it daily.",
        "under no circumstances may the gateway retry them",
    ),
];

#[test]
fn constraints_survive() {
    for chars_max in [SUMMARY_CHARS_MAX, SUMMARY_CHARS_MAX / 2] {
        let survives = |text: &str, planted: &str| {
            assert!(text.chars().count() > chars_max, "too short: {planted}");
            summarise(text, chars_max).contains(planted)
        };
        let lost: Vec<_> =
            PLANTED.iter().filter(|(text, planted)| !survives(text, planted)).collect();
        assert!(lost.len() <= 1, "{chars_max}: lost {lost:#?}");
    }
}

const WORDS: [&str; 24] = [
    "queue",
    "must",
    "invoice",
    "3.5",
    "ms-4821",
    "never",
    "the",
    "größer",
    "服务",
    "は",
    "cache",
    "i18n",
    "🦀",
    "https://a.b/c",
    "a",
    "tenant",
    "\u{301}",
    "not",
    "export",
    "Error",
    "(see",
    "it)",
    "→",
    "x",
];
const ENDS: [&str; 12] =
    [". ", "! ", "。", "\n", "\n\n", "\n- ", "\n1. ", "\n```\n", " ", "; ", ".\n", "\nfn x() {\n"];

fn random_text(random: &mut fastrand::Rng) -> String {
    let mut text = String::new();
    for _ in 0..random.usize(..60) {
        for _ in 0..random.usize(..12) {
            text += WORDS[random.usize(..WORDS.len())];
            text += " ";
        }
        text += ENDS[random.usize(..ENDS.len())];
    }
    text
}

#[test]
fn random_texts_keep_the_promises() {
    let mut random = fastrand::Rng::with_seed(12);
    for _ in 0..3_000 {
        let text = random_text(&mut random);
        let chars_max = random.usize(1..500);
        let summary = summarise(&text, chars_max);
        assert!(summary.chars().count() <= chars_max, "{chars_max}: {text:?}\n{summary:?}");
        assert_eq!(summary, summarise(&text, chars_max), "the same text, the same summary");
        let blank = text.replace("```", "").trim().is_empty();
        assert!(blank || !summary.is_empty(), "{chars_max}: {text:?}");
        if summary != text {
            check_words_are_the_texts(&text, &summary);
            assert!(!summary.contains("```"), "{summary:?}");
        }
    }
}

/// Between its marks, a summary consists of stretches of the text.
fn check_words_are_the_texts(text: &str, summary: &str) {
    let plain =
        |text: &str| text.replace("```", "").split_whitespace().collect::<Vec<_>>().join(" ");
    let whole = plain(text);
    for line in summary.lines() {
        let line = line.trim_start_matches(CODE_MARK);
        let line = line.split(" … (").next().unwrap_or_default();
        for stretch in line.split('…').flat_map(super::sentences::sentences) {
            assert!(whole.contains(&plain(stretch)), "{stretch:?} is not in {text:?}");
        }
    }
}

#[test]
fn hostile_texts_of_the_largest_size_take_bounded_time() {
    for piece in [
        "a", "a ", ". ", "\n", "- \n", "```\n", "!)", "must ", "{\"a\":", "[", "。", "é.\n\n",
        "- a\n\n", "a\n",
    ] {
        let text = piece.repeat((256 << 10) / piece.len());
        for chars_max in [SUMMARY_CHARS_MAX, 16 << 10] {
            let began = std::time::Instant::now();
            summarise(&text, chars_max);
            assert!(began.elapsed().as_millis() < 1_000, "{piece:?} took {:?}", began.elapsed());
        }
    }
}
