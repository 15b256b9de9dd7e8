/**
 * Sends large bodies in pieces and bounds the memory they take. Bun keeps a body until its client has
 * read it, so clients that do not read would use up the memory. A Blob needs none of this: responses
 * share its bytes.
 */
import type { Body } from "./compression.ts";

/** Smaller bodies are sent whole, with a Content-Length: 800 of them take 77 MB. */
const MAX_WHOLE_BYTES = 96 * 1024;

/** The sum of all bodies being sent in pieces. With garbage, the process grows by up to 100 MB. */
const MAX_BYTES = 12 * 2 ** 20;

const PIECE_BYTES = 64 * 1024;

interface Sending {
  readonly bytes: number;
  /** The part that is not sent yet. */
  rest: Uint8Array<ArrayBuffer>;
  cut(): void;
}

/**
 * Returns a function that makes a stream of a large body and leaves others as they are. When the bodies
 * under way exceed `maxBytes`, it cuts off the response whose client has read nothing for the longest
 * time.
 */
export function createLargeBodies(maxBytes = MAX_BYTES) {
  /** In the order in which their clients last took a piece. */
  const sending = new Set<Sending>();
  let totalBytes = 0;

  function begin(one: Sending): void {
    sending.add(one);
    totalBytes += one.bytes;
    for (const stalled of sending) {
      if (totalBytes <= maxBytes || stalled === one) break;
      end(stalled);
      stalled.cut();
    }
  }

  function end(one: Sending): void {
    if (sending.delete(one)) totalBytes -= one.bytes;
  }

  function stream(bytes: Uint8Array<ArrayBuffer>, isOwned: boolean): ReadableStream {
    const one: Sending = { bytes: bytes.length, rest: bytes, cut() {} };
    const source: UnderlyingDefaultSource = {
      start(controller) {
        one.cut = () => {
          // Without a reason, as Bun would print it.
          controller.error();
          // Frees the memory now: the garbage collector may run 100 MB later.
          if (isOwned) bytes.buffer.transfer(0);
        };
        begin(one);
      },
      pull(controller) {
        controller.enqueue(one.rest.subarray(0, PIECE_BYTES));
        one.rest = one.rest.subarray(PIECE_BYTES);
        if (one.rest.length === 0) {
          end(one);
          controller.close();
        } else {
          sending.delete(one);
          sending.add(one);
        }
      },
      cancel: () => end(one),
    };
    return new ReadableStream(source, { highWaterMark: 0 });
  }

  /** `isOwned` says that nobody else has the bytes. */
  return (body: Body | Blob | null, isOwned = false): Body | Blob | ReadableStream | null => {
    // UTF-8 has at most three bytes for each unit of a string.
    if (body === null || body instanceof Blob || body.length * 3 <= MAX_WHOLE_BYTES) return body;
    const isText = typeof body === "string";
    const bytes = isText ? Buffer.from(body) : body;
    return bytes.length > MAX_WHOLE_BYTES ? stream(bytes, isText || isOwned) : bytes;
  };
}
