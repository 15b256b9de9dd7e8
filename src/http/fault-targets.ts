/** Which endpoints a fault affects, and the errors with which each can fail. */
import type { Endpoint } from "./endpoints.ts";
import { type ErrorCode, errors } from "./error-codes.ts";
import { errorsOf } from "./errors-by-route.ts";

/** `*` omits /health, because programs wait for a healthy server before they start. */
export function covers(target: string, endpoint: Endpoint): boolean {
  return target === endpoint.target || (target === "*" && endpoint.target !== "health");
}

/** The code of the error with which an endpoint returns a status. */
export function codeFor({ kind }: Endpoint, status: number): ErrorCode | undefined {
  return errorsOf(kind).find((code) => errors[code].status === status);
}

/** Any 5xx status is allowed, because proxies add their own. */
export function canFail(endpoint: Endpoint, status: number): boolean {
  return (status >= 500 && status <= 599) || codeFor(endpoint, status) !== undefined;
}
