/**
 * Tests scripts/deploy: the five commands for a small VPS, the proxies, the admin port, the health
 * check and the units. A temporary folder stands in for the VPS, with a fake ssh and apt-get.
 */
import { expect, test } from "bun:test";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fetchHealth } from "../../src/commands/health.ts";
import { community, makeSnapshot, textOf } from "../datasets.ts";
import {
  codeBlocks,
  executable,
  findFreePort,
  openExecutable,
  root,
  run,
  spawnServer,
  temporaryFolder,
  tryProgram,
  underLoad,
  until,
} from "../support.ts";

const readDeploy = (name: string) => readFileSync(join(root, "scripts/deploy", name), "utf8");
const guide = readDeploy("README.md");
const guidePages = readdirSync(join(root, "scripts/deploy")).filter((name) => name.endsWith(".md"));
const takedown = readDeploy("takedown.md");
const spreadsheets = readDeploy("spreadsheets.md");
const [sheet = ""] = codeBlocks(readFileSync(join(root, "README.md"), "utf8"), "csv");
const blocks = (language: string, page = guide) => codeBlocks(page, language);

/** Creates a folder of shell scripts to put at the front of PATH. */
function makePrograms(programs: Record<string, string>): string {
  const folder = temporaryFolder();
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

/** Returns the command and the environment from a unit file. */
function readUnit(path: string) {
  const lines = readFileSync(path, "utf8").split("\n");
  const all = (key: string) =>
    lines.filter((line) => line.startsWith(`${key}=`)).map((line) => line.slice(key.length + 1));
  const env = all("Environment").map((text) => text.split(/=(.*)/).slice(0, 2) as [string, string]);
  return { command: all("ExecStart")[0] ?? "", env };
}

test("where the guide has commands that no test runs, it says so", () => {
  for (const page of guidePages) {
    // Tests run the blocks in sh, bash and the languages of web processes.
    for (const [block] of readDeploy(page).matchAll(/^```(?:text|sql)$.*?^```\n\n.*?\n/gms)) {
      expect(block).toMatch(/\n_.*(?:ried by hand|Untested|A test ).*\n$/);
    }
  }
});

test.if(tryProgram("caddy"))(
  "the commands set up a server with HTTPS, and end with proof",
  async () => {
    const [commands = ""] = blocks("sh");
    const typed = commands.split("\n");
    const [onMachine = "", fromOutside = ""] = typed.splice(-2);

    const here = temporaryFolder();
    mkdirSync(join(here, "dist"));
    cpSync(await executable(), join(here, "dist/roadbook"));
    writeFileSync(join(here, "members.csv"), sheet);
    cpSync(join(root, "scripts"), join(here, "scripts"), { recursive: true });
    const vps = temporaryFolder();
    for (const folder of ["root", "usr/local/bin", "etc/systemd/system", "etc/caddy", "var/lib"]) {
      mkdirSync(join(vps, folder), { recursive: true });
    }
    const path = makePrograms({
      scp: `for last; do :; done; [ "$1 $last" = "-r root@api.example.org:" ] || exit 1
            while shift && [ $# -gt 1 ]; do cp -rp "$1" ${vps}/root/ || exit 1; done`,
      ssh: `[ "$1" = root@api.example.org ] && cd ${vps}/root &&
            exec sh -c "$(echo "$2" | sed -E 's#(/usr/local|/etc|/var/lib|/var/cache)/#${vps}\\1/#g')"`,
      "apt-get": "exit 0",
      systemctl: `echo "$@" >> ${vps}/systemctl`,
    });
    const env = { PATH: `${path}:${vps}/usr/local/bin:${process.env.PATH}` };
    const type = async (command: string) =>
      expect(await run(["bash", "-ec", command], { cwd: here, env })).toMatchObject({
        code: 0,
        stderr: "",
      });
    await type(typed.join("\n"));
    expect(readFileSync(join(vps, "systemctl"), "utf8")).toBe(
      "enable --now roadbook roadbook-health.timer\nreload caddy\n",
    );
    const health = ["roadbook-health.service", "roadbook-health.timer"];
    expect(readdirSync(join(vps, "etc/systemd/system"))).toEqual(expect.arrayContaining(health));

    const unit = readUnit(join(vps, "etc/systemd/system/roadbook.service"));
    const onVps = (text: string) => text.replace(/^(?=\/(usr|var))/, vps);
    const settings = readFileSync(join(vps, "etc/roadbook.conf"), "utf8").trim().split("=");
    const port = findFreePort();
    const https = findFreePort();
    const http = findFreePort();
    const start = () =>
      spawnServer(["sh", "-c", `exec ${onVps(unit.command)} --port ${port}`], {
        env: Object.fromEntries([...unit.env.map(([name, text]) => [name, onVps(text)]), settings]),
      });
    let server = await start();

    const caddyfile = readFileSync(join(vps, "etc/caddy/Caddyfile"), "utf8")
      .replace("api.example.org {", `https://localhost:${https} {\n\ttls internal`)
      .replaceAll("127.0.0.1:3000", `127.0.0.1:${port}`)
      // A server takes longer to start while the machine is busy with other tests.
      .replaceAll("lb_try_duration 5s", "lb_try_duration 2m");
    const options = `{\nadmin off\nskip_install_trust\nhttp_port ${http}\nhttps_port ${https}\n}\n`;
    writeFileSync(join(vps, "Caddyfile"), options + caddyfile);
    const caddy = Bun.spawn(["caddy", "run", "--config", "Caddyfile"], {
      cwd: vps,
      env: { ...process.env, HOME: vps, XDG_DATA_HOME: vps, XDG_CONFIG_HOME: vps },
      stdout: "ignore",
      stderr: "ignore",
    });
    const curl = async (from: string, path: string) => {
      const words = ["-sk", "-i", "--http1.1", "--interface", from];
      return (await run(["curl", ...words, `https://localhost:${https}${path}`])).stdout;
    };
    const reach = fromOutside
      .replace("https://api.example.org", `https://localhost:${https}`)
      .replace("curl", "curl --insecure --silent");
    for (const proof of [
      onMachine.replace(/health'$/, `health http://127.0.0.1:${port}'`),
      reach,
    ]) {
      const { code, stdout } = await run(["bash", "-ec", proof], { cwd: here, env });
      expect([code, JSON.parse(stdout).snapshot.counts.users]).toEqual([0, 5]);
    }
    const remaining = async (from: string) =>
      /^x-ratelimit-remaining: (\d+)/im.exec(await curl(from, "/search/users?q=no"))?.[1];
    // Clients behind the proxy are counted separately.
    expect(await remaining("127.0.0.2")).toBe("29");
    expect(await remaining("127.0.0.2")).toBe("28");
    expect(await remaining("127.0.0.3")).toBe("29");
    expect(await curl("127.0.0.1", "/users/public/2")).toContain(
      '"https://api.example.org/avatars/2.svg"',
    );

    const user = `https://localhost:${https}/users/public/2`;
    const getStatus = async () =>
      (await fetch(user, { tls: { rejectUnauthorized: false } })).status;
    const onServer = (line: string) => type(`ssh root@api.example.org '${line}'`);
    const restart = async () => {
      await server.close();
      server = await start();
      await getStatus();
    };
    const [backup = "", before = "", upgrade = "", wayBack = ""] = blocks("bash");
    const removal = blocks("bash").at(-1) ?? "";
    // There is no release before this one yet.
    cpSync(await executable(), join(vps, "root/old"));
    const statuses = await underLoad(getStatus, async () => {
      for (const line of backup.split("\n")) await onServer(line);
      await onServer("install old /usr/local/bin/roadbook");
      await onServer("roadbook import backup.ndjson --to /var/lib/roadbook.snapshot");
      await restart();
      for (const line of before.split("\n")) await onServer(line);
      for (const line of [upgrade, wayBack]) {
        expect(line).toEndWith("systemctl restart roadbook");
        await onServer(line);
        await restart();
      }
    });
    expect([...statuses]).toEqual([200]);
    caddy.kill();
    await caddy.exited;
    expect(await server.close()).toBe(0);
    for (const line of removal.split("\n")) await onServer(line);
    const left = readdirSync(vps, { recursive: true, encoding: "utf8" });
    expect(left.filter((path) => /^(?:etc|usr|var).*roadbook/.test(path))).toEqual([]);
  },
);

test("the commands for the admin port work, and each metric is explained there", async () => {
  const [, serve = "", asks = ""] = blocks("sh");
  let log = "";
  const words = serve
    .replace(/port \d+/g, "port 0")
    .split(" ")
    .slice(1);
  const target = await openExecutable(words, (text) => (log += text));
  const admin = await until(() => /"adminUrl":"([^"]+)/.exec(log)?.[1]);
  await target.fetch("/users/public/42");
  const curls = asks.replaceAll("http://127.0.0.1:9090", admin).replaceAll("curl", "curl -sf");
  const { code, stdout } = await run(["sh", "-ec", curls]);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^live\nready\n/m)]);
  const names = [...stdout.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name);
  expect(names).toContain("roadbook_snapshot_public_users");
  for (const name of names) expect(stdout).toMatch(new RegExp(`^# HELP ${name} \\w`, "m"));
  await target.close();
});

