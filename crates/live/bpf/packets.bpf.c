// The part of the daemon in the kernel: packets of one device, judged in both directions.
//
// The daemon writes into `settings` what a scheme's law has set: with which probability packets are marked or dropped, and until when.
// After that moment, by the boot clock, packets pass: a daemon that has stopped does no harm.

#include "common.h"

static __u32 (*random_u32)(void) = (void *)BPF_FUNC_get_prandom_u32;
static long (*set_ce)(struct __sk_buff *packet) = (void *)BPF_FUNC_skb_ecn_set_ce;

// Bits of `actions`.
enum {
	MARK = 1,   // a packet that can carry a mark is marked
	DROP = 2,   // a packet that is not marked is dropped
	SPREAD = 4, // from one packet to the next that is chosen the distances are alike (NRED, Algorithm 5.2)
	FLOWS = 8,  // flows differ: the probability of a packet is that of the setting times the factor of its flow
	ANSWERS = 16, // the factor is that of acknowledgements, too
};

// The setting of a direction: 0 outgoing, 1 incoming.
struct setting {
	__u64 until;     // boot clock, ns: afterwards all packets pass
	__u64 numerator; // the probability is this by 2^32
	__u32 actions;
	__u32 most;      // by 2^32: with the factor of a flow the probability is no larger; the largest number is 1
};

// Packets of a direction so far.
struct count {
	__u64 packets; // segments of IP, those of a batch apart
	__u64 bytes;   // of IP
	__u64 able;    // packets that could carry a mark
	__u64 marked;
	__u64 dropped;
	__u64 judged;  // packets while a setting held
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct setting);
} settings SECTION(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct count);
} counts SECTION(".maps");

// Packets since the last one that was chosen, plus one; 0: none was judged since the probability was 0.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u32);
} distances SECTION(".maps");

// The factor of flows of which nothing is known, by 2^16.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} unknown SECTION(".maps");

// Counts a packet for its flow, and returns the flow's factor.
INLINE __u64 factor_of(struct __sk_buff *packet, __u64 fields, __u32 direction)
{
	__u32 *factor = value_at(&unknown, 0), bytes = packet->len - ETH_HLEN;
	if (!factor)
		return 1 << 16;
	__u32 unknown_factor = *factor, at = slot_of(hash_of(fields), unknown_factor, 0);
	struct slot *slot = value_at(&slots, at);
	if (!slot)
		return unknown_factor;
	// Bytes of data going out and coming in, of acknowledgements going out and coming in.
	if (fields & IS_ANSWER) {
		if (direction)
			ADD(slot->counts[3], bytes);
		else
			ADD(slot->counts[2], bytes);
	} else if (direction) {
		ADD(slot->counts[1], bytes);
	} else {
		ADD(slot->counts[0], bytes);
	}
	return slot->factor;
}

// Is this packet chosen, with the probability of the setting times a factor by 2^16?
INLINE int chosen(const struct setting *set, __u64 factor, __u32 direction)
{
	__u64 one = 1ULL << 32, p = set->numerator;
	// A factor has 31 bits, and a probability 33.
	if (factor != 1 << 16) {
		__u64 most = set->most < 0xffffffff ? set->most : one;
		p = p * factor >> 16;
		if (p > most)
			p = most;
	}
	if (!(set->actions & SPREAD))
		return p && random_u32() < p;
	__u32 *distance = value_at(&distances, direction);
	if (!distance)
		return 0;
	if (set->numerator == 0) {
		*distance = 0;
		return 0;
	}
	__u64 count = *distance;
	if (count < 0xffffffff)
		*distance = count + 1;
	// p / (1 - count p), without a division: all products fit.
	__u64 passed = count * p, left = passed < one ? one - passed : 0;
	if (left > p && (p >= one || random_u32() * left >= p << 32))
		return 0;
	*distance = 1;
	return 1;
}

INLINE int judge(struct __sk_buff *packet, __u32 direction)
{
	struct setting *set = value_at(&settings, direction);
	struct count *count = value_at(&counts, direction);
	if (!set || !count)
		return TC_ACT_UNSPEC;
	int drops = set->actions & DROP, flows = set->actions & FLOWS;
	__u64 fields = fields_of(packet, drops | flows);
	if (!(fields & IS_IP))
		return TC_ACT_UNSPEC;
	__u32 segments = packet->gso_segs ? packet->gso_segs : 1;
	int able = (fields & ECN) != 0;
	count->packets += segments;
	count->bytes += packet->len - ETH_HLEN;
	if (able)
		count->able += segments;
	__u64 factor = 1 << 16;
	if (flows && fields & IS_DATA && (!(fields & IS_ANSWER) || set->actions & ANSWERS))
		factor = factor_of(packet, fields, direction);
	if (boot_clock() > set->until)
		return TC_ACT_UNSPEC;
	if (drops && !(fields & IS_DATA))
		return TC_ACT_UNSPEC;
	count->judged += segments;
	if (!chosen(set, factor, direction))
		return TC_ACT_UNSPEC;
	if (set->actions & MARK && able && set_ce(packet) == 1) {
		count->marked += segments;
		return TC_ACT_UNSPEC;
	}
	if (drops) {
		count->dropped += segments;
		return TC_ACT_SHOT;
	}
	return TC_ACT_UNSPEC;
}

SECTION("classifier")
int airfair_out(struct __sk_buff *packet)
{
	return judge(packet, 0);
}

SECTION("classifier")
int airfair_in(struct __sk_buff *packet)
{
	return judge(packet, 1);
}
