// The part of the daemon in the kernel: packets of one device, judged in both directions.
//
// The daemon writes into `settings` what a scheme's law has set: with which probability packets are marked or dropped, and until when. After
// that moment, by the boot clock, packets pass: a daemon that has stopped does no harm.

#include "common.h"

#include <linux/tcp.h>
#include <linux/udp.h>

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
	__u32 reserved;
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

// A flow in both directions, in a table that the daemon reads and writes in its own memory. A flow has its place at one of two slots; where
// both are taken it has none, and the factor of those of which nothing is known.
struct slot {
	__u32 hash;   // 0: free
	__u32 factor; // by 2^16
	__u32 bytes[4]; // of IP: data going out and coming in, acknowledgements going out and coming in
	__u32 reserved[2];
};

#define SLOTS 4096

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct slot);
} slots SECTION(".maps");

// The factor of flows of which nothing is known, by 2^16.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} unknown SECTION(".maps");

// The fields of a packet that matter.
struct fields {
	__u8 ecn;       // of the IP header
	__u8 is_data;   // TCP or UDP, and no message
	__u8 is_answer; // TCP without data
	__u32 hash;     // of the flow, the same in both directions
};

// As COPY; where the offset varies with a call: the kernel allows a daemon without CAP_PERFMON no other way.
#define COPY_AT(packet, is_constant, offset, to) \
	((is_constant) ? COPY(packet, offset, to) : load_bytes(packet, offset, &(to), sizeof(to)) == 0)

// Reads what is behind the IP header, of a packet whose addresses have these hashes.
INLINE void read_transport(struct __sk_buff *packet, __u8 protocol, int is_constant, __u32 offset, __u32 from, __u32 to,
			   struct fields *found)
{
	if (protocol == IPPROTO_TCP) {
		struct tcphdr tcp;
		found->is_data = 1;
		if (!COPY_AT(packet, is_constant, offset, tcp))
			return;
		found->is_answer = packet->len <= offset + 4 * tcp.doff;
		// A sum is the same in both directions.
		found->hash = mix(from, tcp.source) + mix(to, tcp.dest);
	} else if (protocol == IPPROTO_UDP) {
		struct udphdr udp;
		if (!COPY_AT(packet, is_constant, offset, udp))
			return;
		found->is_data = !map_lookup(&messages, &udp.dest);
		found->hash = mix(from, udp.source) + mix(to, udp.dest) + IPPROTO_UDP;
	}
}

INLINE int read_fields(struct __sk_buff *packet, struct fields *found, int deep)
{
	found->is_data = 0;
	found->is_answer = 0;
	found->hash = 0;
	if (packet->protocol == NETWORK(ETH_P_IP)) {
		struct iphdr ip;
		if (!COPY(packet, ETH_HLEN, ip))
			return 0;
		found->ecn = ip.tos & 3;
		if (!deep)
			return 1;
		// A later fragment has no ports: of a datagram that may be a message none is dropped.
		if (ip.frag_off & NETWORK(0x1fff)) {
			found->is_data = ip.protocol == IPPROTO_TCP;
			return 1;
		}
		__u32 from = mix(0, ip.saddr), to = mix(0, ip.daddr);
		if (ip.ihl == 5)
			read_transport(packet, ip.protocol, 1, ETH_HLEN + sizeof(ip), from, to, found);
		else
			read_transport(packet, ip.protocol, 0, ETH_HLEN + 4 * ip.ihl, from, to, found);
	} else if (packet->protocol == NETWORK(ETH_P_IPV6)) {
		struct ipv6hdr ip;
		if (!COPY(packet, ETH_HLEN, ip))
			return 0;
		found->ecn = ip.flow_lbl[0] >> 4 & 3;
		if (!deep)
			return 1;
		__u32 from = 0, to = 0;
		for (int at = 0; at < 4; at++) {
			from = mix(from, ip.saddr.in6_u.u6_addr32[at]);
			to = mix(to, ip.daddr.in6_u.u6_addr32[at]);
		}
		read_transport(packet, ip.nexthdr, 1, ETH_HLEN + sizeof(ip), from, to, found);
	} else {
		return 0;
	}
	return 1;
}

// The slot of a flow; none if both of its places are taken.
INLINE struct slot *slot_of(__u32 hash)
{
	__u32 one = hash & (SLOTS - 1), other = hash >> 12 & (SLOTS - 1);
	struct slot *first = map_lookup(&slots, &one);
	if (!first || first->hash == hash)
		return first;
	struct slot *second = map_lookup(&slots, &other);
	if (!second || second->hash == hash)
		return second;
	struct slot *free = first->hash ? second : first;
	if (free->hash)
		return 0;
	__u32 zero = 0, *factor = map_lookup(&unknown, &zero);
	if (!factor)
		return 0;
	free->factor = *factor;
	free->hash = hash;
	return free;
}

// Counts a packet for its flow, and returns the flow's factor.
INLINE __u64 factor_of(struct __sk_buff *packet, const struct fields *fields, __u32 direction)
{
	struct slot *slot = slot_of(fields->hash ? fields->hash : 1);
	if (!slot) {
		__u32 zero = 0, *factor = map_lookup(&unknown, &zero);
		return factor ? *factor : 1 << 16;
	}
	__u32 bytes = packet->len - ETH_HLEN;
	if (fields->is_answer)
		__sync_fetch_and_add(direction ? &slot->bytes[3] : &slot->bytes[2], bytes);
	else
		__sync_fetch_and_add(direction ? &slot->bytes[1] : &slot->bytes[0], bytes);
	return slot->factor;
}

// Is this packet chosen, with the probability of the setting times a factor by 2^16?
INLINE int chosen(const struct setting *set, __u64 factor, __u32 direction)
{
	__u64 one = 1ULL << 32, p = set->numerator;
	// A factor has 31 bits, and a probability 33.
	if (factor != 1 << 16)
		p = p * factor >> 16;
	if (p > one)
		p = one;
	if (!(set->actions & SPREAD))
		return p && random_u32() < p;
	__u32 *distance = map_lookup(&distances, &direction);
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
	struct setting *set = map_lookup(&settings, &direction);
	struct count *count = map_lookup(&counts, &direction);
	struct fields fields;
	if (!set || !count)
		return TC_ACT_UNSPEC;
	int drops = set->actions & DROP, flows = set->actions & FLOWS;
	if (!read_fields(packet, &fields, drops | flows))
		return TC_ACT_UNSPEC;
	__u32 segments = packet->gso_segs ? packet->gso_segs : 1;
	int able = fields.ecn != 0;
	count->packets += segments;
	count->bytes += packet->len - ETH_HLEN;
	if (able)
		count->able += segments;
	__u64 factor = 1 << 16;
	if (flows && fields.is_data && (!fields.is_answer || set->actions & ANSWERS))
		factor = factor_of(packet, &fields, direction);
	if (boot_clock() > set->until)
		return TC_ACT_UNSPEC;
	if (drops && !fields.is_data)
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
