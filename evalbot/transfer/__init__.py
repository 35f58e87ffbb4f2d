"""Transfer services: what was made elsewhere comes in, and whole runs go out and back in."""
