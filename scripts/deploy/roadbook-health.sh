#!/bin/sh
# Asks the Roadbook on this machine how it is, and restarts it when it does not answer well three
# times in a row: what dies is restarted by systemd, what hangs is restarted by this. Heeds the
# server's own ROADBOOK_… settings. For roadbook-health.timer, or cron.
systemctl is-active --quiet roadbook || exit 0
for try in 1 2 3; do
  roadbook health >/dev/null && exit 0
  sleep 2
done
echo "roadbook does not answer well: restarting it" >&2
exec systemctl try-restart roadbook
