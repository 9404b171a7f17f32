"""End-to-end tests: what a user types and calls, against the compiled package."""
