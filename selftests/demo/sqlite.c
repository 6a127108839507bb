// SPDX-License-Identifier: GPL-2.0-only
/* The demonstration's workload: SQLite as Debian built it, which has names for its functions. */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct sqlite3 *db;
static uint32_t seed = 2463534242;

/* Marsaglia's xorshift: the same rows everywhere, whatever the C library. */
static uint32_t number(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed % below;
}

static void fail(const char *what)
{
	fprintf(stderr, "sqlite: %s: %s\n", what, sqlite3_errmsg(db));
	exit(1);
}

static void run(const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL))
		fail(sql);
}

static sqlite3_stmt *prepare(const char *sql)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL))
		fail(sql);
	return statement;
}

static void step(sqlite3_stmt *statement, int expected)
{
	if (sqlite3_step(statement) != expected)
		fail(sqlite3_sql(statement));
}

static void finish(sqlite3_stmt *statement)
{
	if (sqlite3_finalize(statement))
		fail("end of a statement");
}

static long long ask(const char *sql)
{
	sqlite3_stmt *statement = prepare(sql);
	long long answer;

	step(statement, SQLITE_ROW);
	answer = sqlite3_column_int64(statement, 0);
	finish(statement);
	return answer;
}

static void insert(int rows)
{
	sqlite3_stmt *person = prepare("INSERT INTO person VALUES (?, ?, ?, ?)");
	sqlite3_stmt *payment = prepare("INSERT INTO payment VALUES (?, ?, ?)");
	char name[32];

	run("BEGIN");
	for (int i = 1; i <= rows; i++) {
		snprintf(name, sizeof(name), "%08x %04x", number(1 << 31), number(1 << 16));
		sqlite3_bind_int(person, 1, i);
		sqlite3_bind_text(person, 2, name, -1, SQLITE_TRANSIENT);
		sqlite3_bind_int(person, 3, number(500));
		sqlite3_bind_int(person, 4, 1930 + number(80));
		step(person, SQLITE_DONE);
		sqlite3_reset(person);

		sqlite3_bind_int(payment, 1, 1 + number(rows));
		sqlite3_bind_int(payment, 2, number(100000));
		sqlite3_bind_int(payment, 3, number(365));
		step(payment, SQLITE_DONE);
		sqlite3_reset(payment);
	}
	run("COMMIT");
	finish(person);
	finish(payment);
}

static long long look_up(int rows)
{
	sqlite3_stmt *of = prepare("SELECT sum(amount) FROM payment WHERE person = ?");
	long long sum = 0;

	for (int i = 0; i < rows; i++) {
		sqlite3_bind_int(of, 1, 1 + number(rows));
		step(of, SQLITE_ROW);
		sum += sqlite3_column_int64(of, 0);
		sqlite3_reset(of);
	}
	finish(of);
	return sum;
}

/* Returns a sum over all answers, which depends on the number of rows alone. */
static long long work(int rows)
{
	long long sum;

	if (sqlite3_open(":memory:", &db))
		fail("open");
	run("CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, city INTEGER, born INTEGER)");
	run("CREATE TABLE payment(person INTEGER, amount INTEGER, day INTEGER)");
	printf("  insert 2 x %d rows\n", rows);
	insert(rows);

	printf("  index them\n");
	run("CREATE INDEX payment_person ON payment(person)");
	run("CREATE INDEX person_name ON person(name)");

	printf("  query them\n");
	sum = look_up(rows);
	sum += ask("SELECT count(*) FROM person WHERE name LIKE '%1f%'");
	sum += ask("SELECT max(n) FROM (SELECT count(*) AS n FROM person GROUP BY city, born)");
	sum += ask("SELECT sum(amount * born) FROM payment JOIN person ON person.id = person");
	sum += ask("SELECT id FROM person ORDER BY substr(name, 3) LIMIT 1 OFFSET 100");

	printf("  change and delete them\n");
	run("UPDATE payment SET amount = amount + day WHERE day % 3 = 0");
	run("DELETE FROM person WHERE born < 1950");
	sum += ask("SELECT sum(amount) FROM payment");
	sum += ask("SELECT count(*) FROM person");
	sqlite3_close(db);
	return sum;
}

int main(int argc, char **argv)
{
	int rows = argc > 1 ? atoi(argv[1]) : 0;

	if (argc > 2 || rows < 1000) {
		fprintf(stderr, "usage: sqlite ROWS   (1000 rows or more)\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("  all answers add up to %lld\n", work(rows));
	return 0;
}
