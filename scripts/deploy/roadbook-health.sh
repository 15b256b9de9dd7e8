#!/bin/sh
# Checks the health of Roadbook on this machine, and restarts it after three failures in a row.
# systemd restarts a process that exits; this script restarts one that hangs. It reads the server's
# ROADBOOK_… settings. Run it by roadbook-health.timer or cron.
systemctl is-active --quiet roadbook || exit 0
for try in 1 2 3; do
  roadbook health >/dev/null && exit 0
  sleep 2
done
echo "roadbook failed three health checks: restarting it" >&2
exec systemctl try-restart roadbook
