CREATE TABLE unread (
        number INTEGER PRIMARY KEY,
        experiment INTEGER REFERENCES experiments ON DELETE CASCADE,
        source TEXT NOT NULL,
        row TEXT NOT NULL,
        fields TEXT NOT NULL,
        hash TEXT NOT NULL UNIQUE,
        at REAL NOT NULL);
CREATE INDEX unread_by_experiment ON unread (experiment);
DROP VIEW said;
CREATE VIEW said AS SELECT number,
    (SELECT group_concat(json_extract(iif(type = 'object', value, '{}'), '$.text'), char(10))
        FROM json_each(CASE WHEN typeof(turns.json) = 'text' AND json_valid(turns.json) THEN turns.json ELSE '{}' END,
            '$.parts')
        WHERE json_extract(iif(type = 'object', value, '{}'), '$.kind') IN ('text', 'refusal', 'tool_result')) AS text,
    (SELECT group_concat(json_extract(iif(type = 'object', value, '{}'), '$.text'), char(10))
        FROM json_each(CASE WHEN typeof(turns.json) = 'text' AND json_valid(turns.json) THEN turns.json ELSE '{}' END,
            '$.parts')
        WHERE json_extract(iif(type = 'object', value, '{}'), '$.kind') IN ('reasoning')) AS reasoning,
    (SELECT group_concat(json_extract(iif(type = 'object', value, '{}'), '$.name') || ' ' ||
        json_extract(iif(type = 'object', value, '{}'), '$.arguments'), char(10))
        FROM json_each(CASE WHEN typeof(turns.json) = 'text' AND json_valid(turns.json) THEN turns.json ELSE '{}' END,
            '$.parts')
        WHERE json_extract(iif(type = 'object', value, '{}'), '$.kind') IN ('tool_call')) AS arguments FROM turns;
PRAGMA user_version = 4;

INSERT INTO unread VALUES (1, 1, 'turns', '{"number": 16777219, "id": "t3", "json": "{cut", "indexed": 1}', '', 'abc', 1.7e9);
