//! What an address is: public, or why it is not.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::network::Network;

/// Why an address is not a public one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotPublic {
    /// This machine.
    Loopback,
    /// A private network, or a carrier's.
    Private,
    /// The cable this machine hangs on; most clouds serve credentials there.
    LinkLocal,
    /// Where clouds serve credentials to whoever asks.
    Metadata,
    /// Not one machine.
    Multicast,
    /// No machine; systems take it for their own.
    Unspecified,
    /// Made for examples.
    Documentation,
    /// Set aside, or of a kind that leads elsewhere than it says.
    Reserved,
}

impl NotPublic {
    /// Whether `allow_private` is enough; the others have to be listed.
    pub(crate) fn is_private(self) -> bool {
        matches!(self, Self::Loopback | Self::Private)
    }
}

impl fmt::Display for NotPublic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::LinkLocal => "link-local",
            Self::Metadata => "cloud metadata",
            Self::Multicast => "multicast",
            Self::Unspecified => "unspecified",
            Self::Documentation => "documentation",
            Self::Reserved => "reserved",
        })
    }
}

/// The first row that holds the address counts.
const NOT_PUBLIC_V4: &[(Network, NotPublic)] = &[
    (Network::v4([169, 254, 169, 254], 32), NotPublic::Metadata),
    (Network::v4([169, 254, 170, 0], 24), NotPublic::Metadata),
    (Network::v4([100, 100, 100, 200], 32), NotPublic::Metadata),
    (Network::v4([168, 63, 129, 16], 32), NotPublic::Metadata),
    (Network::v4([192, 0, 0, 192], 32), NotPublic::Metadata),
    (Network::v4([0, 0, 0, 0], 8), NotPublic::Unspecified),
    (Network::v4([10, 0, 0, 0], 8), NotPublic::Private),
    (Network::v4([100, 64, 0, 0], 10), NotPublic::Private),
    (Network::v4([127, 0, 0, 0], 8), NotPublic::Loopback),
    (Network::v4([169, 254, 0, 0], 16), NotPublic::LinkLocal),
    (Network::v4([172, 16, 0, 0], 12), NotPublic::Private),
    (Network::v4([192, 0, 0, 0], 24), NotPublic::Reserved),
    (Network::v4([192, 0, 2, 0], 24), NotPublic::Documentation),
    (Network::v4([192, 88, 99, 0], 24), NotPublic::Reserved),
    (Network::v4([192, 168, 0, 0], 16), NotPublic::Private),
    (Network::v4([198, 18, 0, 0], 15), NotPublic::Reserved),
    (Network::v4([198, 51, 100, 0], 24), NotPublic::Documentation),
    (Network::v4([203, 0, 113, 0], 24), NotPublic::Documentation),
    (Network::v4([224, 0, 0, 0], 4), NotPublic::Multicast),
    (Network::v4([240, 0, 0, 0], 4), NotPublic::Reserved),
];

const NOT_PUBLIC_V6: &[(Network, NotPublic)] = &[
    (Network::v6(0xfd00_0ec2 << 96, 32), NotPublic::Metadata),
    (Network::v6(0xfd20_00ce << 96, 32), NotPublic::Metadata),
    (Network::v6(0xfd00_0042 << 96, 32), NotPublic::Metadata),
    (Network::v6(0, 128), NotPublic::Unspecified),
    (Network::v6(1, 128), NotPublic::Loopback),
    (Network::v6(0xfc << 120, 7), NotPublic::Private),
    (Network::v6(0xfe80 << 112, 10), NotPublic::LinkLocal),
    (Network::v6(0xfec0 << 112, 10), NotPublic::Private),
    (Network::v6(0xff << 120, 8), NotPublic::Multicast),
    (Network::v6(0x2001_0db8 << 96, 32), NotPublic::Documentation),
    (Network::v6(0x3fff << 112, 20), NotPublic::Documentation),
    // Protocol assignments, Teredo among them: its addresses hide a second, scrambled one.
    (Network::v6(0x2001 << 112, 23), NotPublic::Reserved),
];

/// Everything that is assigned to machines of the Internet.
const GLOBAL_UNICAST_V6: Network = Network::v6(0x2000 << 112, 3);

/// Forms that a system (mapped) or a gateway (NAT64) turns into the IPv4 address of the last 32
/// bits. The older ones, `::a.b.c.d` and `::ffff:0:a.b.c.d`, are outside global unicast.
const ENDS_IN_V4: &[Network] = &[Network::v6(0xffff << 32, 96), Network::v6(0x0064_ff9b << 96, 96)];

/// 6to4 carries it after the first 16 bits.
const SIX_TO_FOUR: Network = Network::v6(0x2002 << 112, 16);

/// Why this address is not public; nothing if it is.
pub(crate) fn not_public(address: IpAddr) -> Option<NotPublic> {
    match address {
        IpAddr::V4(address) => listed(NOT_PUBLIC_V4, address.into()),
        IpAddr::V6(address) => not_public_v6(address),
    }
}

fn not_public_v6(address: Ipv6Addr) -> Option<NotPublic> {
    if let Some(reason) = listed(NOT_PUBLIC_V6, address.into()) {
        return Some(reason);
    }
    match embedded_v4(address) {
        Some(inner) => listed(NOT_PUBLIC_V4, inner.into()),
        None if GLOBAL_UNICAST_V6.contains(address.into()) => None,
        None => Some(NotPublic::Reserved),
    }
}

fn listed(table: &[(Network, NotPublic)], address: IpAddr) -> Option<NotPublic> {
    table.iter().find(|(network, _)| network.contains(address)).map(|(_, reason)| *reason)
}

fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let whole = IpAddr::from(address);
    if ENDS_IN_V4.iter().any(|network| network.contains(whole)) {
        return Some(low_32_bits(address.to_bits()));
    }
    SIX_TO_FOUR.contains(whole).then(|| low_32_bits(address.to_bits() >> 80))
}

fn low_32_bits(bits: u128) -> Ipv4Addr {
    Ipv4Addr::from_bits((bits & u128::from(u32::MAX)) as u32)
}
