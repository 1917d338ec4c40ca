/* SPDX-License-Identifier: MIT */
/* The statements of the MariaDB and MySQL store. "@" is the prefix that table= gives; "$" is a text, "#" a
 * signed and "^" an unsigned number, in the order of maria_compose's arguments. docs/reference/stores.md prints
 * them, each of these as "?", for clients in other languages; test/printed_pure_test.c compares the
 * two. */
#ifndef FIRN_MYSQL_SQL_H
#define FIRN_MYSQL_SQL_H

#include "module.h"

/* Bytes, not characters: all collations but MySQL's newest take "a" and "a " for equal. The namespace
 * without a name is the store itself: a namespace with another identity is doubted (module.h). */
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

/* Reserves from a key whose seal is right. The reply has the number of rows and, as the last insert ID, the
 * new mark. Reading the namespace too would take twice as long. The last number is module_least. */
static const char again_sql[] =
    "UPDATE `@_mark` SET high = LAST_INSERT_ID(GREATEST(high, #) + #), `grant` = ^, note = $"
    " WHERE ns = $ AND `key` = $ AND seal = $ AND high <= # AND high >= #";

/* The same for a key that exists, and seals it. */
static const char raise_sql[] =
    "UPDATE `@_mark` m JOIN `@_namespace` n ON n.name = m.ns"
    " SET m.high = LAST_INSERT_ID(GREATEST(m.high, #, n.floor) + #), m.`grant` = ^, m.note = $,"
    " m.seal = CONCAT(n.identity, ' ', n.layout)"
    " WHERE m.ns = $ AND m.`key` = $ AND n.name = $ AND n.layout = $ AND n.identity = $"
    " AND m.high <= # AND m.high >= # AND n.floor <= #";

/* The same for a key that does not exist. It fails if another process is faster. */
static const char begin_sql[] =
    "INSERT INTO `@_mark`(ns, `key`, high, `grant`, note, seal)"
    " SELECT $, $, LAST_INSERT_ID(GREATEST(#, floor) + #), ^, $, CONCAT(identity, ' ', layout)"
    " FROM `@_namespace`"
    " WHERE name = $ AND layout = $ AND identity = $ AND floor <= #";

static const char read_sql[] =
    "SELECT n.layout, n.identity, n.floor, m.high, m.`grant` FROM `@_namespace` n"
    " LEFT JOIN `@_mark` m ON m.ns = n.name AND m.`key` = $ WHERE n.name = $";

static const char born_sql[] =
    "UPDATE `@_namespace` SET identity = $ WHERE name = '' AND identity = 'new'";

/* Its first, second and third number are the guard, the guard and whether the layout is closed; without a
 * guard only a new name is written. InnoDB locks what is read here, so doubt_sql and relabel_first_sql run
 * before or after it. */
static const char first_use_sql[] =
    "INSERT INTO `@_namespace`(name, layout, identity, floor)"
    " SELECT $, $, $, IF(own.same, 0, #) FROM (SELECT COALESCE(SUM(identity = $), 0) > 0 AS same,"
    " COALESCE(SUM(layout LIKE '" MODULE_CLOSED "%'), 0) AS shut FROM `@_namespace`"
    " WHERE name IN ('', '" MODULE_ALL_NAMES "')) AS own"
    " WHERE (own.same OR # > 0) AND (own.shut = 0 OR #)"
    " ON DUPLICATE KEY UPDATE name = VALUES(name)";

/* The number of the table of marks. It changes when the table is emptied (TRUNCATE), made again or rebuilt.
 * The second is MySQL's name. Needs the right PROCESS. */
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

/* Without its seal, a mark is reserved from only after the layout was read. The store's own row, whose floor
 * nothing uses, changes each time: InnoDB writes and syncs nothing for a layout that is there already. */
static const char relabel_sql[] =
    "UPDATE `@_namespace` s JOIN `@_namespace` n ON s.name = ''"
    " LEFT JOIN `@_mark` m ON m.ns = n.name"
    " SET n.layout = $, n.floor = GREATEST(n.floor, #), m.seal = '', s.floor = s.floor + 1"
    " WHERE n.name = $ AND n.layout = $ AND n.identity = $";

/* The same for a name without a record. */
static const char relabel_first_sql[] =
    "INSERT IGNORE INTO `@_namespace`(name, layout, identity, floor)"
    " SELECT $, $, $, # FROM (SELECT COUNT(*) > 0 AS same FROM `@_namespace`"
    " WHERE name IN ('', '" MODULE_ALL_NAMES "') AND identity = $) AS own WHERE own.same";

static const char doubt_sql[] =
    "UPDATE `@_namespace` n LEFT JOIN `@_mark` m ON m.ns = n.name SET n.identity = $, m.seal = ''";

/* InnoDB shows a commit to others before it is on disk. This write, which must change something,
 * waits until the mark that was read is on disk. */
static const char settle_sql[] =
    "UPDATE `@_mark` SET met = met + 1 WHERE ns = $ AND `key` = $ AND `grant` = ^ AND high = #";

static const char give_back_sql[] =
    "UPDATE `@_mark` SET high = #, `grant` = 0, seal = ''"
    " WHERE ns = $ AND `key` = $ AND high = # AND `grant` = ^ AND # <= high";

static const char list_all_sql[] =
    "(SELECT m.ns, n.layout, m.`key`, m.note, m.high, m.`grant` FROM `@_mark` m"
    " JOIN `@_namespace` n ON n.name = m.ns WHERE m.ns >= $ AND (m.ns > $ OR m.`key` > $)"
    " ORDER BY m.ns, m.`key` LIMIT #)"
    " UNION ALL (SELECT n.name, n.layout, '', '', 0, 0 FROM `@_namespace` n"
    " WHERE n.name <> '' AND n.name > $ AND NOT EXISTS (SELECT 1 FROM `@_mark` WHERE ns = n.name)"
    " ORDER BY n.name LIMIT #) ORDER BY 1, 3 LIMIT #";

static const char list_one_sql[] =
    "SELECT m.ns, n.layout, m.`key`, m.note, m.high, m.`grant` FROM `@_mark` m"
    " JOIN `@_namespace` n ON n.name = m.ns WHERE m.ns = $ AND m.`key` > $"
    " ORDER BY m.ns, m.`key` LIMIT #";

#endif
