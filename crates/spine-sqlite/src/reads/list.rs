//! Lists of live memories, in the order of their numbers.
//!
//! Every index ends in the number, so whichever drives the list gives its rows in order and stops at the
//! page's end. Which one drives is chosen here, because SQLite has no statistics to choose by: a `+`
//! keeps a condition from being taken for the driver.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use spine_protocol::{MemoryId, WorkspaceName};
use spine_store::limits::page_rows;
use spine_store::{Filter, ListQuery, Memory, Order, Page, SubjectFilter, Tag};

use super::{one_beyond, page};
use crate::row::{MEMORY_COLUMNS, memory};

pub(super) fn list(
    connection: &Connection,
    workspace: &WorkspaceName,
    query: &ListQuery,
) -> rusqlite::Result<Page<Memory, MemoryId>> {
    let limit = page_rows(query.limit);
    let (sql, mut params) = list_sql(workspace, query);
    params.push(Value::Integer(one_beyond(limit)));
    page(connection, (&sql, params_from_iter(params)), memory, limit, |memory| memory.id)
}

/// Lists of two subjects are merged as they are read: one condition for both could use no index.
fn list_sql(workspace: &WorkspaceName, query: &ListQuery) -> (String, Vec<Value>) {
    let select = |filter: &Filter| Select::of(workspace, query, filter);
    let selects = match &query.filter.subject {
        Some(SubjectFilter::OrGeneral(subject)) => {
            let own = SubjectFilter::Only(subject.clone());
            let of = |subject| Filter { subject: Some(subject), ..query.filter.clone() };
            [own, SubjectFilter::General].map(|subject| select(&of(subject))).into()
        }
        _ => vec![select(&query.filter)],
    };
    let sql: Vec<String> = selects.iter().map(Select::sql).collect();
    let (_, direction) = behind(query.order);
    let sql = format!("{} ORDER BY place {direction} LIMIT ?", sql.join(" UNION ALL "));
    (sql, selects.into_iter().flat_map(|select| select.params).collect())
}

fn behind(order: Order) -> (&'static str, &'static str) {
    match order {
        Order::NewestFirst => ("<", "DESC"),
        Order::OldestFirst => (">", "ASC"),
    }
}

/// A statement in the making.
struct Select {
    from: &'static str,
    /// Where a memory stands in the list.
    place: &'static str,
    conditions: String,
    params: Vec<Value>,
    /// Whether an earlier condition already drives the list.
    driven: bool,
}

impl Select {
    fn of(workspace: &WorkspaceName, query: &ListQuery, filter: &Filter) -> Self {
        let conditions = "m.workspace = ? AND m.state = 0".to_owned();
        let params = vec![Value::Text(workspace.as_str().to_owned())];
        let (from, place) = ("memories m", "m.number");
        let mut select = Self { from, place, conditions, params, driven: false };
        select.add_filter(filter);
        select.add("(expires_ms IS NULL OR expires_ms > ?)", query.now.0);
        if let Some(after) = query.after {
            let condition = format!("{} {} ?", select.place, behind(query.order).0);
            select.add(&condition, after.number().cast_signed());
        }
        select
    }

    fn add(&mut self, condition: &str, param: impl Into<Value>) {
        self.conditions.push_str(" AND ");
        self.conditions.push_str(condition);
        self.params.push(param.into());
    }

    /// A condition whose index may drive the list: the first of them does.
    fn add_driver(&mut self, condition: &str, param: impl Into<Value>) {
        let plus = if self.driven { "+" } else { "" };
        self.add(&format!("{plus}{condition}"), param);
        self.driven = true;
    }

    /// The narrowest first.
    fn add_filter(&mut self, filter: &Filter) {
        self.add_tags(&filter.tags);
        if let Some(ids) = &filter.ids {
            let numbers: Vec<u64> = ids.iter().map(|id| id.number()).collect();
            self.add_driver("m.number IN (SELECT value FROM json_each(?))", json(&numbers));
        }
        self.add_pinned(filter.pinned);
        if let Some(thread) = &filter.thread {
            self.add_driver("m.thread = ?", thread.as_str().to_owned());
        }
        self.add_subject(filter.subject.as_ref());
        if let Some(author) = &filter.author {
            self.add_driver("m.author = ?", author.as_str().to_owned());
        }
        self.add_rest(filter);
    }

    /// Pins are few and have an index of their own: without it a list of pins read every memory about nobody in
    /// particular.
    fn add_pinned(&mut self, pinned: Option<bool>) {
        let Some(pinned) = pinned else { return };
        let plus = if self.driven || !pinned { "+" } else { "" };
        self.conditions.push_str(&format!(" AND {plus}m.pinned = {}", u8::from(pinned)));
        self.driven |= pinned;
    }

