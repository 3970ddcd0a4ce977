CREATE TABLE experiments (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        title TEXT NOT NULL,
        summary TEXT NOT NULL,
        model TEXT NOT NULL,
        protocol TEXT NOT NULL,
        pinned INTEGER NOT NULL,
        archived INTEGER NOT NULL,
        created_at REAL NOT NULL,
        changed_at REAL NOT NULL,
        has_error INTEGER NOT NULL,
        has_tools INTEGER NOT NULL,
        deleted_at REAL);
CREATE TABLE settings (
        experiment INTEGER PRIMARY KEY REFERENCES experiments ON DELETE CASCADE,
        json TEXT NOT NULL);
CREATE TABLE drafts (
        experiment INTEGER PRIMARY KEY REFERENCES experiments ON DELETE CASCADE,
        json TEXT NOT NULL);
CREATE TABLE turns (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL,
        json TEXT NOT NULL,
        indexed INTEGER NOT NULL);
CREATE INDEX turns_unindexed ON turns (number) WHERE indexed = 0;
CREATE TABLE tapes (
        experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
        id TEXT NOT NULL,
        started_at REAL NOT NULL,
        head TEXT NOT NULL,
        size INTEGER NOT NULL,
        data BLOB,
        PRIMARY KEY (experiment, id));
CREATE INDEX tapes_by_age ON tapes (started_at, size) WHERE data IS NOT NULL;
CREATE TABLE images (hash TEXT PRIMARY KEY, url TEXT NOT NULL);
CREATE TABLE image_uses (
        experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
        hash TEXT NOT NULL REFERENCES images,
        PRIMARY KEY (experiment, hash)) WITHOUT ROWID;
CREATE INDEX image_uses_by_hash ON image_uses (hash);
CREATE TABLE state (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE VIEW said AS SELECT number,
    (SELECT group_concat(json_extract(value, '$.text'), char(10))
        FROM json_each(CASE WHEN json_valid(turns.json) THEN turns.json ELSE '{}' END, '$.parts')
        WHERE json_extract(value, '$.kind') IN ('text', 'refusal', 'tool_result')) AS text,
    (SELECT group_concat(json_extract(value, '$.text'), char(10))
        FROM json_each(CASE WHEN json_valid(turns.json) THEN turns.json ELSE '{}' END, '$.parts')
        WHERE json_extract(value, '$.kind') IN ('reasoning')) AS reasoning,
    (SELECT group_concat(json_extract(value, '$.name') || ' ' || json_extract(value, '$.arguments'), char(10))
        FROM json_each(CASE WHEN json_valid(turns.json) THEN turns.json ELSE '{}' END, '$.parts')
        WHERE json_extract(value, '$.kind') IN ('tool_call')) AS arguments FROM turns;
CREATE VIRTUAL TABLE words USING fts5 (text, reasoning, arguments, content='said', content_rowid='number',
        tokenize='unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE titles USING fts5 (title, model, content='experiments', content_rowid='number',
        tokenize='unicode61 remove_diacritics 2');
PRAGMA application_id = 1733323873;
PRAGMA user_version = 1;
