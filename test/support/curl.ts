import { spawnSync } from 'node:child_process';

/** For the `skip` option of tests, as `skipWithoutRedis`: some systems build curl without HTTP/2. */
export function skipWithoutHttp2Curl(): string | false {
  const { stdout } = spawnSync('curl', ['--version'], { encoding: 'utf8' });
  if (stdout?.includes('HTTP2') === true) return false;
  const reason = 'needs curl with HTTP/2: apt-get install curl';
  if (process.env['CI'] === 'true') throw new Error(reason);
  return reason;
}
