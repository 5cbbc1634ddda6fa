"""Files in the app, as a person handles them in a real Chromium over a real host."""

import base64
import re
import struct
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from hermes_iris.rehearsal.texts import PICTURE

from .browser import PHONE, TURN, assert_nothing_is_open, chromium, opened, say
from .gateway import Gateway

pytestmark = [
    pytest.mark.browser,
    pytest.mark.only_beside("v22"),
    pytest.mark.parametrize("mode", ["streaming"], indirect=True, scope="module"),
]

SLOW = 60_000
"""Bytes a second of a line on which progress can be watched."""


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    """With a microphone that beeps, and that may be used."""
    async with chromium("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream") as launched:
        yield launched


def png(width: int, height: int, colour: bytes) -> bytes:
    """A picture of one colour, so large that it takes its time."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = (b"\0" + colour * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b"")


RED, BLUE = png(60, 40, b"\xc0\x30\x30"), png(40, 80, b"\x30\x30\xc0")


def payload(name: str, kind: str, content: bytes) -> Any:
    return {"name": name, "mimeType": kind, "buffer": content}


def chips(page: Page) -> Locator:
    return page.get_by_role("list", name="Files to send").get_by_role("listitem")


async def pick(page: Page, *files: Any) -> None:
    """As the dialog of the system would give them."""
    async with page.expect_file_chooser() as choosing:
        await page.get_by_role("button", name="Attach files").click()
    await (await choosing.value).set_files(list(files))


async def hand(page: Page, event: str, *files: tuple[str, str, bytes]) -> None:
    """Drop or paste files: the events of the browser, with real files in them."""
    told = [[name, kind, base64.b64encode(content).decode()] for name, kind, content in files]
    await page.evaluate(
        """([event, files]) => {
            const transfer = new DataTransfer();
            for (const [name, type, content] of files) {
                const bytes = Uint8Array.from(atob(content), (char) => char.charCodeAt(0));
                transfer.items.add(new File([bytes], name, { type }));
            }
            const target = document.activeElement ?? document.body;
            if (event === "paste") {
                const given = { clipboardData: transfer, bubbles: true, cancelable: true };
                target.dispatchEvent(new ClipboardEvent("paste", given));
                return;
            }
            for (const kind of ["dragenter", "dragover", "drop"]) {
                target.dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
            }
        }""",
        [event, told],
    )


async def slow_down(page: Page, speed: int) -> None:
    """The line of this page: bytes a second; -1 for all there is."""
    tools = await page.context.new_cdp_session(page)
    line = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": speed}
    await tools.send("Network.enable")
    await tools.send("Network.emulateNetworkConditions", line)


async def is_drawn(picture: Locator) -> None:
    await expect(picture).to_be_visible(timeout=TURN)
    await expect(picture).not_to_have_js_property("naturalWidth", 0, timeout=TURN)


async def test_pictures_and_a_document_are_picked_and_sent_with_a_word(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, _):
        await pick(
            page,
            payload("red.png", "image/png", RED),
            payload("blue.png", "image/png", BLUE),
            payload("plan.md", "text/markdown", b"# The plan\n\nTulips."),
        )
        await expect(chips(page)).to_have_count(3)
        await expect(chips(page).locator("img")).to_have_count(2)
        await expect(chips(page).locator("progress")).to_have_count(0)
        await say(page, "rehearse plain")
        await expect(chips(page)).to_have_count(0)

        mine = page.locator("article.mine").last
        await expect(mine.locator(".bubble")).to_have_text("rehearse plain")
        for name in ("red.png", "blue.png"):
            await is_drawn(mine.get_by_role("img", name=name))
        await expect(mine.locator(".document")).to_contain_text("plan.md")
        await mine.get_by_role("button", name="Preview plan.md").click()
        await expect(mine.locator(".document pre")).to_contain_text("Tulips.")
        await expect(page.locator("article.answer").last).to_contain_text("plain answer", timeout=2 * TURN)
        await assert_nothing_is_open(page)

        await page.reload()
        await is_drawn(page.locator("article.mine").last.get_by_role("img", name="red.png"))


async def test_dropped_and_pasted_files_are_taken(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, _):
        await hand(page, "drop", ("red.png", "image/png", RED), ("notes.txt", "text/plain", b"dropped"))
        await expect(chips(page)).to_have_count(2)
        await hand(page, "paste", ("image.png", "image/png", BLUE))
        await expect(chips(page)).to_have_count(3)
        await page.get_by_role("button", name="Remove notes.txt").click()
        await expect(chips(page)).to_have_count(2)
        await page.get_by_role("button", name="Send").click()
        mine = page.locator("article.mine").last
        await expect(mine.locator(".bubble")).to_have_count(0)
        await is_drawn(mine.get_by_role("img", name="image.png"))
        await expect(page.locator("article.answer").last).to_be_visible(timeout=TURN)
        await assert_nothing_is_open(page)


async def test_a_message_waits_for_its_file_whose_progress_is_shown(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, _):
        await slow_down(page, SLOW)
        large = png(400, 500, b"\x20\x80\x40")
        await pick(page, payload("large.png", "image/png", large))
        progress = page.get_by_role("progressbar", name="Sending large.png")
        await expect(progress).to_be_visible()
        await expect(progress).not_to_have_js_property("value", 0, timeout=TURN)
        assert await progress.evaluate("bar => bar.value") < 1
        await say(page, "rehearse plainnr")
        await expect(page.get_by_role("button", name="Wait no longer")).to_be_visible()
        await expect(page.locator("article.mine").filter(has_text="rehearse plainnr")).to_have_count(0)
        await slow_down(page, -1)
        mine = page.locator("article.mine").filter(has_text="rehearse plainnr")
        await is_drawn(mine.get_by_role("img", name="large.png"))
        await expect(page.get_by_label("Message", exact=True)).to_have_value("")


async def test_a_file_on_its_way_is_cancelled(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, _):
        await slow_down(page, SLOW)
        await pick(page, payload("large.png", "image/png", png(400, 500, b"\x20\x80\x40")))
        await expect(page.get_by_role("progressbar", name="Sending large.png")).to_be_visible()
        async with page.expect_event("requestfailed", lambda request: "/media" in request.url):
            await page.get_by_role("button", name="Cancel large.png").click()
        await expect(chips(page)).to_have_count(0)
        await expect(page.get_by_role("button", name="Send")).to_be_disabled()


async def test_what_went_wrong_is_told_and_can_be_tried_again(
    browser: Browser, running: Gateway, tmp_path: Path
) -> None:
    large = tmp_path / "film.mp4"
    with large.open("wb") as file:
        file.truncate(101 << 20)
    async with opened(browser, running) as (page, _):
        await pick(page, large)
        await expect(page.locator(".composer").get_by_role("alert")).to_contain_text(
            "film.mp4 has 106 MB; the gateway takes files up to 105 MB."
        )
        await expect(chips(page)).to_have_count(0)

        await page.route("**/media", lambda route: route.abort("connectionrefused"), times=1)
        await pick(page, payload("red.png", "image/png", RED))
        await expect(chips(page)).to_contain_text("The connection was lost.")
        await page.get_by_role("button", name="Send red.png again").click()
        await expect(page.locator(".chip-file.done")).to_have_count(1)
        await page.get_by_role("button", name="Send").click()
        mine = page.locator("article.mine").last
        await is_drawn(mine.get_by_role("img", name="red.png"))

        await page.route(re.compile("/media/[0-9a-f]{32}"), lambda route: route.abort("connectionrefused"))
        await page.reload()
        await expect(mine.locator(".gone")).to_contain_text("red.png could not be loaded", timeout=TURN)
        await page.unroute_all()
        await page.reload()
        await is_drawn(mine.get_by_role("img", name="red.png"))


async def test_a_picture_is_looked_at(browser: Browser, running: Gateway, tmp_path: Path) -> None:
    async with opened(browser, running) as (page, _):
        await pick(page, payload("one.png", "image/png", RED), payload("two.png", "image/png", BLUE))
        await page.get_by_role("button", name="Send").click()
        first = page.get_by_role("button", name="Open one.png").last
        await is_drawn(page.get_by_role("img", name="two.png").last)
        await first.focus()
        await page.keyboard.press("Enter")
        box = page.get_by_role("dialog", name="one.png")
        await is_drawn(box.get_by_role("img", name="one.png"))
        await page.keyboard.press("ArrowRight")
        box = page.get_by_role("dialog", name="two.png")
        await expect(box).to_be_visible()

        shown = box.get_by_role("img", name="two.png")
        for key in ("+", "+"):
            await page.keyboard.press(key)
        await expect(shown).to_have_css("transform", re.compile(r"matrix\(2\.25,"))
        await page.keyboard.press("0")
        await expect(shown).to_have_css("transform", re.compile(r"matrix\(1, 0, 0, 1, 0, 0\)"))
        await shown.dblclick()
        await expect(shown).to_have_css("transform", re.compile(r"matrix\(2\.5,"))

        async with page.expect_download() as downloading:
            await box.get_by_role("link", name="Download two.png").click()
        download = await downloading.value
        assert download.suggested_filename == "two.png"
        await download.save_as(tmp_path / "two.png")
        assert (tmp_path / "two.png").read_bytes() == BLUE
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await expect(first).to_be_focused()

        await first.click()
        await page.get_by_role("dialog", name="one.png").click(position={"x": 30, "y": 400})
        await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_the_agent_s_picture_is_shown_and_fetched(browser: Browser, running: Gateway, tmp_path: Path) -> None:
    async with opened(browser, running) as (page, _):
        await say(page, "rehearse media")
        picture = page.locator("article.answer").get_by_role("img", name="rehearsal.png").last
        await is_drawn(picture)
        await expect(page.locator("article.answer").filter(has_text="seven stripes")).not_to_contain_text("MEDIA")
        await page.get_by_role("button", name="Open rehearsal.png").last.click()
        async with page.expect_download() as downloading:
            await page.get_by_role("link", name="Download rehearsal.png").click()
        await (await downloading.value).save_as(tmp_path / "back.png")
        assert (tmp_path / "back.png").read_bytes() == base64.b64decode(PICTURE)


async def test_a_voice_note_is_recorded_heard_and_sent(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, _):
        await page.get_by_role("button", name="Record a voice message").click()
        await expect(page.get_by_role("timer")).to_have_text("0:01", timeout=TURN)
        await page.get_by_role("button", name="Cancel recording").click()
        await expect(chips(page)).to_have_count(0)

        await page.get_by_role("button", name="Record a voice message").click()
        await expect(page.get_by_role("timer")).to_have_text("0:02", timeout=TURN)
        await page.get_by_role("button", name="Finish recording").click()
        await expect(chips(page)).to_have_count(1)
        await chips(page).get_by_role("button", name="Play Voice message").click()
        await expect(chips(page).get_by_role("button", name="Pause Voice message")).to_be_visible()
        await page.get_by_role("button", name="Send").click()

        note = page.locator("article.mine").last.get_by_role("group", name="Voice message")
        await expect(note.locator(".sound-time")).to_have_text("0:02", timeout=TURN)
        await note.get_by_role("button", name="Play Voice message").click()
        await expect(note.locator(".sound-time")).to_have_text("0:01", timeout=TURN)
        await expect(page.locator("article.answer").last).to_be_visible(timeout=TURN)


async def test_on_a_phone_a_camera_is_offered_and_two_fingers_enlarge(browser: Browser, running: Gateway) -> None:
    options = {"viewport": PHONE, "has_touch": True, "is_mobile": True, "color_scheme": "dark"}
    async with opened(browser, running, **options) as (page, context):
        async with page.expect_file_chooser() as choosing:
            await page.get_by_role("button", name="Take a picture").click()
        chooser = await choosing.value
        assert await chooser.element.get_attribute("capture") == "environment"
        await chooser.set_files([payload("photo.png", "image/png", RED)])
        await page.get_by_role("button", name="Send").click()
        picture = page.locator("article.mine").last.get_by_role("img", name="photo.png")
        await is_drawn(picture)
        width, inner = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert width <= inner
        await picture.tap()
        shown = page.get_by_role("dialog").get_by_role("img", name="photo.png")
        await is_drawn(shown)
        tools = await context.new_cdp_session(page)
        for kind, gap in (("touchStart", 40), ("touchMove", 60), ("touchMove", 120), ("touchEnd", 0)):
            points = [{"x": 195 - gap, "y": 400, "id": 0}, {"x": 195 + gap, "y": 400, "id": 1}] if gap else []
            await tools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        await expect(shown).to_have_css("transform", re.compile(r"matrix\([23](\.\d+)?,"))
