/* SPDX-License-Identifier: MIT */
/* The statements of the MariaDB and MySQL store. "@" is the prefix from table= ("@@" is itself),
 * "$" is a text, "#" is a signed and "^" an unsigned number, in the order of maria_compose's
 * arguments. docs/reference/stores.md prints the statements for clients in other languages, with
 * "?" for each argument; test/printed_pure_test.c compares both. */
#ifndef FIRN_MYSQL_SQL_H
#define FIRN_MYSQL_SQL_H

#include "module.h"

/* Names are bytes, not characters: most collations treat "a" and "a " as equal. The row with the
 * empty name describes the store itself: a namespace whose identity differs from it is in doubt
 * (module.h). */
static const char *const create_tables[] = {
    "CREATE TABLE IF NOT EXISTS `@_namespace`("
    "name VARBINARY(255) NOT NULL PRIMARY KEY,"
    " layout VARBINARY(511) NOT NULL,"
    " identity VARBINARY(80) NOT NULL,"
    " floor BIGINT NOT NULL) ENGINE=InnoDB",
    "INSERT IGNORE INTO `@_namespace` VALUES('', '', 'new', 0)",
    "CREATE TABLE IF NOT EXISTS `@_mark`("
    "ns VARBINARY(255) NOT NULL,"
    " `key` VARBINARY(63) NOT NULL,"
    " high BIGINT NOT NULL CHECK (high BETWEEN 0 AND 4611686018427387904),"
    " `grant` BIGINT UNSIGNED NOT NULL,"
    " note VARBINARY(127) NOT NULL,"
    " seal VARBINARY(592) NOT NULL,"
    " met INT UNSIGNED NOT NULL DEFAULT 0,"
    " PRIMARY KEY (ns, `key`)) ENGINE=InnoDB",
};

/* All records, in one snapshot. */
static const char read_sql[] =
    "SELECT s.identity, a.identity, a.layout, n.layout, n.identity, n.floor, m.high, m.`grant`,"
    " m.seal FROM (SELECT 1) AS one LEFT JOIN `@_namespace` s ON s.name = ''"
    " LEFT JOIN `@_namespace` a ON a.name = '" FIRN_ALL_NAMES "'"
    " LEFT JOIN `@_namespace` n ON n.name = $"
    " LEFT JOIN `@_mark` m ON m.ns = $ AND m.`key` = $";

/* Raises a mark whose seal matches, without reading the namespace, which would double the time. The
 * reply has the number of changed rows and, as the last insert ID, the new mark. Its numbers are
 * low and count of the raise; then least and most; least again, or -1 if no grant is compared; 0 or
 * the grant of that, and the grant again. */
static const char again_sql[] =
    "UPDATE `@_mark` SET high = LAST_INSERT_ID(GREATEST(high, #) + #), `grant` = ^, note = $"
    " WHERE ns = $ AND `key` = $ AND high BETWEEN # AND # AND (high > # OR `grant` IN (^, ^))"
    " AND seal = $";

/* Raises any mark, if the namespace is as it was read and current, and seals it. */
static const char raise_sql[] =
    "UPDATE `@_mark` m JOIN `@_namespace` n ON n.name = m.ns"
    " SET m.high = LAST_INSERT_ID(GREATEST(m.high, #) + #), m.`grant` = ^, m.note = $,"
    " m.seal = CONCAT(n.identity, ' ', n.layout)"
    " WHERE m.ns = $ AND m.`key` = $ AND m.high BETWEEN # AND #"
    " AND (m.high > # OR m.`grant` IN (^, ^))"
    " AND n.name = $ AND n.layout = $ AND n.floor = # AND n.identity = $";

/* The same for a key without a mark. Fails if another process has created the key first. It does
 * not seal the mark. */
static const char begin_sql[] =
    "INSERT INTO `@_mark`(ns, `key`, high, `grant`, note, seal)"
    " SELECT $, $, LAST_INSERT_ID(# + #), ^, $, ''"
    " FROM `@_namespace` WHERE name = $ AND layout = $ AND floor = # AND identity = $";

/* Each change of other records begins with this, in its transaction, and reads again: it keeps out
 * others that change such records, also in a cluster, which compares only written rows. It counts
 * up the floor of the store's own row, which nothing else uses, because InnoDB does not sync an
 * UPDATE that changes nothing. */
static const char lock_sql[] = "UPDATE `@_namespace` SET floor = floor + 1 WHERE name = ''";

/* The store is new no longer. It comes after the read, which must show that it was. */
static const char born_sql[] =
    "UPDATE `@_namespace` SET identity = $ WHERE name = '' AND identity = 'new'";

