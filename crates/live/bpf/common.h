// Parts that the programs in the kernel share.

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>
#include <linux/tcp.h>
#include <linux/udp.h>

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
	__u32 zero = 0;
	const struct ports *ports = map_lookup(&messages, &zero);
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

// The fields of a packet that matter.
struct fields {
	__u8 ecn;       // of the IP header
	__u8 is_data;   // TCP or UDP, and no message
	__u8 is_message;
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
		found->is_message = is_message(udp.dest);
		found->is_data = !found->is_message;
		found->hash = mix(from, udp.source) + mix(to, udp.dest) + IPPROTO_UDP;
	}
}

// Reads the headers of a packet; `deep`: also what is behind that of IP.
INLINE int read_fields(struct __sk_buff *packet, struct fields *found, int deep)
{
	found->is_data = 0;
	found->is_answer = 0;
	found->is_message = 0;
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
		__u8 type;
		if (ip.nexthdr == IPPROTO_ICMPV6 && COPY(packet, ETH_HLEN + sizeof(ip), type))
			found->is_message = is_discovery(type);
		read_transport(packet, ip.nexthdr, 1, ETH_HLEN + sizeof(ip), from, to, found);
	} else {
		return 0;
	}
	return 1;
}

// The slot of a flow, new with this factor and this link; none if both of its places are taken.
INLINE struct slot *slot_of(__u32 hash, __u32 factor, __u32 link)
{
	if (!hash)
		hash = 1;
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
	free->factor = factor;
	free->link = link;
	free->hash = hash;
	return free;
}

// The kernel's licence names: no function that is called is for the GPL only.
char _license[] SECTION("license") = "Dual MIT/GPL";
