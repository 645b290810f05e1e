//! `memory-spine mcp`: the end of a host's standard input and output.

use hyper::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use spine_client::{ClientOptions, Connector};

use super::{Exit, Failure, seek};
use crate::bridge::{Where, Wire, run};
use crate::cli::{Cli, ENDPOINT_VARIABLE, Mcp};

const WORKSPACE: HeaderName = HeaderName::from_static("memory-spine-workspace");
const AGENT: HeaderName = HeaderName::from_static("memory-spine-agent");

/// Carries messages until the host has gone.
pub fn bridge(arguments: &Mcp, cli: &Cli) -> Result<(), Failure> {
    let ca_file = arguments.ca_file.clone().or(ClientOptions::from_environment().ca_file);
    let wire = Wire::new(asker(arguments)?, Connector::new(ca_file.as_deref())?);
    let place = place(arguments.endpoint.as_ref(), cli)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(run(place, wire))?)
}

/// A server that is named, else the one of the folder. A folder on the command line is meant more than a variable.
fn place(endpoint: Option<&String>, cli: &Cli) -> Result<Where, Failure> {
    let set = std::env::var(ENDPOINT_VARIABLE).ok().filter(|url| !url.is_empty());
    match endpoint.cloned().or(set.filter(|_| cli.data.is_none())) {
        Some(url) if url.starts_with("http://") || url.starts_with("https://") => {
            Ok(Where::At(url))
        }
        Some(url) => {
            let said =
                format!("endpoint: expected an address such as http://127.0.0.1:8788, got {url:?}");
            Err(Failure::new(Exit::Usage, said))
        }
        None => Ok(Where::Folder(seek(cli)?)),
    }
}

/// Who asks, on every request.
fn asker(arguments: &Mcp) -> Result<HeaderMap, Failure> {
    let given = ClientOptions::from_environment();
    let key = given.api_key.map(|key| format!("Bearer {key}"));
    let workspace = arguments.workspace.clone().or(given.workspace);
    let agent = arguments.agent.clone().or(given.agent);
    let mut headers = HeaderMap::new();
    for (name, value) in [(AUTHORIZATION, key), (WORKSPACE, workspace), (AGENT, agent)] {
        let Some(value) = value else { continue };
        let unusable = |_| {
            let said = format!("{name}: it holds a character that cannot be sent in a header");
            Failure::new(Exit::Usage, said)
        };
        let mut value = HeaderValue::try_from(value).map_err(unusable)?;
        value.set_sensitive(name == AUTHORIZATION);
        headers.insert(name.clone(), value);
    }
    Ok(headers)
}
