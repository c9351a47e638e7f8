"""How the timeline moves: states, conflicts, locks, markers, undo, and the metadata table's share of each."""
