import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { coveredBy } from "../src/keyboard.ts";
import { swipeOf } from "../src/swipe.ts";
import { remaining } from "../src/format.ts";

const from = (x: number, y = 300) => ({ x, y, at: 1000 });
const to = (x: number, y = 300, at = 1200) => ({ x, y, at });

describe("a finger that moves to the side", () => {
  test("opens the drawer from the left part of the screen, and closes it from anywhere", () => {
    assert.equal(swipeOf(from(4), to(80), 390, false), "open");
    assert.equal(swipeOf(from(150), to(230), 390, false), "open");
    assert.equal(swipeOf(from(200), to(300), 390, false), "none");
    assert.equal(swipeOf(from(350), to(280), 390, true), "close");
    assert.equal(swipeOf(from(300), to(200), 390, false), "none");
    assert.equal(swipeOf(from(4), to(80), 390, true), "none");
  });

  test("means nothing when it is short, comes late, or goes up or down", () => {
    assert.equal(swipeOf(from(4), to(50), 390, false), "none");
    assert.equal(swipeOf(from(4), to(80, 350), 390, false), "none");
    assert.equal(swipeOf(from(4), to(80, 300, 990), 390, false), "none");
  });
});

test("a keyboard covers what it covers; a bar of the browser and an enlarged page are none", () => {
  assert.equal(coveredBy({ height: 500.4, scale: 1 }, 844), 344);
  assert.equal(coveredBy({ height: 790, scale: 1 }, 844), 0);
  assert.equal(coveredBy({ height: 422, scale: 2 }, 844), 0);
});

test("what is left of a short time", () => {
  assert.deepEqual([600_000, 599_001, 61_000, 9_999, 0, -5].map(remaining), ["10:00", "10:00", "1:01", "0:10", "0:00", "0:00"]);
});
