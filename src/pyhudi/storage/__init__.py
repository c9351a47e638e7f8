"""Doors to where files live."""

from pyhudi.storage.base import Content, FileInfo, Listing, Storage, content_bytes, joined, safe_path
from pyhudi.storage.local import LocalStorage, open_storage

__all__ = [
    "Content",
    "FileInfo",
    "Listing",
    "LocalStorage",
    "Storage",
    "content_bytes",
    "joined",
    "open_storage",
    "safe_path",
]