/** Runs the health check with a fake systemctl that prints its arguments. */
async function checkHealth(env: Record<string, string>, isActive = true) {
  const path = makePrograms({
    systemctl: `[ "$1" = is-active ] && exit ${isActive ? 0 : 3}; echo "systemctl $*"`,
    roadbook: `exec ${await executable()} "$@"`,
    sleep: "exit 0",
  });
  const script = join(root, "scripts/deploy/roadbook-health.sh");
  return run([script], { env: { PATH: `${path}:/usr/bin:/bin`, ...env } });
}

test("the health check restarts an active server that fails, and leaves others alone", async () => {
  const quiet = { code: 0, stdout: "", stderr: "" };
  const target = await openExecutable([]);
  const healthy = { ROADBOOK_PORT: new URL(target.origin).port };
  expect(await checkHealth(healthy)).toEqual(quiet);
  expect(await checkHealth({ ROADBOOK_HEALTH_URL: target.origin })).toEqual(quiet);
  const dead = { ROADBOOK_HOST: "::1", ROADBOOK_PORT: String(findFreePort()) };
  expect(await checkHealth(dead, false)).toEqual(quiet);
  const { stdout, stderr } = await checkHealth(dead);
  expect(stdout).toBe("systemctl try-restart roadbook\n");
  expect(stderr).toEndWith("roadbook failed three health checks: restarting it\n");
  await target.close();
});

