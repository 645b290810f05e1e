//! How tantivy takes a memory's terms apart: each becomes a term of its workspace.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use crate::document_terms::BORDER;

/// Under which name tantivy knows it.
pub(crate) const WORKSPACE_TERMS: &str = "workspace-terms";

/// Reads `workspace`, the border, then terms with a space behind each.
#[derive(Debug, Clone, Default)]
pub(crate) struct WorkspaceTerms {
    token: Token,
}

impl Tokenizer for WorkspaceTerms {
    type TokenStream<'a> = WorkspaceTermStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WorkspaceTermStream<'a> {
        let border = text.find(BORDER).map_or(0, |at| at + BORDER.len_utf8());
        let (workspace, rest) = text.split_at(border);
        self.token.reset();
        self.token.text.push_str(workspace);
        WorkspaceTermStream { token: &mut self.token, workspace_bytes: border, rest }
    }
}

/// Terms, one by one.
pub(crate) struct WorkspaceTermStream<'a> {
    token: &'a mut Token,
    workspace_bytes: usize,
    rest: &'a str,
}

impl TokenStream for WorkspaceTermStream<'_> {
    fn advance(&mut self) -> bool {
        let Some((term, rest)) = self.rest.split_once(' ') else { return false };
        self.rest = rest;
        self.token.text.truncate(self.workspace_bytes);
        self.token.text.push_str(term);
        self.token.position = self.token.position.wrapping_add(1);
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}
