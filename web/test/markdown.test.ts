import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { finishedBlocks, streamingBlocks } from "../src/markdown.ts";
import type { Block } from "../src/markdown.ts";

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

  // Of `$$` more than two blocks may turn out to be one formula; that is seen when the text is finished.
  test("what is remembered never shows, whatever is written", () => {
    const parts = [
      "a", " word", "Bold **x** ", "`code`", "\n", "\n\n", "- one", "1. one", "# ", "> ", "```", "---", "===", "| a | b |", "|---|---|", "*", "_", "$x$", "\\(", "\\)",
      "<b>", "</b>", "[x](https://example.org)", "![", "](", ")", "https://example.org/a", "中文", "ok\n", "é", "&amp;", "~~", "\\",
    ];
    let seed = 7;
    const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
    for (let round = 0; round < 400; round++) {
      let text = "";
      let blocks: Block[] = [];
      for (let step = 0; step < 30; step++) {
        for (let part = 0; part <= random(3); part++) text += parts[random(parts.length)];
        blocks = streamingBlocks(text, blocks);
        assert.deepEqual(blocks, streamingBlocks(text, []), JSON.stringify(text));
      }
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
