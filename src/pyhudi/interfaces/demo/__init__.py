"""The whole story on a throw-away table, in chapters of a few seconds; needs neither Spark nor Java."""
