//! Where a URL leads, read strictly: what two readers could understand differently is refused.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hyper::Uri;
use hyper::http::uri::PathAndQuery;

use crate::error::{OutboundError, OutboundErrorKind};
use crate::limits::{HOST_BYTES_MAX, HOST_LABEL_BYTES_MAX, URL_BYTES_MAX};

/// A host as it is connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Host {
    /// To be looked up: lower case, without the final dot.
    Name(String),
    /// Not to be looked up.
    Address(IpAddr),
}

impl Host {
    /// Reads a host of a URL. Decimal, octal, hexadecimal and shortened IPv4 addresses are none:
    /// they end in a number and are not four plain ones.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Some(inner) = text.strip_prefix('[') {
            let address: Ipv6Addr = inner.strip_suffix(']')?.parse().ok()?;
            return Some(Self::Address(address.into()));
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        if let Ok(address) = name.parse::<Ipv4Addr>() {
            return Some(Self::Address(address.into()));
        }
        let is_name = name.len() <= HOST_BYTES_MAX && name.split('.').all(is_label);
        (is_name && !ends_in_number(&name)).then_some(Self::Name(name))
    }
}

fn is_label(label: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=HOST_LABEL_BYTES_MAX).contains(&label.len()) && label.bytes().all(plain)
}

/// As the URL standard has it: such a host is meant as an IPv4 address.
fn ends_in_number(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_hex = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    last.bytes().all(|byte| byte.is_ascii_digit()) || last.strip_prefix("0x").is_some_and(is_hex)
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => address.fmt(f),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

/// A URL taken apart. It shows as scheme, host and port: paths and queries hold secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) https: bool,
    pub(crate) host: Host,
    pub(crate) port: u16,
    path: PathAndQuery,
}

impl Target {
    /// Reads a URL.
    pub(crate) fn parse(url: &str) -> Result<Self, OutboundError> {
        if url.len() > URL_BYTES_MAX || !url.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(bad_url("too long, or with spaces or letters beyond ASCII"));
        }
        let uri: Uri = url.parse().map_err(|_| bad_url("not a URL"))?;
        Self::of(&uri)
    }

    /// Reads a URL that has been taken apart already.
    pub(crate) fn of(uri: &Uri) -> Result<Self, OutboundError> {
        let https = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(bad_url("neither http:// nor https://")),
        };
        let authority = uri.authority().ok_or_else(|| bad_url("no host"))?;
        if authority.as_str().contains('@') {
            return Err(bad_url("a user name before the host"));
        }
        let host = Host::parse(authority.host()).ok_or_else(|| bad_url("no plain host"))?;
        let port = port(authority.as_str(), authority.host(), https)?;
        let path = uri.path_and_query().cloned();
        Ok(Self { https, host, port, path: path.unwrap_or(PathAndQuery::from_static("/")) })
    }

    /// The same place with more path, before the query.
    pub(crate) fn below(&self, more: &str) -> Result<Self, OutboundError> {
        let path = self.path.path().trim_end_matches('/');
        let query = self.path.query().map(|query| format!("?{query}")).unwrap_or_default();
        let joined = format!("{path}{more}{query}");
        let path = joined.parse().map_err(|_| bad_url("a path that cannot be added to"))?;
        Ok(Self { path, ..self.clone() })
    }

    /// As a request names it.
    pub(crate) fn uri(&self) -> Result<Uri, OutboundError> {
        let built = Uri::builder()
            .scheme(self.scheme())
            .authority(self.authority())
            .path_and_query(self.path.clone());
        built.build().map_err(|_| bad_url("not a URL"))
    }

    fn scheme(&self) -> &'static str {
        if self.https { "https" } else { "http" }
    }

    /// Without the scheme's own port: some servers compare the Host header with their name.
    fn authority(&self) -> String {
        if self.port == default_port(self.https) {
            self.host.to_string()
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

/// Read from the text: a port that is no port must not turn into the scheme's own.
fn port(authority: &str, host: &str, https: bool) -> Result<u16, OutboundError> {
    let after = authority.strip_prefix(host).unwrap_or(authority);
    if after.is_empty() {
        return Ok(default_port(https));
    }
    let digits = after.strip_prefix(':').filter(|digits| !digits.starts_with('+'));
    let port = digits.and_then(|digits| digits.parse().ok()).filter(|port| *port != 0);
    port.ok_or_else(|| bad_url("a port that is none"))
}

fn default_port(https: bool) -> u16 {
    if https { 443 } else { 80 }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme(), self.authority())
    }
}

fn bad_url(why: &str) -> OutboundError {
    OutboundError::new(OutboundErrorKind::BadUrl, why)
}
