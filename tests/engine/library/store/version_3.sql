CREATE TABLE pasts (
        experiment INTEGER PRIMARY KEY REFERENCES experiments ON DELETE CASCADE,
        json TEXT NOT NULL);
PRAGMA user_version = 3;

INSERT INTO pasts VALUES (1, '[{"head": "t1", "turns": [], "gone": ["t2"]}]');
