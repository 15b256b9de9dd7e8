/** Example Vitest tests of a client. Each test has its own Roadbook, clock and faults. */
import { createRoadbook, type DatasetLine, type Roadbook } from "roadbook";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const dataset: DatasetLine[] = [
  { type: "company", id: 3, name: "Baltic Express", member_count: 41 },
  {
    type: "user",
    id: 42,
    public: true,
    name: "Łukasz Nowak",
    created_at: "2021-05-01T10:00:00Z",
    company: { id: 3, role: "Owner" },
  },
  { type: "user", id: 43, public: false },
];

describe("without a port", () => {
  let now = Date.UTC(2026, 0, 1);
  let roadbook: Roadbook;
  const ask = async (path: string) => {
    const response = await roadbook.fetch(new Request(`http://roadbook.test${path}`));
    return { status: response.status, body: await response.json() };
  };

  beforeEach(async () => {
    roadbook = await createRoadbook({ dataset, clock: () => now, defaultPeer: "192.0.2.1" });
  });
  afterEach(() => roadbook.close());

  test("a search without accents finds a driver", async () => {
    const { body } = await ask("/search/users?q=lukasz");
    expect(body.users).toMatchObject([{ id: 42, name: "Łukasz Nowak" }]);
  });

  test("the profile of a driver who goes private is no longer available", async () => {
    await roadbook.apply([{ type: "user", id: 42, public: false }]);
    expect((await ask("/users/public/42")).body.error.code).toBe("profile_private");
  });

  test("searches are limited, and allowed again an hour later", async () => {
    for (let i = 0; i < 30; i++) await ask("/search/companies?q=baltic");
    expect((await ask("/search/companies?q=baltic")).body.error).toMatchObject({
      code: "rate_limited",
      retry_after: 3600,
    });
    now += 3_600_000;
    expect((await ask("/search/companies?q=baltic")).status).toBe(200);
  });
});

test("over HTTP, some requests fail at random", async () => {
  const roadbook = await createRoadbook({
    dataset,
    faults: ["profile:status=503,rate=0.5"],
    faultSeed: 1,
  });
  const { url } = await roadbook.listen();
  const statuses = await Promise.all(
    Array.from({ length: 20 }, async () => (await fetch(`${url}/users/public/42`)).status),
  );
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  await roadbook.close();
});
