# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs Python functions in processes of their own, so that a crash or a hang of one is a finding and no end of all."""
import multiprocessing
import os
import signal
import tempfile
import time
import traceback


def work(function, argument, pipe, log):
    os.dup2(log.fileno(), 1)
    os.dup2(log.fileno(), 2)
    try:
        pipe.send((True, function(argument)))
    except Exception as error:  # whatever it is, the parent tells it
        known = isinstance(error, (AssertionError, RuntimeError))
        pipe.send((False, str(error) if known else traceback.format_exc().strip()))
    pipe.close()
    os._exit(0)


class Job:
    def __init__(self, function, argument, seconds):
        self.argument, self.end = argument, time.monotonic() + seconds
        self.log = tempfile.TemporaryFile(mode="w+")
        self.pipe, end = multiprocessing.Pipe(duplex=False)
        self.process = multiprocessing.get_context("fork").Process(target=work, args=(function, argument, end, self.log))
        self.process.start()
        end.close()

    def done(self):
        return self.pipe.poll() or not self.process.is_alive() or time.monotonic() > self.end

    def finish(self):
        """(whether it worked, what the function returned or what went wrong, what was printed)"""
        try:
            worked, result = self.pipe.recv() if self.pipe.poll() else (False, "it hangs")
        except EOFError:
            worked, result = False, None
        if not worked and result == "it hangs":
            self.process.kill()
        self.process.join()
        if result is None and not worked:
            code = self.process.exitcode
            result = f"it ends by {signal.Signals(-code).name}" if code < 0 else f"it ends with status {code}"
        self.log.seek(0)
        return worked, result, self.log.read().strip()


def run(function, arguments, workers, seconds):
    """Yields (argument, worked, result, printed) as they end."""
    waiting, running = list(reversed(arguments)), []
    while waiting or running:
        while waiting and len(running) < workers:
            running.append(Job(function, waiting.pop(), seconds))
        ended = [job for job in running if job.done()]
        running = [job for job in running if job not in ended]
        for job in ended:
            yield (job.argument, *job.finish())
        if not ended:
            time.sleep(0.005)
