CREATE TABLE tape_reads (
        experiment INTEGER NOT NULL REFERENCES experiments ON DELETE CASCADE,
        tape TEXT NOT NULL,
        data BLOB NOT NULL);
CREATE INDEX tape_reads_by_tape ON tape_reads (experiment, tape);
PRAGMA user_version = 2;

UPDATE tapes SET head = json_set(head, '$.complete', json('false')), data = x'789c53aaae55e2020004600147';
INSERT INTO tape_reads VALUES (1, 'x1', x'789c8b8e36d033d6517254c8c82f2d4e55508a8de5020032fa0521');
INSERT INTO tape_reads VALUES (1, 'x1', x'789c8b8e36d033d151cacf53284f2c492dd2538a8de502003ca105cb');
