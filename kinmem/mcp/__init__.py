"""What MCP clients see: tools, resources, prompts, and the ways messages travel."""
