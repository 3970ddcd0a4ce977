CREATE TABLE tape_reads (
        experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
        tape TEXT NOT NULL,
        data BLOB NOT NULL);
CREATE INDEX tape_reads_by_tape ON tape_reads (experiment, tape);
PRAGMA user_version = 2;
