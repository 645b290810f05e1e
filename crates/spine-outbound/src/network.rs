//! A network: an address and how many of its first bits count.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A range of addresses, written `10.0.0.0/8` or `fd00::/8`; an address alone is a range of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix_bits: u8,
}

impl Network {
    pub(crate) const fn v4(octets: [u8; 4], prefix_bits: u8) -> Self {
        let [a, b, c, d] = octets;
        Self { address: IpAddr::V4(Ipv4Addr::new(a, b, c, d)), prefix_bits }
    }

    pub(crate) const fn v6(address: u128, prefix_bits: u8) -> Self {
        Self { address: IpAddr::V6(Ipv6Addr::from_bits(address)), prefix_bits }
    }

    /// Reads `address/bits` or an address. Bits beyond the prefix must be zero: `10.1.2.3/8` is
    /// more often a slip than meant.
    pub fn parse(text: &str) -> Option<Self> {
        let (address, prefix_bits) = match text.split_once('/') {
            Some((address, bits)) => (address.parse().ok()?, Some(bits.parse().ok()?)),
            None => (text.parse::<IpAddr>().ok()?, None),
        };
        let bits_max = if address.is_ipv4() { 32 } else { 128 };
        let prefix_bits = prefix_bits.unwrap_or(bits_max);
        let network = Self { address, prefix_bits };
        (prefix_bits <= bits_max && network.first() == address).then_some(network)
    }

    /// Whether an address lies in it.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(ours), IpAddr::V4(theirs)) => {
                (ours.to_bits() ^ theirs.to_bits()) & mask_v4(self.prefix_bits) == 0
            }
            (IpAddr::V6(ours), IpAddr::V6(theirs)) => {
                (ours.to_bits() ^ theirs.to_bits()) & mask_v6(self.prefix_bits) == 0
            }
            _ => false,
        }
    }

    fn first(&self) -> IpAddr {
        match self.address {
            IpAddr::V4(address) => {
                Ipv4Addr::from_bits(address.to_bits() & mask_v4(self.prefix_bits)).into()
            }
            IpAddr::V6(address) => {
                Ipv6Addr::from_bits(address.to_bits() & mask_v6(self.prefix_bits)).into()
            }
        }
    }
}

fn mask_v4(prefix_bits: u8) -> u32 {
    u32::MAX.checked_shl(32_u32.saturating_sub(prefix_bits.into())).unwrap_or(0)
}

fn mask_v6(prefix_bits: u8) -> u128 {
    u128::MAX.checked_shl(128_u32.saturating_sub(prefix_bits.into())).unwrap_or(0)
}
