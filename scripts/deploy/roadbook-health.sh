#!/bin/sh
# Checks the health of Roadbook on this machine, and restarts Roadbook after three failures in a
# row. systemd restarts a server that exits, and this script restarts a server that hangs. The
# script uses the server's ROADBOOK_… settings. Run it from roadbook-health.timer or cron.
systemctl is-active --quiet roadbook || exit 0
for try in 1 2 3; do
  roadbook health >/dev/null && exit 0
  sleep 2
done
echo "roadbook failed three health checks: restarting it" >&2
exec systemctl try-restart roadbook
