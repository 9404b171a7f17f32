"""`airfair emulate` beside `airfair run`: the same networks with real stacks, and simulated throughout."""