    /// The first tag's own table drives the list: its key ends in the number too.
    fn add_tags(&mut self, tags: &[Tag]) {
        let [first, others @ ..] = tags else { return };
        self.from = "memory_tags d CROSS JOIN memories m ON m.workspace = d.workspace \
                     AND m.number = d.memory";
        self.place = "d.memory";
        self.add("d.tag = ?", first.as_str().to_owned());
        self.driven = true;
        for tag in others {
            let has = "EXISTS (SELECT 1 FROM memory_tags t WHERE t.workspace = m.workspace \
                       AND t.tag = ? AND t.memory = m.number)";
            self.add(has, tag.as_str().to_owned());
        }
    }

    fn add_subject(&mut self, subject: Option<&SubjectFilter>) {
        match subject {
            Some(SubjectFilter::Only(subject) | SubjectFilter::OrGeneral(subject)) => {
                self.add_driver("m.subject = ?", subject.as_str().to_owned());
            }
            Some(SubjectFilter::General) => self.add_driver("m.subject IS ?", Value::Null),
            None => {}
        }
    }

    fn add_rest(&mut self, filter: &Filter) {
        match filter.kinds.as_slice() {
            [] => {}
            [kind] => self.add_driver("m.kind = ?", kind.as_str().to_owned()),
            kinds => self.add("+m.kind IN (SELECT value FROM json_each(?))", json(kinds)),
        }
        if let Some(from) = filter.about_from {
            self.add("m.about_ms >= ?", from.0);
        }
        if let Some(before) = filter.about_before {
            self.add("m.about_ms < ?", before.0);
        }
    }

    fn sql(&self) -> String {
        let Self { from, place, conditions, .. } = self;
        format!("SELECT m.state, {MEMORY_COLUMNS}, {place} AS place FROM {from} WHERE {conditions}")
    }
}

fn json(value: &(impl serde::Serialize + ?Sized)) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::rows;
    use super::*;
    use crate::migrations;
    use spine_store::UnixMs;

    fn plan(filter: &Filter) -> String {
        let mut connection = Connection::open_in_memory().unwrap();
        migrations::run(&mut connection).unwrap();
        let (filter, order) = (filter.clone(), Order::NewestFirst);
        let query = ListQuery { filter, now: UnixMs(0), order, after: None, limit: 10 };
        let (sql, mut params) = list_sql(&"default".parse().unwrap(), &query);
        params.push(Value::Integer(10));
        let sql = format!("EXPLAIN QUERY PLAN {sql}");
        let read = |row: &rusqlite::Row<'_>| row.get::<_, String>(3);
        rows(&connection, &sql, params_from_iter(params), read).unwrap().join("; ")
    }

    #[test]
    fn every_list_is_driven_by_its_index_and_never_sorted() {
        let any = Filter::default;
        let thread = || Some("t".parse().unwrap());
        let subject = || Some(SubjectFilter::Only("user:1".parse().unwrap()));
        let either = || Some(SubjectFilter::OrGeneral("user:1".parse().unwrap()));
        let kinds = || vec!["note".parse().unwrap()];
        let tags = || vec!["a".parse().unwrap()];
        let cases = [
            (any(), "memories_number"),
            (Filter { thread: thread(), ..any() }, "memories_thread"),
            (
                Filter { thread: thread(), kinds: kinds(), subject: subject(), ..any() },
                "memories_thread",
            ),
            (Filter { subject: subject(), kinds: kinds(), ..any() }, "memories_subject"),
            (Filter { subject: Some(SubjectFilter::General), ..any() }, "memories_subject"),
            (Filter { subject: either(), ..any() }, "MERGE (UNION ALL)"),
            (Filter { subject: either(), tags: tags(), ..any() }, "MERGE (UNION ALL)"),
            (Filter { subject: either(), pinned: Some(true), ..any() }, "memories_pinned"),
            (
                Filter { pinned: Some(true), subject: Some(SubjectFilter::General), ..any() },
                "memories_pinned",
            ),
            (Filter { author: Some("a".parse().unwrap()), ..any() }, "memories_author"),
            (Filter { kinds: kinds(), ..any() }, "memories_kind"),
            (Filter { pinned: Some(true), ..any() }, "memories_pinned"),
            (
                Filter { tags: tags(), thread: thread(), ..any() },
                "SEARCH d USING PRIMARY KEY (workspace=? AND tag=?)",
            ),
            (Filter { about_from: Some(UnixMs(1)), ..any() }, "memories_number"),
        ];
        for (filter, index) in cases {
            let plan = plan(&filter);
            assert!(plan.contains(index), "{filter:?}: {plan}");
            assert!(!plan.contains("TEMP B-TREE"), "{filter:?}: {plan}");
        }
    }
}
