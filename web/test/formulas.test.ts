import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formulaAt } from "../src/formulas.ts";
import { finishedBlocks, streamingBlocks } from "../src/markdown.ts";
import type { Block } from "../src/markdown.ts";

function html(text: string): string {
  return finishedBlocks(text).map((block) => (block.kind === "html" ? block.html : `<code>${block.text}</code>`)).join("");
}

function formulasIn(text: string): string[] {
  return [...html(text).matchAll(/data-formula="(\w+)">([^<]*)</g)].map(([, kind, source]) => `${kind}: ${source}`);
}

describe("what is a formula", () => {
  for (const [text, tex] of [
    ["$x$", "x"], ["$n$th", "n"], ["$E = mc^2$", "E = mc^2"], ["$O(n log n)$", "O(n log n)"], ["$x_{max}$.", "x_{max}"], ["$\\alpha$-stable", "\\alpha"],
    ["$\\text{only words}$", "\\text{only words}"], ["\\(x+y\\)", "x+y"], ["$$x$$", "x"], ["\\[x = 1\\]", "x = 1"], ["$$\n\\frac{1}{2}\n$$", "\\frac{1}{2}"],
  ] as const) test(text, () => assert.equal(formulaAt(text)?.tex, tex));

  for (const text of [
    "$5 and $6", "$5-$6", "$5 (not 6$)", "$5 or 6$", "$5 for snake_case and 10$", "$1,000 is what 2$", "$ x$", "$x $", "$HOME:$PATH", "$FOO_BAR:$BAZ", "$$ and $$",
    "$PATH$", "$`x`$", "$中文$", "\\[1\\]", "\\[x\\]", "\\[a link\\](x)", "\\(see below\\)", "\\(1\\)", "$$\n\n$$", "$a\nb$", `$${"x".repeat(2_001)}$`,
  ]) test(`not ${text.slice(0, 40)}`, () => assert.equal(formulaAt(text), undefined));
});

describe("in a text", () => {
  test("formulas stand in lines, in paragraphs and in lists, and keep their source", () => {
    assert.deepEqual(formulasIn("Inline $a_1 * b_1 * c$ and \\(x < y\\)."), ["inline: $a_1 * b_1 * c$", "inline: \\(x &lt; y\\)"]);
    assert.deepEqual(formulasIn("Before\n$$\na \\\\\nb\n$$\nbehind"), ["display: $$\na \\\\\nb\n$$"]);
    assert.deepEqual(formulasIn("- one \\[x = 1\\]\n- two\n\n  $$y$$\n"), ["display: \\[x = 1\\]", "display: $$y$$"]);
  });

  test("a block ends its own paragraph", () => {
    assert.equal(html("one\n\n$$x$$\n\ntwo"), '<p>one</p>\n<div class="formula" data-formula="display">$$x$$</div><p>two</p>\n');
  });

  test("code, money and what was escaped stay", () => {
    for (const text of ["`$x$`", "```\n$$x$$\n```", "    $$x$$", "From $5 to $6, US$7", "\\$x\\$", "a \\\\[x = 1\\\\]"]) assert.deepEqual(formulasIn(text), [], text);
  });

  test("markup in a formula is text", () => {
    assert.match(html("$\\text{<img src=x onerror=alert(1)>}$"), /&lt;img src=x onerror=alert\(1\)&gt;/);
  });

  test("streamed in any steps, it ends up the same", () => {
    const text = "One $x$.\n\n$$\n\\frac{1}{2}\n$$\n\nTwo \\(y\\).\n\n\\[\nz = 1\n\\]\n\nThe end.";
    for (const step of [1, 3, 7]) {
      let blocks: Block[] = [];
      for (let end = 0; end < text.length; end += step) blocks = streamingBlocks(text.slice(0, end), blocks);
      blocks = streamingBlocks(text, blocks);
      assert.deepEqual(blocks.map((block) => ({ ...block, closed: true })), finishedBlocks(text), `step ${step}`);
    }
  });

  test("openings without an end do not explode", () => {
    const began = performance.now();
    for (const opening of ["$", "$$ x", "\\(", "\\[ "]) html(opening.repeat(3_000));
    assert.ok(performance.now() - began < 4_000);
  });
});
