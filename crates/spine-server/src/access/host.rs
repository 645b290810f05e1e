//! Which host names and origins are answered. A page elsewhere can point its own name at this machine (DNS
//! rebinding) and have a browser ask in its place: so a name must be ours, and a page's origin too.

use std::net::IpAddr;

use http::{HeaderMap, Uri, header};

use crate::problem::{Problem, ProblemKind};
use crate::settings::Settings;

/// Refuses what was sent to a foreign name, or by a foreign page.
pub fn check_host(settings: &Settings, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
    let host = host_of(uri, headers);
    let name = without_port(host);
    if !is_ours(settings, name) {
        let said = format!(
            "{name:?} is not a name of this server: use its address or `localhost`, or add the name to `hosts`"
        );
        return Err(Problem::new(ProblemKind::HostRefused, said).with("parameter", "Host"));
    }
    let origin = headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or_default());
    match origin {
        Some(origin) if !is_known_origin(settings, origin, host) => {
            let said = format!(
                "pages of {origin:?} may not ask here: add the origin to `origins` if they should"
            );
            Err(Problem::new(ProblemKind::OriginRefused, said).with("parameter", "Origin"))
        }
        _ => Ok(()),
    }
}

/// HTTP/2 has it in the address, HTTP/1 in a header.
fn host_of<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> &'a str {
    let header = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    uri.authority().map(|authority| authority.as_str()).or(header).unwrap_or_default()
}

fn without_port(host: &str) -> &str {
    let end =
        if host.starts_with('[') { host.find(']').map(|end| end + 1) } else { host.find(':') };
    end.and_then(|end| host.get(..end)).unwrap_or(host)
}

/// An address cannot be pointed elsewhere, so it needs no entry.
fn is_ours(settings: &Settings, name: &str) -> bool {
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    bare.parse::<IpAddr>().is_ok()
        || name.eq_ignore_ascii_case("localhost")
        || settings.hosts.iter().any(|host| host == "*" || host.eq_ignore_ascii_case(name))
}

fn is_known_origin(settings: &Settings, origin: &str, host: &str) -> bool {
    let same = origin.split_once("://").is_some_and(|(_, place)| place.eq_ignore_ascii_case(host));
    same || settings.origins.iter().any(|known| known.eq_ignore_ascii_case(origin))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(host: &str, origin: Option<&str>, expect: Option<ProblemKind>) {
        let settings = Settings {
            hosts: vec!["spine.example.com".to_owned()],
            origins: vec!["https://console.example.com".to_owned()],
            ..Settings::default()
        };
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        let found = check_host(&settings, &Uri::from_static("/"), &headers);
        assert_eq!(found.err().map(|problem| problem.kind()), expect, "{host} {origin:?}");
    }

    #[test]
    fn names_must_be_ours() {
        for host in ["localhost:8788", "127.0.0.1:1", "[::1]:8788", "[::1]", "Spine.example.com"] {
            check(host, None, None);
        }
        for host in ["evil.example.com", "localhost.evil.com:8788", ""] {
            check(host, None, Some(ProblemKind::HostRefused));
        }
    }

    #[test]
    fn pages_must_be_ours() {
        check("localhost:8788", Some("http://localhost:8788"), None);
        check("localhost:8788", Some("https://console.example.com"), None);
        for origin in ["http://localhost:3000", "null", "http://evil.example.com", ""] {
            check("localhost:8788", Some(origin), Some(ProblemKind::OriginRefused));
        }
    }
}
