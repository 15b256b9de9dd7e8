/**
 * Installs the Debian package under a temporary root folder, starts its server and purges the
 * package. Also tests the manual page.
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
import { basename, dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { formatManPage } from "../../scripts/release/man.ts";
import { loadCommands } from "../../src/commands/command-line.ts";
import { version } from "../../src/domain/version.ts";
import { isFlag, variableOf } from "../../src/settings/setting.ts";
import { makeSnapshot, runSql } from "../datasets.ts";
import {
  codeBlocks,
  executable,
  fixture,
  isRequired,
  roadbook,
  root,
  run,
  spawnServer,
  temporaryFolder,
  tryProgram,
} from "../support.ts";

/** Packages a script that runs the executable, which would take seconds to copy. */
async function buildDeb(program: string): Promise<string> {
  const folder = temporaryFolder();
  const flags = ["--executable", program, "--compression", "none", "--to", folder];
  const built = await run([process.execPath, "scripts/release/deb.ts", ...flags], { cwd: root });
  expect([built.code, built.stderr]).toEqual([0, ""]);
  const name = `roadbook_${version.replace("-", "~")}_amd64.deb`;
  expect(readdirSync(folder)).toEqual([name]);
  return join(folder, name);
}

/** Returns the files in a root folder, without dpkg's own records. */
function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length))
    .filter((path) => !path.startsWith("/var/lib/dpkg/") && !path.startsWith("/var/log/"))
    .sort();
}

test.if(tryProgram("dpkg-deb"))(
  "the package has the same bytes each time, can be installed and run, and leaves only data behind when purged",
  async () => {
    const script = join(temporaryFolder(), "roadbook");
    writeFileSync(script, `#!/bin/sh\nexec ${await executable()} "$@"\n`);
    const [deb, again] = await Promise.all([buildDeb(script), buildDeb(script)]);
    expect(readFileSync(deb).equals(readFileSync(again))).toBe(true);
    const machine = temporaryFolder();
    for (const name of ["info", "updates"])
      mkdirSync(join(machine, "var/lib/dpkg", name), { recursive: true });
    writeFileSync(join(machine, "var/lib/dpkg/status"), "");
    // The root folder contains no dependencies, and most users have no sbin folders in their PATH.
    const force = "--force-not-root,script-chrootless,depends,bad-path";
    const dpkg = async (...args: string[]) =>
      expect(await run(["dpkg", `--root=${machine}`, force, ...args])).toMatchObject({ code: 0 });

    await dpkg("--install", deb);
    expect(listFiles(machine)).toEqual([
      "/etc/roadbook.conf",
      "/usr/bin/roadbook",
      "/usr/lib/systemd/system/roadbook-health.service",
      "/usr/lib/systemd/system/roadbook-health.timer",
      "/usr/lib/systemd/system/roadbook-import.service",
      "/usr/lib/systemd/system/roadbook-import.timer",
      "/usr/lib/systemd/system/roadbook.service",
      "/usr/lib/systemd/system/roadbook@.service",
      "/usr/libexec/roadbook-health.sh",
      "/usr/share/bash-completion/completions/roadbook",
      "/usr/share/doc/roadbook/CHANGELOG.md",
      "/usr/share/doc/roadbook/README.md",
      "/usr/share/doc/roadbook/changelog.gz",
      "/usr/share/doc/roadbook/copyright",
      "/usr/share/doc/roadbook/database.md",
      "/usr/share/doc/roadbook/kiosk.md",
      "/usr/share/doc/roadbook/licences.gz",
      "/usr/share/doc/roadbook/machines.md",
      "/usr/share/doc/roadbook/spreadsheets.md",
      "/usr/share/doc/roadbook/takedown.md",
      "/usr/share/fish/vendor_completions.d/roadbook.fish",
      "/usr/share/lintian/overrides/roadbook",
      "/usr/share/man/man1/roadbook.1.gz",
      "/usr/share/zsh/vendor-completions/_roadbook",
      "/var/lib/systemd/deb-systemd-helper-enabled/roadbook-health.timer.dsh-also",
      "/var/lib/systemd/deb-systemd-helper-enabled/roadbook-import.timer.dsh-also",
      "/var/lib/systemd/deb-systemd-helper-enabled/roadbook.service.dsh-also",
    ]);
    const licences = readFileSync(join(machine, "usr/share/doc/roadbook/licences.gz"));
    expect(gunzipSync(licences).toString()).toBe((await roadbook(["licences"])).stdout);
    const page = readFileSync(join(machine, "usr/share/man/man1/roadbook.1.gz"));
    expect(gunzipSync(page).toString()).toStartWith(".TH ROADBOOK 1 ");
    const readUnit = (name: string) =>
      readFileSync(join(machine, "usr/lib/systemd/system", `${name}.service`), "utf8");
    for (const name of ["roadbook", "roadbook-health", "roadbook-import"]) {
      const [, program = ""] = /^ExecStart=(\S+)/m.exec(readUnit(name)) ?? [];
      expect(statSync(join(machine, program)).mode & 0o777).toBe(0o755);
    }

    const setting = /^Environment=ROADBOOK_SNAPSHOT=(.*)$/m.exec(readUnit("roadbook"))?.[1] ?? "";
    const program = join(machine, "usr/bin/roadbook");
    const snapshot = join(machine, setting);
    const imported = await run([program, "import", fixture, "--to", snapshot]);
    expect(imported).toMatchObject({ code: 0 });
    const env = { ROADBOOK_SNAPSHOT: snapshot };
    const { origin, close } = await spawnServer([program, "--port", "0"], { env });
    expect(await (await fetch(`${origin}/users/public/42`)).text()).toContain("Łukasz Nowak");
    expect(await close()).toBe(0);

    await dpkg("--remove", "roadbook");
    expect(existsSync(join(machine, "etc/roadbook.conf"))).toBe(true);
    await dpkg("--purge", "roadbook");
    // The snapshot and its lock file belong to the operator, so they are not removed.
    const lock = join(dirname(setting), `.${basename(setting)}.lock`);
    expect(listFiles(machine)).toEqual([lock, setting]);
  },
);

