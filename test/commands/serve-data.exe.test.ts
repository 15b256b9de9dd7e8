/** `roadbook FILE` and `serve --data`: what people have is imported, served, and imported again. */
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { textOf, user } from "../datasets.ts";
import { executable, openLogged, readyOrigin, temporaryFolder, until } from "../support.ts";

const users = "id,public,name,created_at\n1,true,Ann,2021-05-01\n2,true,Bo,2021-05-02\n";

/** Serves what is at `path`, and returns a function that requests the name of a user. */
async function open(path: string) {
  const temporary = temporaryFolder();
  const target = await openLogged(["--data", path], { TMPDIR: temporary });
  const ask = async (route: string) => (await fetch(target.origin + route)).json();
  return {
    ...target,
    nameOf: async (id: number) => (await ask(`/users/public/${id}`)).user?.name,
    refused: async () => (await ask("/health")).refused_replacement,
  };
}

test("a folder of CSV files is served, and again after a cell has changed", async () => {
  const folder = join(temporaryFolder(), "my-tables");
  const file = join(folder, "users.csv");
  mkdirSync(folder);
  writeFileSync(file, users);
  symlinkSync("/gone", join(folder, "notes"));
  const { nameOf, log, close } = await open(folder);
  expect(await nameOf(1)).toBe("Ann");

  writeFileSync(file, users.replace("Ann", "Anna"));
  await until(async () => (await nameOf(1)) === "Anna");
  // A file that is new belongs to the data, too.
  writeFileSync(join(folder, "companies.csv"), "id,name,member_count\n3,Baltic Express,7\n");
  await until(() => log().includes('"companies":1'));
  await close();
});

test("data that is wrong is reported, and the last good data stays", async () => {
  const folder = temporaryFolder();
  const file = join(folder, "users.csv");
  writeFileSync(file, users);
  const { nameOf, refused, log, close } = await open(folder);

  writeFileSync(file, users.replace("1,true,Ann", "1,maybe,Anna"));
  await until(() => log().includes("serving the data from before"));
  expect(await refused()).toBe("cannot be imported (1 error)");
  expect(log()).toContain("users.csv, line 2: public: must be ");
  expect(log().match(/serving the data from before/g)).toHaveLength(1);
  expect(log()).not.toContain("restart");
  expect(log()).not.toContain("to add a flag");
  expect([await nameOf(1), await nameOf(2)]).toEqual(["Ann", "Bo"]);

  // Making most people private needs no flag, because nothing but the data decides.
  writeFileSync(file, users.replaceAll("true", "false").replace("1,false,Ann", "1,true,Anna"));
  await until(async () => (await nameOf(1)) === "Anna");
  expect([await refused(), await nameOf(2)]).toEqual([null, undefined]);
  await close();
});

test("a column that would publish most private people is refused until a restart", async () => {
  const file = join(temporaryFolder(), "members.csv");
  const people = [1, 2, 3, 4].map((id) => `${id},false,Ann ${id},2021-05-01\n`).join("");
  writeFileSync(file, `${users.split("\n")[0]}\n${people}5,true,Bo,2021-05-02\n`);
  const { nameOf, refused, log, close } = await open(file);

  writeFileSync(file, readFileSync(file, "utf8").replaceAll("false", "true"));
  await until(() => log().includes("serving the data from before"));
  expect(await refused()).toBe("cannot be imported");
  expect(log()).toContain(`${file} would publish 4 of its 4 private users; nothing was written`);
  expect(log()).toContain("a restart serves the new data without comparing it");
  expect([await nameOf(1), await nameOf(5)]).toEqual([undefined, "Bo"]);
  await close();

  const restarted = await open(file);
  expect(await restarted.nameOf(1)).toBe("Ann 1");
  await restarted.close();
});

test.each([
  ["members.csv", users],
  ["dataset.ndjson", textOf([user(1, "Ann")])],
  ["dataset.gz", Bun.gzipSync(textOf([user(1, "Ann")]))],
])("the name of a file such as %s is enough to serve it", async (name, content) => {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, name), content);
  const env = { TMPDIR: cwd };
  const options = { cwd, env, stdout: "pipe", stderr: "ignore" } as const;
  const child = Bun.spawn([await executable(), name, "--port", "0"], options);
  const origin = await readyOrigin(child.stdout);
  const { user: found } = await (await fetch(`${origin}/users/public/1`)).json();
  expect(found.name).toBe("Ann");
  child.kill();
  expect(await child.exited).toBe(0);
  expect(readdirSync(cwd)).toEqual([name]);
});

test.each([
  [
    "users.csv",
    "id,public,name,created_at\nx,true,Ann,2021-05-01\n",
    "users.csv, line 2: id: must",
  ],
  [
    "members.csv",
    "Username,Joined,Visible\nAnn,2021-05-01,yes\n",
    "roadbook: members.csv: no column is id; ",
  ],
  ["rows.json", '[{"type":"user"}]', "the input is a JSON array; convert it with jq"],
  ["nothing.csv", undefined, "cannot read nothing.csv: no such file or directory"],
])("a server does not start with %s that cannot be imported", async (name, content, problem) => {
  const cwd = temporaryFolder();
  if (content !== undefined) writeFileSync(join(cwd, name), content);
  const options = { cwd, env: {}, stdout: "pipe", stderr: "pipe" } as const;
  const child = Bun.spawn([await executable(), `./${name}`, "--port", "0"], options);
  const stderr = await new Response(child.stderr).text();
  expect([await child.exited, stderr.replaceAll("./", "")]).toEqual([
    1,
    expect.stringContaining(problem),
  ]);
});
