//! Which data this is: set at creation, and partly anew when a backup is opened.

use rusqlite::{Connection, TransactionBehavior};
use spine_store::Identity;

/// Reads the identity and raises the incarnation, on disk before anything else happens.
pub(crate) fn raise_incarnation(connection: &mut Connection) -> rusqlite::Result<Identity> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let random = "lower(hex(randomblob(16)))";
    let insert = format!(
        "INSERT INTO meta VALUES ('store', {random}), ('history', {random}), ('incarnation', 0)
         ON CONFLICT DO NOTHING"
    );
    transaction.execute(&insert, [])?;
    // A copy goes its own way from here on, and each copy of the copy too.
    let renew = format!(
        "UPDATE meta SET value = {random} WHERE name = 'history'
         AND EXISTS (SELECT 1 FROM meta WHERE name = 'is_backup')"
    );
    transaction.execute(&renew, [])?;
    transaction.execute("DELETE FROM meta WHERE name = 'is_backup'", [])?;
    transaction.execute("UPDATE meta SET value = value + 1 WHERE name = 'incarnation'", [])?;
    let identity = read(&transaction)?;
    transaction.commit()?;
    Ok(identity)
}

/// Marks a copy, so that its first open gives it a history of its own.
pub(crate) fn mark_backup(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('is_backup', 1)", []).map(drop)
}

fn read(connection: &Connection) -> rusqlite::Result<Identity> {
    let sql = "SELECT value FROM meta WHERE name = ?";
    let text = |name| connection.query_row(sql, [name], |row| row.get::<_, String>(0));
    let number = |name| connection.query_row(sql, [name], |row| row.get::<_, i64>(0));
    let incarnation = number("incarnation")?.unsigned_abs();
    Ok(Identity { store: text("store")?, history: text("history")?, incarnation })
}
