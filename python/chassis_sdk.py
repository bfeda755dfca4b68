"""Chassis plugins in Python: nothing to install, the standard library, Python 3.9 or newer.

    from chassis_sdk import Plugin

    plugin = Plugin()

    @plugin.tool
    def add(a: int, b: int) -> int:
        return a + b

    if __name__ == "__main__":
        plugin.run()

The names of tools, and what they may do, stand in ``plugin.yaml``; this file says what they do. Their schemas are taken from
the type hints, unless ``plugin.yaml`` has them. A handler gets its arguments by name. A parameter called ``ctx`` gets the
context of the call, one called ``input`` all arguments as a dict.

Promises: stdout carries messages only (``print`` goes to stderr, also from child processes); calls run at the
same time, each in a thread of its own; when the harness is gone, the process ends.

Numbers: whole numbers are exact, whatever their length. Others arrive as ``float``, or as ``decimal.Decimal`` with
``Plugin(decimals=True)``; a returned ``Decimal`` is always written exactly as it is.
"""

import asyncio
import base64
import decimal
import inspect
import json
import math
import os
import sys
import threading
import traceback

from chassis_schema import result_of, shape_of, values_for

__all__ = ["Cancelled", "ChassisError", "Context", "Plugin"]
__version__ = "0.1.0"

#: Error codes that have a meaning to the harness.
CODES = {
    "InvalidParams": -32602,
    "MethodNotFound": -32601,
    "InternalError": -32603,
    "ToolTimeout": -32001,
    "Cancelled": -32003,
    "Unavailable": -32004,
    "PermissionDenied": -32005,
    "RateLimited": -32007,
    "InvalidOutput": -32009,
    "ModelError": -32010,
    "Unauthorized": -32012,
}

_MAX_DEPTH = 512
_HOST_GONE = "the harness is gone"
_THIS_FILE = os.path.realpath(__file__)


class ChassisError(Exception):
    """A failure with a code (a name from CODES, or a number), a message for a person, and data for a program."""

    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.code = CODES[code] if isinstance(code, str) else code
        self.message = message
        self.data = data


class Cancelled(ChassisError):
    """The call was cancelled; raised by ``ctx.check()`` and by waiting calls back into the harness."""

    def __init__(self, message="cancelled"):
        super().__init__("Cancelled", message)


class Context:
    """What a handler may ask of the harness. Everything here is on record with the step that asked."""

    def __init__(self, connection, wire, request_id):
        self._connection = connection
        self._request_id = request_id
        self.session = wire.get("session", "")
        self.step = wire.get("step", 0)
        self.trace_id = wire.get("trace_id", "")
        #: From 1; a retry counts up.
        self.attempt = wire.get("attempt", 1)
        #: The same on every retry and after a crash: give it to systems that can drop duplicates.
        self.idempotency_key = wire.get("idempotency_key", "")
        #: Milliseconds since the epoch.
        self.deadline = wire.get("deadline", 0)
        #: Folder that the agent works in, absolute.
        self.workspace = wire.get("workspace", "")
        #: Name under which a model was called, in model handlers.
        self.model = None
        #: A ``threading.Event``, set on cancellation.
        self.cancelled = threading.Event()

    def check(self):
        """Raises Cancelled if the call was cancelled."""
        if self.cancelled.is_set():
            raise Cancelled()

    def progress(self, data):
        """Reports progress: a dict. Models stream their chunks through it."""
        self._connection.notify("tool.progress", {**data, "id": self._request_id})

    def log(self, level, message, data=None):
        """Writes a line to the session's log; level is debug, info, warn or error."""
        line = {"level": level, "message": str(message), "trace_id": self.trace_id}
        if data is not None:
            line["data"] = data
        self._connection.notify("agent.log", line)

    def secret(self, name):
        """A secret that the plugin's manifest or configuration names."""
        return self._ask("host.secret", {"name": name})

    def call(self, method, params=None):
        """Calls back into the harness (``tool.call``, ``tool.<name>``, ``model.generate`` …) as a child step."""
        return self._ask("host.call", {"method": method, "params": params or {}})

    def context(self):
        """Facts of the session, for agents."""
        return self._ask("host.context", {})

    def now(self):
        """Milliseconds since the epoch, from the record when the session is replayed."""
        return self._ask("host.call", {"method": "now"})

    def random(self):
        """A number from 0 to 1, from the record when the session is replayed."""
        return self._ask("host.call", {"method": "random"})

    def uuid(self):
        """A random UUID, from the record when the session is replayed."""
        return self._ask("host.call", {"method": "uuid"})

    def effect(self, effect):
        """Declares what this call changed in the world: ``{"kind": "process", …}`` or ``{"kind": "http", …}``."""
        self._connection.notify("tool.effect", {"trace_id": self.trace_id, "effect": effect})

    def file_effect(self, path, before, after, before_form=None, after_form=None):
        """Declares a changed file: path relative to the workspace, contents as bytes, None for no such file.

        A form is ``{"mode": 0o644}``, or ``{"link": True}`` for a symbolic link, whose content is its target.
        """

        def text(content):
            return None if content is None else base64.b64encode(content).decode("ascii")

        effect = {"kind": "file", "path": path, "before": text(before), "after": text(after)}
        for name, form in (("before_form", before_form), ("after_form", after_form)):
            if form is not None:
                effect[name] = form
        self.effect(effect)

    def _ask(self, method, params):
        return self._connection.call(method, {**params, "trace_id": self.trace_id}, self.cancelled)


