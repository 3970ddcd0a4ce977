"""Intake of images for a message: chosen, pasted, dropped or by address, read in a thread and resized if large.

The message is the draft in the composer or a turn of the conversation. What is read goes into the experiment it was
given to, also when another one is shown by then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import QEvent, QMimeData, QObject, QSettings
from PySide6.QtGui import QActionGroup, QDragEnterEvent, QDragMoveEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QWidget

from playground.domain.parts import Image
from playground.domain.transcript import Role, Turn
from playground.engine.files.images import (
    SHRINK_SIDE,
    ImageError,
    cut_off_words,
    facts,
    is_address,
    is_large,
    size_words,
)
from playground.engine.requests.protocol_info import pictures_in_results
from playground.engine.session.session import Session
from playground.jsonkit.texts import quantity
from playground.ui.features.conversation.composer import Composer
from playground.ui.features.conversation.documents import read_text_file
from playground.ui.features.conversation.image_view import figures
from playground.ui.features.conversation.images import Source, offers_images, read_source, shrunk, sources_of
from playground.ui.widgets.dialogs import ask_several, line_dialog
from playground.ui.widgets.loop import ask, spawn
from playground.ui.widgets.notice_bar import Choice, NoticeBar

FILTER = "Images (*.png *.jpg *.jpeg *.gif *.webp);;All files (*)"
ANY_FILTER = "All files (*)"
PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
ADDRESS = "Address (https://…) or data URL. An address is sent as it is; nothing is loaded here."
AS_LINES = "This API sends results as text: each image becomes a line."

KEY: Final = "images/large"
ASK, SMALLER, UNCHANGED = "ask", "smaller", "as-they-are"
#: What can be done with large images: the setting's value and its words.
CHOICES: Final = (
    (ASK, "Ask about large images"),
    (SMALLER, "Resize large images"),
    (UNCHANGED, "Send large images unchanged"),
)
PROGRESS_S = 0.3  # after which a notice says that images are being resized

#: Puts images in the places of others, which are named by their URLs; returns how many were still there.
Swap = Callable[[Mapping[str, Image]], int]


async def _read(sources: Sequence[Source], add: Callable[[Image | None], None]) -> tuple[list[Image], str]:
    """Read images one after another and ``add`` each, None for a refusal. Return them, and what was wrong."""
    images: list[Image] = []
    refusals: list[str] = []
    defects: list[str] = []
    for source in sources:
        image = None
        try:
            image = await asyncio.to_thread(read_source, source)
            if defect := await asyncio.to_thread(cut_off_words, image):
                defects.append(defect)
            images.append(image)
        except ImageError as error:
            refusals.append(str(error))
        finally:
            add(image)
    refused = f"Not attached. {_first_three(refusals)}" if refusals else ""
    return images, " ".join(filter(None, (refused, _first_three(defects))))


def _first_three(sentences: Sequence[str]) -> str:
    more = f" (and {len(sentences) - 3} more)" if len(sentences) > 3 else ""
    return " ".join(sentences[:3]) + more


# Large images


class ImageSizes(QObject):
    """Offer in ``notice`` to resize large images, or resize them without asking."""

    def __init__(self, notice: NoticeBar, parent: QObject) -> None:
        super().__init__(parent)
        self._notice = notice
        self._settings: QSettings | None = None
        self._choice = ASK
        self._work: asyncio.Task[None] | None = None

    def keep_in(self, settings: QSettings) -> None:
        """Load the choice from ``settings``, and save it there."""
        self._settings = settings
        value = str(settings.value(KEY, ASK))
        self._choice = value if value in [name for name, _ in CHOICES] else ASK

    @property
    def choice(self) -> str:
        """The treatment of large images: one of ``CHOICES``."""
        return self._choice

    def choose(self, choice: str) -> None:
        """Set the treatment of large images and save it."""
        self._choice = choice
        if self._settings is not None:
            self._settings.setValue(KEY, choice)

    def consider(self, images: Sequence[Image], swap: Swap, problems: str = "") -> None:
        """Offer to resize the large images; ``problems`` are shown in any case."""
        large = [image for image in images if is_large(facts(image))] if self._choice != UNCHANGED else []
        if problems:
            self._notice.say(problems)
        if large:
            self._work = spawn(self._consider(large, swap, problems), name="look at large images")

    async def _consider(self, large: list[Image], swap: Swap, problems: str) -> None:
        work = spawn(_resized(large), name="resize images")
        done, _ = await asyncio.wait({work}, timeout=PROGRESS_S)
        if not done:
            words = f"Resizing {len(large)} large images…" if len(large) > 1 else "Resizing a large image…"
            self._notice.offer(" ".join(filter(None, (problems, words))), ("Keep original size", lambda: _cancel(work)))
        try:
            smaller, refusals = await work
        except asyncio.CancelledError:
            if work.cancelled():  # by the button
                return
            work.cancel()
            raise
        if self._choice == SMALLER:  # no dialog opens, so the notice names images that stay large
            problems = " ".join(filter(None, (problems, *refusals[:3])))
        if not smaller:
            if self._choice == SMALLER and problems:
                self._notice.say(problems)
            elif not done:
                self._notice.hide()
        elif self._choice == SMALLER:
            self._resize(large, smaller, swap, problems)
        else:
            words = " ".join(filter(None, (problems, offer_words(large, smaller))))
            resize = partial(self._resize, large, smaller, swap)
            self._notice.offer(words, ("Resize", resize), ("Send unchanged", self._leave))

    def _resize(self, large: list[Image], smaller: dict[str, Image], swap: Swap, problems: str = "") -> None:
        if not swap(smaller):
            self._notice.say("Nothing resized: the images were removed.", stays=False)
            return
        resized = [image for image in large if image.url in smaller]
        originals = {smaller[image.url].url: image for image in resized}
        saved = sum(facts(image).size - facts(smaller[image.url]).size for image in resized)
        words = f"Resized; {size_words(saved)} saved. The original is not saved: Undo restores it."
        always: list[Choice] = [("Always resize", partial(self.choose, SMALLER))] if self._choice != SMALLER else []
        words = " ".join(filter(None, (problems, words)))
        self._notice.offer(words, ("Undo", partial(self._restore, swap, originals)), *always)

    def _restore(self, swap: Swap, originals: dict[str, Image]) -> None:
        if not swap(originals):
            self._notice.say("Nothing restored: the images were removed.", stays=False)

    def _leave(self) -> None:
        self._notice.say("Large images are sent unchanged.", "Never ask", partial(self.choose, UNCHANGED), stays=False)


def offer_words(large: Sequence[Image], smaller: Mapping[str, Image]) -> str:
    """Return the offer to resize images: their sizes, the smaller sizes, and what that saves."""
    originals = [facts(image) for image in large if image.url in smaller]
    copies = [facts(smaller[image.url]) for image in large if image.url in smaller]
    before, after = sum(original.size for original in originals), sum(copy.size for copy in copies)
    saves = f"saves {size_words(before - after)}"
    if len(originals) == 1:
        return f"{figures(originals[0])}. Resize to {figures(copies[0])} ({saves})?"
    most = f"at most {SHRINK_SIDE:,} pixels a side, {size_words(after)} together"
    return f"{len(originals)} large images, {size_words(before)}. Resize them to {most} ({saves})?"


def _cancel(work: asyncio.Task[tuple[dict[str, Image], list[str]]]) -> None:
    work.cancel()


async def _resized(large: Sequence[Image]) -> tuple[dict[str, Image], list[str]]:
    """Return the smaller copies by the URLs of their originals, and why other images are not resized."""
    copies: dict[str, Image] = {}
    refusals: list[str] = []
    for image in {image.url: image for image in large}.values():
        try:
            copies[image.url] = await asyncio.to_thread(shrunk, image)
        except ImageError as error:
            refusals.append(str(error))
    return copies, refusals


async def _shrink(image: Image, put: Callable[[Image], None], notice: NoticeBar) -> None:
    try:
        smaller = await asyncio.to_thread(shrunk, image)
    except ImageError as error:
        notice.say(str(error))
        return
    put(smaller)


# Into the composer


class ImageIntake(QObject):
    """Read images for one composer; images may be dropped on ``place``."""

    def __init__(self, composer: Composer, notice: NoticeBar, place: QWidget, sizes: ImageSizes) -> None:
        super().__init__(place)
        self._sizes = sizes
        self._composer = composer
        self._notice = notice
        self._place = place
        self._session: Session | None = None
        self._reading: dict[str, int] = {}  # images being read, by session
        self._turn = asyncio.Lock()
        self._folder = ""
        composer.images.shrink_asked.connect(self._shrink_attached)
        place.setAcceptDrops(True)
        place.installEventFilter(self)

    def attend(self) -> None:
        """Connect to the composer's buttons and menu."""
        self._composer.images_pasted.connect(self.take)
        self._composer.image_action.triggered.connect(self.choose_files)
        self._composer.file_action.triggered.connect(self.choose_any_files)
        menu = self._composer.image_menu
        menu.addAction("Image from clipboard").triggered.connect(self.paste)
        menu.addAction("Image by address…").triggered.connect(self.ask_address)
        menu.addSeparator()
        group = QActionGroup(menu)
        for choice, words in CHOICES:
            action = group.addAction(words)
            action.setCheckable(True)
            action.setData(choice)
            action.triggered.connect(lambda _checked=False, choice=choice: self._sizes.choose(choice))
        menu.addActions(group.actions())
        menu.aboutToShow.connect(partial(self._show_choice, group))

    def _show_choice(self, group: QActionGroup) -> None:
        for action in group.actions():
            action.setChecked(action.data() == self._sizes.choice)

    def show_session(self, session: Session) -> None:
        """Follow another experiment."""
        self._session = session
        self._say_reading()

    @property
    def busy(self) -> bool:
        """True while an image for the experiment in view is being read."""
        return self._session is not None and self._reading.get(self._session.id, 0) > 0

    def take(self, sources: Sequence[Source]) -> None:
        """Read and attach images in this order."""
        if self._session is not None and sources:
            self._count(self._session, len(sources))
            spawn(self._take(self._session, list(sources)), name="read images")

    def choose_files(self) -> None:
        """Ask for files and attach them."""
        spawn(self._choose_files(), name="choose images")

    def paste(self) -> None:
        """Attach the image in the clipboard, or say that it holds none."""
        mime = QGuiApplication.clipboard().mimeData()
        sources: list[Source] = sources_of(mime)
        if not sources and mime.hasText() and is_address(mime.text().strip()):
            sources = [mime.text().strip()]
        if not sources:
            self._notice.say("The clipboard holds no image and no address of one.", stays=False)
        self.take(sources)

    def ask_address(self) -> None:
        """Ask for an address and attach it; it is not fetched."""
        spawn(self._ask_address(), name="image address")

    def choose_any_files(self) -> None:
        """Ask for files: attach the images, put the text of the others into the message."""
        spawn(self._choose_any_files(), name="choose files")

    async def _choose_any_files(self) -> None:
        session = self._session
        paths = await ask_several(self._place.window(), "Put files into the message", self._folder, ANY_FILTER)
        if not paths or session is None:
            return
        self._folder = str(paths[0].parent)
        pictures = [path for path in paths if path.suffix.lower() in PICTURE_SUFFIXES]
        self.take(pictures)
        problems: list[str] = []
        for path in (path for path in paths if path not in pictures):
            try:
                text = await asyncio.to_thread(read_text_file, path)
            except ValueError as error:
                problems.append(str(error))
                continue
            if session is self._session:
                self._composer.append_text(text)
        if problems:
            self._notice.say(f"Not inserted. {_first_three(problems)}")

    async def _choose_files(self) -> None:
        if paths := await ask_several(self._place.window(), "Attach images", self._folder, FILTER):
            self._folder = str(paths[0].parent)
            self.take(paths)

    async def _ask_address(self) -> None:
        dialog = line_dialog(self._place.window(), "Attach an image by its address", ADDRESS, "", "Attach")
        dialog.resize(520, dialog.sizeHint().height())
        if await ask(dialog) and dialog.textValue().strip():
            self.take([dialog.textValue().strip()])
        dialog.deleteLater()

    async def _take(self, session: Session, sources: list[Source]) -> None:
        async with self._turn:
            images, problems = await _read(sources, partial(self._attach, session))
        self._sizes.consider(images, partial(self._swap, session), problems)

    def _attach(self, session: Session, image: Image | None) -> None:
        if image is not None and session is self._session:
            self._composer.set_images((*self._composer.attached, image))
        elif image is not None:
            draft = session.draft
            session.with_draft(draft.model_copy(update={"images": (*draft.images, image)}))
        self._count(session, -1)

    def _swap(self, session: Session, swaps: Mapping[str, Image]) -> int:
        in_view = session is self._session
        attached = self._composer.attached if in_view else session.draft.images
        count = sum(image.url in swaps for image in attached)
        changed = tuple(swaps.get(image.url, image) for image in attached)
        if count and in_view:
            self._composer.set_images(changed)
        elif count:
            session.with_draft(session.draft.model_copy(update={"images": changed}))
        return count

    def _count(self, session: Session, step: int) -> None:
        self._reading[session.id] = self._reading.get(session.id, 0) + step
        if not self._reading[session.id]:
            del self._reading[session.id]
        self._say_reading()

    def _say_reading(self) -> None:
        number = self._reading.get(self._session.id, 0) if self._session is not None else 0
        self._composer.show_reading(f"Reading {quantity(number, 'image')}…" if number else "")

    def _shrink_attached(self, index: int) -> None:
        image = self._composer.attached[index]
        put = partial(self._composer.replace_image, image)
        spawn(_shrink(image, put, self._notice), name="shrink image")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QDropEvent) and event.type() == QEvent.Type.Drop:
            return self._dropped(event)
        if isinstance(event, QDragEnterEvent | QDragMoveEvent):
            if offers_images(event.mimeData()):
                event.acceptProposedAction()
                self._composer.set_dropping(True)
                return True
        elif event.type() == QEvent.Type.DragLeave:
            self._composer.set_dropping(False)
        return super().eventFilter(watched, event)

    def _dropped(self, event: QDropEvent) -> bool:
        self._composer.set_dropping(False)
        sources = sources_of(event.mimeData()) if offers_images(event.mimeData()) else []
        if not sources:
            return False
        event.acceptProposedAction()
        self.take(sources)
        return True


