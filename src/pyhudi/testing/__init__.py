"""The simulated machine: storage in memory, faults on cue, a clock and ids that repeat.

Nothing in the house imports it.
"""
