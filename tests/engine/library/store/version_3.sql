CREATE TABLE pasts (
        experiment INTEGER PRIMARY KEY REFERENCES experiments ON DELETE CASCADE,
        json TEXT NOT NULL);
PRAGMA user_version = 3;
