# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times of our kernels and of PyTorch's, in turns in one process: cuDNN, FLASH and compiled FlexAttention, beside a matrix
product and a copy, which say what the machine gives in this minute."""
import statistics
import time

from cells import SCHEDULES, TIMED

WARM_UP, SECONDS_PER_CELL, SECONDS_PER_SCHEDULE, LAUNCHES_ON_HOST = 3, 1.2, 0.8, 20
HIDING_CYCLES = 700_000  # of a kernel that waits in front, so that no time of the host is in an event's; about 0.4 ms
ROTATING_BYTES = 256 << 20  # more than a level-2 cache: copies of the arguments that calls take in turns


def events(torch, call):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(HIDING_CYCLES)
    begin.record()
    call()
    end.record()
    return begin, end


def take_turns(torch, calls, seconds, least=20):
    """Milliseconds of each call on the device, median and quartiles, from launches in turns, and on the host; `calls`: name -> function of the turn."""
    times = {name: [] for name in calls}
    for turn in range(WARM_UP):
        for call in calls.values():
            call(turn)
    torch.cuda.synchronize()
    end, turn = time.monotonic() + seconds, 0
    while turn < least or time.monotonic() < end:
        pairs = {name: events(torch, lambda call=call: call(turn)) for name, call in calls.items()}
        torch.cuda.synchronize()
        for name, (first, last) in pairs.items():
            times[name].append(first.elapsed_time(last))
        turn += 1
        if turn >= 5 and time.monotonic() > end + seconds:
            break
    return {name: {"ms": statistics.median(values), "quartiles": statistics.quantiles(values, n=4)[::2], "launches": len(values),
                   "host_ms": host_time(torch, calls[name])} for name, values in times.items()}


def host_time(torch, call):
    """Milliseconds until a call returns, whose kernels run then still."""
    begin = time.perf_counter()
    for turn in range(LAUNCHES_ON_HOST):
        call(turn)
    seconds = time.perf_counter() - begin
    torch.cuda.synchronize()
    return 1e3 * seconds / LAUNCHES_ON_HOST


def visible_pairs(kernel, queries, keys):
    if "causal" in kernel.mask:
        first = keys - queries if "bottom_right" in kernel.mask else 0
        return sum(max(0, min(first + q + 1, keys)) for q in range(queries))
    if "window" in kernel.mask:
        left = int(kernel.mask.split("left = ")[1].split(",")[0])
        return sum(max(0, min(q, keys - 1) - max(0, q - left) + 1) for q in range(queries))
    return queries * keys


def flex(torch, kernel, queries, keys):
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    torch._dynamo.reset()  # else the ninth shape is not compiled
    compiled = torch.compile(flex_attention, dynamic=False)
    left = int(kernel.mask.split("left = ")[1].split(",")[0]) if "window" in kernel.mask else None
    first = keys - queries if "bottom_right" in kernel.mask else 0
    mask = None
    if kernel.mask:
        mask = create_block_mask(lambda b, h, q, k: (first + q >= k) if left is None else (q >= k) & (q - k <= left), None, None, queries, keys, device="cuda")
    score = {"": None, "softcap": lambda s, b, h, q, k: 30.0 * torch.tanh(s / 30.0), "alibi": lambda s, b, h, q, k: s + 0.0625 * (k - q)}[kernel.score]
    return lambda q, k, v: compiled(q, k, v, score_mod=score, block_mask=mask, enable_gqa=kernel.heads != kernel.key_heads)


def peers(torch, kernel, queries, keys, with_flex):
    """name -> function of q, k, v; those that refuse are left out by who calls. To compile FlexAttention takes seconds."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.attention.bias import causal_lower_right
    sdpa = torch.nn.functional.scaled_dot_product_attention
    bottom = "bottom_right" in kernel.mask

    def backend(which):
        def call(q, k, v):
            with sdpa_kernel(which):
                return sdpa(q, k, v, attn_mask=causal_lower_right(queries, keys) if bottom else None, is_causal=bool(kernel.mask) and not bottom,
                            enable_gqa=kernel.heads != kernel.key_heads)
        return call

    found = {}
    if "window" not in kernel.mask and not kernel.score:
        named = {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION} if kernel.dtype != "f32" else {"efficient": SDPBackend.EFFICIENT_ATTENTION}
        found = {name: backend(which) for name, which in named.items()}
    return {**found, "flex": flex(torch, kernel, queries, keys)} if with_flex else found


def ours(torch, kernels, name, sets):
    stream = torch.cuda.current_stream().cuda_stream or None
    calls = [kernels.prepare(name, [(t.data_ptr(), tuple(t.shape)) for t in tensors], stream) for tensors in sets]
    return lambda turn: calls[turn % len(calls)]()


