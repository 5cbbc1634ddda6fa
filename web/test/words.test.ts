import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parseSync } from "vite";
import type { ESTree } from "vite";
import { refusal } from "../src/format.ts";
import { languageFor, localeFor, words } from "../src/language.ts";
import { en } from "../src/words/en.ts";
import { later } from "../src/words/en/later.ts";
import { zh } from "../src/words/zh.ts";

/** Every text and every function of a catalogue, by its path. */
function leaves(catalogue: unknown, path = ""): [string, unknown][] {
  if (typeof catalogue !== "object" || catalogue === null) return [[path, catalogue]];
  return Object.entries(catalogue).flatMap(([key, value]) => leaves(value, path === "" ? key : `${path}.${key}`));
}

const ENGLISH = new Map(leaves({ ...en, later }));
const CHINESE = new Map(leaves(zh));
type Says = (...parts: unknown[]) => unknown;

/** Codes whose Chinese tells everything, so that the gateway's own line is left out. */
const TOLD_BY_CODE = ["busy", "disk_full", "rate_limited"].map((code) => `requests.refused.${code}`);

/** What a function says with a mark in place of each thing that it is given. */
function said(says: Says, given: number): string {
  const marks = Array.from({ length: given }, (_, at) => `⟦${at}⟧`);
  const text = says(...marks);
  return Array.isArray(text) ? text.join("") : String(text);
}

function marksIn(text: string): string {
  return [...new Set(text.match(/⟦\d⟧/g))].sort().join("");
}

describe("the catalogues", () => {
  test("say the same things", () => {
    assert.deepEqual([...CHINESE.keys()].sort(), [...ENGLISH.keys()].sort());
    for (const [path, value] of ENGLISH) assert.equal(typeof CHINESE.get(path), typeof value, path);
  });

  test("leave nothing empty, and nothing in the other language", () => {
    const letters = /\p{Script=Han}/u;
    for (const [path, value] of CHINESE) {
      if (typeof value !== "string") continue;
      const same = value === ENGLISH.get(path);
      assert.ok(value.trim() !== "", path);
      assert.ok(letters.test(value) || same, `${path}: ${value}`);
    }
    const alike = [...CHINESE].filter(([path, value]) => typeof value === "string" && value === ENGLISH.get(path)).map(([path]) => path);
    assert.deepEqual(alike.sort(), [
      "later.search.tips.1.0", "later.search.tips.2.0", "later.settings.enter.choices.breaks", "later.settings.enter.choices.sends",
      "later.settings.language.choices.en", "later.settings.language.choices.zh",
    ]);
  });

  test("put in whatever they are given", () => {
    const calls = [...ENGLISH].filter((leaf): leaf is [string, Says] => typeof leaf[1] === "function");
    assert.ok(calls.length > 60);
    for (const [path, english] of calls) {
      if (TOLD_BY_CODE.includes(path) || path === "room.someWrite") continue;
      assert.equal(marksIn(said(CHINESE.get(path) as Says, english.length)), marksIn(said(english, english.length)), path);
    }
    assert.equal(en.room.someWrite(["Ada", "Bob", "Cleo"]), "Ada, Bob and Cleo are writing");
    assert.equal(zh.room.someWrite(["Ada", "Bob", "Cleo"]), "Ada、Bob 和 Cleo 正在输入");
  });

  test("count as their language does", () => {
    assert.deepEqual([en.counts.lines(1, "1"), en.counts.lines(1200, "1,200"), zh.counts.lines(1, "1")], ["1 line", "1,200 lines", "1 行"]);
    assert.deepEqual([en.lanes.jobs(1), en.lanes.jobs(2)], ["1 scheduled job reports here", "2 scheduled jobs report here"]);
    assert.deepEqual([0, 1, 2].map(en.room.here), ["Nobody here", "1 here", "2 here"]);
  });
});

describe("what the gateway refused", () => {
  test("is said by its code, where a language has words for it", () => {
    assert.equal(refusal("busy", "try later"), "Try later.");
    words.value = zh;
    assert.deepEqual(
      [refusal("busy", "try later"), refusal("conflict", "$.name is taken"), refusal("newer_code", "no")],
      ["网关正忙，请稍后再试。", "与已有内容冲突：The name is taken.", "No."],
    );
    words.value = en;
  });
});

describe("the language", () => {
  test("is what was chosen, or what the browser speaks first", () => {
    assert.equal(languageFor("zh", ["en-GB"]), "zh");
    assert.equal(languageFor("en", ["zh-CN"]), "en");
    assert.equal(languageFor("system", ["de-DE", "zh-CN", "en"]), "zh");
    assert.equal(languageFor("system", ["ZH-hant-TW"]), "zh");
    assert.equal(languageFor("system", ["en-US", "zh-CN"]), "en");
    assert.equal(languageFor("system", ["zhx"]), "en");
    assert.equal(languageFor("system", []), "en");
  });

  test("writes dates as the person's region does, and keeps the clock of the browser", () => {
    const time = (locale: string) => new Date(2026, 0, 5, 15, 4).toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit" });
    const day = (locale: string) => new Date(2026, 0, 5).toLocaleDateString(locale, { day: "numeric", month: "short" });
    assert.deepEqual([time(localeFor("en", ["en-US"])), day(localeFor("en", ["en-US"]))], ["03:04 PM", "Jan 5"]);
    assert.deepEqual([time(localeFor("en", ["de-DE", "en-GB"])), day(localeFor("en", ["de-DE", "en-GB"]))], ["15:04", "5 Jan"]);
    assert.equal(time(localeFor("en", ["de-DE"])), "15:04");
    assert.deepEqual([time(localeFor("zh", ["zh-CN"])), day(localeFor("zh", ["zh-CN"]))], ["15:04", "1月5日"]);
  });
});

