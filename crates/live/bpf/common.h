// Parts that the programs in the kernel share.

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>
#include <linux/tcp.h>
#include <linux/udp.h>

// Programs have to be those that the kernel allows to a daemon without CAP_PERFMON. Until Linux 6.16 it follows branches that cannot be
// taken, too, as a processor may that guesses, and refuses the program if anything there is not allowed. packaging/hwsim tries it with old
// kernels.

#define SECTION(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))
#define __uint(name, value) int(*name)[value]
#define __type(name, value) typeof(value) *name

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NETWORK(value) __builtin_bswap16(value)
#else
#define NETWORK(value) (value)
#endif

static void *(*map_lookup)(void *map, const void *key) = (void *)BPF_FUNC_map_lookup_elem;
static __u64 (*boot_clock)(void) = (void *)BPF_FUNC_ktime_get_boot_ns;
static long (*load_bytes)(const void *packet, __u32 offset, void *to, __u32 bytes) = (void *)BPF_FUNC_skb_load_bytes;

// The value of a map with this key, or null. The key is the second half of a place on the stack: a first half the kernel takes for a
// register that is kept there, and then refuses another key at this place (seen on 6.1).
INLINE void *value_at(void *map, __u32 key)
{
	struct {
		__u32 unused, key;
	} __attribute__((aligned(8))) place;
	asm volatile("" : : "r"(&place));
	place.key = key;
	return map_lookup(map, &place.key);
}

// UDP ports of messages, which no scheme drops or holds up: those of the daemon and of routing protocols, in network order.
struct ports {
	__u16 of[8];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ports);
} messages SECTION(".maps");

INLINE int is_message(__u16 port)
{
	const struct ports *ports = value_at(&messages, 0);
	int found = 0;
	for (int at = 0; ports && at < 8; at++)
		found |= port == ports->of[at];
	return found;
}

// Copies bytes of a packet from an offset, with a call only if they are in another part of its memory. No pointer is compared but with the
// end: the kernel allows no more to a daemon without CAP_PERFMON.
#define COPY(packet, offset, to) \
	({ \
		const void *data_ = (const void *)(long)(packet)->data, *end_ = (const void *)(long)(packet)->data_end; \
		int copied_ = 1; \
		if (data_ + (offset) + sizeof(to) <= end_) \
			__builtin_memcpy(&(to), data_ + (offset), sizeof(to)); \
		else \
			copied_ = load_bytes(packet, offset, &(to), sizeof(to)) == 0; \
		copied_; \
	})

// True of ICMPv6 by which nodes find routers and one another's hardware addresses (RFC 4861).
INLINE int is_discovery(__u8 type)
{
	return type >= 133 && type <= 137;
}

// A hash of some words, and of a packet's addresses: a flow in one direction.
INLINE __u32 mix(__u32 hash, __u32 word)
{
	hash = (hash ^ word) * 0x9e3779b1;
	return hash ^ hash >> 15;
}

// A flow in both directions, in a table that the daemon reads and writes in its own memory. A flow has its place at one of two slots; where
// both are taken it has none.
struct slot {
	__u32 hash;   // 0: free
	__u32 factor; // of probabilities, by 2^16
	__u32 counts[4]; // of its packets so far; each program has its own
	__u32 link;      // a number of its link, if the program knows one
	__u32 reserved;
};

#define SLOTS 4096

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct slot);
} slots SECTION(".maps");

// The fields of a packet that matter, in one word: the two bits of ECN, these, and above them the hash of the flow, the same in both
// directions. No structure: a field that only some branches set is one that was never set, where the kernel follows branches that cannot be
// taken.
enum {
	ECN = 3,
	IS_IP = 4,
	IS_DATA = 8, // TCP or UDP, and no message
	IS_MESSAGE = 16,
	IS_ANSWER = 32, // TCP without data
};

INLINE __u32 hash_of(__u64 fields)
{
	return fields >> 32;
}

// As COPY; where the offset varies with a call: the kernel allows a daemon without CAP_PERFMON no other way.
#define COPY_AT(packet, is_constant, offset, to) \
	((is_constant) ? COPY(packet, offset, to) : load_bytes(packet, offset, &(to), sizeof(to)) == 0)

