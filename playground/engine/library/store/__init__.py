"""Experiments on disk: one SQLite file, one thread that writes it, and threads that read it. No Qt, no sockets."""

from __future__ import annotations

from playground.engine.library.store.search import Filters as Filters
from playground.engine.library.store.search import Passage as Passage
from playground.engine.library.store.search import SearchResult as SearchResult
from playground.engine.library.store.store import Store as Store
from playground.engine.library.store.trouble import Mode as Mode
from playground.engine.library.store.trouble import Status as Status
from playground.engine.library.store.trouble import StoreError as StoreError
