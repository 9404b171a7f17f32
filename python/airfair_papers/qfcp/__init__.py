"""QFCP: J. Pu and M. Hamdi, "Improving Quality of Service for Congestion Control in High-Speed
Wired-cum-Wireless Networks"."""
