#!/usr/bin/env bash
# npm takes `dist/app-1.0.0.tgz`, a file that exists, for a repository on GitHub of that name, and so
# publishes or installs nothing from the folder. `./dist/app-1.0.0.tgz` is the file.
# npm-package-arg 13.0.2, which npm 11.6 uses to read such a word.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages npm-package-arg@13.0.2

mkdir dist
echo '{ "name": "app", "version": "1.0.0" }' >dist/package.json
(cd dist && npm pack --silent >/dev/null)
cat >program.cjs <<'PROGRAM'
const read = require("npm-package-arg");

for (const word of ["dist/app-1.0.0.tgz", "./dist/app-1.0.0.tgz"]) {
  const { type, saveSpec } = read(word);
  console.log(`${word}: ${type} ${saveSpec}`);
}
PROGRAM

expect node program.cjs <<'SEEN'
npm-package-arg 13.0.2
dist/app-1.0.0.tgz: git github:dist/app-1.0.0.tgz
./dist/app-1.0.0.tgz: file file:dist/app-1.0.0.tgz
SEEN
