// The part of the airtime allocator in the kernel: outgoing packets of one device, counted by next hop and by flow, and sorted into the
// classes of its queueing discipline.
//
// The daemon writes into `links` which neighbours there are and which class each has, and into `until` how long the classes hold. After
// that moment, by the boot clock, no packet is sorted, and all leave at once: a daemon that has stopped does no harm.

#include "common.h"

// A neighbour, by the hardware address with which the headers of packets name their next hop. It has its place at one of two slots by a
// hash of the address, which the daemon chooses.
struct link {
	__u32 address_begin;
	__u16 address_end;
	__u16 minor; // of its class; 0: none
	__u32 index; // of its counters
	__u32 is_there;
};

#define LINK_SLOTS 1024

// Packets to a neighbour so far.
struct link_count {
	__u64 batches; // as the queueing discipline sees them
	__u64 packets; // segments of IP, those of a batch apart
	__u64 bytes;   // of IP
	__u64 sorted;  // packets that went to a class
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LINK_SLOTS);
	__type(key, __u32);
	__type(value, struct link);
} links SECTION(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, struct link_count);
} link_counts SECTION(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} until SECTION(".maps");

INLINE const struct link *link_to(__u32 begin, __u16 end)
{
	__u32 hash = mix(mix(0, begin), end);
	__u32 one = hash & (LINK_SLOTS - 1), other = hash >> 10 & (LINK_SLOTS - 1);
	const struct link *link = value_at(&links, one);
	if (link && link->is_there && link->address_begin == begin && link->address_end == end)
		return link;
	link = value_at(&links, other);
	if (link && link->is_there && link->address_begin == begin && link->address_end == end)
		return link;
	return 0;
}

// Counts a packet for its flow: packets and bytes of data, packets and bytes of acknowledgements.
INLINE void count_flow(__u64 fields, __u32 index, __u32 packets, __u32 bytes)
{
	// The flow to another neighbour is another one.
	__u32 at = slot_of(mix(hash_of(fields), index), 0, index);
	struct slot *slot = value_at(&slots, at);
	if (!slot)
		return;
	if (fields & IS_ANSWER) {
		ADD(slot->counts[2], packets);
		ADD(slot->counts[3], bytes);
	} else {
		ADD(slot->counts[0], packets);
		ADD(slot->counts[1], bytes);
	}
}

SECTION("classifier")
int airfair_links(struct __sk_buff *packet)
{
	struct {
		__u32 begin;
		__u16 end;
	} __attribute__((packed)) to;
	// Without these no packet finds its way: however much waits, they leave at once.
	if (packet->protocol == NETWORK(ETH_P_ARP) || packet->protocol == NETWORK(ETH_P_PAE))
		return TC_ACT_UNSPEC;
	if (!COPY(packet, 0, to))
		return TC_ACT_UNSPEC;
	const struct link *link = link_to(to.begin, to.end);
	if (!link)
		return TC_ACT_UNSPEC;
	__u32 index = link->index;
	struct link_count *count = value_at(&link_counts, index);
	if (!count)
		return TC_ACT_UNSPEC;
	__u64 fields = fields_of(packet, 1);
	if (fields & IS_MESSAGE)
		return TC_ACT_UNSPEC;
	__u32 packets = packet->gso_segs ? packet->gso_segs : 1, bytes = packet->len - ETH_HLEN;
	count->batches++;
	count->packets += packets;
	count->bytes += bytes;
	if (fields & IS_DATA)
		count_flow(fields, index, packets, bytes);
	__u64 *holds = value_at(&until, 0);
	if (!link->minor || !holds || boot_clock() > *holds)
		return TC_ACT_UNSPEC;
	count->sorted += packets;
	packet->tc_classid = link->minor;
	return TC_ACT_OK;
}
