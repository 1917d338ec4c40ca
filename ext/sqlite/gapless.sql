-- SPDX-License-Identifier: MIT
-- Series without gaps: INSERT INTO firn_next (series) VALUES ('invoices-2026') takes the next number in the transaction of the
-- connection, so a rollback gives it back. Needs the firn extension, for the chain. docs/guides/gapless.md
--     sqlite3 -cmd '.load libfirn_sqlite' shop.db <gapless.sql

BEGIN IMMEDIATE;

CREATE TABLE firn_gapless (
    name TEXT PRIMARY KEY CHECK (name GLOB '[A-Za-z0-9]*' AND name NOT GLOB '*[^A-Za-z0-9._:/-]*' AND length(name) <= 63),
    chain INTEGER NOT NULL DEFAULT 0 CHECK (chain IN (0, 1)),
    last INTEGER NOT NULL DEFAULT 0 CHECK (last >= 0),
    at TEXT NOT NULL DEFAULT '') STRICT, WITHOUT ROWID;
CREATE TABLE firn_entry (
    series TEXT NOT NULL,
    number INTEGER NOT NULL,
    at TEXT NOT NULL,
    payload TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (series, number)) STRICT, WITHOUT ROWID;

-- Programs can make mistakes: a series goes one step at a time, and an entry stays. This includes OR REPLACE.
CREATE TRIGGER firn_gapless_new BEFORE INSERT ON firn_gapless WHEN EXISTS (SELECT 1 FROM firn_gapless WHERE name = NEW.name) BEGIN
    SELECT RAISE(ABORT, 'firn: there is a series of this name: continue it');
END;
CREATE TRIGGER firn_gapless_step BEFORE UPDATE ON firn_gapless
    WHEN NEW.name <> OLD.name OR NEW.chain <> OLD.chain OR NEW.last <> OLD.last + 1 OR NEW.at < OLD.at BEGIN
    SELECT RAISE(ABORT, 'firn: a series goes one step at a time: numbers are taken by INSERT INTO firn_next alone');
END;
CREATE TRIGGER firn_gapless_stays BEFORE DELETE ON firn_gapless BEGIN
    SELECT RAISE(ABORT, 'firn: a series stays, or its numbers repeat: leave the row');
END;
CREATE TRIGGER firn_entry_new BEFORE INSERT ON firn_entry WHEN
    EXISTS (SELECT 1 FROM firn_entry WHERE series = NEW.series AND number = NEW.number) BEGIN
    SELECT RAISE(ABORT, 'firn: the chain has this number: numbers are taken by INSERT INTO firn_next alone');
END;
CREATE TRIGGER firn_entry_same BEFORE UPDATE ON firn_entry BEGIN
    SELECT RAISE(ABORT, 'firn: an entry stays unchanged, or the chain breaks: leave the row');
END;
CREATE TRIGGER firn_entry_stays BEFORE DELETE ON firn_entry BEGIN
    SELECT RAISE(ABORT, 'firn: an entry stays, or the chain breaks: leave the row');
END;

-- The statement has the write lock of the database, and keeps it until the transaction ends, so numbers are in the order of
-- the commits. The time is read with the lock, and is never before the time of the number before. The hash is the SHA-256
-- of "SERIES NUMBER TIME PAYLOAD PREVIOUS".
CREATE VIEW firn_next (series, payload) AS SELECT name, NULL FROM firn_gapless;
CREATE TRIGGER firn_next_take INSTEAD OF INSERT ON firn_next BEGIN
    SELECT RAISE(ABORT, 'firn: there is no such series: INSERT INTO firn_gapless (name, chain), once, or correct the name')
     WHERE NOT EXISTS (SELECT 1 FROM firn_gapless WHERE name = NEW.series);
    SELECT RAISE(ABORT, 'firn: the series has no chain, which a payload is for: leave the payload out')
      FROM firn_gapless WHERE name = NEW.series AND chain = 0 AND NEW.payload IS NOT NULL;
    UPDATE firn_gapless SET last = last + 1, at = max(at, strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z') WHERE name = NEW.series;
    INSERT INTO firn_entry SELECT series, number, at, payload, firn_sha256(concat || previous) FROM (
        SELECT s.name AS series, s.last AS number, s.at AS at, coalesce(firn_sha256(NEW.payload), '-') AS payload,
               s.name || ' ' || s.last || ' ' || s.at || ' ' || coalesce(firn_sha256(NEW.payload), '-') || ' ' AS concat,
               coalesce(e.hash, printf('%064d', 0)) AS previous
          FROM firn_gapless s LEFT JOIN firn_entry e ON e.series = s.name AND e.number = s.last - 1
         WHERE s.name = NEW.series AND s.chain = 1);
END;

-- The lines that `firn verify` reads: SERIES NUMBER TIME PAYLOAD HASH.
CREATE VIEW firn_chain (series, number, line) AS
    SELECT series, number, series || ' ' || number || ' ' || at || ' ' || payload || ' ' || hash FROM firn_entry;

COMMIT;
