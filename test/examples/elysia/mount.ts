/** Mounts Roadbook in the Elysia app of another program, and calls it through Eden with types. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { treaty } from "@elysiajs/eden";
import { Elysia } from "elysia";
import { type App, createRoadbook } from "roadbook/elysia";

test("one app has both the program's routes and the API's routes", async () => {
  await using roadbook = await createRoadbook({ demo: true });
  const app = new Elysia({ strictPath: true }).get("/hello", () => "hello").use(roadbook.app);
  assert.ok(new Elysia().group("/rb", (group) => group.use(roadbook.app)));
  const api = treaty(app);
  assert.equal((await api.hello.get()).data, "hello");
  const { data, error } = await api.users.public({ userId: 42 }).get();
  if (error) throw new Error(error.value.error.message);
  const id: number = data.user.id;
  assert.equal(id, 42);
});

test("a client of a running server has the types of the API", async () => {
  await using roadbook = await createRoadbook({ demo: true });
  const { url } = await roadbook.listen();
  const { data, error } = await treaty<App>(url).users.public({ userId: 42 }).get();
  if (error) throw new Error(error.value.error.message);
  const name: string = data.user.name;
  assert.equal(name, "Łukasz Nowak");
});
