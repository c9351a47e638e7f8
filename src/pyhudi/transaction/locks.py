"""The table's lock: the file that Hudi's FileSystemBasedLockProvider creates, with its owner written into it.

Java's own lock file is empty. Where an owner is provably dead, or unknown and expired, its lock is removed under a
claim: a file named after the lock's token, created if absent. Only the claim's holder removes that lock, and only after
it has read it once more; a token never comes back, so a claim that comes too late finds another lock and does nothing.
A claim whose holder died is removed in the same way, by a claim on the claim.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from pyhudi.clock import Clock, Ids, Owner
from pyhudi.configs import setting
from pyhudi.errors import FileExists, FileMissing, InternalError, LockTimeout, StorageError, Unsupported
from pyhudi.storage import Storage, joined, safe_path

CLAIM_FOLDER = ".hoodie/.pyhudi/locks"

_LOCK_NAME = "lock"
_RELEASE_ATTEMPTS = 3
_CLAIM_KEPT_MS = 24 * 3_600_000
_TOKEN = re.compile(r"[0-9A-Za-z-]{1,64}")


def _minutes(text: str) -> int:
    return int(text) * 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LockOptions:
    """How long to wait for the table's lock, and where it lies."""

    wait_ms: int = setting("hoodie.write.lock.wait_time_ms", 60_000, "How long to wait for the table's lock.")
    retry_ms: int = setting(
        "hoodie.write.lock.wait_time_ms_between_retry", 100, "How long to sleep between two attempts to lock."
    )
    expire_ms: int = setting(
        "hoodie.write.lock.filesystem.expire",
        0,
        "Minutes after which the lock of an unknown owner is taken over; 0 for never. All writers must agree on it.",
        read=_minutes,
    )
    folder: str = setting(
        "hoodie.write.lock.filesystem.path", ".hoodie", "Folder of the lock file; it must lie inside the table."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LockHolder:
    """What a lock file says; `owner` is None where a writer other than pyhudi made it."""

    token: str
    owner: Owner | None
    purpose: str
    since_ms: int


class TableLock:
    """One writer's hold on the table; not re-entrant."""

    def __init__(self, storage: Storage, clock: Clock, ids: Ids, options: LockOptions) -> None:
        self._storage = storage
        self._clock = clock
        self._ids = ids
        self._options = options
        self._path = _lock_path(storage, options.folder)
        self._token: str | None = None
        self._given_up: set[str] = set()

    @contextmanager
    def held(self, purpose: str) -> Iterator[TableLock]:
        """The lock for the length of a `with` block."""
        self.acquire(purpose)
        try:
            yield self
        finally:
            self.release()

    def acquire(self, purpose: str) -> None:
        """Wait for the lock and take it, or raise `LockTimeout` naming who has it."""
        if self._token is not None:
            raise InternalError(f"{self._where} is held by this writer already; release it before taking it again")
        token = self._ids.uuid()
        self._given_up.add(token)
        deadline_ms = self._clock.now_ms() + self._options.wait_ms
        while (holder := self._attempt(self._path, token, purpose)) is None or holder.token != token:
            if holder is not None and self._abandoned(holder) and self._remove(self._path, holder):
                self._sweep_claims()
                continue
            if self._clock.now_ms() >= deadline_ms:
                raise LockTimeout(self._waited_in_vain(holder))
            self._clock.sleep_ms(self._options.retry_ms)
        self._given_up.discard(token)
        self._token = token

    def still_held(self) -> bool:
        """Whether the lock file, read now, is the one that this writer made."""
        holder = self._holder(self._path)
        return self._token is not None and holder is not None and holder.token == self._token

    def release(self) -> None:
        """Give the lock back; a lock that has gone to somebody else is left alone.

        No error of the storage comes from here: what was done under the lock stands. After some attempts the file is
        left to this writer's next `acquire`, or to anybody's once this process has ended.
        """
        token, self._token = self._token, None
        if token is None:
            return
        self._given_up.add(token)
        for _ in range(_RELEASE_ATTEMPTS):
            try:
                self._give_back(token)
            except StorageError:
                self._clock.sleep_ms(self._options.retry_ms)
            else:
                self._given_up.discard(token)
                break

    def _give_back(self, token: str) -> None:
        holder = self._holder(self._path) if self._options.expire_ms else None
        if holder is not None and holder.token == token:
            self._remove(self._path, holder)
        else:
            self._delete_if(self._path, token)

    @property
    def _where(self) -> str:
        return f"the lock {joined(self._storage.uri, self._path)}"

    def _attempt(self, path: str, token: str, purpose: str) -> LockHolder | None:
        """Create the file if absent and tell who has it now; None if it went in between."""
        mine = LockHolder(token=token, owner=self._ids.owner(), purpose=purpose, since_ms=self._clock.now_ms())
        try:
            self._storage.create(path, _print_holder(mine))
        except FileExists:
            return self._holder(path)
        except StorageError:
            # The error may hide a success: the file decides.
            holder = self._holder(path)
            if holder is None:
                raise
            return holder
        return mine

    def _holder(self, path: str) -> LockHolder | None:
        try:
            content = self._storage.read(path)
        except FileMissing:
            return None
        named = _parse_holder(content)
        if named is not None:
            return named
        found = self._storage.stat(path)
        if found is None:
            return None
        token = f"unnamed-{found.modified_ms}-{found.size}"
        return LockHolder(token=token, owner=None, purpose="", since_ms=found.modified_ms)

    def _abandoned(self, holder: LockHolder) -> bool:
        """Nobody will ever release it; false for every owner that may live, unless an expiry is set."""
        if holder.token in self._given_up:
            return True
        owner = holder.owner
        if owner is not None and owner.host == self._ids.owner().host:
            return self._ids.is_dead(owner)
        return 0 < self._options.expire_ms < self._clock.now_ms() - holder.since_ms

    def _remove(self, path: str, holder: LockHolder) -> bool:
        """Delete this holder's file and no other; False while somebody else is about to."""
        claim, token = f"{CLAIM_FOLDER}/{holder.token}", self._ids.uuid()
        rival = self._attempt(claim, token, f"remove {path}")
        if rival is None:
            return False
        if rival.token != token:
            return self._abandoned(rival) and self._remove(claim, rival)
        try:
            self._delete_if(path, holder.token)
        finally:
            self._delete_if(claim, token)
        return True

    def _delete_if(self, path: str, token: str) -> None:
        holder = self._holder(path)
        if holder is not None and holder.token == token:
            self._storage.delete(path)

    def _sweep_claims(self) -> None:
        """Claims that a crash left; a claim is needed for moments, and none is older than its lock."""
        oldest_ms = self._clock.now_ms() - _CLAIM_KEPT_MS
        for claim in self._storage.list(CLAIM_FOLDER).files:
            if claim.modified_ms < oldest_ms:
                self._storage.delete(claim.path)

    def _waited_in_vain(self, holder: LockHolder | None) -> str:
        return (
            f"{self._where} was not to be had within {self._options.wait_ms} ms; it is held by "
            f"{_described(holder, self._clock.now_ms())}. Retry later; if that writer is gone for good, delete the file"
        )


def _described(holder: LockHolder | None, now_ms: int) -> str:
    if holder is None:
        return "changing owners"
    who = f"process {holder.owner.pid} on {holder.owner.host}" if holder.owner else "a writer without a name (Java?)"
    why = f", to {holder.purpose}" if holder.purpose else ""
    return f"{who}, since {(now_ms - holder.since_ms) / 1000:.1f} s{why}"


def _print_holder(holder: LockHolder) -> bytes:
    return json.dumps(asdict(holder)).encode()


def _parse_holder(content: bytes) -> LockHolder | None:
    """The holder that pyhudi wrote; None for the lock of any other writer."""
    try:
        fields = json.loads(content)
        owner = fields["owner"]
        holder = LockHolder(
            token=fields["token"],
            owner=Owner(host=owner["host"], pid=int(owner["pid"]), started=int(owner["started"]), token=owner["token"]),
            purpose=str(fields["purpose"]),
            since_ms=int(fields["since_ms"]),
        )
    except (ValueError, KeyError, TypeError):
        return None
    return holder if _TOKEN.fullmatch(str(holder.token)) else None


def _lock_path(storage: Storage, folder: str) -> str:
    inside = folder.removeprefix("file://").rstrip("/").removeprefix(f"{storage.uri}/")
    if inside.startswith("/") or "://" in inside:
        raise Unsupported(
            f"the lock folder {folder!r} lies outside the table {storage.uri}; pyhudi locks inside the table only: "
            "set a folder below it for all writers"
        )
    return joined(safe_path(inside), _LOCK_NAME)
