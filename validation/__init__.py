"""Airfair's validation: independent models, published numbers, and a report that compares them with the
simulator.

The models of this package (`phy`, `bianchi`, `slots`, `airtimes`, `queueing`) never import the simulator.
They state from the literature what a correct 802.11 DCF, or a correct queue, has to give. `reference` holds
published and peer numbers with their sources. `report` turns comparisons into rows; each file of `sections`
is one set of comparisons.

Run `python -m validation` from the root of the repository for every section, `python -m validation models`
for one.
"""
