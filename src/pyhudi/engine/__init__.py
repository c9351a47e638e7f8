"""Who carries out tasks: this process, or Spark."""
