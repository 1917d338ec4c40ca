-- SPDX-License-Identifier: MIT
-- Series without gaps: firn_next_in('invoices-2026', NULL) takes the next number in the caller's transaction, so a rollback
-- gives it back. Stored functions, since a loadable function cannot run SQL in that transaction. docs/guides/gapless.md
--     mariadb -e 'CREATE DATABASE firn_gapless' && mariadb firn_gapless <gapless.sql
-- With a binary log, the server needs log_bin_trust_function_creators=1 while you run this.

SET NAMES utf8mb4; -- of the texts in the functions, also where another character set is the default

-- `hash` is the hash of the last number; NULL: the series has no chain.
CREATE TABLE firn_series (
    name VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY CHECK (name REGEXP '^[A-Za-z0-9][A-Za-z0-9._:/-]{0,62}$'),
    last BIGINT NOT NULL CHECK (last >= 0),
    at DATETIME(6) NOT NULL,
    hash CHAR(64) CHARACTER SET ascii COLLATE ascii_bin) ENGINE=InnoDB COMMENT='firn: firn_next_in() alone writes it';
CREATE TABLE firn_entry (
    series VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    number BIGINT NOT NULL,
    at DATETIME(6) NOT NULL,
    payload VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    hash CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    PRIMARY KEY (series, number),
    FOREIGN KEY (series) REFERENCES firn_series (name)) ENGINE=InnoDB COMMENT='firn: firn_next_in() alone writes it';

DELIMITER //

-- Accounts that may write every table can make mistakes: a series goes one step at a time, and an entry stays.
CREATE TRIGGER firn_series_step BEFORE UPDATE ON firn_series FOR EACH ROW
IF NOT (NEW.name <=> OLD.name AND NEW.last <=> OLD.last + 1 AND NEW.at >= OLD.at AND (NEW.hash IS NULL) = (OLD.hash IS NULL)) THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'firn: a series goes one step at a time: numbers are taken by firn_next_in() alone';
END IF //
CREATE TRIGGER firn_series_stays BEFORE DELETE ON firn_series FOR EACH ROW
SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'firn: a series stays, or its numbers repeat: leave the row' //
CREATE TRIGGER firn_entry_same BEFORE UPDATE ON firn_entry FOR EACH ROW
SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'firn: an entry stays unchanged, or the chain breaks: leave the row' //
CREATE TRIGGER firn_entry_stays BEFORE DELETE ON firn_entry FOR EACH ROW
SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'firn: an entry stays, or the chain breaks: leave the row' //

-- A line of the chain without its hash: the hash is the SHA-256 of "SERIES NUMBER TIME PAYLOAD PREVIOUS".
CREATE FUNCTION firn_line(series VARCHAR(63) CHARACTER SET ascii, number BIGINT, at DATETIME(6), payload VARCHAR(64) CHARACTER SET ascii)
RETURNS VARCHAR(200) CHARACTER SET ascii DETERMINISTIC NO SQL
RETURN concat_ws(' ', series, number, date_format(at, '%Y-%m-%dT%H:%i:%s.%fZ'), payload) //

-- The row stays locked until the caller's transaction ends, so numbers are in the order of the commits. The time is read with
-- the lock, and is never before the time of the number before. NOT DETERMINISTIC: each row of a statement gets its own number.
-- `wanted` has the collation of the column: else the statement would read, and lock, every series. That collation ignores blanks
-- at the end, so the name is then the row's: the chain must not have another.
CREATE FUNCTION firn_next_in(wanted VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin, payload LONGTEXT CHARACTER SET utf8mb4)
RETURNS BIGINT NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
BEGIN
    DECLARE number BIGINT;
    DECLARE moment DATETIME(6);
    DECLARE digest VARCHAR(64) CHARACTER SET ascii DEFAULT coalesce(sha2(payload, 256), '-');
    DECLARE chained CHAR(64) CHARACTER SET ascii;
    DECLARE message TEXT CHARACTER SET utf8mb4;
    DECLARE EXIT HANDLER FOR NOT FOUND BEGIN
        SET message = concat('firn: there is no series ''', left(wanted, 40), ''': CALL firn_create_series, once, or correct the name');
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = message;
    END;
    IF @@binlog_format = 'STATEMENT' AND @@log_bin AND @@sql_log_bin THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'firn: replicas would get other times: set binlog_format to MIXED or ROW';
    END IF;
    SELECT s.name, s.last + 1, s.at, s.hash INTO wanted, number, moment, chained FROM firn_series s WHERE s.name = wanted FOR UPDATE;
    -- utc_timestamp() is when the statement began. sysdate() is now, in a zone whose clocks may jump, by half hours.
    SET moment = greatest(moment, timestampadd(MICROSECOND,
        mod(mod(timestampdiff(MICROSECOND, now(6), sysdate(6)), 1800000000) + 1800000000, 1800000000), utc_timestamp(6)));
    IF chained IS NOT NULL THEN
        SET chained = sha2(concat(firn_line(wanted, number, moment, digest), ' ', chained), 256);
        INSERT INTO firn_entry VALUES (wanted, number, moment, digest, chained);
    ELSEIF payload IS NOT NULL THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'firn: the series has no chain, which a payload is for: pass NULL, or create the series with a chain';
    END IF;
    UPDATE firn_series s SET s.last = number, s.at = moment, s.hash = chained WHERE s.name = wanted;
    RETURN number;
END //

-- `last`: the last number that another program has issued; else 0.
CREATE PROCEDURE firn_create_series(name VARCHAR(63) CHARACTER SET utf8mb4, chain BOOLEAN, last BIGINT) SQL SECURITY DEFINER
INSERT INTO firn_series VALUES (name, last, utc_timestamp(6), if(chain, repeat('0', 64), NULL)) //

-- The lines that `firn verify` reads: SERIES NUMBER TIME PAYLOAD HASH.
CREATE PROCEDURE firn_chain(wanted VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin, after BIGINT) READS SQL DATA SQL SECURITY DEFINER
SELECT concat(firn_line(e.series, e.number, e.at, e.payload), ' ', e.hash) AS line FROM firn_entry e
 WHERE e.series = wanted AND e.number > after ORDER BY e.number //

DELIMITER ;
