# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Thread pools of a caller's own: each calls every item once, in some order, on some threads."""
import ctypes
import threading

BODY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32)
PARALLEL_FOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
wrong = []  # what a pool noticed


def start(function, count):
    def run():
        if function() is None:
            wrong.append("a call beside another one is refused")
    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads


def join(threads):
    for thread in threads:
        thread.join()


def pool(loop):
    """`loop(call, items, threads)` runs call(item, worker) for every item."""
    def make(case):
        def run(context, items, threads, body, data):
            if items < 0 or threads < 1:
                wrong.append(f"the pool is asked for {items} items on {threads} threads")
                return
            body = BODY(body)
            loop(lambda item, worker: body(data, item, worker), items, threads, case)
        return PARALLEL_FOR(run)
    return make


def serial(call, items, threads, case):
    for item in range(items):
        call(item, 0)


def reversed_(call, items, threads, case):
    for item in reversed(range(items)):
        call(item, threads - 1)


def shuffled(call, items, threads, case):
    for n, item in enumerate(case.rng.permutation(items)):
        call(int(item), n % threads)


def concurrent(call, items, threads, case):
    """Items in turn on as many threads as there may be."""
    count = min(threads, 4)

    def work(worker):
        for item in range(worker, items, count):
            call(item, worker)
    workers = [threading.Thread(target=work, args=(worker,)) for worker in range(count)]
    for worker in workers:
        worker.start()
    join(workers)


def elsewhere(call, items, threads, case):
    """All items on a thread that is not the caller's."""
    thread = threading.Thread(target=serial, args=(call, items, threads, case))
    thread.start()
    thread.join()


def nested(call, items, threads, case):
    """The kernel is called again from inside an item, and between two items."""
    for item in range(items):
        if item < 2 and case.plain() is None:
            wrong.append("a nested call is refused")
        call(item, 0)


def nested_threads(call, items, threads, case):
    """The same from other threads while an item runs."""
    others = start(case.plain, 2)
    serial(call, items, threads, case)
    join(others)


POOLS = {"serial": pool(serial), "reversed": pool(reversed_), "shuffled": pool(shuffled), "concurrent": pool(concurrent),
         "elsewhere": pool(elsewhere), "nested": pool(nested), "nested threads": pool(nested_threads)}