test("a server that hangs fails the health check", async () => {
  const server = Bun.serve({ port: 0, fetch: () => new Promise<never>(() => {}) });
  const { origin } = server.url;
  await expect(fetchHealth(origin, 50)).rejects.toThrow(
    `no response from ${origin}/health: timed out after 0.05 s`,
  );
  await server.stop(true);
});

const units = ["roadbook", "roadbook@", "roadbook-health", "roadbook-import"];

test.if(tryProgram("systemd-analyze"))("systemd finds no problems in the units", async () => {
  const paths = units.map((unit) => join(root, `scripts/deploy/${unit}.service`));
  const timers = paths.slice(2).map((path) => path.replace(/service$/, "timer"));
  const { stderr } = await run(["systemd-analyze", "verify", ...paths, ...timers]);
  const faults = stderr
    .split("\n")
    .filter((line) => line.includes("roadbook") && !line.includes("is not executable"));
  expect(faults).toEqual([]);
  for (const path of paths) {
    const { stdout } = await run(["systemd-analyze", "security", "--offline=true", path]);
    const [, exposure] = /Overall exposure level for \S+: ([\d.]+)/.exec(stdout) ?? [];
    expect([path, Number(exposure) <= (path.includes("roadbook-") ? 2 : 1.5)]).toEqual([
      path,
      true,
    ]);
  }
});

test("serve tells systemd when it is ready, or says why it cannot", async () => {
  const said = join(temporaryFolder(), "said");
  const env = { NOTIFY_SOCKET: "/run/systemd/notify", ROADBOOK_LOG_LEVEL: "warn" };
  for (const [script, expected] of [
    [`echo "$@" > ${said}`, ""],
    ["exit 1", "cannot tell systemd that the server is ready: systemd-notify ended with 1"],
    [undefined, "cannot tell systemd that the server is ready: "],
  ] as const) {
    let log = "";
    const PATH = script === undefined ? "/nowhere" : makePrograms({ "systemd-notify": script });
    const target = await openExecutable([], (text) => (log += text), {
      ...env,
      PATH: `${PATH}:/bin`,
    });
    await until(() => (expected === "" ? existsSync(said) : log.includes(expected)));
    await target.close();
    if (expected === "") expect(log).toBe("");
  }
  expect(readFileSync(said, "utf8")).toBe("--ready\n");
});

