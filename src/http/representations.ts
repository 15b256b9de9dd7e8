/**
 * The answers of the API as what a cache deals with: bytes in a content coding, under a validator.
 * Keeps those that are asked for again for as long as their snapshot is served.
 */
import { LRUCache } from "lru-cache";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { commonHeaders, jsonHeaders } from "./answer.ts";
import { type Audience, cacheControl, etagOf, isNoneMatch } from "./caching.ts";
import { type Coding, chooseCoding, compress, MIN_COMPRESSED_BYTES } from "./compression.ts";

export interface RepresentationsOptions {
  /** The snapshot that a request is answered from now; see `Context`. */
  snapshot(): Snapshot;
  /** Has a request answered that has not been yet. */
  render(request: Request): Promise<Response>;
  /** How long a cache may keep an answer without asking again; 0 for not at all. */
  cacheMaxAgeSeconds: number;
}

interface Representation {
  body: Uint8Array<ArrayBuffer>;
  etag: string;
  coding: Coding | undefined;
}

/** Bytes kept in all: some ten thousand profiles. */
const MAX_KEPT_BYTES = 8 * 1024 * 1024;

/** What a kept answer costs beside its body and its URL. */
const OVERHEAD_BYTES = 512;

/** Whoever asks under a longer URL is not who asks for the same again. */
const MAX_URL_LENGTH = 512;

/** Answers a GET or HEAD of the API: a 200 in a coding that the client takes, its 304, or an error. */
export type Represent = (request: Request, audience: Audience) => Promise<Response>;

export function createRepresentations(options: RepresentationsOptions): Represent {
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

  /** Has a request answered, and keeps the answer. */
  async function make(
    request: Request,
    key: string,
    coding: Coding | undefined,
  ): Promise<Representation | Response> {
    const kept = keptNow();
    const response = await render(request);
    if (response.status !== 200) return response;
    const representation = represent(new Uint8Array(await response.arrayBuffer()), coding);
    // Of two snapshots, nothing says which one this is from.
    if (key.length <= MAX_URL_LENGTH && kept === keptNow()) kept.set(key, representation);
    return representation;
  }

  return async (request, audience) => {
    const accepted = request.headers.get("accept-encoding");
    const wanted = accepted === null ? undefined : chooseCoding(accepted);
    const key = wanted ? `${wanted} ${request.url}` : request.url;
    const found = keptNow().get(key) ?? (await make(request, key, wanted));
    if (found instanceof Response) return found;
    const { body, etag, coding } = found;
    const isKnown = isNoneMatch(request.headers.get("if-none-match"), etag);
    const response = isKnown
      ? new Response(null, { status: 304, headers: headersOf[audience] })
      : new Response(body, { headers: headersOf[audience] });
    const { headers } = response;
    headers.set("etag", etag);
    if (isKnown) headers.delete("content-type");
    else if (coding) headers.set("content-encoding", coding);
    return response;
  };
}

/** Another coding is another representation, and a strong validator tells them apart. */
function represent(bytes: Uint8Array<ArrayBuffer>, accepted: Coding | undefined): Representation {
  const coding = bytes.length > MIN_COMPRESSED_BYTES ? accepted : undefined;
  const body = coding ? compress(bytes, coding) : bytes;
  return { body, etag: etagOf(bytes, coding), coding };
}
