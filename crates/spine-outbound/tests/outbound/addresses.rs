//! Which addresses may be reached.

use spine_outbound::OutboundErrorKind::{self, AddressRefused, BadInput, BadUrl};
use spine_outbound::{Outbound, OutboundOptions};

use crate::stand_in::{StandIn, answer, local, outbound, post};

fn kind(outbound: &Outbound, url: &str) -> Option<OutboundErrorKind> {
    outbound.check_url(url).err().map(|error| error.kind())
}

fn check(outbound: &Outbound, hosts: &[&str], wanted: Option<OutboundErrorKind>) {
    for host in hosts {
        for url in [format!("http://{host}/"), format!("https://{host}:8443/a?b=c")] {
            assert_eq!(kind(outbound, &url), wanted, "{url}");
        }
    }
}

fn with_list(allowed: &[&str]) -> OutboundOptions {
    let allowed = allowed.iter().map(|&entry| entry.to_owned()).collect();
    OutboundOptions { allowed, ..OutboundOptions::default() }
}

const PRIVATE: &[&str] = &[
    "127.0.0.1",
    "127.255.255.254",
    "10.0.0.1",
    "10.255.255.255",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "100.64.0.1",
    "100.127.255.255",
    "[::1]",
    "[fc00::1]",
    "[fd12:3456::1]",
    "[fec0::1]",
    // The same in other clothes.
    "127.0.0.1.",
    "[::ffff:127.0.0.1]",
    "[::ffff:a00:1]",
    "[0:0:0:0:0:ffff:c0a8:0001]",
    "[64:ff9b::10.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[2002:c0a8:101:1::5]",
];

const CLOSED: &[&str] = &[
    // Cloud metadata.
    "169.254.169.254",
    "169.254.170.2",
    "169.254.170.23",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "[fd00:ec2::254]",
    "[fd20:ce::254]",
    "[::ffff:169.254.169.254]",
    "[64:ff9b::a9fe:a9fe]",
    "[2002:a9fe:a9fe::1]",
    // Link-local.
    "169.254.0.1",
    "[fe80::1]",
    "[febf::1]",
    // Multicast and broadcast.
    "224.0.0.1",
    "239.255.255.250",
    "255.255.255.255",
    "[ff02::1]",
    // Unspecified.
    "0.0.0.0",
    "0.1.2.3",
    "[::]",
    // Documentation.
    "192.0.2.1",
    "198.51.100.1",
    "203.0.113.1",
    "[2001:db8::1]",
    "[3fff::1]",
    // Reserved, and forms that lead elsewhere than they say.
    "198.18.0.1",
    "192.88.99.1",
    "240.0.0.1",
    "[::127.0.0.1]",
    "[::8.8.8.8]",
    "[::ffff:0:127.0.0.1]",
    "[2001::1]",
    "[64:ff9b:1::7f00:1]",
    "[100::1]",
    "[4000::1]",
];

const PUBLIC: &[&str] = &[
    "8.8.8.8",
    "1.1.1.1",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.1",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "[2606:4700:4700::1111]",
    "[2a00:1450:4001::8a]",
    "[64:ff9b::8.8.8.8]",
    "[2002:808:808::1]",
    "[::ffff:8.8.8.8]",
    // Names are judged when they have been looked up.
    "agents.example",
    "Agents.Example.",
    "xn--bcher-kva.example",
    "my_service.internal",
];

#[test]
fn public_addresses_alone_may_be_reached() {
    let outbound = outbound(OutboundOptions::default());
    check(&outbound, PUBLIC, None);
    check(&outbound, PRIVATE, Some(AddressRefused));
    check(&outbound, CLOSED, Some(AddressRefused));
}

#[test]
fn allowing_private_ones_opens_no_metadata() {
    let outbound = outbound(local());
    check(&outbound, PUBLIC, None);
    check(&outbound, PRIVATE, None);
    check(&outbound, CLOSED, Some(AddressRefused));
}

#[test]
fn a_list_opens_what_is_in_it() {
    let outbound = outbound(with_list(&["10.1.0.0/16", "169.254.169.254", "fd12::/16", "::1"]));
    check(&outbound, &["10.1.0.0", "10.1.255.255", "[::ffff:10.1.2.3]", "[::1]"], None);
    check(&outbound, &["169.254.169.254", "[fd12::5]"], None);
    check(&outbound, &["10.0.255.255", "10.2.0.0", "127.0.0.1"], Some(AddressRefused));
    check(&outbound, &["169.254.169.253", "[fd13::5]", "[::]"], Some(AddressRefused));
}

