import { readFileSync, statSync } from 'node:fs';
import { ipTable } from 'sluicegate/plugin-kit/net';
import { definePlugin, refuse } from 'sluicegate/plugin-sdk';

const maxFileBytes = 128 * 1024 * 1024;

/** Tells the backend the country of the client, and refuses some countries. The table is a local file. */
export default definePlugin({
  name: 'geoip',
  version: '1.0.0',
  capabilities: ['files'],
  // Before limits.
  priority: 985,
  config: ({ set, string }) => ({
    file: string({
      required: true,
      description: 'CSV with lines `first address,last address,country`, in ascending order.',
    }),
    refused: set(string({ match: /^[A-Z]{2}$/ }), {
      required: true,
      default: [],
      len_max: 250,
      description: 'Countries whose clients get a 403. `ZZ` stands for addresses that are not in the table.',
    }),
  }),
  setup({ file, refused }) {
    const countryOf = readTable(file);
    const isRefused = new Set(refused);
    return {
      access(context) {
        // The address after `trusted_ips`, never a header that any client can write.
        const country = countryOf(context.client.ip) ?? 'ZZ';
        context.upstream.setHeader('X-Country', country);
        context.log('country', country);
        return isRefused.has(country) ? refuse(403, 'Not available in your country') : undefined;
      },
    };
  },
});

/** Throws for a file that cannot be used: the instance then refuses every request, and the error log says why. */
function readTable(file: string): (ip: string) => string | null {
  if (statSync(file).size > maxFileBytes) throw new Error(`${file} is larger than ${maxFileBytes} bytes`);
  const lines = readFileSync(file, 'latin1').trimEnd().split(/\r?\n/);
  return ipTable(
    lines.map((line, at) => {
      const [first = '', last = '', country = ''] = line.replaceAll('"', '').split(',');
      if (!/^[A-Z]{2}$/.test(country)) throw new Error(`${file}, line ${at + 1}: no country of two letters`);
      return [first, last, country];
    }),
  );
}