// A manager for a user, in namespaces of its own, reads the unit as the one for the system does.
const alone = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--cgroup", "--kill-child"];
const hasSystemd =
  existsSync("/lib/systemd/systemd") &&
  Bun.which("unshare") !== null &&
  Bun.spawnSync([...alone, "mount", "-t", "tmpfs", "tmpfs", "/run"], { stderr: "ignore" }).success;
if (!hasSystemd) console.warn("skipped: systemd cannot run here in namespaces of its own");

test.if(hasSystemd)(
  "systemd waits for the server, and does not restart it for a wrong variable",
  async () => {
    const folder = temporaryFolder();
    const port = String(findFreePort());
    const conf = join(folder, "roadbook.conf");
    const snapshot = await makeSnapshot();
    const program = await executable();
    // Without the lines that only the manager of the system can do.
    const unit = readDeploy("roadbook.service")
      .replaceAll("/usr/local/bin/roadbook", program)
      .replaceAll("/var/lib/roadbook.snapshot", snapshot)
      .replaceAll("/var/cache/roadbook", join(folder, "cache"))
      .replaceAll("/etc/roadbook.conf", conf)
      .split(/^(?:DynamicUser|CacheDirectory)=.*\n|^ProtectSystem=(?:.*\n)*?(?=\[Install)/m)
      .join("");
    mkdirSync(join(folder, "systemd/user"), { recursive: true });
    writeFileSync(join(folder, "systemd/user/roadbook.service"), unit);
    writeFileSync(
      join(folder, "script"),
      `mount --make-rprivate / && mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system /run/user/0
    export XDG_RUNTIME_DIR=/run/user/0 XDG_CONFIG_HOME=${folder}
    /lib/systemd/systemd --user 2> /dev/null &
    until systemctl --user list-units > /dev/null 2>&1; do sleep 0.1; done
    try() {
      echo "$2" > ${conf}
      systemctl --user restart roadbook 2> /dev/null; echo "$1: $?"
      curl -s http://127.0.0.1:${port}/health | head -c 15; echo
      until now=$(state); [ "$now" != "$again" ]; do sleep 0.1; done; echo "$now"
    }
    state() { systemctl --user show roadbook -p ActiveState -p ExecMainStatus | sort | xargs; }
    # Each time systemd tries again, it forgets the former status.
    again="ActiveState=activating ExecMainStatus=0"
    try good ROADBOOK_PORT=${port}
    try wrong ROADBOOK_PORT=abc
    try missing ROADBOOK_SNAPSHOT=/nowhere
    until systemctl --user show roadbook -p NRestarts | grep -q '=[1-9]'; do sleep 0.1; done
    echo restarted`,
    );
    const env = { PATH: `${join(folder, "usr/local/bin")}:/usr/bin:/bin`, HOME: folder };
    const { stdout } = await run([...alone, "bash", join(folder, "script")], { env });
    expect(stdout.split("\n")).toEqual([
      ...["good: 0", '{"success":true', "ActiveState=active ExecMainStatus=0"],
      // A wrong setting is an error at once, and the unit stays failed.
      ...["wrong: 1", "", "ActiveState=failed ExecMainStatus=2"],
      // Anything else may pass, such as a missing snapshot, so systemd tries again.
      ...["missing: 1", "", "ActiveState=activating ExecMainStatus=1"],
      ...["restarted", ""],
    ]);
  },
);

test("roadbook@.service differs from roadbook.service in four lines", () => {
  const linesOf = (unit: string) => readDeploy(unit).split(/^#.*\n|\n/m);
  const single = linesOf("roadbook.service");
  const template = linesOf("roadbook@.service");
  expect(template.filter((line) => !single.includes(line))).toEqual([
    "ExecStart=/usr/local/bin/roadbook serve --reuse-port",
    "Environment=ROADBOOK_CACHE_DIR=/var/cache/roadbook-%i",
    "CacheDirectory=roadbook-%i",
    "User=roadbook",
  ]);
  expect(single.filter((line) => !template.includes(line))).toHaveLength(3);
});

test("the units unset every variable that can make the executable run other code", async () => {
  const other = join(temporaryFolder(), "other.ts");
  writeFileSync(other, 'process.stdout.write("other code\\n");');
  const variables = { BUN_OPTIONS: `--preload ${other}`, BUN_BE_BUN: "1" };
  for (const [name, value] of Object.entries(variables)) {
    const { stdout } = await run([await executable(), "--version"], { env: { [name]: value } });
    expect([name, stdout]).not.toEqual([name, expect.stringMatching(/^roadbook /)]);
  }
  for (const unit of units) {
    const unset = /^UnsetEnvironment=(.*)$/m.exec(readDeploy(`${unit}.service`))?.[1]?.split(" ");
    expect(unset).toEqual(expect.arrayContaining([...Object.keys(variables), "BUN_INSPECT"]));
  }
});

test("the guide's commands and the unit import a database", async () => {
  const folder = temporaryFolder();
  const { command, env } = readUnit(join(root, "scripts/deploy/roadbook-import.service"));
  mkdirSync(join(folder, "etc"));
  mkdirSync(join(folder, "var/lib"), { recursive: true });
  cpSync(join(root, "scripts/queries"), join(folder, "scripts/queries"), { recursive: true });
  writeFileSync(join(folder, "platform.sqlite"), "");
  const [copy = "", ...others] = blocks("bash", readDeploy("database.md"));
  const users = "SELECT 42 AS id, 1 AS public, 'Ann' AS name, 1e9 AS created_at";
  const change = `rm queries/*; echo "${users}" > queries/users.sql`;
  const typed = [copy, change, ...others.map((text) => text.replaceAll("/etc/", `${folder}$&`))]
    .join("\n")
    .replace(/mysql:[^']+/, `sqlite:${folder}/platform.sqlite`);
  const programs = { roadbook: `exec ${await executable()} "$@"`, systemctl: 'echo "$@"' };
  const PATH = `${makePrograms(programs)}:/usr/bin:/bin`;
  const { stdout, stderr } = await run(["bash", "-ec", typed], { cwd: folder, env: { PATH } });
  expect([stdout, stderr]).toEqual([
    expect.stringMatching(/would import 1 user .*\nenable --now roadbook-import.timer\n$/),
    "",
  ]);
  const inFolder = env.map(([name, text]) => [name, text.replace(/^\//, `${folder}/`)]);
  const conf = join(folder, "etc/roadbook-import.conf");
  expect(statSync(conf).mode & 0o777).toBe(0o600);
  const database = [readFileSync(conf, "utf8").trim().split("=")];
  const settings = { PATH: "/usr/bin", ...Object.fromEntries([...inFolder, ...database]) };
  const words = [await executable(), ...command.split(" ").slice(1)];
  expect((await run(words, { env: settings })).stdout).toStartWith("imported 1 user (1 public)");
  if (!tryProgram("strace")) return;
  // Does what the unit's SystemCallFilter does.
  const chown = "inject=chown,fchown,lchown,fchownat:error=EPERM";
  const filtered = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", chown, ...words];
  expect(await run(filtered, { env: settings })).toMatchObject({ code: 0, stderr: "" });
});

test("the commands of the page about spreadsheets work with the README's sheet", async () => {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, "members.csv"), sheet);
  writeFileSync(
    join(cwd, "logo.svg"),
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>',
  );
  const PATH = `${makePrograms({ roadbook: `exec ${await executable()} "$@"` })}:/usr/bin:/bin`;
  const titles: string[] = [];
  for (const line of blocks("sh", spreadsheets).join("\n").split("\n")) {
    if (/^roadbook (?:import|seed) /.test(line)) {
      const outcome = await run(["sh", "-ec", line], { cwd, env: { PATH } });
      expect([line, outcome]).toEqual([line, expect.objectContaining({ code: 0, stderr: "" })]);
      continue;
    }
    const server = await spawnServer(["sh", "-c", `exec ${line} --port 0`], { cwd, env: { PATH } });
    const page = await (await fetch(server.origin)).text();
    titles.push(/<title>([^<]*)/.exec(page)?.[1] ?? "");
    await server.close();
  }
  expect(titles).toEqual([
    expect.stringContaining("Roadbook"),
    expect.stringContaining("Roadbook"),
    expect.stringContaining("Baltic C"),
  ]);
});

/** Replaces the folders of a machine in text by those below `folder`. */
const inFolder = (folder: string, text: string) =>
  text.replace(/(?<![\w/])\/(?:etc|srv|usr\/local\/bin|var\/lib)\//g, `${folder}$&`);

test("the line for cron imports the sheet", async () => {
  const folder = temporaryFolder();
  for (const name of ["srv", "usr/local/bin", "var/lib"])
    mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, "srv/members.csv"), sheet);
  cpSync(await executable(), join(folder, "usr/local/bin/roadbook"));
  const [line = ""] = blocks("text", spreadsheets);
  const [, command = ""] = /^\S+ \S+ \S+ \S+ \S+ +root +(.*)$/.exec(line) ?? [];
  const env = { PATH: "/usr/bin:/bin" };
  const { stdout, stderr } = await run(["sh", "-c", inFolder(folder, command)], { env });
  expect([stdout, stderr]).toEqual([
    expect.stringMatching(/^imported 5 users \(4 public\), 2 co/),
    "",
  ]);
});

test.if(hasSystemd)(
  "the units import a sheet each week, beside ROADBOOK_QUERIES, and survive a bad file",
  async () => {
    const folder = temporaryFolder();
    const units = join(folder, "etc/systemd/system");
    for (const name of ["srv", "usr/local/bin", "var/lib"])
      mkdirSync(join(folder, name), { recursive: true });
    mkdirSync(units, { recursive: true });
    writeFileSync(join(folder, "members.csv"), sheet);
    cpSync(await executable(), join(folder, "usr/local/bin/roadbook"));
    // Without the lines that only the manager of the system can do.
    const service = readDeploy("roadbook-import.service").split("\nProtectSystem=")[0] ?? "";
    writeFileSync(join(units, "roadbook-import.service"), inFolder(folder, service));
    writeFileSync(join(units, "roadbook-import.timer"), readDeploy("roadbook-import.timer"));

    const [commands = "", withoutIds = ""] = blocks("bash", spreadsheets);
    const typed = inFolder(folder, commands).replaceAll("systemctl", "systemctl --user");
    const source = join(folder, "srv/members.csv");
    writeFileSync(
      join(folder, "script"),
      `mount --make-rprivate / && mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system /run/user/0
    export XDG_RUNTIME_DIR=/run/user/0 XDG_CONFIG_HOME=${folder}
    mkdir -p ${folder}/systemd && ln -s ${units} ${folder}/systemd/user
    /lib/systemd/systemd --user 2> /dev/null &
    until systemctl --user list-units > /dev/null 2>&1; do sleep 0.1; done
    journalctl() { :; }
    cd ${folder}
    ${typed.replaceAll("\n", "\n    ")}
    systemctl --user show roadbook-import.timer -p TimersCalendar -p TimersMonotonic
    sha256sum < ${folder}/var/lib/roadbook.snapshot > before
    echo '\nTotal,5,,,' >> ${source}
    systemctl --user start roadbook-import 2> /dev/null; echo "bad: $?"
    sha256sum < ${folder}/var/lib/roadbook.snapshot | cmp - before && echo kept
    sed -i '/^Total/d; s/Anna/Anne/' ${source}
    systemctl --user start roadbook-import; echo "good: $?"
    grep -c Anne ${folder}/var/lib/roadbook.snapshot

    sed -i 's/^[^,]*,//' ${source}
    rm ${folder}/var/lib/roadbook.snapshot
    roadbook import ${source} --key Username --id-map members.ids --to home > /dev/null
    ${inFolder(folder, withoutIds).replaceAll("\n", "\n    ")}
    systemctl --user start roadbook-import; echo "without ids: $?"
    roadbook export home > expected
    roadbook export ${folder}/var/lib/roadbook.snapshot | cmp - expected && echo "the same numbers"`,
    );
    const env = { PATH: "/usr/bin:/bin", HOME: folder };
    const { stdout } = await run([...alone, "bash", join(folder, "script")], { env });
    expect(stdout.trim().split("\n")).toEqual([
      expect.stringMatching(
        /^TimersCalendar={ OnCalendar=Mon \*-\*-\* 05:00:00 ; next_elapse=Mon /,
      ),
      "bad: 1",
      "kept",
      "good: 0",
      "1",
      "without ids: 0",
      "the same numbers",
    ]);
  },
);

test("the commands for a data protection officer verify a takedown", async () => {
  const name = "Łukasz Nowak";
  const snapshot = await makeSnapshot();
  const server = await openExecutable(["--snapshot", snapshot]);
  const here = temporaryFolder();
  cpSync(await executable(), join(here, "roadbook"));
  const env = { PATH: `${here}:${process.env.PATH}` };
  const [commands = ""] = blocks("bash", readDeploy("data-protection.md"));
  const type = async (command: string) => {
    const typed = command
      .replace("/var/lib/roadbook.snapshot", snapshot)
      .replace(/https?:\/\/(?:api\.example\.org|127\.0\.0\.1:3000)/, server.origin);
    const { stdout, stderr } = await run(["bash", "-c", typed], { env });
    expect([command, stderr]).toEqual([command, ""]);
    return stdout.trim();
  };
  const lines = commands.split("\n");

  // Before the takedown, each line that verifies it would show the profile.
  const before = await Promise.all(lines.slice(2).map(type));
  for (const line of before.slice(0, 3)) expect(line).toContain(name);
  expect(before).toEqual([...before.slice(0, 3), "1"]);

  const after: string[] = [];
  for (const line of lines) after.push(await type(line));
  const [, record = "", profile = "", found = "", user, count] = after;
  expect(JSON.parse(record)).toMatchObject({ made_private: [42], already_private: [] });
  expect(record).not.toContain("Nowak");
  expect(JSON.parse(profile).error.code).toBe("profile_private");
  expect(JSON.parse(found)).toEqual({ success: true, users: [] });
  expect([user, count]).toEqual(['{"type":"user","id":42,"public":false}', "0"]);
  await server.close();
});

test("a web process hides a user in the folder that the guide makes for it", async () => {
  const vps = temporaryFolder();
  chmodSync(vps, 0o755);
  const onVps = (text: string) => text.replace(/\/(usr\/local|etc|var\/lib)\//g, `${vps}$&`);
  mkdirSync(onVps("/etc/"));
  const program = onVps("/usr/local/bin/roadbook");
  cpSync(await executable(), program);
  cpSync(await makeSnapshot(), onVps("/var/lib/roadbook.snapshot"));
  const isRoot = process.getuid?.() === 0;
  const systemctl = makePrograms({ systemctl: "exit 0" });
  const prepare = blocks("bash", takedown).find((text) => text.startsWith("install -d")) ?? "";
  const text = onVps(isRoot ? prepare : prepare.replaceAll("-o www-data -g www-data", ""));
  const env = { PATH: `${systemctl}:/usr/bin:/bin` };
  expect((await run(["bash", "-ec", text], { env })).stderr).toBe("");
  const snapshot = onVps(/^Environment=ROADBOOK_TO=(.*)$/m.exec(takedown)?.[1] ?? "");
  expect(readFileSync(onVps("/etc/roadbook.conf"), "utf8")).toBe(`ROADBOOK_SNAPSHOT=${snapshot}\n`);

  const server = await openExecutable(["--snapshot", snapshot]);
  const runAs = (user: string, command: string[], id = "42") => {
    const by = ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups"];
    const strict = ["sh", "-c", 'umask 077 && exec "$@"', "sh", ...command];
    const PATH = "/usr/local/bin:/usr/bin:/bin";
    const env = { PATH, snapshot, id, server: server.origin };
    return run([...(isRoot ? by : []), ...strict], { cwd: vps, env });
  };
  writeFileSync(join(vps, "dataset"), textOf(community));
  for (const [name, flag, language, begin] of [
    ["php", "-r", "php", "extract(getenv());"],
    ["node", "-e", "js", "Object.assign(global, child_process, process.env)"],
    ["python3", "-c", "python", "import os, subprocess; globals().update(os.environ)"],
  ] as const) {
    if (!tryProgram(name)) continue;
    const importing = [program, ..."import dataset --hold 0 --to".split(" "), snapshot];
    expect(await runAs("www-data", importing)).toMatchObject({ code: 0, stderr: "" });
    const hide = [name, flag, `${begin}\n${onVps(blocks(language, takedown)[0] ?? "")}`];
    expect(await runAs("www-data", hide)).toMatchObject({ code: 0, stderr: "" });
    // The server runs as yet another user.
    const { stdout } = await runAs("65534", [program, "export", snapshot]);
    expect(stdout).toContain('{"type":"user","id":42,"public":false}');
    expect((await runAs("www-data", hide, "999")).code).not.toBe(0);
  }
  await server.close();
});