class LoadContext:
    """Given to ``on_load`` handlers that have a second parameter."""

    def __init__(self, connection, params):
        self._connection = connection
        #: The plugin's folder.
        self.folder = params.get("folder", os.getcwd())
        #: Folder of the project's chassis.yaml.
        self.project = params.get("project", self.folder)

    def log(self, level, message, data=None):
        line = {"level": level, "message": str(message)}
        if data is not None:
            line["data"] = data
        self._connection.notify("agent.log", line)

    def secret(self, name):
        return self._connection.call("host.secret", {"name": name}, None)


class Plugin:
    """A plugin: decorate its handlers and hooks, then ``run()``."""

    def __init__(self, decimals=False):
        self._decimals = decimals
        self._tools = {}
        self._models = {}
        self._agents = {}
        self._policies = {}
        self._hooks = {}

    def tool(self, handler=None, *, name=None):
        """``@plugin.tool`` or ``@plugin.tool(name="fetch")``. Return the output; raise for a failure."""
        return self._register(self._tools, handler, name)

    def model(self, handler=None, *, name=None):
        """A model, called with the request and ``ctx``; ``name="*"`` serves every model of the manifest."""
        return self._register(self._models, handler, name)

    def agent(self, handler=None, *, name=None):
        """An agent, called with its input and ``ctx``."""
        return self._register(self._agents, handler, name)

    def policy(self, handler=None, *, name=None):
        """A policy, called with a question about a call and ``ctx``; returns "allow", "ask", "deny", a dict, or None."""
        return self._register(self._policies, handler, name)

    def on_load(self, handler):
        """Called with the configuration block, and with a LoadContext if it has a second parameter."""
        self._hooks["load"] = handler
        return handler

    def on_ready(self, handler):
        """Returns True or False, or ``{"ready": False, "reason": "…"}``."""
        self._hooks["ready"] = handler
        return handler

    def on_shutdown(self, handler):
        self._hooks["shutdown"] = handler
        return handler

    def run(self):
        """Serves until the harness closes stdin, then ends the process."""
        _Connection(self, self._decimals).serve()

    @staticmethod
    def _register(table, handler, name):
        def add(function):
            table[name or function.__name__] = function
            return function

        return add if handler is None else add(handler)


