/**
 * Tests the Containerfile and the manifests without an image: the Containerfile's commands build a
 * root folder, in which the executable runs with chroot as the image's user.
 */
import { expect, test } from "bun:test";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  executable,
  isRequired,
  makeOnce,
  openExecutable,
  roadbook,
  root,
  run,
  spawnServer,
  temporaryFolder,
  until,
} from "../support.ts";

const deploy = (name: string) => readFileSync(join(root, "scripts/deploy", name), "utf8");

/**
 * Runs a command in a read-only root folder with /proc and /dev, as a container runtime would. Only
 * the command sees these mounts.
 */
const enter = [
  "/usr/bin/unshare",
  "--mount",
  "sh",
  "-ec",
  `mount --bind "$0" "$0"; mount --rbind /proc "$0/proc"; mount --rbind /dev "$0/dev"
   mount -o remount,bind,ro "$0"; root=$0; user=$1; shift; exec /usr/sbin/chroot "$user" "$root" "$@"`,
];
const isDebian = existsSync("/lib/x86_64-linux-gnu/libc.so.6") && existsSync("/usr/bin/unshare");
const canEnter = isDebian && Bun.spawnSync(["unshare", "--mount", "true"]).success;

if (!canEnter) console.warn("this is not Debian, or mounts are forbidden: skipping the container");
else
  test("the server runs in the container's read-only root folder", async () => {
    const file = deploy("Containerfile").replaceAll("\\\n", "");
    const image = temporaryFolder();
    chmodSync(image, 0o755);
    for (const name of ["dev", "proc", "usr/bin"])
      mkdirSync(join(image, name), { recursive: true });
    copyFileSync(await executable(), join(image, "usr/bin/roadbook"));
    const [, commands = ""] = /^RUN (.*)$/m.exec(file) ?? [];
    const made = await run(["sh", "-ec", commands.replaceAll("/root-of-image", image)]);
    expect([made.code, made.stderr]).toEqual([0, ""]);
    const licences = readFileSync(join(image, "usr/share/doc/roadbook/licences.txt"), "utf8");
    expect(licences).toContain("LGPL");

    const [, user = ""] = /^USER (.*)$/m.exec(file) ?? [];
    const [, settings = ""] = /^ENV (.*)$/m.exec(file) ?? [];
    const env = Object.fromEntries(settings.split(" ").map((pair) => pair.split("=")));
    const listOf = (name: string) =>
      JSON.parse(new RegExp(`${name} (\\[.*\\])`).exec(file)?.[1] ?? "[]");
    const inside = [...enter, image, `--userspec=${user}`];
    // Port 3000 might be in use on this machine.
    const command = [...inside, ...listOf("ENTRYPOINT"), "--port", "0"];
    const { origin, pid, close } = await spawnServer(command, { env });
    try {
      const { port } = new URL(origin);
      const response = await fetch(`http://127.0.0.1:${port}/search/users?q=no`);
      expect(response.status).toBe(200);
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      expect(status).toMatch(/^Uid:\t65532\t65532\t65532\t65532$/m);
      const health = [...inside, ...listOf("HEALTHCHECK .* CMD")];
      expect(await run(health, { env: { ...env, ROADBOOK_PORT: port } })).toMatchObject({
        code: 0,
      });
      // No server listens on port 1.
      expect(await run(health, { env: { ...env, ROADBOOK_PORT: "1" } })).toMatchObject({ code: 1 });
    } finally {
      expect(await close()).toBe(0);
    }
  });

const manifests = Bun.YAML.parse(deploy("kubernetes.yaml")) as {
  apiVersion: string;
  kind: string;
}[];

/** Installs the schemas of Kubernetes, which take 21 MB that no other test needs. */
const installModels = () =>
  makeOnce("kubernetes-models", async (folder) => {
    const command = [process.execPath, "add", "--exact", "--silent", "kubernetes-models@5.1.0"];
    expect(await run(command, { cwd: folder })).toMatchObject({ code: 0 });
  });

if (!isRequired) console.warn("ROADBOOK_REQUIRE_ALL is not set: kubernetes.yaml is not validated");

test.if(isRequired).each(manifests)("the $kind for Kubernetes is valid", async (manifest) => {
  const { apiVersion, kind, ...rest } = manifest;
  const file = Bun.resolveSync(`kubernetes-models/${apiVersion}/${kind}`, await installModels());
  const { [kind]: Model } = await import(file);
  new Model({ apiVersion, kind, ...rest }).validate();
  expect(() => new Model({ ...rest, metadata: 1 }).validate()).toThrow();
});

/** Returns what is at a path such as `ports.0.targetPort`. */
const at = (value: unknown, path: string) =>
  path.split(".").reduce((inner, key) => (inner as Record<string, unknown>)?.[key], value);

