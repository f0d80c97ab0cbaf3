import type { JsonObject, JsonValue } from '../../plugin-kit/json/json.ts';
import type { AdminClient } from '../admin-api/admin-client.ts';
import { CliError } from '../cli-error.ts';
import type { NewToken, ShownToken, ShownUser, UserDirectory } from './directory.ts';

/** Admin users behind the Admin API of a running node. */
export function apiDirectory(client: AdminClient): UserDirectory {
  const pathOf = (user: string): string => `/admin-users/${encodeURIComponent(user)}`;
  const tokensOf = async (user: string) => (await all(client, `${pathOf(user)}/tokens`)) as unknown as ShownToken[];

  async function issue(user: string, { name, ttl }: NewToken): Promise<string> {
    const fields = { ...(name !== null && { name }), ...(ttl !== null && { ttl }) };
    return tokenIn(await client.send('POST', `${pathOf(user)}/tokens`, fields));
  }

  return {
    async list() {
      const users = (await all(client, '/admin-users')) as unknown as readonly Omit<ShownUser, 'tokens'>[];
      const shown: ShownUser[] = [];
      for (const user of users) shown.push({ ...user, tokens: await tokensOf(user.name) });
      return shown;
    },
    async create(user, withToken) {
      const { tag_patterns: patterns, ...fields } = user;
      const created = await client.send('POST', '/admin-users', { ...fields, tag_patterns: patterns && [...patterns] });
      // The first user has one already: from then on every request needs a token.
      if (created['token'] !== undefined) return tokenIn(created);
      return withToken ? issue(user.name, { name: null, ttl: null }) : null;
    },
    issue,
    async revoke(user, token) {
      await client.send('DELETE', `${pathOf(user)}/tokens/${encodeURIComponent(token)}`);
    },
    async delete(user) {
      if ((await client.find(pathOf(user))) === null) throw new CliError(`there is no admin user '${user}'`);
      await client.send('DELETE', pathOf(user));
    },
    async close() {},
  };
}

async function all(client: AdminClient, path: string): Promise<readonly JsonValue[]> {
  const found: JsonValue[] = [];
  for (let next: JsonValue | undefined = `${path}?size=1000`; typeof next === 'string'; ) {
    const page: JsonObject = await client.send('GET', next);
    if (Array.isArray(page['data'])) found.push(...page['data']);
    next = page['next'];
  }
  return found;
}

function tokenIn({ token }: JsonObject): string {
  if (typeof token !== 'string') throw new CliError('the Admin API has not returned a token');
  return token;
}
