"""The MCP interface: tools, resources, prompts, and how messages travel."""