# Into a turn


def takes_images(turn: Turn) -> bool:
    """Return whether a turn can hold images: a user's message or the result of a tool."""
    return turn.role is Role.USER or (turn.role is Role.TOOL and bool(turn.results))


class TurnPictures:
    """Add images to turns, with one edit for images that were added together."""

    def __init__(
        self,
        session: Callable[[], Session],
        notice: NoticeBar,
        edit: Callable[[str, Callable[[], object], str], None],
        sizes: ImageSizes,
        *,
        read_only: bool,
    ) -> None:
        """`edit` executes an edit of a turn, and says what was done."""
        self._session = session
        self._notice = notice
        self._edit = edit
        self._read_only = read_only
        self._sizes = sizes
        self._folder = ""

    def take(self, turn_id: str, mime: QMimeData, *, now: bool = True) -> bool:
        """Add the images of a paste or drop to a turn; without ``now`` only return whether that is possible."""
        turn = self._session().transcript.turns.get(turn_id)
        if self._read_only or turn is None or not takes_images(turn) or not offers_images(mime):
            return False
        if not now:
            return True
        sources = sources_of(mime)
        if sources:
            self._begin(turn_id, sources)
        return bool(sources)

    def choose(self, turn_id: str) -> None:
        """Ask for files and add them to a turn."""
        spawn(self._choose(turn_id), name="choose images for a turn")

    async def _choose(self, turn_id: str) -> None:
        if paths := await ask_several(self._notice.window(), "Add images to the message", self._folder, FILTER):
            self._folder = str(paths[0].parent)
            self._begin(turn_id, list(paths))

    def _begin(self, turn_id: str, sources: Sequence[Source]) -> None:
        spawn(self._add(self._session(), turn_id, sources), name="read images for a turn")

    async def _add(self, session: Session, turn_id: str, sources: Sequence[Source]) -> None:
        images, problems = await _read(sources, lambda _image: None)
        turn = session.transcript.turns.get(turn_id)
        if session is not self._session() or turn is None or not takes_images(turn):
            self._notice.say("Nothing added: the message is gone.", stays=False)
            return
        if not images:
            if problems:
                self._notice.say(problems)
            return
        added: list[str] = []
        words = f"{len(images)} images added." if len(images) > 1 else "Image added."
        if turn.role is Role.TOOL and not pictures_in_results(session.settings.protocol):
            words = f"{words} {AS_LINES}"
        self._edit(turn_id, lambda: added.append(session.turns.add_images(turn_id, images)), words)
        if added:
            self._sizes.consider(images, partial(self._swap, session, added[0]), problems)

    def _swap(self, session: Session, turn_id: str, swaps: Mapping[str, Image]) -> int:
        turn = session.transcript.turns.get(turn_id)
        if turn is None or session is not self._session():
            return 0
        images = [*turn.images, *(image for result in turn.results for image in result.images)]
        count = sum(image.url in swaps for image in images)
        if count:
            self._edit(turn_id, partial(session.turns.swap_images, turn_id, swaps), "")
        return count


def shrink_in_turn(session: Session, turn_id: str, index: int, notice: NoticeBar) -> None:
    """Replace an image of a turn by a smaller copy."""
    image = session.transcript.turns[turn_id].images[index]

    def replace_image(smaller: Image) -> None:
        turn = session.transcript.turns.get(turn_id)
        if turn is not None and index < len(turn.images) and turn.images[index].url == image.url:
            session.turns.set_image(turn_id, index, smaller)

    spawn(_shrink(image, replace_image, notice), name="shrink image")
