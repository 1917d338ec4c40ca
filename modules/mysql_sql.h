/* SPDX-License-Identifier: MIT */
/* The statements of the MariaDB and MySQL store. "@" is the prefix from table= ("@@" is itself), "$" is a text, "#" is
 * a signed and "^" an unsigned number, in the order of maria_compose's arguments. docs/reference/stores.md prints
 * the statements for clients in other languages, with "?" for each argument; test/printed_pure_test.c compares both. */
#ifndef FIRN_MYSQL_SQL_H
#define FIRN_MYSQL_SQL_H

#include "module.h"

/* Names are bytes, not characters: most collations treat "a" and "a " as equal. The row with the empty name describes
 * the store itself: a namespace whose identity differs from it is in doubt (module.h). */
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

/* Reserves from a key whose seal matches, without reading the namespace, which would double the time. The reply has
 * the number of changed rows and, as the last insert ID, the new mark. The last number is firn__least. */
static const char again_sql[] =
    "UPDATE `@_mark` SET high = LAST_INSERT_ID(GREATEST(high, #) + #), `grant` = ^, note = $"
    " WHERE ns = $ AND `key` = $ AND seal = $ AND high <= # AND high >= #";

/* Reserves from any key that exists, and seals it. */
static const char raise_sql[] =
    "UPDATE `@_mark` m JOIN `@_namespace` n ON n.name = m.ns"
    " SET m.high = LAST_INSERT_ID(GREATEST(m.high, #, n.floor) + #), m.`grant` = ^, m.note = $,"
    " m.seal = CONCAT(n.identity, ' ', n.layout)"
    " WHERE m.ns = $ AND m.`key` = $ AND n.name = $ AND n.layout = $ AND n.identity = $"
    " AND m.high <= # AND m.high >= # AND n.floor <= #";

/* Reserves from a new key. Fails if another process has created the key first. */
static const char begin_sql[] =
    "INSERT INTO `@_mark`(ns, `key`, high, `grant`, note, seal)"
    " SELECT $, $, LAST_INSERT_ID(GREATEST(#, floor) + #), ^, $, CONCAT(identity, ' ', layout)"
    " FROM `@_namespace`"
    " WHERE name = $ AND layout = $ AND identity = $ AND floor <= #";

static const char read_sql[] =
    "SELECT n.layout, n.identity, n.floor, m.high, m.`grant` FROM `@_namespace` n"
    " LEFT JOIN `@_mark` m ON m.ns = n.name AND m.`key` = $ WHERE n.name = $";

/* Follows each statement in the same packet: who answered? A proxy may lead a connection to another server, after a
 * failover or at any time. The first is of servers without server_uuid (MariaDB), the second of those with it. */
static const char *const witness_sql[] = {
    "SELECT CONCAT_WS(' ', CONNECTION_ID(), @@GLOBAL.server_id)",
    "SELECT CONCAT_WS(' ', CONNECTION_ID(), @@GLOBAL.server_id, @@GLOBAL.server_uuid)",
};

static const char born_sql[] =
    "UPDATE `@_namespace` SET identity = $ WHERE name = '' AND identity = 'new'";

/* Its numbers are the guard, the guard again, and whether the layout is closed. With a guard of 0 it adds the
 * namespace only if the identity is the store's. InnoDB locks the rows that this reads, so it never runs at the same
 * time as doubt_sql or relabel_first_sql. */
static const char first_use_sql[] =
    "INSERT INTO `@_namespace`(name, layout, identity, floor)"
    " SELECT $, $, $, IF(own.same, 0, #) FROM (SELECT COALESCE(SUM(identity = $), 0) > 0 AS same,"
    " COALESCE(SUM(layout LIKE '" FIRN__CLOSED "%'), 0) AS shut FROM `@_namespace`"
    " WHERE name IN ('', '" FIRN__ALL_NAMES "')) AS own"
    " WHERE (own.same OR # > 0) AND (own.shut = 0 OR #)"
    " ON DUPLICATE KEY UPDATE name = VALUES(name)";

/* The number of the table of marks, in MariaDB and in MySQL. It changes when the table is truncated, created again or
 * rebuilt. Needs the PROCESS privilege. */
static const char *const number_sql[] = {
    "SELECT TABLE_ID FROM information_schema.INNODB_SYS_TABLES"
    " WHERE NAME = CONCAT(DATABASE(), '/@_mark')",
    "SELECT TABLE_ID FROM information_schema.INNODB_TABLES"
    " WHERE NAME = CONCAT(DATABASE(), '/@_mark')",
};

static const char numbered_sql[] = "UPDATE `@_namespace` SET layout = $ WHERE name = ''";

static const char adopt_sql[] = "UPDATE `@_namespace` n LEFT JOIN `@_mark` m ON m.ns = n.name"
                                " SET n.identity = $, n.floor = GREATEST(n.floor, #), m.seal = ''"
                                " WHERE n.name = $ AND n.identity = $";

/* Removes the seals, so that the next reservation reads the layout first. InnoDB does not sync an UPDATE that changes
 * nothing, so this also counts up the floor of the store's own row, which nothing else uses. */
static const char relabel_sql[] =
    "UPDATE `@_namespace` s JOIN `@_namespace` n ON s.name = ''"
    " LEFT JOIN `@_mark` m ON m.ns = n.name"
    " SET n.layout = $, n.floor = #, m.seal = '', s.floor = s.floor + 1"
    " WHERE n.name = $ AND n.layout = $ AND n.identity = $ AND n.floor = #";

/* The same for a namespace that has no row yet. */
static const char relabel_first_sql[] =
    "INSERT IGNORE INTO `@_namespace`(name, layout, identity, floor)"
    " SELECT $, $, $, # FROM (SELECT COUNT(*) > 0 AS same FROM `@_namespace`"
    " WHERE name IN ('', '" FIRN__ALL_NAMES "') AND identity = $) AS own WHERE own.same";

static const char doubt_sql[] =
    "UPDATE `@_namespace` n LEFT JOIN `@_mark` m ON m.ns = n.name SET n.identity = $, m.seal = ''";

/* InnoDB shows a commit to other sessions before it is on disk. This write comes after that commit in the log, so when
 * it is on disk, the mark that was read is too. It must change a row, or nothing would be synced. */
static const char settle_sql[] =
    "UPDATE `@_mark` SET met = met + 1 WHERE ns = $ AND `key` = $ AND `grant` = ^ AND high = #";

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
