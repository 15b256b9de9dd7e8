/** Uses the exports as a program would. Compiles under `tsc --strict` with `skipLibCheck` off. */
import { createServer } from "node:http";
import {
  type ChangeLine,
  createRoadbook,
  type DatasetLine,
  type ErrorBody,
  exportDataset,
  fold,
  type HealthBody,
  type Listening,
  type Meta,
  type PublicUserBody,
  type Roadbook,
  type RoadbookOptions,
  SnapshotError,
} from "roadbook";

export type { CompanySearchBody, User, UserAchievementsBody, UserSearchBody } from "roadbook";

const lines: DatasetLine[] = [{ type: "user", id: 43, public: false }];
const changes: ChangeLine[] = [{ type: "user", id: 43, deleted: true }];
const options: RoadbookOptions = { dataset: lines, clock: () => 0, faults: ["*:close"] };

export async function use(): Promise<string> {
  await using roadbook: Roadbook = await createRoadbook(options);
  const listening: Listening = await roadbook.listen({ port: 0 });
  const meta: Meta = await roadbook.apply(changes);
  const response = await roadbook.fetch(new Request(`${listening.url}/health`), "192.0.2.1");
  const body = (await response.json()) as HealthBody | ErrorBody;
  if (!body.success) return body.error.code satisfies string;
  const profile = await fetch(`${listening.url}/users/public/1`);
  const { user } = (await profile.json()) as PublicUserBody;
  createServer(roadbook.listener);
  roadbook.resetLimit();
  roadbook.setFaults(["search:status=503"]);
  // @ts-expect-error: unknown line type.
  await createRoadbook({ dataset: [{ type: "usr", id: 1 }] });
  // @ts-expect-error: unknown line type in a change file.
  await roadbook.apply([{ type: "usr", id: 1 }]);
  // @ts-expect-error: unknown company field.
  await roadbook.apply([{ type: "company", id: 3, name: "A", members: 4 }]);
  // @ts-expect-error: unknown option.
  await createRoadbook({ dataset: [], serchLimit: 1 });
  return [...(await exportDataset("x"))].join() + fold(user.name) + meta.built_at;
}

export function isOurs(error: unknown): error is SnapshotError {
  return error instanceof SnapshotError;
}
