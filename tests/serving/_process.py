"""``kf serve`` as a process of its own."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

KF = "from kernelfields.cli import main; main()"
PATIENCE = 120
"""Seconds that it may take to start or to stop on a busy machine."""


class ServeProcess:
    """Starts ``kf serve`` on a free port and stops it."""

    def __init__(self, *words):
        command = [sys.executable, "-c", KF, "serve", *map(str, words), "--port", "0"]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        handle, self.log = tempfile.mkstemp()  # a pipe that nobody reads would block
        self.process = subprocess.Popen(command, stderr=handle, env=environment)
        os.close(handle)
        self.url = self._address()
        self.port = int(self.url.rsplit(":", 1)[1])

    @property
    def is_running(self):
        return self.process.poll() is None

    @property
    def said(self):
        """All that it has printed so far."""
        return Path(self.log).read_text()

    def stop(self, number=signal.SIGINT):
        """Ask it to stop; return its exit code, or None if it had to be killed."""
        if self.is_running:
            self.process.send_signal(number)
        try:
            return self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None

    def _address(self):
        deadline = time.monotonic() + PATIENCE
        while True:
            running = self.is_running  # first: what it says, it says before it ends
            found = re.search(r"http://\S+", self.said)
            if found or not running or time.monotonic() > deadline:
                break
            time.sleep(0.02)
        if not found:
            self.stop()
            raise RuntimeError(f"kf serve did not start: {self.said}")
        return found[0]
