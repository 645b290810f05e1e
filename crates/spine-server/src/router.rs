//! From an address to its line in the table of routes.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, Method, Request, header};
use percent_encoding::percent_decode_str;

use crate::problem::{Problem, ProblemKind};
use crate::route::Route;

/// Every address, and what can be asked there.
pub struct Router {
    addresses: matchit::Router<Vec<Arc<Route>>>,
}

/// What is at an address.
#[derive(Clone)]
pub enum Found {
    /// A route, and the named parts of the address.
    Route(Arc<Route>, Vec<(String, String)>),
    /// A part of the address is no text.
    NoText,
    /// Routes, none of which takes the method.
    WrongMethod(HeaderValue),
    /// Nothing.
    Nothing,
}

impl Found {
    /// The route, if there is one.
    pub fn route(&self) -> Option<&Route> {
        match self {
            Self::Route(route, _) => Some(route),
            Self::NoText | Self::WrongMethod(_) | Self::Nothing => None,
        }
    }
}

impl Router {
    /// Over these routes.
    pub fn over(routes: impl IntoIterator<Item = Route>) -> Self {
        let mut by_path: BTreeMap<&'static str, Vec<Arc<Route>>> = BTreeMap::new();
        for route in routes {
            by_path.entry(route.path).or_default().push(Arc::new(route));
        }
        let mut addresses = matchit::Router::new();
        for (path, routes) in by_path {
            if let Err(error) = addresses.insert(path, routes) {
                tracing::error!(path, %error, "an address in the table of routes cannot be reached");
            }
        }
        Self { addresses }
    }

    /// What a request asks for.
    pub fn find<B>(&self, request: &Request<B>) -> Found {
        let Ok(matched) = self.addresses.at(request.uri().path()) else { return Found::Nothing };
        let routes = matched.value;
        let Some(route) = routes.iter().find(|route| takes(route, request.method())) else {
            return Found::WrongMethod(allowed(routes));
        };
        let decoded = |(name, value): (&str, &str)| {
            let value = percent_decode_str(value).decode_utf8().ok()?;
            Some((name.to_owned(), value.into_owned()))
        };
        match matched.params.iter().map(decoded).collect() {
            Some(named) => Found::Route(route.clone(), named),
            None => Found::NoText,
        }
    }
}

/// Whoever can be asked for a page can be asked for its head.
fn takes(route: &Route, method: &Method) -> bool {
    route.method == method || (method == Method::HEAD && route.method == Method::GET)
}

fn allowed(routes: &[Arc<Route>]) -> HeaderValue {
    let names = routes.iter().map(|route| route.method.as_str());
    let head = routes.iter().any(|route| route.method == Method::GET).then_some("HEAD");
    let names: Vec<&str> = names.chain(head).collect();
    HeaderValue::try_from(names.join(", ")).unwrap_or(HeaderValue::from_static(""))
}

/// Nobody is told what other servers have.
pub(crate) fn unknown_route() -> Problem {
    let said = "there is nothing here: /openapi.json lists every address";
    Problem::new(ProblemKind::RouteUnknown, said)
}

/// With the methods that the address takes.
pub(crate) fn wrong_method(allowed: HeaderValue) -> Response {
    let said =
        "this address takes other methods: /openapi.json lists them, and so does the header Allow";
    let mut response = Problem::new(ProblemKind::MethodNotAllowed, said).into_response();
    response.headers_mut().insert(header::ALLOW, allowed);
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::{routes, test_routes};

    fn check(method: &Method, address: &str, expect: &str) {
        let router = Router::over(routes().into_iter().chain(test_routes()));
        let request = Request::builder().method(method).uri(address).body(()).unwrap();
        let shown = match router.find(&request) {
            Found::Route(route, named) => format!("{} {named:?}", route.id),
            Found::NoText => "no text".to_owned(),
            Found::WrongMethod(allowed) => format!("takes {}", allowed.to_str().unwrap()),
            Found::Nothing => "nothing".to_owned(),
        };
        assert_eq!(shown, expect, "{method} {address}");
    }

    #[test]
    fn every_route_is_found_at_its_address() {
        let router = Router::over(routes().into_iter().chain(test_routes()));
        for route in routes().into_iter().chain(test_routes()) {
            let address = route.path.replace(['{', '}', '*'], "");
            let request = Request::builder().method(&route.method).uri(address).body(()).unwrap();
            let found = router.find(&request);
            let is_found = matches!(&found, Found::Route(found, _) if found.id == route.id);
            assert!(is_found, "{} {}", route.method, route.path);
        }
    }

    #[test]
    fn parts_of_an_address_are_decoded_and_stay_parts() {
        let named = |value: &str| format!("get_agent [(\"name\", {value:?})]");
        check(&Method::GET, "/v1/agents/coder", &named("coder"));
        check(&Method::GET, "/v1/agents/a%2Fb%20c?d=e", &named("a/b c"));
        check(&Method::HEAD, "/v1/agents/coder", &named("coder"));
        check(&Method::GET, "/v1/agents/%FF", "no text");
    }

    #[test]
    fn what_is_not_there_says_so() {
        check(&Method::GET, "/v1/agents/a/b/c/d", "nothing");
        check(&Method::GET, "/v1/agents/coder/", "nothing");
        check(&Method::PUT, "/v1/agents/coder/receive", "takes POST");
    }
}
