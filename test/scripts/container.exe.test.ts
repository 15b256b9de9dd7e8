/**
 * Tests the Containerfile and the manifests without pulling or running an image. The
 * Containerfile's commands build a root folder. The executable is then run in that folder with
 * chroot, as the image's user.
 */
import { expect, test } from "bun:test";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  executable,
  openExecutable,
  readyOrigin,
  roadbook,
  root,
  run,
  temporaryFolder,
  until,
} from "../support.ts";

const deploy = (name: string) => readFileSync(join(root, "scripts/deploy", name), "utf8");

/**
 * Runs a command in a root folder as a container runtime would. The folder is read-only, and /proc
 * and /dev are mounted in it. Only the command sees these mounts, and they disappear when it exits.
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
    const server = Bun.spawn([...inside, ...listOf("ENTRYPOINT"), "--port", "0"], {
      env,
      stdout: "pipe",
      stderr: "ignore",
    });
    try {
      const { port } = new URL(await readyOrigin(server.stdout));
      const response = await fetch(`http://127.0.0.1:${port}/search/users?q=no`);
      expect(response.status).toBe(200);
      const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
      expect(status).toMatch(/^Uid:\t65532\t65532\t65532\t65532$/m);
      const health = [...inside, ...listOf("HEALTHCHECK .* CMD")];
      expect(await run(health, { env: { ...env, ROADBOOK_PORT: port } })).toMatchObject({
        code: 0,
      });
      // No server listens on port 1.
      expect(await run(health, { env: { ...env, ROADBOOK_PORT: "1" } })).toMatchObject({ code: 1 });
    } finally {
      server.kill();
      expect(await server.exited).toBe(0);
    }
  });

const manifests = Bun.YAML.parse(deploy("kubernetes.yaml")) as {
  apiVersion: string;
  kind: string;
}[];

test.each(manifests)("the $kind for Kubernetes is valid", async ({ apiVersion, kind, ...rest }) => {
  const { [kind]: Model } = await import(`kubernetes-models/${apiVersion}/${kind}`);
  new Model({ apiVersion, kind, ...rest }).validate();
  expect(() => new Model({ ...rest, metadata: 1 }).validate()).toThrow();
});

test("the server responds to the Kubernetes probes and knows every setting", async () => {
  const find = (kind: string) => manifests.find((manifest) => manifest.kind === kind) as unknown;
  const config = find("ConfigMap") as { data: Record<string, string>; metadata: { name: string } };
  const deployment = find("Deployment") as {
    spec: { template: { metadata: { labels: object }; spec: Record<string, never> } };
  };
  const service = find("Service") as {
    spec: { selector: object; ports: { targetPort: string }[] };
  };
  const volume = find("PersistentVolumeClaim") as { metadata: { name: string } };
  const job = find("CronJob") as {
    spec: {
      jobTemplate: {
        spec: { template: { spec: { containers: { args: string[] }[]; volumes: object[] } } };
      };
    };
  };
  const {
    containers: [importer],
    volumes,
  } = job.spec.jobTemplate.spec.template.spec;
  const claim = { persistentVolumeClaim: { claimName: volume.metadata.name } };
  expect(volumes[0]).toEqual({ name: "data", ...claim });
  const mounted: unknown[] = deployment.spec.template.spec.volumes ?? [];
  expect(mounted).toContainEqual({ name: "data", ...claim });
  // The import would begin: its arguments are right, but there is no database.
  const env = { ROADBOOK_DATABASE: "sqlite:missing" };
  expect(await roadbook(importer?.args ?? [], { env })).toMatchObject({ code: 1 });
  const [container] = deployment.spec.template.spec.containers as unknown as [
    Record<
      `${"startup" | "readiness" | "liveness"}Probe`,
      { httpGet: { path: string; port: string } }
    > & {
      ports: { name: string; containerPort: number }[];
      envFrom: { configMapRef: { name: string } }[];
    },
  ];
  expect(container.envFrom[0]?.configMapRef.name).toBe(config.metadata.name);
  expect(deployment.spec.template.metadata.labels).toEqual(service.spec.selector);
  const ports = Object.fromEntries(
    container.ports.map(({ name, containerPort }) => [name, containerPort]),
  );
  expect(ports).toEqual({ http: 3000, admin: Number(config.data.ROADBOOK_ADMIN_PORT) });
  expect(ports).toHaveProperty(service.spec.ports[0]?.targetPort ?? "");

  let log = "";
  const listen = ["--admin-port", "0", "--admin-host", "127.0.0.1"];
  const server = await openExecutable(listen, (text) => (log += text), config.data);
  const admin = await until(() => /admin listening on ([^"]+)/.exec(log)?.[1]);
  for (const name of ["startupProbe", "readinessProbe", "livenessProbe"] as const) {
    expect(container[name].httpGet.port).toBe("admin");
    expect((await fetch(admin + container[name].httpGet.path)).status).toBe(200);
  }
  await server.close();
  expect(log).not.toContain("unknown");
});

test("the server knows every setting in the compose file", async () => {
  const { services } = Bun.YAML.parse(deploy("compose.yaml")) as {
    services: {
      caddy: { environment: Record<string, string> };
      roadbook: { environment: Record<string, string>; read_only: boolean };
    };
  };
  if (Bun.which("caddy")) {
    const adapt = ["caddy", "adapt", "--config", join(root, "scripts/deploy/Caddyfile")];
    const env = { PATH: process.env.PATH ?? "", ...services.caddy.environment };
    expect((await run(adapt, { env })).stdout).toContain('"dial":"roadbook:3000"');
  }
  const { ROADBOOK_SNAPSHOT: snapshot, ...settings } = services.roadbook.environment;
  expect(snapshot).toBe("/data/roadbook.snapshot");
  expect(settings.ROADBOOK_PUBLIC_URL).toBe("https://api.example.org");
  expect(services.roadbook.read_only).toBe(true);
  let log = "";
  // If Valkey is unavailable, the server counts searches in its own memory.
  const store = settings.ROADBOOK_RATE_LIMIT_STORE?.replace("valkey:6379", "127.0.0.1:1") ?? "";
  const server = await openExecutable([], (text) => (log += text), {
    ...settings,
    ROADBOOK_RATE_LIMIT_STORE: store,
  });
  await server.close();
  expect(log).not.toContain("unknown");
});
