/** The cache of results, observed through the snapshot: how often each result is read from it. */
import { expect, mock, test } from "bun:test";
import { createFetch } from "../../src/http/app.ts";
import { createClients } from "../../src/limit/client-address.ts";
import { openSnapshot } from "../../src/snapshot/read/open.ts";
import { makeSnapshot } from "../datasets.ts";

async function openCounting() {
  const snapshot = await openSnapshot(await makeSnapshot());
  const { listUsers, listCompanies } = snapshot.search;
  const spies = {
    users: mock(listUsers),
    companies: mock(listCompanies),
    profiles: mock(snapshot.users.find),
  };
  const counting = {
    ...snapshot,
    search: { listUsers: spies.users, listCompanies: spies.companies },
    users: { ...snapshot.users, find: spies.profiles },
  };
  const fetch = createFetch({
    snapshot: () => counting,
    isClosed: () => false,
    refused: () => undefined,
    source: () => undefined,
    publicUrl: undefined,
    searchLimit: undefined,
    docsScript: () => new Uint8Array(),
    page: undefined,
    pageAssets: () => Promise.reject(new Error("there is no page")),
    clients: createClients({ trusted: [], ipv6Prefix: 64 }),
    cacheMaxAgeSeconds: 0,
    onBug(error) {
      throw error;
    },
  });
  const ask = async (path: string, peer: string) => {
    const response = await fetch(new Request(`http://a.test${path}`), peer);
    expect(response.status).toBe(200);
  };
  const reads = () =>
    Object.fromEntries(Object.entries(spies).map(([name, { mock }]) => [name, mock.calls.length]));
  return { ask, reads, close: snapshot.close };
}

test("a search is never cached, so its time tells nobody what another client searched for", async () => {
  const { ask, reads, close } = await openCounting();
  for (const peer of ["192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.3"]) {
    await ask("/search/users?q=nowak", peer);
    await ask("/api/search/companies?q=express", peer);
    await ask("/users/public/42", peer);
  }
  // A profile is the same for everyone; from the second time on it is cached.
  expect(reads()).toEqual({ users: 4, companies: 4, profiles: 2 });
  close();
});
