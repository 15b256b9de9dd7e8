#!/usr/bin/env bash
# Two libraries of Node.js write less than they get: csv-stringify an empty field for false, and exceljs
# rows without the empty fields at their end.
# csv-stringify 6.9.0, exceljs 4.4.0.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages csv-stringify@6.9.0 exceljs@4.4.0

cat >program.cjs <<'PROGRAM'
const { stringify } = require("csv-stringify/sync");
const { Workbook } = require("exceljs");

const users = [
  { name: "Ann", public: true, company: 5 },
  { name: "Bob", public: false, company: null },
];
const sheet = new Workbook();
const page = sheet.addWorksheet("users");
page.columns = Object.keys(users[0]).map((key) => ({ key, header: key }));
page.addRows(users);
sheet.csv.writeBuffer().then((text) => {
  console.log(`csv-stringify:\n${stringify(users, { header: true })}exceljs:\n${text}`);
});
PROGRAM

expect node program.cjs <<'SEEN'
csv-stringify 6.9.0
exceljs 4.4.0
csv-stringify:
name,public,company
Ann,1,5
Bob,,
exceljs:
name,public,company
Ann,true,5
Bob,false
SEEN