// The fields of what is behind the IP header, of a packet whose addresses have these hashes.
INLINE __u64 transport_of(struct __sk_buff *packet, __u8 protocol, int is_constant, __u32 offset, __u32 from, __u32 to)
{
	__u64 hash, found;
	if (protocol == IPPROTO_TCP) {
		struct tcphdr tcp;
		if (!COPY_AT(packet, is_constant, offset, tcp))
			return IS_DATA;
		found = packet->len <= offset + 4 * tcp.doff ? IS_DATA | IS_ANSWER : IS_DATA;
		// A sum is the same in both directions.
		hash = (__u32)(mix(from, tcp.source) + mix(to, tcp.dest));
	} else if (protocol == IPPROTO_UDP) {
		struct udphdr udp;
		if (!COPY_AT(packet, is_constant, offset, udp))
			return 0;
		found = is_message(udp.dest) ? IS_MESSAGE : IS_DATA;
		hash = (__u32)(mix(from, udp.source) + mix(to, udp.dest) + IPPROTO_UDP);
	} else {
		return 0;
	}
	return found | hash << 32;
}

// The fields of a packet; `deep`: also those behind the IP header.
INLINE __u64 fields_of(struct __sk_buff *packet, int deep)
{
	if (packet->protocol == NETWORK(ETH_P_IP)) {
		struct iphdr ip;
		if (!COPY(packet, ETH_HLEN, ip))
			return 0;
		__u64 found = IS_IP | (ip.tos & ECN);
		if (!deep)
			return found;
		// A later fragment has no ports: of a datagram that may be a message none is dropped.
		if (ip.frag_off & NETWORK(0x1fff))
			return ip.protocol == IPPROTO_TCP ? found | IS_DATA : found;
		__u32 from = mix(0, ip.saddr), to = mix(0, ip.daddr);
		if (ip.ihl == 5)
			return found | transport_of(packet, ip.protocol, 1, ETH_HLEN + sizeof(ip), from, to);
		return found | transport_of(packet, ip.protocol, 0, ETH_HLEN + 4 * ip.ihl, from, to);
	}
	if (packet->protocol == NETWORK(ETH_P_IPV6)) {
		struct ipv6hdr ip;
		if (!COPY(packet, ETH_HLEN, ip))
			return 0;
		__u64 found = IS_IP | (ip.flow_lbl[0] >> 4 & ECN);
		if (!deep)
			return found;
		__u32 from = 0, to = 0;
		for (int at = 0; at < 4; at++) {
			from = mix(from, ip.saddr.in6_u.u6_addr32[at]);
			to = mix(to, ip.daddr.in6_u.u6_addr32[at]);
		}
		__u8 type;
		if (ip.nexthdr == IPPROTO_ICMPV6)
			return COPY(packet, ETH_HLEN + sizeof(ip), type) && is_discovery(type) ? found | IS_MESSAGE : found;
		return found | transport_of(packet, ip.nexthdr, 1, ETH_HLEN + sizeof(ip), from, to);
	}
	return 0;
}

// Adds to a word of a value of a map. Each branch computes its own pointer: the compiler would make one addition of them, of an offset that
// differs by branch, which the kernel refuses.
#define ADD(word, amount) \
	({ \
		__u32 *word_ = &(word); \
		asm volatile("" : "+r"(word_)); \
		__sync_fetch_and_add(word_, amount); \
	})

// The number of the slot of a flow, new with this factor and this link; SLOTS, which is none, if both of its places are taken.
//
// A number, and no pointer that a caller compares with null again: where the kernel follows branches that cannot be taken, that is any
// number.
INLINE __u32 slot_of(__u32 hash, __u32 factor, __u32 link)
{
	if (!hash)
		hash = 1;
	__u32 one = hash & (SLOTS - 1), other = hash >> 12 & (SLOTS - 1);
	struct slot *first = value_at(&slots, one);
	if (!first)
		return SLOTS;
	if (first->hash == hash)
		return one;
	__u32 is_first_free = !first->hash;
	struct slot *second = value_at(&slots, other);
	if (!second)
		return SLOTS;
	if (second->hash == hash)
		return other;
	if (!is_first_free && second->hash)
		return SLOTS;
	if (!is_first_free)
		one = other;
	struct slot *free = value_at(&slots, one);
	if (!free)
		return SLOTS;
	free->factor = factor;
	free->link = link;
	free->hash = hash;
	return one;
}

// The kernel's licence names: no function that is called is for the GPL only.
char _license[] SECTION("license") = "Dual MIT/GPL";
