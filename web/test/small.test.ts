import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { buttonFace, meaningOf, objection } from "../src/composer.ts";
import type { KeyPress } from "../src/composer.ts";
import { characterCount, duration, isLongReasoning, sentence, tokens, toolArguments } from "../src/format.ts";
import { codeFrom, deviceName } from "../src/pairing.ts";

describe("keys of the composer", () => {
  const press = (key: string, more: Partial<KeyPress> = {}): KeyPress => ({
    key, code: "", shiftKey: false, altKey: false, ctrlKey: false, metaKey: false, isComposing: false, keyCode: 0, ...more,
  });

  test("Enter sends, Shift+Enter does not", () => {
    assert.equal(meaningOf(press("Enter"), "text", "sends"), "send");
    assert.equal(meaningOf(press("Enter", { shiftKey: true }), "text", "sends"), "none");
  });

  test("Ctrl+Enter sends where Enter begins a line", () => {
    assert.equal(meaningOf(press("Enter"), "text", "breaks"), "none");
    assert.equal(meaningOf(press("Enter", { ctrlKey: true }), "text", "breaks"), "send");
    assert.equal(meaningOf(press("Enter", { metaKey: true }), "text", "breaks"), "send");
    assert.equal(meaningOf(press("Enter", { ctrlKey: true, shiftKey: true }), "text", "breaks"), "none");
    assert.equal(meaningOf(press("Enter", { ctrlKey: true }), "text", "sends"), "none");
  });

  test("nothing is sent while an input method composes", () => {
    assert.equal(meaningOf(press("Enter", { isComposing: true }), "にほ", "sends"), "none");
    assert.equal(meaningOf(press("Enter", { keyCode: 229 }), "にほ", "sends"), "none");
  });

  test("arrow up recalls only into an empty field", () => {
    assert.equal(meaningOf(press("ArrowUp"), "", "sends"), "recall");
    assert.equal(meaningOf(press("ArrowUp"), "a", "sends"), "none");
    assert.equal(meaningOf(press("ArrowUp", { altKey: true }), "", "sends"), "none");
  });

  test("the button stops only while there is nothing to send", () => {
    assert.equal(buttonFace(true, true), "stop");
    assert.equal(buttonFace(false, true), "send");
    assert.equal(buttonFace(true, false), "send");
  });
});

describe("limits", () => {
  const policy = { max_frame: 2000, max_text: 10, max_history: 100, max_upload: 1_000_000 };

  test("characters are counted as the gateway counts them", () => {
    assert.equal(characterCount("a👍虹"), 3);
    assert.equal(objection("👍".repeat(10), policy), undefined);
    assert.match(objection("👍".repeat(11), policy) ?? "", /11 characters; the gateway takes 10/);
  });

  test("a frame has a limit, too", () => {
    assert.match(objection("虹".repeat(600), { ...policy, max_text: 1000, max_upload: 1_000_000 }) ?? "", /too large/);
  });

  test("without a policy the gateway decides", () => {
    assert.equal(objection("x".repeat(100), undefined), undefined);
  });
});

describe("how things are written", () => {
  test("durations", () => {
    assert.deepEqual([-1, 0.04, 0.42, 9.94, 9.96, 59.4, 65, 3599, 3720].map(duration), ["0.0 s", "0.0 s", "0.4 s", "9.9 s", "10 s", "59 s", "1 min 05 s", "59 min 59 s", "1 h 02 min"]);
  });

  test("tokens", () => {
    assert.deepEqual([1, 4655].map(tokens), ["1 token", "4,655 tokens"]);
  });

  test("lines of the gateway become sentences", () => {
    assert.equal(sentence("this link is too old; make a new one with `iris pair`"), "This link is too old; make a new one with iris pair.");
    assert.equal(sentence("Later."), "Later.");
    assert.equal(sentence("稍后再试。"), "稍后再试。");
  });

  test("a lone command is code, everything else JSON", () => {
    assert.deepEqual(toolArguments({ command: "ls -la" }), { language: "bash", text: "ls -la" });
    assert.equal(toolArguments({ command: "ls", cwd: "/" }).language, "json");
    assert.equal(toolArguments({ command: 3 }).text, '{\n  "command": 3\n}');
  });

  test("long thoughts are those of more than a dozen lines, wrapped ones too", () => {
    assert.ok(!isLongReasoning("line\n".repeat(11)));
    assert.ok(isLongReasoning("line\n".repeat(13)));
    assert.ok(isLongReasoning("word ".repeat(400)));
  });
});

describe("pairing", () => {
  test("takes a bare code and a whole link", () => {
    assert.equal(codeFrom("  ABCD-1234 \n"), "ABCD-1234");
    assert.equal(codeFrom("http://127.0.0.1:8686/#pair=ABCD-1234"), "ABCD-1234");
    assert.equal(codeFrom("#pair=a%2Bb"), "a+b");
  });

  test("a text that only looks encoded is taken as it is", () => {
    assert.equal(codeFrom("100%"), "100%");
    assert.equal(codeFrom("#pair=100%"), "100%");
  });

  test("names a browser as its person would", () => {
    assert.equal(deviceName("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0 Safari/537.36"), "Chrome on Linux");
    assert.equal(deviceName("Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1 Version/19.0 Mobile Safari/604.1"), "Safari on iPhone");
    assert.equal(deviceName("Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/156.0 Safari/537.36 Edg/156.0"), "Edge on Windows");
    assert.equal(deviceName("Mozilla/5.0 (Android 16; Mobile; rv:150.0) Gecko/150.0 Firefox/150.0"), "Firefox on Android");
    assert.equal(deviceName("curl"), "Browser");
  });
});
