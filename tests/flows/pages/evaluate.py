"""The page of an evaluation: its run bar, the table of answers, the details of one answer, the panels and dialogs."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Self

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QTabBar,
    QTableView,
    QTextEdit,
    QToolButton,
    QWidget,
)

from playground.demo.server import DemoConfig
from playground.engine.io.files import resource_root
from playground.engine.library.opening_files import open_sample
from playground.engine.session.plan import Plan
from tests.flows.pages.dialogs import name_file, select_entry
from tests.flows.pages.page import Page, find_by_object_name, get_by_object_name, read_label, text_of
from tests.flows.pages.steps import Dialog, click_cell, column_texts, open_tab, replace_text, trigger

if TYPE_CHECKING:
    from pathlib import Path

    from tests.flows.conftest import Person

SAMPLE = resource_root() / "samples" / "evaluation.playground.json"
AT_ONCE = DemoConfig(tokens_per_second=0, time_to_first_token=0, rate_limit=0)
PANELS = "Plan of the evaluation"


def plan_of(person: Person) -> Plan:
    """The evaluation of the experiment as it is set."""
    plan = person.session.main.settings.evaluation
    assert plan is not None
    return plan


async def change_plan(person: Person, **fields: object) -> None:
    """Change fields of the evaluation."""
    plan = person.session.main.settings.evaluation or Plan()
    changed = Plan.model_validate({**dict(plan), **fields})
    await person.do(lambda: person.session.main.change(evaluation=changed))


class EvaluatePage(Dialog):
    """The centre of the window while an evaluation is shown."""

    object_name = "evaluatePage"

    @classmethod
    async def open(cls, person: Person) -> Self:
        """Open it from the menu unless it is open, and wait until it can be run or says why not."""
        if not cls.count(person):
            await person.trigger("evaluate.open")
        page = await cls.wait(person)
        await page.wait_until_ready()
        return page

    @classmethod
    async def open_sample(cls, person: Person) -> Self:
        """The evaluation of the sample, in an experiment of its own."""
        if person.path:
            await person.do(person.app.workspace.new)
        await person.do(lambda: open_sample(person.app.workspace.current, SAMPLE, "Evaluation"))
        return await cls.open(person)

    async def wait_until_ready(self) -> None:
        """Wait until the answers kept before have been read."""
        await self.wait_until(lambda: self.ready, "the evaluation to be ready")

    # The run bar

    @property
    def _run_button(self) -> QPushButton | None:
        buttons = [button for button in self.find(QPushButton) if text_of(button) in ("Run", "Continue")]
        return buttons[0] if buttons else None

    @property
    def running(self) -> bool:
        """True while it can be stopped."""
        return any(text_of(button) == "Stop" for button in self.find(QPushButton))

    @property
    def complete(self) -> bool:
        """True once every answer is there and it can only be run again."""
        return any(text_of(button) == "Run again" for button in self.find(QPushButton))

    @property
    def ready(self) -> bool:
        """True while it runs, can be run or says why not."""
        button = self._run_button
        return button is None or button.isEnabled() or "that are missing" not in button.toolTip()

    @property
    def progress(self) -> str:
        """The words at the end of the run bar."""
        return read_label(self.person, "runProgress", self.widget)

    @property
    def answers(self) -> int:
        """The number of answers to the evaluation as it is set."""
        return self._number(r"([\d,]+) of [\d,]+", self.progress)

    @property
    def failed(self) -> int:
        """The number of answers that failed."""
        return self._number(r"([\d,]+) failed", self.progress)

    @property
    def stale(self) -> int:
        """The number of cases with answers to another question, on the button of the filter."""
        return self._number(
            r"Outdated ([\d,]+)", " ".join(button.text() for button in self.find(QPushButton, "Outdated"))
        )

    @staticmethod
    def _number(pattern: str, text: str) -> int:
        match = re.search(pattern, text)
        return int(match[1].replace(",", "")) if match else 0

    async def begin(self) -> None:
        """Start the run with its key."""
        await self.person.key(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)

    async def run(self) -> None:
        """Run it to its end with the button."""
        await self.wait_until(lambda: self._run_button is not None and self._run_button.isEnabled(), "the button")
        assert self._run_button is not None
        await self.person.click(self._run_button)
        await self.wait_until_complete()

    async def wait_until_complete(self) -> None:
        """Wait until all answers are there."""
        await self.wait_until(lambda: self.complete and not self.running, "all answers")

    # The table

    async def choose_answer(self, case: int, text: str = "", column: int = 1) -> AnswerDetails:
        """Choose a cell of the table, wait until its answer is shown and, if given, a text of it."""
        table = await self.wait_for(QTableView, "Cases and their answers")
        await self.wait_until(lambda: table.model().rowCount() > case, f"case {case}")
        name = str(table.model().index(case, 0).data()).partition(",")[0]
        await click_cell(self.person, table, case, column)
        await self.wait_until(lambda: find_by_object_name(self.person, "answerDetails", self.widget), "the answer")
        details = AnswerDetails(self.person, get_by_object_name(self.person, "answerDetails", self.widget))
        await self.wait_until(lambda: details.title.startswith(name), f"the answer of {name}")
        await self.wait_until(lambda: text in details.text and details.has_button("Run this cell again"), text)
        return details

    async def choose_case(self, case: int) -> None:
        """Choose a case, without an answer, in the table."""
        await click_cell(self.person, await self.wait_for(QTableView, "Cases and their answers"), case)

    async def choose_no_case(self) -> None:
        """Close the details with Escape."""
        table = await self.wait_for(QTableView, "Cases and their answers")
        await self.person.do(partial(QTest.keyClick, table, Qt.Key.Key_Escape))

    # The panels

    async def open_variants(self) -> VariantsPanel:
        """The panel of variants."""
        await open_tab(self.person, "Variants", PANELS)
        return VariantsPanel(self.person, self.widget)

    async def open_cases(self) -> CasesPanel:
        """The panel of cases."""
        await open_tab(self.person, "Cases", PANELS)
        return await CasesPanel.wait(self.person)

    async def open_checks(self) -> ChecksPanel:
        """The panel of checks."""
        await open_tab(self.person, "Checks", PANELS)
        return ChecksPanel(self.person, self.widget)

    async def open_run_settings(self) -> RunPanel:
        """The panel that says how it is run."""
        await open_tab(self.person, "Run", PANELS)
        panel = RunPanel(self.person, self.widget)
        for title in ("Run options", "Output", "Limits"):
            fold = await panel.wait_for(QToolButton, title)
            if not fold.isChecked():
                await self.person.do(fold.click)
        return panel

    async def import_cases(self, path: Path) -> ImportCasesDialog:
        """Choose a file to import cases from, and wait until it is read."""
        await self.press("Import cases…")
        dialog = await ImportCasesDialog.wait(self.person)
        await dialog.press("Open file…")
        await name_file(self.person, path)
        await self.wait_until(lambda: dialog.summary not in ("", "Nothing to read yet.", "Reading…"), "the file")
        return dialog


class AnswerDetails(Page):
    """One answer below the table: its turns, checks, request and timeline."""

    @property
    def title(self) -> str:
        """The case and the letter of the variant."""
        names = [widget.accessibleName() for widget in self.find(QWidget)]
        return next((name.removeprefix("Answer: ") for name in names if name.startswith("Answer: ")), "")

    @property
    def text(self) -> str:
        """All texts of turns and messages that are shown."""
        return "\n".join([*(view.toPlainText() for view in self.find(QTextEdit)), *self.texts, *self._editors()])

    def _editors(self) -> list[str]:
        return [editor.toPlainText() for editor in self.find(QPlainTextEdit)]

    @property
    def errors(self) -> list[str]:
        """The names of the error cards."""
        names = [widget.accessibleName() for widget in self.find(QWidget)]
        return [name for name in names if name.startswith("Error: ")]

    @property
    def tab(self) -> str:
        """The title of the tab in front."""
        bar = self.get(QTabBar, "Details of the answer")
        return bar.tabText(bar.currentIndex())

    @property
    def tabs(self) -> list[str]:
        """The titles of all tabs."""
        bar = self.get(QTabBar, "Details of the answer")
        return [bar.tabText(index) for index in range(bar.count())]

    async def open_tab(self, title: str) -> None:
        """Turn to a tab."""
        await open_tab(self.person, title, "Details of the answer")

    @property
    def checks(self) -> list[tuple[str, str]]:
        """For each check "passed", "failed" or another word, and its reason."""
        tables = self.find(QTableView, "Verdicts")
        if not tables:
            return []
        names = column_texts(tables[0], 0, Qt.ItemDataRole.AccessibleTextRole)
        words = [name.rpartition(": ")[2] for name in names]
        return list(zip(words, column_texts(tables[0], 1), strict=True))

    async def open_check(self, row: int) -> None:
        """Click a check to see all of it."""
        await click_cell(self.person, await self.wait_for(QTableView, "Verdicts"), row)

    @property
    def rated_bad(self) -> bool:
        """True if the thumb down is pressed."""
        return self.get(QAbstractButton, "This answer is bad").isChecked()

    @property
    def note(self) -> QLineEdit:
        """The field of the note beside the thumbs."""
        return self.get(QLineEdit, "Note on this answer")

    @property
    def can_be_rated(self) -> bool:
        """True if there are thumbs."""
        return self.has_button("This answer is bad")


class BlindTest(Page):
    """The view that compares two variants without their names."""

    @classmethod
    async def open(cls, page: EvaluatePage) -> BlindTest:
        """Turn to the view."""
        await page.press("Blind")
        await page.wait_until(lambda: find_by_object_name(page.person, "blindTest", page.widget), "the blind test")
        return cls(page.person, get_by_object_name(page.person, "blindTest", page.widget))

    @property
    def question(self) -> str:
        """The question that both answers answer; empty while no pair is shown."""
        return read_label(self.person, "pairQuestion", self.widget)

    @property
    def count(self) -> str:
        """How many pairs have been judged."""
        return read_label(self.person, "pairCount", self.widget)

    @property
    def votes(self) -> str:
        """The votes for each variant; empty before the result is shown."""
        return read_label(self.person, "voteCounts", self.widget)

    @property
    def words(self) -> set[str]:
        """The words around the two answers: labels and accessible names, without the lists of variants to compare."""
        names = [widget.accessibleName() for widget in self.find(QWidget) if not isinstance(widget, QComboBox)]
        return set(re.findall(r"[\w-]+", " ".join([*self.texts, *names])))


class CheckCard(Page):
    """One check in the panel."""

    @property
    def title(self) -> str:
        """Its kind."""
        return self.find(QPushButton)[0].text()

    @property
    def rate(self) -> str:
        """The share of answers that passed it."""
        return read_label(self.person, "passRate", self.widget)

    @property
    def rate_details(self) -> str:
        """The tooltip of the share."""
        labels = find_by_object_name(self.person, "passRate", self.widget)
        return labels[0].toolTip() if labels else ""

    @property
    def problem(self) -> str:
        """The reason why it cannot be used."""
        return read_label(self.person, "problem", self.widget)

    @property
    def is_open(self) -> bool:
        """True while its form is shown."""
        return bool(self.find(QLineEdit) or self.find(QPlainTextEdit) or self.find(QComboBox))

    async def toggle(self) -> None:
        """Open or close its form."""
        await self.wait_until(lambda: self.find(QPushButton), "the head of the card")
        await self.person.do(self.find(QPushButton)[0].click)

    def entries(self, field: str) -> list[str]:
        """The entries of a list in its form."""
        box = self.get(QComboBox, field)
        return [box.itemText(index) for index in range(box.count())]

    async def choose_model(self, model: str) -> None:
        """Open the list of models, wait until this one is in it, and type its id."""
        box = await self.wait_for(QComboBox, "Model")
        await self.person.do(box.showPopup)

        def listed() -> bool:
            views = self.person.find(QAbstractItemView)
            roles = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
            return any(model in text for view in views for role in roles for text in column_texts(view, role=role))

        await self.wait_until(listed, f"{model} in the list of models")
        line = box.lineEdit()
        assert line is not None
        await replace_text(self.person, line, model)
        await self.person.do(partial(QTest.keyClick, line, Qt.Key.Key_Return))

    async def choose_in(self, field: str, entry: str) -> None:
        """Choose an entry of a list in its form."""
        await select_entry(self.person, await self.wait_for(QComboBox, field), entry)

    async def choose(self, entry: str) -> None:
        """Choose an entry of its menu."""
        menu = (await self.wait_for(QToolButton, "More about the check")).menu()
        assert isinstance(menu, QMenu)
        await trigger(self.person, menu, entry)


class ChecksPanel(Page):
    """The checks of all cases, and those of the chosen one."""

    @property
    def cards(self) -> list[CheckCard]:
        """The checks of all cases, top to bottom."""
        return self._cards("checksOfAllCases")

    @property
    def own_cards(self) -> list[CheckCard]:
        """The checks of the chosen case alone."""
        return self._cards("checksOfThisCase")

    def _cards(self, object_name: str) -> list[CheckCard]:
        lists = find_by_object_name(self.person, object_name, self.widget)
        cards = find_by_object_name(self.person, "checkCard", lists[0]) if lists else []
        return [CheckCard(self.person, card) for card in sorted(cards, key=QWidget.y)]

    @property
    def of_single_cases(self) -> list[QPushButton]:
        """A button for each check that single cases have."""
        lists = find_by_object_name(self.person, "checksOfSingleCases", self.widget)
        return self.person.find(QPushButton, inside=lists[0]) if lists else []

    async def add(self, kind: str) -> None:
        """Add a check of all cases; the keys are in its first field then."""
        await self.person.choose(await self.wait_for(QPushButton, "Add a check of all cases"), kind)

    @property
    def can_add_own(self) -> bool:
        """True if a check of one case can be added."""
        return bool(self._add_own_buttons)

    @property
    def _add_own_buttons(self) -> list[QPushButton]:
        return [button for button in self.find(QPushButton) if button.text() == "Check of this case"]

    async def add_own(self, kind: str) -> None:
        """Add a check of the chosen case."""
        await self.wait_until(lambda: self.can_add_own, "the button of the chosen case")
        await self.person.choose(self._add_own_buttons[0], kind)


class RunPanel(Page):
    """How it is run, what it will take, and the answers that are saved."""

    def __init__(self, person: Person, page: QWidget) -> None:
        super().__init__(person, page)
        self.page = page

    async def type_into(self, field: str, text: str) -> None:
        """Replace the text of a field."""
        line = await self.wait_for(QLineEdit, field)
        await self.person.do(line.setFocus)
        await replace_text(self.person, line, text)

    async def choose(self, field: str, entry: str) -> None:
        """Choose the entry of a list."""
        await select_entry(self.person, await self.wait_for(QComboBox, field), entry)

    def problem(self, field: str) -> str:
        """The text below a field."""
        row: QWidget | None = self.get(QLineEdit, field)
        while row is not None and row is not self.widget:
            label = row.findChild(QLabel, "problem")
            if isinstance(label, QLabel):
                return label.text() if label.isVisible() else ""
            row = row.parentWidget()
        return ""

    @property
    def problems(self) -> list[str]:
        """The reason why the evaluation cannot be run."""
        names = [widget.accessibleName() for widget in self.find(QWidget)]
        return [name for name in names if name.startswith("error: ")]

    @property
    def estimate(self) -> str:
        """The estimate for the missing answers."""
        labels = self.find(QLabel, "Estimate")
        return labels[0].text() if labels else ""

    @property
    def saved(self) -> str:
        """How many answers are saved, and how many of them are stale."""
        return read_label(self.person, "savedAnswers", self.widget)

    def can_press(self, button: str) -> bool:
        """True if a button is there and enabled."""
        return any(match.isEnabled() for match in self.find(QPushButton, button))

    async def push(self, button: str) -> None:
        """Press a button that may have to be scrolled to."""
        match = await self.wait_for(QPushButton, button)
        await self.wait_until(match.isEnabled, f"{button} to be enabled")
        await self.person.do(match.click)


class VariantDialog(Dialog):
    """The form of a variant."""

    object_name = "variantDialog"

    async def rename(self, name: str) -> None:
        """Type another name."""
        await replace_text(self.person, await self.wait_for(QLineEdit, "Name"), name)

    async def set_system(self, text: str) -> None:
        """Give it a system turn of its own."""
        await self.press("Own system message")
        await replace_text(self.person, await self.wait_for(QPlainTextEdit, "System message"), text)


class SweepDialog(Dialog):
    """Variants out of a range of a parameter."""

    object_name = "sweepDialog"

    async def set_step(self, text: str) -> None:
        """Type the step."""
        await replace_text(self.person, await self.wait_for(QLineEdit, "Step"), text)

    @property
    def summary(self) -> str:
        """The variants it would make, or why it makes none."""
        return read_label(self.person, "sweepSummary", self.widget)

    @property
    def add_button(self) -> QPushButton:
        """The button that adds them."""
        return self.get(QPushButton, "Add")


class VariantCard(Page):
    """One variant in the panel."""

    async def choose(self, entry: str) -> None:
        """Choose an entry of its menu."""
        await self.press("More about this variant")

        def menus() -> list[QMenu]:
            windows = [window for window in self.person.windows if isinstance(window, QMenu)]
            return [menu for menu in windows if any(action.text() == entry for action in menu.actions())]

        await self.wait_until(menus, f"the menu with {entry}")
        await self.person.pick(menus()[0], entry)


class VariantsPanel(Page):
    """The variants of the evaluation."""

    @property
    def cards(self) -> list[str]:
        """The description of each variant, top to bottom; the first is the experiment without changes."""
        return [card.accessibleName() for card in self._cards()]

    def _cards(self) -> list[QWidget]:
        cards = [card for card in self.find(QWidget) if card.accessibleName().startswith("Variant ")]
        return sorted(cards, key=QWidget.y)

    def card(self, name: str) -> VariantCard:
        """The card of a variant."""
        pattern = rf"Variant \w+ {re.escape(name)}:"
        (card,) = [card for card in self._cards() if re.match(pattern, card.accessibleName())]
        return VariantCard(self.person, card)

    async def add(self, *path: str) -> None:
        """Choose an entry of the menu that adds variants."""
        menu = (await self.wait_for(QPushButton, "Add a variant")).menu()
        assert isinstance(menu, QMenu)
        await trigger(self.person, menu, *path)

    async def open_sweep(self) -> SweepDialog:
        """The dialog of a sweep."""
        await self.press("Sweep…")
        return await SweepDialog.wait(self.person)


class ImportCasesDialog(Dialog):
    """Cases in a file, looked over before they are imported."""

    object_name = "importCasesDialog"

    @property
    def summary(self) -> str:
        """How much was found, or why nothing can be imported."""
        return read_label(self.person, "importSummary", self.widget)

    @property
    def notes(self) -> str:
        """The problems of the import."""
        return "".join(field.toPlainText() for field in self.find(QPlainTextEdit, "Problems and notes"))

    def role(self, column: str) -> str:
        """The use of a column."""
        return self.get(QComboBox, f"Role of {column}").currentText()

    async def set_role(self, column: str, role: str) -> None:
        """Choose what becomes of a column."""
        await select_entry(self.person, await self.wait_for(QComboBox, f"Role of {column}"), role)

    async def set_variable(self, column: str, name: str) -> None:
        """Type the variable of a column."""
        await replace_text(self.person, await self.wait_for(QLineEdit, f"Variable of {column}"), name)

    @property
    def preview(self) -> QTableView:
        """Preview of the first cases."""
        return self.get(QTableView, "Preview of the first cases")

    @property
    def import_button(self) -> QPushButton:
        """The button that imports them."""
        return self.get(QPushButton, "Import")


class CasesPanel(Dialog):
    """The table of cases, with the values of the current one below it."""

    object_name = "casesPanel"

    @property
    def table(self) -> QTableView:
        """The table."""
        return self.get(QTableView, "Cases")

    @property
    def columns(self) -> list[str]:
        """The titles of its columns."""
        model = self.table.model()
        return [str(model.headerData(index, Qt.Orientation.Horizontal)) for index in range(model.columnCount())]

    @property
    def row_count(self) -> int:
        """The number of cases, without the free row."""
        model = self.table.model()
        titles = [model.headerData(index, Qt.Orientation.Vertical) for index in range(model.rowCount())]
        return sum(title != "+" for title in titles)

    async def set_cell(self, row: int, column: int, text: str) -> None:
        """Edit a cell."""
        model = (await self.wait_for(QTableView, "Cases")).model()
        await self.person.do(lambda: model.setData(model.index(row, column), text))

    async def set_value(self, column: str, row: int, text: str) -> None:
        """Edit a value of several lines below the table."""
        await click_cell(self.person, self.table, row)
        field = await self.wait_for(QPlainTextEdit, f"{column} of this case")
        await self.person.do(partial(field.setPlainText, text))

    async def paste(self, text: str) -> None:
        """Paste rows as a spreadsheet copies them."""
        await self.person.do(partial(QGuiApplication.clipboard().setText, text))
        await self.add("Paste from a spreadsheet")

    async def add(self, entry: str) -> None:
        """Choose an entry of the menu that adds cases."""
        menu = (await self.wait_for(QPushButton, "Add cases")).menu()
        assert isinstance(menu, QMenu)
        await trigger(self.person, menu, entry)

    async def delete_all(self) -> None:
        """Select all cases and delete them with the keys."""
        await self.person.do(self.table.selectAll)
        control = Qt.KeyboardModifier.ControlModifier
        await self.person.do(partial(QTest.keyClick, self.table, Qt.Key.Key_Delete, control))
