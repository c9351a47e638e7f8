"""One file group at a time: a slice to batches, batches to files, and the tasks that engines carry out."""