/**
 * Runs a script as root in a copy of this machine that is lost afterwards. `files` is /mnt there.
 * systemctl only notes its arguments in /mnt/calls, unless it enables units, which needs no systemd.
 */
function runInCopy(files: string, script: string) {
  const systemctl = `#!/bin/sh
    case $1 in enable) exec /usr/bin/systemctl --root=/ "$@" ;; esac
    echo "$@" >> /mnt/calls\n`;
  writeFileSync(join(files, "systemctl"), systemctl);
  chmodSync(join(files, "systemctl"), 0o755);
  const enter = `
    mount -t tmpfs none "$1"
    mkdir "$1/changes" "$1/work" "$1/copy"
    mount -t overlay -o "lowerdir=/,upperdir=$1/changes,workdir=$1/work" overlay "$1/copy"
    for each in /proc /dev; do mount --rbind "$each" "$1/copy$each"; done
    mount --bind "$2" "$1/copy/mnt"
    exec chroot "$1/copy" sh -ec "
      rm -f /usr/sbin/policy-rc.d
      mkdir -p /run/systemd/system
      cp /mnt/systemctl /usr/local/bin
      $3"`;
  return run(["unshare", "--mount", "sh", "-ec", enter, "sh", temporaryFolder(), files, script]);
}

const canCopy =
  tryProgram("systemctl") && Bun.spawnSync(["unshare", "--mount", "true"]).exitCode === 0;
if (!canCopy && isRequired) throw new Error("upgrades cannot be tested: mounts are forbidden");

test.if(canCopy)(
  "an upgrade restarts the servers if it can read their snapshot, and purging removes all links",
  async () => {
    const files = temporaryFolder();
    cpSync(await executable(), join(files, "program"));
    const script = join(temporaryFolder(), "roadbook");
    writeFileSync(script, '#!/bin/sh\nexec /mnt/program "$@"\n');
    cpSync(await buildDeb(script), join(files, "roadbook.deb"));
    const snapshot = await makeSnapshot();
    cpSync(snapshot, join(files, "new.snapshot"));
    await runSql(snapshot, "PRAGMA user_version = 6");
    cpSync(snapshot, join(files, "old.snapshot"));
    const inCopy = async (script: string) => {
      const outcome = await runInCopy(files, script);
      expect([outcome.code, outcome.stderr]).toEqual([0, ""]);
      const calls = join(files, "calls");
      const called = existsSync(calls) ? readFileSync(calls, "utf8").split("\n") : [];
      return { printed: outcome.stdout, called };
    };
    const install = "dpkg --no-triggers --install /mnt/roadbook.deb";
    const before = `${install}; cp /mnt/old.snapshot /var/lib/roadbook.snapshot
      systemctl enable --quiet roadbook roadbook@1 roadbook-health.timer; : > /mnt/calls`;
    const restart = "try-restart roadbook.service roadbook@*.service";

    const refused = await inCopy(`${before}; ${install}`);
    expect(refused.printed).toContain("this version cannot read /var/lib/roadbook.snapshot");
    expect(refused.called).not.toContain(restart);

    const guide = readFileSync(join(root, "scripts/deploy/README.md"), "utf8");
    const [, section = ""] = /^\*\*With the package(.*?)^## /ms.exec(guide) ?? [];
    const [typed = ""] = codeBlocks(section, "bash");
    const readable = "cp /mnt/new.snapshot /var/lib/roadbook.snapshot";
    const upgraded = await inCopy(`${before}; ${readable}; ${typed}; ${install}`);
    expect(upgraded.called).toEqual(expect.arrayContaining(["restart roadbook", restart]));

    const find =
      "find /etc /usr /var -name '*roadbook*' ! -path '/var/lib/dpkg/info/*' ! -path '/var/tmp/*'";
    const { printed } = await inCopy(`${before}; dpkg --purge roadbook >/dev/null; ${find}`);
    const added = printed.split("\n").filter((line) => line.startsWith("/"));
    expect(added).toEqual(["/var/lib/roadbook.snapshot"]);
  },
);

const manPage = await formatManPage(new Date(0));

test("the manual page lists every command, flag and variable", async () => {
  for (const [name, { settings }] of Object.entries(await loadCommands())) {
    expect(manPage).toContain(`.SS "roadbook ${name}`);
    for (const setting of Object.values(settings).filter(isFlag)) {
      expect(manPage).toContain(setting.name.replaceAll("-", "\\-"));
      expect(manPage).toContain(`.B ${variableOf(setting)}\n`);
    }
  }
});

test.if(tryProgram("mandoc"))("mandoc finds no problems in the manual page", async () => {
  const file = join(temporaryFolder(), "roadbook.1");
  writeFileSync(file, manPage);
  const outcome = await run(["mandoc", "-T", "lint", "-W", "warning", file]);
  expect(outcome).toMatchObject({ code: 0, stdout: "", stderr: "" });
});