/** Starts the server with these variables, all of which it must know, and calls `use`. */
async function serve(
  env: Record<string, string>,
  args: string[],
  use?: (admin: string) => unknown,
) {
  let log = "";
  const server = await openExecutable(args, (text) => (log += text), env);
  if (use) await use(await until(() => /"adminUrl":"([^"]+)/.exec(log)?.[1]));
  await server.close();
  expect(log).not.toContain("unknown");
}

test("the server responds to the Kubernetes probes and knows every setting", async () => {
  const find = (kind: string, path: string) =>
    at(Object.groupBy(manifests, (each) => each.kind)[kind], `0.${path}`);
  const claimName = find("PersistentVolumeClaim", "metadata.name");
  const volume = { name: "data", persistentVolumeClaim: { claimName } };
  const pod = "spec.template.spec";
  expect(find("CronJob", `spec.jobTemplate.${pod}.volumes`)).toContainEqual(volume);
  expect(find("Deployment", `${pod}.volumes`)).toContainEqual(volume);
  // The import would begin: its arguments are right, but there is no database.
  const words = find("CronJob", `spec.jobTemplate.${pod}.containers.0.args`) as string[];
  const env = { ROADBOOK_DATABASE: "sqlite:missing" };
  expect(await roadbook(words, { env })).toMatchObject({ code: 1 });

  const container = find("Deployment", `${pod}.containers.0`);
  expect(at(container, "envFrom.0.configMapRef.name")).toBe(find("ConfigMap", "metadata.name"));
  expect(find("Deployment", "spec.template.metadata.labels")).toEqual(
    find("Service", "spec.selector"),
  );
  const settings = find("ConfigMap", "data") as Record<string, string>;
  expect(at(container, "ports")).toEqual([
    { name: "http", containerPort: 3000 },
    { name: "admin", containerPort: Number(settings.ROADBOOK_ADMIN_PORT) },
  ]);
  expect(find("Service", "spec.ports.0.targetPort")).toBe("http");
  await serve(settings, ["--admin-port", "0", "--admin-host", "127.0.0.1"], async (admin) => {
    for (const name of ["startup", "readiness", "liveness"]) {
      const { path, port } = at(container, `${name}Probe.httpGet`) as Record<string, string>;
      expect([port, (await fetch(`${admin}${path}`)).status]).toEqual(["admin", 200]);
    }
  });
});

test("the compose file has the health check of the Containerfile, and each image has a full version", () => {
  const containerfile = deploy("Containerfile");
  const pattern = /^HEALTHCHECK --interval=(\S+) --timeout=(\S+) --start-period=(\S+) CMD (.*)$/m;
  const [, interval, timeout, start_period, words = ""] = pattern.exec(containerfile) ?? [];
  const services = at(Bun.YAML.parse(deploy("compose.yaml")), "services");
  const test = ["CMD", ...JSON.parse(words)];
  expect(at(services, "roadbook.healthcheck")).toEqual({ test, interval, timeout, start_period });
  expect(at(services, "caddy.depends_on.roadbook.condition")).toBe("service_healthy");
  const used = `${containerfile}${deploy("compose.yaml")}`.matchAll(/(?:FROM |image: )(\S+\/\S+)/g);
  const images = [...used].map(([, image]) => image);
  expect(images).toHaveLength(3);
  for (const image of images) expect(image).toMatch(/:\d+(?:\.\d+)+(?:-slim)?$/);
});

test("the server knows every setting in the compose file", async () => {
  const services = at(Bun.YAML.parse(deploy("compose.yaml")), "services");
  const environmentOf = (service: string) =>
    at(services, `${service}.environment`) as Record<string, string>;
  if (Bun.which("caddy")) {
    const adapt = ["caddy", "adapt", "--config", join(root, "scripts/deploy/Caddyfile")];
    const env = { PATH: process.env.PATH ?? "", ...environmentOf("caddy") };
    expect((await run(adapt, { env })).stdout).toContain('"dial":"roadbook:3000"');
  }
  const { ROADBOOK_SNAPSHOT: snapshot, ...settings } = environmentOf("roadbook");
  expect(snapshot).toBe("/data/roadbook.snapshot");
  expect(settings.ROADBOOK_PUBLIC_URL).toBe("https://api.example.org");
  expect(at(services, "roadbook.read_only")).toBe(true);
  // If Valkey is unavailable, the server counts searches in its own memory.
  const store = settings.ROADBOOK_RATE_LIMIT_STORE?.replace("valkey:6379", "127.0.0.1:1") ?? "";
  await serve({ ...settings, ROADBOOK_RATE_LIMIT_STORE: store }, []);
});
