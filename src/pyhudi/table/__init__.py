"""The table as it stands: properties, timeline, which files are visible, what a query needs. No verbs."""
