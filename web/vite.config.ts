import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { defineConfig } from "vite";
import type { Plugin } from "vite";

const PUBLIC = new URL("public/", import.meta.url);
const WORKER = "sw.js";
/** A file beyond this many bytes is for a rare occasion, and is not fetched before it comes. */
const MOST_BYTES = 300_000;

/** The icon on a ground of its own, small enough for any shape that a system cuts out of it. */
function maskable(icon: string): string {
  const inner = icon.replace("<svg ", '<svg x="6.4" y="6.4" width="19.2" height="19.2" ');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" fill="#fbfaff"/>${inner}</svg>`;
}

/** Tells the service worker what the app is made of, and draws the icon for launchers. */
function appShell(): Plugin {
  return {
    name: "app-shell",
    apply: "build",
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        const source = maskable(readFileSync(new URL("iris.svg", PUBLIC), "utf8"));
        this.emitFile({ type: "asset", fileName: "iris-maskable.svg", source });
        const built = Object.values(bundle).map((file) => [file.fileName, file.type === "chunk" ? file.code : file.source] as const);
        const given = readdirSync(PUBLIC).map((name) => [name, readFileSync(new URL(name, PUBLIC))] as const);
        const files = [...built, ...given].filter(([name]) => name !== WORKER).sort(([a], [b]) => (a < b ? -1 : 1));
        const version = createHash("sha256");
        for (const [name, content] of files) version.update(name).update(content);
        const pathOf = ([name]: readonly [string, unknown]): string => (name === "index.html" ? "/" : `/${name}`);
        const shell = {
          version: version.digest("hex").slice(0, 16),
          files: files.map(pathOf),
          needed: files.filter(([, content]) => content.length <= MOST_BYTES).map(pathOf),
        };
        const worker = bundle[WORKER];
        if (worker?.type !== "chunk" || worker.imports.length > 0) this.error(`${WORKER} must be one script that imports nothing`);
        worker.code = `const SHELL = ${JSON.stringify(shell)};\n${worker.code}`;
      },
    },
  };
}

export default defineConfig({
  plugins: [appShell()],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../src/hermes_iris/static",
    emptyOutDir: true,
    target: "es2022",
    // `light-dark()` and nesting reach the browser as written; a lower target rewrites them into something larger.
    cssTarget: ["chrome123", "firefox121", "safari17.5"],
    // Files instead of data: URLs, so that the content security policy stays at 'self'.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: { index: "index.html", sw: "src/sw.ts" },
      output: { entryFileNames: ({ name }) => (name === "sw" ? WORKER : "assets/[name]-[hash].js") },
    },
  },
  server: {
    host: "127.0.0.1",
    proxy: { "/ws": { target: "ws://127.0.0.1:8765", ws: true }, "/pair": "http://127.0.0.1:8765" },
  },
});
