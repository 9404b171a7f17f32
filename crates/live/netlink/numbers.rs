//! Numbers of the kernel's interface, with the names that its headers give them.
//!
//! Sources: `linux/netlink.h`, `linux/genetlink.h`, `linux/nl80211.h`, `linux/rtnetlink.h`, `linux/if_link.h`, `linux/if.h`,
//! `linux/gen_stats.h`, `linux/pkt_sched.h`.

/// Defines constants of one type.
macro_rules! numbers {
    ($type:ty: $($name:ident = $value:expr),+ $(,)?) => {
        $(pub(crate) const $name: $type = $value;)+
    };
}

// linux/netlink.h
numbers! { u16: NLM_F_ACK_TLVS = 0x200, NLM_F_CAPPED = 0x100, NLMSGERR_ATTR_MSG = 1 }

// linux/genetlink.h
numbers! { u16: GENL_ID_CTRL = 16, CTRL_ATTR_FAMILY_ID = 1, CTRL_ATTR_FAMILY_NAME = 2 }
numbers! { u8: CTRL_CMD_NEWFAMILY = 1, CTRL_CMD_GETFAMILY = 3 }

// enum nl80211_commands
numbers! { u8:
    NL80211_CMD_GET_INTERFACE = 5,
    NL80211_CMD_NEW_INTERFACE = 7,
    NL80211_CMD_GET_STATION = 17,
    NL80211_CMD_NEW_STATION = 19,
    NL80211_CMD_GET_SURVEY = 50,
    NL80211_CMD_NEW_SURVEY_RESULTS = 51,
}

// enum nl80211_attrs
numbers! { u16:
    NL80211_ATTR_WIPHY = 1,
    NL80211_ATTR_IFINDEX = 3,
    NL80211_ATTR_IFNAME = 4,
    NL80211_ATTR_IFTYPE = 5,
    NL80211_ATTR_MAC = 6,
    NL80211_ATTR_STA_INFO = 21,
    NL80211_ATTR_WIPHY_FREQ = 38,
    NL80211_ATTR_SURVEY_INFO = 84,
    NL80211_ATTR_WIPHY_TX_POWER_LEVEL = 98,
    NL80211_ATTR_CHANNEL_WIDTH = 159,
}

// enum nl80211_survey_info
numbers! { u16:
    NL80211_SURVEY_INFO_FREQUENCY = 1,
    NL80211_SURVEY_INFO_NOISE = 2,
    NL80211_SURVEY_INFO_IN_USE = 3,
    NL80211_SURVEY_INFO_TIME = 4,
    NL80211_SURVEY_INFO_TIME_BUSY = 5,
    NL80211_SURVEY_INFO_TIME_EXT_BUSY = 6,
    NL80211_SURVEY_INFO_TIME_RX = 7,
    NL80211_SURVEY_INFO_TIME_TX = 8,
    NL80211_SURVEY_INFO_TIME_SCAN = 9,
    NL80211_SURVEY_INFO_TIME_BSS_RX = 11,
}

// enum nl80211_sta_info
numbers! { u16:
    NL80211_STA_INFO_INACTIVE_TIME = 1,
    NL80211_STA_INFO_RX_BYTES = 2,
    NL80211_STA_INFO_TX_BYTES = 3,
    NL80211_STA_INFO_SIGNAL = 7,
    NL80211_STA_INFO_TX_BITRATE = 8,
    NL80211_STA_INFO_RX_PACKETS = 9,
    NL80211_STA_INFO_TX_PACKETS = 10,
    NL80211_STA_INFO_TX_RETRIES = 11,
    NL80211_STA_INFO_TX_FAILED = 12,
    NL80211_STA_INFO_SIGNAL_AVG = 13,
    NL80211_STA_INFO_RX_BITRATE = 14,
    NL80211_STA_INFO_CONNECTED_TIME = 16,
    NL80211_STA_INFO_BEACON_LOSS = 18,
    NL80211_STA_INFO_RX_BYTES64 = 23,
    NL80211_STA_INFO_TX_BYTES64 = 24,
    NL80211_STA_INFO_EXPECTED_THROUGHPUT = 27,
    NL80211_STA_INFO_RX_DURATION = 32,
    NL80211_STA_INFO_TX_DURATION = 39,
}

// enum nl80211_rate_info
numbers! { u16: NL80211_RATE_INFO_BITRATE = 1, NL80211_RATE_INFO_BITRATE32 = 5 }

// enum nl80211_iftype
numbers! { u32:
    NL80211_IFTYPE_ADHOC = 1,
    NL80211_IFTYPE_STATION = 2,
    NL80211_IFTYPE_AP = 3,
    NL80211_IFTYPE_AP_VLAN = 4,
    NL80211_IFTYPE_MONITOR = 6,
    NL80211_IFTYPE_MESH_POINT = 7,
    NL80211_IFTYPE_P2P_CLIENT = 8,
    NL80211_IFTYPE_P2P_GO = 9,
    NL80211_IFTYPE_OCB = 11,
}

// linux/rtnetlink.h, linux/if_link.h, linux/if.h
numbers! { u16:
    RTM_NEWLINK = 16,
    RTM_GETLINK = 18,
    RTM_NEWQDISC = 36,
    RTM_DELQDISC = 37,
    RTM_NEWTCLASS = 40,
    RTM_DELTCLASS = 41,
    RTM_GETTCLASS = 42,
    IFLA_ADDRESS = 1,
    IFLA_IFNAME = 3,
    IFLA_MTU = 4,
    IFLA_LINKINFO = 18,
    IFLA_STATS64 = 23,
    IFLA_INFO_KIND = 1,
}
numbers! { u32: IFF_UP = 1, IFF_LOWER_UP = 1 << 16 }

// linux/rtnetlink.h, linux/gen_stats.h, linux/pkt_sched.h
numbers! { u16:
    TCA_KIND = 1,
    TCA_OPTIONS = 2,
    TCA_STATS2 = 7,
    TCA_STATS_QUEUE = 3,
    TCA_HTB_PARMS = 1,
    TCA_HTB_INIT = 2,
    TCA_HTB_DIRECT_QLEN = 5,
    TCA_HTB_RATE64 = 6,
    TCA_HTB_CEIL64 = 7,
    TCA_FQ_CODEL_FLOWS = 5,
}
numbers! { u32: TC_H_ROOT = 0xffff_ffff }

// asm-generic/errno.h
numbers! { i32:
    EPERM = 1,
    ENOENT = 2,
    EINTR = 4,
    EAGAIN = 11,
    ENOMEM = 12,
    EACCES = 13,
    EBUSY = 16,
    EEXIST = 17,
    ENODEV = 19,
    EINVAL = 22,
    EOPNOTSUPP = 95,
    EPROTONOSUPPORT = 93,
    EAFNOSUPPORT = 97,
    ENOBUFS = 105,
}
