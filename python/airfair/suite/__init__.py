"""The suite: schemes judged on scenes, beside what the air allows, by one rule.

`scenes` reads the suite's file, `heldout` draws worlds that nobody tunes on, `carried` finds the part of the
optimum that constant rates can carry, `reference` keeps what each scene is judged by, `work` runs what is
missing, `judging` compares with drop-tail and applies the rule, `show` prints the table.
"""
