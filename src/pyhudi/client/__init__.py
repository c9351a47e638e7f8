"""The order in which things happen around a read, a write, a service."""
