import type { Plugin } from "vite";

import { handle } from "./serve.ts";

/** The stand-in behind `npm run dev`. */
export function mockPlugin(): Plugin {
  return {
    name: "mock-api",
    configureServer(server) {
      server.middlewares.use((request, response, next) =>
        request.url?.startsWith("/v1/") ? void handle(request, response) : next(),
      );
    },
  };
}
