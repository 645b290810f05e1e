//! The one rule on which addresses may be reached.

use std::net::{IpAddr, SocketAddr};

use crate::address::not_public;
use crate::error::{OutboundError, OutboundErrorKind};
use crate::limits::ALLOWED_ENTRIES_MAX;
use crate::network::Network;
use crate::target::{Host, Target};

/// Public addresses, and what the options add.
#[derive(Debug)]
pub(crate) struct Reach {
    allow_private: bool,
    hosts: Vec<String>,
    networks: Vec<Network>,
}

impl Reach {
    /// Reads the list of allowed hosts and networks.
    pub(crate) fn new(allow_private: bool, allowed: &[String]) -> Result<Self, OutboundError> {
        if allowed.len() > ALLOWED_ENTRIES_MAX {
            return Err(bad_entry(&format!("{} entries", allowed.len())));
        }
        let mut reach = Self { allow_private, hosts: Vec::new(), networks: Vec::new() };
        for entry in allowed {
            match (Network::parse(entry), Host::parse(entry)) {
                (Some(network), _) => reach.networks.push(network),
                (None, Some(Host::Name(name))) => reach.hosts.push(name),
                _ => return Err(bad_entry(entry)),
            }
        }
        Ok(reach)
    }

    /// The addresses to connect to, once every one of them has been found allowed: a name with one
    /// forbidden address is refused whole.
    pub(crate) fn check(
        &self,
        target: &Target,
        addresses: Vec<SocketAddr>,
    ) -> Result<Vec<SocketAddr>, OutboundError> {
        addresses.into_iter().map(|address| self.check_one(target, address)).collect()
    }

    fn check_one(&self, target: &Target, socket: SocketAddr) -> Result<SocketAddr, OutboundError> {
        // ::ffff:a.b.c.d is connected to as a.b.c.d, so it is judged as that.
        let address = socket.ip().to_canonical();
        let refusal = not_public(address).filter(|reason| {
            let opened = self.allow_private && reason.is_private();
            !opened && !self.is_listed(target, address)
        });
        match refusal {
            None => Ok(SocketAddr::new(address, target.port)),
            Some(reason) => Err(OutboundError::new(
                OutboundErrorKind::AddressRefused,
                format!("{target}: {address} is a {reason} address"),
            )),
        }
    }

    fn is_listed(&self, target: &Target, address: IpAddr) -> bool {
        let by_name = match &target.host {
            Host::Name(name) => self.hosts.contains(name),
            Host::Address(_) => false,
        };
        by_name || self.networks.iter().any(|network| network.contains(address))
    }
}

fn bad_entry(entry: &str) -> OutboundError {
    let detail = format!("allowed hosts: {entry:?} is neither a host name nor a network");
    OutboundError::bad_input(detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name server of an attacker answers with a public address and a private one, so that
    /// whoever checks the first connects to the second.
    #[test]
    fn one_forbidden_address_among_many_refuses_the_name() {
        let target = Target::parse("https://agents.example/inbox").unwrap();
        let [public, private]: [SocketAddr; 2] =
            ["8.8.8.8:443", "10.0.0.1:443"].map(|text| text.parse().unwrap());
        let reach = Reach::new(false, &[]).unwrap();
        assert_eq!(reach.check(&target, vec![public]), Ok(vec![public]));
        for addresses in [vec![public, private], vec![private, public]] {
            let refusal = reach.check(&target, addresses).unwrap_err();
            assert_eq!(refusal.kind(), OutboundErrorKind::AddressRefused);
        }
    }
}
