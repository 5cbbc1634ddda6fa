import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as markdown from "../src/markdown.ts";
import type { Block } from "../src/markdown.ts";

/** There is no DOM in Node, hence no DOMPurify: the second gate stands open, and these pin the first one. */
const open: markdown.Gate = (text) => text;
const finishedBlocks = (text: string): Block[] => markdown.finishedBlocks(text, open);
const streamingBlocks = (text: string, before: readonly Block[]): Block[] => markdown.streamingBlocks(text, before, open);

function html(text: string): string {
  return finishedBlocks(text).map((block) => (block.kind === "html" ? block.html : `<code>${block.text}</code>`)).join("");
}

const DOCUMENT = [
  "# A title", "", "Some *text* with `code`,", "two lines.", "", "- one", "- two", "", "  still two", "", "1. a", "   ```sh", "   ls", "   ```", "2. b",
  "", "```python", "def f():", "", "    return 1", "```", "", "| a | b |", "|---|--:|", "| 1 | 2 |", "", "> quoted", "> more", "", "中文段落，没有空格。", "", "---", "", "    indented", "", "    code", "",
  "Some $x$:", "", "$$", "a", "", "b", "$$", "", "1. one", "", "2. two", "", "<div>", "", "</div>", "", "The end.",
].join("\n");

describe("streaming", () => {
  test("remembered blocks end up as a full parse would have them, whatever the steps", () => {
    const expected = finishedBlocks(DOCUMENT);
    for (const step of [1, 3, 7, 40]) {
      let blocks: Block[] = [];
      for (let end = 0; end < DOCUMENT.length; end += step) blocks = streamingBlocks(DOCUMENT.slice(0, end), blocks);
      blocks = streamingBlocks(DOCUMENT, blocks);
      assert.deepEqual(blocks.map((block) => ({ ...block, closed: true })), expected, `step ${step}`);
    }
  });

  test("a text that shrinks or changes is parsed anew from there", () => {
    const before = streamingBlocks("one\n\ntwo\n\nthree\n\nfour", []);
    assert.deepEqual(streamingBlocks("one\n\nTWO", before).map((block) => block.raw), ["one\n\n", "TWO"]);
    assert.deepEqual(streamingBlocks("", before), []);
  });

  test("blocks that did not change are the same objects", () => {
    const before = streamingBlocks("one\n\ntwo\n\nthree\n\nfou", []);
    const after = streamingBlocks("one\n\ntwo\n\nthree\n\nfour", before);
    assert.deepEqual(after.map((block, at) => block === before[at]), [true, true, true, false]);
  });

  test("an open fence is not closed until its end is there", () => {
    const closed = (text: string) => streamingBlocks(text, []).at(-1)?.closed;
    assert.equal(closed("```py\nx = 1"), false);
    assert.equal(closed("```py\nx = 1\n```"), true);
  });

  test("line ends of Windows do not confuse it", () => {
    const text = "one\r\n\r\ntwo\r\n\r\nthree\r\n\r\nfour";
    assert.equal(streamingBlocks(text, streamingBlocks(text, [])).length, 4);
  });
});

test("a reference link works wherever its address stands", () => {
  assert.match(html("See [docs].\n\nMore.\n\n[docs]: https://example.org/d"), /href="https:\/\/example\.org\/d"/);
});

describe("hostile text", () => {
  const hostile = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "text <b onclick=alert(1)>bold</b>",
    "<iframe src=https://example.org></iframe>",
    "<svg><a xlink:href='javascript:alert(1)'>x</a></svg>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](vbscript:x)",
    "![x](javascript:alert(1))",
    "![x](data:image/svg+xml;base64,PHN2Zz4=)",
    "![x\" onerror=\"alert(1)](https://example.org/x.png)",
    "[x](https://example.org/\"onmouseover=alert(1))",
    "[x](https://example.org 'a\" onclick=\"alert(1)')",
    "```\"><script>alert(1)</script>\ncode\n```",
    "- ```\"><img/onerror=alert(1)>\n  code\n  ```",
    "| <script>alert(1)</script> |\n|---|\n| <img src=x onerror=y> |",
  ];
  const tag = /<([a-z0-9]+)((?:\s+[a-z-]+(?:="[^"]*")?)*)\s*>/gi;
  const attributes = new Set(["href", "title", "target", "rel", "class", "type", "data-copy", "data-language", "tabindex", "align", "role", "aria-label"]);

  for (const text of hostile) {
    test(text.split("\n")[0] ?? "", () => {
      const out = finishedBlocks(text).map((block) => (block.kind === "html" ? block.html : "")).join("");
      for (const [whole, name = "", rest = ""] of out.matchAll(tag)) {
        assert.doesNotMatch(name, /^(?:script|img|iframe|svg|b)$/i, whole);
        for (const [, attribute = ""] of rest.matchAll(/([a-z-]+)(?:="[^"]*")?/gi)) assert.ok(attributes.has(attribute), whole);
        assert.doesNotMatch(whole, /href="(?!https?:|mailto:)/i);
      }
      // Every "<" belongs to a tag that was looked at, or closes one.
      assert.equal(out.replace(tag, "").replace(/<\/[a-z0-9]+>/gi, "").includes("<"), false, out);
    });
  }

  test("a remote image is a link, not a fetch", () => {
    const out = html("![A cat](https://example.org/cat.png)");
    assert.doesNotMatch(out, /<img/);
    assert.match(out, /<a href="https:\/\/example\.org\/cat\.png" class="remote-image" target="_blank" rel="noopener noreferrer">A cat<\/a>/);
  });

  test("an image that brings its own bytes is shown", () => {
    assert.match(html("![dot](data:image/png;base64,iVBORw0KGgo=)"), /<img src="data:image\/png;base64,iVBORw0KGgo=" alt="dot">/);
  });

  test("links open elsewhere and tell nothing of us", () => {
    assert.match(html("[x](https://example.org)"), /target="_blank" rel="noopener noreferrer"/);
  });

  test("a line break is the one tag that is taken at its word", () => {
    assert.match(html("a<br>b"), /a<br>b/);
  });
});
