"""One llama.cpp server as a process of its own.

`python -m evalbot.demo.server MODEL ALIAS CONTEXT SLOTS THREADS`

Prints its address on one line when the model is loaded. Ends on SIGTERM, on SIGINT, and
when the process that started it is gone.
"""

from __future__ import annotations

import os
import signal
import sys
import time

PARENT_CHECK_S = 0.5


def main() -> None:
    """Serve until told to end."""
    model, alias = sys.argv[1:3]
    context, slots, threads = map(int, sys.argv[3:6])
    parent = os.getppid()
    for number in (signal.SIGTERM, signal.SIGINT):
        # An ordinary exit waits for the answer being written; this does not.
        signal.signal(number, lambda *_: os._exit(0))
    address = os.dup(1)
    os.dup2(2, 1)  # llama.cpp writes its log to standard output

    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {alias}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = context
    params.n_parallel = slots
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    # Threads that wait by turning in circles take the cores from whoever has work.
    params.cpuparams.poll = params.cpuparams_batch.poll = 0
    params.endpoint_metrics = params.endpoint_slots = params.endpoint_props = True
    server = xllamacpp.Server(params)
    os.write(address, f"{server.listening_address}\n".encode())
    os.close(address)
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK_S)
    os._exit(0)


if __name__ == "__main__":
    main()
