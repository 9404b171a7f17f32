"""A. Warrier, S. Ha, P. Wason, I. Rhee, "DiffQ: Differential Backlog Congestion Control for Wireless
Multi-hop Networks", North Carolina State University."""
