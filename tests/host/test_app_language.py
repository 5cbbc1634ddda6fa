"""The app in Chinese, in a real Chromium over a real host: chosen or the browser's own, at once, kept, all of it."""

import re
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Page, expect

from .browser import PHONE, TURN, away, chromium, opened, say
from .gateway import Gateway

pytestmark = [
    pytest.mark.browser,
    pytest.mark.only_beside("v22"),
    pytest.mark.parametrize("mode", ["streaming"], indirect=True, scope="module"),
]

CHINESE = {"locale": "zh-CN"}

LATIN = """() => {
    const said = ".markdown, .bubble, .code pre, .reasoning-text, .tool-name, .tool-preview, .version, .asked-what, "
        + ".request-text, .channel-name, .device-name, code, kbd, noscript";
    const shown = node => node.checkVisibility({ visibilityProperty: true }) && node.closest(said) === null;
    const found = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode() !== null) if (shown(texts.currentNode.parentElement)) found.push(texts.currentNode.data);
    const read = ["aria-label", "title", "placeholder", "alt"];
    for (const node of document.querySelectorAll(read.map(name => `[${name}]`))) {
        if (shown(node)) found.push(...read.map(name => node.getAttribute(name) ?? ""));
    }
    return found.filter(text => /[A-Za-z]{2}/.test(text));
}"""
"""What is shown in Latin letters, apart from what people, agents, tools and the gateway say."""

NAMES = re.compile(
    r"\b(Iris|Esc|Enter|Ctrl|Alt|English|token|Chrome|Linux|on|Default|iris-rehearsal|recursive delete)\b|\+[A-Z]\b"
)
"""Of products and keys, and what the gateway and the host call their own."""


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as launched:
        yield launched


async def assert_chinese(page: Page) -> None:
    """Nothing that the app says is left in English."""
    await expect(page.locator("html[lang=zh-CN]")).to_have_count(1)
    shown = await page.evaluate(LATIN)
    assert [text for text in shown if re.search("[A-Za-z]", NAMES.sub("", text))] == []


async def test_chinese_is_chosen_and_stays(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, context), opened(browser, running) as (other, _):
        await say(page, "rehearse tool")
        await expect(page.locator(".turn-end").last).to_be_visible(timeout=TURN)
        await expect(page.locator("html[lang=en]")).to_have_count(1)
        await expect(page.locator(".toast")).to_have_count(0, timeout=TURN)  # that the other one was paired, in English
        second = await context.new_page()
        await second.goto(page.url)
        await page.bring_to_front()  # behind another one it draws once a second
        await page.get_by_role("button", name="Settings").click()
        await page.get_by_role("radio", name="中文").check()
        # At once: the open dialog, what lies under it, what was drawn before, and the other page of this browser.
        await expect(page.get_by_role("heading", name="设置")).to_be_visible()
        await assert_chinese(page)
        await page.keyboard.press("Escape")
        await expect(page.get_by_label("消息", exact=True)).to_be_visible()
        await expect(page.get_by_role("list", name="工具调用")).to_be_visible()
        await assert_chinese(page)
        await expect(second.get_by_role("button", name="设置")).to_be_visible()
        await assert_chinese(second)
        await expect(other.get_by_role("button", name="Settings")).to_be_visible()

        await page.reload()
        await expect(page.locator("article.answer").last).to_contain_text("The run was real.")
        await assert_chinese(page)
        await page.get_by_role("button", name="设置").click()
        await page.get_by_role("radio", name="English").check()
        await expect(page.get_by_role("heading", name="Settings")).to_be_visible()
        await expect(page.locator("html[lang=en]")).to_have_count(1)


async def test_a_chinese_browser_needs_no_choice(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running, **CHINESE) as (page, _):
        await assert_chinese(page)
        await page.get_by_role("button", name="新建频道").click()
        await assert_chinese(page)
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("alert").filter(has_text="名称不能为空。")).to_be_visible()
        await page.get_by_label("频道名称").fill("读书")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", level=1)).to_have_text("读书")
        await assert_chinese(page)
        await page.get_by_role("button", name="让定时任务把报告发到这里…").click()
        await expect(page.get_by_role("dialog")).to_contain_text("还没有定时任务")
        await assert_chinese(page)
        await page.keyboard.press("Escape")
        await page.get_by_role("button", name="频道菜单").click()
        await expect(page.get_by_role("menuitem", name="设为默认频道")).to_be_visible()
        await assert_chinese(page)
        await page.get_by_role("menuitem", name="删除").click()
        await expect(page.get_by_text("已删除“读书”。")).to_be_visible()
        await assert_chinese(page)

        await page.get_by_role("button", name="设备").click()
        await expect(page.get_by_text("此设备")).to_be_visible()
        await assert_chinese(page)
        await page.keyboard.press("Escape")
        await page.keyboard.press("Control+k")
        await assert_chinese(page)
        await page.get_by_role("combobox", name="搜索").fill("zxqv")
        await expect(page.get_by_role("dialog")).to_contain_text("没有找到与“zxqv”相关的内容。")


async def test_a_turn_with_a_question_in_chinese(browser: Browser, running: Gateway) -> None:
    phone = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
    async with opened(browser, running, **CHINESE, **phone) as (page, _):
        field = page.get_by_label("消息", exact=True)
        await field.fill("rehearse danger")
        await page.get_by_role("button", name="发送").tap()
        await expect(page.get_by_role("region", name="允许执行此命令吗？")).to_be_visible(timeout=2 * TURN)
        await assert_chinese(page)
        await page.locator("section.request").get_by_role("button", name="拒绝").tap()
        await expect(page.locator("article.asked").last).to_contain_text("拒绝（来自“Linux 上的 Chrome”）")
        await expect(page.locator(".turn-end").last).to_be_visible(timeout=TURN)
        await assert_chinese(page)
        width, inner = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert width <= inner


async def test_chinese_needs_no_gateway(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running, **CHINESE) as (page, _):
        await page.wait_for_function("() => navigator.serviceWorker.controller !== null")
        with away(running):
            await page.reload()
            await expect(page.get_by_role("button", name="立即重试")).to_be_visible()
            await assert_chinese(page)
        await expect(page.get_by_text("已连接")).to_be_visible(timeout=TURN)


async def test_pairing_in_chinese(browser: Browser, running: Gateway) -> None:
    context = await browser.new_context(locale="zh-CN")
    page = await context.new_page()
    await page.goto(running.url)
    await expect(page.get_by_role("heading", name="将此浏览器与 Iris 配对")).to_be_visible()
    await assert_chinese(page)
    await page.get_by_label("配对码或链接").fill("wrong")
    await page.get_by_role("button", name="配对", exact=True).click()
    await expect(page.get_by_role("alert")).to_contain_text("网关拒绝了访问：")
    await context.close()
