/**
 * Sends large bodies in pieces and limits the memory that the bodies use. Bun keeps a body in
 * memory until the client has read it, so clients that do not read could exhaust the memory. A Blob
 * is not split, because responses share its bytes.
 */
import type { Body } from "./compression.ts";

/** Bodies up to this size are sent whole, with a Content-Length. 800 of them take up to 77 MB. */
const MAX_WHOLE_BYTES = 96 * 1024;

/** The limit on all bodies being sent in pieces. Uncollected garbage can take another 100 MB. */
const MAX_BYTES = 12 * 2 ** 20;

const PIECE_BYTES = 64 * 1024;

interface Transfer {
  readonly bytes: number;
  /** The part that has not been sent yet. */
  rest: Uint8Array<ArrayBuffer>;
  abort(): void;
}

/**
 * Returns a function that turns a large body into a stream and returns any other body unchanged.
 * While the bodies being sent take more than `maxBytes`, the function aborts the body whose client
 * has gone the longest without reading.
 */
export function createLargeBodies(maxBytes = MAX_BYTES) {
  /** Ordered by when each client last read, least recent first. */
  const transfers = new Set<Transfer>();
  let totalBytes = 0;

  function begin(transfer: Transfer): void {
    transfers.add(transfer);
    totalBytes += transfer.bytes;
    for (const stalled of transfers) {
      if (totalBytes <= maxBytes || stalled === transfer) break;
      end(stalled);
      stalled.abort();
    }
  }

  function end(transfer: Transfer): void {
    if (transfers.delete(transfer)) totalBytes -= transfer.bytes;
  }

  function stream(bytes: Uint8Array<ArrayBuffer>, isOwned: boolean): ReadableStream {
    const transfer: Transfer = { bytes: bytes.length, rest: bytes, abort() {} };
    const source: UnderlyingDefaultSource = {
      start(controller) {
        transfer.abort = () => {
          // No error is passed, because Bun would print the error.
          controller.error();
          // Frees the memory at once. The garbage collector might let another 100 MB build up.
          if (isOwned) bytes.buffer.transfer(0);
        };
        begin(transfer);
      },
      pull(controller) {
        controller.enqueue(transfer.rest.subarray(0, PIECE_BYTES));
        transfer.rest = transfer.rest.subarray(PIECE_BYTES);
        if (transfer.rest.length === 0) {
          end(transfer);
          controller.close();
        } else {
          transfers.delete(transfer);
          transfers.add(transfer);
        }
      },
      cancel: () => end(transfer),
    };
    return new ReadableStream(source, { highWaterMark: 0 });
  }

  /** `isOwned` means that nothing else refers to the bytes. */
  return (body: Body | Blob | null, isOwned = false): Body | Blob | ReadableStream | null => {
    // Each UTF-16 code unit takes at most three bytes in UTF-8.
    if (body === null || body instanceof Blob || body.length * 3 <= MAX_WHOLE_BYTES) return body;
    const isText = typeof body === "string";
    const bytes = isText ? Buffer.from(body) : body;
    return bytes.length > MAX_WHOLE_BYTES ? stream(bytes, isText || isOwned) : bytes;
  };
}
