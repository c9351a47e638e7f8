"""Payload class, merge mode and ordering fields in hoodie.properties -> how records of one key merge."""

from __future__ import annotations

from enum import StrEnum


class MergeMode(StrEnum):
    """Which of two records with one key wins."""

    COMMIT_TIME_ORDERING = "COMMIT_TIME_ORDERING"
    EVENT_TIME_ORDERING = "EVENT_TIME_ORDERING"
    CUSTOM = "CUSTOM"
