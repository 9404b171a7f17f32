"""Plots of networks and results, each a figure of matplotlib.

    from airfair import plots

    plots.network(scenario)                      # the map: links, carrier sense, routes
    plots.throughput(recording)                  # goodput of each flow over time
    plots.windows(recording)                     # congestion windows
    plots.queues(recording)                      # packets in each queue
    plots.differentials(recording)               # queue differentials of a flow's hops (DiffQ)
    plots.batches(recording)                     # what nodes hold of a flow's batches (MORE, ExOR)
    plots.channel(recording)                     # the five radio states of each node
    plots.timeline(recording, "20 s", "20.03 s") # the air, a lane for each station
    plots.bars(rows)                             # goodput of each flow, scheme by scheme, 95 % intervals
    plots.scatter(rows)                          # total goodput against Jain's index
    plots.fairness(rows)                         # Jain's index against the length of the window
    plots.drops(rows)                            # packets dropped, by reason
    plots.channel_shares(rows)                   # the five radio states of each node, scheme by scheme
    plots.cdf(runs)                              # goodput of all flows
    plots.save(figure, "out/x.svg")              # .svg, .png or .pdf, whole or not at all

Every function takes `ax=` to draw into axes of the caller's, and returns the figure. Figures are made without
pyplot: notebooks show them, nothing needs a display, nothing has to be closed. Flows have the same look in
every plot of a scenario, schemes in every plot.
"""

from .batches import batches
from .differentials import differentials
from .over_time import queues, throughput, windows
from .radio import channel
from .seeds import channel_shares, drops, fairness
from .statistics import bars, cdf, scatter
from .style import Plot, save
from .timeline import timeline
from .world import network

__all__ = [
    "Plot",
    "bars",
    "batches",
    "cdf",
    "channel",
    "channel_shares",
    "differentials",
    "drops",
    "fairness",
    "network",
    "queues",
    "save",
    "scatter",
    "throughput",
    "timeline",
    "windows",
]
