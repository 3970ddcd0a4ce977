"""Where images come from: files, the clipboard, a drop, an address. Reads them off the window's thread, in order.

What was read goes into the draft of the experiment it was given to, also when another one is looked at by then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QActionGroup, QDragEnterEvent, QDragMoveEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QWidget

from playground.domain.parts import Image
from playground.engine.files.images import ImageError, cut_off_words, is_address
from playground.engine.session.session import Session
from playground.ui.features.conversation.composer import Composer
from playground.ui.features.conversation.documents import read_text_file
from playground.ui.features.conversation.image_sizes import CHOICES, ImageSizes
from playground.ui.features.conversation.images import Source, offers_images, read_source, shrunk, sources_of
from playground.ui.widgets.dialogs import ask_several, line_dialog
from playground.ui.widgets.loop import ask, spawn
from playground.ui.widgets.notice_bar import NoticeBar

FILTER = "Images (*.png *.jpg *.jpeg *.gif *.webp);;All files (*)"
ANY_FILTER = "All files (*)"
PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
ADDRESS = "Address (https://…), or a data URL. An address is sent as it is; nothing is loaded here."


class ImageIntake(QObject):
    """Serves one composer; ``place`` is where images may be dropped, ``sizes`` offers large ones smaller."""

    def __init__(self, composer: Composer, notice: NoticeBar, place: QWidget, sizes: ImageSizes) -> None:
        super().__init__(place)
        self._sizes = sizes
        self._composer = composer
        self._notice = notice
        self._place = place
        self._session: Session | None = None
        self._reading: dict[str, int] = {}  # images on their way, by session
        self._turn = asyncio.Lock()
        self._folder = ""
        composer.images.shrink_asked.connect(self._shrink_attached)
        place.setAcceptDrops(True)
        place.installEventFilter(self)

    def attend(self) -> None:
        """Do what is asked for in the composer, from now on."""
        self._composer.images_pasted.connect(self.take)
        self._composer.image_action.triggered.connect(self.choose_files)
        self._composer.file_action.triggered.connect(self.choose_any_files)
        menu = self._composer.image_menu
        menu.addAction("Image from clipboard").triggered.connect(self.paste)
        menu.addAction("Image by address…").triggered.connect(self.ask_address)
        menu.addSeparator()
        known = QActionGroup(menu)
        for choice, words in CHOICES:
            action = known.addAction(words)
            action.setCheckable(True)
            action.setData(choice)
            action.triggered.connect(partial(self._choose, choice))
        menu.addActions(known.actions())
        menu.aboutToShow.connect(partial(self._show_choice, known))

    def _choose(self, choice: str, _checked: bool = False) -> None:
        self._sizes.choose(choice)

    def _show_choice(self, known: QActionGroup) -> None:
        for action in known.actions():
            action.setChecked(action.data() == self._sizes.choice)

    def show_session(self, session: Session) -> None:
        """Serve another experiment from now on."""
        self._session = session
        self._say_reading()

    @property
    def busy(self) -> bool:
        """Whether an image given to the experiment in view is still being read."""
        return self._session is not None and self._reading.get(self._session.id, 0) > 0

    # Ways in

    def take(self, sources: Sequence[Source]) -> None:
        """Read and attach these, in this order."""
        if self._session is not None and sources:
            self._count(self._session, len(sources))
            spawn(self._take(self._session, list(sources)), name="read images")

    def choose_files(self) -> None:
        """Ask for files and attach them."""
        spawn(self._choose_files(), name="choose images")

    def paste(self) -> None:
        """Attach what the clipboard holds, or say that it holds no image."""
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

    # Reading

    async def _take(self, session: Session, sources: list[Source]) -> None:
        problems: list[str] = []
        warnings: list[str] = []
        taken: list[Image] = []
        async with self._turn:
            for source in sources:
                try:
                    image = await asyncio.to_thread(read_source, source)
                    warnings.append(await asyncio.to_thread(cut_off_words, image))
                    taken.append(image)
                    self._attach(session, image)
                except ImageError as error:
                    problems.append(str(error))
                finally:
                    self._count(session, -1)
        self._sizes.consider(taken, partial(self._swap, session), notice_words(problems, warnings))

    def _swap(self, session: Session, swaps: Mapping[str, Image]) -> int:
        """Put other images among those that are attached."""
        shown = session is self._session
        attached = self._composer.attached if shown else session.draft.images
        count = sum(image.url in swaps for image in attached)
        changed = tuple(swaps.get(image.url, image) for image in attached)
        if count and shown:
            self._composer.set_images(changed)
        elif count:
            session.with_draft(session.draft.model_copy(update={"images": changed}))
        return count

    def _attach(self, session: Session, image: Image) -> None:
        if session is self._session:
            self._composer.set_images((*self._composer.attached, image))
        else:
            draft = session.draft
            session.with_draft(draft.model_copy(update={"images": (*draft.images, image)}))

    def _count(self, session: Session, step: int) -> None:
        self._reading[session.id] = self._reading.get(session.id, 0) + step
        if not self._reading[session.id]:
            del self._reading[session.id]
        self._say_reading()

    def _say_reading(self) -> None:
        number = self._reading.get(self._session.id, 0) if self._session is not None else 0
        self._composer.show_reading(f"Reading {number} image{'s' * (number > 1)}…" if number else "")

    # Smaller copies

    def _shrink_attached(self, at: int) -> None:
        image = self._composer.attached[at]
        put = partial(self._composer.replace_image, image)
        spawn(_shrink(image, put, self._notice), name="shrink image")

    # Dropping

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


def notice_words(problems: Sequence[str], warnings: Sequence[str]) -> str:
    """Return the notice for images that were not attached, and for attached ones that have a defect."""
    refused = f"Not attached. {_first_three(problems)}" if problems else ""
    return " ".join(filter(None, (refused, _first_three([words for words in warnings if words]))))


def _first_three(sentences: Sequence[str]) -> str:
    more = f" (and {len(sentences) - 3} more)" if len(sentences) > 3 else ""
    return " ".join(sentences[:3]) + more


def shrink_in_turn(session: Session, turn_id: str, at: int, notice: NoticeBar) -> None:
    """Put a smaller copy in the place of an image of a turn."""
    image = session.transcript.turns[turn_id].images[at]

    def put(smaller: Image) -> None:
        turn = session.transcript.turns.get(turn_id)
        if turn is not None and at < len(turn.images) and turn.images[at].url == image.url:
            session.turns.set_image(turn_id, at, smaller)

    spawn(_shrink(image, put, notice), name="shrink image")


async def _shrink(image: Image, put: Callable[[Image], None], notice: NoticeBar) -> None:
    try:
        smaller = await asyncio.to_thread(shrunk, image)
    except ImageError as error:
        notice.say(str(error))
        return
    put(smaller)
