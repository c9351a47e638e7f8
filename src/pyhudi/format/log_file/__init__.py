"""Hudi's log files: blocks with headers. What a block's payload means is decided on another floor."""

from pyhudi.format.log_file.blocks import BlockKind, Header, LogBlock, read_blocks, write_block
from pyhudi.format.log_file.records import frame_records, record_frames

__all__ = ["BlockKind", "Header", "LogBlock", "frame_records", "read_blocks", "record_frames", "write_block"]
