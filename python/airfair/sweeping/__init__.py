"""Sweeps: one scenario with many parameters, schemes and seeds, over many processes or machines.

`study` reads the study, `plan` checks it and names every run, `worker` runs one, `pool` keeps processes
alive, `drive` goes through the plan, `dataset` keeps what is finished, `reading` reads it back.
"""
