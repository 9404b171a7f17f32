// The part of the airtime allocator in the kernel: outgoing packets of one device, counted by next hop and by flow, and sorted into the
// classes of its queueing discipline.
//
// The daemon writes into `links` which neighbours there are and which class each has, and into `until` how long the classes hold. After that
// moment, by the boot clock, no packet is sorted, and all leave at once: a daemon that has stopped does no harm.

#include "common.h"

static long (*map_update)(void *map, const void *key, const void *value, __u64 flags) = (void *)BPF_FUNC_map_update_elem;

// A hardware address, by which the headers of packets name the next hop.
struct address {
	__u8 bytes[ETH_ALEN];
	__u8 zero[2];
};

struct link {
	__u32 index; // of its counters
	__u32 minor; // of its class; 0: none
};

// Packets to a neighbour so far.
struct link_count {
	__u64 batches; // as the queueing discipline sees them
	__u64 packets; // segments of IP, those of a batch apart
	__u64 bytes;   // of IP
	__u64 sorted;  // packets that went to a class
};

// A flow to a neighbour.
struct flow {
	__u32 hash;    // of addresses, protocol and ports
	__u16 index;   // of the neighbour's counters
	__u16 answers; // 1: segments of TCP without data
};

struct flow_count {
	__u64 packets;
	__u64 bytes;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, struct address);
	__type(value, struct link);
} links SECTION(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, struct link_count);
} link_counts SECTION(".maps");

// Flows since the daemon has read and removed them. Of too many the one that was silent for longest goes.
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct flow);
	__type(value, struct flow_count);
} flows SECTION(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} until SECTION(".maps");

// The fields of a packet that matter.
struct fields {
	__u32 hash;
	__u8 is_flow;   // TCP or UDP with its ports
	__u8 is_answer; // TCP without data
	__u8 is_message;
};

// Reads the ports at an offset, of a packet that ends `length` bytes behind it.
INLINE void read_ports(struct __sk_buff *packet, __u8 protocol, __u32 offset, __u32 length, struct fields *found)
{
	__u32 ports;
	if (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP)
		return;
	if (load_bytes(packet, offset, &ports, sizeof(ports)))
		return;
	found->is_flow = 1;
	found->hash = mix(mix(found->hash, ports), protocol);
	if (protocol == IPPROTO_TCP) {
		__u8 words;
		if (load_bytes(packet, offset + 12, &words, sizeof(words)) == 0)
			found->is_answer = length <= 4u * (words >> 4);
	} else {
		__u16 port;
		if (load_bytes(packet, offset + 2, &port, sizeof(port)) == 0)
			found->is_message = map_lookup(&messages, &port) != 0;
	}
}

INLINE void read_fields(struct __sk_buff *packet, struct fields *found)
{
	if (packet->protocol == NETWORK(ETH_P_IP)) {
		struct iphdr ip;
		if (!COPY(packet, ETH_HLEN, ip))
			return;
		found->hash = mix(mix(0, ip.saddr), ip.daddr);
		// A later fragment has no ports.
		if (!(ip.frag_off & NETWORK(0x1fff))) {
			__u32 header = 4 * ip.ihl;
			read_ports(packet, ip.protocol, ETH_HLEN + header, packet->len - ETH_HLEN - header, found);
		}
	} else if (packet->protocol == NETWORK(ETH_P_IPV6)) {
		struct ipv6hdr ip;
		if (!COPY(packet, ETH_HLEN, ip))
			return;
		__u32 hash = 0;
		for (int at = 0; at < 4; at++)
			hash = mix(mix(hash, ip.saddr.in6_u.u6_addr32[at]), ip.daddr.in6_u.u6_addr32[at]);
		found->hash = hash;
		read_ports(packet, ip.nexthdr, ETH_HLEN + sizeof(ip), packet->len - ETH_HLEN - sizeof(ip), found);
	}
}

INLINE void count_flow(const struct link *link, const struct fields *fields, __u32 packets, __u32 bytes)
{
	struct flow flow = {.hash = fields->hash, .index = link->index, .answers = fields->is_answer};
	struct flow_count *count = map_lookup(&flows, &flow);
	if (count) {
		__sync_fetch_and_add(&count->packets, packets);
		__sync_fetch_and_add(&count->bytes, bytes);
	} else {
		struct flow_count first = {.packets = packets, .bytes = bytes};
		map_update(&flows, &flow, &first, BPF_ANY);
	}
}

SECTION("classifier")
int airfair_links(struct __sk_buff *packet)
{
	struct address address = {};
	__u8 to[ETH_ALEN];
	if (!COPY(packet, 0, to))
		return TC_ACT_UNSPEC;
	__builtin_memcpy(address.bytes, to, sizeof(to));
	struct link *link = map_lookup(&links, &address);
	if (!link)
		return TC_ACT_UNSPEC;
	__u32 index = link->index;
	struct link_count *count = map_lookup(&link_counts, &index);
	if (!count)
		return TC_ACT_UNSPEC;
	struct fields fields = {};
	read_fields(packet, &fields);
	if (fields.is_message)
		return TC_ACT_UNSPEC;
	__u32 packets = packet->gso_segs ? packet->gso_segs : 1, bytes = packet->len - ETH_HLEN;
	count->batches++;
	count->packets += packets;
	count->bytes += bytes;
	if (fields.is_flow)
		count_flow(link, &fields, packets, bytes);
	__u32 zero = 0;
	__u64 *holds = map_lookup(&until, &zero);
	if (!link->minor || !holds || boot_clock() > *holds)
		return TC_ACT_UNSPEC;
	count->sorted += packets;
	packet->tc_classid = link->minor;
	return TC_ACT_OK;
}
