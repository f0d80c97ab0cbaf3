import { array } from '../schema/collections.ts';
import { headers, path, sni } from '../schema/common-fields.ts';
import { boolean, integer, number, string } from '../schema/fields.ts';
import { record } from '../schema/record.ts';

/** The `healthchecks` record of an upstream. */
export const healthchecks = record(
  {
    active: record(
      {
        type: checkType('Protocol of the probes.'),
        timeout: seconds({
          default: 1,
          description: 'How long each step of a probe may take: to connect, for TLS, for the answer. 0: one second.',
        }),
        concurrency: integer({
          required: true,
          default: 10,
          between: [1, 2147483648],
          description: 'How many targets are probed at the same time.',
        }),
        http_path: path({ required: true, default: '/', description: 'Path that HTTP probes request.' }),
        https_sni: sni({ description: "TLS server name of HTTPS probes; unset: the target's host." }),
        https_verify_certificate: boolean({
          required: true,
          default: true,
          description: "Whether HTTPS probes verify the target's certificate.",
        }),
        headers: headers({ description: 'Headers sent with HTTP probes.' }),
        healthy: record(
          {
            interval: seconds({ default: 0, description: 'Time between probes of healthy targets; 0: none.' }),
            successes: counter('Successful probes that make a target healthy; 0: never.'),
            http_statuses: statuses([200, 302], 'Statuses that count as a success.'),
          },
          { description: 'When a probed target becomes healthy.' },
        ),
        unhealthy: record(
          {
            interval: seconds({ default: 0, description: 'Time between probes of unhealthy targets; 0: none.' }),
            tcp_failures: counter('Failed connections that make a target unhealthy; 0: never.'),
            timeouts: counter('Timed-out probes that make a target unhealthy; 0: never.'),
            http_failures: counter('Failed HTTP probes that make a target unhealthy; 0: never.'),
            http_statuses: statuses([429, 404, 500, 501, 502, 503, 504, 505], 'Statuses that count as a failure.'),
          },
          { description: 'When a probed target becomes unhealthy.' },
        ),
      },
      { description: 'Probes sent to the targets.' },
    ),
    passive: record(
      {
        type: checkType('Protocol of the traffic that is watched.'),
        healthy: record(
          {
            successes: counter('Successful requests that make a target healthy; 0: never.'),
            http_statuses: statuses(
              [200, 201, 202, 203, 204, 205, 206, 207, 208, 226, 300, 301, 302, 303, 304, 305, 306, 307, 308],
              'Statuses that count as a success.',
            ),
          },
          { description: 'When traffic makes a target healthy.' },
        ),
        unhealthy: record(
          {
            tcp_failures: counter('Failed connections that make a target unhealthy; 0: never.'),
            timeouts: counter('Timed-out requests that make a target unhealthy; 0: never.'),
            http_failures: counter('Failed requests that make a target unhealthy; 0: never.'),
            http_statuses: statuses([429, 500, 503], 'Statuses that count as a failure.'),
          },
          { description: 'When traffic makes a target unhealthy.' },
        ),
      },
      { description: 'Health checks based on the traffic itself.' },
    ),
    threshold: number({
      required: true,
      default: 0,
      between: [0, 100],
      unit: '%',
      description: 'Percentage of the weight above which the upstream counts as healthy.',
    }),
  },
  { description: 'How the health of the targets is determined.' },
);

function checkType(description: string) {
  return string({ required: true, default: 'http', one_of: ['tcp', 'http', 'https', 'grpc', 'grpcs'], description });
}

function seconds(options: { readonly default: number; readonly description: string }) {
  return number({ ...options, required: true, between: [0, 65535], unit: 's' });
}

function counter(description: string) {
  return integer({ required: true, default: 0, between: [0, 255], description });
}

function statuses(defaults: readonly number[], description: string) {
  return array(integer({ between: [100, 999] }), { required: true, default: defaults, description });
}
