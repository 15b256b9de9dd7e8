/** A minimal HTTP client for timing, with one keep-alive connection and one request at a time. */

export type Connection = Awaited<ReturnType<typeof connect>>;

export async function connect(origin: string) {
  const { hostname, port, host } = new URL(origin);
  const broken = new Error("the server closed the connection");
  let received = "";
  let response: PromiseWithResolvers<string> | undefined;
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_, chunk) {
        received += chunk.toString("latin1");
        if (isComplete(received)) response?.resolve(received);
      },
      close: () => response?.reject(broken),
    },
  });
  return {
    /** Resolves to the head and body of the response. Rejects if the connection breaks. */
    get(path: string): Promise<string> {
      received = "";
      response = Promise.withResolvers();
      if (socket.readyState !== 1) response.reject(broken);
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      return response.promise;
    },
    close: () => socket.end(),
  };
}

function isComplete(received: string): boolean {
  const head = received.indexOf("\r\n\r\n");
  if (head < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(received)?.[1];
  return received.length >= head + 4 + Number(length ?? 0);
}
