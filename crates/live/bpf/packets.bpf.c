// The part of the daemon in the kernel: packets of one device, judged in both directions.
//
// The daemon writes into `settings` what a scheme's law has set: with which probability packets are marked or dropped, and until when. After
// that moment, by the boot clock, packets pass: a daemon that has stopped does no harm.

#include "common.h"

static __u32 (*random_u32)(void) = (void *)BPF_FUNC_get_prandom_u32;
static long (*set_ce)(struct __sk_buff *packet) = (void *)BPF_FUNC_skb_ecn_set_ce;

// Bits of `actions`.
enum {
	MARK = 1,   // a packet that can carry a mark is marked
	DROP = 2,   // a packet that is not marked is dropped
	SPREAD = 4, // from one packet to the next that is chosen the distances are alike (NRED, Algorithm 5.2)
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

// The fields of a packet that matter.
struct fields {
	__u8 ecn;       // of the IP header
	__u8 is_data;   // TCP or UDP, and no message
};

INLINE int read_fields(struct __sk_buff *packet, struct fields *found, int ports)
{
	__u8 protocol;
	__u32 transport;
	found->is_data = 0;
	if (packet->protocol == NETWORK(ETH_P_IP)) {
		struct iphdr ip;
		if (!COPY(packet, ETH_HLEN, ip))
			return 0;
		found->ecn = ip.tos & 3;
		protocol = ip.protocol;
		transport = ETH_HLEN + 4 * ip.ihl;
		// A later fragment has no ports: of a datagram that may be a message none is dropped.
		if (ip.frag_off & NETWORK(0x1fff)) {
			found->is_data = protocol == IPPROTO_TCP;
			return 1;
		}
	} else if (packet->protocol == NETWORK(ETH_P_IPV6)) {
		struct ipv6hdr ip;
		if (!COPY(packet, ETH_HLEN, ip))
			return 0;
		found->ecn = ip.flow_lbl[0] >> 4 & 3;
		protocol = ip.nexthdr;
		transport = ETH_HLEN + sizeof(ip);
	} else {
		return 0;
	}
	if (!ports)
		return 1;
	if (protocol == IPPROTO_TCP) {
		found->is_data = 1;
	} else if (protocol == IPPROTO_UDP) {
		__u16 port;
		found->is_data = load_bytes(packet, transport + 2, &port, sizeof(port)) == 0 && !map_lookup(&messages, &port);
	}
	return 1;
}

// Is this packet chosen, with a probability of `numerator` by 2^32?
INLINE int chosen(const struct setting *set, __u32 direction)
{
	__u64 p = set->numerator, one = 1ULL << 32;
	if (!(set->actions & SPREAD))
		return p && random_u32() < p;
	__u32 *distance = map_lookup(&distances, &direction);
	if (!distance)
		return 0;
	if (p == 0) {
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
	int drops = set->actions & DROP;
	if (!read_fields(packet, &fields, drops))
		return TC_ACT_UNSPEC;
	__u32 segments = packet->gso_segs ? packet->gso_segs : 1;
	int able = fields.ecn != 0;
	count->packets += segments;
	count->bytes += packet->len - ETH_HLEN;
	if (able)
		count->able += segments;
	if (boot_clock() > set->until)
		return TC_ACT_UNSPEC;
	if (drops && !fields.is_data)
		return TC_ACT_UNSPEC;
	count->judged += segments;
	if (!chosen(set, direction))
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
