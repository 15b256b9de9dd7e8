/** Example Vitest tests of a client. Each test has its own Roadbook, clock and faults. */
import { createRoadbook, type DatasetLine } from "roadbook";
import { createClient, type RoadbookError } from "roadbook/client";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

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
  const open = (faults: string[] = []) =>
    createRoadbook({ dataset, faults, clock: () => now, defaultPeer: "192.0.2.1" });
  let roadbook: Awaited<ReturnType<typeof open>>;
  const connect = () =>
    createClient("http://roadbook.test", {
      fetch: async (url, init) => roadbook.fetch(new Request(url, init)),
    });

  beforeEach(async () => {
    roadbook = await open();
  });
  afterEach(() => roadbook.close());

  test("a search without accents finds a driver", async () => {
    expect(await connect().searchUsers("lukasz")).toMatchObject([{ id: 42, name: "Łukasz Nowak" }]);
  });

  test("the profile of a driver who goes private is no longer available", async () => {
    await roadbook.apply([{ type: "user", id: 42, public: false }]);
    await expect(connect().getPublicUser(42)).rejects.toMatchObject({ code: "profile_private" });
  });

  test("searches are limited, and allowed again an hour later", async () => {
    const client = connect();
    for (let i = 0; i < 30; i++) await client.searchCompanies("baltic");
    await expect(client.searchCompanies("baltic")).rejects.toMatchObject({
      code: "rate_limited",
      retryAfterSeconds: 3600,
    });
    now += 3_600_000;
    expect(await client.searchCompanies("baltic")).toHaveLength(1);
  });
});

test("over HTTP, some requests fail at random", async () => {
  const roadbook = await createRoadbook({
    dataset,
    faults: ["profile:status=503,rate=0.5"],
    faultSeed: 1,
  });
  const { url } = await roadbook.listen();
  const send = vi.fn((input: string, init: RequestInit) => fetch(input, init));
  const client = createClient(url, { fetch: send });
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, () =>
      client.getPublicUser(42).then(
        ({ name }) => name,
        (error: RoadbookError) => error.status,
      ),
    ),
  );
  expect(new Set(outcomes)).toEqual(new Set(["Łukasz Nowak", 503]));
  expect(send).toHaveBeenCalledTimes(20);
  await roadbook.close();
});
