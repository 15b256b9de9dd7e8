/**
 * The README's way from nothing to HTTPS on a small VPS, on a root folder of its own: ssh runs here,
 * apt-get does nothing, and what systemd would start is started from the units that were installed.
 */
import { describe, expect, test } from "bun:test";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  community,
  executable,
  openExecutable,
  readyOrigin,
  root,
  run,
  temporaryFolder,
  until,
} from "./support.ts";

const isRequired = Boolean(process.env.ROADBOOK_REQUIRE_ALL);
const hasCaddy = Bun.which("caddy") !== null;
if (!hasCaddy) console.warn("caddy is missing: the README's VPS is not tried");
const hasSystemd = Bun.which("systemd-analyze") !== null;
if (!hasSystemd) console.warn("systemd-analyze is missing: the units are not checked");

/** A folder of programs that go before the system's own. */
function makePrograms(programs: Record<string, string>): string {
  const folder = temporaryFolder();
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

/** The settings of a unit, as systemd would read them. */
function readUnit(path: string) {
  const lines = readFileSync(path, "utf8").split("\n");
  const all = (key: string) =>
    lines.filter((line) => line.startsWith(`${key}=`)).map((line) => line.slice(key.length + 1));
  const env = all("Environment").map((text) => text.split(/=(.*)/).slice(0, 2) as [string, string]);
  return { command: all("ExecStart")[0] ?? "", env };
}

test.if(hasCaddy || isRequired)(
  "five commands lead from nothing to HTTPS",
  async () => {
    const readme = await Bun.file(join(root, "README.md")).text();
    const [, commands = ""] =
      /### On a small VPS[\s\S]*?^```sh\n([\s\S]*?)^```/m.exec(readme) ?? [];
    expect(commands.trim().split("\n")).toHaveLength(5);

    const here = temporaryFolder();
    mkdirSync(join(here, "dist"));
    cpSync(await executable(), join(here, "dist/roadbook"));
    cpSync(join(root, "scripts"), join(here, "scripts"), { recursive: true });
    cpSync(community, join(here, "dataset.ndjson"));
    const vps = temporaryFolder();
    for (const folder of ["root", "usr/local/bin", "etc/systemd/system", "etc/caddy", "var/lib"]) {
      mkdirSync(join(vps, folder), { recursive: true });
    }
    const path = makePrograms({
      scp: `for last; do :; done; [ "$last" = root@api.example.org: ] || exit 1
            while [ $# -gt 1 ]; do cp -p "$1" ${vps}/root/ || exit 1; shift; done`,
      ssh: `[ "$1" = root@api.example.org ] && cd ${vps}/root &&
            exec sh -c "$(echo "$2" | sed -E 's#(/usr/local|/etc|/var/lib)/#${vps}\\1/#g')"`,
      "apt-get": "exit 0",
      systemctl: `echo "$@" >> ${vps}/systemctl`,
    });
    const env = { PATH: `${path}:${vps}/usr/local/bin:${process.env.PATH}` };
    expect(await run(["bash", "-ec", commands], { cwd: here, env })).toMatchObject({
      code: 0,
      stderr: "",
    });
    expect(readFileSync(join(vps, "systemctl"), "utf8")).toBe(
      "enable --now roadbook roadbook-health.timer\nreload caddy\n",
    );
    for (const unit of ["roadbook-health.service", "roadbook-health.timer"]) {
      expect(existsSync(join(vps, "etc/systemd/system", unit))).toBe(true);
    }
    expect(existsSync(join(vps, "usr/local/bin/roadbook-health.sh"))).toBe(true);

    const unit = readUnit(join(vps, "etc/systemd/system/roadbook.service"));
    const onVps = (text: string) => text.replace(/^(?=\/(usr|var))/, vps);
    const child = Bun.spawn(["sh", "-c", `exec ${onVps(unit.command)} --port 0`], {
      env: Object.fromEntries(unit.env.map(([name, text]) => [name, onVps(text)])),
      stdout: "pipe",
      stderr: "ignore",
    });
    const origin = await readyOrigin(child.stdout);

    const [https, http] = [freePort(), freePort()];
    const caddyfile = readFileSync(join(vps, "etc/caddy/Caddyfile"), "utf8")
      .replace(/^api\.example\.org$/m, `https://localhost:${https}\ntls internal`)
      .replace("http://", "")
      .replace("127.0.0.1:3000", new URL(origin).host);
    const options = `{\nadmin off\nskip_install_trust\nhttp_port ${http}\nhttps_port ${https}\n}\n`;
    writeFileSync(join(vps, "Caddyfile"), options + caddyfile);
    const caddy = Bun.spawn(["caddy", "run", "--config", "Caddyfile"], {
      cwd: vps,
      env: { ...process.env, HOME: vps, XDG_DATA_HOME: vps, XDG_CONFIG_HOME: vps },
      stdout: "ignore",
      stderr: "ignore",
    });
    const ask = async (from: string, path: string) => {
      const words = ["-sk", "-i", "--http1.1", "--interface", from];
      return (await run(["curl", ...words, `https://localhost:${https}${path}`])).stdout;
    };
    await until(() => ask("127.0.0.1", "/health"));
    expect(await ask("127.0.0.1", "/users/public/42")).toContain("Łukasz Nowak");
    const left = async (from: string) =>
      /^x-ratelimit-remaining: (\d+)/im.exec(await ask(from, "/search/users?q=no"))?.[1];
    // Each address behind the proxy has a budget of its own.
    expect(await left("127.0.0.2")).toBe("29");
    expect(await left("127.0.0.2")).toBe("28");
    expect(await left("127.0.0.3")).toBe("29");
    caddy.kill();
    await caddy.exited;
    child.kill();
    expect(await child.exited).toBe(0);
  },
  60_000,
);

function freePort(): number {
  const probe = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  probe.stop();
  return probe.port;
}

describe("the health check", () => {
  /** Runs it beside a systemctl that says what it was told. */
  const check = async (env: Record<string, string>, isActive = true) => {
    const path = makePrograms({
      systemctl: `[ "$1" = is-active ] && exit ${isActive ? 0 : 3}; echo "systemctl $*"`,
      roadbook: `exec ${await executable()} "$@"`,
      sleep: "exit 0",
    });
    const script = join(root, "scripts/roadbook-health.sh");
    return run([script], { env: { PATH: `${path}:/usr/bin:/bin`, ...env } });
  };
  const restarted = { code: 0, stdout: "systemctl try-restart roadbook\n" };

  test.concurrent("leaves a server alone that is well", async () => {
    const target = await openExecutable([]);
    const { port } = new URL(target.origin);
    expect(await check({ ROADBOOK_PORT: port })).toEqual({ code: 0, stdout: "", stderr: "" });
    await target.close();
  });

  test.concurrent("restarts one that hangs", async () => {
    const target = await openExecutable([]);
    const { port } = new URL(target.origin);
    process.kill(target.pid, "SIGSTOP");
    expect(await check({ ROADBOOK_PORT: port })).toMatchObject(restarted);
    process.kill(target.pid, "SIGCONT");
    await target.close();
  });

  test.concurrent("restarts one that is there and does not listen", async () => {
    const outcome = await check({ ROADBOOK_HOST: "::1", ROADBOOK_PORT: String(freePort()) });
    expect(outcome).toMatchObject(restarted);
    expect(outcome.stderr).toMatch(
      /^roadbook: no response from http:\/\/\[::1\]:\d+\/health: connection refused\n/,
    );
    expect(outcome.stderr).toEndWith("roadbook does not answer well: restarting it\n");
  });

  test.concurrent("leaves one alone that has been stopped on purpose", async () => {
    const outcome = await check({ ROADBOOK_PORT: String(freePort()) }, false);
    expect(outcome).toEqual({ code: 0, stdout: "", stderr: "" });
  });
});

test.if(hasSystemd || isRequired)("the unit leaves the server little it could do", async () => {
  const unit = join(root, "scripts/roadbook.service");
  const { stdout } = await run(["systemd-analyze", "security", "--offline=true", unit]);
  const [, exposure] = /Overall exposure level for roadbook\.service: ([\d.]+)/.exec(stdout) ?? [];
  expect(Number(exposure)).toBeLessThanOrEqual(1.5);
});

test.if(hasSystemd || isRequired)("systemd understands the units", async () => {
  const units = ["roadbook.service", "roadbook-health.service", "roadbook-health.timer"];
  const paths = units.map((unit) => join(root, "scripts", unit));
  const { stderr } = await run(["systemd-analyze", "verify", ...paths]);
  const faults = stderr
    .split("\n")
    .filter((line) => line.includes("roadbook") && !line.includes("is not executable"));
  expect(faults).toEqual([]);
});
