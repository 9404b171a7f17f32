//! Every rule of 802.11 that decides results, each worked out by hand and checked to the nanosecond.
//!
//! Durations that recur (1536 B of PSDU are 1500 B of IP, 8 of LLC, 28 of MAC; 136 B are 100 of IP; long preamble 192 us):
//!
//! | frame | 802.11b, control at 1 Mbit/s | 802.11a, control at 24 Mbit/s |
//! |---|---|---|
//! | RTS, 20 B | 192 + 160 = 352 us | 20 + 4 x 2 = 28 us |
//! | CTS, ACK, 14 B | 192 + 112 = 304 us | 20 + 4 x 2 = 28 us |
//! | DATA, 1536 B at 11 / 54 Mbit/s | 192 + 12288/11 = 192 + 1118 = 1310 us | 20 + 4 x 57 = 248 us |
//! | BROADCAST, 136 B at 1 / 6 Mbit/s | 192 + 1088 = 1280 us | 20 + 4 x 47 = 208 us |
//! | SIFS, slot, DIFS | 10, 20, 50 us | 16, 9, 34 us |

mod access;
mod edca;
mod eifs;
mod far;
mod hidden;
mod nav;
mod queue;
mod rates;
mod reception;
mod retries;
mod timing;
