#!/usr/bin/env bash
# SheetJS writes a cell to CSV as a spreadsheet shows it, which from twelve digits on is "1.23457E+11".
# So a CSV file loses long ids, such as those of Steam, that the sheet itself has.
# xlsx 0.18.5; https://docs.sheetjs.com/docs/api/utilities/csv (`rawNumbers`).
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages xlsx@0.18.5

cat >program.cjs <<'PROGRAM'
const { utils } = require("xlsx");

const sheet = utils.aoa_to_sheet([["id"], [12345678901], [123456789012], [1234567890123]]);
console.log(utils.sheet_to_csv(sheet));
console.log(utils.sheet_to_csv(sheet, { rawNumbers: true }));
PROGRAM

expect node program.cjs <<'SEEN'
xlsx 0.18.5
id
12345678901
1.23457E+11
1.23457E+12
id
12345678901
123456789012
1234567890123
SEEN
