import { defineConfig } from "@playwright/test";

/** Starts the executable on a free port and takes ROADBOOK_URL from its ready line. */
export default defineConfig({
  testMatch: "*.e2e.ts",
  reporter: "line",
  webServer: {
    command: `${process.env.ROADBOOK_BIN ?? "roadbook"} serve --port 0 --fault "achievements:status=503"`,
    wait: { stdout: /roadbook listening on (?<roadbook_url>\S+)/ },
    gracefulShutdown: { signal: "SIGTERM", timeout: 5000 },
  },
  use: {
    launchOptions: {
      args: ["--no-sandbox"],
      ...(process.env.CHROMIUM && { executablePath: process.env.CHROMIUM }),
    },
  },
});