class _Connection:
    """JSON-RPC 2.0 on stdin and stdout, one message a line."""

    def __init__(self, plugin, decimals):
        self._plugin = plugin
        self._parse_float = decimal.Decimal if decimals else float
        self._write_lock = threading.Lock()
        self._waiting = {}
        self._running = {}
        self._state = threading.Lock()
        self._counter = 0
        self._loaded = False
        self._over = False
        self._folder = os.path.realpath(os.getcwd())
        # The real stdout is kept for messages; what anybody prints from now on, children included, goes to stderr.
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 8 * _MAX_DEPTH))
        sys.stdout.flush()
        self._out = os.fdopen(os.dup(1), "wb", buffering=0)
        os.dup2(2, 1)
        sys.stdout = sys.stderr

    def serve(self):
        try:
            for line in sys.stdin.buffer:
                if line.strip():
                    self._message(line)
        except KeyboardInterrupt:
            pass
        self._end()

    def _end(self):
        with self._state:
            self._over = True
            waiting = list(self._waiting.values())
            running = list(self._running.values())
        for ctx in running:
            ctx.cancelled.set()
        for answer in waiting:
            answer.settle(None, {"code": CODES["Unavailable"], "message": _HOST_GONE})
        try:
            self._shutdown()
        except Exception:
            traceback.print_exc()
        sys.stderr.flush()
        # Threads and timers of the plugin must not keep a process alive that nobody listens to.
        os._exit(0)

    # ---- incoming

    def _message(self, line):
        try:
            message = json.loads(line.decode("utf-8"), parse_float=self._parse_float, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            self._error(None, -32700, "Parse error: %s" % error)
            return
        if isinstance(message, dict) and "method" not in message and ("result" in message or "error" in message):
            self._answer(message)
            return
        problem = _request_problem(message)
        if problem is not None:
            request_id = message.get("id") if isinstance(message, dict) else None
            self._error(request_id if _is_id(request_id) else None, -32600, "Invalid Request: %s" % problem)
            return
        method, params = message["method"], message.get("params", {})
        if "id" not in message:
            if method == "tool.cancel" and isinstance(params, dict):
                self._cancel(params.get("id"))
            return
        request_id = message["id"]
        handler = {
            "plugin.load": self._load,
            "plugin.ready": self._ready,
            "plugin.shutdown": self._shutdown_request,
            "plugin.invoke": self._invoke,
        }.get(method)
        if handler is None:
            self._error(request_id, -32601, "Method not found: %s" % method)
            return
        if not isinstance(params, dict):
            self._error(request_id, -32602, "params must be an object")
            return
        ctx = None
        if method == "plugin.invoke":
            # Known before the thread runs, so that a cancellation right behind the call finds it.
            wire = params.get("ctx")
            ctx = Context(self, wire if isinstance(wire, dict) else {}, request_id)
            with self._state:
                self._running[_key(request_id)] = ctx
        thread = threading.Thread(target=self._handle, args=(request_id, handler, params, ctx), daemon=True)
        thread.start()

    def _handle(self, request_id, handler, params, ctx):
        try:
            result = handler(params) if ctx is None else handler(params, ctx)
            text = _dump(result)
        except ChassisError as error:
            self._error(request_id, error.code, error.message, error.data)
        except BaseException as error:  # a handler may also raise SystemExit
            traceback.print_exc()
            place = self._place(error)
            self._error(request_id, CODES["InternalError"], _said(error, place), _at(place))
        else:
            self._send('{"jsonrpc":"2.0","id":%s,"result":%s}' % (_dump(request_id), text))
        finally:
            if ctx is not None:
                with self._state:
                    self._running.pop(_key(request_id), None)

    def _load(self, params):
        hook = self._plugin._hooks.get("load")
        if hook is not None:
            config = params.get("config", {})
            wanted = len(inspect.signature(hook).parameters)
            _finish(hook(config, LoadContext(self, params)) if wanted > 1 else hook(config) if wanted else hook())
        self._loaded = True
        plugin = self._plugin
        shapes = {name: shape_of(function) for name, function in plugin._tools.items()}
        return {
            "tools": list(plugin._tools),
            "models": list(plugin._models),
            "agents": list(plugin._agents),
            "policies": list(plugin._policies),
            "shapes": {name: shape for name, shape in shapes.items() if shape},
        }

    def _ready(self, _params):
        hook = self._plugin._hooks.get("ready")
        answer = None if hook is None else _finish(hook())
        return True if answer is None else answer

    def _shutdown_request(self, _params):
        self._shutdown()

    def _shutdown(self):
        loaded, self._loaded = self._loaded, False
        hook = self._plugin._hooks.get("shutdown")
        if loaded and hook is not None:
            _finish(hook())

    def _invoke(self, params, ctx):
        plugin = self._plugin
        try:
            if "tool" in params:
                handler = _find(plugin._tools, "tool", params["tool"])
                value = result_of(handler, _finish(_call_tool(handler, params.get("input"), ctx)))
            elif "model" in params:
                ctx.model = params["model"]
                value = _find(plugin._models, "model", params["model"])(params.get("input"), ctx)
            elif "policy" in params:
                value = _find(plugin._policies, "policy", params["policy"])(params.get("input"), ctx)
            else:
                value = _find(plugin._agents, "agent", params.get("agent"))(params.get("input"), ctx)
            data = _finish(value)
            _check(data)
            return {"code": 0, "data": data, "error": None, "trace_id": ctx.trace_id}
        except ChassisError as error:
            return _failure(error.code, error.message, error.data, ctx)
        except BaseException as error:
            traceback.print_exc()
            place = self._place(error)
            return _failure(CODES["InternalError"], _said(error, place), _at(place), ctx)

    def _place(self, error):
        """``file:line`` of the innermost frame in the plugin's own code, or None."""
        folder = self._folder + os.sep
        place = None
        for frame, line in traceback.walk_tb(error.__traceback__):
            path = os.path.realpath(frame.f_code.co_filename)
            if path.startswith(folder) and path != _THIS_FILE and os.sep + "site-packages" + os.sep not in path:
                place = "%s:%d" % (path[len(folder) :], line)
        return place

    def _cancel(self, request_id):
        with self._state:
            ctx = self._running.get(_key(request_id))
        if ctx is not None:
            ctx.cancelled.set()

    # ---- outgoing

    def call(self, method, params, cancelled):
        text = _dump(params)
        answer = _Answer()
        with self._state:
            if self._over:
                raise ChassisError("Unavailable", _HOST_GONE)
            self._counter += 1
            request_id = "py-%d-%d" % (os.getpid(), self._counter)
            self._waiting[request_id] = answer
        self._send('{"jsonrpc":"2.0","id":"%s","method":"%s","params":%s}' % (request_id, method, text))
        # Waits in small steps, so that a cancellation ends the wait too.
        while not answer.done.wait(0.1):
            if cancelled is not None and cancelled.is_set():
                with self._state:
                    self._waiting.pop(request_id, None)
                raise Cancelled()
        if answer.error is not None:
            error = answer.error
            raise ChassisError(error.get("code", -32603), error.get("message", "failed"), error.get("data"))
        return answer.result

    def notify(self, method, params):
        self._send('{"jsonrpc":"2.0","method":"%s","params":%s}' % (method, _dump(params)))

    def _answer(self, message):
        request_id = message.get("id")
        with self._state:
            answer = self._waiting.pop(request_id, None) if isinstance(request_id, str) else None
        if answer is None:
            print("chassis_sdk: an answer belongs to no call: %r" % (request_id,), file=sys.stderr)
        else:
            answer.settle(message.get("result"), message.get("error"))

    def _error(self, request_id, code, message, data=None):
        error = {"code": code, "message": message}
        if data is not None:
            try:
                _check(data)
                error["data"] = data
            except ChassisError:
                pass
        self._send('{"jsonrpc":"2.0","id":%s,"error":%s}' % (_dump(request_id), _dump(error)))

    def _send(self, text):
        data = memoryview((text + "\n").encode("utf-8"))
        try:
            with self._write_lock:
                while data:
                    data = data[self._out.write(data) :]
        except OSError:
            self._over = True  # the reader will see the end too


class _Answer:
    def __init__(self):
        self.done = threading.Event()
        self.result = None
        self.error = None

    def settle(self, result, error):
        self.result, self.error = result, error
        self.done.set()


def _failure(code, message, details, ctx):
    error = {"message": message}
    if details is not None:
        try:
            _check(details)
            error["details"] = details
        except ChassisError:
            pass
    return {"code": code if code != 0 else CODES["InternalError"], "data": None, "error": error, "trace_id": ctx.trace_id}


def _find(table, kind, name):
    handler = table.get(name) or (table.get("*") if kind == "model" else None)
    if handler is None:
        raise ChassisError("MethodNotFound", 'the plugin has no %s "%s"' % (kind, name))
    return handler


def _call_tool(handler, arguments, ctx):
    arguments = {} if arguments is None else arguments
    if not isinstance(arguments, dict):
        raise ChassisError("InvalidParams", "the input must be an object")
    names = inspect.signature(handler).parameters
    whole = "input" in names and "input" not in arguments
    given = {"input": arguments} if whole else _promised(handler, arguments)
    if "ctx" in names:
        given["ctx"] = ctx
    try:
        bound = inspect.signature(handler).bind(**given)
    except TypeError as error:
        raise ChassisError("InvalidParams", "%s: %s" % (handler.__name__, error)) from None
    return handler(*bound.args, **bound.kwargs)


def _promised(handler, arguments):
    try:
        return values_for(handler, arguments)
    except (TypeError, ValueError) as error:
        raise ChassisError("InvalidParams", "%s: %s" % (handler.__name__, error)) from None


def _finish(value):
    """The value of a handler that may be a coroutine function."""
    return asyncio.run(_awaited(value)) if inspect.isawaitable(value) else value


async def _awaited(value):
    return await value


def _said(error, place):
    words = "%s: %s" % (type(error).__name__, error) if str(error) else type(error).__name__
    return words if place is None else "%s (%s)" % (words, place)


def _at(place):
    return None if place is None else {"place": place}


def _request_problem(message):
    if not isinstance(message, dict):
        return "expected an object (batches are not supported)"
    if message.get("jsonrpc") != "2.0":
        return 'jsonrpc must be "2.0"'
    if not isinstance(message.get("method"), str):
        return "method must be a string"
    if "params" in message and not isinstance(message["params"], (dict, list)):
        return "params must be an object or an array"
    if "id" in message and not _is_id(message["id"]):
        return "id must be a string, a number or null"
    return None


def _is_id(value):
    return value is None or (isinstance(value, (str, int, float, decimal.Decimal)) and not isinstance(value, bool))


def _key(request_id):
    """Ids match by value and type: 1 is not "1"."""
    return (isinstance(request_id, str), request_id)


def _no_constant(name):
    raise ValueError("%s is no JSON" % name)


# ---- JSON, exactly


def _dump(value):
    """JSON text of a value that _check would accept. ASCII only, so that no line reader splits it."""
    if _check(value):
        return _write(value)
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def _check(value):
    """Raises InvalidOutput with the JSON path for what JSON cannot hold. True if a Decimal is inside."""
    return _walk(value, [], set())


def _walk(value, path, open_ids):
    if value is None or isinstance(value, (str, bool, int)):
        return False
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _refusal(path, "%s, which JSON cannot hold" % value)
        return False
    if isinstance(value, decimal.Decimal):
        if not value.is_finite():
            raise _refusal(path, "%s, which JSON cannot hold" % value)
        return True
    if not isinstance(value, (dict, list, tuple)):
        raise _refusal(path, "of type %s, which is no JSON; return dicts, lists, text and numbers" % type(value).__name__)
    if id(value) in open_ids:
        raise _refusal(path, "a cycle")
    if len(path) >= _MAX_DEPTH:
        raise _refusal(path[:20], "nested deeper than %d levels" % _MAX_DEPTH)
    open_ids.add(id(value))
    found = False
    for key, member in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(value, dict) and not isinstance(key, str):
            raise _refusal(path, "a dict with the key %r, but keys of JSON are text" % (key,))
        path.append(key)
        found = _walk(member, path, open_ids) or found
        path.pop()
    open_ids.discard(id(value))
    return found


def _refusal(path, what):
    pointer = "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in path)
    where = "the result" if pointer == "" else "the result at " + pointer
    return ChassisError("InvalidOutput", "%s is %s" % (where, what), {"path": pointer, "reason": what})


def _write(value):
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, dict):
        return "{%s}" % ",".join(json.dumps(key) + ":" + _write(member) for key, member in value.items())
    if isinstance(value, (list, tuple)):
        return "[%s]" % ",".join(_write(member) for member in value)
    return json.dumps(value, allow_nan=False)
