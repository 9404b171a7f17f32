"""airfaird in emulated nodes beside the scheme that it carries, emulated and simulated."""