/* With any completion_type. */
static const char commit_sql[] = "COMMIT AND NO CHAIN NO RELEASE";
static const char rollback_sql[] = "ROLLBACK AND NO CHAIN NO RELEASE";

/* Writes the record of a namespace, and removes the seals of its marks, so that the next
 * reservation compares the record. It writes each mark, also one without a seal, so that a raise on
 * another server of a cluster conflicts with it. Its numbers: it is current from then on; a change
 * of layouts, which may lower the floor; the floor, twice. */
static const char name_sql[] =
    "UPDATE `@_namespace` n LEFT JOIN `@_mark` m ON m.ns = n.name SET n.layout = $,"
    " n.identity = IF(#, $, n.identity), n.floor = IF(#, #, GREATEST(n.floor, #)), m.seal = '',"
    " m.met = m.met + 1"
    " WHERE n.name = $";

/* The same for a namespace that has no record. */
static const char name_first_sql[] =
    "INSERT IGNORE INTO `@_namespace`(name, layout, identity, floor) VALUES($, $, $, #)";

/* Follows each statement in the same packet: who answered? A proxy may lead a connection to another
 * server, after a failover or at any time. The first is of servers without server_uuid (MariaDB),
 * the second of those with it. */
static const char *const witness_sql[] = {
    "SELECT CONCAT_WS(' ', CONNECTION_ID(), @@GLOBAL.server_id)",
    "SELECT CONCAT_WS(' ', CONNECTION_ID(), @@GLOBAL.server_id, @@GLOBAL.server_uuid)",
};

/* The number of the table of marks, in MariaDB and in MySQL. It changes when the table is
 * truncated, created again or rebuilt. Needs the PROCESS privilege. */
static const char *const number_sql[] = {
    "SELECT TABLE_ID FROM information_schema.INNODB_SYS_TABLES"
    " WHERE NAME = CONCAT(DATABASE(), '/@_mark')",
    "SELECT TABLE_ID FROM information_schema.INNODB_TABLES"
    " WHERE NAME = CONCAT(DATABASE(), '/@_mark')",
};

static const char numbered_sql[] = "UPDATE `@_namespace` SET layout = $ WHERE name = ''";

static const char doubt_sql[] = "UPDATE `@_namespace` n LEFT JOIN `@_mark` m ON m.ns = n.name"
                                " SET n.identity = $, m.seal = '', m.met = m.met + 1";

/* The table of marks was emptied or loaded: the same, and its new number in place of the number that
 * was read. Of two processes that notice it, only the first changes anything. */
static const char reloaded_sql[] =
    "UPDATE `@_namespace` s JOIN `@_namespace` n LEFT JOIN `@_mark` m ON m.ns = n.name"
    " SET n.identity = $, n.layout = IF(n.name = '', $, n.layout), m.seal = '', m.met = m.met + 1"
    " WHERE s.name = '' AND s.layout = $";

/* InnoDB shows a commit to other sessions before it is on disk. This write comes after that commit
 * in the log, so when it is on disk, the mark that was read is too. It must change a row, or
 * nothing would be synced. */
static const char settle_sql[] = "UPDATE `@_mark` SET met = met + 1 WHERE ns = $ AND `key` = $";

static const char give_back_sql[] =
    "UPDATE `@_mark` SET high = #, `grant` = 0, seal = ''"
    " WHERE ns = $ AND `key` = $ AND high = # AND `grant` = ^ AND # <= high";

static const char list_all_sql[] =
    "(SELECT m.ns, n.layout, m.`key`, m.note, m.high, m.`grant`, n.floor FROM `@_mark` m"
    " JOIN `@_namespace` n ON n.name = m.ns WHERE m.ns >= $ AND (m.ns > $ OR m.`key` > $)"
    " ORDER BY m.ns, m.`key` LIMIT #)"
    " UNION ALL (SELECT n.name, n.layout, '', '', 0, 0, n.floor FROM `@_namespace` n"
    " WHERE n.name <> '' AND n.name > $ AND NOT EXISTS (SELECT 1 FROM `@_mark` WHERE ns = n.name)"
    " ORDER BY n.name LIMIT #) ORDER BY 1, 3 LIMIT #";

static const char list_one_sql[] =
    "SELECT m.ns, n.layout, m.`key`, m.note, m.high, m.`grant`, n.floor FROM `@_mark` m"
    " JOIN `@_namespace` n ON n.name = m.ns WHERE m.ns = $ AND m.`key` > $"
    " ORDER BY m.ns, m.`key` LIMIT #";

#endif