/** Names, the same in every language: of products, of keys, of what the web itself calls so. */
const NAMES = new Set(["Bearer", "Files", "Iris", "iris pair", "iris doctor", "config.yaml", "link_base", "Ctrl K", "Alt", "Ctrl", "Enter", "Esc", "Escape", "Shift", "Edge", "Opera", "Firefox", "Chrome", "Safari", "Android", "Windows", "Mac", "ChromeOS", "Linux"]);
/** Attributes that a person reads or hears. */
const READ = new Set(["aria-label", "aria-valuetext", "aria-description", "title", "placeholder", "alt", "label"]);
/** What these are given is for whoever develops Iris, or for machines. */
const NOT_READ = new Set(["console.warn", "Error", "request.setRequestHeader"]);

type Node = ESTree.Node;

/** The texts of a module that a person would read although no catalogue holds them. */
function bareTexts(name: string, source: string): string[] {
  const { program, errors } = parseSync(name, source);
  assert.deepEqual(errors, []);
  const found: string[] = [];
  const text = (node: Node): string | undefined => {
    if (node.type === "JSXText") return node.value.trim();
    if (node.type === "Literal") return typeof node.value === "string" ? node.value : undefined;
    return node.type === "TemplateLiteral" ? node.quasis.map((part) => part.value.cooked ?? "").join(" ").trim() : undefined;
  };
  /** `shown` tells whether whatever this gives is drawn. */
  const walk = (node: Node, shown: boolean): void => {
    if (node.type === "ImportDeclaration" || node.type === "ImportExpression" || /^TS.*(Type|Declaration|Keyword)/.test(node.type)) return;
    const own = text(node);
    if (own !== undefined && !NAMES.has(own) && (shown || node.type === "JSXText" ? /\p{L}/u.test(own) : /^[“"']?\p{Lu}\p{Ll}+([ ,.…!?’]|$)/u.test(own))) found.push(`${name}: ${own}`);
    for (const [key, value] of Object.entries(node)) {
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child) && !isForMachines(node, key)) walk(child, isShown(node, key, shown));
    }
  };
  walk(program, false);
  return found;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value;
}

/** Names, keys, comparisons, and what goes to the console. */
function isForMachines(node: Node, key: string): boolean {
  if (node.type === "BinaryExpression") return ["===", "!==", "in"].includes(node.operator);
  if (node.type === "SwitchCase") return key === "test";
  if (node.type === "Property") return key === "key";
  if (node.type === "MemberExpression") return key === "property";
  if ((node.type === "CallExpression" || node.type === "NewExpression") && key === "arguments") return NOT_READ.has(nameOf(node.callee));
  return false;
}

function isShown(node: Node, key: string, shown: boolean): boolean {
  if (node.type === "JSXAttribute") return READ.has(String(node.name.name));
  if (node.type === "JSXElement" || node.type === "JSXFragment") return key === "children";
  // What a call is given is drawn only if the call gives it back; texts come from there anyway.
  if (node.type === "CallExpression" || node.type === "ArrowFunctionExpression" || node.type === "ObjectExpression") return false;
  if (node.type === "ConditionalExpression") return shown && key !== "test";
  return shown;
}

function nameOf(node: Node): string {
  if (node.type === "Identifier") return node.name;
  return node.type === "MemberExpression" && node.property.type === "Identifier" ? `${nameOf(node.object)}.${node.property.name}` : "";
}

/** The modules that a page loads to begin with: what `main.tsx` imports, and what that imports. */
function first(name = "src/main.tsx", seen = new Set<string>()): Set<string> {
  if (seen.has(name) || !/\.tsx?$/.test(name)) return seen;
  seen.add(name);
  const { program } = parseSync(name, readFileSync(new URL(`../${name}`, import.meta.url), "utf8"));
  for (const node of program.body) {
    if (node.type !== "ImportDeclaration" || node.importKind === "type" || !node.source.value.startsWith(".")) continue;
    first(new URL(node.source.value, `file:///${name}`).pathname.slice(1), seen);
  }
  return seen;
}

describe("the modules", () => {
  test("do not load words before they are wanted", () => {
    const loaded = [...first()].filter((name) => name.includes("/words/"));
    assert.deepEqual(loaded.sort(), ["src/words/en.ts", "src/words/en/around.ts", "src/words/en/sentence.ts", "src/words/en/talk.ts"]);
  });

  test("hold no text of their own", () => {
    const modules = globSync("src/**/*.{ts,tsx}", { cwd: new URL("..", import.meta.url) }).filter((name) => !/^src.(words|protocol)\b/.test(name));
    assert.ok(modules.length > 90);
    const bare = modules.flatMap((name) => bareTexts(name, readFileSync(new URL(`../${name}`, import.meta.url), "utf8")));
    assert.deepEqual(bare, []);
  });

  test("would be caught with one", () => {
    const caught = (source: string) => bareTexts("a.tsx", source).map((line) => line.slice("a.tsx: ".length));
    assert.deepEqual(caught('<p title="Go" class="a b">Hello <b>{busy ? "not now" : x}</b></p>'), ["Go", "Hello", "not now"]);
    assert.deepEqual(caught('<p aria-label={`Open ${name}`}>{count} s</p>'), ["Open", "s"]);
    assert.deepEqual(caught('const a = "Could not copy"; showToast(`It is gone: ${a}`, { label: "Undo" });'), ["Could not copy", "It is gone:", "Undo"]);
    assert.deepEqual(caught('if (key === "Enter") console.warn("Iris cannot."); throw new Error("No #app");'), []);
    assert.deepEqual(caught('<a class={`b ${on ? "Off" : ""}`} onClick={() => go("left")}>{words.value.copy.copy}</a>'), ["Off"]);
  });
});
