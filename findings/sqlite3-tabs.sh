#!/usr/bin/env bash
# `sqlite3 -tabs` quotes nothing, unlike `-csv`. So for a reader of CSV, a name that begins with a quote
# opens a "quoted field", and the following lines, other people's, are a part of that name.
# sqlite3 3.40.1 of Debian 12, csv-parse 7.0.3; https://sqlite.org/cli.html.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
debian_packages sqlite3
npm_packages csv-parse@7.0.3

cat >program.mjs <<'PROGRAM'
import { parse } from "csv-parse/sync";
import { readFileSync } from "node:fs";

for (const [file, delimiter] of [["users.csv", ","], ["users.tsv", "\t"]]) {
  const records = parse(readFileSync(file), { delimiter });
  console.log(`${file}: ${records.length} records, of which the first is ${JSON.stringify(records[0])}`);
}
PROGRAM
query="SELECT * FROM (VALUES (1, 1, '\"Ann'), (2, 0, 'Bob'), (3, 1, 'Cy\"'))"
sqlite3 -csv :memory: "$query" >users.csv
sqlite3 -tabs :memory: "$query" >users.tsv

expect node program.mjs <<'SEEN'
sqlite3 3.40.1
csv-parse 7.0.3
users.csv: 3 records, of which the first is ["1","1","\"Ann"]
users.tsv: 1 records, of which the first is ["1","1","Ann\n2\t0\tBob\n3\t1\tCy"]
SEEN
