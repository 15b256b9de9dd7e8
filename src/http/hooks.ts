/** The types of functions that run around a handler: hooks before it, and a report after it. */
import type { Context } from "elysia";
import type { Decision } from "../limit/decision.ts";

/** Runs before a handler. If it returns a result, the client gets that instead. */
export type Hook = (context: Pick<Context, "route">) => unknown;

/** Counts a search. Resolves to the decision if the client is over the limit. */
export type CountSearch = (request: Request) => Promise<Decision | undefined>;

/** Facts about a response for logs and metrics. None of them can contain a person's name. */
export interface ResponseFacts {
  requestId: string;
  method: string;
  /** The path template without /api, such as `/users/public/:userId`, unless it is unknown. */
  route: string | undefined;
  /** 0 if a fault has closed the connection, because the client gets no response. */
  status: number;
  /** The search limit's decision; undefined if the request was not counted. */
  search: "allowed" | "refused" | undefined;
  /** From receiving the request headers until the response is ready to send. */
  durationMs: number;
  /**
   * The IPv4 address or IPv6 network that searches are counted for. Call this synchronously: a
   * runtime knows the address only until the response is sent.
   */
  client(): string;
}
