//! Requests as bytes, written out by hand from the headers of the kernel.

use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkBuffer};

use super::super::interface::link_request;
use super::super::nl80211::{family, family_request, interface_request, station_request, survey_request};
use super::encoder::{attribute, generic, nested};

/// Words of 16 bits in the order of the machine.
fn words(words: &[u16]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

#[test]
fn the_request_for_a_family_has_its_name() {
    let bytes = family_request("nl80211").finish(5);
    // Type GENL_ID_CTRL, NLM_F_REQUEST, sequence number, port 0; CTRL_CMD_GETFAMILY, version 1; CTRL_ATTR_FAMILY_NAME.
    let header = [32_u32.to_ne_bytes().to_vec(), words(&[16, 1]), 5_u32.to_ne_bytes().to_vec(), vec![0; 4]];
    let rest = [vec![3, 1, 0, 0], words(&[12, 2]), b"nl80211\0".to_vec()];
    assert_eq!(bytes, [header.concat(), rest.concat()].concat());
}

#[test]
fn requests_about_an_interface_have_its_index() {
    let requests = [
        (survey_request(28, 3), 50, NLM_F_REQUEST | NLM_F_DUMP),
        (station_request(28, 3), 17, NLM_F_REQUEST | NLM_F_DUMP),
        (interface_request(28, 3), 5, NLM_F_REQUEST),
    ];
    for (request, command, flags) in requests {
        let bytes = request.finish(0x0102_0304);
        let header = NetlinkBuffer::new_checked(&bytes).unwrap();
        assert_eq!((header.length(), header.message_type(), header.flags()), (28, 28, flags));
        assert_eq!((header.sequence_number(), header.port_number()), (0x0102_0304, 0));
        let rest = [vec![command, 0, 0, 0], words(&[8, 3]), 3_u32.to_ne_bytes().to_vec()];
        assert_eq!(header.payload(), rest.concat());
    }
}

#[test]
fn the_request_for_a_link_is_padded() {
    let bytes = link_request("lo").finish(9);
    let header = NetlinkBuffer::new_checked(&bytes).unwrap();
    assert_eq!((header.length(), header.message_type(), header.flags()), (40, 18, NLM_F_REQUEST));
    assert_eq!(header.payload()[..16], [0; 16]);
    assert_eq!(header.payload()[16..], [words(&[7, 3]), b"lo\0\0".to_vec()].concat());
}

/// `CTRL_CMD_NEWFAMILY` (1): number 1, name 2, version 3, groups 7.
#[test]
fn the_number_of_a_family_is_found() {
    let attributes = [
        attribute(2, b"nl80211\0"),
        attribute(1, &28_u16.to_ne_bytes()),
        attribute(3, &1_u32.to_ne_bytes()),
        nested(7, &[nested(1, &[attribute(2, &9_u32.to_ne_bytes()), attribute(1, b"scan\0")])]),
    ];
    assert_eq!(family(&generic(1, &attributes)), Ok(Some(28)));
    assert_eq!(family(&generic(3, &attributes)), Ok(None), "another command");
    assert_eq!(family(&generic(1, &attributes[..1])).unwrap_err().0, "a family has no number");
    assert!(family(&generic(1, &[attribute(1, &[28])])).is_err());
}
