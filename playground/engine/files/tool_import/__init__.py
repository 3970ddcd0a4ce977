"""Tools from elsewhere: definitions in JSON, the source of Python functions, an OpenAPI document. Nothing is run."""

from playground.engine.files.tool_import.found import Imported
from playground.engine.files.tool_import.texts import export_tools, import_tools

__all__ = ["Imported", "export_tools", "import_tools"]
