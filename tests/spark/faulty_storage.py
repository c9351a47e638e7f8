"""A local storage that fails in Spark tasks, each time right after a data file was written."""

import os

from pyspark import TaskContext

from pyhudi.errors import StorageError
from pyhudi.storage import LocalStorage


class FaultyStorage(LocalStorage):
    """`how`: "raise" or "die" (the whole worker process) in the first try at a task, or raise "always"."""

    __slots__ = ("how",)

    def __init__(self, root, how):
        super().__init__(root, durable=False)
        self.how = how

    def create(self, path, content):
        super().create(path, content)
        task = TaskContext.get()
        is_data = not path.startswith(".hoodie/") and not path.endswith(".hoodie_partition_metadata")
        if task is None or not is_data or (self.how != "always" and task.attemptNumber() > 0):
            return
        if self.how == "die":
            os._exit(7)
        raise StorageError(f"{path}: the network went away; retry")
