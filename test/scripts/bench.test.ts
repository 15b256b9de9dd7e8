/** Tests the statistics of the benches and the order of their measurements. */
import { expect, test } from "bun:test";
import { alternate, fitLine, formatRounds, median, quantile } from "../../scripts/bench/measure.ts";

test("a median is the mean of the two middle values, and a quantile is one of the values", () => {
  expect([median([3, 1, 10]), median([4, 1, 2, 9])]).toEqual([3, 3]);
  expect(formatRounds([3, 1, 10])).toBe("3 (1–10)");
  const values = Array.from({ length: 1000 }, (_, index) => 1000 - index);
  expect([0.5, 0.999, 1].map((share) => quantile(values, share))).toEqual([500, 999, 1000]);
});

test("every other round measures in reverse order", async () => {
  const order: string[] = [];
  const values = await alternate(3, { a: "a", b: "b" }, (name) => order.push(name));
  expect(order.join("")).toBe("abbaab");
  expect([values("a"), values("b")]).toEqual([
    [1, 4, 5],
    [2, 3, 6],
  ]);
});

test("a line is fitted by least squares, with the standard error of its slope", () => {
  const fit = (...values: number[]) => fitLine(values.map((value, at) => [at, value]));
  expect(fit(1, 3, 5)).toEqual({ mean: 3, slope: 2, error: 0 });
  expect([fit(0, 1, 0, 1).slope, fit(0, 1, 0, 1).error ** 2]).toEqual([0.2, expect.closeTo(0.08)]);
});
