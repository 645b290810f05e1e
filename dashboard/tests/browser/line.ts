// A line to the server that can be cut: what a browser sees when a server, or the network, goes away.

import { type Socket, connect, createServer } from "node:net";

import { base } from "../../playwright.config.ts";

export type Line = { url: string; cut: () => void; mend: () => void; close: () => void };

/** A port that leads to the server while the line is whole. */
export async function line(): Promise<Line> {
  const { hostname, port } = new URL(base);
  const sockets = new Set<Socket>();
  let isCut = false;
  const end = () => sockets.forEach((socket) => socket.destroy());
  const join = (from: Socket, to: Socket) => {
    sockets.add(from);
    from.on("error", () => to.destroy()).on("close", () => (sockets.delete(from), to.destroy()));
    from.pipe(to);
  };
  const server = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect(Number(port), hostname);
    join(near, far);
    join(far, near);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    cut: () => {
      isCut = true;
      end();
    },
    mend: () => {
      isCut = false;
    },
    close: () => {
      server.close();
      end();
    },
  };
}
