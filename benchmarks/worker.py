# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One process per implementation, for its thread count is fixed when its library is loaded. They take turns.

The driver sends one JSON object a line and gets one back. `python worker.py NAME THREADS` is such a process.
"""
import contextlib
import importlib.metadata
import json
import os
import select
import subprocess
import sys
import time

import cells
import numpy as np
from machine import spread

HERE = os.path.dirname(os.path.abspath(__file__))
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def implementations():
    import kernels
    import peers
    return {kernels.Kernel.name: kernels.Kernel, **peers.PEERS}


class Worker:
    def __init__(self, name, threads):
        self.peer = implementations()[name](threads)
        self.run = None

    def hello(self):
        versions = {p: importlib.metadata.version(p) for p in self.peer.packages}
        return {"versions": versions | getattr(self.peer, "own_versions", {})}

    def prepare(self, cell, library=None):
        """Everything that happens once per shape, and the check of the result. Only a right one can be timed."""
        self.run, cell = None, cells.CELLS[cell]
        why = getattr(self.peer, "unsupported", lambda cell: None)(cell)
        if why:
            return {"status": "unsupported", "why": why}
        arrays = cells.inputs(cell)
        start = time.perf_counter()
        run, finish, route = self.peer.make(cell, arrays, *filter(None, [library]))
        result = run()
        seconds = time.perf_counter() - start
        error = cells.error(cell, arrays, np.asarray(finish(result)))
        if error > cells.TOLERANCE[cell.dtype]:
            return {"status": "wrong", "why": f"error {error:.1e}, tolerance {cells.TOLERANCE[cell.dtype]:.0e}"}
        self.run = run
        return {"error": error, "route": route, "prepare_s": seconds, "call_ms": self.time(1, 0)["ms"][0]}

    def time(self, calls, warm):
        milliseconds = []
        for i in range(warm + calls):
            start = time.perf_counter()
            self.run()
            milliseconds.append(1e3 * (time.perf_counter() - start))
        return {"ms": milliseconds[warm:]}

    def measure(self, seconds, bench, pairs):
        """Of our kernel, again while something else takes the processor, which the bursts show; the calmest of three counts."""
        samples, self.peer.multiplies_pairs = [], pairs
        while len(samples) < 3:
            samples.append(self.peer.sample(seconds, bench))
            if spread(samples[-1].bursts) < 0.05:
                break
        return self.peer.summary(min(samples, key=lambda sample: spread(sample.bursts))) | {"attempts": len(samples)}


def serve(name, threads):
    """Standard output belongs to the protocol; what libraries print goes to standard error."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    worker = None
    for line in sys.stdin:
        message = json.loads(line)
        try:
            worker = worker or Worker(name, threads)
            reply = {"status": "ok"} | getattr(worker, message.pop("op"))(**message)
        except Exception as problem:  # a peer may fail in any way; the table says how
            text = (str(problem).strip() or "no message").splitlines()[0]
            reply = {"status": "failed", "why": f"{type(problem).__name__}: {text}"[:200]}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


class Remote:
    """A worker as the driver sees it."""

    def __init__(self, name, threads):
        self.name, self.threads, self.process = name, threads, None

    def start(self):
        # The peers that are built from single GEMMs bring threads of their own.
        library_threads = "1" if self.name in ("numpy", "onednn") else str(self.threads)
        environment = dict(os.environ, **{v: library_threads for v in THREAD_VARIABLES})
        self.process = subprocess.Popen([sys.executable, os.path.join(HERE, "worker.py"), self.name, str(self.threads)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        env=environment, text=True, bufsize=1)

    def ask(self, op, timeout=300, **arguments):
        if self.process is None:
            if op in ("time", "measure"):
                return {"status": "crash", "why": "what was prepared is gone"}
            self.start()
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps({"op": op, **arguments}) + "\n")
        if not select.select([self.process.stdout], [], [], timeout)[0]:
            self.stop()
            return {"status": "timeout", "why": f"no answer in {timeout} s"}
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        code = self.process.wait()
        self.process = None
        return {"status": "crash", "why": f"signal {-code}" if code < 0 else f"exit status {code}"}

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
