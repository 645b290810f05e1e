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

use super::{one_beyond, rows};
use crate::row::{MEMORY_COLUMNS, memory};

pub(super) fn list(
    connection: &Connection,
    workspace: &WorkspaceName,
    query: &ListQuery,
) -> rusqlite::Result<Page<Memory, MemoryId>> {
    let limit = page_rows(query.limit);
    let found = match &query.filter.subject {
        Some(SubjectFilter::OrGeneral(subject)) => {
            let own = SubjectFilter::Only(subject.clone());
            list_both(connection, workspace, query, [own, SubjectFilter::General])?
        }
        _ => list_one(connection, workspace, query)?,
    };
    Ok(Page::cut(found, limit, |memory| memory.id))
}

/// Two lists merged: one condition for both subjects could use no index.
fn list_both(
    connection: &Connection,
    workspace: &WorkspaceName,
    query: &ListQuery,
    subjects: [SubjectFilter; 2],
) -> rusqlite::Result<Vec<Memory>> {
    let snapshot = connection.unchecked_transaction()?;
    let mut found = Vec::new();
    for subject in subjects {
        let filter = Filter { subject: Some(subject), ..query.filter.clone() };
        found.extend(list_one(&snapshot, workspace, &ListQuery { filter, ..query.clone() })?);
    }
    found.sort_by_key(|memory| memory.id);
    if query.order == Order::NewestFirst {
        found.reverse();
    }
    Ok(found)
}

fn list_one(
    connection: &Connection,
    workspace: &WorkspaceName,
    query: &ListQuery,
) -> rusqlite::Result<Vec<Memory>> {
    let mut select = Select::new(workspace);
    select.add_filter(&query.filter);
    select.add("(expires_ms IS NULL OR expires_ms > ?)", query.now.0);
    let (behind, direction) = match query.order {
        Order::NewestFirst => ("<", "DESC"),
        Order::OldestFirst => (">", "ASC"),
    };
    if let Some(after) = query.after {
        let condition = format!("{} {behind} ?", select.order);
        select.add(&condition, after.number().cast_signed());
    }
    let sql = select.sql(direction);
    select.params.push(Value::Integer(one_beyond(page_rows(query.limit))));
    rows(connection, &sql, params_from_iter(select.params), memory)
}

/// A statement in the making.
struct Select {
    from: &'static str,
    order: &'static str,
    conditions: String,
    params: Vec<Value>,
    /// Whether an earlier condition already drives the list.
    driven: bool,
}

impl Select {
    fn new(workspace: &WorkspaceName) -> Self {
        let conditions = "m.workspace = ? AND m.state = 0".to_owned();
        let params = vec![Value::Text(workspace.as_str().to_owned())];
        Self { from: "memories m", order: "m.number", conditions, params, driven: false }
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
        self.order = "d.memory";
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

    fn sql(&self, direction: &str) -> String {
        let Self { from, order, conditions, .. } = self;
        format!(
            "SELECT m.state, {MEMORY_COLUMNS} FROM {from} WHERE {conditions} \
             ORDER BY {order} {direction} LIMIT ?"
        )
    }
}

fn json(value: &(impl serde::Serialize + ?Sized)) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrations;

    fn plan(filter: &Filter) -> String {
        let mut connection = Connection::open_in_memory().unwrap();
        migrations::run(&mut connection).unwrap();
        let mut select = Select::new(&"default".parse().unwrap());
        select.add_filter(filter);
        let sql = format!("EXPLAIN QUERY PLAN {}", select.sql("DESC"));
        select.params.push(Value::Integer(10));
        let read = |row: &rusqlite::Row<'_>| row.get::<_, String>(3);
        rows(&connection, &sql, params_from_iter(select.params), read).unwrap().join("; ")
    }

    #[test]
    fn every_list_is_driven_by_its_index_and_never_sorted() {
        let any = Filter::default;
        let thread = || Some("t".parse().unwrap());
        let subject = || Some(SubjectFilter::Only("user:1".parse().unwrap()));
        let kinds = || vec!["note".parse().unwrap()];
        let cases = [
            (any(), "memories_number"),
            (Filter { thread: thread(), ..any() }, "memories_thread"),
            (
                Filter { thread: thread(), kinds: kinds(), subject: subject(), ..any() },
                "memories_thread",
            ),
            (Filter { subject: subject(), kinds: kinds(), ..any() }, "memories_subject"),
            (Filter { subject: Some(SubjectFilter::General), ..any() }, "memories_subject"),
            (
                Filter { pinned: Some(true), subject: Some(SubjectFilter::General), ..any() },
                "memories_pinned",
            ),
            (Filter { author: Some("a".parse().unwrap()), ..any() }, "memories_author"),
            (Filter { kinds: kinds(), ..any() }, "memories_kind"),
            (Filter { pinned: Some(true), ..any() }, "memories_pinned"),
            (
                Filter { tags: vec!["a".parse().unwrap()], thread: thread(), ..any() },
                "SEARCH d USING PRIMARY KEY (workspace=? AND tag=?)",
            ),
            (Filter { about_from: Some(spine_store::UnixMs(1)), ..any() }, "memories_number"),
        ];
        for (filter, index) in cases {
            let plan = plan(&filter);
            assert!(plan.contains(index), "{filter:?}: {plan}");
            assert!(!plan.contains("TEMP B-TREE"), "{filter:?}: {plan}");
        }
    }
}
