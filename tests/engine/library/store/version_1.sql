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

INSERT INTO experiments VALUES (1, 'first', 'What is a ship?', 'm · 2 turns', 'm', 'chat', 0, 0, 1.7e9, 1.7e9, 0, 0,
        NULL);
INSERT INTO titles (rowid, title, model) VALUES (1, 'What is a ship?', 'm');
INSERT INTO settings VALUES (1, '{"id": "first", "protocol": "chat", "model": "m", "parameters": {"chat": {"n": 1}}, "head": "t2"}');
INSERT INTO drafts VALUES (1, '{"draft": {"text": "And"}, "calls": []}');
INSERT INTO turns VALUES (16777217, 't1', '{"id": "t1", "role": "user", "parts": [{"kind": "text", "text": "What is a ship?"}], "members": {}}', 1);
INSERT INTO turns VALUES (16777218, 't2', '{"id": "t2", "role": "assistant", "parts": [{"kind": "reasoning", "text": "Hm."}, {"kind": "text", "text": "A house on water."}], "parent": "t1", "outcome": {"ending": "complete", "exchange": "x1"}}', 0);
INSERT INTO words (rowid, text) SELECT number, text FROM said WHERE number = 16777217;
-- Two reads, packed by zlib; of today, since the bodies of old exchanges are deleted when a store is opened.
INSERT INTO tapes VALUES (1, 'x1', CAST(strftime('%s', 'now') AS REAL),
        '{"id": "x1", "protocol": "chat", "method": "POST", "url": "http://127.0.0.1:1/v1/chat/completions", "request": {"headers": [["authorization", "Bearer ••••"]]}, "started_at": 1700000000.0, "connected": 0.1, "sent": 0.2, "answered": 0.3, "ended": 0.5, "response": {"status": 200, "reason": "OK", "http_version": "HTTP/1.1", "headers": [], "wire_bytes": 17}, "complete": true, "failure": null, "bytes": 19}',
        49, x'789c53aaae55e28a8e36d033d6517254c8c82f2d4e55508ad5010a98e828e5e729942796a416e929c5c6720100f3a90b9b');
