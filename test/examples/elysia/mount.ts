/** Mounts Roadbook in the Elysia app of another program, and calls it through Eden with types. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { treaty } from "@elysiajs/eden";
import { Elysia } from "elysia";
import { createRoadbook } from "roadbook/elysia";

test("one app has both the program's routes and the API's routes", async () => {
  await using roadbook = await createRoadbook({ demo: true });
  const app = new Elysia({ strictPath: true }).get("/hello", () => "hello").use(roadbook.app);
  const api = treaty(app);
  assert.equal((await api.hello.get()).data, "hello");
  const { data, error } = await api.users.public({ userId: 42 }).get();
  if (error) throw new Error(error.value.error.message);
  const id: number = data.user.id;
  assert.equal(id, 42);
});

test("under a prefix, unknown paths get the API's 404", async () => {
  await using roadbook = await createRoadbook({ demo: true, basePath: "/rb" });
  const app = new Elysia().group("/rb", (group) => group.use(roadbook.app));
  const response = await app.handle(new Request("http://localhost/rb/nope"));
  assert.equal((await response.json()).error.code, "route_not_found");
});
