"""LBM: V. A. Siris and D. Triantafyllidou, "Seamless Congestion Control over Wired and Wireless IEEE 802.11
Networks", ICS-FORTH."""
