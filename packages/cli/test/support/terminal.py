"""Runs a program on a terminal of its own: python3 terminal.py WIDTH '[["pattern", "keys"], …]' PROGRAM ARGS…

Sends each keys once its pattern has appeared behind the previous one; prints what the terminal showed, and last the exit code.
"""
import fcntl
import json
import os
import pty
import re
import struct
import sys
import termios

width, steps, command = int(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
shown, seen = "", 0
while True:
    try:
        data = os.read(terminal, 65536)
    except OSError:
        break
    if not data:
        break
    shown += data.decode("utf-8", "replace")
    if steps:
        found = re.compile(steps[0][0], re.S).search(shown, seen)
        if found:
            seen = found.end()
            os.write(terminal, steps.pop(0)[1].encode())
_, status = os.waitpid(pid, 0)
sys.stdout.write(shown)
print(f"\nexit {os.waitstatus_to_exitcode(status)}")
