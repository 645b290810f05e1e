//! The dashboard's files, which are inside the binary if they were there when it was built.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderMap, HeaderValue, StatusCode, header};

/// One file of the dashboard.
#[derive(Debug)]
pub struct File {
    path: &'static str,
    etag: &'static str,
    bytes: &'static [u8],
}

/// Every file; none if the dashboard was not built.
static FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/dashboard_files.rs"));

/// Nothing runs but our own script, nothing is asked but our own server, nobody frames it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; form-action 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";
/// A name with a hash in it never changes its content.
const FOREVER: &str = "public, max-age=31536000, immutable";
const ASK_EACH_TIME: &str = "no-cache";
const HASHED_FOLDER: &str = "/assets/";

/// What stands at `/` when the dashboard was not built.
const NOT_BUILT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
    <title>Memory Spine</title><h1>Memory Spine is running</h1>\
    <p>The dashboard is not in this binary: it was built without <code>dashboard/dist</code>. \
    Build it with <code>cargo xtask run</code>, or with <code>npm install</code> and <code>npm run build</code> in \
    <code>dashboard/</code>, and then build the server again.</p>\
    <p>The API works, and is described at <a href=\"/openapi.json\">/openapi.json</a>.</p></html>\n";

/// The file at this address.
pub fn find(path: &str) -> Option<&'static File> {
    FILES.iter().find(|file| file.path == path)
}

/// The page, or what stands in its place.
pub fn front(asked: &HeaderMap) -> Response {
    match find("/index.html") {
        Some(file) => file.respond(asked),
        None => framed(StatusCode::OK, "text/html; charset=utf-8", NOT_BUILT.as_bytes()),
    }
}

impl File {
    /// The file, or that the one who asks has it already.
    pub fn respond(&self, asked: &HeaderMap) -> Response {
        let known = asked.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
        let is_known =
            known.is_some_and(|known| known.split(',').any(|one| one.trim() == self.etag));
        let mut response = if is_known {
            framed(StatusCode::NOT_MODIFIED, self.media_type(), &[])
        } else {
            framed(StatusCode::OK, self.media_type(), self.bytes)
        };
        let caching = if self.path.starts_with(HASHED_FOLDER) { FOREVER } else { ASK_EACH_TIME };
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
        headers.insert(header::ETAG, HeaderValue::from_static(self.etag));
        response
    }

    fn media_type(&self) -> &'static str {
        match self.path.rsplit_once('.').map(|(_, extension)| extension) {
            Some("html") => "text/html; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            _ => "application/octet-stream",
        }
    }
}

fn framed(status: StatusCode, media_type: &'static str, bytes: &'static [u8]) -> Response {
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    const HASHED: File = File { path: "/assets/index-abc.js", etag: "W/\"1\"", bytes: b"1" };

    #[test]
    fn a_hashed_file_is_kept_and_not_sent_twice() {
        let first = HASHED.respond(&HeaderMap::new());
        assert_eq!(first.status(), StatusCode::OK);
        assert_eq!(first.headers()[header::CACHE_CONTROL], FOREVER);
        assert_eq!(first.headers()[header::CONTENT_TYPE], "text/javascript; charset=utf-8");
        let mut again = HeaderMap::new();
        again.insert(header::IF_NONE_MATCH, first.headers()[header::ETAG].clone());
        assert_eq!(HASHED.respond(&again).status(), StatusCode::NOT_MODIFIED);
    }

    #[test]
    fn the_page_and_its_stand_in_have_the_policy() {
        let front = front(&HeaderMap::new());
        assert_eq!(front.status(), StatusCode::OK);
        let policy = front.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
        assert_eq!(front.headers()[header::CONTENT_TYPE], "text/html; charset=utf-8");
    }
}
