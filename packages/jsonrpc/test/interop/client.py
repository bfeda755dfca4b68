"""A JSON-RPC client and server in one, with the standard library only.

client.py COMMAND...   starts the command, calls it in every way, prints what came back as one JSON object
client.py --serve      serves `add` and `ask_back` on its own stdio
"""

import json
import subprocess
import sys


def write(stream, message):
    stream.write((json.dumps(message) + "\n").encode())
    stream.flush()


def client(command):
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def call(message):
        write(child.stdin, message)
        return json.loads(child.stdout.readline())

    def request(method, params, id):
        return {"jsonrpc": "2.0", "method": method, "params": params, "id": id}

    results = {
        "named": call(request("subtract", {"minuend": 42, "subtrahend": 23}, 1)),
        "text": call(request("echo", {"s": "\u2028 \U0001f600 \ud800"}, "two")),
        "big": call(request("echo", [], 9007199254740993)),
        "unknown": call(request("nope", [], None)),
        "batch": call([request("sum", [1, 2], 5), {"jsonrpc": "2.0", "method": "update"}, 7]),
    }
    child.stdin.close()
    results["left over"] = child.stdout.read().decode()
    results["exit code"] = child.wait(10)
    print(json.dumps(results))


def serve():
    print("hello, this line is noise", flush=True)
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message.get("method") == "add":
            result = message["params"]["a"] + message["params"]["b"]
            write(sys.stdout.buffer, {"jsonrpc": "2.0", "id": message["id"], "result": result})
        elif message.get("method") == "ask_back":
            write(sys.stdout.buffer, {"jsonrpc": "2.0", "id": 1, "method": "name"})
            answer = json.loads(sys.stdin.buffer.readline())
            write(sys.stdout.buffer, {"jsonrpc": "2.0", "id": message["id"], "result": answer["result"]})


if sys.argv[1] == "--serve":
    serve()
else:
    client(sys.argv[1:])
