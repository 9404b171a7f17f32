# %% [markdown]
# # Why does the middle flow starve?
#
# A first hour with Airfair: draw a network, run it, find out why one of its flows starves, compare schemes,
# change the network, and make a small study.
#
# This file is a notebook: VS Code runs it cell by cell, Jupyter opens it with
# [jupytext](https://jupytext.readthedocs.io). The tests run every cell.

# %%
from pathlib import Path

import airfair
from airfair import plots

# The folder of examples, from any folder of the checkout.
here = Path.cwd()
scenarios = next(folder / "scenarios" for folder in (here, *here.parents) if (folder / "scenarios").is_dir())

# %% [markdown]
# ## A scenario
#
# A scenario is a file: radios, nodes, flows. This one has three TCP transfers side by side, each over one
# hop, no two with a node in common.

# %%
scenario = airfair.Scenario.read(scenarios / "three-pairs.toml")
print(scenario.description)
scenario

# %%
plots.network(scenario)

# %% [markdown]
# A solid line: both ends can decode each other's frames (up to 367 m). A dotted line: they only sense each
# other's signals (up to 670 m). Neighbouring pairs are 350 m apart. The outer pairs are 700 m apart: they
# have no line, since neither senses the other.
#
# The same as data, for your own questions:

# %%
network = airfair.network(scenario)
node = [radio["node"] for radio in network["radios"]]
heard_by_a1 = {node[p["sender"]]: p["receives"] for p in network["pairs"] if node[p["hearer"]] == "a1"}
heard_by_a1

# %% [markdown]
# ## A run
#
# One run is 60 simulated seconds, the first ten of which are not counted. The result is a dict, units in
# the names of its keys. The same scenario, scheme and seed give the same numbers, on every machine.

# %%
result = airfair.run(scenario, seed=1)
goodput = {flow["id"]: round(flow["goodput_bps"] / 1000, 1) for flow in result["flows"]}
goodput

# %% [markdown]
# About 730 kbit/s for each of the outer flows and ten or twenty for the middle one. A *recording* has
# values over time: the same run, sampled every half second.

# %%
recording = airfair.record(scenario, seed=1, interval="500 ms")
plots.throughput(recording)

# %%
recording.pandas("flow_series").query("flow == 'middle'").head()

# %% [markdown]
# ## Why
#
# Every radio is in one of five states at any time: it transmits, it receives, it senses energy that it
# cannot receive (busy), others have reserved the medium (NAV), or it is idle.

# %%
plots.channel(recording)

# %% [markdown]
# The sender of the middle flow, `a2`, finds the medium busy nearly all the time: it senses both outer
# pairs. They do not sense each other, so their transmissions overlap at random, and both are almost never
# silent at the same time. The outer senders find the medium free whenever their own pair is silent. No
# sender is greedy and nothing is broken: the flow starves because of flows whose packets never pass any of
# its nodes.
#
# TCP makes this worse. Many packets of the middle pair are lost, time-outs follow, and the window stays
# small:

# %%
plots.windows(recording)

# %%
plots.queues(recording)

# %% [markdown]
# The outer senders' queues (`a1`, `a3`) are full, the middle one's (`a2`) is not. So a scheme that observes
# only its own queue sees nothing at the node that starves, and nothing wrong at the nodes that cause this.
#
# ## Comparing schemes
#
# RED drops early where a queue grows. Every scheme runs with the same seeds; intervals are 95 % confidence
# intervals of the mean.

# %%
rows = airfair.compare(scenario, schemes=["droptail", "red"], seeds=range(1, 6))
plots.bars(rows)

# %% [markdown]
# The middle flow gains a few kbit/s at the cost of the others. The differences, paired by seed:

# %%
plots.bars(rows, difference=True)

# %%
plots.scatter(rows)

# %% [markdown]
# ## Changing the scenario
#
# Any key can be changed; its path is that of `--set` on the command line. The result is another scenario,
# which can be saved (`shorter.save("shorter.toml")`). Would a longer or a shorter queue help?

# %%
shorter = scenario.edited({"radio.queue_packets": 10})
longer = scenario.edited({"radio.queue_packets": 200})
by_queue = {
    name: airfair.compare(changed, schemes=["droptail"], seeds=range(1, 6))[0]
    for name, changed in {"10 packets": shorter, "66 packets": scenario, "200 packets": longer}.items()
}
plots.bars(by_queue, "min_goodput_bps")


# %% [markdown]
# The intervals overlap: the queue is not the cause.
#
# ## A study
#
# If the distances are the cause, moving the pairs must change the result. The pairs are moved closer
# together or farther apart, and everything else stays.


# %%
def pairs_apart(metres: int) -> airfair.Scenario:
    """The three pairs at another distance from each other, in short runs."""
    places = {
        f"node.{side}{pair}.position": [f"{metres * (pair - 1)} m", f"{y} m"]
        for pair in (1, 2, 3)
        for side, y in (("a", 0), ("b", 200))
    }
    return scenario.edited({**places, "duration": "30 s", "warmup": "5 s"})


by_distance = {
    f"{metres} m": airfair.compare(pairs_apart(metres), schemes=["droptail"], seeds=range(1, 4))[0]
    for metres in (300, 330, 350, 600, 700)
}
plots.bars(by_distance)

# %% [markdown]
# - At 300 m the outer pairs (600 m) sense each other: all three alternate, and the middle one gets its
#   share.
# - At 330 m they still do (660 m), but not crosswise: the middle one gets less.
# - At 350 m the outer pairs (700 m) do not sense each other, and the middle one starves.
# - At 700 m no pair senses another: each has the channel alone.
#
# Jain's index and the total in one picture:

# %%
plots.scatter(by_distance)

# %% [markdown]
# Next steps: run a study of many parameters on all cores or a cluster, and continue after any interruption
# ([sweeps](how-to/sweeps.md)), keep a run in a folder ([results](how-to/results.md)), draw other plots
# ([plots](how-to/plots.md)), repeat the experiments of papers ([papers](how-to/papers.md)), or bring in the
# map of a real network ([import](how-to/import.md)).
