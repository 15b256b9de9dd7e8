#!/usr/bin/env bash
# WebKit runs a deferred script while a style sheet above it is still loading; Chromium waits for the style
# sheet. So in Safari, a script cannot rely on the style of its page.
# WebKitGTK 2.50.6 and Chromium 156 of Debian 12.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
debian_packages libwebkit2gtk-4.1-0 chromium xvfb curl

# Sends the style sheet when the script has run, or else after three seconds.
cat >server.cjs <<'PROGRAM'
const head = '<link rel="stylesheet" href="style.css"><script defer src="script.js"></script>';
const types = { "/page": "text/html", "/script.js": "text/javascript", "/style.css": "text/css" };
const bodies = { "/page": `<!doctype html>${head}`, "/script.js": 'fetch("script-ran")' };
let first = "nothing";
let sendStyle;
const server = require("node:http").createServer(({ url }, response) => {
  const come = (what) => {
    if (first === "nothing") first = what;
    sendStyle.end();
  };
  response.setHeader("content-type", types[url] ?? "text/plain");
  if (url === "/style.css") {
    sendStyle = response;
    return setTimeout(come, 3000, "the style sheet");
  }
  if (url === "/script-ran") come("the script");
  response.end(url === "/first" ? first : bodies[url]);
});
server.listen(process.argv[2], "127.0.0.1");
PROGRAM

# Prints what came first in a browser, which is a command that the URL of a page is added to.
try() {
  local port first tries
  port=$(free_port)
  node server.cjs "$port" &
  wait_for "$port"
  timeout --kill-after=5 60 "${@:2}" "http://127.0.0.1:$port/page" >"$1.log" 2>&1 &
  for tries in {1..200}; do
    first=$(curl -s "http://127.0.0.1:$port/first")
    [ "$first" = nothing ] || break
    sleep 0.1
  done
  echo "$1: $first came first" >>results
}
Xvfb -displayfd 3 3>display 2>xvfb.log &
until [ -s display ]; do sleep 0.1; done
DISPLAY=:$(cat display)
export DISPLAY
try WebKitGTK /usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser
try Chromium chromium --headless --no-sandbox --user-data-dir="$work/profile"

expect cat results <<'SEEN'
libwebkit2gtk-4.1-0 2.50.6
chromium 156.0.8078.108
xvfb 21.1.7
curl 7.88.1
WebKitGTK: the script came first
Chromium: the style sheet came first
SEEN
