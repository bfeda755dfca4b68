"""JSON Schema from the type hints of a function, and the values that the hints promise. Standard library only.

    def fetch(page: Annotated[int, "from 1"], sort: Literal["up", "down"] = "up") -> list[Order]: ...

Hints that say nothing clear become a schema that allows anything; a function without hints has no schema at all.
"""

import collections.abc
import dataclasses
import enum
import functools
import inspect
import typing

#: Parameters that the SDK fills itself.
_OURS = ("ctx", "input")
_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_UNIONS = (typing.Union, getattr(__import__("types"), "UnionType", typing.Union))


def shape_of(function):
    """``{"input": …, "output": …}`` as far as the hints say; an empty dict without hints."""
    hints = _hints(function)
    if not hints:
        return {}
    shape = {}
    parameters = [p for p in inspect.signature(function).parameters.values() if p.name not in _OURS]
    if all(p.name in hints for p in parameters if p.kind is not p.VAR_KEYWORD):
        shape["input"] = _arguments(parameters, hints)
    returned = hints.get("return", typing.Any)
    if returned not in (typing.Any, type(None)):
        shape["output"] = schema_of(returned)
    return shape


def _arguments(parameters, hints):
    properties, required = {}, []
    for parameter in parameters:
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        schema = schema_of(hints[parameter.name])
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        elif isinstance(parameter.default, (str, int, float, bool)):
            schema = {**schema, "default": parameter.default}
        properties[parameter.name] = schema
    open_ended = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    return _object(properties, required, open_ended)


def _object(properties, required, open_ended=False):
    schema = {"type": "object", "properties": properties, "required": required}
    return schema if open_ended else {**schema, "additionalProperties": False}


def schema_of(hint, above=()):
    """The JSON Schema of one type hint. A type that contains itself is not followed further."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        said = " ".join(note for note in args[1:] if isinstance(note, str))
        schema = schema_of(args[0], above)
        return {**schema, "description": said} if said else schema
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if origin is typing.Literal:
        return {"enum": list(args)}
    if origin in _UNIONS:
        return {"anyOf": [schema_of(arg, above) for arg in args]}
    if origin in (list, set, frozenset, tuple, collections.abc.Sequence, collections.abc.Iterable):
        items = [arg for arg in args if arg is not Ellipsis]
        if origin is tuple and len(items) > 1:
            return {"type": "array"}
        return {"type": "array", "items": schema_of(items[0], above)} if items else {"type": "array"}
    if origin in (dict, collections.abc.Mapping):
        return {"type": "object", "additionalProperties": schema_of(args[1], above)}
    if hint in (list, tuple):
        return {"type": "array"}
    if not isinstance(hint, type) or hint in above:
        return {}
    if issubclass(hint, enum.Enum):
        return {"enum": [member.value for member in hint]}
    below = (*above, hint)
    if dataclasses.is_dataclass(hint):
        hints = _hints(hint)
        fields = dataclasses.fields(hint)
        return _object(
            {field.name: schema_of(hints[field.name], below) for field in fields if field.init},
            [field.name for field in fields if field.init and not _has_default(field)],
        )
    if issubclass(hint, dict) and hasattr(hint, "__total__"):
        hints = _hints(hint)
        needed = getattr(hint, "__required_keys__", hints)
        return _object({name: schema_of(of, below) for name, of in hints.items()}, [n for n in hints if n in needed])
    return {"type": "object"} if issubclass(hint, dict) else {}


def value_of(hint, value):
    """A JSON value as what the hint promises: dataclasses and enum members are made, everything else stays."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return value_of(args[0], value)
    if origin in _UNIONS and value is not None:
        made = [arg for arg in args if arg is not type(None)]
        return value_of(made[0], value) if len(made) == 1 else value
    if origin in (list, collections.abc.Sequence, collections.abc.Iterable) and args and isinstance(value, list):
        return [value_of(args[0], item) for item in value]
    if origin in (dict, collections.abc.Mapping) and isinstance(value, dict):
        return {key: value_of(args[1], item) for key, item in value.items()}
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return hint(value)
    if isinstance(hint, type) and dataclasses.is_dataclass(hint) and isinstance(value, dict):
        hints = _hints(hint)
        return hint(**{name: value_of(hints.get(name, typing.Any), item) for name, item in value.items()})
    return value


def values_for(function, arguments):
    """The arguments of a call as the hints of the function promise them."""
    hints = _hints(function)
    return {name: value_of(hints.get(name, typing.Any), value) for name, value in arguments.items()}


def result_of(function, value):
    """A handler's result as JSON has it: dataclasses become dicts, enum members their values."""
    if not _hints(function):
        return value
    try:
        return _plain(value)
    except RecursionError:
        return value  # a cycle, which is refused with its place when it is written


def _plain(value):
    if isinstance(value, enum.Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if type(value) is dict:
        return {key: _plain(item) for key, item in value.items()} if _holds_made(value.values()) else value
    if type(value) in (list, tuple):
        return [_plain(item) for item in value] if _holds_made(value) else value
    return value


def _holds_made(values):
    return any(isinstance(item, (dict, list, tuple, enum.Enum)) or dataclasses.is_dataclass(item) for item in values)


def _has_default(field):
    return field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING


@functools.lru_cache(maxsize=None)
def _hints(thing):
    """Hints that name something unknown, or need a newer Python, are as good as none."""
    try:
        return typing.get_type_hints(thing, include_extras=True)
    except Exception:
        return {}
