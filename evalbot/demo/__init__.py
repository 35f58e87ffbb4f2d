"""The demo: real llama.cpp servers with real small models, started and stopped by evalbot."""
