//! HMAC-SHA256, truncated to 128 bits.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// Length of a MAC in packets, bytes.
pub(super) const MAC_LEN: usize = 16;

/// HMAC-SHA256 (RFC 2104) by a secret, and over what was put in front of the bytes. Cloned for each packet, so that the secret is hashed
/// once and need not be kept.
#[derive(Clone)]
pub(super) struct Authenticator(Hmac<Sha256>);

impl Authenticator {
    /// None if the secret's length does not suit; HMAC takes all.
    pub(super) fn new(secret: &[u8]) -> Option<Self> {
        Hmac::new_from_slice(secret).ok().map(Self)
    }

    /// The same, with these bytes in front of all that is authenticated.
    pub(super) fn after(&self, bytes: &[u8]) -> Self {
        Self(self.0.clone().chain_update(bytes))
    }

    /// All 32 bytes of the code.
    pub(super) fn code(&self, bytes: &[u8]) -> [u8; 32] {
        self.0.clone().chain_update(bytes).finalize().into_bytes().into()
    }

    /// The code as it is sent.
    pub(super) fn mac(&self, bytes: &[u8]) -> [u8; MAC_LEN] {
        let code = self.code(bytes);
        std::array::from_fn(|at| code[at])
    }

    /// True if `mac` is that of these bytes; takes the same time wherever it differs.
    pub(super) fn is_valid(&self, bytes: &[u8], mac: &[u8; MAC_LEN]) -> bool {
        self.0.clone().chain_update(bytes).verify_truncated_left(mac).is_ok()
    }
}

/// The tag in packets of a key of this name.
pub(super) fn key_tag(name: &str) -> u32 {
    let hash: [u8; 32] = Sha256::digest(name.as_bytes()).into();
    u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> =
            hex.bytes().filter_map(|digit| (digit as char).to_digit(16)).map(|d| d as u8).collect();
        digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
    }

    /// RFC 4231, section 4: key, data, HMAC-SHA-256. The fifth gives 128 bits only.
    #[test]
    fn vectors_of_rfc_4231() {
        let counting: Vec<u8> = (1..=25).collect();
        let large = b"Test Using Larger Than Block-Size Key - Hash Key First".to_vec();
        let largest =
            b"This is a test using a larger than block-size key and a larger than block-size data. The key \
            needs to be hashed before being used by the HMAC algorithm."
                .to_vec();
        let vectors = [
            (
                vec![0x0b; 20],
                b"Hi There".to_vec(),
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            ),
            (
                b"Jefe".to_vec(),
                b"what do ya want for nothing?".to_vec(),
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                vec![0xaa; 20],
                vec![0xdd; 50],
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
            ),
            (counting, vec![0xcd; 50], "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
            (vec![0x0c; 20], b"Test With Truncation".to_vec(), "a3b6167473100ee06e0c796c2955552b"),
            (vec![0xaa; 131], large, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
            (vec![0xaa; 131], largest, "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
        ];
        for (at, (secret, data, hex)) in vectors.into_iter().enumerate() {
            let authenticator = Authenticator::new(&secret).expect("HMAC takes any secret");
            let expected = bytes(hex);
            assert_eq!(authenticator.code(&data)[..expected.len()], expected, "vector {}", at + 1);
            let mac = authenticator.mac(&data);
            assert_eq!(mac, expected[..MAC_LEN]);
            // In two parts, as the pseudo header and the packet are.
            let (front, back) = data.split_at(data.len() / 2);
            assert!(authenticator.after(front).is_valid(back, &mac));
            for bit in 0..128 {
                let mut wrong = mac;
                wrong[bit / 8] ^= 1 << (bit % 8);
                assert!(!authenticator.is_valid(&data, &wrong));
            }
        }
    }
}