def arguments(torch, kernel, batch, length):
    """Sets of q, k, v and a result, together more than a level-2 cache."""
    inputs, (out,) = kernel.shapes(batch, kernel.queries or length, length)
    dtype = {"bf16": torch.bfloat16, "f32": torch.float32}[kernel.dtype]
    size = dtype.itemsize * sum(torch.Size(shape).numel() for shape in (*inputs, out))
    return [[torch.randn(shape, device="cuda", dtype=dtype) for shape in inputs] + [torch.empty(out, device="cuda", dtype=dtype)]
            for _ in range(max(1, min(8, -(-ROTATING_BYTES // size))))]


def add_rates(row, kernel, batch, length):
    queries = kernel.queries or length
    flops = 4.0 * batch * kernel.heads * kernel.dim * visible_pairs(kernel, queries, length)
    read = 2.0 * {"bf16": 2, "f32": 4}[kernel.dtype] * batch * kernel.key_heads * kernel.dim * length
    row["tflops"] = {who: flops / times["ms"] * 1e-9 for who, times in row["times"].items()}
    row["gb_per_s"] = {who: read / times["ms"] * 1e-6 for who, times in row["times"].items()}
    row["decode"] = bool(kernel.queries)
    return row


def time_cell(torch, kernels, name, kernel, batch, length, with_flex):
    sets = arguments(torch, kernel, batch, length)
    calls, refused, row = {"ours": ours(torch, kernels, name, sets)}, {}, {"kernel": name, "batch": batch, "length": length}
    calls["ours"](0)
    for peer, call in peers(torch, kernel, kernel.queries or length, length, with_flex).items():
        try:
            wanted = call(*sets[0][:3])
        except Exception as error:  # torch.compile has exceptions of its own
            refused[peer] = str(error).splitlines()[0]
            continue
        row["difference_" + peer] = (sets[0][3].float() - wanted.float()).abs().max().item()
        calls[peer] = lambda turn, call=call: call(*sets[turn % len(sets)][:3])
    # Both round results below 4 to bf16; f32 of a peer may be of tf32. NaN is wrong, too.
    row["wrong"] = [peer for peer in calls if peer != "ours" and not row["difference_" + peer] <= 0.03]
    row["times"] = take_turns(torch, calls, SECONDS_PER_CELL)
    return {**add_rates(row, kernel, batch, length), "refused": refused}


def time_schedules(torch, kernels, name, kernel, batch, length):
    """The table's schedule beside others of the same kernel."""
    sets = arguments(torch, kernel, batch, length)
    calls = {"the table's": ours(torch, kernels, name, sets)}
    for number, schedule in enumerate(SCHEDULES[name]):
        calls[", ".join(f"{size} {what}" for size, what in zip(schedule, ("queries", "keys", "warps", "keys of a part")))] = ours(torch, kernels, f"{name}_s{number}", sets)
    row = {"kernel": name, "batch": batch, "length": length, "times": take_turns(torch, calls, SECONDS_PER_SCHEDULE)}
    return add_rates(row, kernel, batch, length)


def machine(torch):
    """What the machine gives: a product of 8192^3 and a copy of 1 GB."""
    a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    x = torch.empty(1 << 28, device="cuda")
    y = torch.empty_like(x)
    times = take_turns(torch, {"product": lambda turn: torch.matmul(a, b), "copy": lambda turn: y.copy_(x)}, 3)
    return {"product_tflops": 2 * 8192 ** 3 / times["product"]["ms"] * 1e-9, "copy_gb_per_s": 2 * 4 * x.numel() / times["copy"]["ms"] * 1e-6}


def run(kernels, names, scheduled, seconds):
    """The machine, then a row per cell until the time is over. None: PyTorch has no GPU here."""
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    end, rows, schedules = time.monotonic() + seconds, [], []
    before = machine(torch)
    for name in names:
        kernel, shapes = TIMED[name]
        for batch, length in shapes:
            if time.monotonic() > end:
                rows.append({"kernel": name, "batch": batch, "length": length, "left_out": "the time is over"})
                continue
            rows.append(time_cell(torch, kernels, name, kernel, batch, length, with_flex=(batch, length) == shapes[-1]))
            torch.cuda.empty_cache()
    for name in scheduled:
        kernel, shapes = TIMED[name]
        if time.monotonic() <= end:
            schedules.append(time_schedules(torch, kernels, name, kernel, *shapes[0]))
    return {"torch": torch.__version__, "before": before, "after": machine(torch), "rows": rows, "schedules": schedules}
