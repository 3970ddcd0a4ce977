"""A file of cases is read as what it is, whatever it is called by."""

from __future__ import annotations

from pathlib import Path

import pytest

from playground.engine.evaluation.imports.promptfoo import Configuration, read_file
from playground.engine.evaluation.imports.table import CasesError, Table


@pytest.mark.parametrize("suffix", [".yaml", ".YML", ".json"])
def test_file_is_read_by_its_content(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"file{suffix}"
    path.write_text('{"prompts": ["Hi {{name}}"], "tests": [{"vars": {"name": "Ann"}}]}', encoding="utf-8")
    imported = read_file(path)
    assert isinstance(imported, Configuration)
    assert imported.cases[0].values == {"name": "Ann"}
    path.write_text('[{"question": "which tests have prompts?"}]', encoding="utf-8")
    table = read_file(path)
    assert isinstance(table, Table)
    assert table.columns == ("question",)


def test_unreadable_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(CasesError, match=r"cannot be read"):
        read_file(tmp_path / "nowhere.csv")
    path = tmp_path / "broken.yaml"
    path.write_text("prompts: [\ntests: providers\n", encoding="utf-8")
    with pytest.raises(CasesError, match=r"not YAML"):
        read_file(path)
    path = tmp_path / "cases.docx"
    path.write_bytes(b"PK")
    with pytest.raises(CasesError, match=r"Cases are read from"):
        read_file(path)
