"""The yardstick: the best rates that the air allows, by a model (`model`) or by a search in the simulator
(`search`)."""