#[test]
fn a_list_that_cannot_be_understood_is_refused() {
    for entry in ["10.1.2.3/8", "10.0.0.0/33", "::/129", "", "a b", "http://a", "2130706433", "*"] {
        let error = Outbound::new(with_list(&[entry])).err().map(|error| error.kind());
        assert_eq!(error, Some(BadInput), "{entry:?}");
    }
}

#[test]
fn odd_spellings_are_no_hosts() {
    let outbound = outbound(local());
    let hosts = [
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "017700000001",
        "0177.0.0.1",
        "127.1",
        "127.0.1",
        "127.0.0.1.5",
        "127.0.0.0x1",
        "1.2.3.256",
        "0",
        "0x",
        "127.0.0.1..",
        "a..b",
        ".example",
        "%31%32%37.0.0.1",
        "127.0.0.1%00",
        "①②⑦.0.0.1",
        "münchen.example",
        "[::1",
        "[fe80::1%25eth0]",
        "[127.0.0.1]",
        "a b",
    ];
    check(&outbound, &hosts, Some(BadUrl));
}

#[test]
fn tricks_around_the_host_are_refused() {
    let outbound = outbound(local());
    let urls = [
        "http://agents.example@127.0.0.1/",
        "http://agents.example:80@127.0.0.1/",
        "http://user:password@agents.example/",
        "http://@agents.example/",
        "http://agents.example\\@127.0.0.1/",
        "http://127.0.0.1\\.agents.example/",
        "http:///agents.example",
        "http:agents.example",
        "//agents.example",
        "agents.example",
        "/inbox",
        "",
        "ftp://agents.example/",
        "file:///etc/passwd",
        "gopher://agents.example/",
        "javascript:alert(1)",
        "http://agents.example:0/",
        "http://agents.example:65536/",
        "http://agents.example:/",
        "http://agents.example:+80/",
        "http://agents.example:80:80/",
        " http://agents.example/",
        "http://agents.example/a b",
        "http://agents.example/\r\nx: y",
    ];
    for url in urls {
        assert_eq!(kind(&outbound, url), Some(BadUrl), "{url:?}");
    }
    let named = outbound.check_url("http://user:password@agents.example/").unwrap_err();
    assert_eq!(named.detail(), "a user name before the host");
}

/// The look-up says where a name leads, so the rule has to come after it.
#[tokio::test]
async fn a_name_of_this_machine_is_refused_when_connecting() {
    let stand_in = StandIn::start(|_, _| answer("200 OK", &[], "")).await;
    let urls = ["localhost", "LOCALHOST", "localhost."];
    let closed = outbound(OutboundOptions::default());
    for host in urls {
        let url = format!("http://{host}:{}/", stand_in.port);
        assert_eq!(closed.check_url(&url), Ok(()));
        assert_eq!(post(&closed, &url).await, Err(AddressRefused), "{url}");
    }
    assert_eq!(stand_in.connections(), 0);
}

#[tokio::test]
async fn a_literal_address_is_refused_when_connecting() {
    let stand_in = StandIn::start(|_, _| answer("200 OK", &[], "")).await;
    let closed = outbound(OutboundOptions::default());
    for host in ["127.0.0.1", "[::ffff:127.0.0.1]", "0.0.0.0"] {
        let url = format!("http://{host}:{}/", stand_in.port);
        assert_eq!(post(&closed, &url).await, Err(AddressRefused), "{url}");
    }
    assert_eq!(stand_in.connections(), 0);
}

#[tokio::test]
async fn a_name_is_opened_by_its_name_or_its_network() {
    let stand_in = StandIn::start(|_, _| answer("200 OK", &[], "")).await;
    let url = format!("http://localhost.:{}/", stand_in.port);
    for list in [&["LocalHost"][..], &["127.0.0.0/8", "::1"]] {
        assert_eq!(post(&outbound(with_list(list)), &url).await, Ok(200), "{list:?}");
    }
    let other = outbound(with_list(&["otherhost", "10.0.0.0/8"]));
    assert_eq!(post(&other, &url).await, Err(AddressRefused));
    // The name was opened, not the address it happens to have.
    let by_name = outbound(with_list(&["localhost"]));
    assert_eq!(post(&by_name, &stand_in.url("/")).await, Err(AddressRefused));
}

#[tokio::test]
async fn a_mapped_address_is_connected_to_as_what_it_is() {
    let stand_in = StandIn::start(|_, _| answer("200 OK", &[], "")).await;
    let url = format!("http://[::ffff:127.0.0.1]:{}/", stand_in.port);
    assert_eq!(post(&outbound(with_list(&["127.0.0.1"])), &url).await, Ok(200));
}
