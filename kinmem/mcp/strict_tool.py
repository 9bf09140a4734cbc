"""Turns a plain function into a tool: checked arguments in, a small answer or a short error out.

The SDK's own tools drop unknown arguments, show pydantic's titles and `anyOf null` to the model,
answer bad arguments with three lines of pydantic per field, and send null for absent values.
"""

import inspect
import json
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, Literal, cast, get_args, get_origin

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import (
    BaseModel,
    ConfigDict,
    TypeAdapter,
    ValidationError,
    create_model,
    model_validator,
)
from typing_extensions import get_type_hints

from kinmem.conversation.sanitize import inert
from kinmem.errors import InvalidInput, KinmemError
from kinmem.http.refusals import call_in_short, object_in
from kinmem.mcp.calls import current_call
from kinmem.mcp.tool_answers import Answer


class Arguments(ArgModelBase):
    """The arguments of a tool.

    A null argument counts as absent, unless null has a meaning for it.
    """

    model_config = ConfigDict(extra="forbid", populate_by_name=False)

    @model_validator(mode="before")
    @classmethod
    def _tidy(cls, given: Any) -> Any:
        fields = {field.alias or name: field for name, field in cls.model_fields.items()}
        tidy = {}
        for name, value in given.items() if isinstance(given, Mapping) else ():
            annotation = fields[name].annotation if name in fields else None
            if value is None and name in fields and type(None) not in get_args(annotation):
                continue
            tidy[name] = _unquoted(value) if _is_container(annotation) else value
        return tidy


class StrictTool(Tool):
    """A tool whose function gets the call and only those arguments that were given."""

    listed: bool = True
    """Whether clients see it in the list. An unlisted tool can still be called."""
    null_is_absent: bool = False
    """Whether null never clears anything, because a caller has to name every argument."""

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> Any:
        """Call the function on a worker thread. Errors become text for a model only here."""
        try:
            call = current_call()
            work = partial(self.fn, call, **self._checked(arguments))
            lane = call.lanes.reading if self._only_reads else call.lanes.writing
            answer = cast(Answer, await lane.run(work))
        except KinmemError as error:
            raise ToolError(inert(f"{error.code}: {error}")) from error
        except Exception as error:
            raise UnexpectedToolError(
                f"internal: {self.name} failed in an unforeseen way; the log on stderr tells more"
            ) from error
        sent = answer.sent()
        text = json.dumps(sent, ensure_ascii=False, separators=(",", ":"))
        return CallToolResult(
            content=[TextContent(type="text", text=text)],
            structured_content=sent if self.listed else None,
        )

    @property
    def _only_reads(self) -> bool:
        return bool(self.annotations and self.annotations.read_only_hint)

    def _checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        model = self.fn_metadata.arg_model
        given = without_nulls(given) if self.null_is_absent else given
        try:
            checked = model.model_validate(given)
        except ValidationError as error:
            raise InvalidInput(
                call_in_short(error, list(self.parameters["properties"]), model)
            ) from None
        return {name: getattr(checked, name) for name in checked.model_fields_set}


def tool(
    function: Callable[..., Answer],
    title: str,
    hints: ToolAnnotations,
    *,
    always_load: bool = False,
    listed: bool = True,
) -> StrictTool:
    """Make a tool of a function: its name, docstring, parameters after the call, and answer.

    A tool that is not `listed` answers hooks, which read text only.
    """
    arguments = _arguments_of(function)
    answer: type[Answer] = inspect.signature(function).return_annotation
    return StrictTool(
        fn=function,
        name=function.__name__,
        title=title,
        description=" ".join((function.__doc__ or "").split()),
        parameters=_schema_of(arguments, "validation"),
        fn_metadata=FuncMetadata(
            arg_model=arguments,
            output_schema=_schema_of(answer, "serialization") if listed else None,
        ),
        is_async=False,
        context_kwarg=None,
        annotations=hints,
        meta={"anthropic/alwaysLoad": True} if always_load else None,
        listed=listed,
    )


