"""TCP as the paper's simulator may have had it, as changes to the scenes of this folder.

The paper states NewReno, segments of 512 B and a buffer of 66 packets; the rest are QualNet's "default
values". The scenes have the TCP of ns-2, with which the known numbers for these topologies were measured;
this is the other reading. Figure 2 shows both.
"""

QUALNET = (
    # Buffers of 16384 B and delayed acknowledgements, as QualNet's scenario files have them. Initial window
    # and timers as in BSD, where its TCP is said to come from (not looked up): two ticks take 0.5 to 1 s.
    'tcp.initial_window="1 segment"',
    'tcp.window_limit="16384 B"',
    'tcp.receive_window="16384 B"',
    "tcp.window_scale=0",
    'tcp.delayed_ack={segments=2, timeout="200 ms"}',
    'tcp.min_rto="1 s"',
    'tcp.tick="500 ms"',
    'tcp.tick_mode="bsd"',
    "tcp.limited_transmit=false",
)
