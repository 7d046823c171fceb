"""Scans many rows with one long-lived process of guard, without a server."""

from __future__ import annotations

import collections
import json
import os
import queue
import shlex
import subprocess
import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from types import TracebackType
from typing import Any, Union

from .errors import GuardError

#: A text, or an object with ``text``, ``prompt`` and ``output``, ``messages`` or ``documents``, as in ``guard-scan scan --jsonl``.
Row = Union[str, dict[str, Any]]

#: The reply of guard: ``is_valid``, ``scanners``, ``sanitized_prompt`` and others, or ``error`` for a row that cannot be scanned.
Result = dict[str, Any]

#: Rows that are sent before their results are read. guard scans 16 at the same time.
_WINDOW = 64
#: A row that ends so many processes while they scan no other row gets an error.
_MAX_ENDS = 2
_STDERR_LINES = 20


class GuardProcessError(GuardError):
    """The process of guard cannot start: its command is missing, or its configuration is invalid."""


class _Ended(Exception):
    """The process has ended, or has not answered in time."""


class GuardProcess:
    """A process that scans rows: ``guard-scan scan --jsonl``.

    A process that ends is replaced. Its rows are scanned again, one by one, so that a row that crashes the process takes no other row with
    it. A row that cannot be scanned has an ``error``; the others are scanned. It is not safe for several threads.

    :param config: the file ``scanners.yml``. By default that of the folder, or guard's own.
    :param arguments: further options of ``guard-scan scan``, such as ``["--scanner", "PromptInjection"]``.
    :param command: how to start guard. By default the words of ``GUARD_SCAN_COMMAND``, or ``guard-scan``.
    :param threads: the threads for models. By default one for each processor.
    :param timeout: the seconds without any result after which the process is replaced.
    """

    def __init__(
        self,
        config: str | None = None,
        *,
        arguments: Sequence[str] = (),
        command: Sequence[str] | None = None,
        threads: int | None = None,
        timeout: float = 300,
    ) -> None:
        words = list(command) if command else shlex.split(os.environ.get("GUARD_SCAN_COMMAND", "guard-scan"))
        options = ["--config", config] if config else []
        self._command = [*words, "scan", "--jsonl", "--file", "-", *options, *arguments]
        self._environment = {**os.environ, **({"GUARD_ONNX_THREADS": str(threads)} if threads else {})}
        self._timeout = timeout
        self._running: _Running | None = None

    def scan(self, rows: Iterable[Row]) -> Iterator[Result]:
        """Yields one result for each row, in their order. Rows are read as they are needed.

        :raises GuardProcessError: guard cannot start.
        """
        remaining = iter(rows)
        while batch := list(islice(remaining, _WINDOW)):
            yield from self._scan_batch(batch)

    def close(self) -> None:
        """Ends the process."""
        if self._running:
            self._running.close()
        self._running = None

    def __enter__(self) -> GuardProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The id of the process, if it runs."""
        return self._running.process.pid if self._running else None

    def _scan_batch(self, batch: Sequence[Row]) -> list[Result]:
        lines = [_line_of(row) for row in batch]
        results = [_unreadable() if line is None else None for line in lines]
        open_rows = [index for index, line in enumerate(lines) if line is not None]
        try:
            self._exchange(lines, open_rows, results)
        except _Ended:
            for index in open_rows:
                if results[index] is None:
                    results[index] = self._scan_alone(lines[index])
        return [result if result is not None else _unreadable() for result in results]

    def _exchange(self, lines: Sequence[str | None], indexes: Sequence[int], results: list[Result | None]) -> None:
        running = self._start()
        try:
            running.send("".join(line for index in indexes if (line := lines[index]) is not None))
            for index in indexes:
                results[index] = running.receive(self._timeout)
        except _Ended:
            self.close()
            raise

    def _scan_alone(self, line: str | None) -> Result:
        for _ in range(_MAX_ENDS):
            results: list[Result | None] = [None]
            try:
                self._exchange([line], [0], results)
            except _Ended:
                continue
            if results[0] is not None:
                return results[0]
        return {"error": "the process of guard ends when it scans this row"}

    def _start(self) -> _Running:
        if self._running is None:
            self._running = _Running(self._command, self._environment)
        return self._running


class _Running:
    """A process that runs, with threads that read its output so that it never waits for this process."""

    def __init__(self, command: Sequence[str], environment: dict[str, str]) -> None:
        pipe = subprocess.PIPE
        try:
            self.process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, encoding="utf-8", bufsize=1
            )
        except OSError as error:
            raise GuardProcessError(
                f"{command[0]} cannot be started ({error.strerror}): npm install -g guard-scan"
            ) from error
        self._received = 0
        self._replies: queue.Queue[str | None] = queue.Queue()
        self._errors: collections.deque[str] = collections.deque(maxlen=_STDERR_LINES)
        self._threads = [threading.Thread(target=read, daemon=True) for read in (self._read_replies, self._read_errors)]
        for thread in self._threads:
            thread.start()
        # `null` is no row, so guard replies with an error at once. Before that it has loaded its configuration.
        try:
            self.send("null\n")
            self.receive(None)
        except _Ended:
            self.close()
            raise GuardProcessError("\n".join(self._errors) or "guard-scan ended at once") from None

    def send(self, text: str) -> None:
        stdin = self.process.stdin
        assert stdin is not None
        try:
            stdin.write(text)
            stdin.flush()
        except OSError as error:
            raise _Ended from error

    def receive(self, timeout: float | None) -> Result:
        try:
            reply = self._replies.get(timeout=timeout)
        except queue.Empty:
            raise _Ended from None
        if reply is None:
            raise _Ended
        result: Result = json.loads(reply)
        self._received += 1
        # A result of another row must never be taken for that of this one.
        if result.pop("line", None) != self._received:
            raise _Ended
        return result

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                if stream is not None:
                    stream.close()
            except OSError:
                pass  # Text that was not sent to a process that has ended.

    def _read_replies(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.endswith("\n"):
                self._replies.put(line)
        self._replies.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._errors.append(line.rstrip("\n"))


def _line_of(row: object) -> str | None:
    try:
        return json.dumps(row, allow_nan=False) + "\n" if isinstance(row, (str, dict)) else None
    except (TypeError, ValueError):
        return None


def _unreadable() -> Result:
    return {"error": "expected a string, or an object of JSON values"}
