#!/usr/bin/env bash
# csv-parse decides by the first line how lines end. If later ones end otherwise, they become one record,
# or keep a CR, without an error. A file that was edited on two systems loses rows.
# csv-parse 7.0.3; https://csv.js.org/parse/options/record_delimiter/.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages csv-parse@7.0.3

cat >program.mjs <<'PROGRAM'
import { parse } from "csv-parse/sync";

const texts = ["name\r\nAnn\nBob\n", "name\nAnn\r\nBob\r\n"];
for (const text of texts) console.log(JSON.stringify(parse(text)));
PROGRAM

expect node program.mjs <<'SEEN'
csv-parse 7.0.3
[["name"],["Ann\nBob\n"]]
[["name"],["Ann\r"],["Bob\r"]]
SEEN
