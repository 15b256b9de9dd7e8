/**
 * The answers of the API as what a cache deals with: bytes in a content coding, under a validator.
 * Keeps those that are asked for again for as long as their snapshot is served.
 */
import { LRUCache } from "lru-cache";
import type { Snapshot } from "../snapshot/read/open.ts";
import {
  type ApiRoute,
  type Audience,
  audiences,
  cacheControl,
  etagOf,
  isNoneMatch,
} from "./caching.ts";
import { type Coding, chooseCoding, compress, MIN_COMPRESSED_BYTES } from "./compression.ts";
import { commonHeaders, jsonHeaders } from "./response.ts";

export interface RepresentationsOptions {
  /** The snapshot that a request is answered from now; see `Context`. */
  snapshot(): Snapshot;
  /** Has a request answered that has not been yet. */
  render(request: Request): Promise<Response>;
  /** How long a cache may keep an answer without asking again; 0 for not at all. */
  cacheMaxAgeSeconds: number;
}

/** An answer in bytes, and the route that it is one of. */
export interface Representation {
  route: ApiRoute;
  body: Uint8Array<ArrayBuffer>;
  etag: string;
  coding: Coding | undefined;
}

export interface Representations {
  /** What is kept for such a GET or HEAD. */
  find(request: Request): Representation | undefined;
  /**
   * Answers a GET or HEAD of the API: a 200 in a coding that the client takes, its 304, or an error.
   * At once when the answer is kept.
   */
  represent(request: Request, route: ApiRoute, kept?: Representation): Response | Promise<Response>;
}

/** Bytes kept in all: some five thousand profiles. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;

/** What a kept answer costs beside its body and its URL. */
const OVERHEAD_BYTES = 512;

/** Whoever asks under a longer URL is not who asks for the same again. */
const MAX_KEY_LENGTH = 512;

export function createRepresentations(options: RepresentationsOptions): Representations {
  const { snapshot, render, cacheMaxAgeSeconds } = options;
  const headersFor = (audience: Audience) =>
    new Headers({
      ...jsonHeaders,
      ...commonHeaders,
      "cache-control": cacheControl(audience, cacheMaxAgeSeconds),
      vary: "accept-encoding",
    });
  const headersOf = { public: headersFor("public"), private: headersFor("private") };

  // A replaced snapshot takes along what was answered from it: someone in it may be private now.
  const keptOf = new WeakMap<Snapshot, LRUCache<string, Representation>>();
  function keptNow(): LRUCache<string, Representation> {
    const now = snapshot();
    const found = keptOf.get(now);
    if (found) return found;
    const made = new LRUCache<string, Representation>({
      maxSize: MAX_KEPT_BYTES,
      sizeCalculation: ({ body }, key) => body.length + 2 * key.length + OVERHEAD_BYTES,
    });
    keptOf.set(now, made);
    return made;
  }

  function find(request: Request): Representation | undefined {
    return keptNow().get(keyOf(request, codingFor(request)));
  }

  /** Has a request answered, and keeps a 200. */
  async function make(request: Request, route: ApiRoute): Promise<Response> {
    const kept = keptNow();
    const response = await render(request);
    if (response.status !== 200) return response;
    const bytes = new Uint8Array(await response.arrayBuffer());
    const wanted = codingFor(request);
    const coding = bytes.length > MIN_COMPRESSED_BYTES ? wanted : undefined;
    const body = coding ? compress(bytes, coding) : bytes;
    // Another coding is another representation, and a strong validator tells them apart.
    const made = { route, body, etag: etagOf(bytes, coding), coding };
    const key = keyOf(request, wanted);
    // Of two snapshots, nothing says which one this is from.
    if (key.length <= MAX_KEY_LENGTH && kept === keptNow()) kept.set(key, made);
    return respond(request, made);
  }

  function respond(request: Request, { route, body, etag, coding }: Representation): Response {
    const isKnown = isNoneMatch(request.headers.get("if-none-match"), etag);
    const init = { status: isKnown ? 304 : 200, headers: headersOf[audiences[route]] };
    const response = new Response(isKnown ? null : body, init);
    const { headers } = response;
    headers.set("etag", etag);
    if (isKnown) headers.delete("content-type");
    else if (coding) headers.set("content-encoding", coding);
    return response;
  }

  return {
    find,
    represent: (request, route, kept = find(request)) =>
      kept ? respond(request, kept) : make(request, route),
  };
}

function codingFor({ headers }: Request): Coding | undefined {
  const accepted = headers.get("accept-encoding");
  return accepted === null ? undefined : chooseCoding(accepted);
}

function keyOf({ url }: Request, coding: Coding | undefined): string {
  return coding ? `${coding} ${url}` : url;
}
