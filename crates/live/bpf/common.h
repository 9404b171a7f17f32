// Parts that the programs in the kernel share.

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>

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

// UDP ports of messages, which no scheme drops or holds up: those of the daemon and of routing protocols.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u16);
	__type(value, __u8);
} messages SECTION(".maps");

// Copies bytes of a packet from an offset, with a call only if they are in another part of its memory. No pointer is compared but with the end: the
// kernel allows no more to a daemon without CAP_PERFMON.
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

// A hash of some words, and of a packet's addresses: a flow in one direction.
INLINE __u32 mix(__u32 hash, __u32 word)
{
	hash = (hash ^ word) * 0x9e3779b1;
	return hash ^ hash >> 15;
}

// The kernel's licence names: no function that is called is for the GPL only.
char _license[] SECTION("license") = "Dual MIT/GPL";