def closed(tool: StrictTool) -> StrictTool:
    """Return the tool for programs that let a model use only what its schema names: every argument
    is required, null stands for none, and nested objects are spelled out."""
    parameters = dict(tool.parameters)
    parameters["properties"] = {
        name: _spelled_out(schema, tool.fn_metadata.arg_model, name)
        for name, schema in parameters["properties"].items()
    }
    changes = {"parameters": _closed(parameters), "null_is_absent": True}
    return tool.model_copy(update=changes)


def _spelled_out(schema: Any, model: type[BaseModel], name: str) -> Any:
    """Add the members of the objects in a list, which a short schema only hints at."""
    inside = schema.get("items", {})
    if inside.get("type") != "object" or "properties" in inside:
        return schema
    fields = {field.alias or key: field for key, field in model.model_fields.items()}
    shape = object_in(fields[name].annotation)
    members = lean(TypeAdapter(shape).json_schema())
    return {**schema, "items": members}


def _closed(schema: Any) -> Any:
    """Require all members, let those that were optional be null, and allow no others."""
    if isinstance(schema, list):
        return [_closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {name: _closed(part) for name, part in schema.items() if name != "default"}
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        needed = schema.get("required", [])
        members = {
            name: part if name in needed else _or_null(part)
            for name, part in schema["properties"].items()
        }
        closing = {"required": list(members), "additionalProperties": False}
        return {**schema, "properties": members, **closing}
    return schema


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    if "type" not in schema:
        described = {"description": schema["description"]} if "description" in schema else {}
        rest = {name: part for name, part in schema.items() if name != "description"}
        return {**described, "anyOf": [rest, {"type": "null"}]}
    nullable = {**schema, "type": [schema["type"], "null"]}
    return nullable | ({"enum": [*schema["enum"], None]} if "enum" in schema else {})


def without_nulls(given: Any) -> Any:
    """Return the object without its null members."""
    if not isinstance(given, Mapping):
        return given
    return {name: value for name, value in given.items() if value is not None}


def lean(schema: Any) -> Any:
    """Return the JSON schema without parts that only cost tokens: titles, null alternatives, empty
    defaults."""
    if isinstance(schema, list):
        return [lean(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        name: lean(part)
        for name, part in schema.items()
        if not (name == "title" and isinstance(part, str))
        and not (name == "default" and part in (None, False))
    }
    options = [option for option in kept.get("anyOf", []) if option != {"type": "null"}]
    if len(options) == 1:
        del kept["anyOf"]
        return {**options[0], **kept}
    return {**kept, "anyOf": options} if options else kept


@cache
def _schema_of(model: type[BaseModel], mode: Literal["validation", "serialization"]) -> Any:
    """Return the lean schema, which all servers of a process share: nobody may change it."""
    return lean(model.model_json_schema(mode=mode))


@cache
def _arguments_of(function: Callable[..., Any]) -> type[Arguments]:
    """Return a model of the parameters after the first; `**rest: Unpack[Keys]` stands for those
    keys."""
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        hint = hints[parameter.name]
        if parameter.kind is parameter.VAR_KEYWORD:
            (shared,) = get_args(hint)
            for name, part in get_type_hints(shared, include_extras=True).items():
                fields[name] = (part, None)
        elif parameter.default is parameter.empty:
            fields[parameter.name] = (hint, ...)
        else:
            fields[parameter.name] = (hint, parameter.default)
    return create_model(function.__name__, __base__=Arguments, **fields)


def _is_container(annotation: Any) -> bool:
    """Return whether the annotation, or one of its alternatives, is a list or an object."""
    if any(_is_container(option) for option in get_args(annotation) if get_origin(annotation)):
        return True
    return (get_origin(annotation) or annotation) in (list, tuple, dict)


def _unquoted(value: Any) -> Any:
    """Parse a list or object in a string: Claude Desktop sends them that way."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value
