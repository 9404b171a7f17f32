"""Experiments of papers, a folder a paper, a file an experiment.

A folder names its paper in its docstring. A file holds `EXPERIMENT`, an `airfair.paper.Experiment`, and lies
beside its scenario; its id is `folder/file`. `airfair paper` lists them, `airfair paper nred/fig2` runs one.
"""
