/** A typical first implementation for Node.js, with Fastify, prepared statements and LIKE. */
import Database from "better-sqlite3";
import fastify from "fastify";

const [path] = process.argv.slice(2);
const db = new Database(path, { readonly: true });
const findUser = db.prepare(`
  SELECT user.*, company.name AS company FROM user LEFT JOIN company ON company.id = company_id
   WHERE user.id = ?`);
const listRoles = db.prepare(`
  SELECT id, name, hierarchy FROM user_role JOIN role ON role.id = role_id
   WHERE user_id = ? ORDER BY hierarchy DESC`);
const listUnlocks = db.prepare(`
  SELECT achievement.*, unlock.tier AS reached, unlocked_at
    FROM user_achievement AS unlock JOIN achievement ON achievement.id = achievement_id
   WHERE user_id = ? ORDER BY unlocked_at DESC`);
const search = db.prepare(`
  SELECT user.id, user.name, avatar_url, company.name AS company
    FROM user LEFT JOIN company ON company.id = company_id
   WHERE user.name LIKE ? ORDER BY user.name LIMIT 10`);

const app = fastify();
app.get("/users/public/:id", ({ params }, reply) => {
  const user = findUser.get(params.id);
  if (!user) return reply.code(404).send({ success: false });
  const { id, name, avatar_url, company_id, company, company_role, created_at } = user;
  const roles = listRoles.all(id);
  reply.send({
    success: true,
    user: {
      id,
      name,
      avatar_url,
      company: company && { id: company_id, name: company, role: company_role },
      roles,
      created_at,
    },
  });
});
app.get("/users/:id/achievements", ({ params }, reply) => {
  const achievements = listUnlocks
    .all(params.id)
    .map(({ reached: tier, unlocked_at, ...achievement }) => ({ achievement, tier, unlocked_at }));
  reply.send({ success: true, achievements });
});
app.get("/search/users", ({ query }, reply) => {
  reply.send({ success: true, users: search.all(`%${query.q}%`) });
});
process.stdout.write(`roadbook listening on ${await app.listen({ port: 0, host: "127.0.0.1" })}\n`);
