"""The yardstick: the best rates that the air allows, by a model (`model`) or searched in the simulator (`search`)."""
