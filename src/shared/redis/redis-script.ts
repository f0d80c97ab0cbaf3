import { createHash } from 'node:crypto';

/** A Lua script, and the name that Redis gives it. */
export interface RedisScript {
  readonly lua: string;
  readonly sha: string;
}

export function redisScript(lua: string): RedisScript {
  return Object.freeze({ lua, sha: createHash('sha1').update(lua).digest('hex') });
}
