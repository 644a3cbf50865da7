# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What this machine gives, by attn-bench.c, and what it is."""
import ctypes
import os
import platform

import numpy as np

F32_FMA, BF16_DOT = 0, 1
MAX_ITEMS = 1 << 16
UNSHARED = 0.995  # of the peak: what a probe reaches while no other thread uses the core


def quantile(values, q):
    return float(np.quantile(values, q))


def median(values):
    return quantile(values, 0.5)


def spread(values):
    """How far apart the ends of the middle half are, as a share of the median."""
    return (quantile(values, 0.75) - quantile(values, 0.25)) / median(values)


def unshared(items, probes, peak):
    """The seconds of all items, a median each, of those alone whose probes say that the core was not shared, and the share
    of these; None for the first while they are fewer than three of each on average, or none of some. Arrays (calls, items)."""
    alone = probes >= UNSHARED * peak
    counts = alone.sum(axis=0)
    if counts.min() < 1 or counts.mean() < 3:
        return None, alone.mean()
    return sum(median(times[chosen]) for times, chosen in zip(items.T, alone.T)), alone.mean()


class Record(ctypes.Structure):
    _fields_ = [("items", ctypes.c_void_p), ("probes", ctypes.c_void_p), ("bursts", ctypes.c_void_p),
                ("max_items", ctypes.c_int64), ("max_bursts", ctypes.c_int64), ("item_count", ctypes.c_int64),
                ("burst_count", ctypes.c_int64), ("rest", ctypes.c_double), ("burst_kind", ctypes.c_int32)]


class Machine:
    """Loads attn-bench.so."""

    def __init__(self, library):
        self.dll = ctypes.CDLL(library)
        self.dll.attn_bench_read.restype = ctypes.c_double
        self.dll.attn_bench_cpu.restype = ctypes.c_char_p
        self.dll.attn_bench_peak.restype = ctypes.c_char_p
        self.item_times, self.item_probes, self.item_bursts = (np.zeros(MAX_ITEMS) for _ in range(3))

    def cpu(self):
        return self.dll.attn_bench_cpu().decode()

    def peak(self, kind):
        """Which instructions the bursts of a kind count."""
        return self.dll.attn_bench_peak(kind).decode()

    def bursts(self, count, threads, kind=F32_FMA):
        """GFLOP/s per thread of `count` bursts of some 20 us."""
        rates = np.zeros(count)
        self.dll.attn_bench_bursts(rates.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(count), threads, kind)
        return rates

    def read(self, a, b, threads):
        """Seconds for reading two contiguous arrays of one size."""
        return self.dll.attn_bench_read(ctypes.c_void_p(a.ctypes.data), ctypes.c_void_p(b.ctypes.data),
                                            ctypes.c_int64(a.nbytes), threads)

    def items(self, function, pointer, args, kind):
        """One call of a kernel: status, seconds of each item, GFLOP/s of the slower of its two probes, seconds outside of
        its loops, GFLOP/s of bursts in between."""
        record = Record(self.item_times.ctypes.data, self.item_probes.ctypes.data, self.item_bursts.ctypes.data, MAX_ITEMS,
                        MAX_ITEMS, burst_kind=kind)
        call = ctypes.byref(args, type(args).call.offset)
        status = self.dll.attn_bench_items(function, pointer, call, ctypes.byref(record))
        if record.item_count > MAX_ITEMS:
            raise RuntimeError(f"{record.item_count} items in one call, more than {MAX_ITEMS}")
        return (status, self.item_times[:record.item_count].copy(), self.item_probes[:record.item_count].copy(), record.rest,
                self.item_bursts[:min(record.burst_count, MAX_ITEMS)].copy())

    def limits(self, threads):
        """The peaks of the machine with so many threads."""
        result = {"fma_gflops": median(self.bursts(400 * threads, threads)) * threads, "fma_counts": self.peak(F32_FMA)}
        if self.peak(BF16_DOT) != self.peak(F32_FMA):
            result["bf16_dot_gflops"] = median(self.bursts(400 * threads, threads, BF16_DOT)) * threads
        for megabytes in (1, 16, 128):
            a, b = (np.ones(megabytes << 17) for _ in "ab")
            seconds = [self.read(a, b, threads) for _ in range(max(3, 128 // megabytes))]
            result[f"read_{2 * megabytes}_mb_gbs"] = 2e-9 * a.nbytes / median(seconds)
        return result


def processor():
    """The fields of the first processor in /proc/cpuinfo."""
    with open("/proc/cpuinfo") as file:
        lines = (line.partition(":") for line in file.read().split("\n\n")[0].splitlines())
    return {name.strip(): value.strip() for name, _, value in lines}


def conditions():
    """What may matter for a time: where it was measured and what else ran."""
    fields = processor()
    model = [f"{label} {fields[name]}" for label, name in (("family", "cpu family"), ("model", "model")) if name in fields]
    return {"processors": len(os.sched_getaffinity(0)), "model": " ".join(model),
            "virtual_machine": "hypervisor" in fields.get("flags", "").split(),
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
            "load_average": [round(x, 2) for x in os.getloadavg()]}
