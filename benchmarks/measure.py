# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The measurement of one cell with one number of threads."""
import os
import time

from kernels import Kernel
from machine import median, quantile, spread

TURN_MS = 40  # of calls, before it is the next one's turn
HOPELESS = 10  # times slower than the fastest: one call is enough


def prepare(cell, compiled, workers):
    """name -> what came of its checked call; the library or the compiler's message stand in `compiled`."""
    results = {}
    for name, worker in workers.items():
        if name != Kernel.name:
            results[name] = worker.ask("prepare", cell=cell.name)
        elif compiled["library"]:
            results[name] = worker.ask("prepare", cell=cell.name, library=compiled["library"])
        else:
            results[name] = {"status": "not compiled", "why": compiled["why"]}
    return results


def ok(results):
    return [name for name, result in results.items() if result["status"] == "ok"]


def set_hopeless_aside(results):
    """Keeps the one call of whoever is far behind and returns the names of the others."""
    fastest = min((results[name]["call_ms"] for name in ok(results)), default=0)
    rest = []
    for name in ok(results):
        call = results[name]["call_ms"]
        if call > 500 and call > HOPELESS * fastest:
            results[name] |= {"ms": call, "quiet_ms": call, "calls": 1}
        else:
            rest.append(name)
    return rest


def rotate(workers, results, machine, threads, seconds, earlier):
    """Times whole calls in turns, with bursts between them, so that all meet the same disturbances. `earlier` has the
    times and bursts of the cell's rounds so far; this one's are added."""
    names = set_hopeless_aside(results)
    times, bursts = earlier.setdefault("times", {}), earlier.setdefault("bursts", [])
    before = {name: sum(times.setdefault(name, [])) for name in names}
    for turn in range(100):
        due = [name for name in names if results[name]["status"] == "ok" and
               (turn < 3 or sum(times[name]) - before[name] < 1e3 * seconds)]
        if not due:
            break
        for name in due[turn % len(due):] + due[:turn % len(due)]:
            time.sleep(0.003)  # threads of the one before stop spinning
            call = results[name]["call_ms"]
            reply = workers[name].ask("time", calls=max(1, min(200, int(TURN_MS / call))), warm=int(call < 500))
            if reply["status"] != "ok":
                results[name] = reply
                continue
            times[name] += reply["ms"]
            bursts.extend(machine.bursts(20 * threads, threads))
    for name in set(names) & set(ok(results)):
        results[name] |= {"ms": median(times[name]), "quiet_ms": quantile(times[name], 0.2), "calls": len(times[name])}
    if not bursts:
        return {}
    return {"fma_gflops": median(bursts) * threads, "fma_spread": spread(bursts)}


def measure(cell, compiled, workers, machine, threads, seconds, bench, earlier):
    """A row of the report, of this round and the `earlier` ones. No wrong result has a time in it."""
    row = {"cell": cell.name, "threads": threads, "dtype": cell.dtype, "decode": cell.decode, "gflop": cell.flops * 1e-9,
           "megabytes": 2e-6 * cell.key_bytes, "compile_s": compiled.get("seconds"), "load_average": os.getloadavg()[0]}
    results = row["results"] = prepare(cell, compiled, workers)
    if Kernel.name in ok(results):
        ours = workers[Kernel.name].ask("measure", seconds=seconds, bench=bench, pairs=compiled["pairs"])
        results[Kernel.name] = results[Kernel.name] | ours if ours["status"] == "ok" else ours
    row |= rotate(workers, results, machine, threads, seconds, earlier)
    timed = {name: results[name]["ms"] for name in ok(results) if name != Kernel.name}
    if timed:
        row["best_peer"] = min(timed, key=timed.get)
        if Kernel.name in ok(results):
            quiet = min(results[name]["quiet_ms"] for name in timed)
            row["ratio"] = timed[row["best_peer"]] / results[Kernel.name]["ms"]
            row["quiet_ratio"] = quiet / results[Kernel.name]["quiet_ms"]
    return row
