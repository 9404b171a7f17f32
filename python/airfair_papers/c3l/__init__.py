"""C3L: A. Raniwala, P. De, S. Sharma, R. Krishnan, T. Chiueh, "Globally Fair Radio Resource Allocation for
Wireless Mesh Networks"."""
