/** Example Playwright tests of a page, run against the executable with the demo and a fault. */
import { expect, test } from "@playwright/test";

const url = () => process.env.ROADBOOK_URL ?? "";

test("a search finds a driver", async ({ page }) => {
  await page.goto(url());
  await page.getByRole("searchbox").fill("lukasz nowak");
  await page.getByRole("searchbox").press("Enter");
  await expect(page.getByRole("link", { name: "Łukasz Nowak" }).first()).toBeVisible();
});

test("a request fails with the status that the fault sets", async ({ request }) => {
  expect((await request.get(`${url()}/users/public/42`)).status()).toBe(200);
  const response = await request.get(`${url()}/users/42/achievements`);
  expect(response.status()).toBe(503);
  expect((await response.json()).error.code).toBe("unavailable");
});
