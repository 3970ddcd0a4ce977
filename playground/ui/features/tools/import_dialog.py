"""Dialog that imports tools from a text, with a preview."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtWidgets import QLineEdit, QWidget

from playground.domain.tools import ToolDefinition, definition_tokens
from playground.engine.files.tool_import import import_tools
from playground.engine.files.tool_import.collector import KIND_WORDS, Imported
from playground.ui.widgets.code_editor import CodeEditor
from playground.ui.widgets.form_parts import styled, text_label
from playground.ui.widgets.import_dialog import ImportDialog, ImportKind, NotImportableError, Preview, Source
from playground.ui.widgets.json_text import pretty_value
from playground.ui.widgets.layouts import split
from playground.ui.widgets.outline_tree import Item

PREVIEW_SIZES = 330, 380  # pixels: the tools and the schema


class ImportToolsDialog(ImportDialog[Imported]):
    """Import of tools; ``imported`` carries the checked ones. ``existing_names`` are the names in use."""

    kind = ImportKind(
        title="Import tools",
        placeholder=(
            "Paste or drop here: tool definitions of any vendor or MCP server, Python functions or classes, or an "
            "OpenAPI document."
        ),
        noun="tool",
        is_json=True,
    )

    def __init__(self, existing_names: Iterable[str], parent: QWidget) -> None:
        self._existing_names = tuple(existing_names)
        self.schema = CodeEditor(read_only=True)
        self.schema.setAccessibleName("Parameters of the tool, JSON Schema")
        self.group = styled(QLineEdit(placeholderText="none"), "field")
        self.group.setMaximumWidth(180)
        self.group.setAccessibleName("Group for the imported tools")
        label = text_label("Group")
        label.setBuddy(self.group)
        super().__init__(parent, choices=(label, self.group))
        self.preview.currentItemChanged.connect(self._show_schema)

    def reader(self) -> Callable[[Source], Preview[Imported]]:
        """Return the function that reads tools."""
        return partial(_read, self._existing_names)

    def preview_area(self) -> QWidget:
        """Return the tools with the schema of the selected one."""
        return split(self.preview, self.schema, sizes=PREVIEW_SIZES)

    def show_content(self, content: Imported | None) -> None:
        """Show the schema of the first tool."""
        self._show_schema()

    def add_content(self, content: Imported, checked: tuple[int, ...]) -> None:
        """Import the checked tools into the group."""
        group = self.group.text().strip()
        tools = (content.tools[number] for number in checked)
        self.imported.emit(tuple(tool.model_copy(update={"group": group}) if group else tool for tool in tools))
        self.accept()

    def _show_schema(self, *_: object) -> None:
        item = self.preview.currentItem()
        number = self.preview.indexOfTopLevelItem(item) if item is not None else -1
        if self.content is None or number < 0:
            self.schema.show_text("")
            return
        tool = self.content.tools[number]
        body = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        self.schema.show_text(pretty_value(body if tool.output is None else {**body, "output": tool.output}))


def _read(existing_names: tuple[str, ...], source: Source) -> Preview[Imported]:
    result = import_tools(source.text, existing_names)
    if not result.tools:
        raise NotImportableError(result.problem or "No tools were found in this text.")
    count = "1 tool" if len(result.tools) == 1 else f"{len(result.tools):,} tools"
    summary = f"Understood as {KIND_WORDS[result.kind]}: {count}"
    return Preview(result, summary, [_item(tool) for tool in result.tools], result.notes)


def _item(tool: ToolDefinition) -> Item:
    lines = tool.description.strip().splitlines() or ["no description"]
    return Item(tool.name, f"{lines[0]} · ≈ {definition_tokens(tool):,} tokens", checked=True)
