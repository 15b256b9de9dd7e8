/** Uses the library in Jest, as an ES module. */
import { createRoadbook, DatasetError } from "roadbook";

test("the demo responds over HTTP", async () => {
  const roadbook = await createRoadbook({ demo: true });
  const { url } = await roadbook.listen();
  const { user } = await (await fetch(`${url}/users/public/42`)).json();
  expect(user.name).toBe("Łukasz Nowak");
  await roadbook.close();
});

test("the error for an invalid dataset says what is wrong", async () => {
  await expect(createRoadbook({ dataset: [{ type: "user", id: 0 }] })).rejects.toThrow(
    "line 1: public",
  );
  expect(
    new DatasetError({ kinds: [], count: 0, lines: 0, fields: 0, references: 0, hidden: 0 }),
  ).toBeInstanceOf(Error);
});
