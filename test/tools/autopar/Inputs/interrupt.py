# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: interrupt.py COMMAND..., runs it, interrupts it once it has said what
it does, and prints its output and exit code."""

import signal
import subprocess
import sys
import time

with subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    print(process.communicate()[0])
print("exit code", process.returncode)
