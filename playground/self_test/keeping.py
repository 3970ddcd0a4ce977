"""The self-test of what is kept: a key in the system's keyring, an experiment in the store, the same in a file."""

from __future__ import annotations

import secrets
from pathlib import Path

from playground.engine.files import experiment_file
from playground.engine.gateways.secrets import Keys, Secret
from playground.engine.library.store import Mode, Store
from playground.engine.session.session import Session
from playground.engine.session.snapshot import snapshot
from playground.self_test.report import MissingError, Report

PROFILE = "self-test"
ORIGIN = "https://self-test.invalid"  # a name that no gateway can have


async def keep_a_key(report: Report) -> None:
    """Write a key of the test's own to the keyring, read it as a later start would, remove it."""
    keys, later = Keys(), Keys()
    try:
        state = await keys.check()
        if not state.available:
            report.absent(state.words)
            return
        secret = Secret(secrets.token_hex(16))
        stored = await keys.set(PROFILE, ORIGIN, secret)
        try:
            if not stored.available:
                raise MissingError(stored.words)
            found = await later.get(PROFILE, ORIGIN)
            if found is None or found.get_secret_value() != secret.get_secret_value():
                raise MissingError("the key stored was not the key found")
        finally:
            removed = await keys.delete(PROFILE, ORIGIN)
        if not removed.available:
            raise MissingError(removed.words)
        report.good("a key was stored in the system keyring, read back and removed")
    finally:
        keys.close()
        later.close()


async def keep_an_experiment(session: Session, folder: Path) -> str:
    """Write an experiment to a store, open the store again, find it there by its words."""
    path = folder / "experiments.db"
    kept = snapshot(session)
    store = Store(path)
    try:
        status = await store.open()
        if status.mode is not Mode.READY:
            raise MissingError(status.words)
        store.save(kept)
        await store.flush()
    finally:
        await store.close()
    store = Store(path)
    try:
        await store.open()
        read = await store.load(kept.id)
        if read.turns != kept.turns:
            raise MissingError("what was read from the store is not what was written")
        found = await store.find("server-sent")
        if [one.experiment.id for one in found] != [kept.id]:
            raise MissingError("the store does not find the words that are in it")
    finally:
        await store.close()
    return f"written, opened again, found; {path.stat().st_size:,} bytes"


async def write_a_file(session: Session, folder: Path) -> str:
    """Write an experiment file and open it."""
    path = folder / f"self-test{experiment_file.SUFFIX}"
    kept = snapshot(session)
    experiment_file.save(path, kept)
    read = experiment_file.open_file(path)
    if {turn.id for turn in read.turns} != {turn.id for turn in kept.turns}:
        raise MissingError("what was read from the file is not what was written")
    return f"written and opened, {path.stat().st_size:,} bytes"
