"""The MCP interface: tools, resources, prompts, and the transports that messages take."""
