/** What another app shares with Iris (`share_target` of the manifest): kept until the page that opens for it takes it. */

/** What a person shared. */
export interface Shared {
  readonly text: string;
  readonly files: readonly File[];
}

/** Where the manifest sends it. */
export const SHARE_PATH = "/share";
const CACHE = "iris-shared";
const TEXT = "/shared/text";
const FILES = "/shared/files/";
const NAME = "x-name";
/** The gateway takes no more with one message. */
const MOST_FILES = 20;

/** Keeps it in place of what was not taken, and opens the app. */
export async function keepShared(request: Request): Promise<Response> {
  const form = await request.formData();
  const parts = ["title", "text", "url"].map((name) => form.get(name)).filter((part) => typeof part === "string" && part !== "");
  const files = form.getAll("files").filter((part) => part instanceof File);
  await caches.delete(CACHE);
  const cache = await caches.open(CACHE);
  await cache.put(TEXT, new Response([...new Set(parts)].join("\n")));
  for (const [at, file] of files.slice(0, MOST_FILES).entries()) {
    await cache.put(FILES + at, new Response(file, { headers: { "content-type": file.type, [NAME]: encodeURIComponent(file.name) } }));
  }
  return Response.redirect("/?shared", 303);
}

/** Gives it away; it is kept no longer. */
export async function takeShared(): Promise<Shared> {
  const cache = await caches.open(CACHE);
  const text = (await (await cache.match(TEXT))?.text()) ?? "";
  const kept = (await cache.keys()).filter(({ url }) => new URL(url).pathname.startsWith(FILES));
  const files = await Promise.all(kept.map(async (request) => {
    const response = await cache.match(request);
    const name = decodeURIComponent(response?.headers.get(NAME) ?? "");
    return new File(response === undefined ? [] : [await response.blob()], name, { type: response?.headers.get("content-type") ?? "" });
  }));
  await caches.delete(CACHE);
  return { text, files };
}
