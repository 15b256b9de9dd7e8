/** Sends GET requests to the source of a snapshot. They fail if they stop making progress. */
import { networkReasonOf } from "../../files/errors.ts";
import type { RemoteLocation } from "./location.ts";

export type Requests = ReturnType<typeof openRequests>;
export type Reply = Awaited<ReturnType<Requests["get"]>>;

/** `timeoutMs` is the longest time in which none of the requests receives anything. */
export function openRequests(location: RemoteLocation, timeoutMs: number) {
  const control = new AbortController();
  const timer = setTimeout(() => control.abort(new DOMException("", "TimeoutError")), timeoutMs);
  const failWith = (what: string) => (error: unknown) => {
    throw new Error(`${what}: ${networkReasonOf(error, timeoutMs)}`);
  };

  async function* read({ body }: Response): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of body ?? []) {
        timer.refresh();
        yield chunk;
      }
    } catch (error) {
      failWith("stopped sending")(error);
    }
  }

  return {
    async get(more: Record<string, string>) {
      const { url, headers } = location.prepare();
      const options = { headers: { ...headers, ...more }, signal: control.signal };
      const response = await fetch(url, options).catch(failWith("cannot be reached"));
      timer.refresh();
      return { status: response.status, headers: response.headers, body: read(response) };
    },
    [Symbol.dispose](): void {
      clearTimeout(timer);
      control.abort();
    },
  };
}
