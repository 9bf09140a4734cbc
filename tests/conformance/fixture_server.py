"""What the MCP conformance suite wants to find on a server, behind kinmem's own HTTP transport.

The names and texts are the suite's. kinmem asks its clients nothing, so there is nothing here for
sampling, elicitation and logging; expected-failures.yml lists what therefore fails.
"""

import base64
import json
from typing import Annotated, Any

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Audio, Context, Image, UserMessage
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Resolve, Sample
from mcp.types import (
    Completion,
    CreateMessageResult,
    EmbeddedResource,
    ImageContent,
    SamplingMessage,
    TextContent,
    TextResourceContents,
)

from kinmem.http.server import Served, build_app, serve_http
from kinmem.settings import load

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
SILENCE = b"RIFF$\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00@\x1f\x00\x00@\x1f\x00\x00"
SILENCE += b"\x01\x00\x08\x00data\x00\x00\x00\x00"

server: MCPServer[Any] = MCPServer("kinmem-fixture", version="1", subscriptions=False)


def embedded(uri: str, mime_type: str, text: str) -> EmbeddedResource:
    contents = TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return EmbeddedResource(type="resource", resource=contents)


def picture() -> ImageContent:
    return Image(data=PIXEL, format="png").to_image_content()


@server.tool(structured_output=False)
def test_simple_text() -> str:
    """Text."""
    return "This is a simple text response for testing."


@server.tool()
def test_image_content() -> ImageContent:
    """An image."""
    return picture()


@server.tool()
def test_audio_content() -> Audio:
    """A sound."""
    return Audio(data=SILENCE, format="wav")


@server.tool()
def test_embedded_resource() -> EmbeddedResource:
    """A resource."""
    return embedded(
        "test://embedded-resource", "text/plain", "This is an embedded resource content."
    )


@server.tool()
def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
    """One of each."""
    data = json.dumps({"test": "data", "value": 123})
    return [
        TextContent(type="text", text="Multiple content types test:"),
        picture(),
        embedded("test://mixed-content-resource", "application/json", data),
    ]


@server.tool()
def test_error_handling() -> str:
    """An error."""
    raise ToolError("This tool intentionally returns an error for testing")


@server.tool(structured_output=False)
async def test_tool_with_progress(ctx: Context[Any, Any]) -> str:
    """Something slow."""
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100)
        await anyio.sleep(0.05)
    return "done"


def question() -> Sample:
    content = TextContent(type="text", text="Well?")
    return Sample([SamplingMessage(role="user", content=content)], max_tokens=10)


@server.tool(structured_output=False)
async def test_missing_capability(
    answer: Annotated[CreateMessageResult, Resolve(question)],
) -> str:
    """Something that needs a client with sampling."""
    return str(answer.content)


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    return PIXEL


@server.resource("test://template/{id}/data", mime_type="application/json")
def template(id: str) -> str:
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@server.prompt()
def test_simple_prompt() -> str:
    """A prompt."""
    return "This is a simple prompt for testing."


@server.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """A prompt to be filled in."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.prompt()
def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:
    """A prompt with a resource."""
    text = "Embedded resource content for testing."
    return [
        UserMessage(embedded(resourceUri, "text/plain", text)),
        UserMessage("Please process the embedded resource above."),
    ]


@server.prompt()
def test_prompt_with_image() -> list[UserMessage]:
    """A prompt with a picture."""
    return [UserMessage(picture()), UserMessage("Please analyze the image above.")]


@server.completion()  # type: ignore[no-untyped-call, untyped-decorator]
async def complete(ref: object, argument: object, context: object) -> Completion:
    return Completion(values=["paris", "park", "party"], total=3, has_more=False)


if __name__ == "__main__":
    app = build_app(server, 60, [])
    serve_http(lambda *_: Served(app), load(), opened=lambda: None, close=lambda: None)
